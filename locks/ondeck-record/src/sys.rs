//! Direct system calls, not through the C library's functions: those are cancellation points, which
//! locking a mutex is not, and other libraries interpose them.

use core::ffi::CStr;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Whether the program has installed a seccomp filter: no file is opened any more.
pub static IS_CONFINED: AtomicBool = AtomicBool::new(false);

/// Preserves the calling thread's `errno`, because locking a mutex does not change it.
pub fn with_errno_kept<T>(action: impl FnOnce() -> T) -> T {
    // SAFETY: the C library returns a pointer to the calling thread's own errno, valid while it
    // lives.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let result = action();
    // SAFETY: as above.
    unsafe { *errno = before };
    result
}

/// An open file, closed on drop.
pub struct Descriptor(libc::c_int);

impl Descriptor {
    /// Opens `path`; returns `errno` on failure.
    pub fn open(path: &CStr, flags: libc::c_int) -> Result<Self, i32> {
        // Relaxed: a filter of another thread alone does not matter here, and one of all threads
        // comes after the store.
        if IS_CONFINED.load(Ordering::Relaxed) {
            return Err(libc::EPERM);
        }
        // SAFETY: openat(2) reads the path, which ends with a zero byte.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_openat,
                libc::AT_FDCWD,
                path.as_ptr(),
                flags | libc::O_CLOEXEC,
                0o600,
            )
        };
        if fd < 0 { Err(last_error()) } else { Ok(Self(fd as libc::c_int)) }
    }

    /// Returns whether the disk has room for the file to become `size` bytes long with all of them
    /// written. A process that writes to a mapping for which the disk has no room is killed.
    pub fn has_room(&self, size: usize) -> bool {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        let mut disk: libc::statfs = zeroed();
        // SAFETY: both calls write to the given structure.
        let asked = unsafe {
            libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) == 0
                && libc::syscall(libc::SYS_fstatfs, self.0, &raw mut disk) == 0
        };
        // A tmpfs without a limit reports no blocks at all.
        let free = if disk.f_blocks == 0 { u64::MAX } else { disk.f_bavail };
        asked
            && limit.rlim_cur >= size as u64
            && free.saturating_mul(disk.f_bsize.cast_unsigned()) >= size as u64
    }

    /// Makes the file `size` bytes long; new bytes are zeros.
    pub fn resize(&self, size: usize) -> bool {
        // SAFETY: ftruncate(2) accesses no memory.
        unsafe { libc::syscall(libc::SYS_ftruncate, self.0, size) == 0 }
    }

    /// Maps the first `size` bytes, shared; if `writable`, also for writing.
    pub fn map(&self, size: usize, writable: bool) -> Option<NonNull<u8>> {
        let protection =
            if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        // SAFETY: a mapping at an address that the kernel chooses replaces no existing one.
        let address = unsafe {
            libc::syscall(
                libc::SYS_mmap,
                0_usize,
                size,
                protection,
                libc::MAP_SHARED,
                self.0,
                0_usize,
            )
        };
        if address == -1 {
            None
        } else {
            NonNull::new(ptr::with_exposed_provenance_mut(address as usize))
        }
    }

    /// Reads into `buffer`; 0 at the end of the file and on an error.
    pub fn read(&self, buffer: &mut [u8]) -> usize {
        // SAFETY: read(2) writes at most the length of the buffer.
        let count =
            unsafe { libc::syscall(libc::SYS_read, self.0, buffer.as_mut_ptr(), buffer.len()) };
        usize::try_from(count).unwrap_or(0)
    }
}

/// The memory of a process, as a file: reading unmapped memory directly would crash.
pub struct Memory(Descriptor);

impl Memory {
    /// Opens that of a process; 0 is this one.
    pub fn open(pid: u32) -> Option<Self> {
        let mut path = of_process(pid, b"mem");
        Descriptor::open(path.as_c_str()?, libc::O_RDONLY).ok().map(Self)
    }

    /// Copies from `address`. Returns whether all of it is mapped.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let fd = self.0.0;
        // SAFETY: pread(2) writes at most the length of the buffer.
        let count = unsafe {
            libc::syscall(libc::SYS_pread64, fd, buffer.as_mut_ptr(), buffer.len(), address)
        };
        usize::try_from(count) == Ok(buffer.len())
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor belongs to this object.
        unsafe { libc::syscall(libc::SYS_close, self.0) };
    }
}

