//! Go's spinbit mutex: one waiter may spin, the others sleep on a stack, all in one word.
//!
//! Source: Rhys Hiltner, "runtime: improve scaling of lock2" (Go issue 68578);
//! `runtime/lock_spinbit.go` of Go 1.24.
//!
//! Teaches: what stops the collapse of [`GoThreeState`](super::GoThreeState) is to let an unlock
//! know that somebody is awake already, so that it need not wake another.
//!
//! ```text
//!  usize bits:  63 ................ 6 5  4       3             2          1         0
//!              [ newest sleeper's node  ·  · STACK_LOCKED  SPINNING  SLEEPING  LOCKED ]
//!                          │
//!                          ▼
//!               [node] ─next─► [node] ─next─► [oldest] ─next─► null
//! ```
//!
//! * `LOCKED`: somebody owns the lock. Set by an acquisition, cleared by the release.
//! * `SLEEPING`: the release has to look whether somebody must be woken. Cleared by each release
//!   and set again by every thread that pushes itself, that acquires after it was woken, or that
//!   acquires as the spinner while the stack is not empty. Somebody of that kind is awake, or about
//!   to be, whenever the bit is 0 and the stack is not empty; so quick acquisitions and releases in
//!   between need not look.
//! * `SPINNING`: a try-lock among waiters. Who sets it may poll the word; the others must sleep. The
//!   spinner clears it when it acquires, or when it pushes itself after a few turns. While it is
//!   set a release wakes nobody.
//! * `STACK_LOCKED`: a try-lock among releasing threads. Who sets it, and nobody else, may follow
//!   the nodes and take one out. Who finds it set need not wake anybody: its holder ends with a
//!   compare-exchange of the whole word, hence decides on what is true then.
//! * The pointer: the newest sleeper's node, whose alignment leaves the bits above free. Pushing is
//!   a compare-exchange while `LOCKED` is set, and needs no other bit; the stack may grow while
//!   `STACK_LOCKED` is held but cannot shrink. A push that mistakes one state of the stack for
//!   another with the same top is harmless, because it uses nothing but the top.
//!
//! A node's `next` is written by its own thread before it pushes the node. After that it belongs to
//! the holder of `STACK_LOCKED`, until the node is taken out and its thread woken. The wake is a
//! store to the node's own futex word; after it the node may be gone, and only the word's address
//! is used. The stack wakes the newest first, so every sixteenth wake of a thread takes the
//! oldest instead, at the cost of a walk. A thread that was the oldest may spin without the bit.
//!
//! # Differences from Go's
//!
//! Go keeps `LOCKED` and `SLEEPING` in a byte of their own, exchanges that byte in the fast paths
//! and compare-exchanges the word elsewhere. Access to one word in two sizes is undefined in Rust's
//! memory model; here the fast paths set and clear bits of the whole word, also one instruction
//! each. Setting bits, unlike the exchange, does not wipe out `SLEEPING` on its way. Go's tail
//! wake is at random, here it is every sixteenth slow release of each thread, the first included,
//! so that runs in virtual time repeat and short models reach it. Profiling, and the list of mutexes
//! that may spin without limit, are left out.
//!
//! # Memory ordering
//!
//! The word changes by read-modify-writes only, so whatever was released into it stays visible to
//! every later `Acquire`. Acquisitions of the lock are `Acquire`, its release `Release`. A push is
//! `Release`: it publishes the node. Taking `STACK_LOCKED` is `Acquire` and giving it back
//! `Release`: nodes and changed links travel along. A woken thread reads its futex word with
//! `Acquire`, so that it sees its `next` as the waker left it. A release that loads the word again
//! may do so `Relaxed`: it cannot see anything older than its own release, and whatever it misses
//! was done by a thread that is awake.

use std::cell::Cell;
use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::parker::Parker;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

const LOCKED: usize = 1;
const SLEEPING: usize = 2;
const SPINNING: usize = 4;
const STACK_LOCKED: usize = 8;
const FLAGS: usize = LOCKED | SLEEPING | SPINNING | STACK_LOCKED;

/// Go's `mutexActiveSpinCount`, `mutexActiveSpinSize`, `mutexPassiveSpinCount`.
const ACTIVE_SPINS: u32 = 4;
const PAUSES_PER_SPIN: u32 = 30;
const PASSIVE_SPINS: u32 = 1;
/// Go's `mutexTailWakePeriod`: one in so many wakes takes the oldest sleeper.
const TAIL_WAKE_PERIOD: u32 = 16;

/// Go's lock since 1.24: see the [source file](self) for its bits.
#[derive(Debug)]
pub struct GoSpinbit<P: Platform> {
    word: P::AtomicUsize,
}

