//! Uses each item that both parking_lot 0.12 and 0.13 export once. It also passes with the
//! originals: `ci/dropin.sh` compiles it against them.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::lock_api::{
    GetThreadId, RawMutex as _, RawMutexFair, RawMutexTimed, RawRwLock as _, RawRwLockDowngrade,
    RawRwLockFair, RawRwLockTimed, RawRwLockUpgrade, RawRwLockUpgradeDowngrade,
    RawRwLockUpgradeFair, RawRwLockUpgradeTimed,
};
use parking_lot::{
    Condvar, FairMutex, FairMutexGuard, MappedFairMutexGuard, MappedMutexGuard,
    MappedReentrantMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard, Mutex, MutexGuard,
    Once, OnceState, RawFairMutex, RawMutex, RawRwLock, RawThreadId, ReentrantMutex,
    ReentrantMutexGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
    WaitTimeoutResult,
};

const MOMENT: Duration = Duration::from_millis(1);

fn soon() -> Instant {
    Instant::now() + MOMENT
}

#[test]
fn a_mutex_has_all_of_lock_api() {
    static LOCK: Mutex<(u32, u32)> = Mutex::new((1, 2));
    let guard: MutexGuard<'_, _> = LOCK.lock();
    assert!(LOCK.is_locked() && LOCK.try_lock().is_none());
    assert!(LOCK.try_lock_for(MOMENT).is_none() && LOCK.try_lock_until(soon()).is_none());
    let mut part: MappedMutexGuard<'_, u32> = MutexGuard::map(guard, |pair| &mut pair.1);
    *part += 1;
    MappedMutexGuard::unlock_fair(part);
    let mut guard = LOCK.lock();
    MutexGuard::bump(&mut guard);
    MutexGuard::unlocked(&mut guard, || assert!(!LOCK.is_locked()));
    MutexGuard::unlocked_fair(&mut guard, || assert!(!LOCK.is_locked()));
    assert_eq!(*guard, (1, 3));
    MutexGuard::unlock_fair(guard);
    assert!(!LOCK.is_locked());
    assert_eq!(format!("{:?}", Mutex::new(1)), "Mutex { data: 1 }");
    assert_eq!(Mutex::from(5).into_inner() + *Mutex::new(1).get_mut(), 6);
}

#[test]
fn a_fair_mutex_has_all_of_lock_api() {
    static LOCK: FairMutex<(u32, u32)> = FairMutex::new((1, 2));
    let guard: FairMutexGuard<'_, _> = LOCK.lock();
    assert!(LOCK.try_lock().is_none() && LOCK.try_lock_for(MOMENT).is_none());
    let part: MappedFairMutexGuard<'_, u32> = FairMutexGuard::map(guard, |pair| &mut pair.1);
    assert_eq!(*part, 2);
    drop(part);
    let mut guard = LOCK.lock();
    FairMutexGuard::bump(&mut guard);
    FairMutexGuard::unlock_fair(guard);
    assert!(!LOCK.is_locked());
}

#[test]
fn a_reentrant_mutex_has_all_of_lock_api() {
    static LOCK: ReentrantMutex<(u32, u32)> = ReentrantMutex::new((1, 2));
    let outer: ReentrantMutexGuard<'_, _> = LOCK.lock();
    let inner: MappedReentrantMutexGuard<'_, u32> =
        ReentrantMutexGuard::map(LOCK.lock(), |it| &it.1);
    assert!(LOCK.is_owned_by_current_thread());
    thread::scope(|scope| {
        scope.spawn(|| assert!(LOCK.try_lock().is_none() && LOCK.try_lock_for(MOMENT).is_none()));
    });
    assert_eq!((outer.0, *inner), (1, 2));
    drop(outer);
    assert!(LOCK.is_locked());
    drop(inner);
    assert!(!LOCK.is_locked());
    assert_eq!(RawThreadId::INIT.nonzero_thread_id(), RawThreadId.nonzero_thread_id());
}

