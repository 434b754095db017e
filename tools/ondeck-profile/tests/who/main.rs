//! Locks of Rust in this process: each kind with one thread that keeps it and one that waits, and
//! what is seen of the two.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{process, thread};

use ondeck_profile::who::{Keeper, Kind, State, Thread, Wait, Who, look};

/// Runs for ever under a name, and says when it has begun.
fn start(name: &str, work: impl FnOnce(mpsc::Sender<()>) + Send + 'static) {
    let (begun, has_begun) = mpsc::channel();
    let named = thread::Builder::new().name(name.to_owned());
    named.spawn(move || work(begun)).expect("a thread");
    // A thread that cannot say so drops its end.
    _ = has_begun.recv();
}

/// Waits for ever under a name.
fn start_waiting(name: &str, work: fn()) {
    start(name, move |begun| {
        drop(begun);
        work();
    });
}

fn keep(begun: &mpsc::Sender<()>) -> ! {
    begun.send(()).expect("a listener");
    loop {
        thread::sleep(Duration::from_hours(1));
    }
}

/// Looks until all is as expected, which returns what is not yet.
fn seen(unlike: impl Fn(&Who) -> Vec<String>) -> Who {
    let start = Instant::now();
    loop {
        let who = look(process::id(), Vec::new()).expect("this process");
        let unlike = unlike(&who);
        if unlike.is_empty() {
            return who;
        }
        assert!(start.elapsed() < Duration::from_mins(2), "{unlike:#?}");
    }
}

fn named<'a>(who: &'a Who, name: &str) -> Option<&'a Thread> {
    who.threads.iter().find(|thread| thread.name == name)
}

/// A thread, what it waits for, the end of the variable's name, and that of the function's that
/// waits.
type Expected = (&'static str, Kind, &'static str, &'static str);

fn expect(expected: &[Expected]) -> Who {
    seen(|who| {
        let is_right = |(name, kind, variable, function): &Expected| {
            let thread = named(who, name)?;
            let wait = thread.wait.as_ref()?;
            let symbol = wait.place.symbol().unwrap_or_default();
            let caller = &thread.callers.first()?.function;
            Some(wait.kind == *kind && symbol.ends_with(variable) && caller.ends_with(function))
        };
        let unlike = expected.iter().filter(|one| is_right(one) != Some(true));
        unlike.map(|one| format!("{one:?}: {:#?}", named(who, one.0))).collect()
    })
}

/// Its word has the number of a thread, as that of a join.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_futex_of_several_processes_is_not_taken_for_the_end_of_a_thread() {
    static WORD: AtomicU32 = AtomicU32::new(0);
    WORD.store(process::id(), Ordering::SeqCst);
    start_waiting("shared", || {
        loop {
            // SAFETY: it waits while the word has that value.
            unsafe {
                libc::syscall(libc::SYS_futex, WORD.as_ptr(), libc::FUTEX_WAIT, process::id(), 0)
            };
        }
    });
    seen(|who| {
        let wait = named(who, "shared").and_then(|thread| thread.wait.as_ref());
        let is_right = |wait: &Wait| (wait.kind, &wait.keeper) == (Kind::Futex, &Keeper::Unknown);
        if wait.is_some_and(is_right) { Vec::new() } else { vec![format!("{wait:?}")] }
    });
}

mod of_std {
    use std::sync::{Barrier, Condvar, Mutex, RwLock};

    use super::*;

    static HOT: Mutex<u32> = Mutex::new(0);
    static TABLE: RwLock<u32> = RwLock::new(0);
    static NEWS: Condvar = Condvar::new();
    static NOTHING: Mutex<bool> = Mutex::new(false);

    #[inline(never)]
    fn take_hot() {
        *HOT.lock().expect("no panic") += 1;
        black_box(());
    }

    #[inline(never)]
    fn read_table() {
        black_box(*TABLE.read().expect("no panic"));
    }

    #[inline(never)]
    fn await_news() {
        let mut news = NOTHING.lock().expect("no panic");
        while !*news {
            news = NEWS.wait(news).expect("no panic");
        }
    }

    #[inline(never)]
    fn receive() {
        let (sender, receiver) = mpsc::channel::<()>();
        _ = receiver.recv();
        drop(sender);
    }

    #[inline(never)]
    fn join_receiver() {
        thread::spawn(receive).join().expect("it never ends");
        black_box(());
    }

    #[inline(never)]
    fn meet() {
        Barrier::new(2).wait();
        black_box(());
    }

