//! Linux' mutex: an owner word, a queue of threads that spin, and a list of those that sleep.
//!
//! Source: Linux, `kernel/locking/mutex.c`, by Ingo Molnar, Peter Zijlstra, Waiman Long, Jason Low, Davidlohr Bueso
//! and others. The owner word with its flags is that of 4.10 and later. The queue of the spinning threads is the one
//! of 3.10.
//!
//! Teaches: how a kernel joins spinning and sleeping. Threads spin while the owner runs, but in a queue of their own,
//! so that only one of them polls the word. A woken thread that finds the lock taken asks for a handoff.
//!
//! ```text
//! owner (usize):  node of the owner · PICKUP (4) · HANDOFF (2) · WAITERS (1)
//! spinners ─► [polls owner] ─next─► [waits for its turn] ─next─► null       an MCS queue, in order of arrival
//! first    ─► [asleep] ─newer─► [asleep] ◄─ last                            guarded by `list_locked`
//!
//! change of owner         made by                  operation
//! 0 → node                a thread that locks      compare-exchange; the flags stay
//! node, PICKUP → node     that node's thread       compare-exchange: it takes what it was handed
//! + WAITERS               a thread                 fetch-or, with the list locked, when it has joined the list
//! + HANDOFF               the first of the list    compare-exchange, if it was woken and finds the lock taken
//! node → 0                the owner                compare-exchange, if HANDOFF is clear; with WAITERS it
//!                                                  wakes the first of the list
//! node → first, PICKUP    the owner                compare-exchange, if HANDOFF is set, with the list locked: the
//!                                                  handoff, which clears HANDOFF
//! - all flags             a thread that leaves     fetch-and, with the list locked, if it was the only one
//!                         the list with the lock
//! ```
//!
//! # Differences from the source
//!
//! A kernel knows whether the owner runs, and whether the spinning thread's own time is over. A program does not. Here a
//! thread that polls does so for 20 µs and then sleeps. In the kernel since 3.15 a thread can also leave the
//! queue of the spinning threads from its middle ("optimistic spin queue"). For that it touches the node of the thread
//! before it, which is there because nodes belong to CPUs. Here they are contexts, which may be gone, so a thread waits for its
//! turn, as in 3.10; each before it polls for at most 20 µs.
//!
//! # Memory ordering
//!
//! An exchange that acquires is `Acquire`; the one that frees the owner word, or hands it to the first, is `Release`. These
//! pair. The word changes by read-modify-writes only, so flags that are set do not hide the pair. The list and what is
//! in it is `Relaxed` under `list_locked`, which is taken with `Acquire` and given back with `Release`. No wake is lost:
//! a thread sets WAITERS and `woken` to 0 and tries the lock for the last time with the list locked. An owner that
//! frees the word then sees the flag, and sets `woken` with the list locked, after that. The queue of the spinning
//! threads has the orderings of MCS: see `mcs.rs`.

use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

const WAITERS: usize = 1;
const HANDOFF: usize = 2;
const PICKUP: usize = 4;
const FLAGS: usize = WAITERS | HANDOFF | PICKUP;

/// A thread polls for so long: what stands here for "while the owner runs and this thread's time is not over".
const SPIN_NANOS: u32 = 20_000;

/// An owner word, spinning threads, sleeping threads: see the [source file](self).
#[derive(Debug)]
pub struct LinuxOsq<P: Platform> {
    owner: P::AtomicUsize,
    spinners: P::AtomicPtr<Node<P>>,
    list_locked: P::AtomicU8,
    first: P::AtomicPtr<Node<P>>,
    last: P::AtomicPtr<Node<P>>,
}

/// One thread's places in the queue and in the list, and what stands for it in the owner word.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    next_spinner: P::AtomicPtr<Node<P>>,
    /// 1 if it is this thread's turn to poll.
    is_turn: P::AtomicU8,
    older: P::AtomicPtr<Node<P>>,
    newer: P::AtomicPtr<Node<P>>,
    /// The futex: 0 while its thread sleeps or is about to.
    woken: P::AtomicU32,
}

