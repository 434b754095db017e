//! Go's spinbit mutex: one waiter may spin, the others sleep on a stack, all in one word.
//!
//! Source: Rhys Hiltner, "runtime: improve scaling of lock2" (Go issue 68578);
//! `runtime/lock_spinbit.go` of Go 1.24.
//!
//! Teaches: the remedy for the collapse of [`GoThreeState`](super::GoThreeState). If an unlock
//! knows that a waiter is already awake, it need not wake another.
//!
//! ```text
//!  usize bits:  63 ................ 6 5  4       3             2          1         0
//!              [ newest node            ·  · STACK_LOCKED  SPINNING  SLEEPING  LOCKED ]
//!                          │
//!                          ▼
//!               [node] ─next─► [node] ─next─► [oldest] ─next─► null
//!
//! bit           set by                             cleared by
//! LOCKED        an acquisition                     the owner's unlock
//! SLEEPING      a push; a slow acquisition, but a  each unlock; a spinner's acquisition if the
//!               spinner's only if the stack is     stack is empty
//!               not empty
//! SPINNING      a waiter, if it is clear           that waiter, as it acquires or pushes its node
//! STACK_LOCKED  an unlock, if it is clear          that unlock, by a compare-exchange of the word
//! newest node   a push, while LOCKED is set        the unlock that holds STACK_LOCKED
//! ```
//!
//! * `LOCKED`: the lock has an owner.
//! * `SLEEPING`: an unlock has to check the stack for a thread to wake. If the bit is clear and the
//!   stack is not empty, a thread that will set it is awake or about to be. So locks and unlocks
//!   that follow each other quickly skip the check.
//! * `SPINNING`: a try-lock among waiters. The thread that holds it may poll the word; the others
//!   have to sleep. While it is held an unlock wakes no thread, except now and then the oldest.
//! * `STACK_LOCKED`: a try-lock among unlocks. Only the thread that holds it follows the nodes and
//!   takes one out. A thread that finds it held need not wake any: the holder ends with a
//!   compare-exchange of the whole word, and so decides by its latest state.
//! * The newest node: nodes are aligned, so their addresses leave the flags' bits free. A push
//!   requires only that `LOCKED` is set. While `STACK_LOCKED` is held the stack may grow, but it
//!   cannot shrink. A push uses only the newest node, so changes in the rest of the stack do no
//!   harm.
//!
//! A thread writes its node's `next` before it pushes the node. From then on `next` belongs to the
//! holder of `STACK_LOCKED`, until the node is taken out and its thread is woken. The wake is a
//! store to the node's own futex word. After that store the node may be gone, and the waker uses
//! only the word's address.
//!
//! The newest waiter is woken first. Every sixteenth slow unlock of a thread wakes the oldest
//! instead, which it finds by a walk. A thread that was the oldest may spin without the bit.
//!
//! # Differences from Go's
//!
//! Go keeps `LOCKED` and `SLEEPING` in a byte, which its fast paths swap, while its slow paths
//! compare-exchange the whole word. Access to one word in two sizes is undefined in Rust's memory
//! model. Here the fast paths set and clear bits of the whole word, which is also one instruction.
//! Unlike the swap, setting a bit does not also clear `SLEEPING`.
//!
//! Go chooses at random when to wake the oldest. Here it is every sixteenth slow unlock of each
//! thread, the first included, so that runs in virtual time repeat and small models reach it.
//! Profiling is left out, and so is Go's list of mutexes that may spin without limit.
//!
//! # Memory ordering
//!
//! The word changes by read-modify-writes only, so data published by it stays visible to every
//! later `Acquire`. Acquisitions of the lock are `Acquire`, and an unlock is `Release`. A push is
//! `Release`, because it publishes the node. `STACK_LOCKED` is taken with `Acquire` and cleared
//! with `Release`, for the nodes and the links that its holder changed. A woken thread reads its
//! futex word with `Acquire`, so that it sees `next` as the waker left it. An unlock that reloads
//! the word does so with `Relaxed`: it reads its own value or a later one, and a later change was
//! made by a thread that is awake.

