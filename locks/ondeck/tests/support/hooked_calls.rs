//! Counts the calls of a thread, and records its stores.

use std::cell::{Cell, RefCell};

/// The calls of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// System calls that wake a thread.
    pub wakes: u32,
    pub heavy_fences: u32,
    /// Pointers of the table that were read, which is the length of the queues that the thread has
    /// traversed.
    pub pointers: u32,
}

/// The way in which a word was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Store,
    /// A read-modify-write.
    Change,
}

std::thread_local! {
    static CALLS: Cell<Calls> = const { Cell::new(Calls { wakes: 0, heavy_fences: 0, pointers: 0 }) };
    /// The way in which each word was written, and its address, while a test wants them recorded.
    static WRITTEN: RefCell<Option<Vec<(Write, usize)>>> = const { RefCell::new(None) };
}

pub fn count_call(count: impl FnOnce(&mut Calls)) {
    let mut calls = CALLS.get();
    count(&mut calls);
    CALLS.set(calls);
}

/// Returns the calls of the calling thread in `work`.
pub fn calls_of(work: impl FnOnce()) -> Calls {
    let before = CALLS.replace(Calls::default());
    work();
    CALLS.replace(before)
}

pub fn note_write<A>(write: Write, word: &A) {
    WRITTEN.with_borrow_mut(|written| {
        if let Some(written) = written {
            written.push((write, std::ptr::from_ref(word).addr()));
        }
    });
}

/// Returns the stores of the calling thread in `work`, in order.
pub fn written(work: impl FnOnce()) -> Vec<(Write, usize)> {
    WRITTEN.set(Some(Vec::new()));
    work();
    WRITTEN.take().expect("as just set")
}
