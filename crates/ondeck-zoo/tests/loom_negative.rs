//! Broken locks under the model checker. If it does not notice them, its approval is worth nothing.

#[macro_use]
#[path = "../src/adapter.rs"]
mod adapter;
#[path = "../../ondeck/tests/support/loom_platform.rs"]
mod loom_platform;
#[path = "support/loom_scenario.rs"]
mod loom_scenario;

use loom_platform::Loom;
use loom_scenario::{attempt, exclusion};
use ondeck::platform::{AtomicInt, Ordering, Platform};
use ondeck_zoo::{LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

const fn broken(name: &'static str) -> LockInfo {
    LockInfo {
        name,
        origin: Origin::Literature,
        waiting: Waiting::Spins,
        source: "",
        teaches: "",
        ..LockInfo::USUAL
    }
}

/// A test-and-set lock whose orderings are right, or relaxed.
struct Spinlock<const ACQUIRES: bool, const RELEASES: bool> {
    locked: <Loom as Platform>::AtomicU8,
}

impl<const ACQUIRES: bool, const RELEASES: bool> Spinlock<ACQUIRES, RELEASES> {
    const ACQUIRE: Ordering = if ACQUIRES { Ordering::Acquire } else { Ordering::Relaxed };
    const RELEASE: Ordering = if RELEASES { Ordering::Release } else { Ordering::Relaxed };
}

// SAFETY, as a lock: untrue on purpose unless both parameters are true; used only to see the model fail.
raw_lock! {
    unsafe impl [const ACQUIRES: bool, const RELEASES: bool] RawLock<Loom> for Spinlock<ACQUIRES, RELEASES> {
        INFO: broken("spinlock with weak orderings"),
        Context: (),
        Condvar: SequenceCondvar<Loom>,
        new: Self { locked: AtomicInt::new(0) },
        lock: |this, ()| while Loom::test_and_set(&this.locked, Self::ACQUIRE) {
            Loom::pause();
        },
        try_lock: |this, ()| !Loom::test_and_set(&this.locked, Self::ACQUIRE),
        unlock: |this, ()| this.locked.store(0, Self::RELEASE),
        is_idle: |this| this.locked.load(Ordering::Relaxed) == 0,
    }
}

#[test]
fn acquire_and_release_are_enough() {
    exclusion::<Spinlock<true, true>>(2, 2, 3);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_relaxed_release_is_noticed() {
    exclusion::<Spinlock<true, false>>(2, 2, 3);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_relaxed_acquisition_is_noticed() {
    exclusion::<Spinlock<false, true>>(2, 2, 3);
}

/// The three-state futex with one step left out.
struct Futex<const MISTAKE: u8> {
    word: <Loom as Platform>::AtomicU32,
}

const NO_MISTAKE: u8 = 0;
const UNLOCK_DOES_NOT_WAKE: u8 = 1;
/// A waiter that was woken acquires with 1, and so forgets the others that sleep.
const WAITER_ACQUIRES_UNMARKED: u8 = 2;
/// A waiter sleeps without having marked the word.
const WAITER_DOES_NOT_MARK: u8 = 3;

// SAFETY: excludes, but loses wakes on purpose; used only to see the model fail.
unsafe impl<const MISTAKE: u8> RawLock<Loom> for Futex<MISTAKE> {
    const INFO: LockInfo = broken("three-state futex that loses wakes");
    type Context = ();
    type Condvar = SequenceCondvar<Loom>;

    fn new() -> Self {
        Self { word: AtomicInt::new(0) }
    }
    unsafe fn lock(&self, (): &()) {
        // SAFETY: as the caller promises.
        if unsafe { self.try_lock(&()) } {
            return;
        }
        if MISTAKE == WAITER_DOES_NOT_MARK {
            // SAFETY: as above.
            while unsafe { !self.try_lock(&()) } {
                let _ = Loom::futex_wait(&self.word, 1, None);
            }
            return;
        }
        while self.word.swap(2, Ordering::Acquire) != 0 {
            let _ = Loom::futex_wait(&self.word, 2, None);
            // SAFETY: as above.
            if MISTAKE == WAITER_ACQUIRES_UNMARKED && unsafe { self.try_lock(&()) } {
                return;
            }
        }
    }
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
    unsafe fn unlock(&self, (): &()) {
        if self.word.swap(0, Ordering::Release) == 2 && MISTAKE != UNLOCK_DOES_NOT_WAKE {
            Loom::futex_wake(&raw const self.word, 1);
        }
    }
    fn is_idle(&mut self) -> bool {
        self.word.load(Ordering::Relaxed) == 0
    }
}

#[test]
fn the_futex_without_a_mistake_passes() {
    exclusion::<Futex<NO_MISTAKE>>(2, 2, 3);
    exclusion::<Futex<NO_MISTAKE>>(3, 1, 3);
}

#[test]
#[should_panic(expected = "deadlock")]
fn an_unlock_that_does_not_wake_is_noticed() {
    exclusion::<Futex<UNLOCK_DOES_NOT_WAKE>>(2, 2, 3);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_waiter_that_does_not_mark_is_noticed() {
    exclusion::<Futex<WAITER_DOES_NOT_MARK>>(2, 2, 3);
}

/// Needs two sleeping threads and an owner: two threads do not suffice.
#[test]
#[should_panic(expected = "deadlock")]
fn a_woken_waiter_that_forgets_the_others_is_noticed() {
    exclusion::<Futex<WAITER_ACQUIRES_UNMARKED>>(2, 2, 3);
    exclusion::<Futex<WAITER_ACQUIRES_UNMARKED>>(3, 1, 3);
}

/// A lock whose unlock leaves a trace.
struct Marked<L>(L, <Loom as Platform>::AtomicU32);

// SAFETY, as a lock: as `L`.
raw_lock! {
    unsafe impl [L: RawLock<Loom>] RawLock<Loom> for Marked<L> {
        INFO: broken("lock that leaves a mark"),
        Context: L::Context,
        Condvar: SequenceCondvar<Loom>,
        new: Self(L::new(), AtomicInt::new(0)),
        // SAFETY: as the caller promises.
        lock: |this, context| unsafe { this.0.lock(context) },
        // SAFETY: as the caller promises.
        try_lock: |this, context| unsafe { this.0.try_lock(context) },
        unlock: |this, context| {
            this.1.store(1, Ordering::Relaxed);
            // SAFETY: as the caller promises.
            unsafe { this.0.unlock(context) }
        },
        is_idle: |this| this.0.is_idle() && this.1.load(Ordering::Relaxed) == 0,
    }
}

#[test]
#[should_panic(expected = "a mark was left behind")]
fn a_mark_that_stays_is_noticed() {
    exclusion::<Marked<Futex<NO_MISTAKE>>>(2, 1, 2);
}

/// A lock whose attempts succeed without taking it.
struct Careless<L>(L);

// SAFETY, as a lock: untrue on purpose; used only to see the model fail.
raw_lock! {
    unsafe impl [L: RawLock<Loom>] RawLock<Loom> for Careless<L> {
        INFO: broken("lock whose attempts always succeed"),
        Context: L::Context,
        Condvar: SequenceCondvar<Loom>,
        new: Self(L::new()),
        // SAFETY: as the caller promises.
        lock: |this, context| unsafe { this.0.lock(context) },
        try_lock: |_, _| true,
        // SAFETY: as the caller promises.
        unlock: |this, context| unsafe { this.0.unlock(context) },
        is_idle: |this| this.0.is_idle(),
    }
}

#[test]
#[should_panic(expected = "Causality violation")]
fn an_attempt_that_always_succeeds_is_noticed() {
    attempt::<Careless<Futex<NO_MISTAKE>>>(3);
}