use std::cell::Cell;
use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::parker::Parker;
use crate::{LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

const LOCKED: usize = 1;
const SLEEPING: usize = 2;
const SPINNING: usize = 4;
const STACK_LOCKED: usize = 8;
const FLAGS: usize = LOCKED | SLEEPING | SPINNING | STACK_LOCKED;

/// Go's `mutexActiveSpinCount`, `mutexActiveSpinSize`, `mutexPassiveSpinCount`.
const ACTIVE_SPINS: u32 = 4;
const PAUSES_PER_SPIN: u32 = 30;
const PASSIVE_SPINS: u32 = 1;
/// Go's `mutexTailWakePeriod`: one wake in this number takes the oldest waiter.
const TAIL_WAKE_PERIOD: u32 = 16;

/// Go's lock since 1.24: see the [source file](self) for its bits.
#[derive(Debug)]
pub struct GoSpinbit<P: Platform> {
    word: P::AtomicUsize,
}

/// A thread's place in the stack of waiters, aligned so that its address leaves room for flags.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    /// The next older node.
    next: P::AtomicPtr<Node<P>>,
    parker: Parker<P>,
    /// The number of unlocks of this thread that had to check for sleeping threads; only its thread
    /// counts.
    slow_releases: Cell<u32>,
}

impl<P: Platform> Default for Node<P> {
    fn default() -> Self {
        const { assert!(align_of::<Self>() > FLAGS, "the flags need the address's low bits") };
        Self {
            next: AtomicPointer::new(ptr::null_mut()),
            parker: Parker::default(),
            slow_releases: Cell::new(0),
        }
    }
}

impl<P: Platform> Node<P> {
    /// The node on top of the stack, null if no thread sleeps.
    fn top(word: usize) -> *mut Self {
        ptr::with_exposed_provenance_mut(word & !FLAGS)
    }

    /// # Safety
    ///
    /// `node` was taken out of the stack by the caller and not woken since.
    unsafe fn wake(node: *mut Self) {
        // SAFETY: its thread sleeps until it is woken, so the node exists; only this thread, which
        // took it out, wakes it.
        unsafe { Parker::unpark(&raw const (*node).parker) };
    }

    fn tail_wake_is_due(&self) -> bool {
        let count = self.slow_releases.get();
        self.slow_releases.set(count.wrapping_add(1));
        count.is_multiple_of(TAIL_WAKE_PERIOD)
    }

    /// Takes the oldest node of the stack under `top` out of the stack, unless it is `top` itself;
    /// returns it.
    ///
    /// # Safety
    ///
    /// The caller holds `STACK_LOCKED`, and has seen the push of `top`, which is not null.
    unsafe fn unlink_oldest(top: *mut Self) -> *mut Self {
        let mut newer = top;
        let mut oldest = top;
        loop {
            // SAFETY: nodes stay in the stack while the caller holds `STACK_LOCKED`.
            let next = unsafe { &*oldest }.next.load(Ordering::Relaxed);
            if next.is_null() {
                break;
            }
            newer = oldest;
            oldest = next;
        }
        if oldest != top {
            // SAFETY: as above.
            unsafe { &*newer }.next.store(ptr::null_mut(), Ordering::Relaxed);
        }
        oldest
    }
}