    #[test]
    fn locks_of_the_standard_library_are_named_with_the_function_that_waits() {
        start("std keeper", |begun| {
            let _held = (HOT.lock(), TABLE.write());
            keep(&begun);
        });
        for (name, work) in [
            ("std taker", take_hot as fn()),
            ("std reader", read_table),
            ("std hearer", await_news),
            ("std receiver", receive),
            ("std joiner", join_receiver),
            ("std meeting", meet),
        ] {
            start_waiting(name, work);
        }
        let who = expect(&[
            ("std taker", Kind::StdMutex, "HOT", "take_hot"),
            ("std reader", Kind::StdRwlock, "TABLE", "read_table"),
            ("std hearer", Kind::StdCondition, "NEWS", "await_news"),
            ("std receiver", Kind::StdPark, "", "receive"),
            ("std joiner", Kind::Join, "", "join_receiver"),
            ("std meeting", Kind::StdCondition, "", "meet"),
        ]);
        let lock = who.locks.iter().find(|lock| lock.name().ends_with("HOT")).expect("the lock");
        assert_eq!(lock.wait.keeper, Keeper::Unknown);
        let keeper = named(&who, "std keeper").map_or(0, |thread| thread.tid);
        // Once it sleeps, and the joined thread was there when the look began.
        seen(|who| {
            let lock = who.locks.iter().find(|lock| lock.name().ends_with("HOT"));
            let perhaps = lock.map(|lock| &lock.perhaps);
            let is_right = perhaps.is_some_and(|perhaps| perhaps.contains(&keeper));
            let waiting = named(who, "std joiner").and_then(|thread| thread.wait.as_ref());
            let target = waiting.map(|wait| &wait.keeper);
            let is_there =
                matches!(target, Some(Keeper::Thread { tid }) if who.thread(*tid).is_some());
            if is_right && is_there { Vec::new() } else { vec![format!("{perhaps:?} {target:?}")] }
        });
    }

    #[test]
    fn a_thread_whose_stack_has_the_address_of_a_lock_may_keep_it() {
        let lock: &Mutex<u32> = Box::leak(Box::new(Mutex::new(0)));
        let of_other: &Mutex<u32> = Box::leak(Box::new(Mutex::new(0)));
        for (name, lock) in [("heap keeper", lock), ("other keeper", of_other)] {
            start(name, move |begun| {
                let mut held = lock.lock().expect("no panic");
                begun.send(()).expect("a listener");
                while *held == 0 {
                    thread::sleep(Duration::from_hours(1));
                    *held = black_box(0);
                }
            });
        }
        start("heap taker", move |begun| {
            drop(begun);
            *lock.lock().expect("no panic") += 1;
        });
        let address = std::ptr::from_ref(lock).addr() as u64;
        seen(|who| {
            let found = who.locks.iter().find(|lock| lock.wait.object == Some(address));
            let Some(found) = found else { return vec!["no lock".to_owned()] };
            let name = |tid: &u32| who.thread(*tid).map(|thread| thread.name.clone());
            let perhaps: Vec<String> = found.perhaps.iter().filter_map(name).collect();
            let is_right = perhaps.contains(&"heap keeper".to_owned())
                && !perhaps.iter().any(|name| name == "heap taker" || name == "other keeper");
            if is_right { Vec::new() } else { perhaps.into_iter().chain([String::new()]).collect() }
        });
    }
}

mod of_parking_lot {
    use std::collections::HashMap;

    use parking_lot_original::{Condvar, Mutex, RwLock};

    use super::*;

    static PARKED: Mutex<u32> = Mutex::new(0);
    static SHARED: RwLock<u32> = RwLock::new(0);
    static BELL: Condvar = Condvar::new();

    #[inline(never)]
    fn take_parked() {
        *PARKED.lock() += 1;
        black_box(());
    }

    #[inline(never)]
    fn write_shared() {
        *SHARED.write() += 1;
        black_box(());
    }

    #[inline(never)]
    fn await_bell() {
        let mutex = Mutex::new(());
        BELL.wait(&mut mutex.lock());
    }

