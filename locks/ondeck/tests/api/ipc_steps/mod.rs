//! A process is stopped or killed at every step of a lock, an unlock, a wait and a notification.
//!
//! On x86-64 only: if atomic operations are loops of load-linked and store-conditional, a loop that
//! is stopped after each instruction never ends.

mod pairs;

use std::mem::forget;
use std::sync::mpsc;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use ondeck::ipc::{LockResult, MutexGuard};

use crate::asleep;
use crate::shared::{DIED, NUMBER, Shared, lock, share, share_file};
use crate::stepped::{At, Stepped, listed_by_caller, step_by_step, words};
use crate::watchdog;

type Guard = MutexGuard<'static, u32>;

/// Two mutexes. A child holds the first all the time, so that its list also has a lock other than
/// the one that enters and leaves.
#[derive(Clone, Copy)]
struct World {
    first: &'static Shared,
    second: &'static Shared,
}

/// The owner of the second mutex when an operation begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    None,
    Child,
    /// The test, which unlocks when the child sleeps.
    Test,
}

/// What a child does step by step. If it locks the second mutex, it keeps the lock.
struct Operation {
    name: &'static str,
    owner: Owner,
    body: fn(World, Option<Guard>),
}

const LOCK: Operation =
    Operation { name: "lock", owner: Owner::None, body: |world, _| forget(lock(world.second)) };

const LOCK_AFTER_A_SLEEP: Operation =
    Operation { name: "lock after a sleep", owner: Owner::Test, ..LOCK };

const LOCKS: &[Operation] = &[
    LOCK,
    LOCK_AFTER_A_SLEEP,
    Operation {
        name: "give up",
        owner: Owner::Test,
        body: |world, _| {
            let mutex = &world.second.mutex;
            forget(mutex.try_lock().or_else(|| mutex.try_lock_for(Duration::ZERO)));
        },
    },
];

const UNLOCK: Operation =
    Operation { name: "unlock", owner: Owner::Child, body: |_, guard| drop(guard) };

const WAIT: Operation = Operation {
    name: "wait",
    owner: Owner::Child,
    body: |world, guard| keep(world.second.condvar.wait(guard.expect("it owns it"))),
};

const WAITS: &[Operation] = &[
    WAIT,
    Operation {
        name: "wait until a deadline",
        owner: Owner::Child,
        body: |world, guard| {
            keep(world.second.condvar.wait_for(guard.expect("it owns it"), Duration::ZERO).0);
        },
    },
];

const NOTIFY_ALL: Operation = Operation {
    name: "notify_all",
    owner: Owner::None,
    body: |world, _| world.second.condvar.notify_all(),
};

const NOTIFICATIONS: &[Operation] = &[
    NOTIFY_ALL,
    Operation {
        name: "notify_one",
        owner: Owner::None,
        body: |world, _| world.second.condvar.notify_one(),
    },
    Operation {
        name: "notify_all and unlock",
        owner: Owner::Child,
        body: |world, guard| {
            world.second.condvar.notify_all();
            drop(guard);
        },
    },
];

fn keep(result: LockResult<'static, u32>) {
    forget(result.expect("no owner has died"));
}

/// Another thread that waits for the second mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleeper {
    None,
    /// It sleeps before the first step of the child.
    Before,
    /// It begins to sleep after the child.
    After,
    /// It gives up before the child's first step.
    GivesUp,
}

impl World {
    fn new() -> Self {
        Self { first: share(), second: share() }
    }

    fn child(self, operation: &Operation) -> Stepped {
        let before = || {
            // So that no step of the body is a thread's first.
            drop(lock(self.second));
            forget(lock(self.first));
            (operation.owner == Owner::Child).then(|| lock(self.second))
        };
        let memory = [self.first, self.second].map(words);
        Stepped::start(&memory, before, |guard| (operation.body)(self, guard))
    }

    /// Returns whether the child owns the second mutex.
    fn is_owner(self, child: &Stepped) -> bool {
        self.second.word() & NUMBER == child.number().cast_unsigned()
    }

