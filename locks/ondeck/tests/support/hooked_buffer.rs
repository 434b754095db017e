//! Emulates an unlock's store that other threads do not see yet.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering, fence};

/// The store buffer of a CPU. It holds an unlock's store until a fence, or until a test drains it.
#[derive(Debug)]
pub struct Buffer {
    /// The address of the byte whose store of 0 is not visible yet; 0 if there is no such byte.
    byte: AtomicUsize,
}

std::thread_local! {
    /// Whether this thread's unlocks stay in its store buffer.
    static BUFFERS: Cell<bool> = const { Cell::new(false) };
}

impl Buffer {
    pub const fn new() -> Self {
        Self { byte: AtomicUsize::new(0) }
    }

    /// Buffers the unlocks of the calling thread from now on.
    pub fn begin(&self) {
        assert_eq!(self.byte.load(Ordering::SeqCst), 0, "one unlock at a time");
        BUFFERS.set(true);
    }

    pub fn store(&self, byte: &AtomicU8, value: u8, order: Ordering) {
        if BUFFERS.get() {
            assert_eq!(value, 0, "an unlock");
            self.byte.store(std::ptr::from_ref(byte).expose_provenance(), Ordering::SeqCst);
        } else {
            byte.store(value, order);
        }
    }

    /// Called for a full fence of the thread with the buffer, or for a heavy fence of another
    /// thread.
    pub fn drain(&self) {
        let byte = self.byte.swap(0, Ordering::SeqCst);
        if byte != 0 {
            let byte = std::ptr::with_exposed_provenance::<AtomicU8>(byte);
            // SAFETY: the test keeps the byte until its end.
            unsafe { (*byte).store(0, Ordering::SeqCst) };
        }
    }

    /// A full fence drains only the caller's own buffer.
    pub fn fence(&self) {
        if BUFFERS.get() {
            self.drain();
        }
        fence(Ordering::SeqCst);
    }
}
