//! Every item that parking_lot 0.13 exports, used once.

use parking_lot::lock_api::{RawCondvar as _, RawCondvarTimed, RawRwLockTimed};
use parking_lot::{
    MappedRecursiveRwLockReadGuard, MappedRecursiveRwLockWriteGuard, Once, OnceState, RawCondvar,
    RawRwLockRecursive, RecursiveRwLock, RecursiveRwLockReadGuard,
    RecursiveRwLockUpgradableReadGuard, RecursiveRwLockWriteGuard,
};

#[path = "../../shared/tests/items.rs"]
mod items;

#[test]
fn a_recursive_lock_has_all_of_lock_api() {
    static LOCK: RecursiveRwLock<(u32, u32)> = RecursiveRwLock::new((1, 2));
    let outer: RecursiveRwLockReadGuard<'_, _> = LOCK.read();
    let inner: MappedRecursiveRwLockReadGuard<'_, u32> =
        RecursiveRwLockReadGuard::map(LOCK.read(), |it| &it.1);
    let upgradable: RecursiveRwLockUpgradableReadGuard<'_, _> = LOCK.upgradable_read();
    assert_eq!((outer.0, *inner), (1, 2));
    drop((outer, inner));
    let written: RecursiveRwLockWriteGuard<'_, _> =
        RecursiveRwLockUpgradableReadGuard::upgrade(upgradable);
    let part: MappedRecursiveRwLockWriteGuard<'_, u32> =
        RecursiveRwLockWriteGuard::map(written, |it| &mut it.1);
    assert!(LOCK.try_read().is_none());
    drop(part);
    assert!(!LOCK.is_locked());
}

#[test]
fn a_reader_beside_a_waiting_writer_reads_again() {
    static LOCK: RecursiveRwLock<u32> = RecursiveRwLock::new(1);
    let outer = LOCK.read();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| *LOCK.write() += 1);
        for _ in 0..1000 {
            drop(LOCK.read());
        }
        drop(outer);
        writer.join().expect("the writer ends");
    });
    assert_eq!(*LOCK.read(), 2);
}

#[test]
fn the_raw_locks_of_this_version_have_their_traits() {
    fn condvar<T: RawCondvarTimed<RawMutex = parking_lot::RawMutex>>(_: &T) {}
    fn timed<T: RawRwLockTimed>() {}
    let initial = RawCondvar::INIT;
    condvar(&initial);
    timed::<RawRwLockRecursive>();
    timed::<parking_lot::RawRwLock<false>>();
}

#[test]
fn a_once_may_be_made_done() {
    const STATE: bool = OnceState::Done.done();
    static ONCE: Once = Once::new_completed();
    ONCE.call_once(|| unreachable!());
    ONCE.wait();
    ONCE.wait_force();
    assert!(ONCE.is_completed() && ONCE.state().is_completed());
    assert!(!ONCE.state().is_poisoned());
    const { assert!(STATE) };
}
