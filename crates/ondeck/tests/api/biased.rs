//! The biased mutex as programs use it.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::biased::{Held, RawBiasedMutex};
use ondeck::parking::bucket_of;
use ondeck::platform::{Native, Platform};
use ondeck::{BiasedMutex, BiasedMutexGuard};

use super::watchdog;

type Raw = RawBiasedMutex<Native>;

const SHORT: Duration = Duration::from_millis(5);

/// Makes the lock biased to the calling thread. Returns whether it is.
///
/// It never is if the kernel refuses membarrier, or if the thread's row belonged to a thread that has forgotten a
/// guard in the same slot.
fn bias(raw: &Raw) -> bool {
    // The process grants only one permission per period.
    let begin = Instant::now();
    while !raw.is_biased() && begin.elapsed() < Duration::from_millis(500) {
        unlock(raw, raw.lock());
    }
    raw.is_biased()
}

/// Allocates a lock whose guard will be forgotten. Its address stays in a row forever, so a reader-writer lock of
/// another test at the same address would never be biased.
fn never_freed() -> &'static mut Raw {
    Box::leak(Box::default())
}

fn unlock(raw: &Raw, held: Held<Native>) {
    // SAFETY: each test releases what it has acquired.
    unsafe { raw.unlock(held) };
}

fn attempt(raw: &Raw) -> bool {
    raw.try_lock().map(|held| unlock(raw, held)).is_some()
}

#[test]
fn a_thread_that_has_it_again_and_again_becomes_its_owner() {
    let raw = Raw::new();
    assert_eq!(format!("{raw:?}"), "RawBiasedMutex { locked: false, biased: false }");
    if !bias(&raw) {
        return;
    }
    let held = raw.lock();
    assert!(held.is_by_bias() && raw.is_locked());
    unlock(&raw, held);
    assert!(!raw.is_locked());
    watchdog::scope(|scope| {
        scope.spawn(|| unlock(&raw, raw.lock()));
    });
    assert!(!raw.is_biased());
}

/// An owner and threads that arrive occasionally: no section is lost, and the lock changes its owner.
#[test]
fn the_owner_and_others_exclude_each_other() {
    let counts = BiasedMutex::new([0_u64; 2]);
    let add = || {
        let mut counts = counts.lock();
        counts[0] += 1;
        counts[1] += 1;
        assert_eq!(counts[0], counts[1]);
    };
    let ends = AtomicBool::new(false);
    let others: u64 = watchdog::scope(|scope| {
        let visitor = |pause: u32| {
            let mut sections = 0;
            while !ends.load(Ordering::Relaxed) {
                add();
                sections += 1;
                Native::pause_times(pause);
            }
            sections
        };
        let visitors = [10, 1_000, 100_000].map(|pause| scope.spawn(move || visitor(pause)));
        for _ in 0..300_000 {
            add();
        }
        ends.store(true, Ordering::Relaxed);
        visitors.into_iter().map(|visitor| visitor.join().unwrap()).sum()
    });
    assert_eq!(*counts.lock(), [300_000 + others; 2]);
}

/// Two locks that map to the same slot of each row.
fn two_of_one_slot(raws: &[Raw]) -> [&Raw; 2] {
    let slot = |raw: &Raw| bucket_of(std::ptr::from_ref(raw).addr()) % 8;
    let (outer, rest) = raws.split_first().unwrap();
    let inner = rest.iter().find(|raw| slot(raw) == slot(outer)).expect("eight slots, many locks");
    [outer, inner]
}

/// The thread acquires the inner lock repeatedly while it holds the other one by that slot.
#[test]
fn a_lock_is_not_biased_by_a_slot_that_another_one_has() {
    let raws: Vec<_> = (0..1_024).map(|_| Raw::new()).collect();
    let [outer, inner] = two_of_one_slot(&raws);
    bias(outer);
    let around = outer.lock();
    for _ in 0..100_000 {
        unlock(inner, inner.lock());
    }
    watchdog::scope(|scope| {
        scope.spawn(|| assert!(!attempt(outer), "two owners"));
    });
    unlock(outer, around);
    assert!(attempt(outer) && attempt(inner));
}

