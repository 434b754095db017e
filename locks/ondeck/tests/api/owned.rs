//! Owned guards of a part of the data, as programs use them.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ondeck::{
    ArcFairMutexGuard, ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard,
    ArcRwLockWriteGuard, FairMutex, MapArc, MapArcShared, MappedArcGuard, Mutex, ReentrantMutex,
    RwLock,
};

#[test]
fn a_guard_of_a_part_is_the_last_owner_of_its_lock() {
    let weak = Arc::new(());
    let mutex = Arc::new(Mutex::new((weak.clone(), String::from("a"))));
    let text: MappedArcGuard<_, String> = ArcMutexGuard::map(mutex.lock_arc(), |pair| &mut pair.1);
    assert!(mutex.is_locked());
    drop(mutex);
    // A guard of a part of the part, elsewhere in memory.
    let mut text = Box::new(MapArc::map(text, String::as_mut_str));
    text.make_ascii_uppercase();
    assert_eq!(format!("{text:?}"), r#""A""#);
    assert_eq!(Arc::strong_count(&weak), 2);
    drop(text);
    assert_eq!(Arc::strong_count(&weak), 1);
}

#[test]
fn a_part_that_is_not_there_leaves_the_guard() {
    let mutex = Arc::new(FairMutex::new(None));
    let Err(mut guard) = ArcFairMutexGuard::try_map(mutex.lock_arc(), Option::as_mut) else {
        panic!("there is a part")
    };
    assert!(mutex.is_locked());
    *guard = Some(1);
    let Ok(mut part) = MapArc::try_map(guard, Option::as_mut) else { panic!("there is no part") };
    *part += 1;
    drop(part);
    assert_eq!(mutex.try_lock().as_deref(), Some(&Some(2)));
}

#[test]
fn readers_share_parts_and_writers_do_not() {
    let lock = Arc::new(RwLock::new([1, 2]));
    let parts = [0, 1].map(|part| ArcRwLockReadGuard::map(lock.read_arc(), move |all| &all[part]));
    assert_eq!([*parts[0], *parts[1]], [1, 2]);
    assert!(lock.try_write().is_none());
    drop(parts);
    let mut part = ArcRwLockWriteGuard::map(lock.write_arc(), |all| &mut all[1]);
    assert!(lock.try_read().is_none());
    *part = 3;
    drop(part);
    assert_eq!(*lock.read(), [1, 3]);
}

#[test]
fn a_reentrant_mutex_gives_parts_and_the_whole() {
    let mutex = Arc::new(ReentrantMutex::new((Cell::new(1), Cell::new(2))));
    let part = ArcReentrantMutexGuard::map(mutex.lock_arc(), |pair| &pair.1);
    part.set(mutex.lock().0.get());
    assert!(mutex.is_owned_by_current_thread());
    drop(part);
    assert!(!mutex.is_locked());
}

#[test]
fn a_panic_while_a_part_is_chosen_unlocks() {
    let mutex = Arc::new(Mutex::new(0));
    let guard = mutex.lock_arc();
    let chosen = catch_unwind(AssertUnwindSafe(|| {
        drop(ArcMutexGuard::map(guard, |_| panic!()) as MappedArcGuard<_, u8>);
    }));
    assert!(chosen.is_err() && !mutex.is_locked());
}
