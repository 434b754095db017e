//! Broken locks against the conformance suite: each fails the property that it breaks, and no other
//! where the mistake allows that.

#[macro_use]
#[path = "../src/adapter.rs"]
mod adapter;
#[path = "support/conformance.rs"]
mod conformance;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use conformance::{Failure, Limits, Property};
use ondeck::platform::{Linux, Platform};
use ondeck_zoo::{
    LockInfo, Origin, RawLock, SequenceCondvar, Waiting, locks,
};

const LIMITS: Limits =
    Limits { hang_after: Duration::from_secs(2), long_section: Duration::from_millis(900) };

/// A good lock inside most of the broken ones.
type Good = locks::ThreeStateFutex<Linux>;

const fn info(name: &'static str) -> LockInfo {
    LockInfo {
        name,
        origin: Origin::Literature,
        waiting: Waiting::Sleeps,
        source: "",
        teaches: "",
        ..LockInfo::USUAL
    }
}

/// Which properties `L` fails.
fn failures<L: RawLock<Linux>>() -> Vec<Failure> {
    let check = |property| conformance::check_property::<L>(property, LIMITS).err();
    let failures: Vec<_> = Property::OF_LOCKS.into_iter().filter_map(check).collect();
    for failure in &failures {
        println!("{failure}");
    }
    failures
}

/// `L` fails `property` and no other.
#[track_caller]
fn fails_only<L: RawLock<Linux>>(property: Property) {
    let failed: Vec<_> = failures::<L>().into_iter().map(|failure| failure.property).collect();
    assert_eq!(failed, [property], "{}", L::INFO.name);
}

/// `L` fails `property`, and the report contains `what`.
#[track_caller]
fn fails<L: RawLock<Linux>>(property: Property, what: &str) {
    let failure = conformance::check_property::<L>(property, LIMITS).expect_err("it is broken");
    assert_eq!((failure.lock, failure.property), (L::INFO.name, property));
    assert!(failure.what.contains(what), "{failure}");
    assert!(failure.to_string().starts_with(L::INFO.name));
}

/// Implements `RawLock` for a lock that is broken somewhere.
macro_rules! broken_lock {
    ($Lock:ident, $info:expr, $Context:ty, $new:expr, $($functions:tt)*) => {
        // SAFETY: untrue on purpose; used only to see the suite fail.
        raw_lock! {
            unsafe impl RawLock<Linux> for $Lock {
                INFO: $info,
                Context: $Context,
                Condvar: SequenceCondvar<Linux>,
                new: $new,
                $($functions)*
            }
        }
    };
}

/// Waits for `good`.
fn lock(good: &Good) {
    // SAFETY: no broken lock here waits for what its own thread holds.
    unsafe { good.lock(&()) };
}

fn try_lock(good: &Good) -> bool {
    // SAFETY: as above.
    unsafe { good.try_lock(&()) }
}

fn unlock(good: &Good) {
    // SAFETY: the broken locks call it when the thread has `good`, which they remember.
    unsafe { good.unlock(&()) };
}

#[test]
fn a_good_lock_fails_nothing() {
    assert!(failures::<Good>().is_empty());
    assert!(conformance::check::<Good>(LIMITS).is_ok());
}

// Exclusion.

struct Open;
broken_lock! {
    Open, info("open"), (), Open,
    lock: |_, ()| {},
    try_lock: |_, ()| false,
    unlock: |_, ()| {},
    is_idle: |_| true,
}

#[test]
fn a_lock_that_does_nothing_fails_exclusion() {
    fails::<Open>(Property::Exclusion, "two threads were in at once");
}

/// The number of waiters it has room for; one more is let in at once.
const ROOM: usize = 8;

struct Overflowing {
    good: Good,
    waiters: AtomicUsize,
}
broken_lock! {
    Overflowing, info("overflowing"), Cell<bool>,
    Overflowing { good: Good::new(), waiters: AtomicUsize::new(0) },
    lock: |this, intruder| {
        intruder.set(this.waiters.fetch_add(1, Ordering::Relaxed) > ROOM);
        if !intruder.get() {
            lock(&this.good);
        }
        this.waiters.fetch_sub(1, Ordering::Relaxed);
    },
    try_lock: |this, intruder| {
        intruder.set(false);
        try_lock(&this.good)
    },
    unlock: |this, intruder| if !intruder.get() { unlock(&this.good) },
    is_idle: |this| this.good.is_idle(),
}

