//! How much an unlock of the reader-writer lock does under the lock of its bucket, which other locks share.

use std::thread;

use ondeck::rwlock::RawRwLock;
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, calls_of, hooks};
use super::{no_polling, watched};

/// As many writers wait, and as many readers after them.
const WRITERS: u32 = 40;
/// Pointers for each thread in the queue: a few walks through it, and what it takes to unlink one.
const FEW: u32 = 15;

hooks! {
    Queue {
        fn polling() -> Polling {
            no_polling()
        }
    }
}

type Machine = Hooked<Queue>;

/// The queue is a reader, many writers, and many readers. All readers are handed the lock.
#[test]
fn readers_are_chosen_in_time_proportional_to_the_queue() {
    let _watchdog = watched();
    let lock = &*Box::leak(Box::new(RawRwLock::<Machine>::new()));
    lock.lock_exclusive();
    let mut threads = Vec::new();
    for number in 0..=2 * WRITERS {
        let writes = (1..=WRITERS).contains(&number);
        threads.push(thread::spawn(move || {
            if writes {
                lock.lock_exclusive();
                // SAFETY: this thread has just locked it.
                unsafe { lock.unlock_exclusive() };
            } else {
                lock.lock_shared_counted();
                // SAFETY: it was just taken.
                unsafe { lock.unlock_shared_counted() };
            }
        }));
        Machine::until_sleeps(number + 1);
    }
    // SAFETY: this thread owns it.
    let calls = calls_of(|| unsafe { lock.unlock_exclusive_fair() });
    assert_eq!(calls.wakes, WRITERS + 2, "the readers, and the oldest writer");
    assert!(calls.pointers < FEW * threads.len() as u32, "{calls:?}");
    for thread in threads {
        thread.join().expect("no panic");
    }
    assert!(!lock.is_locked());
}