impl<P: Platform> GoSpinbit<P> {
    /// Tries to acquire after `word` was seen unlocked.
    fn acquire(&self, word: usize, spinner: bool) -> bool {
        if !spinner {
            // The thread may have been woken from the stack, and others may remain in it.
            return self.word.fetch_or(LOCKED | SLEEPING, Ordering::Acquire) & LOCKED == 0;
        }
        let mut next = (word & !(SPINNING | SLEEPING)) | LOCKED;
        if !Node::<P>::top(word).is_null() {
            next |= SLEEPING;
        }
        self.word.compare_exchange(word, next, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Pushes `node` if the word is still `word`; a spinner clears its bit in the same step.
    fn push(&self, node: &Node<P>, word: usize, spinner: bool) -> bool {
        // Relaxed: no other thread can reach the node yet; the exchange publishes both.
        node.next.store(Node::top(word), Ordering::Relaxed);
        node.parker.prepare();
        let kept = if spinner { word & FLAGS & !SPINNING } else { word & FLAGS };
        let next = ptr::from_ref(node).expose_provenance() | kept | SLEEPING;
        self.word.compare_exchange(word, next, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_slow(&self, node: &Node<P>) {
        let active = if P::cpus() > 1 { P::spins(ACTIVE_SPINS) } else { 0 };
        let mut spinner = false;
        let mut was_oldest = false;
        let mut turn = 0;
        loop {
            let mut word = self.word.load(Ordering::Relaxed);
            if word & LOCKED == 0 {
                if self.acquire(word, spinner) {
                    return;
                }
            } else {
                if !spinner && word & SPINNING == 0 {
                    spinner = self
                        .word
                        .compare_exchange(
                            word,
                            word | SPINNING,
                            Ordering::Relaxed,
                            Ordering::Relaxed,
                        )
                        .is_ok();
                    if spinner {
                        word |= SPINNING;
                    }
                }
                let may_spin = spinner || was_oldest;
                if may_spin && turn < active {
                    P::pause_times(PAUSES_PER_SPIN);
                } else if may_spin && turn < active + PASSIVE_SPINS {
                    P::yield_now();
                } else if self.push(node, word, spinner) {
                    spinner = false;
                    node.parker.park();
                    // It was at the end of the stack: others pushed later, and were woken first.
                    was_oldest = node.next.load(Ordering::Relaxed).is_null();
                    turn = 0;
                }
            }
            turn += 1;
        }
    }

    /// Runs after an unlock that found `SLEEPING`: wakes one thread, unless a waiter is awake.
    #[cold]
    fn unlock_slow(&self, releaser: &Node<P>) {
        let tail_wake = releaser.tail_wake_is_due();
        let mut word = self.word.load(Ordering::Relaxed);
        if word & SPINNING != 0 && !tail_wake {
            return;
        }
        loop {
            if Node::<P>::top(word).is_null() || word & STACK_LOCKED != 0 {
                return;
            }
            match self.word.compare_exchange(
                word,
                word | STACK_LOCKED,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        word |= STACK_LOCKED;
        // A node that was taken out below the top: its thread must be woken in any case.
        let mut promised: *mut Node<P> = ptr::null_mut();
        loop {
            let top = Node::<P>::top(word);
            let mut chosen = promised;
            if promised.is_null() {
                if tail_wake {
                    // SAFETY: this thread holds `STACK_LOCKED` and read `top` with `Acquire`. No
                    // other thread takes nodes out, so the stack still has one.
                    chosen = unsafe { Node::unlink_oldest(top) };
                    if chosen != top {
                        promised = chosen;
                    }
                } else if word & SPINNING == 0 {
                    chosen = top;
                }
            }
            let mut next = word & !STACK_LOCKED;
            if chosen == top {
                // SAFETY: as above.
                let below = unsafe { &*top }.next.load(Ordering::Relaxed);
                next = (next & FLAGS) | below.expose_provenance();
            }
            match self.word.compare_exchange(word, next, Ordering::Release, Ordering::Acquire) {
                Ok(_) => {
                    if !chosen.is_null() {
                        // SAFETY: the exchange, or `unlink_oldest` before it, took the node out.
                        unsafe { Node::wake(chosen) };
                    }
                    return;
                }
                Err(now) => word = now,
            }
        }
    }
}

// SAFETY: a thread returns from `lock` only after a read-modify-write that found `LOCKED` clear
// and set it, and only the owner clears it.
unsafe impl<P: Platform> RawLock<P> for GoSpinbit<P> {
    const INFO: LockInfo = LockInfo {
        name: "go_spinbit",
        origin: Origin::Sources,
        waiting: Waiting::SpinsThenSleeps,
        touches_after_release: true,
        source: "Go issue 68578 and runtime/lock_spinbit.go of Go 1.24",
        teaches: "One bit that says a waiter spins lets unlocks skip the wake, and contention scale",
        ..LockInfo::USUAL
    };

    type Context = Node<P>;
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { word: AtomicInt::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, node: &Node<P>) {
        if self.word.fetch_or(LOCKED, Ordering::Acquire) & LOCKED != 0 {
            self.lock_slow(node);
        }
    }

    #[inline]
    unsafe fn try_lock(&self, _: &Node<P>) -> bool {
        self.word.fetch_or(LOCKED, Ordering::Acquire) & LOCKED == 0
    }

    #[inline]
    unsafe fn unlock(&self, node: &Node<P>) {
        let before = self.word.fetch_and(!(LOCKED | SLEEPING), Ordering::Release);
        if before & SLEEPING != 0 {
            self.unlock_slow(node);
        }
    }

    fn is_idle(&mut self) -> bool {
        self.word.load(Ordering::Relaxed) == 0
    }
}