#[test]
fn a_lock_with_room_for_eight_waiters_fails_only_exclusion() {
    fails_only::<Overflowing>(Property::Exclusion);
}

/// The unlock does nothing. Waiters sleep rather than spin, because the suite abandons them.
struct Kept(AtomicBool);
broken_lock! {
    Kept, info("kept"), (), Kept(AtomicBool::new(false)),
    lock: |this, ()| while this.0.swap(true, Ordering::Acquire) {
        thread::sleep(Duration::from_millis(50));
    },
    try_lock: |this, ()| !this.0.swap(true, Ordering::Acquire),
    unlock: |_, ()| {},
    is_idle: |this| !*this.0.get_mut(),
}

#[test]
fn an_unlock_that_does_not_release_is_reported_as_a_hang() {
    fails::<Kept>(Property::Exclusion, "no progress");
}

#[test]
fn the_whole_suite_ends_at_the_first_failure() {
    let failure = conformance::check::<Kept>(LIMITS).expect_err("it is broken");
    assert_eq!((failure.property, failure.threads), (Property::Exclusion, 1));
}

/// The three-state futex without the wake.
struct Wakeless(AtomicU32);
broken_lock! {
    Wakeless, info("wakeless"), (), Wakeless(AtomicU32::new(0)),
    lock: |this, ()| {
        if this.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            while this.0.swap(2, Ordering::Acquire) != 0 {
                let _ = Linux::futex_wait(&this.0, 2, None);
            }
        }
    },
    try_lock: |this, ()| {
        this.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    },
    unlock: |this, ()| this.0.store(0, Ordering::Release),
    is_idle: |this| *this.0.get_mut() == 0,
}

#[test]
fn a_lost_wake_is_reported_as_a_hang() {
    fails::<Wakeless>(Property::Exclusion, "no progress");
}

// Attempts.

/// A lock whose attempts are broken; the context remembers whether the thread has `good`.
macro_rules! broken_attempts {
    ($Lock:ident, $info:expr, |$good:ident, $owns:ident| $try:expr) => {
        struct $Lock(Good);
        broken_lock! {
            $Lock, $info, Cell<bool>, $Lock(Good::new()),
            lock: |this, owns| {
                lock(&this.0);
                owns.set(true);
            },
            try_lock: |this, $owns| {
                let $good = &this.0;
                $try
            },
            unlock: |this, owns| if owns.replace(false) { unlock(&this.0) },
            is_idle: |this| this.0.is_idle(),
        }
    };
}

broken_attempts! { AlwaysIn, info("always in"), |good, owns| {
    owns.set(try_lock(good));
    true
} }
broken_attempts! { NotKept, info("not kept"), |good, owns| {
    owns.set(false);
    let free = try_lock(good);
    if free {
        unlock(good);
    }
    free
} }
broken_attempts! { NeverIn, info("never in"), |_good, _owns| false }
broken_attempts! {
    Unannounced,
    LockInfo { has_try_lock: false, ..info("unannounced") },
    |good, owns| {
        owns.set(try_lock(good));
        owns.get()
    }
}
broken_attempts! { FailsButTakes, info("fails but takes"), |good, _owns| {
    let _ = try_lock(good);
    false
} }

#[test]
fn an_attempt_that_always_succeeds_fails_only_try_lock() {
    fails_only::<AlwaysIn>(Property::TryLock);
}

#[test]
fn an_attempt_that_does_not_keep_what_it_got_fails_only_try_lock() {
    fails_only::<NotKept>(Property::TryLock);
}

#[test]
fn an_attempt_that_never_succeeds_fails_only_try_lock() {
    fails_only::<NeverIn>(Property::TryLock);
}

#[test]
fn an_attempt_that_should_not_be_possible_fails_only_try_lock() {
    fails_only::<Unannounced>(Property::TryLock);
}

#[test]
fn an_attempt_that_takes_and_says_no_fails_try_lock() {
    fails::<FailsButTakes>(Property::TryLock, "failed on a free lock");
}

// The baton.

/// Only the thread that had the lock last acquires it, until that thread stays away for a while.
struct Captured {
    good: Good,
    /// The thread that had the lock last, 0 at first, and the time when it last came, in
    /// nanoseconds.
    captor: AtomicU64,
    came: AtomicU64,
}

const CAPTIVITY: Duration = Duration::from_millis(60);

fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! { static ID: u64 = NEXT.fetch_add(1, Ordering::Relaxed); }
    ID.with(|id| *id)
}

fn now() -> u64 {
    Linux::now().as_nanos()
}

broken_lock! {
    Captured, info("captured"), (),
    Captured { good: Good::new(), captor: AtomicU64::new(0), came: AtomicU64::new(0) },
    lock: |this, ()| loop {
        let captor = this.captor.load(Ordering::Relaxed);
        let away = now().saturating_sub(this.came.load(Ordering::Relaxed));
        let given_up = u128::from(away) > CAPTIVITY.as_nanos();
        if captor == 0 || captor == this_thread() || given_up {
            this.captor.store(this_thread(), Ordering::Relaxed);
            this.came.store(now(), Ordering::Relaxed);
            break lock(&this.good);
        }
        thread::sleep(Duration::from_millis(1));
    },
    try_lock: |this, ()| try_lock(&this.good),
    unlock: |this, ()| {
        this.came.store(now(), Ordering::Relaxed);
        unlock(&this.good);
    },
    is_idle: |this| this.good.is_idle(),
}

#[test]
fn a_lock_that_its_last_owner_never_shares_fails_only_the_baton() {
    fails_only::<Captured>(Property::Baton);
}

// Publication.

/// Declares an owner dead that holds it for long, and lets others in. Sections that overlap for
/// that reason see halves of each other's writes. A lock that excludes and only orders memory badly
/// cannot be made to fail for certain on x86-64; `loom_negative` covers that.
struct Leased {
    good: Good,
    /// When the present owner acquired.
    since: AtomicU64,
}

const LEASE: Duration = Duration::from_millis(400);

broken_lock! {
    Leased, info("leased"), Cell<bool>,
    Leased { good: Good::new(), since: AtomicU64::new(u64::MAX) },
    lock: |this, intruder| {
        loop {
            if try_lock(&this.good) {
                this.since.store(now(), Ordering::Relaxed);
                break intruder.set(false);
            }
            let held = now().saturating_sub(this.since.load(Ordering::Relaxed));
            if u128::from(held) > LEASE.as_nanos() {
                break intruder.set(true);
            }
            thread::yield_now();
        }
    },
    try_lock: |this, intruder| {
        let free = try_lock(&this.good);
        if free {
            this.since.store(now(), Ordering::Relaxed);
            intruder.set(false);
        }
        free
    },
    unlock: |this, intruder| if !intruder.get() {
        this.since.store(u64::MAX, Ordering::Relaxed);
        unlock(&this.good);
    },
    is_idle: |this| this.good.is_idle(),
}

#[test]
fn a_lock_that_breaks_in_after_a_while_fails_only_publication() {
    // Where other programs run, sections may by chance not overlap in one attempt.
    let failed = (0..5).map(|_| failures::<Leased>()).find(|failures| !failures.is_empty());
    let failed: Vec<_> = failed.into_iter().flatten().map(|failure| failure.property).collect();
    assert_eq!(failed, [Property::Publication]);
}

// Rest.

struct Marked {
    good: Good,
    mark: AtomicBool,
}
broken_lock! {
    Marked, info("marked"), (),
    Marked { good: Good::new(), mark: AtomicBool::new(false) },
    lock: |this, ()| if !try_lock(&this.good) {
        lock(&this.good);
        this.mark.store(true, Ordering::Relaxed);
    },
    try_lock: |this, ()| try_lock(&this.good),
    unlock: |this, ()| unlock(&this.good),
    is_idle: |this| this.good.is_idle() && !*this.mark.get_mut(),
}

#[test]
fn a_lock_that_keeps_a_mark_of_contention_fails_only_rest() {
    fails_only::<Marked>(Property::Rest);
}

struct BornMarked(Good);
broken_lock! {
    BornMarked, info("born marked"), (), BornMarked(Good::new()),
    lock: |this, ()| lock(&this.0),
    try_lock: |this, ()| try_lock(&this.0),
    unlock: |this, ()| unlock(&this.0),
    is_idle: |_| false,
}

#[test]
fn a_new_lock_that_is_not_idle_fails_rest() {
    fails::<BornMarked>(Property::Rest, "a new lock");
}

// The watchdog.

#[test]
fn a_hang_is_reported_after_the_patience_and_not_before() {
    let start = Instant::now();
    fails::<Kept>(Property::Rest, "no progress");
    assert!(start.elapsed() >= LIMITS.hang_after);
}