    #[test]
    fn locks_of_parking_lot_are_found_although_threads_sleep_on_words_of_their_own() {
        start("pl keeper", |begun| {
            let _held = (PARKED.lock(), SHARED.read());
            keep(&begun);
        });
        for (name, work) in [
            ("pl taker", take_parked as fn()),
            ("pl taker too", take_parked),
            ("pl writer", write_shared),
            ("pl hearer", await_bell),
        ] {
            start_waiting(name, work);
        }
        let who = expect(&[
            ("pl taker", Kind::ParkingLot, "PARKED", "take_parked"),
            ("pl taker too", Kind::ParkingLot, "PARKED", "take_parked"),
            ("pl writer", Kind::ParkingLot, "SHARED", "write_shared"),
            ("pl hearer", Kind::ParkingLotCondition, "BELL", "await_bell"),
        ]);
        let name = |tid: &u32| who.thread(*tid).map(|thread| thread.name.as_str());
        let lock = who.locks.iter().find(|lock| lock.name().ends_with("PARKED"));
        let mut waiters: Vec<_> = lock.expect("the lock").waiters.iter().map(name).collect();
        waiters.sort_unstable();
        assert_eq!(waiters, [Some("pl taker"), Some("pl taker too")]);
    }

    static MANY: [Mutex<()>; 8192] = [const { Mutex::new(()) }; 8192];

    /// Returns two locks whose waiters are in one bucket of parking_lot's hash table, as long as it
    /// has no more than 4096 (`parking_lot_core/src/parking_lot.rs`, `hash`).
    fn of_one_bucket() -> [&'static Mutex<()>; 2] {
        let bucket = |lock: &Mutex<()>| {
            (std::ptr::from_ref(lock).addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52
        };
        let mut first = HashMap::new();
        let two = MANY.iter().find_map(|lock| Some([first.insert(bucket(lock), lock)?, lock]));
        two.expect("two locks")
    }

    #[test]
    fn threads_of_one_bucket_that_wait_for_different_locks_are_told_apart() {
        let pair = of_one_bucket();
        start("pair keeper", move |begun| {
            let _held = pair.map(Mutex::lock);
            keep(&begun);
        });
        let waiting = [("pair first", pair[0]), ("pair second", pair[1])];
        for (name, lock) in waiting {
            start(name, move |begun| {
                drop(begun);
                drop(lock.lock());
            });
        }
        seen(|who| {
            let is_right = |(name, lock): &(&str, &Mutex<()>)| {
                let address = std::ptr::from_ref(*lock).addr() as u64;
                let wait = named(who, name).and_then(|thread| thread.wait.as_ref());
                wait.is_some_and(|wait| wait.object == Some(address))
            };
            let unlike = waiting.iter().filter(|one| !is_right(one));
            unlike.map(|(name, _)| format!("{:#?}", named(who, name))).collect()
        });
    }
}

mod of_ondeck {
    use ondeck::{Condvar, Mutex};

    use super::*;

    static CROWDED: Mutex<u32> = Mutex::new(0);
    static CHANGED: Condvar = Condvar::new();

    #[inline(never)]
    fn take_crowded() {
        *CROWDED.lock() += 1;
        black_box(());
    }

    #[inline(never)]
    fn await_change() {
        let mutex = Mutex::new(());
        CHANGED.wait(&mut mutex.lock());
    }

    #[test]
    fn a_mutex_of_ondeck_is_found_by_the_node_of_its_waiter() {
        start("own keeper", |begun| {
            let _held = CROWDED.lock();
            keep(&begun);
        });
        start_waiting("own taker", take_crowded);
        start_waiting("own hearer", await_change);
        expect(&[
            ("own taker", Kind::Ondeck, "CROWDED", "take_crowded"),
            ("own hearer", Kind::OndeckCondition, "", "await_change"),
        ]);
    }
}

static IS_OVER: AtomicBool = AtomicBool::new(false);

#[test]
fn a_thread_that_runs_has_no_stack_and_one_that_sleeps_has_its_function_and_time() {
    #[inline(never)]
    fn sleep_long(begun: &mpsc::Sender<()>) {
        keep(begun);
    }
    start("dozer", |begun| sleep_long(&begun));
    start("runner", |begun| {
        drop(begun);
        while !IS_OVER.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    seen(|who| {
        let runner = named(who, "runner");
        let runs = runner.is_some_and(|one| one.state == State::Running && one.stack.is_empty());
        let dozer = named(who, "dozer");
        let sleeps = dozer.is_some_and(|one| {
            let is_called = one.callers.iter().any(|one| one.function.ends_with("sleep_long"));
            is_called && one.wait.is_none() && one.call == Some(libc::SYS_clock_nanosleep)
        });
        let unlike = if runs && sleeps { None } else { Some(format!("{runner:?} {dozer:?}")) };
        unlike.into_iter().collect()
    });
    IS_OVER.store(true, Ordering::Relaxed);
}
