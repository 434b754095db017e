//! Faults that loom does not look for: two pollers of one lock, two threads in flight to one lock, marks of
//! the wrong lock, and accesses to memory that is gone.
//!
//! The marks are read off the words of the parking table when they change. In a record the word of the
//! marks comes right behind the lock's address, and is the only machine word that changes by a
//! read-modify-write. Behind it comes the last turn that has ended with the lock.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;

use loom::thread::{self, ThreadId};
use ondeck::platform::{AtomicInt, Ordering};

use super::atomics::{AtomicU32, AtomicUsize};
use super::setting;

/// The word of the marks: see `parking/record/marks.rs`.
const IN_FLIGHT: usize = 1;
const POLLER: usize = 2;
/// The number of the turn, and both marks.
const TURN: usize = (1 << (usize::BITS / 2)) - 1;
/// The status of a node whose thread was woken.
const WOKEN: u32 = 3;

/// A thread of the model, and what it does with a lock.
struct Waiter {
    thread: ThreadId,
    /// The lock that it wants or has wanted, by its address.
    wants: usize,
    /// The word of the marks in which it is the poller.
    polls: usize,
    /// Whether it was woken, and its mark is still there.
    in_flight: bool,
    /// How many buckets' locks it has.
    buckets: usize,
}

#[derive(Default)]
struct Watch {
    /// Where the buckets of the parking table are.
    table: Range<usize>,
    waiters: Vec<Waiter>,
    /// What was last stored to the machine words of the table, by their addresses.
    stored: HashMap<usize, usize>,
    /// The words of the marks that were ever changed, and what they are now.
    marks: HashMap<usize, usize>,
    /// The words of the marks with a poller, each with its lock.
    pollers: HashMap<usize, usize>,
}

thread_local! {
    static WATCH: RefCell<Watch> = RefCell::default();
    static ON: Cell<bool> = const { Cell::new(false) };
}

/// An execution begins.
pub fn begin() {
    WATCH.take();
    ON.set(false);
}

/// Says where the buckets of the parking table are.
pub fn table(buckets: Range<usize>) {
    WATCH.with_borrow_mut(|watch| watch.table = buckets);
}

impl Watch {
    /// The calling thread's own entry.
    fn own(&mut self) -> &mut Waiter {
        let thread = thread::current().id();
        let at =
            self.waiters.iter().position(|waiter| waiter.thread == thread).unwrap_or_else(|| {
                self.waiters.push(Waiter {
                    thread,
                    wants: 0,
                    polls: 0,
                    in_flight: false,
                    buckets: 0,
                });
                self.waiters.len() - 1
            });
        &mut self.waiters[at]
    }

    /// The lock that has the record with these marks.
    fn lock(&self, marks: usize) -> usize {
        self.stored.get(&(marks - size_of::<AtomicUsize>())).copied().unwrap_or(0)
    }

    /// The marks of a record have changed.
    fn marked(&mut self, word: usize, old: usize, new: usize) {
        self.marks.insert(word, new);
        let lock = self.lock(word);
        let polled = self.pollers.contains_key(&word);
        if (old ^ new) & !IN_FLIGHT != 0 {
            let replaced = self.left(word);
            if new & POLLER != 0 {
                assert!(!replaced || setting::get().stale, "a poller that polls loses its place");
                // Under the bucket's lock a thread makes another one the poller. Without it, the address
                // may be cleared for a moment, until the holder of the bucket's lock sees that the record
                // has a mark.
                let own = self.own();
                let (itself, wants) = (own.buckets == 0, own.wants);
                let lock = if lock == 0 && itself { wants } else { lock };
                assert!(lock > 1, "a poller of no lock");
                assert!(
                    !self.pollers.values().any(|&other| other == lock),
                    "a lock has two pollers"
                );
                self.pollers.insert(word, lock);
                if itself {
                    assert_eq!(wants, lock, "a thread polls for another lock");
                    self.own().polls = word;
                }
            }
        }
        if old & !new & IN_FLIGHT != 0 {
            self.own().in_flight = false;
        }
        if new & !old & IN_FLIGHT != 0 {
            assert_ne!(self.own().buckets, 0, "a thread is woken without the lock of its bucket");
            assert!(lock > 1, "a thread in flight to no lock");
        }
        if (old ^ new) & !TURN != 0 {
            let marked = old & IN_FLIGHT != 0 || polled;
            assert!(!marked, "a record is taken from a lock with marks");
            assert_eq!(lock, 0, "a record is taken before its address is");
        }
    }

    /// The turn `last` has ended with the lock, or the record was taken from its lock.
    fn ended(&mut self, marks: usize, now: usize, last: usize) {
        if now & !(POLLER | IN_FLIGHT) == last {
            self.left(marks);
        }
        let counts = now & POLLER != 0 && (now ^ last) & TURN & !(POLLER | IN_FLIGHT) != 0;
        let is_old = (now ^ last) & !TURN != 0;
        assert!(is_old || !counts || self.pollers.contains_key(&marks), "a mark is back");
    }

