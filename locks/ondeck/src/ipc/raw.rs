//! The protocol of the mutex for shared memory.
//!
//! ```text
//! the word       bits 0-29  the owner's thread number, by which the kernel knows it; 0 if there is none
//!                bit 30     DIED    an owner ended with the lock, and no later one has repaired it.
//!                                   Set by the kernel, cleared by an owner
//!                bit 31     WAITED  a thread may sleep: set as long as one does. Set by a thread that is
//!                                   about to, cleared by an owner in one step with a wake of all
//! asleep         about the number of sleeping threads: whether it is worth while to clear WAITED
//! contended      unlocks that found WAITED, modulo 2^32. Only the owner uses it
//! links          the lock's place in the list of its owner, as addresses of the owner's process
//!
//! lock           number 0 ──► own number, the bits as they are   a compare-exchange
//!                else ──► + WAITED; sleeps
//! unlock         own number ──► 0, the bits as they are      an exchange; if WAITED is set, wakes one
//!                WAITED, none asleep ──► not WAITED          before that, by the kernel, which wakes all that
//!                                                            sleep in the same step
//! owner ends     its number ──► DIED, WAITED as it is        the kernel; if WAITED was set, wakes one
//! ```
//!
//! # No wake is lost
//!
//! A woken thread relies on nothing: it checks the word, and locks or sleeps again. If it ends
//! before that, the kernel finds the lock as `pending` with no owner, and wakes another thread. It
//! does the same if a thread ends between the exchange that unlocks and its wake. In both cases
//! another thread may already have the lock, and then the kernel wakes none. So that owner must
//! also have `WAITED`, and its unlock wakes one. For this reason an unlock leaves the bit, and no
//! thread clears it except together with a wake of all.
//!
//! A thread that is killed while it sleeps stays counted. So one of some hundred contended unlocks
//! clears `WAITED` whatever the count is, and corrects the count.
//!
//! # Memory ordering
//!
//! The compare-exchange that locks is `Acquire`, and pairs with the exchange that unlocks,
//! `Release`. If an owner ended, the kernel's exchange comes after everything that the owner did.
//! The rest is `Relaxed`: the owner's own fields are ordered by the lock, a load before an exchange
//! is checked by it, and the kernel checks the word again before a thread sleeps. A stale `asleep`
//! costs a wake that no thread needs, or the system call of one unlock.
//!
//! # Sources
//!
//! Ulrich Drepper, "Futexes Are Tricky", for a word with a bit for waiters; Ingo Molnar and Thomas
//! Gleixner's robust futexes (the kernel's `Documentation/locking/robust-futex-ABI.rst`); glibc's
//! robust mutexes. There a mutex that was not repaired becomes unusable. Here each owner receives
//! the report until one repairs it.

use core::mem::offset_of;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use crate::platform::{FutexWait, Links, Native, Platform, RobustList, Timestamp};

const NUMBER: u32 = (1 << 30) - 1;
const DIED: u32 = 1 << 30;
const WAITED: u32 = 1 << 31;

/// The number of reads of a locked word before a thread sleeps: some hundred nanoseconds.
const LOOKS: u32 = 50;

/// One of this number of contended unlocks wakes all sleeping threads, and counts them.
const COUNTS: u32 = 256;

/// How an attempt to lock ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Locked {
    /// The caller owns the lock.
    Clean,
    /// The caller owns the lock; an earlier owner ended with it.
    Died,
    /// Another thread owns the lock.
    No,
}

/// The mutex without its data, 40 bytes.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RawMutex {
    word: AtomicU32,
    asleep: AtomicI32,
    contended: AtomicU32,
    /// The layout is the C library's: see `platform/linux/robust.rs`.
    unused: [u32; 3],
    links: Links,
}

const _: () = assert!(offset_of!(RawMutex, links) == 24 && size_of::<RawMutex>() == 40);

