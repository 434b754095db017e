//! The mutex: exclusion, visibility in sections, and no lost wakes.

use ondeck::platform::{AtomicInt, Ordering};

use crate::memory::Memory;
use crate::shape::{Actor, NOTHING, Shape};

/// No ordering is needed for this one.
pub const EXCLUSION: &str = "two threads lock the mutex at once";

pub const SHAPES: &[Shape] = &[
    Shape {
        name: EXCLUSION,
        asymmetric: true,
        before: NOTHING,
        actors: &[
            Actor::ends(NOTHING, |m| assert!(m.mutex.try_lock())),
            Actor::ends(NOTHING, |m| assert!(m.mutex.try_lock())),
        ],
    },
    Shape {
        name: "a section does not see what the one before wrote",
        asymmetric: true,
        before: |m| m.mutex.lock(),
        actors: &[
            Actor::ends(NOTHING, |m| {
                m.data.store(1, Ordering::Relaxed);
                unlock(m);
            }),
            Actor::ends(unlock, |m| {
                assert!(m.mutex.try_lock());
                assert_eq!(m.data.load(Ordering::Relaxed), 0);
            }),
        ],
    },
    Shape {
        name: "a section sees what the next one writes",
        asymmetric: true,
        before: |m| m.mutex.lock(),
        actors: &[
            Actor::ends(
                |m| m.data.store(1, Ordering::Relaxed),
                |m| {
                    assert_eq!(m.data.load(Ordering::Relaxed), 1);
                    unlock(m);
                },
            ),
            Actor::ends(unlock, |m| {
                assert!(m.mutex.try_lock());
                m.data.store(1, Ordering::Relaxed);
            }),
        ],
    },
    // Thread 0 unlocks; thread 1, which found the lock held, asks to be woken. Neither saw the other, and thread 1
    // sleeps although the lock is free. The sleep is long: a first one has ended by its timeout.
    Shape {
        name: "a wake is lost",
        asymmetric: true,
        before: |m| m.mutex.lock(),
        actors: &[Actor::ends(NOTHING, unlock), Actor::sleeps(NOTHING, |m| m.mutex.lock())],
    },
    Shape {
        name: "a notification does not see a waiter that unlocked the mutex before",
        asymmetric: true,
        before: |m| m.mutex.lock(),
        actors: &[
            Actor::sleeps(NOTHING, |m| {
                // SAFETY: thread 0 owns the mutex. The path ends asleep.
                unsafe { m.condvar.wait(&m.mutex, None) };
            }),
            Actor::ends(unlock, |m| {
                assert!(m.mutex.try_lock());
                assert_eq!(m.condvar.notify_one(), 0);
            }),
        ],
    },
];

fn unlock(m: &'static Memory) {
    // SAFETY: in these shapes thread 0 owns the mutex.
    unsafe { m.mutex.unlock() };
}