#[test]
fn a_reader_writer_lock_has_all_of_lock_api() {
    static LOCK: RwLock<(u32, u32)> = RwLock::new((1, 2));
    let first: RwLockReadGuard<'_, _> = LOCK.read();
    let part: MappedRwLockReadGuard<'_, u32> =
        RwLockReadGuard::map(LOCK.try_read().expect("a reader"), |it| &it.1);
    assert!(LOCK.try_write().is_none() && LOCK.try_write_for(MOMENT).is_none());
    assert!(LOCK.try_write_until(soon()).is_none() && !LOCK.is_locked_exclusive());
    MappedRwLockReadGuard::unlock_fair(part);
    let upgradable: RwLockUpgradableReadGuard<'_, _> = LOCK.upgradable_read();
    assert!(LOCK.try_upgradable_read().is_none());
    assert!(LOCK.try_upgradable_read_for(MOMENT).is_none());
    let upgradable = RwLockUpgradableReadGuard::try_upgrade(upgradable).expect_err("a reader");
    let upgradable =
        RwLockUpgradableReadGuard::try_upgrade_for(upgradable, MOMENT).expect_err("a reader");
    RwLockReadGuard::unlock_fair(first);
    let written: RwLockWriteGuard<'_, _> = RwLockUpgradableReadGuard::upgrade(upgradable);
    assert!(LOCK.is_locked_exclusive() && LOCK.try_read().is_none());
    assert!(LOCK.try_read_for(MOMENT).is_none() && LOCK.try_read_until(soon()).is_none());
    let upgradable = RwLockWriteGuard::downgrade_to_upgradable(written);
    let read = RwLockUpgradableReadGuard::downgrade(upgradable);
    assert_eq!(*read, (1, 2));
    drop(read);
    let read = RwLockWriteGuard::downgrade(LOCK.write());
    assert!(LOCK.is_locked() && LOCK.try_read().is_some());
    drop(read);
    let mut part: MappedRwLockWriteGuard<'_, u32> =
        RwLockWriteGuard::map(LOCK.write(), |it| &mut it.1);
    *part = 3;
    MappedRwLockWriteGuard::unlock_fair(part);
    let mut read = LOCK.read();
    RwLockReadGuard::bump(&mut read);
    RwLockReadGuard::unlocked(&mut read, || assert!(LOCK.try_write().is_some()));
    drop(read);
    let mut written = LOCK.write();
    RwLockWriteGuard::bump(&mut written);
    assert_eq!(written.1, 3);
    RwLockWriteGuard::unlock_fair(written);
    let mut upgradable = LOCK.upgradable_read();
    RwLockUpgradableReadGuard::bump(&mut upgradable);
    RwLockUpgradableReadGuard::unlock_fair(upgradable);
    assert!(!LOCK.is_locked());
}

#[test]
fn an_upgrade_ends_at_a_deadline() {
    let lock = RwLock::new(2);
    let (read, upgradable) = (lock.read(), lock.upgradable_read());
    assert!(lock.try_upgradable_read_until(soon()).is_none());
    let upgradable = RwLockUpgradableReadGuard::try_upgrade_until(upgradable, soon());
    drop((upgradable.expect_err("a reader"), read));
    assert!(lock.try_write().is_some());
}

#[test]
fn a_condition_variable_counts_its_waiters() {
    let (lock, condvar) = (Mutex::new(0), Condvar::new());
    assert!(!condvar.notify_one());
    assert_eq!(condvar.notify_all(), 0);
    let mut guard = lock.lock();
    let ended: WaitTimeoutResult = condvar.wait_for(&mut guard, MOMENT);
    assert!(ended.timed_out() && condvar.wait_until(&mut guard, soon()).timed_out());
    assert!(condvar.wait_while_for(&mut guard, |_| true, MOMENT).timed_out());
    assert!(condvar.wait_while_until(&mut guard, |_| true, soon()).timed_out());
    drop(guard);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut guard = lock.lock();
                *guard += 1;
                condvar.wait(&mut guard);
                *guard -= 1;
            });
        }
        while *lock.lock() != 3 {
            thread::yield_now();
        }
        // All of them wait, because they count themselves with the mutex locked.
        let guard = lock.lock();
        assert!(condvar.notify_one());
        assert_eq!(condvar.notify_all(), 2);
        drop(guard);
    });
    assert_eq!(*lock.lock(), 0);
    let mut guard = lock.lock();
    condvar.wait_while(&mut guard, |count| *count != 0);
    drop(guard);
    assert_eq!(format!("{condvar:?}"), "Condvar { .. }");
}

#[test]
fn a_once_runs_once_and_is_poisoned_by_a_panic() {
    static ONCE: Once = Once::new();
    assert_eq!(ONCE.state(), OnceState::New);
    let panicked = thread::spawn(|| ONCE.call_once(|| panic!("on purpose"))).join();
    assert!(panicked.is_err() && ONCE.state().poisoned());
    assert!(thread::spawn(|| ONCE.call_once(|| ())).join().is_err());
    ONCE.call_once_force(|state| {
        assert_eq!(state, OnceState::Poisoned);
        assert_eq!(ONCE.state(), OnceState::InProgress);
    });
    ONCE.call_once(|| unreachable!());
    assert!(ONCE.state().done());
    assert_eq!(format!("{:?}", Once::default()), "Once { state: New }");
}

#[test]
fn the_raw_locks_have_all_traits() {
    fn mutex<T: RawMutexFair + RawMutexTimed>() {}
    fn read_write<T>()
    where
        T: RawRwLockFair
            + RawRwLockDowngrade
            + RawRwLockTimed
            + RawRwLockUpgrade
            + RawRwLockUpgradeDowngrade
            + RawRwLockUpgradeFair
            + RawRwLockUpgradeTimed,
    {
    }
    mutex::<RawMutex>();
    mutex::<RawFairMutex>();
    read_write::<RawRwLock>();
    let (mutex, fair) = (RawMutex::INIT, RawFairMutex::INIT);
    let read_write = <RawRwLock as parking_lot::lock_api::RawRwLock>::INIT;
    assert!(!mutex.is_locked() && !fair.is_locked() && !read_write.is_locked());
}

