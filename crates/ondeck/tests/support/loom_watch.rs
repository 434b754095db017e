//! What loom does not look for: two awake waiters of one lock, and accesses to memory that is gone.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use loom::thread::{self, ThreadId};

/// Where the parking table is.
#[derive(Clone, Debug, Default)]
struct Places {
    buckets: Range<usize>,
}

/// A thread of the model, and what it does with a lock.
struct Waiter {
    thread: ThreadId,
    /// The lock that it wants or has wanted, by its address.
    wants: usize,
    /// Whether it is an awake waiter of that lock.
    awake: bool,
    /// How many buckets' locks it has.
    buckets: usize,
}

thread_local! {
    static PLACES: RefCell<Places> = RefCell::default();
    static WAITERS: RefCell<Vec<Waiter>> = const { RefCell::new(Vec::new()) };
    static ON: Cell<bool> = const { Cell::new(false) };
}

/// An execution begins.
pub fn begin() {
    PLACES.take();
    WAITERS.take();
    ON.set(false);
}

/// Says where the buckets of the parking table are.
pub fn table(buckets: Range<usize>) {
    PLACES.with_borrow_mut(|places| places.buckets = buckets);
}

fn in_table(address: usize) -> bool {
    PLACES.with_borrow(|places| places.buckets.contains(&address))
}

/// Does `change` to the calling thread's own entry.
fn own<R>(waiters: &mut Vec<Waiter>, change: impl FnOnce(&mut Waiter) -> R) -> R {
    let thread = thread::current().id();
    let at = waiters.iter().position(|waiter| waiter.thread == thread).unwrap_or_else(|| {
        waiters.push(Waiter { thread, wants: 0, awake: false, buckets: 0 });
        waiters.len() - 1
    });
    change(&mut waiters[at])
}

/// Watches this execution, from its begin.
#[allow(dead_code, reason = "the tests of the zoo do not watch")]
pub fn start() {
    ON.set(true);
}

/// The calling thread is about to wait for the lock at `address`.
#[allow(dead_code, reason = "the tests of the zoo do not watch")]
pub fn wants(address: usize) {
    WAITERS.with_borrow_mut(|waiters| own(waiters, |waiter| waiter.wants = address));
}

/// The calling thread has become an awake waiter.
///
/// It stays one until it takes the lock's byte, or a bucket's lock on its way to sleep. That is a
/// little before it takes its mark away, so the check is a little weaker than the promise.
fn wake_up(waiters: &mut Vec<Waiter>) {
    let (thread, wants) = own(waiters, |waiter| {
        waiter.awake = true;
        (waiter.thread, waiter.wants)
    });
    let awake = waiters.iter().filter(|other| other.awake && other.wants == wants);
    assert_eq!(awake.count(), 1, "{thread:?} is the second awake waiter of its lock");
}

/// A 32-bit word was read. Outside of the table it is the status of a node, which says `ON_DECK` to
/// nobody but its own thread.
pub fn status(word: usize, status: u32) {
    /// Of the parking table's nodes.
    const ON_DECK: u32 = 1;
    if ON.get() && status == ON_DECK && !in_table(word) {
        WAITERS.with_borrow_mut(|waiters| {
            if own(waiters, |waiter| waiter.wants != 0) {
                wake_up(waiters);
            }
        });
    }
}

/// A read that tells nothing.
pub fn nothing<V>(_: usize, _: V) {}

/// A byte was changed by a read-modify-write.
pub fn byte(_: usize, old: u8, new: u8) {
    if ON.get() && (old, new) == (0, 1) {
        WAITERS.with_borrow_mut(|waiters| own(waiters, |waiter| waiter.awake = false));
    }
}

/// A 32-bit word was changed by a read-modify-write. Those of the table are buckets' locks.
pub fn word(address: usize, old: u32, new: u32) {
    if ON.get() && in_table(address) {
        WAITERS.with_borrow_mut(|waiters| {
            own(waiters, |waiter| match (old, new) {
                (_, 0) => waiter.buckets -= 1,
                (0, _) => {
                    waiter.buckets += 1;
                    waiter.awake = false;
                }
                _ => {}
            });
        });
    }
}

/// A machine word was changed by a read-modify-write. Those of the table that leave zero are the
/// mark of an awake waiter: the caller's own, or under the bucket's lock another's.
pub fn number(address: usize, old: usize, new: usize) {
    if ON.get() && old == 0 && new != 0 && in_table(address) {
        WAITERS.with_borrow_mut(|waiters| {
            if own(waiters, |waiter| waiter.buckets == 0 && waiter.wants == new) {
                wake_up(waiters);
            }
        });
    }
}

/// Says whether the memory that it is part of is still in use.
///
/// A lock or a node that is gone leaves this behind, in memory that the tests never give back, or
/// on a stack that lives as long as its execution.
#[derive(Debug)]
pub struct Life(std::sync::atomic::AtomicU32);

const ALIVE: u32 = 0x5EA_11FE;

impl Life {
    pub fn new() -> Self {
        Self(std::sync::atomic::AtomicU32::new(ALIVE))
    }

    #[track_caller]
    pub fn check(&self) {
        let life = self.0.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(life, ALIVE, "memory that is gone was touched");
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // SAFETY: a plain store to memory of its own; volatile, or it would be left out, because
        // nobody should look at it any more.
        unsafe { std::ptr::write_volatile(self.0.as_ptr(), !ALIVE) };
    }
}
