//! Futexes that inherit priorities, under the model checker: a queue of loom's mutex and park. All threads
//! have one priority.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::AtomicU32;

use loom::sync::Mutex;
use ondeck::platform::{AtomicInt, Ordering, PiFutex, PiLock, PiUnlock, Platform, Timestamp};

use crate::loom_platform::Loom;

const NUMBER: u32 = (1 << 30) - 1;
const WAITED: u32 = 1 << 31;

type Word = <Loom as Platform>::AtomicU32;

/// A waiting thread. The kernel's mutex guards its flag. Loom runs all threads of a model on one thread of
/// the machine, so a plain `Rc` suffices.
struct Waiter {
    number: u32,
    thread: loom::thread::Thread,
    owns: loom::cell::Cell<bool>,
}

type Queues = HashMap<usize, Vec<Rc<Waiter>>>;

loom::lazy_static! {
    static ref KERNEL: Mutex<Queues> = Mutex::new(HashMap::new());
    /// The number of threads that have a number. Loom need not see it: any distinct numbers do.
    static ref NUMBERS: AtomicU32 = AtomicU32::new(0);
}

loom::thread_local! {
    static OWN: std::cell::Cell<u32> = std::cell::Cell::new(0);
}

/// Replaces the word's value if it is still `from`: outside of the kernel it may change.
fn change(word: &Word, from: u32, to: u32) -> bool {
    word.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

// SAFETY: the words change as drawn at the trait, under one mutex, which also orders a handoff.
unsafe impl PiFutex for Loom {
    fn thread_id() -> u32 {
        OWN.with(|own| {
            if own.get() == 0 {
                own.set(NUMBERS.fetch_add(1, Ordering::Relaxed) + 1);
            }
            own.get()
        })
    }

    fn futex_lock_pi(word: &Word, deadline: Option<Timestamp>) -> PiLock {
        assert!(deadline.is_none(), "no lock of these models has a deadline");
        let own = Self::thread_id();
        let waiter = {
            let mut queues = KERNEL.lock().expect("no panic while it is held");
            loop {
                let found = word.load(Ordering::Relaxed);
                if found & NUMBER == own {
                    return PiLock::Circle;
                }
                if found & NUMBER == 0 {
                    if change(word, found, own | found & WAITED) {
                        return PiLock::Owner;
                    }
                } else if found & WAITED != 0 || change(word, found, found | WAITED) {
                    break;
                }
            }
            let owns = loom::cell::Cell::new(false);
            let waiter = Rc::new(Waiter { number: own, thread: loom::thread::current(), owns });
            let address = std::ptr::from_ref(word).addr();
            queues.entry(address).or_default().push(waiter.clone());
            waiter
        };
        loop {
            {
                let _kernel = KERNEL.lock().expect("no panic while it is held");
                if waiter.owns.get() {
                    return PiLock::Owner;
                }
            }
            loom::thread::park();
        }
    }

    fn futex_unlock_pi(word: &Word) -> PiUnlock {
        let mut queues = KERNEL.lock().expect("no panic while it is held");
        if word.load(Ordering::Relaxed) & NUMBER != Self::thread_id() {
            return PiUnlock::NotOwner;
        }
        let queue = queues.entry(std::ptr::from_ref(word).addr()).or_default();
        if queue.is_empty() {
            word.store(0, Ordering::Release);
        } else {
            let next = queue.remove(0);
            word.store(next.number | WAITED, Ordering::Release);
            next.owns.set(true);
            next.thread.unpark();
        }
        PiUnlock::Done
    }
}
