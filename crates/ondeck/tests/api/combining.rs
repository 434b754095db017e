//! The combining mutex as programs use it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::CombiningMutex;

use super::watchdog;

#[test]
fn it_can_be_constant_and_gives_its_data_back() {
    static CONSTANT: CombiningMutex<u32> = CombiningMutex::new(7);
    assert_eq!(CONSTANT.with(|number| *number), 7);
    let mut mutex = CombiningMutex::from(String::from("a"));
    mutex.get_mut().push('b');
    assert_eq!(mutex.with(|text| text.len()), 2);
    assert_eq!(format!("{mutex:?}"), "CombiningMutex { busy: false, .. }");
    assert_eq!(mutex.into_inner(), "ab");
}

#[test]
fn no_section_is_lost_and_each_thread_gets_its_own_results() {
    const THREADS: usize = 8;
    const SECTIONS: usize = 20_000;
    let log = CombiningMutex::new(Vec::new());
    watchdog::scope(|scope| {
        for thread in 0..THREADS {
            let log = &log;
            scope.spawn(move || {
                for section in 0..SECTIONS {
                    let place = log.with(|log| {
                        log.push((thread, section));
                        log.len() - 1
                    });
                    assert_eq!(log.with(|log| log[place]), (thread, section));
                }
            });
        }
    });
    assert_eq!(log.into_inner().len(), THREADS * SECTIONS);
}

/// While a section runs, other threads arrive: the thread that has the lock also runs their sections.
#[test]
fn a_section_of_a_thread_that_waits_is_run_by_another() {
    const OTHERS: usize = 4;
    let mutex = CombiningMutex::new(());
    let is_delegated = || {
        let comes = Barrier::new(OTHERS + 1);
        watchdog::scope(|scope| {
            let other = || {
                comes.wait();
                mutex.with(|()| thread::current().id()) != thread::current().id()
            };
            let others: Vec<_> = (0..OTHERS).map(|_| scope.spawn(other)).collect();
            mutex.with(|()| {
                comes.wait();
                thread::sleep(Duration::from_millis(1));
            });
            others.into_iter().filter_map(|other| other.join().ok()).any(|delegated| delegated)
        })
    };
    // Whether other threads arrive in time is up to the scheduler.
    while !is_delegated() {}
}

/// A panic goes to the thread whose section it is; other sections continue.
#[test]
fn a_panic_goes_on_in_the_thread_that_asked() {
    let mutex = CombiningMutex::new(0);
    let ends = AtomicBool::new(false);
    watchdog::scope(|scope| {
        let busy = scope.spawn(|| {
            let mut sections = 0;
            while !ends.load(Ordering::Relaxed) {
                mutex.with(|count| *count += 1);
                sections += 1;
            }
            sections
        });
        for number in 0..200 {
            let section = || {
                mutex.with(|_| {
                    if number % 2 == 0 {
                        std::panic::panic_any(number);
                    }
                    number
                })
            };
            let result = catch_unwind(AssertUnwindSafe(section));
            match result {
                Ok(result) => assert!(number % 2 == 1 && result == number),
                Err(payload) => assert_eq!(payload.downcast_ref(), Some(&number)),
            }
        }
        ends.store(true, Ordering::Relaxed);
        let sections = busy.join().expect("no panic of another thread");
        assert_eq!(mutex.with(|count| *count), sections);
    });
}

/// A section of another thread would run in a thread that unwinds, and would not poison a lock with poisoning.
#[test]
fn a_thread_that_unwinds_runs_no_section_of_another() {
    struct UsesIt<'a>(&'a CombiningMutex<()>, &'a Barrier);
    impl Drop for UsesIt<'_> {
        fn drop(&mut self) {
            self.0.with(|()| {
                self.1.wait();
                // The other thread arrives during the sleep.
                thread::sleep(Duration::from_millis(1));
            });
        }
    }
    let mutex = CombiningMutex::new(());
    for _ in 0..50 {
        let comes = Barrier::new(2);
        let panicking = watchdog::scope(|scope| {
            let unwinds = scope.spawn(|| {
                let _used_by_its_drop = UsesIt(&mutex, &comes);
                resume_unwind(Box::new(()));
            });
            comes.wait();
            let panicking = mutex.with(|()| thread::panicking());
            assert!(unwinds.join().is_err());
            panicking
        });
        assert!(!panicking);
    }
}
