//! The reader-writer lock: visible readers and the writer that revokes the bias; counted readers.

use ondeck::platform::{AtomicInt, Ordering};

use crate::memory::Memory;
use crate::shape::{Actor, Shape};

pub const SHAPES: &[Shape] = &[
    Shape {
        name: "a visible reader and a writer hold the lock",
        asymmetric: true,
        before: biased,
        actors: &[
            Actor { sees: |_| (), does: read, sleeps: false },
            Actor { sees: |_| (), does: |m| m.rwlock.lock_exclusive(), sleeps: false },
        ],
    },
    Shape {
        name: "a visible reader and a writer hold the lock, without membarrier",
        asymmetric: false,
        before: biased,
        actors: &[
            Actor { sees: |_| (), does: read, sleeps: false },
            Actor { sees: |_| (), does: |m| m.rwlock.lock_exclusive(), sleeps: false },
        ],
    },
    Shape {
        name: "a visible reader sees what a later writer writes",
        asymmetric: true,
        before: biased,
        actors: &[
            Actor {
                sees: |m| m.data.store(1, Ordering::Relaxed),
                does: read_and_leave,
                sleeps: false,
            },
            Actor { sees: |_| (), does: write, sleeps: false },
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
            Actor { sees: |_| (), does: leave, sleeps: false },
            Actor { sees: |_| (), does: |m| m.rwlock.lock_exclusive(), sleeps: true },
        ],
    },
    Shape {
        name: "a counted reader sees what a later writer writes",
        asymmetric: true,
        before: read,
        actors: &[
            Actor {
                sees: |m| m.data.store(1, Ordering::Relaxed),
                does: |m| {
                    assert_eq!(m.data.load(Ordering::Relaxed), 1);
                    leave(m);
                },
                sleeps: false,
            },
            Actor { sees: leave, does: write, sleeps: false },
        ],
    },
    Shape {
        name: "a reader does not see what the writer before wrote",
        asymmetric: true,
        before: |m| m.rwlock.lock_exclusive(),
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
                    read(m);
                    assert_eq!(m.data.load(Ordering::Relaxed), 0);
                },
                sleeps: false,
            },
        ],
    },
];

/// The lock is biased.
fn biased(m: &'static Memory) {
    m.rwlock.consider_bias();
    assert!(m.rwlock.is_biased());
}

/// A read lock that is kept: dropping what stands for it does nothing.
fn read(m: &'static Memory) {
    let _kept = m.rwlock.lock_shared();
}

fn leave(m: &'static Memory) {
    // SAFETY: in these shapes the calling thread has the one read lock, and has dropped what stood for it.
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
