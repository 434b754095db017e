//! The threads of a model, as known to its fences.

use std::cell::Cell;

use super::fence;
use super::setting::{self, is_asymmetric};

thread_local! {
    /// The number of threads that [`spawn`] has started in this execution.
    static STARTED: Cell<u32> = const { Cell::new(0) };
    /// Whether the oldest thread that waits for a mutex was due at once in this execution.
    static DUE: Cell<bool> = const { Cell::new(false) };
    /// The time of all threads, if it advances with each reading of the clock.
    static TIME: Cell<u64> = const { Cell::new(0) };
}

loom::thread_local! {
    /// The number of a thread of the model, in the order in which they are started.
    static NUMBER: Cell<u32> = Cell::new(0);
    /// The thread's own time.
    static TICKS: Cell<u64> = Cell::new(0);
}

/// Called before each execution.
pub fn begin() {
    fence::begin(is_asymmetric());
    STARTED.set(0);
    TIME.set(0);
    DUE.set(false);
}

/// Returns whether the oldest thread that waits for a mutex is due at once: true the first time.
pub fn is_due() -> bool {
    !DUE.replace(true)
}

/// Returns the number of the calling thread, in the order in which threads are started.
pub fn number() -> u32 {
    NUMBER.with(Cell::get)
}

/// Returns the time in ticks. Each thread has its own time, which loom need not see, because no
/// other thread uses it.
///
/// If pollers are stale or threads overdue, all threads share one time, which advances with each
/// reading of the clock. Loom does not see that time either: it may omit executions in which two
/// threads read the clock in the other order.
pub fn ticks() -> u64 {
    /// More than a poller may be late.
    const LOOK: u64 = 8;
    if !setting::get().stale && !setting::get().overdue {
        return TICKS.with(Cell::get);
    }
    TIME.set(TIME.get() + LOOK);
    TIME.get()
}

/// Called when the thread has paused for a tick.
pub fn pass_tick() {
    TICKS.with(|ticks| ticks.set(ticks.get() + 1));
}

/// Runs what only blocks the calling thread.
pub fn blocked<R>(block: impl FnOnce() -> R) -> R {
    if !is_asymmetric() {
        return block();
    }
    fence::fall_quiet();
    let result = block();
    fence::go_on();
    result
}

/// Starts a thread of the model.
#[allow(dead_code, reason = "not every test with this platform needs it")]
pub fn spawn<R: 'static>(body: impl FnOnce() -> R + 'static) -> loom::thread::JoinHandle<R> {
    start(Box::new(body))
}

/// Compiled once for each type of result, with what it needs of loom.
fn start<R: 'static>(body: Box<dyn FnOnce() -> R>) -> loom::thread::JoinHandle<R> {
    let number = STARTED.get() + 1;
    STARTED.set(number);
    loom::thread::spawn(move || {
        NUMBER.with(|own| own.set(number));
        if !is_asymmetric() {
            return body();
        }
        fence::join_in();
        let result = body();
        fence::fall_quiet();
        result
    })
}

/// Waits for the end of a thread.
#[allow(dead_code, reason = "not every test with this platform needs it")]
pub fn join<R>(thread: loom::thread::JoinHandle<R>) -> R {
    blocked(|| thread.join()).expect("the other thread ends")
}
