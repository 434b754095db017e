//! folly's DistributedMutex, without combining: waiters on their own cache lines, and a handoff that
//! passes over threads that have lost their CPU.
//!
//! Source: Aaryaman Sagar, facebook/folly, `synchronization/DistributedMutex.h` and
//! `DistributedMutex-inl.h`, the algorithm and the constants of 2019.
//!
//! Teaches: a queue lock need not wait for a thread that the scheduler took off its CPU. Each waiter
//! repeatedly stamps its node with the time, and an unlock passes over a node with an old stamp. The
//! stamp is only a hint: a waiter whose cache line is under way looks as old as one that does not
//! run.
//!
//! ```text
//! state (usize)  0                       unlocked
//!                1                       locked, no thread has arrived since
//!                address of a node | 1   locked; the newest node. If it is the owner's own, no
//!                                        thread has arrived since
//! state ─► newest ─below─► older ─below─► ... ─► what the oldest found: the owner's node, or 1
//!
//! change         made by               operation
//! 0 → 1          a thread that locks   fetch-or of bit 0, once
//! any → node|1   a waiter              swap; if it finds 0 it owns the lock
//! own → 0        the owner             compare-exchange; own is 1, or its node | 1
//! node|1 → 1     the owner             swap: it takes the chain, and hands the lock to its newest
//!                                      node that it does not pass over
//!
//! word (usize) of a node: low byte its state, above it a time stamp
//!   0 new        its thread has not begun to wait
//!   1 spinning   written by its thread at each poll, by swap, with the time or with time 0
//!   2 woken      written by an unlock: its thread owns the lock
//!   3 passed     written by an unlock: its thread shall arrive again, and sleep then
//!   4 sleeps     its thread waits at the node's futex, or is about to
//! futex (u32) of a node
//!   0 · 5 sleeping, swapped in by its thread before it sleeps, and by an unlock: the second of the two
//!   knows by it that the other was there · 2 woken, to arrive again
//! ```
//!
//! An owner that acquired the lock by a handoff first serves the rest of its chain, newest first.
//! When it is the chain's oldest, it reads the state: threads that have arrived since are the next
//! chain.
//!
//! A node's thread polls 4,000 times. Then it stamps time 0 and rests for 500 µs between polls until
//! it is passed over. A thread that was passed over arrives with state 4. An unlock that finds such a
//! node writes 5 to its futex. If the futex was 0, the thread was not asleep yet, and owns the lock.
//! Otherwise the unlock puts the node on a list, which the handoff passes on. The unlock that frees
//! the lock wakes the first of the list. That thread arrives again as a spinning one, and keeps the
//! rest of the list: it wakes the next when it unlocks, or before it sleeps again.
//!
//! # Differences from the source
//!
//! Combining and deadlines are left out: the measured `DistributedMutex` without `lock_combine` uses
//! neither. The source calls the 200 nanoseconds, but compares time-stamp counters: it is 200 ticks
//! here. The node is in the thread's context and not on its stack.
//!
//! # Memory ordering
//!
//! The swap of `state` is `AcqRel`: it publishes the node, and sees the last section if it finds 0.
//! An unlock that wakes or passes over a node writes its `word` with `Release`, and the node's thread
//! reads it with `Acquire` by its swap: the handoff. The fields that an unlock leaves for the next
//! owner are written before. An unlock reads `below` after it read, with `Acquire`, a word that the
//! thread wrote after `below`; for a sleeping thread the swaps of `futex`, `AcqRel`, order both.

use std::cell::Cell;
use std::ptr;

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, RawLock, Waiting};

const UNLOCKED: usize = 0;
const LOCKED: usize = 1;

const NEW: usize = 0;
const SPINNING: usize = 1;
const WOKEN: usize = 2;
const PASSED: usize = 3;
const SLEEPS: usize = 4;
const STATE_BITS: u32 = 8;
const STATE: usize = (1 << STATE_BITS) - 1;

const AWAKE: u32 = 0;
const TOLD: u32 = 2;
const SLEEPING: u32 = 5;

/// Polls before a waiter asks to be passed over.
const POLLS: u32 = 4_000;
/// The time that a waiter rests between two later polls.
const REST_NANOS: u32 = 500_000;
/// The age in ticks from which on a stamp is old.
const OLD_TICKS: u32 = 200;

/// folly's DistributedMutex: see the [source file](self) for its chain.
#[derive(Debug)]
pub struct FollyDistributed<P: Platform> {
    state: P::AtomicUsize,
}

