//! Statistics of real locks: threads wait, and the numbers are those that the test has arranged.

#![cfg(feature = "stats")]

#[path = "../support/again.rs"]
mod again;
#[path = "../support/asleep.rs"]
mod asleep;
#[path = "../support/until.rs"]
mod until;

use std::ffi::CStr;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex as StdMutex, mpsc};
use std::thread;
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::reentrant::RawThreadId;
use ondeck::rwlock::RawRwLock;
use ondeck::stats::{self, Event, LockKind, LockStats};
use ondeck::{
    Condvar, FairMutex, Mutex, MutexGuard, Once, PiMutex, ReentrantMutex, RwLock,
    RwLockUpgradableReadGuard, RwLockWriteGuard, lock_all, poison,
};

fn find(name: &CStr) -> Option<LockStats> {
    stats::snapshot().into_iter().find(|lock| lock.name == name)
}

fn of(name: &CStr) -> LockStats {
    find(name).expect("threads have waited for it")
}

/// Returns when `count` threads wait for the lock.
fn until_waiting(name: &CStr, count: u32) {
    while find(name).is_none_or(|lock| lock.waiting != count) {
        thread::yield_now();
    }
}

/// Has `count` threads wait for a lock that `hold` holds while it runs its argument.
fn contend(name: &CStr, count: u32, hold: impl Fn(&dyn Fn()), wait: impl Fn() + Sync) -> LockStats {
    stats::enable();
    thread::scope(|scope| {
        hold(&|| {
            for _ in 0..count {
                scope.spawn(&wait);
            }
            until_waiting(name, count);
        });
    });
    of(name)
}

/// Returns the line of the caller in this file, as a lock's place.
#[track_caller]
fn line(offset: u32) -> String {
    let here = Location::caller();
    format!("{}:{}:", here.file(), here.line() + offset)
}

fn is_at(site: Option<stats::Site>, line: &str) -> bool {
    site.is_some_and(|site| site.to_string().starts_with(line))
}

#[test]
fn each_acquisition_that_waits_is_counted_once_with_its_place() {
    static ACCOUNTS: Mutex<()> = Mutex::from_raw(RawMutex::named(c"accounts"), ());
    stats::enable();
    let (first, held) = (line(5), line(2));
    let _unused = Mutex::new(());
    let guard = ACCOUNTS.lock();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| drop(ACCOUNTS.lock()));
        }
        until_waiting(c"accounts", 3);
        let now = of(c"accounts");
        assert_eq!((now.waits, now.kind, now.gave_up), (0, LockKind::Mutex, 0));
        assert!(is_at(now.site, &first), "{now}, not {first}");
        // Longer than a slice of the others: their holds may have one of another program in them.
        thread::sleep(Duration::from_millis(100));
        drop(guard);
    });
    let then = of(c"accounts");
    assert_eq!((then.waits, then.waiting, then.holder), (3, 0, None));
    assert!(then.longest_wait <= then.waited && then.p50() <= then.p99());
    // The first hold lasted while the others came.
    assert!(is_at(then.longest_hold_site, &held), "{then}, not {held}");

    let again = line(1);
    let guard = ACCOUNTS.try_lock().expect("free");
    let holder = of(c"accounts").holder.expect("it is known");
    assert_eq!(holder.thread, lock_api::GetThreadId::nonzero_thread_id(&RawThreadId).get());
    assert!(is_at(holder.site, &again), "{holder:?}, not {again}");
    assert!(ACCOUNTS.try_lock().is_none());
    drop(guard);
    let text = of(c"accounts").to_string();
    assert!(text.contains("\"accounts\"") && text.contains(": 3 waits of "), "{text}");
}

#[test]
fn all_kinds_of_locks_take_part() {
    macro_rules! kinds {
        ($($name:literal $kind:ident $lock:expr, $method:ident;)*) => {$(
            let lock = $lock;
            ondeck::name(&lock, $name);
            let hold = |wait: &dyn Fn()| { let _guard = lock.$method(); wait() };
            let found = contend($name, 2, hold, || _ = lock.$method());
            assert_eq!((found.waits, found.waiting, found.kind), (2, 0, LockKind::$kind));
            // Its guards' package passes no caller on.
            let is_known = $name != c"reentrant";
            assert_eq!(is_at(found.site, file!()), is_known, "{found}");
            assert!(is_known || found.site.is_none(), "{found}");
        )*};
    }
    kinds! {
        c"mutex" Mutex Mutex::new(()), lock;
        c"fair" FairMutex FairMutex::new(()), lock;
        c"pi" PiMutex PiMutex::new(()), lock;
        c"write" RwLock RwLock::new(()), write;
        c"upgradable" RwLock RwLock::new(()), upgradable_read;
        c"reentrant" Mutex ReentrantMutex::new(()), lock;
        c"poison" Mutex poison::Mutex::new(()), lock;
        c"poisonous" RwLock poison::RwLock::new(()), write;
    }
    let once = Once::named(c"once");
    contend(c"once", 2, |wait| once.call_once(wait), || once.call_once(|| ()));
    let found = of(c"once");
    assert_eq!((found.waits, found.waiting, found.kind), (2, 0, LockKind::Once));
}

