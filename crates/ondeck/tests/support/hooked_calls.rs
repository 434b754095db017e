//! What a thread calls and what it writes.

use std::cell::{Cell, RefCell};

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

/// How a word was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Store,
    /// A read-modify-write.
    Change,
}

std::thread_local! {
    static CALLS: Cell<Calls> = const { Cell::new(Calls { wakes: 0, heavy_fences: 0, pointers: 0 }) };
    /// How each word was written, and its address, while a test wants to know that.
    static WRITTEN: RefCell<Option<Vec<(Write, usize)>>> = const { RefCell::new(None) };
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

pub fn note_write<A>(write: Write, word: &A) {
    WRITTEN.with_borrow_mut(|written| {
        if let Some(written) = written {
            written.push((write, std::ptr::from_ref(word).addr()));
        }
    });
}

/// What the calling thread writes in `work`, in order.
pub fn written(work: impl FnOnce()) -> Vec<(Write, usize)> {
    WRITTEN.set(Some(Vec::new()));
    work();
    WRITTEN.take().expect("as just set")
}
