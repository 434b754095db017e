//! System calls. Directly, not by the C library's functions: those are cancellation points, which
//! locking a mutex is not, and other libraries put theirs in front of them.

use core::ffi::CStr;
use core::ptr::{self, NonNull};

/// Keeps the calling thread's `errno` as it is: locking a mutex does not change it.
pub fn with_errno_kept<T>(action: impl FnOnce() -> T) -> T {
    // SAFETY: the C library returns a pointer to the calling thread's own errno, valid while it lives.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let result = action();
    // SAFETY: as above.
    unsafe { *errno = before };
    result
}

/// An open file, closed when it is dropped.
pub struct Descriptor(libc::c_int);

impl Descriptor {
    /// Opens `path`; `Err` with `errno`.
    pub fn open(path: &CStr, flags: libc::c_int) -> Result<Self, i32> {
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

    /// Whether the file can become `size` bytes long and have all of them written: a process that writes
    /// to a mapping of a file for which the disk has no room would be killed.
    pub fn has_room(&self, size: usize) -> bool {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        let mut disk: libc::statfs = zeroed();
        // SAFETY: both calls write the structure that they are given.
        let asked = unsafe {
            libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) == 0
                && libc::syscall(libc::SYS_fstatfs, self.0, &raw mut disk) == 0
        };
        // A tmpfs without a limit says that it has no blocks at all.
        let free = if disk.f_blocks == 0 { u64::MAX } else { disk.f_bavail };
        asked
            && limit.rlim_cur >= size as u64
            && free.saturating_mul(disk.f_bsize.cast_unsigned()) >= size as u64
    }

    /// Makes the file `size` bytes long, the new ones zeros.
    pub fn resize(&self, size: usize) -> bool {
        // SAFETY: ftruncate(2) has no memory to touch.
        unsafe { libc::syscall(libc::SYS_ftruncate, self.0, size) == 0 }
    }

    /// Maps the first `size` bytes, shared; with `writable` for writing, too.
    pub fn map(&self, size: usize, writable: bool) -> Option<NonNull<u8>> {
        let protection =
            if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        // SAFETY: a mapping at an address that the kernel chooses touches none that is there.
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

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor is this object's own.
        unsafe { libc::syscall(libc::SYS_close, self.0) };
    }
}

/// Removes a file that turned out not to be usable.
pub fn remove(path: &CStr) {
    // SAFETY: unlinkat(2) reads the path, which ends with a zero byte.
    unsafe { libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path.as_ptr(), 0) };
}

/// What a symbolic link says, as far as `buffer` has room.
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

pub fn process() -> u32 {
    // SAFETY: getpid(2) has no arguments. Not the C library's, which some versions remember over forks.
    unsafe { libc::syscall(libc::SYS_getpid) as u32 }
}

pub fn parent() -> u32 {
    // SAFETY: getppid(2) has no arguments.
    unsafe { libc::syscall(libc::SYS_getppid) as u32 }
}

/// Copies memory of this process, if it is mapped: reading it directly could be a fault.
pub fn peek(address: usize, buffer: &mut [u8]) -> bool {
    let to = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let from =
        libc::iovec { iov_base: ptr::without_provenance_mut(address), iov_len: buffer.len() };
    // SAFETY: the kernel writes the buffer only, and refuses addresses that are not mapped.
    let count = unsafe {
        libc::syscall(
            libc::SYS_process_vm_readv,
            process(),
            &raw const to,
            1_usize,
            &raw const from,
            1_usize,
            0_usize,
        )
    };
    usize::try_from(count) == Ok(buffer.len())
}

fn last_error() -> i32 {
    // SAFETY: the C library returns a pointer to the calling thread's own errno.
    unsafe { *libc::__errno_location() }
}

fn zeroed() -> libc::statfs {
    // SAFETY: a structure of integers, for which zeros are a value.
    unsafe { core::mem::zeroed() }
}

/// A path or a name that is put together on the stack.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    pub fn new() -> Self {
        Self { bytes: [0; N], length: 0 }
    }

    /// Appends; what has no room, with a zero behind it, is left off, and `None` says so.
    #[must_use]
    pub fn and(mut self, part: &[u8]) -> Option<Self> {
        let end = self.length + part.len();
        if end >= N {
            return None;
        }
        self.bytes[self.length..end].copy_from_slice(part);
        self.length = end;
        Some(self)
    }

    /// Appends a number.
    #[must_use]
    pub fn and_number(self, number: u32) -> Option<Self> {
        let mut digits = [0_u8; 10];
        let mut start = digits.len();
        let mut rest = number;
        loop {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                return self.and(&digits[start..]);
            }
        }
    }

    pub fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}
