//! Lock-order inversions are reported before they deadlock.

use std::panic::{self, AssertUnwindSafe};
use std::thread;
use std::time::Duration;

use ondeck::deadlock::{self, Mode, ReportKind, Want};
use ondeck::mutex::RawMutex;
use ondeck::{FairMutex, Mutex, Once, PiMutex, ReentrantMutex, RwLock, poison};

use crate::told::{detected, edges, mutexes, place, rw_place, take};

#[test]
fn two_orders_are_told_once_with_both_stacks() {
    let Some(told) = detected() else { return };
    let (left, right) = (Mutex::new(()), Mutex::new(()));
    let left_then_right = || {
        let _left = left.lock();
        let _right = right.lock();
    };
    left_then_right();
    told.none();
    for _ in 0..3 {
        drop((right.lock(), left.lock()));
    }
    let report = told.one(ReportKind::Inversion);
    let (l, r) = (place(&left), place(&right));
    assert_eq!(edges(&report), [(Some(r), l), (Some(l), r)]);
    let text = report.to_string();
    assert_eq!(text.matches("has Mutex").count(), 2, "{text}");
    assert_eq!(text.matches("wants to lock Mutex").count(), 2, "{text}");
    assert_eq!(text.matches("order::two_orders_are_told_once").count() % 4, 0, "{text}");
    assert!(text.contains("tests/deadlock/order.rs:"), "{text}");
    assert!(!text.contains("ondeck_deadlock::"), "{text}");
}

#[test]
fn a_report_has_the_names_of_locks() {
    static LEFT: Mutex<()> = Mutex::from_raw(RawMutex::named(c"left"), ());
    let Some(told) = detected() else { return };
    let right = RwLock::new(());
    ondeck::name(&right, c"right");
    drop((LEFT.lock(), right.write()));
    drop((right.write(), LEFT.lock()));
    let text = told.one(ReportKind::Inversion).to_string();
    let (left, right) = (place(&LEFT), rw_place(&right));
    for name in [format!("Mutex {left:#x} \"left\" "), format!("RwLock {right:#x} \"right\" ")] {
        assert_eq!(text.matches(&name).count(), 2, "{text}");
    }
}

#[test]
fn orders_of_other_threads_count_after_their_end() {
    let Some(told) = detected() else { return };
    let [left, right] = mutexes();
    thread::scope(|scope| {
        let first = || take(&[&left, &right]);
        thread::Builder::new().name("first".into()).spawn_scoped(scope, first).unwrap();
    });
    take(&[&right, &left]);
    let report = told.one(ReportKind::Inversion);
    assert_eq!(report.edges[1].thread.name(), "first");
    assert_ne!(report.edges[0].thread.tid, report.edges[1].thread.tid);
}

#[test]
fn three_orders_make_a_circle() {
    let Some(told) = detected() else { return };
    let locks @ [a, b, c] = &mutexes();
    for order in [[a, b], [b, c], [c, a]] {
        told.none();
        take(&order);
    }
    let report = told.one(ReportKind::Inversion);
    let [a, b, c] = locks.each_ref().map(place);
    assert_eq!(edges(&report), [(Some(c), a), (Some(a), b), (Some(b), c)]);
}

/// Acquires a lock, and runs a part of a test with it.
type With<'a> = dyn Fn(&dyn Fn()) + 'a;

#[test]
fn locks_of_all_kinds_make_circles() {
    let Some(told) = detected() else { return };
    let mutex = Mutex::new(());
    let (fair, pi, reentrant) = (FairMutex::new(()), PiMutex::new(()), ReentrantMutex::new(()));
    let (rw, once) = (RwLock::new(()), Once::new());
    let (poisoning, poisoning_rw) = (poison::Mutex::new(()), poison::RwLock::new(()));
    let with: [&With; 8] = [
        &|part| drop((fair.lock(), part())),
        &|part| drop((pi.lock(), part())),
        &|part| drop((reentrant.lock(), reentrant.lock(), part())),
        &|part| drop((rw.write(), part())),
        &|part| drop((rw.upgradable_read(), part())),
        &|part| drop((poisoning.lock(), part())),
        &|part| drop((poisoning_rw.write(), part())),
        // A closure that panics leaves it to be done.
        &|part| {
            _ = panic::catch_unwind(AssertUnwindSafe(|| {
                once.call_once_force(|_| {
                    part();
                    panic::resume_unwind(Box::new(()));
                });
            }));
        },
    ];
    for with in with {
        deadlock::disable();
        deadlock::enable(Mode::Report);
        with(&|| drop(mutex.lock()));
        let _mutex = mutex.lock();
        told.none();
        with(&|| ());
        told.one(ReportKind::Inversion);
    }
}

