//! An allocator may use locks that take part in the detection of deadlocks, and in statistics.

#![cfg(any(feature = "deadlock_detection", feature = "stats"))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::thread;

use ondeck::Mutex;
#[cfg(feature = "deadlock_detection")]
use ondeck::deadlock::{self, Mode};
#[cfg(feature = "stats")]
use ondeck::stats;

/// The system's allocator behind two locks, one within the other.
struct Locked;

static OUTER: Mutex<()> = Mutex::new(());
static INNER: Mutex<u64> = Mutex::new(0);

// SAFETY: all calls go to the system's allocator.
unsafe impl GlobalAlloc for Locked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _outer = OUTER.lock();
        *INNER.lock() += 1;
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        let _outer = OUTER.lock();
        *INNER.lock() += 1;
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Locked = Locked;

#[test]
fn an_allocator_may_lock() {
    #[cfg(feature = "deadlock_detection")]
    deadlock::enable(Mode::Abort);
    #[cfg(feature = "stats")]
    for on_long in [stats::on_long_hold, stats::on_long_wait] {
        // It allocates, after an unlock of the allocator's locks too.
        on_long(std::time::Duration::ZERO, |event| drop(vec![event.duration; 10]));
    }
    let before = *INNER.lock();
    let table = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for turn in 0..500 {
                    table.lock().push(vec![turn; 10]);
                    if turn % 3 == 0 {
                        drop(table.lock().pop());
                    }
                }
            });
        }
    });
    assert!(*INNER.lock() - before > 2000);
    // Reports also allocate.
    let _table = table.lock();
    let lock = ondeck::RwLock::new(());
    let _outer = lock.read();
    let _inner = lock.read();
    #[cfg(feature = "deadlock_detection")]
    deadlock::disable();
    #[cfg(feature = "stats")]
    assert!(stats::snapshot().iter().all(|lock| lock.waiting == 0));
}
