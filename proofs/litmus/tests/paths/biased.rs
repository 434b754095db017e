//! The biased mutex: its owner, which acquires it by a store, and a thread that revokes the bias.

use ondeck::platform::{AtomicInt, Ordering};

use crate::memory::Memory;
use crate::shape::{Actor, NOTHING, Shape};

pub const SHAPES: &[Shape] = &[
    Shape {
        name: "the owner and a thread that revokes the bias have the lock",
        asymmetric: true,
        before: biased,
        actors: &[Actor::ends(NOTHING, enter), Actor::ends(NOTHING, take)],
    },
    Shape {
        name: "the owner sees what the thread after it writes",
        asymmetric: true,
        before: biased,
        actors: &[
            Actor::ends(
                |m| m.data.store(1, Ordering::Relaxed),
                |m| {
                    let held = m.biased.lock();
                    assert_eq!(m.data.load(Ordering::Relaxed), 1);
                    // SAFETY: just locked.
                    unsafe { m.biased.unlock(held) };
                },
            ),
            Actor::ends(NOTHING, |m| {
                take(m);
                m.data.store(1, Ordering::Relaxed);
            }),
        ],
    },
    Shape {
        name: "a thread sleeps although the owner has left",
        asymmetric: true,
        before: biased,
        actors: &[
            Actor::ends(NOTHING, |m| {
                let held = m.biased.lock();
                assert!(held.is_by_bias());
                // SAFETY: just locked.
                unsafe { m.biased.unlock(held) };
            }),
            Actor::sleeps(enter, take),
        ],
    },
];

/// Thread 0 uses the lock until the lock is biased to it.
fn biased(m: &'static Memory) {
    for _ in 0..1_000 {
        let held = m.biased.lock();
        // SAFETY: just locked.
        unsafe { m.biased.unlock(held) };
    }
    assert!(m.biased.is_biased());
}

/// Acquires the lock and keeps it: dropping the token does nothing.
fn take(m: &'static Memory) {
    let _kept = m.biased.lock();
}

/// The same by the owner.
fn enter(m: &'static Memory) {
    let held = m.biased.lock();
    assert!(held.is_by_bias());
}
