//! Threads that wait for each other forever are reported, whatever they wait for. They stay
//! deadlocked until the process ends.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use ondeck::deadlock::{self, Holding, LockKind, ReportKind, Want};
use ondeck::{
    Condvar, FairMutex, Mutex, Once, PiMutex, ReentrantMutex, RwLock, RwLockUpgradableReadGuard,
};

use crate::told::{Told, detected, edges, leaked, place, rw_place};

type Part = Box<dyn FnOnce(&dyn Fn()) + Send>;

/// Two threads: each takes its first lock, meets the other, and takes its second. Reports of
/// potential deadlocks are silenced, so that the actual deadlock is the only report.
fn meet(one: Part, other: Part) {
    let both = Arc::new(Barrier::new(2));
    for (name, part) in [("one", one), ("other", other)] {
        let both = Arc::clone(&both);
        let meet = move || _ = both.wait();
        let run = move || deadlock::with_ignored(|| part(&meet));
        thread::Builder::new().name(name.into()).spawn(run).unwrap();
    }
}

/// Returns the names of the threads in a deadlock of two.
fn names(told: &Told) -> [String; 2] {
    let report = told.one(ReportKind::Deadlock);
    assert_eq!(report.edges.len(), 2, "{report}");
    let mut names = [0, 1].map(|edge| report.edges[edge].thread.name());
    names.sort();
    names
}

fn is_told(told: &Told) {
    assert_eq!(names(told), ["one", "other"]);
    // Once.
    told.none_for_a_while();
}

#[test]
fn two_threads_with_two_mutexes() {
    let Some(told) = detected() else { return };
    let (left, right) = (leaked(Mutex::new(())), leaked(Mutex::new(())));
    let lock_both = |first: &'static Mutex<()>, second: &'static Mutex<()>| -> Part {
        Box::new(|meet| {
            let _first = first.lock();
            meet();
            let _second = second.lock();
        })
    };
    meet(lock_both(left, right), lock_both(right, left));
    let report = told.one(ReportKind::Deadlock);
    let (l, r) = (place(left), place(right));
    let mut found = edges(&report);
    found.sort_by_key(|edge| edge.0 != Some(l));
    assert_eq!(found, [(Some(l), r), (Some(r), l)]);
    for edge in &report.edges {
        let held_at = edge.holds.expect("a mutex").stack.to_string();
        let waits_at = edge.stack.to_string();
        for stack in [&held_at, &waits_at] {
            assert!(stack.contains("two_threads_with_two_mutexes"), "{stack}");
        }
        assert_ne!(held_at, waits_at);
        assert!(edge.thread.id.is_some_and(|id| id != thread::current().id()));
    }
    // Once: also a further thread that joins them is in no other circle.
    thread::spawn(|| deadlock::with_ignored(|| drop(left.lock())));
    told.none_for_a_while();
}

#[test]
fn three_threads_with_mutexes_of_three_kinds() {
    let Some(told) = detected() else { return };
    let (fair, pi) = (leaked(FairMutex::new(())), leaked(PiMutex::new(())));
    let reentrant = leaked(ReentrantMutex::new(()));
    let met = leaked(Barrier::new(3));
    let ignored = |part: fn(_, _, _, _)| {
        thread::spawn(move || deadlock::with_ignored(|| part(fair, pi, reentrant, met)));
    };
    ignored(|fair, pi, _, met| {
        let _first = fair.lock();
        met.wait();
        let _second = pi.lock();
    });
    ignored(|_, pi, reentrant, met| {
        let _first = pi.lock();
        met.wait();
        let _second = reentrant.lock();
    });
    ignored(|fair, _, reentrant, met| {
        let _first = reentrant.lock();
        let _again = reentrant.lock();
        met.wait();
        let _second = fair.lock();
    });
    let report = told.one(ReportKind::Deadlock);
    assert_eq!(report.edges.len(), 3, "{report}");
    let held = |it: &deadlock::Edge| it.holds.unwrap().lock.address;
    for (edge, next) in report.edges.iter().zip(report.edges.iter().cycle().skip(1)) {
        assert_eq!(edge.wants.address, held(next), "each waits for the next");
    }
    for place in [place(fair), place(pi)] {
        assert!(report.edges.iter().any(|edge| edge.wants.address == place), "{report}");
    }
    told.none_for_a_while();
}

#[test]
fn a_reader_that_reads_again_beside_a_writer_that_waits() {
    let Some(told) = detected() else { return };
    let lock = leaked(RwLock::new(()));
    meet(
        Box::new(|meet| {
            let _outer = lock.read();
            meet();
            while lock.try_read().is_some() {
                thread::yield_now();
            }
            let _inner = lock.read();
        }),
        Box::new(|meet| {
            meet();
            drop(lock.write());
        }),
    );
    let report = told.one(ReportKind::Deadlock);
    let place = rw_place(lock);
    let mut found = edges(&report);
    found.sort();
    assert_eq!(found, [(None, place), (Some(place), place)], "the writer holds nothing");
}