/// A thread's place in a chain, on its own cache lines.
#[derive(Debug)]
#[repr(align(128))]
struct Node<P: Platform> {
    word: P::AtomicUsize,
    /// The value that the thread found in the lock's state: the next older node, or the chain's end.
    /// On the list of sleeping threads: the next of the list.
    below: P::AtomicUsize,
    /// Left by the unlock that woke this thread: the value that the oldest node of the chain found.
    end: P::AtomicUsize,
    /// Also left by that unlock: the first of the list of sleeping threads.
    list: P::AtomicUsize,
    futex: P::AtomicU32,
}

/// A thread's context: its node, and the data that its unlock will need.
#[derive(Debug)]
pub struct Place<P: Platform> {
    node: Node<P>,
    /// The next older node of the chain, 0 if there is none.
    next: Cell<usize>,
    /// The value of the state if no thread has arrived.
    own: Cell<usize>,
    /// The end of the chain.
    end: Cell<usize>,
    /// The first sleeping thread of the list that the handoff passed on.
    list: Cell<usize>,
    /// A sleeping thread that this one wakes in any case.
    ready: Cell<usize>,
}

impl<P: Platform> Default for Place<P> {
    fn default() -> Self {
        let zero = || AtomicInt::new(0);
        let node = Node {
            word: zero(),
            below: zero(),
            end: zero(),
            list: zero(),
            futex: AtomicInt::new(AWAKE),
        };
        let empty = || Cell::new(0);
        Self { node, next: empty(), own: empty(), end: empty(), list: empty(), ready: empty() }
    }
}

fn node_at<P: Platform>(address: usize) -> *const Node<P> {
    ptr::with_exposed_provenance(address & !LOCKED)
}

/// How a wait ended.
#[derive(PartialEq, Eq)]
enum Waited {
    Owner,
    PassedOver,
    SleptEnough,
}

impl<P: Platform> Place<P> {
    /// Resets the node; returns its value for the lock's state.
    fn prepare(&self, state: usize) -> usize {
        // Relaxed: the swap of the lock's state publishes the node.
        self.node.end.store(0, Ordering::Relaxed);
        self.node.list.store(0, Ordering::Relaxed);
        self.node.futex.store(AWAKE, Ordering::Relaxed);
        self.node.word.store(state, Ordering::Relaxed);
        ptr::from_ref(&self.node).expose_provenance() | LOCKED
    }

    /// Polls the node until an unlock has written it.
    fn spin(&self) -> Waited {
        let most = P::spins(POLLS);
        let mut polls = 0;
        loop {
            let now = if polls < most { P::ticks() as usize } else { 0 };
            let found = self.node.word.swap(now << STATE_BITS | SPINNING, Ordering::AcqRel);
            match found & STATE {
                WOKEN => return Waited::Owner,
                PASSED => return Waited::PassedOver,
                _ => {}
            }
            polls = most.min(polls + 1);
            if polls < most { P::pause() } else { P::sleep_nanos(REST_NANOS) }
        }
    }

    /// Sleeps until an unlock wakes the thread, unless one has already handed it the lock.
    fn sleep(&self) -> Waited {
        let mut found = self.node.futex.swap(SLEEPING, Ordering::AcqRel);
        if found == SLEEPING {
            return Waited::Owner;
        }
        while found != TOLD {
            wake::<P>(self.ready.take());
            // Every result means the same: reread the word.
            let _ = P::futex_wait(&self.node.futex, SLEEPING, None);
            found = self.node.futex.load(Ordering::Acquire);
        }
        self.ready.set(self.node.below.load(Ordering::Relaxed));
        Waited::SleptEnough
    }
}

/// Wakes the sleeping thread of this node, if there is one, to arrive again.
fn wake<P: Platform>(address: usize) {
    if address != 0 {
        // SAFETY: the thread sleeps until the store below, and only this thread has it on its list.
        let futex = unsafe { &raw const (*node_at::<P>(address)).futex };
        // SAFETY: as above; after the store only the address is used.
        unsafe { &*futex }.store(TOLD, Ordering::Release);
        P::futex_wake(futex, 1);
    }
}

/// Whether the stamp suggests that its waiter has lost its CPU.
fn is_old<P: Platform>(word: usize) -> bool {
    let now = P::ticks() as usize & usize::MAX >> STATE_BITS;
    // Fewer ticks for a model checker, where only pauses advance the time.
    word != NEW && now > (word >> STATE_BITS) + P::spins(OLD_TICKS) as usize
}

