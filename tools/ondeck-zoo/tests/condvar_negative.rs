//! Broken condition variables. If the model checker and the conformance suite do not notice them,
//! their approval is worth nothing.

#[macro_use]
#[path = "../src/adapter.rs"]
mod adapter;
#[path = "support/conformance.rs"]
mod conformance;
#[path = "support/loom_condvars.rs"]
mod loom_condvars;
#[macro_use]
#[path = "support/noticed.rs"]
mod noticed;
#[path = "../../../locks/ondeck/tests/support/loom_platform.rs"]
mod loom_platform;

use std::time::Duration;

use conformance::{Property, check};
use loom_condvars::{Give, Notify, permits};
use loom_platform::Loom;
use ondeck::platform::{AtomicInt, Linux, Ordering, Platform};
use ondeck_zoo::locks::lockless_condvar::{LocklessCondvar, LocklessMutex};
use ondeck_zoo::locks::{LocklessFourState, LocklessThreeState, ThreeStateFutex};
use ondeck_zoo::{CondvarKind, LockInfo, RawCondvar, RawLock};

const NO_MISTAKE: u8 = 0;
const NOTIFY_DOES_NOT_WAKE: u8 = 1;
/// A waiter between its read of the sequence and its sleep misses the notification.
const NOTIFY_DOES_NOT_COUNT: u8 = 2;
/// The waiter sleeps while the sequence has the value from after the unlock.
const SEQUENCE_READ_AFTER_UNLOCK: u8 = 3;
/// A notifier may find no waiter although there is one.
const WAITER_COUNTED_AFTER_UNLOCK: u8 = 4;
const NOTIFY_ALL_WAKES_ONE: u8 = 5;
const WAIT_DOES_NOT_LOCK: u8 = 6;

/// `SequenceCondvar`, with a mistake.
struct Broken<P: Platform, const MISTAKE: u8> {
    sequence: P::AtomicU32,
    waiters: P::AtomicU32,
}

impl<P: Platform, const MISTAKE: u8> Broken<P, MISTAKE> {
    fn notify(&self, count: u32) {
        if self.waiters.load(Ordering::Relaxed) == 0 {
            return;
        }
        if MISTAKE != NOTIFY_DOES_NOT_COUNT {
            self.sequence.fetch_add(1, Ordering::Relaxed);
        }
        if MISTAKE != NOTIFY_DOES_NOT_WAKE {
            P::futex_wake(&raw const self.sequence, count);
        }
    }
}

// SAFETY: untrue on purpose unless there is no mistake; used only to see the checks fail.
unsafe impl<P: Platform, const MISTAKE: u8> RawCondvar<P, Lock<P, MISTAKE>> for Broken<P, MISTAKE> {
    fn new() -> Self {
        Self { sequence: AtomicInt::new(0), waiters: AtomicInt::new(0) }
    }

    unsafe fn wait(&self, lock: &Lock<P, MISTAKE>, (): &()) {
        let count = || self.waiters.fetch_add(1, Ordering::Relaxed);
        let read = || self.sequence.load(Ordering::Relaxed);
        if MISTAKE != WAITER_COUNTED_AFTER_UNLOCK {
            count();
        }
        let mut seen = read();
        // SAFETY: as the caller promises.
        unsafe { lock.unlock(&()) };
        match MISTAKE {
            WAITER_COUNTED_AFTER_UNLOCK => _ = count(),
            SEQUENCE_READ_AFTER_UNLOCK => seen = read(),
            _ => {}
        }
        let _ = P::futex_wait(&self.sequence, seen, None);
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        if MISTAKE != WAIT_DOES_NOT_LOCK {
            // SAFETY: unlocked above.
            unsafe { lock.lock(&()) };
        }
    }

    fn notify_one(&self) {
        self.notify(1);
    }

    fn notify_all(&self) {
        self.notify(if MISTAKE == NOTIFY_ALL_WAKES_ONE { 1 } else { u32::MAX });
    }
}

/// Implements `RawLock` for a wrapper of a good lock, with another condition variable.
macro_rules! lock_with_condvar {
    ($Lock:ty, [$($parameters:tt)*], $name:literal, $Good:ty, $Condvar:ty) => {
        // SAFETY, as a lock: it excludes as the good lock does.
        raw_lock! {
            unsafe impl [$($parameters)*] RawLock<P> for $Lock {
                INFO: LockInfo {
                    name: $name,
                    condvar: CondvarKind::Own,
                    ..<$Good as RawLock<P>>::INFO
                },
                Condvar: $Condvar,
                new: Self(RawLock::new()),
                // SAFETY: as the caller promises.
                lock: |this, ()| unsafe { this.0.lock(&()) },
                // SAFETY: as the caller promises.
                try_lock: |this, ()| unsafe { this.0.try_lock(&()) },
                // SAFETY: as the caller promises.
                unlock: |this, ()| unsafe { this.0.unlock(&()) },
                is_idle: |this| this.0.is_idle(),
            }
        }
    };
}

