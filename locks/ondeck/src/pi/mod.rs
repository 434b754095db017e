//! A mutex whose owner runs with the priority of the threads that wait for it.
//!
//! ```text
//! the word       bits 0-29  the owner's thread number, by which the kernel knows it; 0 if the lock is free
//!                bit 30     an owner ended with the lock: written by the kernel, cleared by the next owner
//!                bit 31     threads wait in the kernel: written by the kernel
//! abandoned      whether an owner ended with the lock without a later repair. Only the owner uses it
//!
//! lock           0 ──► own number            a compare-exchange
//!                else                        the kernel: FUTEX_LOCK_PI
//! unlock         own number ──► 0            a compare-exchange
//!                else                        the kernel: FUTEX_UNLOCK_PI
//! ```
//!
//! If a thread of a real-time class waits for a lock, the lock's owner delays it, and so do all
//! threads that keep the owner from running: priority inversion. Here the kernel lets the owner run
//! with the highest priority of the waiting threads, through chains of such locks. It wakes them by
//! priority, and hands off the lock. The cost is that a contended pair takes two system calls and a
//! context switch, where [`Mutex`](crate::Mutex) mostly has none. So this mutex is only for threads
//! of real-time classes.
//!
//! # An owner that ends
//!
//! A thread may end with the lock, if it has forgotten a guard. The kernel notices that when
//! another thread waits or begins to wait. Safe code may have kept a reference into the data
//! ([`lock_api::MutexGuard::leak`]), so no thread acquires the lock from then on:
//! [`lock`](lock_api::Mutex::lock) panics, and attempts fail. A program that knows that no
//! reference was kept acquires the lock by [`RawPiMutex::lock_robust`], which reports that the
//! owner ended, repairs the data, and [repairs](RawPiMutex::repair) the lock.
//!
//! The kernel identifies owners by number. If no thread waited when the owner ended, and another
//! thread has received the number since, that thread counts as the owner until it ends.
//!
//! # Threads that wait for each other
//!
//! The kernel refuses a wait that would close a cycle: the owner waits for a lock of the thread
//! that wants this one. If a thread of the cycle has a deadline, that is not a deadlock. So the
//! refused thread asks again each millisecond, until its own deadline. In that time the owner does
//! not inherit its priority.
//!
//! # Memory ordering
//!
//! The compare-exchange that locks is `Acquire` and pairs with the one that unlocks, `Release`. The
//! kernel's calls order like both, by the lock of the futex's bucket in the kernel; an acquire load
//! after the call makes that known to the compiler. `abandoned` is `Relaxed`, because only the
//! owner uses it.
//!
//! # Sources
//!
//! Lui Sha, Ragunathan Rajkumar and John Lehoczky, "Priority Inheritance Protocols: An Approach to
//! Real-Time Synchronization"; the kernel's `Documentation/locking/pi-futex.rst` by Ingo Molnar;
//! glibc's `PTHREAD_PRIO_INHERIT`.

mod api;

extern crate std;

use core::ffi::CStr;
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use crate::observe::{self, Place};
use crate::platform::{Native, PiFutex, PiLock, PiUnlock, Platform, Timestamp};

#[cfg(feature = "arc_lock")]
pub use api::ArcPiMutexGuard;
pub use api::{MappedPiMutexGuard, PiMutex, PiMutexGuard};

const NUMBER: u32 = (1 << 30) - 1;
const OWNER_ENDED: u32 = 1 << 30;
const WAITED: u32 = 1 << 31;

/// How long a thread in a cycle of waits rests before it asks the kernel again.
const AGAIN: Duration = Duration::from_millis(1);

/// The last owner ended with the lock, and its changes to the data may be incomplete: see
/// [`RawPiMutex::lock_robust`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerEnded;

impl fmt::Display for OwnerEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a thread ended while it owned the lock, and nothing has repaired that")
    }
}

impl core::error::Error for OwnerEnded {}

/// A mutex without data that inherits priorities, eight bytes; see the [module](self) for its
/// protocol.
///
/// On Linux only: the protocol is the kernel's.
#[repr(C)]
pub struct RawPiMutex {
    word: AtomicU32,
    abandoned: AtomicU32,
    place: Place,
}

impl RawPiMutex {
    /// Creates an unlocked mutex.
    pub const fn new() -> Self {
        Self { word: AtomicU32::new(0), abandoned: AtomicU32::new(0), place: Place::new() }
    }

    /// As [`new`](Self::new), with a [name](crate::name).
    pub const fn named(name: &'static CStr) -> Self {
        Self { place: Place::named(name), ..Self::new() }
    }