    /// Starts a thread that locks and unlocks the second mutex. Returns when it sleeps. The thread
    /// returns whether it received the report that an owner ended.
    fn sleeper<'scope>(self, scope: &'scope Scope<'scope, '_>) -> ScopedJoinHandle<'scope, bool> {
        let (tell, told) = mpsc::channel();
        let sleeper = scope.spawn(move || {
            tell.send(asleep::name()).expect("the test waits for it");
            let locked = self.second.mutex.lock();
            assert_eq!(listed_by_caller(), [self.second.place()]);
            locked.is_err()
        });
        asleep::until_asleep(told.recv().expect("no panic"));
        sleeper
    }

    /// Starts a thread that waits at the condition variable until the data is 1. Returns when it
    /// sleeps.
    fn waiter<'scope>(self, scope: &'scope Scope<'scope, '_>) -> ScopedJoinHandle<'scope, ()> {
        let (tell, told) = mpsc::channel();
        let waiter = scope.spawn(move || {
            let mut guard = lock(self.second);
            tell.send(asleep::name()).expect("the test waits for it");
            while *guard == 0 {
                guard = self.second.condvar.wait(guard).unwrap_or_else(|died| {
                    // SAFETY: the owner's process has ended.
                    unsafe { died.into_inner() }
                });
            }
        });
        asleep::until_asleep(told.recv().expect("no panic"));
        waiter
    }

    fn notify(self) {
        let guard = lock(self.second);
        assert_eq!(listed_by_caller(), [self.second.place()]);
        self.second.condvar.notify_all();
        drop(guard);
    }

    /// All goes on after the children have been killed. The next owner receives the report of that
    /// if one of them was the owner.
    fn goes_on(
        self,
        was_owned: bool,
        sleeper: Option<ScopedJoinHandle<'_, bool>>,
        waiter: Option<ScopedJoinHandle<'_, ()>>,
    ) {
        if let Some(sleeper) = sleeper {
            // It may have had the lock before, while the child waited for a notification.
            let received_report = sleeper.join().expect("no panic");
            assert!(was_owned || !received_report, "no owner has ended");
        }
        let locked = self.second.mutex.lock();
        assert_eq!(locked.is_err(), was_owned, "what the next owner got");
        assert_eq!(listed_by_caller(), [self.second.place()]);
        let mut guard = locked.unwrap_or_else(|died| {
            // SAFETY: the owner's process has ended.
            unsafe { died.repair() }
        });
        *guard = 1;
        self.second.condvar.notify_all();
        drop(guard);
        if let Some(waiter) = waiter {
            waiter.join().expect("no panic");
        }
        drop(lock(self.second));
        assert!(!self.second.mutex.is_locked());
        assert_eq!(self.second.word() & DIED, 0);
        let first = self.first.mutex.try_lock().expect("its owner's end is noticed");
        assert!(first.is_err(), "its owner has ended");
    }
}

/// What happens to a child at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Killed,
    /// It waits while other threads go through all of their steps, and goes on.
    Stopped,
}

/// Returns whether the child has come to the stop before its end.
fn one_run(operation: &Operation, what: What, other: Sleeper, stop: usize) -> bool {
    let world = World::new();
    watchdog::scope(|scope| {
        // A notification may find no waiter but the child.
        let is_alone = operation.owner == Owner::Child && other == Sleeper::None;
        let waiter = (!is_alone).then(|| world.waiter(scope));
        let child = world.child(operation);
        let mut held = (operation.owner == Owner::Test).then(|| lock(world.second));
        if other == Sleeper::GivesUp {
            assert!(world.second.mutex.try_lock_for(Duration::ZERO).is_none());
        }
        let mut sleeper = (other == Sleeper::Before).then(|| world.sleeper(scope));
        let mut is_notified = false;
        child.to(stop, || {
            if other == Sleeper::After {
                sleeper = Some(world.sleeper(scope));
            }
            if let Some(held) = held.take() {
                drop(held);
                if other == Sleeper::Before {
                    let sleeper = sleeper.take().expect("started above");
                    assert!(!sleeper.join().expect("no panic"));
                }
            } else {
                world.notify();
                is_notified = true;
            }
        });
        let at = child.at();
        if at == At::Stop {
            let (listed, pending) = child.listed();
            assert_eq!(listed.last(), Some(&world.first.place()));
            let is_listed = listed == [world.second.place(), world.first.place()];
            assert!(is_listed || listed.len() == 1, "a list of {listed:#x?}");
            let is_known = is_listed || pending == Some(world.second.place());
            let is_owner = world.is_owner(&child);
            assert!(is_known || !is_owner, "the kernel does not find it");
            assert!(is_owner || !is_listed, "another owner may list it");
        }
        if what == What::Stopped {
            drop(held.take());
            if world.is_owner(&child) {
                assert!(world.second.mutex.try_lock().is_none());
                assert!(world.second.mutex.try_lock_for(Duration::ZERO).is_none());
            } else {
                let (guard, _) = world.second.condvar.wait_for(lock(world.second), Duration::ZERO);
                drop(guard);
                world.notify();
                is_notified = true;
                if let Some(sleeper) = sleeper.take() {
                    assert!(!sleeper.join().expect("no panic"));
                }
            }
            child.finish(|| {
                if !is_notified {
                    // Without the mutex, which the child may own at its end, if its deadline has
                    // just passed.
                    world.second.condvar.notify_all();
                }
            });
        }
        let was_owned = world.is_owner(&child);
        drop(child);
        drop(held);
        world.goes_on(was_owned, sleeper, waiter);
        at != At::End
    })
}

