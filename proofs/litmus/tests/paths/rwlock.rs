//! The reader-writer lock: visible readers and the writer that revokes the bias; counted readers.

use ondeck::platform::{AtomicInt, Ordering};

use crate::memory::Memory;
use crate::shape::{Actor, NOTHING, Shape};

pub const SHAPES: &[Shape] = &[
    Shape {
        name: "a visible reader and a writer hold the lock",
        asymmetric: true,
        before: biased,
        actors: &[Actor::ends(NOTHING, read), Actor::ends(NOTHING, |m| m.rwlock.lock_exclusive())],
    },
    Shape {
        name: "a visible reader and a writer hold the lock, without membarrier",
        asymmetric: false,
        before: biased,
        actors: &[Actor::ends(NOTHING, read), Actor::ends(NOTHING, |m| m.rwlock.lock_exclusive())],
    },
    Shape {
        name: "a visible reader sees what a later writer writes",
        asymmetric: true,
        before: biased,
        actors: &[
            Actor::ends(|m| m.data.store(1, Ordering::Relaxed), read_and_leave),
            Actor::ends(NOTHING, write),
        ],
    },
    Shape {
        name: "a writer sleeps although the visible reader has left",
        asymmetric: true,
        before: |m| {
            biased(m);
            read(m);
        },
        actors: &[
            Actor::ends(NOTHING, leave),
            Actor::sleeps(NOTHING, |m| m.rwlock.lock_exclusive()),
        ],
    },
    Shape {
        name: "a counted reader sees what a later writer writes",
        asymmetric: true,
        before: read,
        actors: &[
            Actor::ends(
                |m| m.data.store(1, Ordering::Relaxed),
                |m| {
                    assert_eq!(m.data.load(Ordering::Relaxed), 1);
                    leave(m);
                },
            ),
            Actor::ends(leave, write),
        ],
    },
    Shape {
        name: "a reader does not see what the writer before wrote",
        asymmetric: true,
        before: |m| m.rwlock.lock_exclusive(),
        actors: &[
            Actor::ends(NOTHING, |m| {
                m.data.store(1, Ordering::Relaxed);
                unlock(m);
            }),
            Actor::ends(unlock, |m| {
                read(m);
                assert_eq!(m.data.load(Ordering::Relaxed), 0);
            }),
        ],
    },
];

/// The lock is biased.
fn biased(m: &'static Memory) {
    m.rwlock.consider_bias();
    assert!(m.rwlock.is_biased());
}

/// Acquires a read lock and keeps it: dropping the token does nothing.
fn read(m: &'static Memory) {
    let _kept = m.rwlock.lock_shared();
}

fn leave(m: &'static Memory) {
    // SAFETY: in these shapes the calling thread has the one read lock, and has dropped its token.
    unsafe { m.rwlock.unlock_shared(m.rwlock.forgotten()) };
}

fn read_and_leave(m: &'static Memory) {
    let held = m.rwlock.lock_shared();
    assert_eq!(m.data.load(Ordering::Relaxed), 1);
    // SAFETY: just locked.
    unsafe { m.rwlock.unlock_shared(held) };
}

fn write(m: &'static Memory) {
    m.rwlock.lock_exclusive();
    m.data.store(1, Ordering::Relaxed);
}

fn unlock(m: &'static Memory) {
    // SAFETY: in these shapes thread 0 owns the lock.
    unsafe { m.rwlock.unlock_exclusive() };
}