    /// Acquires the lock if it is free, abandoned or not.
    #[inline]
    fn take(&self) -> bool {
        // step: take
        self.word.compare_exchange(0, Native::tid(), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Waits for the lock, abandoned or not. Returns false if the deadline passes first. If the
    /// owner ended, takes its place, or with `Ended::Stays` leaves the lock as it is.
    #[cold]
    fn wait(&self, deadline: Option<Timestamp>, ended: Ended) -> Result<bool, OwnerEnded> {
        loop {
            let word = self.word.load(Ordering::Relaxed);
            match Native::futex_lock_pi(&self.word, deadline) {
                PiLock::Owner => {
                    // Acquire: see the top. The kernel sets the bit if the owner ended while this
                    // thread waited.
                    // step: taken in the kernel
                    if self.word.load(Ordering::Acquire) & OWNER_ENDED != 0 {
                        self.abandoned.store(1, Ordering::Relaxed);
                        self.word.fetch_and(!OWNER_ENDED, Ordering::Relaxed);
                    }
                    return Ok(true);
                }
                PiLock::OwnerEnded if ended == Ended::Stays => return Err(OwnerEnded),
                PiLock::OwnerEnded => {
                    // The kernel has found no thread with the number that this thread had read in
                    // the word. If the word is still the same, the lock belongs to that ended
                    // thread.
                    // step: replace
                    let own = Native::tid() | word & WAITED;
                    let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
                    if word & NUMBER != 0
                        && self.word.compare_exchange(word, own, acquire, relaxed).is_ok()
                    {
                        self.abandoned.store(1, Ordering::Relaxed);
                        return Ok(true);
                    }
                }
                // step: circle
                PiLock::Circle if self.word.load(Ordering::Relaxed) & NUMBER == Native::tid() => {
                    panic!(
                        "deadlock: this thread locks a PiMutex that it holds, {:#x}",
                        (&raw const *self).addr()
                    )
                }
                // The owner waits for a lock of this thread, so the kernel lets no wait close the
                // cycle. But the owner may give up.
                PiLock::Circle => {
                    let left = deadline.map_or(AGAIN, |deadline| deadline.since(Native::now()));
                    if left.is_zero() {
                        return Ok(false);
                    }
                    std::thread::sleep(left.min(AGAIN));
                }
                PiLock::TimedOut => return Ok(false),
            }
        }
    }

    /// Unlocks again if a thread ended with the lock. The caller owns the lock.
    #[inline]
    fn unless_abandoned(&self) -> Result<(), OwnerEnded> {
        // step: unless abandoned
        if self.abandoned.load(Ordering::Relaxed) != 0 {
            // SAFETY: the caller owns it.
            unsafe { self.unlock() };
            return Err(OwnerEnded);
        }
        Ok(())
    }

    /// Waits until the calling thread owns the lock.
    ///
    /// # Errors
    ///
    /// [`OwnerEnded`] if a thread ended with the lock. The caller then does not own it.
    ///
    /// # Panics
    ///
    /// If the calling thread already owns it.
    #[inline]
    pub fn lock(&self) -> Result<(), OwnerEnded> {
        if !self.take() {
            self.wait(None, Ended::Stays)?;
        }
        self.unless_abandoned()
    }

    /// Acquires the lock if it is free and no thread ended with it. Returns whether it did.
    #[inline]
    pub fn try_lock(&self) -> bool {
        self.take() && self.unless_abandoned().is_ok()
    }

    /// As [`lock`](Self::lock), until the deadline at the latest. Returns whether the caller owns
    /// the lock.
    ///
    /// # Errors
    ///
    /// As for `lock`.
    ///
    /// # Panics
    ///
    /// As for `lock`.
    pub fn try_lock_until(&self, deadline: Timestamp) -> Result<bool, OwnerEnded> {
        if !self.take() && !self.wait(Some(deadline), Ended::Stays)? {
            return Ok(false);
        }
        self.unless_abandoned().map(|()| true)
    }

    /// Waits until the calling thread owns the lock, even if a thread ended with it.
    ///
    /// # Errors
    ///
    /// [`OwnerEnded`] if a thread ended with it. The caller owns the lock in that case also: it
    /// repairs the protected data, [repairs](Self::repair) the lock, and unlocks it. Without the
    /// repair the next owner also receives the error.
    ///
    /// # Panics
    ///
    /// If the calling thread already owns it.
    ///
    /// # Safety
    ///
    /// * A thread that ended with the lock has kept no reference into the protected data.
    /// * No two threads call this at the same time. Suppose that a thread has read an owner's
    ///   number and is delayed, while that owner unlocks, the next owner ends and is replaced, and
    ///   the first owner locks again. The delayed thread would then take the lock from a live
    ///   thread.
    pub unsafe fn lock_robust(&self) -> Result<(), OwnerEnded> {
        if !self.take() {
            self.wait(None, Ended::Replaced)?;
        }
        if self.abandoned.load(Ordering::Relaxed) != 0 { Err(OwnerEnded) } else { Ok(()) }
    }

    /// Clears the mark that a thread ended with the lock. The caller owns the lock, and has
    /// repaired the protected data.
    pub fn repair(&self) {
        self.abandoned.store(0, Ordering::Relaxed);
    }

    /// Unlocks: the lock goes to the waiting thread of the highest priority, if one waits.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock(&self) {
        // step: unlock
        let (own, release) = (Native::tid(), Ordering::Release);
        if self.word.compare_exchange(own, 0, release, Ordering::Relaxed).is_err() {
            self.unlock_slow();
        }
    }

    #[cold]
    fn unlock_slow(&self) {
        // step: unlock in the kernel
        if Native::futex_unlock_pi(&self.word) == PiUnlock::NotOwner {
            // This is the child of a fork, which owns the locks of the thread that forked, under
            // that thread's number. No thread waits: the parent's threads do not exist here, and a
            // thread of the child would have received the report that the owner ended, or would
            // wait for the parent's thread.
            self.word.store(0, Ordering::Release);
        }
    }

    /// Returns whether the calling thread owns the lock. In the child of a fork it owns no lock
    /// that it had before.
    #[inline]
    pub fn is_owned_by_current_thread(&self) -> bool {
        // Relaxed: a thread that reads its own number has written it, or was given the lock by the
        // kernel and has returned.
        self.word.load(Ordering::Relaxed) & NUMBER == Native::tid()
    }

    /// Returns whether a thread owns the lock, for assertions and tests.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.word.load(Ordering::Relaxed) != 0
    }
}

/// What happens to the lock of a thread that ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// No thread owns it any more.
    Stays,
    /// The calling thread becomes the owner.
    Replaced,
}

impl fmt::Debug for RawPiMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lock = f.debug_struct("RawPiMutex");
        observe::show_name(self, &mut lock);
        lock.field("locked", &self.is_locked()).finish()
    }
}

impl Default for RawPiMutex {
    fn default() -> Self {
        Self::new()
    }
}