#[test]
fn readers_and_changes_of_a_lock_are_followed() {
    let lock = RwLock::from_raw(RawRwLock::named(c"rw"), ());
    let hold = |wait: &dyn Fn()| {
        let _guard = lock.write();
        wait();
    };
    assert_eq!(contend(c"rw", 3, hold, || drop(lock.read())).waits, 3);
    let holds = || of(c"rw").holder.is_some();
    let write = lock.write();
    assert!(holds());
    let read = RwLockWriteGuard::downgrade(write);
    assert!(!holds());
    drop(read);
    let read = lock.upgradable_read();
    assert!(!holds());
    let write = RwLockUpgradableReadGuard::upgrade(read);
    assert!(holds());
    drop(RwLockWriteGuard::downgrade_to_upgradable(write));
    assert!(!holds());
    drop(lock.write());
    assert!(!holds());
}

#[test]
fn a_thread_that_gives_up_has_not_waited() {
    let lock = Mutex::from_raw(RawMutex::named(c"deadline"), ());
    stats::enable();
    let guard = lock.lock();
    thread::scope(|scope| {
        scope.spawn(|| assert!(lock.try_lock_for(Duration::from_millis(1)).is_none()));
    });
    drop(guard);
    let once = Once::named(c"deadline of a once");
    once.call_once(|| {
        thread::scope(|scope| {
            scope.spawn(|| assert!(!once.wait_for(Duration::from_millis(1))));
        });
    });
    for name in [c"deadline", c"deadline of a once"] {
        let found = of(name);
        assert_eq!((found.waits, found.gave_up, found.waiting), (0, 1, 0), "{found}");
    }
}

#[test]
fn the_places_are_the_callers_of_all_that_locks() {
    let (mutex, other) = (Mutex::new(()), Mutex::new(()));
    let places = |name| {
        let found = of(name);
        [found.site, found.longest_hold_site].map(|site| is_at(site, file!()))
    };
    ondeck::name(&mutex, c"in a tuple");
    // The thread that holds both has attempted the one for which the other waits.
    let lock = || drop(lock_all((&mutex, &other)));
    contend(c"in a tuple", 1, |wait| (lock_all((&other, &mutex)), wait()).1, lock);
    assert_eq!(places(c"in a tuple"), [true; 2]);
    ondeck::name(&mutex, c"in a slice");
    let lock = || drop(lock_all(&[&mutex, &other][..]));
    contend(c"in a slice", 1, |wait| (lock_all(&[&other, &mutex][..]), wait()).1, lock);
    assert_eq!(places(c"in a slice"), [true; 2]);
}

#[test]
fn no_thread_holds_a_lock_that_it_unlocked_while_nothing_was_counted() {
    static LOCK: Mutex<()> = Mutex::from_raw(RawMutex::named(c"switched"), ());
    if !again::is_child() {
        again::passes(|_| ());
        return;
    }
    contend(c"switched", 1, |wait| (LOCK.lock(), wait()).1, || drop(LOCK.lock()));
    let held = LOCK.lock();
    assert!(of(c"switched").holder.is_some());
    stats::disable();
    drop(held);
    assert_eq!(of(c"switched").holder, None);
    stats::enable();
    assert_eq!(of(c"switched").holder, None);
    // The place of a hold that begins with the end of a wait.
    stats::disable();
    let mut held = LOCK.lock();
    stats::enable();
    let waited = line(1);
    Condvar::new().wait_for(&mut held, Duration::ZERO);
    let holder = of(c"switched").holder.expect("it is known");
    assert!(is_at(holder.site, &waited), "{holder:?}, not {waited}");
}

#[test]
fn a_wait_for_a_condition_is_none_for_its_mutex_but_the_lock_afterwards_is() {
    let lock = Mutex::from_raw(RawMutex::named(c"condition"), false);
    let changed = Condvar::new();
    stats::enable();
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let (lock, changed) = (&lock, &changed);
        scope.spawn(move || {
            let locked = line(1);
            let mut guard = lock.lock();
            send.send(asleep::name()).unwrap();
            changed.wait_while(&mut guard, |is_set| !*is_set);
            let holder = of(c"condition").holder.expect("it holds the lock again");
            assert!(is_at(holder.site, &locked), "{holder:?}, not {locked}");
        });
        let waiter = receive.recv().unwrap();
        // An attempt is no wait. It succeeds when the other thread has unlocked the lock in order
        // to wait.
        let mut guard = std::iter::repeat_with(|| lock.try_lock()).flatten().next().unwrap();
        *guard = true;
        assert!(changed.notify_one());
        // Moved to the lock's queue, or found it taken.
        asleep::until_asleep(waiter);
        drop(guard);
    });
    let found = of(c"condition");
    assert_eq!((found.waits, found.waiting, found.holder), (1, 0, None));
}

