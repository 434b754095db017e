//! The reentrant mutex as programs use it.

use std::cell::{Cell, RefCell};
use std::thread;

use lock_api::GetThreadId;
use ondeck::reentrant::RawThreadId;
use ondeck::{MappedReentrantMutexGuard, ReentrantMutex, ReentrantMutexGuard};

#[cfg(unix)]
use crate::copy::{Fork, fork};

use super::watchdog;

#[test]
fn its_owner_locks_it_again_and_others_do_not() {
    static MUTEX: ReentrantMutex<Cell<u32>> = ReentrantMutex::new(Cell::new(0));
    let first = MUTEX.lock();
    let second = MUTEX.try_lock().expect("its owner");
    let attempt = || thread::spawn(|| MUTEX.try_lock().is_some()).join().expect("no panic");
    assert!(!attempt());
    drop(first);
    assert!(!attempt(), "one guard is left");
    drop(second);
    assert!(attempt());
    assert!(!MUTEX.is_locked());
}

#[test]
fn guards_can_be_mapped_and_handed_over() {
    let mutex = ReentrantMutex::new((Cell::new(1), Cell::new(2)));
    let second: MappedReentrantMutexGuard<'_, Cell<i32>> =
        ReentrantMutexGuard::map(mutex.lock(), |pair| &pair.1);
    second.set(3);
    drop(second);
    let mut guard = mutex.lock();
    ReentrantMutexGuard::bump(&mut guard);
    ReentrantMutexGuard::unlock_fair(guard);
    assert!(!mutex.is_locked());
    assert_eq!(mutex.into_inner(), (Cell::new(1), Cell::new(3)));
}

#[test]
fn threads_that_live_have_different_names() {
    let names = RefCell::new(vec![RawThreadId.nonzero_thread_id()]);
    let gate = std::sync::Barrier::new(16);
    watchdog::scope(|scope| {
        let threads = [0; 16].map(|_| {
            scope.spawn(|| {
                let name = RawThreadId.nonzero_thread_id();
                gate.wait();
                name
            })
        });
        names.borrow_mut().extend(threads.map(|thread| thread.join().expect("no panic")));
    });
    let mut names = names.into_inner();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 17);
}

#[test]
#[cfg(unix)]
fn the_child_of_a_fork_owns_what_its_thread_owned() {
    let mutex = ReentrantMutex::new(());
    let guard = mutex.lock();
    fork(Fork::Library, || {
        assert!(mutex.is_owned_by_current_thread());
        assert!(mutex.try_lock().is_some());
    });
    drop(guard);
}
