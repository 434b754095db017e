//! The fair mutex and the semaphores, by crowds.

use std::cell::Cell;

use ondeck::fair::RawFairMutex;
use ondeck::platform::Timestamp;
use ondeck::semaphore::Semaphore;

use crate::scenario::{Section, crew, explore, join, soon};
use crate::shuttle_platform::explore::keep;
use crate::shuttle_platform::{Shuttle, below, step};

/// A deadline now and then.
fn deadline() -> Option<Timestamp> {
    (below(4) == 0).then(soon)
}

struct Fair {
    lock: RawFairMutex<Shuttle>,
    section: Section,
}

fn fair(threads: usize) {
    let fair = keep(Fair { lock: RawFairMutex::new(), section: Section::default() });
    let visits = move || {
        let visit = |_| {
            let owner = match deadline() {
                Some(deadline) => fair.lock.try_lock_until(deadline),
                None if below(4) == 0 => fair.lock.try_lock(),
                None => {
                    fair.lock.lock();
                    true
                }
            };
            if owner {
                fair.section.enter();
                // SAFETY: this thread owns the lock.
                unsafe { fair.lock.unlock() };
            }
            u32::from(owner)
        };
        (0..3).map(visit).sum::<u32>()
    };
    let entered: u32 = join(crew(threads, visits)).into_iter().sum();
    assert_eq!(fair.section.entered(), entered);
    assert!(!fair.lock.is_locked(), "no thread owns the lock");
}

#[test]
fn eight_threads_at_a_fair_mutex() {
    explore(800, || fair(8));
}

/// Three permits: threads take one to three, and as many as were taken are out at a time.
struct Permits {
    semaphore: Semaphore<Shuttle>,
    out: Cell<u32>,
}

// SAFETY: one thread of an execution runs at a time, and all run on one thread of the machine.
unsafe impl Sync for Permits {}

fn permits(threads: usize, semaphore: Semaphore<Shuttle>) {
    let permits = keep(Permits { semaphore, out: Cell::new(0) });
    let visits = move || {
        for _ in 0..3 {
            let wanted = 1 + below(3) as u32;
            let has = match deadline() {
                Some(deadline) => permits.semaphore.try_acquire_many_by(wanted, deadline),
                None if below(4) == 0 => permits.semaphore.try_acquire_many(wanted),
                None => {
                    permits.semaphore.acquire_many(wanted);
                    true
                }
            };
            if has {
                permits.out.set(permits.out.get() + wanted);
                assert!(permits.out.get() <= 3, "more permits than there are");
                step();
                permits.out.set(permits.out.get() - wanted);
                permits.semaphore.release(wanted);
            }
        }
    };
    join(crew(threads, visits));
    assert_eq!(permits.semaphore.available(), 3);
}

#[test]
fn eight_threads_at_a_semaphore() {
    explore(800, || permits(8, Semaphore::on_platform(3)));
}

#[test]
fn eight_threads_at_a_fair_semaphore() {
    explore(800, || permits(8, Semaphore::fair_on_platform(3)));
}