#[cfg(feature = "arc_lock")]
#[test]
fn guards_own_a_share_of_their_lock() {
    use parking_lot::{
        ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard,
        ArcRwLockWriteGuard,
    };

    let lock = Arc::new(Mutex::new(1));
    let guard: ArcMutexGuard<RawMutex, _> = Mutex::lock_arc(&lock);
    assert_eq!((*guard, Arc::strong_count(&lock)), (1, 2));
    let lock = Arc::new(ReentrantMutex::new(1));
    let guard: ArcReentrantMutexGuard<RawMutex, RawThreadId, _> = ReentrantMutex::lock_arc(&lock);
    assert_eq!(*guard, 1);
    let lock = Arc::new(RwLock::new(1));
    let guard: ArcRwLockReadGuard<RawRwLock, _> = RwLock::read_arc(&lock);
    let upgradable: ArcRwLockUpgradableReadGuard<RawRwLock, _> = RwLock::upgradable_read_arc(&lock);
    drop((guard, upgradable));
    let guard: ArcRwLockWriteGuard<RawRwLock, _> = RwLock::write_arc(&lock);
    assert_eq!((*guard, Arc::strong_count(&lock)), (1, 2));
}

#[cfg(feature = "send_guard")]
#[test]
fn guards_may_be_dropped_by_other_threads() {
    let (mutex, lock) = (Mutex::new(1), RwLock::new(1));
    let (guard, read) = (mutex.lock(), lock.read());
    thread::scope(|scope| {
        scope.spawn(move || drop((guard, read)));
    });
    let (written, again) = (lock.write(), mutex.lock());
    thread::scope(|scope| {
        scope.spawn(move || drop((written, again)));
    });
    assert!(lock.try_write().is_some() && mutex.try_lock().is_some());
}

#[cfg(feature = "deadlock_detection")]
mod deadlocks {
    use super::*;
    use parking_lot::deadlock::check_deadlock;
    use std::sync::{Barrier, MutexGuard, PoisonError};

    /// Only one test at a time: each looks at the deadlocks of the whole process.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the deadlock of two threads, and checks that it is reported once. Returns those
    /// that have the names of their stacks.
    fn reported(threads: [thread::ThreadId; 2]) -> Vec<thread::ThreadId> {
        let mut found = check_deadlock();
        while found.is_empty() {
            thread::yield_now();
            found = check_deadlock();
        }
        assert_eq!((found.len(), found[0].len()), (1, 2));
        assert!(found[0].iter().all(|thread| threads.contains(&thread.thread_id())));
        assert!(check_deadlock().is_empty());
        let mut named = Vec::new();
        for thread in &found[0] {
            let mut frames = thread.backtrace().frames().iter();
            if frames.any(|frame| !frame.symbols().is_empty()) {
                named.push(thread.thread_id());
            }
        }
        named
    }

    #[test]
    fn a_circle_of_threads_is_reported_once() {
        let _alone = alone();
        let locks = Arc::new((Mutex::new(()), RwLock::new(())));
        let gate = Arc::new(Barrier::new(2));
        let (theirs, their_gate) = (Arc::clone(&locks), Arc::clone(&gate));
        let first = thread::spawn(move || {
            let _first = theirs.0.lock();
            their_gate.wait();
            let _second = theirs.1.write();
        });
        let second = thread::spawn(move || {
            let _first = locks.1.write();
            gate.wait();
            let _second = locks.0.lock();
        });
        let named = reported([first.thread().id(), second.thread().id()]);
        assert_eq!(named.len(), 2);
    }

    #[test]
    fn a_thread_that_was_notified_is_in_a_circle_with_the_owner_of_its_mutex() {
        let _alone = alone();
        let locks = Arc::new((Mutex::new(()), Mutex::new(false), Condvar::new()));
        let theirs = Arc::clone(&locks);
        let waiter = thread::spawn(move || {
            let (other, told, changed) = &*theirs;
            let _other = other.lock();
            let mut guard = told.lock();
            *guard = true;
            changed.wait(&mut guard);
        });
        let notifier = thread::spawn(move || {
            let (other, told, changed) = &*locks;
            let mut guard = told.lock();
            while !*guard {
                super::MutexGuard::unlocked(&mut guard, thread::yield_now);
            }
            changed.notify_one();
            drop(other.lock());
        });
        let named = reported([waiter.thread().id(), notifier.thread().id()]);
        assert!(named.contains(&notifier.thread().id()));
    }
}
