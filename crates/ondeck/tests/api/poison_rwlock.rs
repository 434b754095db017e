//! The reader-writer lock that remembers a panic.

use std::panic;
use std::sync::TryLockError;

use ondeck::poison::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

use super::watchdog;

/// A lock whose writer panicked in the middle of a change.
fn poisoned() -> RwLock<u32> {
    let lock = RwLock::new(1);
    let half_way = panic::catch_unwind(|| {
        let mut guard = lock.write().expect("not yet");
        *guard = 2;
        panic!("on purpose");
    });
    assert!(half_way.is_err());
    lock
}

#[test]
fn readers_are_together_and_a_writer_alone() {
    let lock = RwLock::<u32>::default();
    *lock.write().expect("no panic") += 1;
    let first = lock.read().expect("no panic");
    assert_eq!(*first + *lock.try_read().expect("beside the first"), 2);
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    drop(first);
    let mut writer = lock.try_write().expect("alone");
    *writer += 1;
    assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
    let reader = RwLockWriteGuard::downgrade(writer);
    assert_eq!(*reader + *lock.try_read().expect("beside a reader"), 4);
    drop(reader);
    assert_eq!(lock.into_inner().expect("no panic"), 2);
}

#[test]
fn a_writer_poisons_and_a_reader_does_not() {
    let lock = poisoned();
    assert!(lock.is_poisoned());
    assert_eq!(**lock.read().expect_err("poisoned").get_ref(), 2);
    assert_eq!(**lock.write().expect_err("poisoned").get_ref(), 2);
    assert!(matches!(lock.try_read(), Err(TryLockError::Poisoned(_))));
    assert!(matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
    lock.clear_poison();
    let unwound = panic::catch_unwind(|| {
        let _guard = lock.read().expect("cleared");
        panic!("on purpose");
    });
    assert!(unwound.is_err() && !lock.is_poisoned());
    let mut lock = poisoned();
    assert_eq!(**lock.get_mut().expect_err("poisoned").get_ref(), 2);
    assert_eq!(lock.into_inner().expect_err("poisoned").into_inner(), 2);
}

#[test]
fn guards_of_a_part_are_like_those_of_the_whole() {
    let lock = RwLock::new((1, Some(2)));
    let whole = lock.read().expect("no panic");
    let whole = RwLockReadGuard::filter_map(whole, |_| None::<&u32>).expect_err("no such part");
    let part = RwLockReadGuard::filter_map(whole, |pair| pair.1.as_ref()).expect("there");
    let part = MappedRwLockReadGuard::map(part, |part| part);
    let part = MappedRwLockReadGuard::filter_map(part, |_| None::<&u32>).expect_err("none");
    assert_eq!(format!("{part:?} {part}"), "2 2");
    assert!(lock.try_read().is_ok() && lock.try_write().is_err());
    drop(RwLockReadGuard::map(lock.read().expect("no panic"), |pair| &pair.0));
    drop(part);
    let whole = lock.write().expect("no panic");
    let whole = RwLockWriteGuard::filter_map(whole, |_| None::<&mut u32>).expect_err("none");
    let mut part = RwLockWriteGuard::filter_map(whole, |pair| pair.1.as_mut()).expect("there");
    *part += 1;
    let part = MappedRwLockWriteGuard::map(part, |part| part);
    let part = MappedRwLockWriteGuard::filter_map(part, |_| None::<&mut u32>).expect_err("none");
    assert_eq!(format!("{part:?} {part}"), "3 3");
    assert!(lock.try_read().is_err());
    drop(part);
    assert!(lock.try_write().is_ok());
    let unwound = panic::catch_unwind(|| {
        let lock = lock.write().expect("not poisoned");
        drop(RwLockWriteGuard::map(lock, |_| -> &mut u32 { panic!("on purpose") }));
    });
    assert!(unwound.is_err() && lock.is_poisoned());
}

/// As the standard library's: a read guard of a longer reference is one of a shorter, and `map` has two arguments.
#[test]
fn its_guards_have_the_standard_librarys_types() {
    type Parts<'a, 'b> = (RwLockReadGuard<'a, &'b u32>, MappedRwLockReadGuard<'a, &'b u32>);
    fn shorter<'a>(guards: Parts<'a, 'static>, _: &'a u32) -> Parts<'a, 'a> {
        guards
    }
    fn is_sync(_: &impl Sync) {}
    let (lock, one) = (RwLock::new(&1), 1);
    let part = RwLockReadGuard::map::<&u32, _>(lock.read().expect("new"), |value| value);
    let guards = shorter((lock.read().expect("new"), part), &one);
    assert_eq!(**guards.0 + **guards.1, 2);
    is_sync(&guards);
    drop(guards);
    let part = RwLockWriteGuard::map::<&u32, _>(lock.write().expect("new"), |value| value);
    is_sync(&part);
    assert_eq!(**part, 1);
}

/// What both libraries print of the same.
#[test]
fn it_is_shown_as_the_standard_librarys() {
    let (ours, theirs) = (RwLock::from(vec![1]), std::sync::RwLock::from(vec![1]));
    let same = || {
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        assert_eq!(format!("{ours:#?}"), format!("{theirs:#?}"));
    };
    same();
    let (own, other) = (ours.read().expect("new"), theirs.read().expect("new"));
    same();
    assert_eq!(format!("{own:?}"), format!("{other:?}"));
    drop((own, other));
    let (own, other) = (ours.write().expect("new"), theirs.write().expect("new"));
    same();
    assert_eq!(format!("{own:?}"), format!("{other:?}"));
    drop((own, other));
    let unwound = panic::catch_unwind(|| {
        let _guards = (ours.write(), theirs.write());
        panic!("on purpose");
    });
    assert!(unwound.is_err());
    same();
}

#[test]
fn contended_changes_are_all_there() {
    let lock = RwLock::new(0);
    watchdog::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    *lock.write().expect("no panic") += 1;
                    assert!(*lock.read().expect("no panic") > 0);
                }
            });
        }
    });
    assert_eq!(lock.into_inner().expect("no panic"), 8_000);
}
