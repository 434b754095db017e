//! Lock, unlock and attempts, by crowds.

use crate::scenario::{Shared, crew, explore, join};
use crate::shuttle_platform::{below, one_in};

/// Threads lock and unlock the mutex in every way, three times each.
fn crowd(threads: usize) {
    let shared = Shared::new();
    let visits = move || {
        let visit = |_| {
            if shared.try_somehow() {
                shared.count();
                1 + shared.unlock_somehow()
            } else {
                0
            }
        };
        (0..3).map(visit).sum::<u32>()
    };
    let sections = join(crew(threads, visits)).into_iter().sum();
    shared.end(sections);
}

#[test]
fn four_threads_by_every_way() {
    explore(2_000, || crowd(4));
}

#[test]
fn eight_threads_by_every_way() {
    explore(800, || crowd(8));
}

/// Threads wait from the start: the first thread owns the mutex while they arrive, unlocks it, and locks it
/// again.
#[test]
fn an_owner_comes_again_among_six_waiters() {
    explore(1_200, || {
        let shared = Shared::new();
        shared.lock();
        let waiters = crew(6, move || shared.lock_and_count());
        shared.count();
        shared.unlock();
        shared.lock_and_count();
        join(waiters);
        shared.end(8);
    });
}

/// The mutexes share buckets. Some threads want one of them, some two.
#[test]
fn three_mutexes_and_six_threads() {
    explore(1_000, || {
        let all = [Shared::new(), Shared::new(), Shared::new()];
        let user = move || {
            let mut sections = [0; 3];
            for _ in 0..2 {
                let first = below(3);
                // In order, so that no threads wait in a circle.
                let second = (first + 1..3).find(|_| one_in(2));
                all[first].lock();
                sections[first] += 1;
                all[first].count();
                if let Some(second) = second {
                    all[second].lock();
                    sections[second] += 1;
                    all[second].count();
                    sections[second] += all[second].unlock_somehow();
                }
                sections[first] += all[first].unlock_somehow();
            }
            sections
        };
        let sections = join(crew(6, user));
        for (index, shared) in all.iter().enumerate() {
            shared.end(sections.iter().map(|sections| sections[index]).sum());
        }
    });
}

/// The thread with the last section frees the mutex as soon as its own unlock is over, whatever the other
/// threads still do in theirs.
#[test]
fn the_last_of_five_frees_the_mutex() {
    explore(1_600, || {
        let shared = Shared::new();
        let user = move || {
            shared.lock();
            let last = shared.count() == 5;
            shared.unlock();
            if last {
                // SAFETY: the others have had their sections. That they do not use the mutex after the
                // store that unlocks it is what is checked.
                unsafe { shared.free() };
            }
        };
        join(crew(5, user));
    });
}
