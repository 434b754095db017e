//! Futexes that inherit priorities, for platforms whose kernel knows the owner of a lock.

use super::{Platform, Timestamp};

/// The result of [`PiFutex::futex_lock_pi`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "only with `Owner` does the calling thread have the lock"]
pub enum PiLock {
    /// The calling thread is the owner.
    Owner,
    /// The owner ended with the lock while no thread waited: the word still has its number.
    OwnerEnded,
    /// The calling thread would wait for itself: it already is the owner, or the owner waits for
    /// it.
    Circle,
    /// The deadline passed.
    TimedOut,
}

/// The result of [`PiFutex::futex_unlock_pi`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a thread that is not the owner has unlocked nothing"]
pub enum PiUnlock {
    /// The lock is free, or belongs to another thread.
    Done,
    /// The word does not have the calling thread's number.
    NotOwner,
}

/// A platform whose kernel hands off locks, and lets an owner run with the highest priority of the
/// waiting threads: FUTEX_LOCK_PI and FUTEX_UNLOCK_PI.
///
/// ```text
/// the word  bits 0-29  the owner's number; 0 if the lock is free
///           bit 30     an owner ended with the lock
///           bit 31     the kernel knows of waiters: the kernel must unlock
///
/// 0 → own number             a thread that locks, by compare-exchange
/// own number → 0             the owner, by compare-exchange: fails if bit 31 is set
/// sets bit 31                the kernel, for a thread that waits
/// a number → another, bit 31 the kernel, in an unlock: the handoff. The word is not 0 in between
/// own number, bit 31 → 0     the kernel, in an unlock that finds no waiter
/// ```
///
/// A new owner by handoff has bit 31 in its word, whether or not further threads wait. So its
/// unlock is also a system call.
///
/// # Safety
///
/// Locks rely on it for mutual exclusion.
///
/// * No two live threads have the same [`thread_id`](Self::thread_id).
/// * The kernel changes words only as drawn above. Of the threads that lock the same word, only one
///   becomes its owner until it unlocks.
/// * Everything that an owner did before it unlocked, here or by a `Release` compare-exchange,
///   happens before everything that the next owner does after `futex_lock_pi` returns
///   [`PiLock::Owner`].
/// * As with [`Platform`], nothing unwinds.
pub unsafe trait PiFutex: Platform {
    /// Returns the kernel's number of the calling thread: not 0, and below 2^30. It takes a few
    /// instructions.
    fn thread_id() -> u32;

    /// Waits until the calling thread owns the lock of this word, or until the deadline.
    ///
    /// The kernel reads the word first, and acquires a free lock at once. Waiting threads acquire
    /// the lock by priority, and among equals in the order of arrival.
    fn futex_lock_pi(word: &Self::AtomicU32, deadline: Option<Timestamp>) -> PiLock;

    /// Unlocks: the waiting thread of the highest priority then owns the lock, or it is free.
    ///
    /// The kernel does not touch the word after it has handed off the lock.
    fn futex_unlock_pi(word: &Self::AtomicU32) -> PiUnlock;
}