#[test]
fn a_name_can_be_given_later_and_is_in_the_debug_of_a_lock() {
    let lock = Mutex::new(0);
    // SAFETY: to show it only.
    let shown = || format!("{:?}", unsafe { lock.raw() });
    assert_eq!(shown(), "RawMutex { locked: false }");
    ondeck::name(&lock, c"later");
    assert_eq!(shown(), "RawMutex { name: \"later\", locked: false }");
    ondeck::name(&lock, c"");
    assert_eq!(shown(), "RawMutex { locked: false }");
}

#[test]
fn nothing_is_counted_before_it_is_asked_for_nor_afterwards() {
    static TOLD: AtomicU32 = AtomicU32::new(0);
    if !again::is_child() {
        again::passes(|_| ());
        return;
    }
    assert!(!stats::is_on());
    let lock = Mutex::from_raw(RawMutex::named(c"off"), ());
    let wait = |is_on: bool| {
        let guard = lock.lock();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| drop(lock.lock()));
            if is_on {
                until_waiting(c"off", 1);
            } else {
                thread::sleep(Duration::from_millis(5));
            }
            drop(guard);
            waiter.join().unwrap();
        });
    };
    wait(false);
    assert!(stats::snapshot().is_empty());
    stats::enable();
    let kept = lock.lock();
    stats::disable();
    // Locked while it was on.
    drop(kept);
    stats::enable();
    wait(true);
    let before = of(c"off");
    assert_eq!((before.waits, before.holder), (1, None));
    // A thread that holds a lock is not told.
    stats::on_long_hold(Duration::ZERO, |_| _ = TOLD.fetch_add(1, Ordering::Relaxed));
    drop(lock.lock());
    assert_eq!(TOLD.load(Ordering::Relaxed), 1);
    stats::disable();
    wait(false);
    assert_eq!(of(c"off").waits, 1);
}

#[test]
fn a_handler_may_lock_what_it_is_told_of() {
    static LOCK: Mutex<u32> = Mutex::from_raw(RawMutex::named(c"told"), 0);
    static TOLD: StdMutex<Vec<Event>> = StdMutex::new(Vec::new());
    static CALLS: AtomicU32 = AtomicU32::new(0);
    if !again::is_child() {
        again::passes(|_| ());
        return;
    }
    let mut held = LOCK.lock();
    stats::enable();
    // A thread that has changed how it holds a lock holds it once.
    let changed = RwLock::new(());
    drop(RwLockUpgradableReadGuard::upgrade(changed.upgradable_read()));
    drop(RwLockWriteGuard::downgrade(changed.write()));
    stats::on_long_hold(Duration::ZERO, |event| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        TOLD.lock().unwrap().push(*event);
        *LOCK.lock() += 1;
    });
    let held_at = line(1);
    MutexGuard::bump(&mut held);
    MutexGuard::bump(&mut held);
    assert_eq!(CALLS.load(Ordering::Relaxed), 0, "it holds the lock again");
    drop(held);
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    let mut holds = 0;
    while CALLS.load(Ordering::Relaxed) == 1 {
        drop(LOCK.lock());
        holds += 1;
    }
    let told = TOLD.lock().unwrap();
    assert_eq!(told[1].suppressed, holds - 1, "its own hold of the lock is none");
    assert_eq!((told[0].name, told[0].kind, told[0].other), (c"told", LockKind::Mutex, None));
    assert!(is_at(told[0].site, &held_at), "{:?}, not {held_at}", told[0]);
}

#[test]
fn a_panic_of_a_handler_ends_with_it() {
    static TOLD: AtomicU32 = AtomicU32::new(0);
    if !again::is_child() {
        again::passes(|_| ());
        return;
    }
    stats::on_long_hold(Duration::ZERO, |_| {
        assert_ne!(TOLD.fetch_add(1, Ordering::Relaxed), 0, "the handler's own");
    });
    let lock = Mutex::new(());
    // A lock of `lock_api` 0.4 would be unlocked once more by its guard.
    MutexGuard::unlock_fair(lock.lock());
    while TOLD.load(Ordering::Relaxed) == 1 {
        drop(lock.lock());
    }
}