impl<P: Platform> Default for Node<P> {
    fn default() -> Self {
        const { assert!(align_of::<Self>() > FLAGS, "the flags need the address's low bits") };
        let null = || AtomicPointer::new(ptr::null_mut());
        Self {
            next_spinner: null(),
            is_turn: AtomicInt::new(0),
            older: null(),
            newer: null(),
            woken: AtomicInt::new(0),
        }
    }
}

/// The owner word.
impl<P: Platform> LinuxOsq<P> {
    /// `__mutex_trylock_common` of the source: whether the lock is this thread's now. If not and `asks`, it has asked
    /// for a handoff.
    fn attempt(&self, node: &Node<P>, asks: bool) -> bool {
        let own = ptr::from_ref(node).addr();
        let mut word = self.owner.load(Ordering::Relaxed);
        loop {
            let (mut owner, mut flags) = (word & !FLAGS, word & FLAGS);
            if owner == 0 {
                owner = own;
            } else if flags & PICKUP != 0 && owner == own {
                flags &= !PICKUP;
            } else if flags & PICKUP == 0 && asks && flags & HANDOFF == 0 {
                flags |= HANDOFF;
            } else {
                return false;
            }
            let success = Ordering::Acquire;
            match self.owner.compare_exchange(word, owner | flags, success, Ordering::Relaxed) {
                Ok(_) => return owner == own,
                Err(now) => word = now,
            }
        }
    }