/// Hands off to the first node of the chain that is not passed over; returns whether there was one.
/// Adds the nodes of sleeping threads to `list`.
fn hand_over<P: Platform>(first: usize, end: usize, list: &mut usize) -> bool {
    let mut address = first;
    loop {
        // SAFETY: its thread waits until it is woken or passed over; a sleeping thread waits until it
        // is woken.
        let node = unsafe { &*node_at::<P>(address) };
        let word = node.word.load(Ordering::Acquire);
        let sleeps = word == SLEEPS;
        let is_passed_over = !sleeps && is_old::<P>(word);
        if !is_passed_over {
            node.end.store(end, Ordering::Relaxed);
            node.list.store(*list, Ordering::Relaxed);
        }
        if sleeps {
            if node.futex.swap(SLEEPING, Ordering::AcqRel) != SLEEPING {
                return true;
            }
        } else if !is_passed_over {
            node.word.store(WOKEN, Ordering::Release);
            return true;
        }
        // Read before the thread's word changes: after that the thread can arrive again, with another
        // node below.
        let below = node.below.load(Ordering::Relaxed);
        if sleeps {
            node.below.store(*list, Ordering::Relaxed);
            *list = address & !LOCKED;
        } else {
            node.word.store(PASSED, Ordering::Release);
        }
        if below == end || below & !LOCKED == 0 {
            return false;
        }
        address = below;
    }
}

impl<P: Platform> FollyDistributed<P> {
    #[inline(always)]
    fn acquire(&self, place: &Place<P>) -> bool {
        // Only one bit is tested, so that this compiles to one `lock bts` and no loop.
        let owns = self.state.fetch_or(LOCKED, Ordering::Acquire) & LOCKED == 0;
        if owns {
            place.next.set(0);
            place.own.set(LOCKED);
            place.end.set(0);
            place.list.set(0);
            place.ready.set(0);
        }
        owns
    }

    #[cold]
    fn lock_slow(&self, place: &Place<P>) {
        place.ready.set(0);
        let mut sleeps = false;
        let (own, found) = loop {
            let own = place.prepare(if sleeps { SLEEPS } else { NEW });
            let found = self.state.swap(own, Ordering::AcqRel);
            place.node.below.store(found, Ordering::Relaxed);
            if found == UNLOCKED {
                break (own, 0);
            }
            let waited = if sleeps { place.sleep() } else { place.spin() };
            if waited == Waited::Owner {
                break (own, found);
            }
            sleeps = !sleeps;
        };
        let end = place.node.end.load(Ordering::Relaxed);
        place.end.set(end);
        place.list.set(place.node.list.load(Ordering::Relaxed));
        if found != UNLOCKED && found == end {
            place.next.set(0);
            place.own.set(LOCKED);
        } else {
            place.next.set(found & !LOCKED);
            place.own.set(own);
        }
    }

    /// The unlock of an owner that has other threads to serve. `has_tried`: it has already failed to
    /// free the lock.
    #[cold]
    fn unlock_slow(&self, place: &Place<P>, has_tried: bool) {
        let mut list = place.list.get();
        let mut own = place.own.get();
        let next = place.next.get();
        if next != 0 {
            if hand_over::<P>(next, place.end.get(), &mut list) {
                wake::<P>(place.ready.get());
                return;
            }
            own = LOCKED;
        }
        let mut tries = !has_tried;
        loop {
            if tries && self.free(own) {
                wake::<P>(list);
                break;
            }
            tries = true;
            let newest = self.state.swap(LOCKED, Ordering::AcqRel);
            if hand_over::<P>(newest, own, &mut list) {
                break;
            }
            own = LOCKED;
        }
        wake::<P>(place.ready.get());
    }

    /// Unlocks if no thread has arrived.
    #[inline(always)]
    fn free(&self, own: usize) -> bool {
        self.state.compare_exchange(own, UNLOCKED, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

// SAFETY, as a lock: a thread returns from `lock` when it changed the state from 0, or when an
// unlock has handed it the lock, which each unlock does for one thread. Only an owner makes the
// state 0.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for FollyDistributed<P> {
        INFO: LockInfo {
            name: "folly_distributed",
            waiting: Waiting::SpinsThenSleeps,
            // A chain is served before threads that arrive later, but newest first, and a thread may be
            // passed over repeatedly.
            source: "Aaryaman Sagar, facebook/folly, DistributedMutex",
            teaches: "Waiters that publish the time let a queue lock pass over those that lost their CPU",
            ..LockInfo::USUAL
        },
        Context: Place<P>,
        new: Self { state: AtomicInt::new(UNLOCKED) },
        lock: |this, place| if !this.acquire(place) {
            this.lock_slow(place);
        },
        try_lock: |this, place| {
            this.state.load(Ordering::Relaxed) == UNLOCKED && this.acquire(place)
        },
        unlock: |this, place| {
            let is_alone = place.next.get() == 0 && place.list.get() == 0 && place.ready.get() == 0;
            if !(is_alone && this.free(place.own.get())) {
                this.unlock_slow(place, is_alone);
            }
        },
        is_idle: |this| this.state.load(Ordering::Relaxed) == UNLOCKED,
    }
}