/// Stops or kills a child at each of its stops.
fn at_each_stop(operations: &[Operation], what: What, others: &[Sleeper]) {
    for operation in operations {
        let may_wait = operation.owner != Owner::None;
        for &other in others.iter().filter(|&&other| may_wait || other == Sleeper::None) {
            let mut stop = 0;
            while one_run(operation, what, other, stop) {
                stop += 1;
            }
            println!("{}, {other:?}: {what:?} at each of {stop} stops", operation.name);
            assert!(stop > 4, "{} does nothing that another process may find", operation.name);
        }
    }
}

/// The threads that wait beside the child.
const FEW: &[Sleeper] = &[Sleeper::None, Sleeper::Before];
const ALL: &[Sleeper] = &[Sleeper::None, Sleeper::Before, Sleeper::GivesUp];

/// Tests in which something happens to a child at each of its stops.
macro_rules! steps {
    ($(fn $test:ident => $what:ident $($operations:expr, $others:expr);+;)*) => {$(
        #[test]
        fn $test() {
            step_by_step(|| {
                $(at_each_stop($operations, What::$what, $others);)+
            });
        }
    )*};
}

steps! {
    fn a_process_may_be_killed_at_any_step_of_a_lock =>
        Killed LOCKS, FEW; &[LOCK_AFTER_A_SLEEP], &[Sleeper::After];
    fn a_process_may_be_stopped_at_any_step_of_a_lock =>
        Stopped LOCKS, FEW; &[LOCK_AFTER_A_SLEEP], &[Sleeper::After];
    fn a_process_may_be_killed_at_any_step_of_an_unlock => Killed &[UNLOCK], ALL;
    fn a_process_may_be_stopped_at_any_step_of_an_unlock => Stopped &[UNLOCK], ALL;
    fn a_process_may_be_killed_at_any_step_of_a_wait => Killed WAITS, FEW;
    fn a_process_may_be_stopped_at_any_step_of_a_wait => Stopped WAITS, FEW;
    fn a_process_may_be_killed_at_any_step_of_a_notification => Killed NOTIFICATIONS, FEW;
    fn a_process_may_be_stopped_at_any_step_of_a_notification => Stopped NOTIFICATIONS, FEW;
}

/// The next owner frees the memory at the first step at which it can: any later access to it is an
/// error.
fn free_after_an_unlock(other: Sleeper) {
    let (second, file) = share_file();
    let world = World { first: share(), second };
    watchdog::scope(|scope| {
        let child = world.child(&UNLOCK);
        if other == Sleeper::GivesUp {
            assert!(second.mutex.try_lock_for(Duration::ZERO).is_none());
        }
        let sleeper = (other == Sleeper::Before).then(|| world.sleeper(scope));
        while world.is_owner(&child) {
            assert_eq!(child.step(), At::Stop);
        }
        drop(lock(second));
        if let Some(sleeper) = sleeper {
            assert!(!sleeper.join().expect("no panic"));
        }
        file.set_len(0).expect("it is writable");
        child.finish(|| ());
        drop(child);
        assert!(world.first.mutex.lock().is_err(), "its owner has ended");
    });
}

#[test]
fn the_mutex_may_be_freed_at_the_first_step_after_an_unlock() {
    step_by_step(|| {
        ALL.iter().copied().for_each(free_after_an_unlock);
    });
}
