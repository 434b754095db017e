//! Semaphores, onces and barriers: a small trait for each, and the implementations.
//!
//! Most are other libraries', called as their users call them; glibc's on Linux only. There is a
//! file for each kind: its trait, its visitor, and its locks except glibc's. `lists.rs` has the
//! lists. In their [`LockInfo`](crate::LockInfo), "unlock" means a release of a semaphore, the
//! thread that ran the initialization of a once, and the last thread that arrives at a barrier.

mod barrier;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc;
mod lists;
mod once;
mod semaphore;

pub use barrier::{BarrierVisitor, RawBarrier};
pub use lists::{
    for_each_barrier, for_each_hosted_barrier, for_each_hosted_once, for_each_hosted_semaphore,
    for_each_once, for_each_semaphore,
};
pub use once::{OnceVisitor, RawOnce};
pub use semaphore::{RawSemaphore, SemaphoreVisitor};

/// The common facts of most of them: other libraries', without a condition variable.
const PEER: crate::LockInfo = crate::LockInfo {
    origin: crate::Origin::Peer,
    waiting: crate::Waiting::Sleeps,
    // As far as is known: the sources were not searched for the contrary.
    touches_after_release: true,
    condvar: crate::CondvarKind::Without,
    ..crate::LockInfo::USUAL
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use ondeck::platform::Native;

    use super::*;
    use crate::LockInfo;

    const THREADS: u32 = 4;

    #[derive(Default)]
    struct Check(Vec<LockInfo>);

    impl SemaphoreVisitor<Native> for Check {
        fn visit<S: RawSemaphore<Native>>(&mut self) {
            self.0.push(S::INFO);
            let (semaphore, inside, most) = (S::new(2), AtomicU32::new(0), AtomicU32::new(0));
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        for round in 0..1_000 {
                            semaphore.acquire();
                            let now = inside.fetch_add(1, Ordering::Relaxed) + 1;
                            most.fetch_max(now, Ordering::Relaxed);
                            if round % 50 == 0 {
                                thread::yield_now();
                            }
                            inside.fetch_sub(1, Ordering::Relaxed);
                            semaphore.release();
                        }
                    });
                }
            });
            assert!((1..=2).contains(&most.into_inner()), "{}", S::INFO.name);
            // Both permits are available again, and so is a third one that is released.
            semaphore.release();
            (0..3).for_each(|_| semaphore.acquire());
        }
    }

    impl OnceVisitor<Native> for Check {
        fn visit<O: RawOnce<Native>>(&mut self) {
            self.0.push(O::INFO);
            for _ in 0..200 {
                let (once, runs) = (O::new(), AtomicU32::new(0));
                thread::scope(|scope| {
                    for _ in 0..THREADS {
                        scope.spawn(|| {
                            once.call(|| {
                                thread::yield_now();
                                runs.fetch_add(1, Ordering::Relaxed);
                            });
                            assert_eq!(runs.load(Ordering::Relaxed), 1, "{}", O::INFO.name);
                        });
                    }
                });
            }
        }
    }

    impl BarrierVisitor<Native> for Check {
        fn visit<B: RawBarrier<Native>>(&mut self) {
            const PHASES: u32 = 500;
            self.0.push(B::INFO);
            let (barrier, came, leaders) = (B::new(THREADS), AtomicU32::new(0), AtomicU32::new(0));
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        for phase in 1..=PHASES {
                            came.fetch_add(1, Ordering::Relaxed);
                            leaders.fetch_add(u32::from(barrier.wait()), Ordering::Relaxed);
                            let seen = came.load(Ordering::Relaxed);
                            assert!(seen >= phase * THREADS, "{}: {seen}", B::INFO.name);
                        }
                    });
                }
            });
            assert_eq!(leaders.into_inner(), PHASES, "{}", B::INFO.name);
        }
    }

    #[test]
    fn each_does_what_its_trait_says() {
        let mut check = Check::default();
        for_each_semaphore(&mut check);
        for_each_once(&mut check);
        for_each_barrier(&mut check);
        let names: HashSet<_> = check.0.iter().map(|info| info.name).collect();
        assert_eq!(names.len(), check.0.len(), "{names:?}");
        for info in check.0 {
            assert!(!info.source.is_empty() && !info.teaches.is_empty(), "{}", info.name);
        }
    }
}