struct Lock<P: Platform, const MISTAKE: u8>(ThreeStateFutex<P>);
lock_with_condvar! {
    Lock<P, MISTAKE>, [P: Platform, const MISTAKE: u8],
    "lock with a broken condvar", ThreeStateFutex<P>, Broken<P, MISTAKE>
}

/// A Lockless mutex that a thread does not leave marked as contended after a wait.
struct Unmarked<L>(L);
lock_with_condvar! {
    Unmarked<L>, [P: Platform, L: LocklessMutex<P> + RawLock<P, Context = ()>],
    "lock that is not left contended", L, LocklessCondvar<P>
}

impl<P: Platform, L: LocklessMutex<P> + RawLock<P, Context = ()>> LocklessMutex<P> for Unmarked<L> {
    fn wait_word(&self) -> &P::AtomicU32 {
        self.0.wait_word()
    }
    unsafe fn lock_contended(&self, (): &()) {
        // SAFETY: as the caller promises.
        unsafe { self.0.lock(&()) };
    }
}

// Under the model checker.

fn model<const MISTAKE: u8>(takers: u32, give: Give, when: Notify) {
    permits::<Lock<Loom, MISTAKE>>(takers, 1, give, when, 3);
}

#[test]
fn the_condvar_without_a_mistake_passes_the_model() {
    model::<NO_MISTAKE>(2, Give::EachAlone, Notify::WithTheLock);
    model::<NO_MISTAKE>(2, Give::AllAtOnce, Notify::AfterUnlock);
}

noticed! {
    fn a_notification_that_does_not_wake_is_noticed, "deadlock" =>
        model::<NOTIFY_DOES_NOT_WAKE>(1, Give::EachAlone, Notify::WithTheLock);
    fn a_notification_that_does_not_count_is_noticed, "deadlock" =>
        model::<NOTIFY_DOES_NOT_COUNT>(1, Give::EachAlone, Notify::AfterUnlock);
    fn a_sequence_that_is_read_after_the_unlock_is_noticed, "deadlock" =>
        model::<SEQUENCE_READ_AFTER_UNLOCK>(1, Give::EachAlone, Notify::WithTheLock);
    fn a_waiter_that_is_counted_after_the_unlock_is_noticed, "deadlock" =>
        model::<WAITER_COUNTED_AFTER_UNLOCK>(1, Give::EachAlone, Notify::AfterUnlock);
    fn a_notification_of_all_that_wakes_one_is_noticed, "deadlock" =>
        model::<NOTIFY_ALL_WAKES_ONE>(2, Give::AllAtOnce, Notify::WithTheLock);
    fn a_wait_that_does_not_lock_again_is_noticed, "Causality violation" =>
        model::<WAIT_DOES_NOT_LOCK>(1, Give::EachAlone, Notify::WithTheLock);
    /// Needs two waiters: one that leaves the mutex without waking, and one that was moved to it.
    fn three_states_that_are_not_left_contended_are_noticed, "deadlock" => {
        let when = Notify::WithTheLock;
        permits::<Unmarked<LocklessThreeState<Loom>>>(1, 1, Give::AllAtOnce, when, 3);
        permits::<Unmarked<LocklessThreeState<Loom>>>(2, 1, Give::AllAtOnce, when, 3);
    };
    fn four_states_that_are_not_left_contended_are_noticed, "deadlock" => {
        let when = Notify::WithTheLock;
        permits::<Unmarked<LocklessFourState<Loom>>>(1, 1, Give::AllAtOnce, when, 3);
        permits::<Unmarked<LocklessFourState<Loom>>>(2, 1, Give::AllAtOnce, when, 3);
    };
}

// On the real machine.

#[track_caller]
fn hangs<L: RawLock<Linux>>(property: Property) {
    let told = check::<L>(property, Duration::from_secs(2)).expect_err("it is broken");
    assert!(told.contains("no progress"), "{told}");
}

#[test]
fn the_condvar_without_a_mistake_passes_the_suite() {
    for property in Property::ALL {
        check::<Lock<Linux, NO_MISTAKE>>(property, Duration::from_mins(1)).expect("it is right");
    }
}

#[test]
fn a_condvar_that_does_not_wake_hangs() {
    hangs::<Lock<Linux, NOTIFY_DOES_NOT_WAKE>>(Property::Queue);
    hangs::<Lock<Linux, NOTIFY_DOES_NOT_WAKE>>(Property::Broadcast);
}

#[test]
fn a_condvar_that_wakes_one_for_all_hangs_only_in_broadcast() {
    type L = Lock<Linux, NOTIFY_ALL_WAKES_ONE>;
    check::<L>(Property::Queue, Duration::from_mins(1)).expect("one is enough");
    hangs::<L>(Property::Broadcast);
}

#[test]
fn a_mutex_that_is_not_left_contended_hangs_in_broadcast() {
    hangs::<Unmarked<LocklessThreeState<Linux>>>(Property::Broadcast);
    hangs::<Unmarked<LocklessFourState<Linux>>>(Property::Broadcast);
}