    #[cold]
    fn unlock_slow(&self) {
        let mut word = self.owner.load(Ordering::Relaxed);
        while word & HANDOFF == 0 {
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            match self.owner.compare_exchange(word, word & FLAGS, success, failure) {
                Ok(_) if word & WAITERS == 0 => return,
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        self.lock_list();
        let first = self.first.load(Ordering::Relaxed);
        // SAFETY: null, or in the list, which its thread leaves only with the list locked.
        let wakes = unsafe { first.as_ref() }.map(|first| {
            if word & HANDOFF != 0 {
                self.hand_off(first);
            }
            (&raw const first.woken, first.woken.swap(1, Ordering::Relaxed) == 0)
        });
        self.unlock_list();
        // Only the address is used from here on.
        if let Some((address, true)) = wakes {
            P::futex_wake(address, 1);
        }
    }

    /// Makes the first of the list the owner. The flag HANDOFF says that it is there and has asked.
    fn hand_off(&self, first: &Node<P>) {
        let new = ptr::from_ref(first).addr() | PICKUP;
        let mut word = self.owner.load(Ordering::Relaxed);
        while let Err(now) = self.owner.compare_exchange(
            word,
            new | (word & WAITERS),
            Ordering::Release,
            Ordering::Relaxed,
        ) {
            word = now;
        }
    }
}

/// Threads that spin.
impl<P: Platform> LinuxOsq<P> {
    /// Polls for the lock for a while.
    fn poll(&self, node: &Node<P>, asks: bool) -> bool {
        let begin = P::ticks();
        let most = P::ticks_in(SPIN_NANOS) as u64;
        while P::ticks().wrapping_sub(begin) < most {
            if self.attempt(node, asks) {
                return true;
            }
            P::pause();
        }
        false
    }

    /// Waits for this thread's turn, and polls.
    fn spin_in_turn(&self, node: &Node<P>) -> bool {
        let own = ptr::from_ref(node).cast_mut();
        node.next_spinner.store(ptr::null_mut(), Ordering::Relaxed);
        node.is_turn.store(0, Ordering::Relaxed);
        let before = self.spinners.swap(own, Ordering::AcqRel);
        // SAFETY: null, or the thread before cannot leave the queue, and so its node stays, before it has
        // seen the store.
        if let Some(before) = unsafe { before.as_ref() } {
            before.next_spinner.store(own, Ordering::Release);
            while node.is_turn.load(Ordering::Acquire) == 0 {
                P::pause();
            }
        }
        let locked = self.poll(node, false);
        let mut next = node.next_spinner.load(Ordering::Acquire);
        if next.is_null()
            && self
                .spinners
                .compare_exchange(own, ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
                .is_ok()
        {
            return locked;
        }
        while next.is_null() {
            P::pause();
            next = node.next_spinner.load(Ordering::Acquire);
        }
        // SAFETY: its thread waits for this store, and its node is not touched after that.
        unsafe { &*next }.is_turn.store(1, Ordering::Release);
        locked
    }
}

/// Threads that sleep.
impl<P: Platform> LinuxOsq<P> {
    fn lock_list(&self) {
        while P::test_and_set(&self.list_locked, Ordering::Acquire) {
            P::pause();
        }
    }

    fn unlock_list(&self) {
        self.list_locked.store(0, Ordering::Release);
    }

    /// With the list locked.
    fn join(&self, node: &Node<P>) {
        let own = ptr::from_ref(node).cast_mut();
        let last = self.last.load(Ordering::Relaxed);
        node.older.store(last, Ordering::Relaxed);
        node.newer.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: null, or in the list, which its thread leaves only with the list locked.
        match unsafe { last.as_ref() } {
            Some(last) => last.newer.store(own, Ordering::Relaxed),
            None => self.first.store(own, Ordering::Relaxed),
        }
        self.last.store(own, Ordering::Relaxed);
        self.owner.fetch_or(WAITERS, Ordering::Relaxed);
    }

    /// With the list locked, as the owner of the lock.
    fn leave(&self, node: &Node<P>) {
        let (older, newer) =
            (node.older.load(Ordering::Relaxed), node.newer.load(Ordering::Relaxed));
        // SAFETY: null, or in the list, too.
        match unsafe { older.as_ref() } {
            Some(older) => older.newer.store(newer, Ordering::Relaxed),
            None => self.first.store(newer, Ordering::Relaxed),
        }
        // SAFETY: as above.
        match unsafe { newer.as_ref() } {
            Some(newer) => newer.older.store(older, Ordering::Relaxed),
            None => self.last.store(older, Ordering::Relaxed),
        }
        if older.is_null() && newer.is_null() {
            self.owner.fetch_and(!FLAGS, Ordering::Relaxed);
        }
    }

    #[cold]
    fn lock_slow(&self, node: &Node<P>) {
        if self.spin_in_turn(node) {
            return;
        }
        self.lock_list();
        self.join(node);
        loop {
            node.woken.store(0, Ordering::Relaxed);
            if self.attempt(node, false) {
                break;
            }
            self.unlock_list();
            while node.woken.load(Ordering::Relaxed) == 0 {
                // Every outcome means the same: read the word again.
                let _ = P::futex_wait(&node.woken, 0, None);
            }
            // A thread is woken only as the first, and the first alone polls out of turn.
            let locked = self.poll(node, true);
            self.lock_list();
            if locked {
                break;
            }
        }
        self.leave(node);
        self.unlock_list();
    }
}

// SAFETY: a thread returns from `lock` after an exchange that found no owner, or found that it was handed the
// lock, and made it the owner. Only the owner frees the word or hands it to another.
unsafe impl<P: Platform> RawLock<P> for LinuxOsq<P> {
    const INFO: LockInfo = LockInfo {
        name: "linux_osq",
        origin: Origin::Literature,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Generic,
        source: "Linux, kernel/locking/mutex.c; the queue of spinning threads is that of 3.10",
        teaches: "Spinning threads queue for the right to poll, and a woken one that is beaten asks for a handoff",
    };

    type Context = Node<P>;
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        let null = || AtomicPointer::new(ptr::null_mut());
        Self {
            owner: AtomicInt::new(0),
            spinners: null(),
            list_locked: AtomicInt::new(0),
            first: null(),
            last: null(),
        }
    }

    #[inline]
    unsafe fn lock(&self, node: &Node<P>) {
        let own = ptr::from_ref(node).addr();
        if self.owner.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.lock_slow(node);
        }
    }

    #[inline]
    unsafe fn try_lock(&self, node: &Node<P>) -> bool {
        self.attempt(node, false)
    }

    #[inline]
    unsafe fn unlock(&self, node: &Node<P>) {
        let own = ptr::from_ref(node).addr();
        if self.owner.compare_exchange(own, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.unlock_slow();
        }
    }

    fn is_idle(&mut self) -> bool {
        let is_null = |word: &P::AtomicPtr<Node<P>>| word.load(Ordering::Relaxed).is_null();
        self.owner.load(Ordering::Relaxed) == 0
            && self.list_locked.load(Ordering::Relaxed) == 0
            && [&self.spinners, &self.first, &self.last].into_iter().all(is_null)
    }
}