/// Removes a file that turned out to be unusable.
pub fn remove(path: &CStr) {
    // SAFETY: unlinkat(2) reads the path, which ends with a zero byte.
    unsafe { libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path.as_ptr(), 0) };
}

/// Unmaps what [`Descriptor::map`] has mapped.
///
/// # Safety
///
/// Nothing refers to it any more.
pub unsafe fn unmap(address: NonNull<u8>, size: usize) {
    // SAFETY: as the caller promises.
    unsafe { libc::syscall(libc::SYS_munmap, address.as_ptr(), size) };
}

/// Returns the target of a symbolic link, cut to the length of `buffer`.
pub fn read_link(path: &CStr, buffer: &mut [u8]) -> usize {
    // SAFETY: readlinkat(2) reads the path and writes at most the length of the buffer.
    let count = unsafe {
        libc::syscall(
            libc::SYS_readlinkat,
            libc::AT_FDCWD,
            path.as_ptr(),
            buffer.as_mut_ptr(),
            buffer.len(),
        )
    };
    usize::try_from(count).unwrap_or(0)
}

/// Returns whether this number of bytes, a page at most, is left on the stack. A thread may have as
/// little as `PTHREAD_STACK_MIN`, of which handlers of signals take a part, and a handler may have
/// a stack of its own.
pub fn has_stack(needed: usize) -> bool {
    // SAFETY: a structure of integers and a pointer, for which zeros are valid.
    let mut stack: libc::stack_t = unsafe { core::mem::zeroed() };
    if !IS_CONFINED.load(Ordering::Relaxed) {
        let none = ptr::null::<libc::stack_t>();
        // SAFETY: sigaltstack(2) writes to the given structure.
        unsafe { libc::syscall(libc::SYS_sigaltstack, none, &raw mut stack) };
    }
    let here = (&raw const stack).cast::<u8>();
    if stack.ss_flags & libc::SS_ONSTACK != 0 {
        return here.addr().saturating_sub(stack.ss_sp.addr()) >= needed;
    }
    with_errno_kept(|| is_stack(here.wrapping_sub(needed).cast()))
}

/// Returns whether a word is of the stack, or becomes so: a thread's stack ends at a page that
/// cannot be written, but the first thread's grows when the page below it is read, other than by
/// futex(2).
fn is_stack(word: *const u32) -> bool {
    let grows = || {
        /// Refused after the set is read.
        const NO_CHANGE: i32 = -1;
        let none = ptr::null::<u64>();
        // SAFETY: the kernel reads a set of eight bytes, or refuses to.
        unsafe { libc::syscall(libc::SYS_rt_sigprocmask, NO_CHANGE, word, none, size_of::<u64>()) };
        can_write(word)
    };
    can_write(word) || !IS_CONFINED.load(Ordering::Relaxed) && grows()
}

/// Returns the number of times that the calling thread has blocked, and that it has lost its CPU.
pub fn switches() -> [u64; 2] {
    // SAFETY: a structure of integers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: getrusage(2) writes to the given structure.
    unsafe { libc::syscall(libc::SYS_getrusage, libc::RUSAGE_THREAD, &raw mut usage) };
    [usage.ru_nvcsw.cast_unsigned(), usage.ru_nivcsw.cast_unsigned()]
}

pub fn process() -> u32 {
    // SAFETY: getpid(2) has no arguments. Not the C library's function, because some versions cache
    // the result across forks.
    unsafe { libc::syscall(libc::SYS_getpid) as u32 }
}

pub fn parent() -> u32 {
    // SAFETY: getppid(2) has no arguments.
    unsafe { libc::syscall(libc::SYS_getppid) as u32 }
}

/// Returns whether this word of a mapped file can be written: `false` if the disk has no room for
/// it, or if the file is shorter. Writing such a word would kill the process.
///
/// The word stays as it is: FUTEX_WAKE_OP adds 0 to it, and wakes no thread. Since Linux 5.14
/// madvise(2) with `MADV_POPULATE_WRITE` would also do.
pub fn can_write(word: *const u32) -> bool {
    const NO_THREAD: usize = 0;
    const ADD_NOTHING: u32 = (libc::FUTEX_OP_ADD.cast_unsigned()) << 28;
    static NONE_WAITS_HERE: AtomicU32 = AtomicU32::new(0);
    // SAFETY: the kernel accesses both words atomically, or refuses to.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            NONE_WAITS_HERE.as_ptr(),
            libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG,
            NO_THREAD,
            NO_THREAD,
            word,
            ADD_NOTHING,
        )
    };
    result >= 0 || last_error() != libc::EFAULT
}

