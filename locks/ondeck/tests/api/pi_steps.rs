//! A thread is stopped, or ends, at every step of a mutex that inherits priorities.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::pi::{OwnerEnded, RawPiMutex};
use ondeck::platform::{Linux, Platform};

use crate::asleep;
use crate::shared::{Child, NUMBER};
use crate::stepped::{At, Stepped, be_stepped, step_by_step, words};
use crate::until::until;
use crate::watchdog::Watchdog;

/// The state of the mutex when an operation begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    Free,
    /// The stepped thread owns it.
    Owned,
    /// The first thread of the process owns it, and unlocks when the stepped thread sleeps.
    Held,
    /// A thread has ended with it.
    Abandoned,
}

/// What a thread does step by step. If it locks the mutex, it keeps the lock.
struct Operation {
    name: &'static str,
    begins: Begins,
    body: fn(&RawPiMutex),
}

const OPERATIONS: &[Operation] = &[
    Operation {
        name: "lock",
        begins: Begins::Free,
        body: |mutex| assert_eq!(mutex.lock(), Ok(())),
    },
    Operation {
        name: "lock after a sleep",
        begins: Begins::Held,
        body: |mutex| assert_eq!(mutex.lock(), Ok(())),
    },
    Operation {
        name: "give up",
        begins: Begins::Held,
        body: |mutex| {
            let _ = mutex.try_lock_until(Linux::now());
        },
    },
    Operation {
        name: "unlock",
        begins: Begins::Owned,
        // SAFETY: the thread owns it.
        body: |mutex| unsafe { mutex.unlock() },
    },
    Operation {
        name: "lock what is abandoned",
        begins: Begins::Abandoned,
        body: |mutex| assert_eq!(mutex.lock(), Err(OwnerEnded)),
    },
    Operation {
        name: "repair",
        begins: Begins::Abandoned,
        // SAFETY: no thread keeps a reference, and no other calls this.
        body: |mutex| unsafe {
            assert_eq!(mutex.lock_robust(), Err(OwnerEnded));
            mutex.repair();
            mutex.unlock();
        },
    },
];

/// What the process of the stepped thread is asked to do.
mod request {
    /// It has come to the beginning.
    pub const BEGUN: u32 = 1;
    pub const UNLOCK: u32 = 2;
    /// Threads go through all of their steps beside the stepped one.
    pub const GO_ON_BESIDE: u32 = 3;
    /// The same after its end. The process ends.
    pub const GO_ON_AFTER: u32 = 4;
}

/// The memory that both processes share.
#[repr(C)]
struct Shared {
    mutex: RawPiMutex,
    /// The number of the stepped thread.
    stepped: AtomicU32,
    /// The number of the thread that has ended with the mutex.
    ended: AtomicU32,
    asked: AtomicU32,
    done: AtomicU32,
    /// Whether the next owner is to receive the report that an owner ended.
    reports: AtomicU32,
}

fn share() -> &'static Shared {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, which is never unmapped; all zeros are valid.
    unsafe {
        let memory = libc::mmap(ptr::null_mut(), size_of::<Shared>(), access, kind, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        &*memory.cast()
    }
}

fn until_word(word: &AtomicU32, is_there: impl Fn(u32) -> bool) -> u32 {
    loop {
        let value = word.load(Ordering::Acquire);
        if is_there(value) {
            return value;
        }
        thread::yield_now();
    }
}

impl Shared {
    fn words(&self) -> [u32; 2] {
        let words = words(&self.mutex);
        [words[0].load(Ordering::Relaxed), words[1].load(Ordering::Relaxed)]
    }

    fn is_waited_for(&self) -> bool {
        self.words()[0] & libc::FUTEX_WAITERS != 0
    }

    fn is_owner(&self, number: &AtomicU32) -> bool {
        let owner = self.words()[0] & NUMBER;
        owner != 0 && owner == number.load(Ordering::Relaxed)
    }

    /// Returns whether the next owner is to receive the report that an owner ended if the stepped
    /// thread ends now.
    fn would_report(&self) -> bool {
        self.words()[1] != 0 || self.is_owner(&self.stepped) || self.is_owner(&self.ended)
    }

    fn ask(&self, what: u32) {
        self.reports.store(self.would_report().into(), Ordering::Relaxed);
        self.asked.store(what, Ordering::Release);
        until_word(&self.done, |done| done == what);
    }

    fn next(&self, done: u32) -> u32 {
        self.done.store(done, Ordering::Release);
        until_word(&self.asked, |asked| asked > done)
    }
}

/// Unlocks for the owner.
fn unlock(mutex: &RawPiMutex) {
    // SAFETY: the tests unlock only what the calling thread has locked.
    unsafe { mutex.unlock() };
}

