//! Replacements for items of std, abseil and nsync that have no counterpart in parking_lot: the names of the
//! last table of `docs/data/parity.md`, each used once.

use std::panic;
use std::sync::Arc;
use std::thread;

use ondeck::{Barrier, Event, Latch, LazyLock, OnceLock, Parker, poison};
use parking_lot::{Condvar, Mutex};

#[test]
fn a_value_is_made_once() {
    static CELL: OnceLock<u32> = OnceLock::new();
    static LAZY: LazyLock<u32> = LazyLock::new(|| 2);
    assert_eq!((*CELL.get_or_init(|| 1), *LAZY), (1, 2));
}

#[test]
fn a_panic_poisons() {
    let lock = Arc::new(poison::Mutex::new(1));
    let panicked = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        let _guard = lock.lock();
        panic!("on purpose");
    }));
    assert!(panicked.is_err() && lock.lock().is_err());
}

#[test]
fn threads_wait_for_each_other() {
    let (barrier, event, latch) = (Barrier::new(2), Event::new(), Latch::new(1));
    let (lock, condvar) = (Mutex::new(false), Condvar::new());
    let parker = Parker::new();
    let unparker = parker.unparker();
    thread::scope(|scope| {
        scope.spawn(|| {
            barrier.wait();
            event.set();
            latch.count_down();
            *lock.lock() = true;
            condvar.notify_one();
            unparker.unpark();
        });
        barrier.wait();
        event.wait();
        latch.wait();
        condvar.wait_while(&mut lock.lock(), |ready| !*ready);
        parker.park();
    });
    assert!(event.is_set());
}
