//! Loads that loom forgets.
//!
//! Loom tries the other order of two accesses if the earlier one is the last access on which the
//! later one depends. For a write that is only the last load. A thread that reads an atomic and
//! then writes it finds its own load. So loom never tries the order in which an earlier load of
//! another thread comes after the write. An owner that loaded the count once never saw a waiter
//! that counted itself, by a load and a store under the bucket's lock.
//!
//! Here each thread has a shadow of each atomic that it loads, and loads the shadow first. A thread
//! that writes the atomic after it has loaded it also writes the shadows of the threads that loaded
//! before.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread::{self, ThreadId};

/// The number of pairs of an atomic and a thread that loads it in the largest model.
const SHADOWS: usize = 96;

#[derive(Default)]
struct Loads {
    /// The first thread creates all of them, because loom treats the creation as an access.
    shadows: Vec<Rc<AtomicBool>>,
    /// The number of loads so far.
    count: u64,
    /// The loads of the atomics, by their addresses.
    readers: HashMap<usize, Vec<Reader>>,
}

struct Reader {
    thread: ThreadId,
    shadow: Rc<AtomicBool>,
    /// When the thread last loaded, by the count of loads; zero if it has not loaded since the last
    /// write.
    loaded: u64,
}

thread_local! {
    static LOADS: RefCell<Loads> = RefCell::default();
    /// Whether loads are recorded in this execution.
    static ON: Cell<bool> = const { Cell::new(false) };
}

/// Called when an execution begins, on its first thread.
pub fn begin(remembers: bool) {
    ON.set(remembers);
    LOADS.take();
    if !remembers {
        return;
    }
    let shadows = (0..SHADOWS).map(|_| Rc::new(AtomicBool::new(false))).collect();
    LOADS.with_borrow_mut(|loads| loads.shadows = shadows);
}

/// Called when the thread is about to load the atomic.
pub fn before_load(address: usize) {
    if !ON.get() {
        return;
    }
    let thread = thread::current().id();
    let shadow = LOADS.with_borrow_mut(|loads| {
        loads.count += 1;
        let readers = loads.readers.entry(address).or_default();
        let at = readers.iter().position(|reader| reader.thread == thread).unwrap_or_else(|| {
            let shadow = loads.shadows.pop().expect("as many as the largest model needs");
            readers.push(Reader { thread, shadow, loaded: 0 });
            readers.len() - 1
        });
        readers[at].loaded = loads.count;
        Rc::clone(&readers[at].shadow)
    });
    // Another thread may run here and want the cell, so the borrow has ended.
    shadow.load(Ordering::Relaxed);
}

/// Called when the thread is about to access the atomic in another way.
pub fn before_write(address: usize) {
    if !ON.get() {
        return;
    }
    let thread = thread::current().id();
    let hidden: Vec<_> = LOADS.with_borrow_mut(|loads| {
        let Some(readers) = loads.readers.get_mut(&address) else { return Vec::new() };
        let own = readers.iter().find(|reader| reader.thread == thread);
        let own = own.map_or(0, |reader| reader.loaded);
        let hidden = readers.iter().filter(|reader| (1..own).contains(&reader.loaded));
        let hidden = hidden.map(|reader| Rc::clone(&reader.shadow)).collect();
        for reader in readers {
            reader.loaded = 0;
        }
        hidden
    });
    for shadow in hidden {
        shadow.store(true, Ordering::Relaxed);
    }
}
