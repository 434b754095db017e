//! The reader-writer lock: a thread in flight whose deadline passes clears its mark, and lets
//! others continue. That thread never had the lock.

use crate::loom_platform::{join, pass_time, set, spawn};
use crate::rwlock_scenario::Lock;
use crate::scenario::{OVERDUE, SLEEPS, SOON, explore, until_asleep};

/// The thread that clears its mark hands the lock to an overdue reader, which sees the last
/// writer's stores.
#[test]
fn a_reader_that_is_handed_the_lock_sees_the_last_writer() {
    explore(SLEEPS, 3, || {
        set(OVERDUE);
        let guarded = Lock::new();
        guarded.raw().lock_exclusive();
        let gives_up = spawn(|| {
            let owner = guarded.raw().try_lock_exclusive_until(SOON);
            if owner {
                guarded.count();
                guarded.unlock_exclusive();
            }
            u32::from(owner)
        });
        until_asleep(1);
        let reader = spawn(|| guarded.read());
        until_asleep(2);
        // Not overdue yet, so the first thread is woken to compete.
        set(SLEEPS);
        guarded.unlock_exclusive();
        pass_time(1);
        // From here on only the lock orders this thread's actions for the others.
        let again = guarded.raw().try_lock_exclusive();
        if again {
            guarded.count();
            set(OVERDUE);
            guarded.unlock_exclusive();
        }
        let sections = u32::from(again) + join(gives_up);
        join(reader);
        guarded.end(sections);
    });
}
