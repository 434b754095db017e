//! Silencing of reports, and switching detection off.

use std::sync::atomic::{AtomicU32, Ordering};

use ondeck::deadlock::{self, Mode, ReportKind};
use ondeck::{AnyLock, FairMutex, Mutex, Once, PiMutex, ReentrantMutex, RwLock, poison};

use crate::told::{detected, take};

/// Takes two locks in both orders.
fn both_orders(left: &Mutex<()>, right: &Mutex<()>) {
    take(&[left, right]);
    take(&[right, left]);
}

#[test]
fn a_lock_that_is_ignored_is_in_no_report() {
    let Some(told) = detected() else { return };
    let (left, right) = (Mutex::new(()), Mutex::new(()));
    deadlock::ignore(&left);
    both_orders(&left, &right);
    told.none();
    deadlock::forget(&left);
    both_orders(&left, &right);
    told.one(ReportKind::Inversion);
}

#[test]
fn a_lock_in_the_place_of_an_ignored_one_is_another() {
    let Some(told) = detected() else { return };
    let right = Mutex::new(());
    for turn in 0..2 {
        let left = Mutex::new(());
        if turn == 0 {
            deadlock::disable();
            deadlock::ignore(&left);
        } else {
            deadlock::enable(Mode::Report);
            both_orders(&left, &right);
        }
    }
    told.one(ReportKind::Inversion);
}

#[test]
fn locks_of_all_kinds_can_be_ignored() {
    fn silent(lock: &impl AnyLock) {
        deadlock::ignore(lock);
    }
    let Some(told) = detected() else { return };
    let mutex = Mutex::new(());
    let (fair, pi, reentrant) = (FairMutex::new(()), PiMutex::new(()), ReentrantMutex::new(()));
    let (rw, once) = (RwLock::new(()), Once::new());
    let (poisoning, poisoning_rw) = (poison::Mutex::new(()), poison::RwLock::new(()));
    silent(&fair);
    silent(&pi);
    silent(&reentrant);
    silent(&rw);
    silent(&once);
    silent(&poisoning);
    silent(&poisoning_rw);
    for turn in 0..2 {
        let first = (turn == 1).then(|| mutex.lock());
        let _fair = fair.lock();
        let _pi = pi.lock();
        let _reentrant = reentrant.lock();
        let _rw = rw.read();
        let _rw = rw.read();
        let _poisoning = poisoning.lock().unwrap();
        let _poisoning_rw = poisoning_rw.write().unwrap();
        once.call_once(|| drop(mutex.try_lock()));
        let _last = first.is_none().then(|| mutex.lock());
    }
    told.none();
}

#[test]
fn a_part_of_the_program_can_be_ignored() {
    let Some(told) = detected() else { return };
    let (left, right, rw) = (Mutex::new(()), Mutex::new(()), RwLock::new(()));
    deadlock::with_ignored(|| both_orders(&left, &right));
    let _read = rw.read();
    deadlock::with_ignored(|| drop(rw.read()));
    told.none();
    both_orders(&left, &right);
    told.one(ReportKind::Inversion);
}

#[test]
fn locks_of_the_function_that_is_told_are_not_looked_at() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let Some(_told) = detected() else { return };
    deadlock::on_report(|_| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        let lock = RwLock::new(());
        let _outer = lock.read();
        let _inner = lock.read();
    });
    both_orders(&Mutex::new(()), &Mutex::new(()));
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
}

#[test]
fn a_lock_that_is_forgotten_was_never_taken() {
    let Some(told) = detected() else { return };
    let (left, right) = (Mutex::new(()), Mutex::new(()));
    take(&[&left, &right]);
    deadlock::forget(&right);
    take(&[&right, &left]);
    told.none();
}

#[test]
fn what_is_switched_off_detects_nothing_and_forgets() {
    let Some(told) = detected() else { return };
    let (left, right) = (Mutex::new(()), Mutex::new(()));
    let outer = left.lock();
    deadlock::disable();
    assert!(!deadlock::is_on());
    let inner = right.lock();
    drop(outer);
    deadlock::enable(Mode::Report);
    drop(inner);
    {
        // Held before or not, in one order only.
        let _right = right.lock();
        let _left = left.lock();
    }
    deadlock::disable();
    both_orders(&left, &right);
    deadlock::enable(Mode::Report);
    let _left = left.lock();
    let _right = right.lock();
    told.none();
}