/// The owner acquired the mutex through the inner mutex, because another lock had its slot. The owner has unlocked
/// that lock since.
#[test]
fn an_owner_that_came_in_beside_its_slot_is_not_let_in_again() {
    let raws: Vec<_> = (0..1_024).map(|_| Raw::new()).collect();
    let [outer, inner] = two_of_one_slot(&raws);
    if !(bias(outer) && bias(inner)) {
        return;
    }
    let around = outer.lock();
    let within = inner.lock();
    assert!(around.is_by_bias() && !within.is_by_bias());
    unlock(outer, around);
    assert!(!attempt(inner));
    unlock(inner, within);
    assert!(attempt(inner) && attempt(outer));
}

#[test]
fn others_wait_for_an_owner_that_is_inside() {
    let raw = Raw::new();
    bias(&raw);
    let held = raw.lock();
    watchdog::scope(|scope| {
        scope.spawn(|| {
            assert!(!attempt(&raw));
            assert!(raw.try_lock_until(Native::now().after(SHORT)).is_none());
            assert!(!attempt(&raw));
        });
    });
    let has_left = AtomicBool::new(false);
    watchdog::scope(|scope| {
        scope.spawn(|| {
            let held = raw.lock();
            assert!(has_left.load(Ordering::Relaxed), "it was let in beside the owner");
            unlock(&raw, held);
        });
        thread::sleep(SHORT);
        has_left.store(true, Ordering::Relaxed);
        unlock(&raw, held);
    });
    assert!(attempt(&raw));
}

#[test]
fn a_forgotten_guard_leaves_it_locked() {
    let raw = never_freed();
    watchdog::scope(|scope| {
        scope.spawn(|| {
            bias(raw);
            let _never_unlocked = raw.lock();
        });
    });
    // Later threads may get the row.
    for _ in 0..3 {
        watchdog::scope(|scope| {
            scope.spawn(|| {
                assert!(raw.is_locked());
                assert!(!attempt(raw));
                assert!(raw.try_lock_until(Native::now().after(SHORT)).is_none());
            });
        });
    }
}

/// It is no longer borrowed, and may be moved. The slot has its old address.
#[test]
fn a_forgotten_guard_of_a_lock_that_is_moved() {
    let place = never_freed();
    if !bias(place) {
        return;
    }
    let never_unlocked = place.lock();
    assert!(never_unlocked.is_by_bias());
    let moved = std::mem::take(place);
    assert!(!moved.is_locked() && attempt(&moved));
    watchdog::scope(|scope| {
        scope.spawn(|| assert!(attempt(&moved)));
    });
}

/// Its memory is reused for another lock, which the same thread can use.
#[test]
fn a_forgotten_guard_of_a_lock_that_is_gone() {
    let place = never_freed();
    bias(place);
    let _never_unlocked = place.lock();
    *place = Raw::new();
    for _ in 0..1_000 {
        unlock(place, place.lock());
    }
    watchdog::scope(|scope| {
        scope.spawn(|| assert!(attempt(place)));
    });
    assert!(attempt(place));
}

/// The destructor of the thread's row has run, and no thread gets that row any more, because the guard is in it.
#[test]
fn a_guard_that_is_dropped_by_a_later_destructor() {
    static LOCK: BiasedMutex<u32> = BiasedMutex::new(0);
    thread_local! {
        static KEPT: RefCell<Option<BiasedMutexGuard<'static, u32>>> = const { RefCell::new(None) };
    }
    thread::spawn(|| {
        // Destructors run in the reverse order of registration: this one runs after the row's.
        KEPT.set(None);
        for _ in 0..100_000 {
            *LOCK.lock() += 1;
        }
        KEPT.set(Some(LOCK.lock()));
    })
    .join()
    .unwrap();
    assert_eq!(*LOCK.lock(), 100_000);
    assert!(LOCK.try_lock().is_some());
}
