//! The reports of misuse in a build with debug assertions, and the places that they name.

use std::cell::RefCell;
use std::mem;
use std::panic::{self, AssertUnwindSafe, Location};
use std::sync::{Once, mpsc};
use std::thread;
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::platform::Native;
use ondeck::{FairMutex, Mutex, RwLock};

use super::watchdog;

/// Runs `misuse`. Returns the message of its panic, and whether that named this file.
fn told(misuse: impl FnOnce()) -> (String, bool) {
    /// A panic hook is for the whole process, in which other tests also panic.
    static HOOK: Once = Once::new();
    thread_local! {
        /// The file in the last panic of this thread.
        static FILE: RefCell<Option<String>> = const { RefCell::new(None) };
    }
    HOOK.call_once(|| {
        let other = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            FILE.set(info.location().map(|place| place.file().to_owned()));
            other(info);
        }));
    });
    let result = panic::catch_unwind(AssertUnwindSafe(misuse));
    let message = *result.expect_err("a panic").downcast::<String>().expect("with a message");
    (message, FILE.take().as_deref() == Some(Location::caller().file()))
}

#[test]
fn its_owner_locks_a_mutex_again() {
    let mutex = Mutex::new(());
    let _guard = mutex.lock();
    let (message, named) = told(|| drop(mutex.lock()));
    assert!(message.starts_with("deadlock: this thread locks a mutex that it holds"), "{message}");
    assert!(named, "the panic names the caller");
}

#[test]
fn its_owner_waits_for_a_fair_mutex_and_its_writer_for_a_reader_writer_lock() {
    let (fair, lock) = (FairMutex::new(()), RwLock::new(()));
    let _guards = (fair.lock(), lock.write());
    let (message, named) = told(|| drop(fair.lock()));
    assert!(message.starts_with("deadlock: this thread locks a mutex that it holds"), "{message}");
    assert!(named, "the panic names the caller");
    let waits: [&dyn Fn(); 2] = [&|| drop(lock.read()), &|| drop(lock.write())];
    for wait in waits {
        let (message, named) = told(wait);
        assert!(
            message.starts_with("deadlock: this thread locks a reader-writer lock"),
            "{message}"
        );
        assert!(named, "the panic names the caller");
    }
}

#[test]
fn a_mutex_that_is_not_locked_is_unlocked() {
    let raw = <RawMutex<Native> as lock_api::RawMutex>::INIT;
    // SAFETY: none. This is the misuse, which is detected before it has any effect.
    let (message, named) = told(|| unsafe { lock_api::RawMutex::unlock(&raw, GUARD) });
    assert!(message.starts_with("misuse: unlock of a mutex that is not locked"), "{message}");
    assert!(named, "the panic names the caller");
    assert!(!raw.is_locked());
}
const GUARD: lock_api::GuardNoSend = lock_api::GuardNoSend::new();

#[test]
fn a_mutex_in_the_place_of_one_that_was_dropped_locked_is_another() {
    let mut mutex = Some(Mutex::new(()));
    let place = std::ptr::from_ref(&mutex).addr();
    mem::forget(mutex.as_ref().expect("it is there").lock());
    mutex = None;
    assert!(mutex.is_none());
    mutex = Some(Mutex::new(()));
    assert_eq!(std::ptr::from_ref(&mutex).addr(), place);
    wait_for_another_thread(mutex.as_ref().expect("it is there"));
}

#[test]
fn a_mutex_that_another_thread_unlocked_is_no_longer_its_first_owners() {
    let mutex = Mutex::new(());
    mem::forget(mutex.lock());
    watchdog::scope(|scope| {
        // SAFETY: it is locked, and its guard is forgotten.
        scope.spawn(|| unsafe { mutex.force_unlock(GUARD) });
    });
    drop(mutex.lock());
    wait_for_another_thread(&mutex);
}

/// Waits for the mutex, which this thread does not hold, until another thread unlocks it.
fn wait_for_another_thread(mutex: &Mutex<()>) {
    let (locked, waited_for) = mpsc::channel();
    watchdog::scope(|scope| {
        scope.spawn(move || {
            let _guard = mutex.lock();
            locked.send(()).expect("the other waits");
            // The other thread waits for the lock now, or will find it free.
            thread::sleep(Duration::from_millis(5));
        });
        waited_for.recv().expect("the other sends");
        drop(mutex.lock());
    });
}