    /// No thread polls by these marks any more. Says whether one did.
    fn left(&mut self, marks: usize) -> bool {
        if let Some(last) = self.waiters.iter_mut().find(|waiter| waiter.polls == marks) {
            last.polls = 0;
        }
        self.pollers.remove(&marks).is_some()
    }
}

/// Does `change` if the execution is watched.
fn watched(change: impl FnOnce(&mut Watch)) {
    if ON.get() && !std::thread::panicking() {
        WATCH.with_borrow_mut(change);
    }
}

/// Watches this execution, from its beginning.
#[allow(dead_code, reason = "the tests of the zoo do not watch")]
pub fn start() {
    ON.set(true);
}

/// The calling thread is about to wait for the lock at `address`.
#[allow(dead_code, reason = "the tests of the zoo do not watch")]
pub fn wants(address: usize) {
    watched(|watch| watch.own().wants = address);
}

/// A 32-bit word was read. Outside of the table only a node's own thread reads with acquire ordering: the
/// status of its node.
pub fn status(word: usize, status: u32, order: Ordering) {
    if order != Ordering::Acquire || status != WOKEN {
        return;
    }
    watched(|watch| {
        if watch.table.contains(&word) || watch.own().wants == 0 {
            return;
        }
        watch.own().in_flight = true;
        let wants = watch.own().wants;
        let woken = watch.waiters.iter().filter(|waiter| waiter.in_flight && waiter.wants == wants);
        assert!(woken.count() == 1 || setting::get().urgent, "a lock has two threads in flight");
    });
}

/// A change that is not watched.
pub fn unchanged<V>(_: usize, _: V, _: V) {}

/// A store that is not watched.
pub fn nothing<V>(_: usize, _: V) {}

/// Whether the caller sees that an owner of the lock at `address` is asked to hand it over.
#[allow(dead_code, reason = "the tests of the zoo do not ask")]
pub fn sees_request(address: usize) -> bool {
    const REQUEST: u32 = 4;
    /// Behind the marks come the last turn, the time of the next handoff, and four 32-bit words.
    const BEHIND: usize = 3 * size_of::<AtomicUsize>() + 4 * size_of::<AtomicU32>();
    let marks = WATCH.with_borrow(|watch| {
        watch.marks.keys().find(|&&marks| watch.lock(marks) == address).copied()
    });
    marks.is_some_and(|marks| {
        // SAFETY: these are words of a record, which stays as long as the table.
        let (of, request) = unsafe {
            let of = (marks - size_of::<AtomicUsize>()) as *const AtomicUsize;
            (&*of, &*((marks + BEHIND) as *const AtomicU32))
        };
        of.load(Ordering::Relaxed) == address && request.load(Ordering::Relaxed) & REQUEST != 0
    })
}

/// A read that is not watched.
pub fn not_read<V>(_: usize, _: V, _: Ordering) {}

/// A 32-bit word was changed by a read-modify-write. Those of the table are buckets' locks.
pub fn word(address: usize, old: u32, new: u32) {
    watched(|watch| {
        if !watch.table.contains(&address) {
            return;
        }
        let own = watch.own();
        match (old, new) {
            (_, 0) => own.buckets -= 1,
            (0, _) => own.buckets += 1,
            _ => {}
        }
    });
}

/// A machine word was changed by a read-modify-write. Those of the table are the marks of records.
pub fn marks(address: usize, old: usize, new: usize) {
    watched(|watch| {
        if watch.table.contains(&address) {
            watch.marked(address, old, new);
        }
    });
}

/// A machine word was stored. Those of the table are the addresses of records, and the last turns that have
/// ended with their locks.
pub fn number(address: usize, value: usize) {
    watched(|watch| {
        if !watch.table.contains(&address) {
            return;
        }
        let marks = address - size_of::<AtomicUsize>();
        if let Some(&now) = watch.marks.get(&marks) {
            watch.ended(marks, now, value);
        } else {
            watch.stored.insert(address, value);
            assert_ne!(watch.own().buckets, 0, "a record goes to a lock without its bucket's lock");
        }
    });
}

/// Tells whether the memory that it is part of is still in use.
///
/// A lock or a node that is gone leaves this behind, in memory that the tests never free, or on a stack
/// that lives as long as its execution. Memory that is used again has a new one.
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
        // SAFETY: a plain store to memory of its own. It is volatile, because the compiler would otherwise
        // leave it out: no code reads it any more.
        unsafe { std::ptr::write_volatile(self.0.as_ptr(), !ALIVE) };
    }
}
