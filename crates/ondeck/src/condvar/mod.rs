//! The condition variable that goes with the one-byte mutex.
//!
//! ```text
//! the condvar    0 nobody waits · 1 somebody may. Written under the lock of its bucket.
//! the table      by the condvar's address: the waiters, each with the mutex that it needs next
//!
//! wait           link under the condvar's address; release the mutex; sleep
//! notify         move the oldest waiter, or all, to the address of their mutex, as if they had come
//!                to lock it. If the mutex is free, one of them goes on deck and is woken.
//! ```
//!
//! # No signal is lost or stolen
//!
//! A waiter is linked before it releases the mutex, so a notifier that has the mutex after it finds
//! it. A notifier takes its waiters off the condition variable at once: who comes later is not among
//! them, and cannot get what was meant for another. A waiter whose deadline passes takes itself off
//! under the same lock, and was notified if and only if it was moved before.
//!
//! # System calls
//!
//! None where nobody waits: one load. None where the mutex is owned, by the notifier or by another:
//! the woken thread could not go on, so it is not woken; the owner's release finds it like any other
//! waiter. One wake where the mutex is free, however many are notified, because a lock has at most
//! one awake waiter.
//!
//! # Memory ordering
//!
//! The condition variable orders nothing by itself; the mutex does.
//!
//! # Sources
//!
//! Waiters that are moved rather than woken: "wait morphing", in the kernel by `FUTEX_CMP_REQUEUE`
//! and its first user, Ulrich Drepper's glibc; Lockless Inc.'s "Mutexes and Condition Variables using
//! Futexes", whose benchmark shows what it is worth; in a table of queues parking_lot's `Condvar`.

mod api;
mod raw;

pub use api::Condvar;
pub use raw::RawCondvar;
