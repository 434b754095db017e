//! Reads within reads are reported, whether or not a writer waits.

use ondeck::deadlock::{ReportKind, Want};
use ondeck::{RwLock, RwLockWriteGuard, poison};

use crate::told::{detected, edges, rw_place};

#[test]
fn a_read_within_a_read_is_told_once() {
    let Some(told) = detected() else { return };
    let lock = RwLock::new(());
    for _ in 0..3 {
        drop((lock.read(), lock.read()));
    }
    let report = told.one(ReportKind::RecursiveRead);
    let place = rw_place(&lock);
    assert_eq!(edges(&report), [(Some(place), place)]);
    let text = report.to_string();
    assert!(text.contains("locked to read at") && text.contains("wants to read"), "{text}");
}

#[test]
fn an_upgradable_read_within_a_read() {
    let Some(told) = detected() else { return };
    let lock = RwLock::new(());
    let _outer = lock.try_read().unwrap();
    let _inner = lock.upgradable_read();
    let report = told.one(ReportKind::RecursiveRead);
    assert_eq!(report.edges[0].want, Want::Upgradable);
}

#[test]
fn a_read_after_a_downgrade_and_within_one_with_poisoning() {
    let Some(told) = detected() else { return };
    let lock = RwLock::new(());
    let _outer = RwLockWriteGuard::downgrade(lock.write());
    let inner = lock.read();
    told.one(ReportKind::RecursiveRead);
    drop(inner);
    let lock = poison::RwLock::new(());
    let _outer = lock.read().unwrap();
    let _inner = lock.read().unwrap();
    told.one(ReportKind::RecursiveRead);
}
