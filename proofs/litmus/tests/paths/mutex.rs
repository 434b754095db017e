//! The mutex: exclusion, what a section sees, and that no wake is lost.

use ondeck::platform::{AtomicInt, Ordering};

use crate::memory::Memory;
use crate::shape::{Actor, Shape};

/// Thread 0 unlocks; thread 1, which found the lock taken, asks to be woken. Neither saw the other, and thread 1 sleeps
/// beside a free lock.
const UNLOCKS_UNSEEN: Actor = Actor { sees: |_| (), does: unlock, sleeps: false };
const ASKS_UNSEEN: Actor = Actor { sees: |_| (), does: |m| m.mutex.lock(), sleeps: true };

/// No ordering is needed for this one.
pub const EXCLUSION: &str = "two threads lock the mutex at once";

pub const SHAPES: &[Shape] = &[
    Shape {
        name: EXCLUSION,
        asymmetric: true,
        before: |_| (),
        actors: &[
            Actor { sees: |_| (), does: |m| assert!(m.mutex.try_lock()), sleeps: false },
            Actor { sees: |_| (), does: |m| assert!(m.mutex.try_lock()), sleeps: false },
        ],
    },
    Shape {
        name: "a section does not see what the one before wrote",
        asymmetric: true,
        before: |m| m.mutex.lock(),
        actors: &[
            Actor {
                sees: |_| (),
                does: |m| {
                    m.data.store(1, Ordering::Relaxed);
                    unlock(m);
                },
                sleeps: false,
            },
            Actor {
                sees: unlock,
                does: |m| {
                    assert!(m.mutex.try_lock());
                    assert_eq!(m.data.load(Ordering::Relaxed), 0);
                },
                sleeps: false,
            },
        ],
    },
    Shape {
        name: "a section sees what the next one writes",
        asymmetric: true,
        before: |m| m.mutex.lock(),
        actors: &[
            Actor {
                sees: |m| m.data.store(1, Ordering::Relaxed),
                does: |m| {
                    assert_eq!(m.data.load(Ordering::Relaxed), 1);
                    unlock(m);
                },
                sleeps: false,
            },
            Actor {
                sees: unlock,
                does: |m| {
                    assert!(m.mutex.try_lock());
                    m.data.store(1, Ordering::Relaxed);
                },
                sleeps: false,
            },
        ],
    },
    // The sleep is long. A first one has ended by itself.
    Shape {
        name: "a wake is lost",
        asymmetric: true,
        before: |m| m.mutex.lock(),
        actors: &[UNLOCKS_UNSEEN, ASKS_UNSEEN],
    },
    Shape {
        name: "a notification does not see a waiter that unlocked the mutex before",
        asymmetric: true,
        before: |m| m.mutex.lock(),
        actors: &[
            Actor {
                sees: |_| (),
                does: |m| {
                    // SAFETY: thread 0 owns the mutex. The path ends asleep.
                    unsafe { m.condvar.wait(&m.mutex, None) };
                },
                sleeps: true,
            },
            Actor {
                sees: unlock,
                does: |m| {
                    assert!(m.mutex.try_lock());
                    assert_eq!(m.condvar.notify_one(), 0);
                },
                sleeps: false,
            },
        ],
    },
];

fn unlock(m: &'static Memory) {
    // SAFETY: in these shapes thread 0 owns the mutex.
    unsafe { m.mutex.unlock() };
}