/// A thread's place in the stack of sleepers, aligned so that its address leaves room for flags.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    /// The next older sleeper.
    next: P::AtomicPtr<Node<P>>,
    parker: Parker<P>,
    /// How many releases of this thread had to look for sleepers; only its thread counts.
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
    /// The node on top of the stack, null if nobody sleeps.
    fn top(word: usize) -> *mut Self {
        ptr::with_exposed_provenance_mut(word & !FLAGS)
    }

    /// # Safety
    ///
    /// `node` was taken out of the stack by the caller and not woken since.
    unsafe fn wake(node: *mut Self) {
        // spec: Spinbit!Wake
        // SAFETY: its thread sleeps until it is woken, so the node is there; taking it out made this
        // thread the only one to do that.
        unsafe { Parker::unpark(&raw const (*node).parker) };
    }

    fn tail_wake_is_due(&self) -> bool {
        let count = self.slow_releases.get();
        self.slow_releases.set(count.wrapping_add(1));
        count.is_multiple_of(TAIL_WAKE_PERIOD)
    }

    /// Takes the oldest node of the stack under `top` out of it, unless it is `top` itself;
    /// returns it.
    ///
    /// # Safety
    ///
    /// The caller holds `STACK_LOCKED`, and has seen the push of `top`, which is not null.
    unsafe fn unlink_oldest(top: *mut Self) -> *mut Self {
        // spec: Spinbit!Pop
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
    /// Tries to acquire when `word` was seen unlocked.
    fn acquire(&self, word: usize, spinner: bool) -> bool {
        // spec: Spinbit!Take
        if !spinner {
            // The thread may have been woken from the stack, and there may be others left in it.
            return self.word.fetch_or(LOCKED | SLEEPING, Ordering::Acquire) & LOCKED == 0;
        }
        let mut next = (word & !(SPINNING | SLEEPING)) | LOCKED;
        if !Node::<P>::top(word).is_null() {
            next |= SLEEPING;
        }
        self.word.compare_exchange(word, next, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Pushes `node` if the word is still `word`; a spinner gives up its bit in the same step.
    fn push(&self, node: &Node<P>, word: usize, spinner: bool) -> bool {
        // spec: Spinbit!Push
        // Relaxed: nobody else knows the node yet; the exchange publishes both.
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
            // spec: Spinbit!Load
            let mut word = self.word.load(Ordering::Relaxed);
            if word & LOCKED == 0 {
                if self.acquire(word, spinner) {
                    return;
                }
            } else {
                if !spinner && word & SPINNING == 0 {
                    // spec: Spinbit!Announce
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
                    // spec: Spinbit!Park
                    node.parker.park();
                    // It waited at the end of the stack: the others came later and went first.
                    was_oldest = node.next.load(Ordering::Relaxed).is_null();
                    turn = 0;
                }
            }
            turn += 1;
        }
    }

    /// After a release that found `SLEEPING`: wakes one sleeper, unless somebody is awake.
    #[cold]
    fn unlock_slow(&self, releaser: &Node<P>) {
        let tail_wake = releaser.tail_wake_is_due();
        // spec: Spinbit!Look
        let mut word = self.word.load(Ordering::Relaxed);
        if word & SPINNING != 0 && !tail_wake {
            return;
        }
        loop {
            if Node::<P>::top(word).is_null() || word & STACK_LOCKED != 0 {
                return;
            }
            // spec: Spinbit!LockStack
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
        // A node that was taken out from below the top: whatever happens next, it must be woken.
        let mut promised: *mut Node<P> = ptr::null_mut();
        loop {
            let top = Node::<P>::top(word);
            let mut chosen = promised;
            if promised.is_null() {
                if tail_wake {
                    // SAFETY: this thread holds `STACK_LOCKED`, read `top` with `Acquire`, and
                    // nobody else takes nodes out: there was one and is.
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
            // spec: Spinbit!Pop
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
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Generic,
        source: "Go issue 68578 and runtime/lock_spinbit.go of Go 1.24",
        teaches: "One bit that says somebody spins lets releases skip the wake, and contention scale",
    };

    type Context = Node<P>;
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { word: AtomicInt::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, node: &Node<P>) {
        // spec: Spinbit!Attempt
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
        // spec: Spinbit!Release
        let before = self.word.fetch_and(!(LOCKED | SLEEPING), Ordering::Release);
        if before & SLEEPING != 0 {
            self.unlock_slow(node);
        }
    }

    fn is_idle(&mut self) -> bool {
        self.word.load(Ordering::Relaxed) == 0
    }
}