#[test]
fn a_reader_that_waits_for_an_upgrade_which_waits_for_readers() {
    let Some(told) = detected() else { return };
    let (lock, mutex) = (leaked(RwLock::new(())), leaked(Mutex::new(())));
    meet(
        Box::new(|meet| {
            let _mutex = mutex.lock();
            let reads = lock.upgradable_read();
            meet();
            drop(RwLockUpgradableReadGuard::upgrade(reads));
        }),
        Box::new(|meet| {
            let _read = lock.read();
            meet();
            drop(mutex.lock());
        }),
    );
    is_told(told);
}

#[test]
fn a_once_whose_closure_waits_for_a_thread_that_waits_for_the_once() {
    let Some(told) = detected() else { return };
    let (once, mutex) = (leaked(Once::new()), leaked(Mutex::new(())));
    meet(
        Box::new(|meet| {
            once.call_once(|| {
                meet();
                drop(mutex.lock());
            });
        }),
        Box::new(|meet| {
            let _mutex = mutex.lock();
            meet();
            once.wait();
        }),
    );
    let report = told.one(ReportKind::Deadlock);
    let holds = |edge: &deadlock::Edge| edge.holds.unwrap().lock.kind;
    assert!(report.edges.iter().any(|edge| holds(edge) == LockKind::Once), "{report}");
}

/// Whether or not the first thread is notified, it cannot continue without the mutex.
#[test]
fn a_thread_that_waits_for_a_condition_and_holds_what_the_mutex_waits_for() {
    let Some(told) = detected() else { return };
    let (mutex, other) = (leaked(Mutex::new(())), leaked(Mutex::new(())));
    let condvar = leaked(Condvar::new());
    meet(
        Box::new(|meet| {
            let _other = other.lock();
            let mut guard = mutex.lock();
            meet();
            condvar.wait(&mut guard);
        }),
        Box::new(|meet| {
            meet();
            let _mutex = mutex.lock();
            drop(other.lock());
        }),
    );
    is_told(told);
}

/// A writer that will give up is also in the queue: it may be the one that keeps the reader out.
#[test]
fn a_deadlock_that_is_certain_when_another_wait_ends() {
    let Some(told) = detected() else { return };
    let lock = leaked(RwLock::new(()));
    let timed = leaked(Barrier::new(2));
    thread::spawn(|| {
        deadlock::with_ignored(|| {
            let _outer = lock.read();
            thread::spawn(|| drop(lock.write()));
            while lock.try_read().is_some() {
                thread::yield_now();
            }
            timed.wait();
            // By now the third thread waits, or it is no part of this.
            thread::sleep(Duration::from_millis(100));
            let _inner = lock.read();
        });
    });
    timed.wait();
    assert!(lock.try_write_for(Duration::from_millis(400)).is_none());
    let report = told.one(ReportKind::Deadlock);
    assert_eq!(report.edges.len(), 2, "{report}");
}

/// A lock that its thread holds and wants again.
fn alone(told: &Told, kind: LockKind, want: Want, part: impl FnOnce() + Send + 'static) {
    // In a debug build some of the locks panic after the report.
    thread::spawn(part);
    let report = told.one(ReportKind::SelfDeadlock);
    let [edge] = &report.edges[..] else { panic!("one edge: {report}") };
    let Some(Holding { lock, .. }) = edge.holds else { panic!("it holds it: {report}") };
    assert_eq!((lock, lock.kind, edge.want), (edge.wants, kind, want), "{report}");
}

/// Creates a lock, acquires it, and waits for it again.
macro_rules! waits_for_itself {
    ($told:ident: $($Lock:ident $want:ident |$lock:ident| $first:expr, $second:expr;)*) => {$(
        alone($told, LockKind::$Lock, Want::$want, || {
            let $lock = $Lock::new(());
            let _first = $first;
            drop($second);
        });
    )*};
}

#[test]
fn a_thread_that_waits_for_itself() {
    let Some(told) = detected() else { return };
    waits_for_itself! {
        told:
        Mutex Alone |mutex| mutex.lock(), mutex.lock();
        FairMutex Alone |mutex| mutex.try_lock(), mutex.lock();
        PiMutex Alone |mutex| mutex.try_lock_for(Duration::from_secs(9)), mutex.lock();
        RwLock Alone |lock| lock.read(), lock.write();
        RwLock Read |lock| lock.write(), lock.read();
        RwLock Upgradable |lock| lock.upgradable_read(), lock.upgradable_read();
        RwLock Upgrade |lock| lock.try_read(),
            RwLockUpgradableReadGuard::upgrade(lock.try_upgradable_read().unwrap());
    }
    alone(told, LockKind::Once, Want::Alone, || {
        let once = Once::new();
        once.call_once(|| once.call_once(|| ()));
    });
    told.none_for_a_while();
}
