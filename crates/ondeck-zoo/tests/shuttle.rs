//! Every portable lock under random schedules of four to eight threads; see the tests of the same
//! name in `ondeck`, where the platform is.
//!
//! Locks that only spin are here, too: at each turn of a waiting loop the scheduler may run another
//! thread, and does. So no waiter keeps the others from running, and every lock ends.

#[path = "../../ondeck/tests/support/shuttle_platform.rs"]
mod shuttle_platform;

use std::cell::{Cell, UnsafeCell};

use ondeck_zoo::{RawCondvar, RawLock, Visitor, locks};
use shuttle::thread::{JoinHandle, spawn};
use shuttle_platform::explore::{explore, keep};
use shuttle_platform::{Shuttle, one_in, step};

/// A lock, what it guards, and the condition variable of the threads that want some of it.
struct Guarded<L: RawLock<Shuttle>> {
    lock: UnsafeCell<L>,
    owned: Cell<bool>,
    count: Cell<u32>,
    given: L::Condvar,
}

// SAFETY: one thread of an execution runs at a time, all on one of the machine's.
unsafe impl<L: RawLock<Shuttle>> Sync for Guarded<L> {}

impl<L: RawLock<Shuttle>> Guarded<L> {
    fn new() -> &'static Self {
        let (owned, count) = (Cell::new(false), Cell::new(0));
        keep(Self { lock: UnsafeCell::new(L::new()), owned, count, given: L::Condvar::new() })
    }

    fn raw(&self) -> &L {
        // SAFETY: borrowed mutably at the end only, when no other thread is left.
        unsafe { &*self.lock.get() }
    }

    fn lock(&self, context: &L::Context) {
        // SAFETY: each thread's context stays and serves one acquisition at a time.
        unsafe { self.raw().lock(context) };
    }

    fn unlock(&self, context: &L::Context) {
        // SAFETY: the scenarios call it when they hold the lock with this context.
        unsafe { self.raw().unlock(context) };
    }

    /// A section of the owner's.
    fn change(&self, change: impl FnOnce(u32) -> u32) {
        assert!(!self.owned.replace(true), "two owners at once");
        step();
        self.count.set(change(self.count.get()));
        self.owned.set(false);
    }

    fn end(&self, expected: u32) {
        assert_eq!(self.count.get(), expected);
        // SAFETY: no other thread is left, and no borrow.
        assert!(unsafe { &mut *self.lock.get() }.is_idle(), "a mark was left behind");
        assert!(shuttle_platform::is_at_rest(), "something is left in the table");
    }
}

fn crew(count: usize, body: impl Fn() -> u32 + Send + Copy + 'static) -> Vec<JoinHandle<u32>> {
    (0..count).map(|_| spawn(body)).collect()
}

fn join(threads: Vec<JoinHandle<u32>>) -> u32 {
    threads.into_iter().map(|thread| thread.join().expect("it ends")).sum()
}

/// Threads that lock and attempt, three times each.
fn crowd<L: RawLock<Shuttle>>(threads: usize) {
    let guarded = Guarded::<L>::new();
    let user = move || {
        let context = L::Context::default();
        let mut sections = 0;
        for _ in 0..3 {
            let owner = if one_in(3) {
                // SAFETY: as in `lock`.
                unsafe { guarded.raw().try_lock(&context) }
            } else {
                guarded.lock(&context);
                true
            };
            if owner {
                guarded.change(|count| count + 1);
                guarded.unlock(&context);
                sections += 1;
            }
        }
        sections
    };
    guarded.end(join(crew(threads, user)));
}

/// Three take two permits each, two give three each, one at a time or all at once.
fn permits<L: RawLock<Shuttle>>() {
    let guarded = Guarded::<L>::new();
    let taker = move || {
        let context = L::Context::default();
        for _ in 0..2 {
            guarded.lock(&context);
            while guarded.count.get() == 0 {
                step();
                // SAFETY: the lock is held with this context.
                unsafe { guarded.given.wait(guarded.raw(), &context) };
            }
            guarded.change(|count| count - 1);
            guarded.unlock(&context);
        }
        0
    };
    let giver = move || {
        let context = L::Context::default();
        let (all, inside) = (one_in(2), one_in(2));
        for _ in 0..if all { 1 } else { 3 } {
            guarded.lock(&context);
            guarded.change(|count| count + if all { 3 } else { 1 });
            if !inside {
                guarded.unlock(&context);
            }
            if all {
                guarded.given.notify_all();
            } else {
                guarded.given.notify_one();
            }
            if inside {
                guarded.unlock(&context);
            }
        }
        0
    };
    let (takers, givers) = (crew(3, taker), crew(2, giver));
    guarded.end(join(takers) + join(givers));
}

#[test]
fn four_threads_exclude_each_other_and_lose_no_wake() {
    struct Check;
    impl Visitor<Shuttle> for Check {
        fn visit<L: RawLock<Shuttle>>(&mut self) {
            explore(L::INFO.name, 300, || crowd::<L>(4));
        }
    }
    locks::for_each_hosted::<Shuttle>(&mut Check);
}

#[test]
fn eight_threads_exclude_each_other_and_lose_no_wake() {
    struct Check;
    impl Visitor<Shuttle> for Check {
        fn visit<L: RawLock<Shuttle>>(&mut self) {
            explore(L::INFO.name, 100, || crowd::<L>(8));
        }
    }
    locks::for_each_hosted::<Shuttle>(&mut Check);
}

#[test]
fn five_threads_lose_no_signal() {
    struct Check;
    impl Visitor<Shuttle> for Check {
        fn visit<L: RawLock<Shuttle>>(&mut self) {
            explore(L::INFO.name, 200, permits::<L>);
        }
    }
    locks::for_each_hosted::<Shuttle>(&mut Check);
}