#[test]
fn an_upgrade_waits_behind_what_is_held() {
    let Some(told) = detected() else { return };
    let (mutex, rw) = (Mutex::new(()), RwLock::new(()));
    drop((rw.read(), mutex.lock()));
    let reads = rw.upgradable_read();
    told.none();
    drop((mutex.try_lock().expect("free"), ondeck::RwLockUpgradableReadGuard::upgrade(reads)));
    let report = told.one(ReportKind::Inversion);
    assert_eq!(report.edges[0].want, Want::Upgrade);
    let (m, r) = (place(&mutex), rw_place(&rw));
    assert_eq!(edges(&report), [(Some(m), r), (Some(r), m)]);
}

#[test]
fn a_lock_that_was_tried_for_is_held_like_others() {
    let Some(told) = detected() else { return };
    let (left, right) = (Mutex::new(()), Mutex::new(()));
    drop((left.try_lock().unwrap(), right.lock()));
    let _right = right.try_lock_for(Duration::from_secs(9)).unwrap();
    let _left = left.lock();
    told.one(ReportKind::Inversion);
}

#[test]
fn a_wait_for_a_condition_takes_the_mutex_again_behind_what_is_held() {
    let Some(told) = detected() else { return };
    let (mutex, other) = (Mutex::new(()), Mutex::new(()));
    let condvar = ondeck::Condvar::new();
    let mut guard = mutex.lock();
    let _other = other.lock();
    told.none();
    condvar.wait_for(&mut guard, Duration::from_millis(1));
    let report = told.one(ReportKind::Inversion);
    assert_eq!(edges(&report)[0], (Some(place(&other)), place(&mutex)));
}

#[test]
fn gates_that_differ_protect_nothing() {
    let Some(told) = detected() else { return };
    let [left, right, one, other] = &mutexes();
    for order in [[one, left, right], [other, right, left]] {
        told.none();
        take(&order);
    }
    told.one(ReportKind::Inversion);
}

#[test]
fn an_order_without_its_gate_is_another_one() {
    let Some(told) = detected() else { return };
    let [gate, left, right] = &mutexes();
    take(&[gate, left, right]);
    take(&[gate, right, left]);
    told.none();
    take(&[left, right]);
    told.one(ReportKind::Inversion);
}

/// A writer may wait in between.
#[test]
fn readers_in_two_orders_may_wait_for_each_other() {
    let Some(told) = detected() else { return };
    let (left, right) = (RwLock::new(()), RwLock::new(()));
    drop((left.read(), right.read()));
    let _right = right.read();
    told.none();
    let _left = left.read();
    told.one(ReportKind::Inversion);
}

#[test]
fn it_aborts_no_process_that_only_may_deadlock() {
    let Some(told) = detected() else { return };
    deadlock::enable(Mode::Abort);
    let (left, right) = (RwLock::new(()), Mutex::new(()));
    drop((left.write(), right.lock()));
    drop((right.lock(), left.write()));
    told.one(ReportKind::Inversion);
    let _read = left.read();
    let _again = left.read();
    told.one(ReportKind::RecursiveRead);
}

#[test]
fn an_inversion_after_more_orders_than_are_kept() {
    let Some(told) = detected() else { return };
    let outer = Mutex::new(());
    let many: Vec<_> = (0..33_000).map(|_| Mutex::new(())).collect();
    {
        let _outer = outer.lock();
        for mutex in &many {
            drop(mutex.lock());
        }
    }
    let [left, right] = &mutexes();
    take(&[left, right]);
    take(&[right, left]);
    told.one(ReportKind::Inversion);
}
