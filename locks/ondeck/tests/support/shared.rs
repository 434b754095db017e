//! Memory that processes share, with a mutex and a condition variable in it, and child processes.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use ondeck::ipc::{Condvar, Mutex, MutexGuard};

use crate::until::until;

/// The bits of a word that have the owner's number.
pub const NUMBER: u32 = (1 << 30) - 1;
/// The bit of a word that is set if an owner has ended.
pub const DIED: u32 = 1 << 30;
/// The bit of a word that is set if a thread may sleep.
pub const WAITED: u32 = 1 << 31;

/// The memory that the processes share.
#[repr(C)]
pub struct Shared {
    pub mutex: Mutex<u32>,
    pub condvar: Condvar,
    step: AtomicU32,
}

/// Maps new shared memory, which is never unmapped.
pub fn share() -> &'static Shared {
    share_file().0
}

/// As [`share`], with the file that the memory is.
pub fn share_file() -> (&'static Shared, File) {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new file, of this owner only, and a new mapping, large enough for the value written
    // there, which is never unmapped.
    unsafe {
        let file = File::from_raw_fd(libc::memfd_create(c"shared".as_ptr(), libc::MFD_CLOEXEC));
        file.set_len(size_of::<Shared>() as u64).expect("there is memory");
        let (kind, file_descriptor) = (libc::MAP_SHARED, file.as_raw_fd());
        let memory =
            libc::mmap(ptr::null_mut(), size_of::<Shared>(), access, kind, file_descriptor, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        let place = memory.cast::<Shared>();
        let mutex = Mutex::new(0);
        place.write(Shared { mutex, condvar: Condvar::new(), step: AtomicU32::new(0) });
        (&*place, file)
    }
}

impl Shared {
    /// Returns the address of the word.
    pub fn place(&self) -> usize {
        (&raw const self.mutex).addr()
    }

    pub fn word(&self) -> u32 {
        // SAFETY: the first word of the mutex is an atomic.
        unsafe { &*(&raw const self.mutex).cast::<AtomicU32>() }.load(Ordering::Relaxed)
    }

    pub fn until_waited_for(&self) {
        until(|| self.word() & WAITED != 0);
    }

    pub fn until_step(&self, step: u32) {
        until(|| self.step.load(Ordering::Acquire) >= step);
    }

    pub fn next_step(&self) {
        self.step.fetch_add(1, Ordering::Release);
    }
}

/// A child process, which is killed when this is dropped, if not before.
pub struct Child(pub i32);

impl Child {
    /// Runs `body` in a child, which then ends.
    pub fn start(body: impl FnOnce()) -> Self {
        // SAFETY: the child uses its copy of the memory, and ends without the parent's destructors.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0);
        if pid == 0 {
            let failed = catch_unwind(AssertUnwindSafe(body)).is_err();
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(failed)) };
        }
        Self(pid)
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: a signal to a child of this process that has not been reaped yet.
        assert_eq!(unsafe { libc::kill(self.0, signal) }, 0);
    }

    /// Waits until it has ended, and returns its status.
    pub fn status(self) -> i32 {
        let child = ManuallyDrop::new(self);
        let mut status = 0;
        // SAFETY: waits for the child, into a live integer.
        assert_eq!(unsafe { libc::waitpid(child.0, &raw mut status, 0) }, child.0);
        status
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Both fail if a test has found that it has ended, and panics.
        // SAFETY: ends a child of this process, and waits for it.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, ptr::null_mut(), 0);
        }
    }
}

/// Locks a mutex whose owner has not died.
pub fn lock(shared: &Shared) -> MutexGuard<'_, u32> {
    shared.mutex.lock().expect("no owner has died")
}
