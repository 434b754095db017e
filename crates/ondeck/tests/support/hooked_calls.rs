//! What a thread calls, counted.

use std::cell::Cell;

/// What a thread has called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// System calls that wake a thread.
    pub wakes: u32,
    pub heavy_fences: u32,
    /// Pointers of the table that were read, which is the length of the queues that the thread has gone
    /// through.
    pub pointers: u32,
}

std::thread_local! {
    static CALLS: Cell<Calls> = const { Cell::new(Calls { wakes: 0, heavy_fences: 0, pointers: 0 }) };
}

pub fn count_call(count: impl FnOnce(&mut Calls)) {
    let mut calls = CALLS.get();
    count(&mut calls);
    CALLS.set(calls);
}

/// What the calling thread calls in `work`.
pub fn calls_of(work: impl FnOnce()) -> Calls {
    let before = CALLS.replace(Calls::default());
    work();
    CALLS.replace(before)
}
