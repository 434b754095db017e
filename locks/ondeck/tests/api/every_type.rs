//! A user's program: each type of the crate once, between threads. `ci/miri.sh` runs it under Miri
//! too.

use std::thread;
use std::time::Duration;

use ondeck::rwlock::ReadRecursive;
use ondeck::{
    Barrier, Condvar, FairMutex, Latch, LazyLock, Mutex, Once, OnceLock, ReentrantMutex, RwLock,
    RwLockUpgradableReadGuard, RwLockWriteGuard, Semaphore, poison,
};

const SOON: Duration = Duration::from_millis(1);

/// Runs a closure on three threads at the same time.
fn threads(each: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(&each);
        }
    });
}

#[test]
fn mutexes_count() {
    let (mutex, fair, reentrant) = (Mutex::new(0), FairMutex::new(0), ReentrantMutex::new(()));
    let poisoned = poison::Mutex::new(0);
    let (lock, poisoned_lock) = (RwLock::new(0), poison::RwLock::new(0));
    threads(|| {
        // A thread that waits finds the owner asleep.
        let mut locked = mutex.lock();
        thread::sleep(SOON);
        *locked += 1;
        drop(locked);
        *fair.lock() += 1;
        let outer = reentrant.lock();
        drop((reentrant.lock(), outer));
        *poisoned.lock().unwrap() += 1;
        let read = lock.upgradable_read();
        let mut write = RwLockUpgradableReadGuard::upgrade(read);
        *write += 1;
        assert!(*RwLockWriteGuard::downgrade(write) <= *lock.read_recursive());
        *poisoned_lock.write().unwrap() += 1;
        assert!(*poisoned_lock.read().unwrap() > 0);
    });
    assert_eq!([*mutex.lock(), *fair.lock(), *lock.read()], [3; 3]);
    assert_eq!([poisoned.into_inner().unwrap(), *poisoned_lock.read().unwrap()], [3; 2]);
}

#[test]
fn threads_wait_for_each_other() {
    let (mutex, changed) = (Mutex::new(0), Condvar::new());
    let (poisoned, poisoned_changed) = (poison::Mutex::new(0), poison::Condvar::new());
    let (barrier, latch) = (Barrier::new(3), Latch::new(3));
    let (permits, fair_permits) = (Semaphore::new(1), Semaphore::fair(1));
    threads(|| {
        permits.acquire();
        permits.release(1);
        fair_permits.acquire();
        fair_permits.release(1);
        let mut arrived = mutex.lock();
        *arrived += 1;
        changed.notify_all();
        changed.wait_while(&mut arrived, |arrived| *arrived < 3);
        assert!(changed.wait_for(&mut arrived, SOON).timed_out());
        drop(arrived);
        let mut arrived = poisoned.lock().unwrap();
        *arrived += 1;
        poisoned_changed.notify_all();
        drop(poisoned_changed.wait_while(arrived, |arrived| *arrived < 3).unwrap());
        barrier.wait();
        latch.count_down();
        latch.wait();
    });
    assert!(mutex.try_lock_for(SOON).is_some());
}

#[test]
fn an_initialization_runs_once() {
    static LAZY: LazyLock<String> = LazyLock::new(|| "begun".into());
    let (once, cell) = (Once::new(), OnceLock::new());
    threads(|| {
        once.call_once(|| thread::sleep(SOON));
        assert_eq!(cell.get_or_init(|| LAZY.len()), &5);
    });
    assert!(once.is_completed());
}

#[test]
#[cfg(all(target_os = "linux", not(ondeck_system = "portable")))]
fn mutexes_of_linux_count() {
    let inherits = ondeck::PiMutex::new(0);
    threads(|| {
        let mut locked = inherits.lock();
        thread::sleep(SOON);
        *locked += 1;
    });
    assert_eq!(*inherits.lock(), 3);
    assert!(inherits.try_lock_for(SOON).is_some());
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(ondeck_system = "portable")))]
fn processes_may_share_them() {
    // SAFETY: it stays where it is, and no thread ends with it.
    let shared = unsafe { ondeck::ipc::Mutex::new(0_u32) };
    let changed = ondeck::ipc::Condvar::new();
    threads(|| {
        let mut arrived = shared.lock().unwrap();
        *arrived += 1;
        changed.notify_all();
        while *arrived < 3 {
            arrived = changed.wait(arrived).unwrap();
        }
    });
    assert_eq!(*shared.lock().unwrap(), 3);
}
