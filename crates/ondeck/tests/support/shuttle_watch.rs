//! Faults that shuttle does not look for: two pollers of one lock, two threads in flight to one lock, marks
//! of the wrong lock, and accesses to memory that is gone. As in `loom_watch.rs`, they are found by the
//! words of the table when accesses change them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use ondeck::platform::Ordering;

use super::AtomicUsize;

/// The word of the marks: see `parking/record/marks.rs`.
const IN_FLIGHT: usize = 1;
const POLLER: usize = 2;
/// The number of the turn, and both marks.
const TURN: usize = (1 << (usize::BITS / 2)) - 1;
/// The status of a node whose thread was woken.
const WOKEN: u32 = 3;

/// A thread of the execution, and what it does with a lock.
#[derive(Clone, Default)]
struct Waiter {
    /// The lock that it wants or has wanted, by its address; 0 for none.
    wants: usize,
    /// Whether it was woken, and its mark is still there.
    in_flight: bool,
    /// How many buckets' locks it has.
    buckets: usize,
}

/// An execution.
#[derive(Default)]
struct Watch {
    /// Where the buckets of the parking table are.
    table: Range<usize>,
    /// The waiters, by the numbers of their threads; empty in an execution that is not watched.
    waiters: Vec<Waiter>,
    /// What was last stored to the machine words of the table, by their addresses.
    stored: HashMap<usize, usize>,
    /// The words of the marks that were ever changed, and what they are now.
    marks: HashMap<usize, usize>,
    /// The words of the marks where there is a poller, each with its lock.
    pollers: HashMap<usize, usize>,
}

thread_local! {
    /// Shuttle runs all threads of an execution on one thread of the machine.
    static WATCH: RefCell<Watch> = RefCell::default();
}

/// An execution has at most so many threads.
const MOST_THREADS: usize = 32;

/// A watched execution begins.
#[allow(dead_code, reason = "the tests of the zoo do not watch")]
pub fn begin() {
    let waiters = vec![Waiter::default(); MOST_THREADS];
    WATCH.set(Watch { table: super::table(), waiters, ..Watch::default() });
}

/// If the execution is watched, does `change` with the number of the calling thread.
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

/// A 32-bit word was read. Outside of the table only a node's own thread reads with acquire ordering: the
/// status of its node, or, in tests of the table alone, a word of the test.
pub fn status(word: usize, status: u32, order: Ordering) {
    if order != Ordering::Acquire || status != WOKEN {
        return;
    }
    watched(|watch, own| {
        let wants = watch.waiters[own].wants;
        if wants == 0 || watch.table.contains(&word) || watch.waiters[own].buckets != 0 {
            return;
        }
        watch.waiters[own].in_flight = true;
        let woken = watch.waiters.iter().filter(|waiter| waiter.in_flight && waiter.wants == wants);
        assert!(woken.count() == 1 || super::is_urgent(), "a lock has two threads in flight");
    });
}

/// A change that is not watched.
pub fn unchanged<V>(_: usize, _: V, _: V) {}

/// A store that is not watched.
pub fn nothing<V>(_: usize, _: V) {}

/// A read that is not watched.
pub fn not_read<V>(_: usize, _: V, _: Ordering) {}

/// A 32-bit word was changed by an exchange. Those of the table that are or become 0 are buckets' locks.
pub fn word(address: usize, old: u32, new: u32) {
    watched(|watch, own| {
        if watch.table.contains(&address) {
            match (old, new) {
                (_, 0) => watch.waiters[own].buckets -= 1,
                (0, _) => watch.waiters[own].buckets += 1,
                _ => {}
            }
        }
    });
}

/// A machine word was changed by a read-modify-write. Those of the table are the marks of records.
pub fn marks(word: usize, old: usize, new: usize) {
    watched(|watch, own| {
        if !watch.table.contains(&word) {
            return;
        }
        let lock = watch.stored.get(&(word - size_of::<AtomicUsize>())).copied().unwrap_or(0);
        watch.marks.insert(word, new);
        let polled = watch.pollers.contains_key(&word);
        if (old ^ new) & !IN_FLIGHT != 0 {
            watch.pollers.remove(&word);
            if new & POLLER != 0 {
                assert!(!polled || super::is_stale(), "a poller that polls loses its place");
                let waiter = &watch.waiters[own];
                // Under the bucket's lock a thread makes another one the poller. Without it, the address
                // may be cleared for a moment, until the holder of the bucket's lock sees that the record
                // has a mark.
                let lock = if lock == 0 && waiter.buckets == 0 { waiter.wants } else { lock };
                assert!(lock > 1, "a poller of no lock");
                assert!(
                    !watch.pollers.values().any(|&other| other == lock),
                    "a lock has two pollers"
                );
                assert!(
                    waiter.buckets != 0 || waiter.wants == lock,
                    "a thread polls for another lock"
                );
                watch.pollers.insert(word, lock);
            }
        }
        if old & !new & IN_FLIGHT != 0 {
            watch.waiters[own].in_flight = false;
        }
        if new & !old & IN_FLIGHT != 0 {
            assert_ne!(
                watch.waiters[own].buckets, 0,
                "a thread is woken without its bucket's lock"
            );
            assert!(lock > 1, "a thread in flight to no lock");
        }
        if (old ^ new) & !TURN != 0 {
            let marked = old & IN_FLIGHT != 0 || polled;
            assert!(!marked, "a record is taken from a lock with marks");
            assert_eq!(lock, 0, "a record is taken before its address is");
        }
    });
}

/// A machine word was stored. Among those of the table are the addresses of records, and the last turns that
/// have ended with their locks.
pub fn number(address: usize, value: usize) {
    watched(|watch, _| {
        if !watch.table.contains(&address) {
            return;
        }
        let marks = address - size_of::<AtomicUsize>();
        let Some(&now) = watch.marks.get(&marks) else {
            watch.stored.insert(address, value);
            return;
        };
        if now & !(POLLER | IN_FLIGHT) == value {
            watch.pollers.remove(&marks);
        }
        let counts = now & POLLER != 0 && (now ^ value) & TURN & !(POLLER | IN_FLIGHT) != 0;
        let is_old = (now ^ value) & !TURN != 0;
        assert!(is_old || !counts || watch.pollers.contains_key(&marks), "a mark is back");
    });
}

/// Tells whether the memory that it is part of is still in use.
///
/// A lock or a node that is gone leaves this behind, in memory that the tests keep until the end of the
/// execution, or on the stack of its thread, where only a later node at the same place hides it.
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
        // SAFETY: a plain store to memory of its own. It is volatile, because the compiler would otherwise
        // leave it out: no code reads it any more.
        unsafe { std::ptr::write_volatile(self.0.as_ptr(), !ALIVE) };
    }
}