/// The process of the stepped thread.
fn process(shared: &'static Shared, operation: &Operation, has_sleeper: bool) {
    let mutex = &shared.mutex;
    let body = operation.body;
    let begins = operation.begins;
    if begins == Begins::Abandoned {
        let end = move || {
            shared.ended.store(asleep::name(), Ordering::Relaxed);
            assert_eq!(mutex.lock(), Ok(()));
        };
        thread::spawn(end).join().expect("no panic");
    }
    let mut holds = begins == Begins::Held;
    if holds {
        assert_eq!(mutex.lock(), Ok(()));
    }
    thread::spawn(move || {
        // So that no step of the body is a thread's first.
        let warm = RawPiMutex::new();
        assert!(warm.try_lock());
        unlock(&warm);
        if begins == Begins::Owned {
            assert_eq!(mutex.lock(), Ok(()));
        }
        let traced = || shared.stepped.store(asleep::name(), Ordering::Release);
        be_stepped(traced, || body(mutex));
    });
    until_word(&shared.stepped, |number| number != 0);
    let mut sleeper = has_sleeper.then(|| {
        let sleeper = thread::spawn(move || mutex.lock().map(|()| unlock(mutex)));
        until(|| shared.is_waited_for());
        sleeper
    });
    let mut done = request::BEGUN;
    loop {
        done = shared.next(done);
        if holds {
            unlock(mutex);
            holds = false;
        }
        let reports = shared.reports.load(Ordering::Relaxed) != 0;
        let result = if reports { Err(OwnerEnded) } else { Ok(()) };
        if done == request::GO_ON_BESIDE && shared.is_owner(&shared.stepped) {
            assert!(!mutex.try_lock());
            assert_eq!(mutex.try_lock_until(Linux::now()), Ok(false));
        } else if done != request::UNLOCK {
            if let Some(sleeper) = sleeper.take() {
                // It may have had the lock before the stepped thread.
                let locked = sleeper.join().expect("no panic");
                assert!(reports || locked.is_ok(), "no owner has ended");
            }
            assert_eq!(mutex.lock().map(|()| unlock(mutex)), result, "what the next owner got");
        }
        if done == request::GO_ON_AFTER {
            // SAFETY: no thread keeps a reference, and no other calls this.
            assert_eq!(unsafe { mutex.lock_robust() }, result);
            mutex.repair();
            unlock(mutex);
            assert_eq!(mutex.lock(), Ok(()));
            unlock(mutex);
            assert_eq!(shared.words(), [0, 0]);
            return;
        }
    }
}

/// What happens to the thread at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Ended,
    /// It waits while other threads go through all of their steps, and goes on.
    Stopped,
}

/// Returns whether the thread has come to the stop before its end.
fn one_run(operation: &Operation, what: What, has_sleeper: bool, stop: usize) -> bool {
    let shared = share();
    let child = Child::start(|| process(shared, operation, has_sleeper));
    until_word(&shared.done, |done| done == request::BEGUN);
    let number = shared.stepped.load(Ordering::Relaxed).cast_signed();
    let thread = Stepped::follow(child, number, &[words(&shared.mutex)]);
    thread.to(stop, || shared.ask(request::UNLOCK));
    let at = thread.at();
    // A thread that sleeps in the kernel is the kernel's.
    if at != At::Asleep {
        if what == What::Stopped {
            shared.ask(request::GO_ON_BESIDE);
            thread.finish(|| ());
        }
        shared.reports.store(shared.would_report().into(), Ordering::Relaxed);
        thread.end();
        shared.asked.store(request::GO_ON_AFTER, Ordering::Release);
        thread.ends();
    }
    at != At::End
}

fn at_each_stop(what: What) {
    let watchdog = Watchdog::start("a thread that goes step by step", Duration::from_mins(1));
    for operation in OPERATIONS {
        let may_wait = [Begins::Owned, Begins::Held].contains(&operation.begins);
        for has_sleeper in [false, true].into_iter().take(1 + usize::from(may_wait)) {
            let mut stop = 0;
            while one_run(operation, what, has_sleeper, stop) {
                watchdog.progress();
                stop += 1;
            }
            let with = if has_sleeper { ", another waits" } else { "" };
            println!("{}{with}: {what:?} at each of {stop} stops", operation.name);
            assert!(stop > 0, "{} does nothing that another thread may find", operation.name);
        }
    }
}

#[test]
fn a_thread_may_end_at_any_step_of_a_pi_mutex() {
    step_by_step(|| at_each_stop(What::Ended));
}

#[test]
fn a_thread_may_be_stopped_at_any_step_of_a_pi_mutex() {
    step_by_step(|| at_each_stop(What::Stopped));
}