impl RawMutex {
    pub(super) const fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            asleep: AtomicI32::new(0),
            contended: AtomicU32::new(0),
            unused: [0; 3],
            links: Links::new(),
        }
    }

    /// Waits for the lock, until the deadline at the latest.
    #[inline]
    pub(super) fn lock(&self, deadline: Option<Timestamp>) -> Locked {
        self.attempt(|own| {
            let taken = self.take(own);
            if taken == Locked::No { self.wait(own, deadline) } else { taken }
        })
    }

    /// Acquires the lock if it is free.
    #[inline]
    pub(super) fn try_lock(&self) -> Locked {
        self.attempt(|own| self.take(own))
    }

    /// Runs an attempt of the calling thread, with the thread's number as its argument.
    #[inline]
    fn attempt(&self, attempt: impl FnOnce(u32) -> Locked) -> Locked {
        let own = Native::tid();
        let list = RobustList::of_caller();
        // step: pending
        list.begin(&self.links);
        let locked = attempt(own);
        if locked != Locked::No {
            // step: link
            // SAFETY: the lock had no owner, so it is in no list. It is not moved while it is
            // owned, as `Mutex::new` requires.
            unsafe { list.link(&self.links) };
        }
        list.end();
        locked
    }

    /// Locks if the word has no owner.
    #[inline]
    fn take(&self, own: u32) -> Locked {
        let mut word = self.word.load(Ordering::Relaxed);
        // step: take
        while word & NUMBER == 0 {
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            match self.word.compare_exchange_weak(word, word | own, acquire, relaxed) {
                Ok(_) if word & DIED != 0 => return Locked::Died,
                Ok(_) => return Locked::Clean,
                Err(found) => word = found,
            }
        }
        Locked::No
    }

    #[cold]
    fn wait(&self, own: u32, deadline: Option<Timestamp>) -> Locked {
        let looks = if Native::cpus() > 1 { LOOKS } else { 0 };
        for _ in 0..looks {
            Native::pause();
            let taken = self.take(own);
            if taken != Locked::No {
                return taken;
            }
        }
        loop {
            let taken = self.take(own);
            if taken != Locked::No {
                return taken;
            }
            let word = self.word.load(Ordering::Relaxed);
            assert_ne!(
                word & NUMBER,
                own,
                "deadlock: this thread locks an ipc::Mutex that it holds"
            );
            if word & NUMBER == 0 {
                continue;
            }
            // step: sleep
            let relaxed = Ordering::Relaxed;
            let expected = word | WAITED;
            let marked = || self.word.compare_exchange(word, expected, relaxed, relaxed).is_ok();
            if word & WAITED != 0 || marked() {
                self.asleep.fetch_add(1, relaxed);
                let slept = Native::shared_futex_wait(&self.word, expected, deadline);
                self.asleep.fetch_sub(1, relaxed);
                if slept == FutexWait::TimedOut {
                    return Locked::No;
                }
            }
        }
    }

    /// Returns whether the calling thread has this number and owns the lock. If not, the caller has
    /// a guard of another process that a fork has copied. The word alone does not tell: the child
    /// may have locked the mutex itself since.
    fn is_owned_by(&self, number: u32) -> bool {
        number == Native::tid() && self.word.load(Ordering::Relaxed) & NUMBER == number
    }

    /// Clears the mark that an owner ended. The caller owns the lock under this number, or as for
    /// [`unlock`](Self::unlock).
    pub(super) fn repair(&self, number: u32) {
        if self.is_owned_by(number) {
            // step: repair
            // A read-modify-write, because other threads set `WAITED`.
            self.word.fetch_and(!DIED, Ordering::Relaxed);
        }
    }

    /// Returns whether an owner ended, and no later one has repaired the lock. The caller owns the
    /// lock.
    pub(super) fn has_died(&self) -> bool {
        self.word.load(Ordering::Relaxed) & DIED != 0
    }

    /// Returns whether a thread owns the lock.
    pub(super) fn is_locked(&self) -> bool {
        self.word.load(Ordering::Relaxed) & NUMBER != 0
    }

    /// Unlocks.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock under this number; or it is the copy of an owner with this
    /// number, in the child of a fork, and then nothing happens.
    #[inline]
    pub(super) unsafe fn unlock(&self, number: u32) {
        if !self.is_owned_by(number) {
            return;
        }
        let list = RobustList::of_caller();
        list.begin(&self.links);
        // step: unlink
        // SAFETY: the calling thread linked it when it locked.
        unsafe { list.unlink(&self.links) };
        let word = &raw const self.word;
        if self.word.load(Ordering::Relaxed) & WAITED != 0 {
            self.clear_waited();
        }
        // step: unlock
        if self.word.fetch_and(!NUMBER, Ordering::Release) & WAITED != 0 {
            Native::shared_futex_wake(word, 1);
        }
        list.end();
    }

    /// Clears `WAITED` if no thread appears to sleep, and sometimes in any case. The caller owns
    /// the lock.
    #[cold]
    fn clear_waited(&self) {
        let contended = self.contended.load(Ordering::Relaxed).wrapping_add(1);
        self.contended.store(contended, Ordering::Relaxed);
        // step: clear
        if self.asleep.load(Ordering::Relaxed) <= 0 || contended.is_multiple_of(COUNTS) {
            // A thread that is about to sleep finds the word changed, or sleeps and is woken here.
            if let Some(woken) = Native::shared_futex_clear_and_wake_all(&self.word, WAITED) {
                // Each of them decrements the count itself.
                let woken = i32::try_from(woken).unwrap_or(i32::MAX);
                self.asleep.store(woken, Ordering::Relaxed);
            }
        }
    }
}
