//! What shuttle does not look for: two awake waiters of one lock, and accesses to memory that is
//! gone. As `loom_watch.rs`, by the words of the table as accesses change them.

use std::cell::RefCell;
use std::ops::Range;

/// A thread of the execution, and what it does with a lock.
#[derive(Clone, Default)]
struct Waiter {
    /// The lock that it wants or has wanted, by its address; 0 for none.
    wants: usize,
    /// Whether it is an awake waiter of that lock.
    awake: bool,
    /// How many buckets' locks it has.
    buckets: usize,
}

/// An execution.
#[derive(Default)]
struct Watch {
    /// Where the buckets of the parking table are.
    table: Range<usize>,
    /// By the numbers of their threads; empty where nobody watches.
    waiters: Vec<Waiter>,
}

thread_local! {
    /// Shuttle runs all threads of an execution on one of the machine's.
    static WATCH: RefCell<Watch> = RefCell::default();
}

/// At most so many threads in an execution.
const MOST_THREADS: usize = 32;

/// An execution begins that is watched.
#[allow(dead_code, reason = "the tests of the zoo do not watch")]
pub fn begin() {
    WATCH.set(Watch { table: super::table(), waiters: vec![Waiter::default(); MOST_THREADS] });
}

/// Does `change`, told the calling thread, if the execution is watched.
fn watched(change: impl FnOnce(&mut Watch, usize)) {
    WATCH.with_borrow_mut(|watch| {
        if !watch.waiters.is_empty() && !std::thread::panicking() {
            change(watch, shuttle::current::me().into());
        }
    });
}

/// The calling thread is about to wait for the lock at `address`.
#[allow(dead_code, reason = "the tests of the zoo do not watch")]
pub fn wants(address: usize) {
    watched(|watch, own| watch.waiters[own].wants = address);
}

/// The calling thread has become an awake waiter.
///
/// It stays one until it takes the lock's byte, or a bucket's lock on its way to sleep. That is a
/// little before it takes its mark away, so the check is a little weaker than the promise.
fn wake_up(waiters: &mut [Waiter], own: usize) {
    waiters[own].awake = true;
    let wants = waiters[own].wants;
    let awake = waiters.iter().filter(|other| other.awake && other.wants == wants).count();
    assert_eq!(awake, 1, "thread {own} is the second awake waiter of its lock");
}

/// A 32-bit word was read. Outside of the table it is the status of a node, which says `ON_DECK` to
/// nobody but its own thread.
pub fn status(word: usize, status: u32) {
    /// Of the parking table's nodes.
    const ON_DECK: u32 = 1;
    if status == ON_DECK {
        watched(|Watch { table, waiters }, own| {
            if waiters[own].wants != 0 && !table.contains(&word) {
                wake_up(waiters, own);
            }
        });
    }
}

/// A read that tells nothing.
pub fn nothing<V>(_: usize, _: V) {}

/// A byte was changed by a read-modify-write.
pub fn byte(_: usize, old: u8, new: u8) {
    if (old, new) == (0, 1) {
        watched(|watch, own| watch.waiters[own].awake = false);
    }
}

/// A 32-bit word was changed by a read-modify-write. Those of the table are buckets' locks.
pub fn word(address: usize, old: u32, new: u32) {
    watched(|Watch { table, waiters }, own| {
        if table.contains(&address) {
            match (old, new) {
                (_, 0) => waiters[own].buckets -= 1,
                (0, _) => {
                    waiters[own].buckets += 1;
                    waiters[own].awake = false;
                }
                _ => {}
            }
        }
    });
}

/// A machine word was changed by a read-modify-write. Those of the table that leave zero are the
/// mark of an awake waiter: the caller's own, or under the bucket's lock another's.
pub fn number(address: usize, old: usize, new: usize) {
    if old == 0 && new != 0 {
        watched(|Watch { table, waiters }, own| {
            let waiter = &waiters[own];
            if waiter.buckets == 0 && waiter.wants == new && table.contains(&address) {
                wake_up(waiters, own);
            }
        });
    }
}

/// Says whether the memory that it is part of is still in use.
///
/// A lock or a node that is gone leaves this behind: in memory that the tests keep until the end of
/// the execution, or on the stack of its thread, where only a later node at the same place hides
/// it.
#[derive(Debug)]
pub struct Life(std::sync::atomic::AtomicU32);

const ALIVE: u32 = 0x5EA_11FE;

impl Life {
    pub fn new() -> Self {
        Self(std::sync::atomic::AtomicU32::new(ALIVE))
    }

    pub fn check(&self) {
        let life = self.0.load(std::sync::atomic::Ordering::Relaxed);
        assert!(life == ALIVE || std::thread::panicking(), "memory that is gone was touched");
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // SAFETY: a plain store to memory of its own; volatile, or it would be left out, because
        // nobody should look at it any more.
        unsafe { std::ptr::write_volatile(self.0.as_ptr(), !ALIVE) };
    }
}
