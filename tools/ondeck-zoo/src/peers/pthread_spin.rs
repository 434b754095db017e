//! The C library's spinlock.
//!
//! Source: POSIX, `pthread_spin_lock`; glibc's `nptl/pthread_spin_lock.c` and, on x86-64,
//! `sysdeps/x86_64/nptl/pthread_spin_lock.S` (a locked decrement, then polls 1 PAUSE apart). It is
//! called through the dynamic linker's table, not inlined.
//!
//! Teaches: the cost of a spinlock's pair with two function calls around it.
//!
//! After the unlock: nothing is touched. An unlock is one store.
//!
//! It is moved after its initialization, like the mutexes in `glibc.rs`. Here that is plainly
//! sound: it is one `int`.

use ondeck::platform::Native;

use crate::posix::{Object, acquired, check};
use crate::{LockInfo, Origin, RawLock};

/// `pthread_spinlock_t`.
// SAFETY, as a lock: POSIX specifies it as one. It leaves open what a second lock by the owner
// does; glibc's and musl's wait for ever.
#[derive(Debug)]
pub struct PthreadSpin(Object<libc::pthread_spinlock_t>);

raw_lock! {
    unsafe impl RawLock<Native> for PthreadSpin {
        INFO: LockInfo {
            name: "pthread_spin",
            origin: Origin::Peer,
            source: "POSIX threads in the GNU C library, pthread_spinlock_t",
            teaches: "A spinlock's pair with two function calls around it",
            ..LockInfo::USUAL
        },
        // SAFETY: a failure panics; the file's head argues how it may be moved.
        new: Self(unsafe {
            Object::new(|lock| posix!(check: pthread_spin_init(lock, libc::PTHREAD_PROCESS_PRIVATE)))
        }),
        // SAFETY: the lock is initialized.
        lock: |this, ()| unsafe { posix!(check: pthread_spin_lock(this.0.get())) },
        // SAFETY: the lock is initialized.
        try_lock: |this, ()| unsafe { posix!(acquired: pthread_spin_trylock(this.0.get())) },
        // SAFETY: the lock is initialized, and held by this thread.
        unlock: |this, ()| unsafe { posix!(check: pthread_spin_unlock(this.0.get())) },
        // Locks and unlocks it, because the number that means "free" differs between architectures.
        // SAFETY: the lock is initialized, and unlocked only if it was acquired.
        is_idle: |this| unsafe {
            let free = this.try_lock(&());
            if free {
                this.unlock(&());
            }
            free
        },
    }
}