fn last_error() -> i32 {
    // SAFETY: the C library returns a pointer to the calling thread's own errno.
    unsafe { *libc::__errno_location() }
}

fn zeroed() -> libc::statfs {
    // SAFETY: a structure of integers, for which zeros are valid.
    unsafe { core::mem::zeroed() }
}

/// A path that is built in existing memory, because the stacks of threads may be small.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
    is_whole: bool,
}

impl<const N: usize> Text<N> {
    pub const fn new() -> Self {
        Self { bytes: [0; N], length: 0, is_whole: true }
    }

    pub fn clear(&mut self) {
        (self.length, self.is_whole) = (0, true);
    }

    /// Appends.
    pub fn push(&mut self, byte: u8) {
        // One byte is left for the terminating zero.
        if self.length + 1 < N {
            self.bytes[self.length] = byte;
            self.length += 1;
        } else {
            self.is_whole = false;
        }
    }

    /// Appends.
    pub fn push_all(&mut self, part: &[u8]) {
        for byte in part {
            self.push(*byte);
        }
    }

    /// Appends a number.
    pub fn push_number(&mut self, number: u32) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push(b'0' + (number % 10) as u8);
    }

    /// Returns the text, if there was room for all of it.
    pub fn as_c_str(&mut self) -> Option<&CStr> {
        self.bytes[self.length] = 0;
        let whole = &self.bytes[..=self.length];
        self.is_whole.then(|| CStr::from_bytes_until_nul(whole).ok()).flatten()
    }
}

/// Returns the path of a file that the kernel has about a process; 0 is this one.
pub fn of_process(pid: u32, name: &[u8]) -> Text<48> {
    let mut path = Text::new();
    path.push_all(b"/proc/");
    // The number of this process may be another one in the namespace of /proc.
    if pid == 0 || pid == process() {
        path.push_all(b"self");
    } else {
        path.push_number(pid);
    }
    path.push(b'/');
    path.push_all(name);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_behind_the_end_of_a_file_cannot_be_written() {
        // SAFETY: memfd_create(2) reads the name.
        let fd = unsafe { libc::memfd_create(c"recording".as_ptr(), 0) };
        let file = Descriptor(fd);
        assert!(file.resize(4096));
        let mapping = file.map(2 * 65_536, true).expect("a mapping").cast::<u32>();
        assert!(can_write(mapping.as_ptr()));
        assert!(!can_write(mapping.as_ptr().wrapping_add(65_536 / 4)));
    }

    #[test]
    fn the_stack_of_the_first_thread_grows() {
        const PAGE: usize = 4096;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let writable = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the three calls concern the memory of the first, which nothing else uses.
        let stack = unsafe {
            let pages = libc::mmap(ptr::null_mut(), 16 * PAGE, libc::PROT_NONE, flags, -1, 0);
            let stack = pages.byte_add(15 * PAGE);
            let grows = flags | libc::MAP_GROWSDOWN | libc::MAP_FIXED;
            libc::munmap(stack.byte_sub(8 * PAGE), 8 * PAGE);
            assert_eq!(libc::mmap(stack, PAGE, writable, grows, -1, 0), stack);
            stack
        };
        assert!(is_stack(stack.wrapping_byte_sub(8).cast()));
        assert!(!is_stack(stack.wrapping_byte_sub(9 * PAGE).cast()), "it ends");
    }

    #[test]
    fn a_text_that_has_no_room_is_none() {
        let mut text = Text::<8>::new();
        text.push_all(b"ab.");
        text.push_number(4_711);
        assert_eq!(text.as_c_str(), Some(c"ab.4711"));
        text.push(b'x');
        assert_eq!(text.as_c_str(), None);
        text.clear();
        text.push_number(0);
        assert_eq!(text.as_c_str(), Some(c"0"));
    }
}
