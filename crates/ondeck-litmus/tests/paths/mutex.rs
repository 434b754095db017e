//! The mutex: exclusion, what a section sees, and that no wake is lost.

use ondeck::platform::{AtomicInt, Ordering, Timestamp};

use crate::machine::set;
use crate::memory::Memory;
use crate::shape::{Actor, Shape};

/// Thread 0 unlocks; thread 1, which found the lock taken, parks. Neither saw the other, and thread 1 sleeps beside a
/// free lock.
const UNLOCKS_UNSEEN: Actor = Actor { sees: |_| (), does: unlock, sleeps: false };
const PARKS_UNSEEN: Actor = Actor { sees: |_| (), does: |m| m.mutex.lock(), sleeps: true };

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
        before: known_and_locked,
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
        before: known_and_locked,
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
    Shape {
        name: "a wake is lost: mode `LOOK`, without membarrier",
        asymmetric: false,
        before: |m| m.mutex.lock(),
        actors: &[UNLOCKS_UNSEEN, PARKS_UNSEEN],
    },
    Shape {
        name: "a wake is lost: mode `SKIP`",
        asymmetric: true,
        before: known_and_locked,
        actors: &[UNLOCKS_UNSEEN, PARKS_UNSEEN],
    },
    Shape {
        name: "a wake is lost: record `FENCED`",
        asymmetric: true,
        before: fenced,
        actors: &[UNLOCKS_UNSEEN, PARKS_UNSEEN],
    },
    Shape {
        name: "a wake is lost: record `LIGHT`",
        asymmetric: true,
        before: light,
        actors: &[UNLOCKS_UNSEEN, PARKS_UNSEEN],
    },
    Shape {
        name: "a wake is lost: another lock's unlock leaves `LOOK` meanwhile",
        asymmetric: true,
        before: |m| m.mutex.lock(),
        actors: &[
            // It sees the new mode, but not the record of thread 1.
            Actor { sees: |m| m.mode.store(SOME, Ordering::Relaxed), does: unlock, sleeps: false },
            PARKS_UNSEEN,
            Actor {
                sees: |m| m.mutex.lock(),
                does: |m| {
                    m.other.lock();
                    // SAFETY: just locked.
                    unsafe { m.other.unlock() };
                    assert_eq!(m.mode.load(Ordering::Relaxed), SOME);
                },
                sleeps: false,
            },
        ],
    },
    Shape {
        name: "a wake is lost: the unlock before makes the record `LIGHT` meanwhile",
        asymmetric: true,
        before: almost_light,
        actors: &[
            // It sees that the record is light, but not that thread 1 is counted there.
            Actor {
                sees: unlock_often,
                does: |m| {
                    set(|s| s.often = false);
                    assert!(m.mutex.try_lock());
                    unlock(m);
                },
                sleeps: false,
            },
            PARKS_UNSEEN,
            // It has looked before thread 1 was counted.
            Actor { sees: |_| (), does: unlock_often, sleeps: false },
        ],
    },
    Shape {
        name: "a notification does not see a waiter that unlocked the mutex before",
        asymmetric: true,
        before: known_and_locked,
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

/// The unlock mode of a bucket with an armed record.
const SOME: usize = 2;

fn unlock(m: &'static Memory) {
    // SAFETY: in these shapes thread 0 owns the mutex.
    unsafe { m.mutex.unlock() };
}

/// An unlock has found the bucket empty: its mode is `SKIP`. Thread 0 owns the mutex.
fn known_and_locked(m: &'static Memory) {
    m.mutex.lock();
    unlock(m);
    m.mutex.lock();
}

/// A thread has parked with a heavy fence, and gone: the record is there and fenced.
fn fenced(m: &'static Memory) {
    known_and_locked(m);
    set(|s| s.times_out = true);
    assert!(!m.mutex.try_lock_until(Timestamp::from_nanos(1 << 50)));
}

/// Then so many unlocks but one have found no thread that they may do without fences.
fn almost_light(m: &'static Memory) {
    fenced(m);
    for _ in 0..7 {
        unlock_often(m);
        m.mutex.lock();
    }
}

/// An unlock that also does what each does now and then.
fn unlock_often(m: &'static Memory) {
    set(|s| s.often = true);
    unlock(m);
}

/// Then so many unlocks have found no thread that they make no fences any more.
fn light(m: &'static Memory) {
    almost_light(m);
    unlock_often(m);
    m.mutex.lock();
}
