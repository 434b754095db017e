//! A process is stopped or killed between any two instructions of a lock, an unlock or a wait, by ptrace(2).
//!
//! On x86-64 only: if atomic operations are loops of load-linked and store-conditional, a loop that is stopped after
//! each instruction never ends.

use std::mem::forget;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::asleep;
use crate::ipc::{Child, Shared, lock, share};
use crate::watchdog::{self, Watchdog};

/// The signal by which a child stops itself, at the beginning and at the end.
const MARK: i32 = libc::SIGUSR1;

/// A child that runs one instruction at a time. Only the thread that has started it may use it.
struct Stepped(Child);

impl Stepped {
    /// Starts a child that runs `before`, and then executes `body` step by step.
    fn start<T>(before: impl FnOnce() -> T, body: impl FnOnce(T)) -> Self {
        let stepped = Self(Child::start(|| {
            let begun = before();
            // SAFETY: this makes the parent the tracer, and stops.
            unsafe {
                assert_eq!(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0), 0);
                libc::raise(MARK);
            }
            body(begun);
            // SAFETY: stops.
            unsafe { libc::raise(MARK) };
        }));
        assert_eq!(stepped.stopped_by(), MARK);
        // The child must not survive a test that is killed from outside.
        let option = libc::PTRACE_O_EXITKILL;
        // SAFETY: the child is stopped.
        let set = unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, stepped.0.0, 0, option) };
        assert_eq!(set, 0);
        stepped
    }

    /// Waits until it is stopped. Returns the signal.
    fn stopped_by(&self) -> i32 {
        let status = self.0.wait();
        assert!(libc::WIFSTOPPED(status), "it has ended: {status:#x}");
        libc::WSTOPSIG(status)
    }

    fn run(&self, how: libc::c_uint) -> i32 {
        loop {
            // SAFETY: the child is stopped, and continues without a signal.
            assert_eq!(unsafe { libc::ptrace(how, self.0.0, 0, 0) }, 0);
            let signal = self.stopped_by();
            // Another process may stop this one and its children for a while.
            if ![libc::SIGSTOP, libc::SIGCONT].contains(&signal) {
                return signal;
            }
        }
    }

    /// Runs one instruction. Returns false if the body has ended.
    fn step(&self) -> bool {
        let signal = self.run(libc::PTRACE_SINGLESTEP);
        assert!([libc::SIGTRAP, MARK].contains(&signal), "signal {signal}");
        signal == libc::SIGTRAP
    }

    /// Runs this number of instructions. Returns false if the body ends before.
    fn steps(&self, steps: usize) -> bool {
        (0..steps).all(|_| self.step())
    }

    /// Runs the rest of the body.
    fn finish(&self) {
        assert_eq!(self.run(libc::PTRACE_CONT), MARK);
    }
}

/// Returns whether this machine lets a process trace its child.
fn may_trace() -> bool {
    let child = Child::start(|| {
        // SAFETY: makes the parent the tracer, or fails.
        let refused = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } != 0;
        assert!(!refused);
    });
    let status = child.wait();
    forget(child);
    if status != 0 {
        eprintln!("skipped: ptrace is refused");
    }
    status == 0
}

fn watched() -> Watchdog {
    Watchdog::start("a process that goes step by step", Duration::from_mins(1))
}

/// Two mutexes. A child holds the first all the time, so that its list also has a lock other than the one that enters
/// and leaves.
fn two() -> [&'static Shared; 2] {
    [share(), share()]
}

fn owner_has_ended(shared: &Shared) -> bool {
    shared.mutex.try_lock().expect("its owner's end is noticed").is_err()
}

/// At any step the kernel notices that the killed process owns the lock, or is about to.
#[test]
fn a_process_may_be_killed_at_any_step_of_a_lock() {
    if !may_trace() {
        return;
    }
    let _watchdog = watched();
    for steps in 1.. {
        let [first, second] = two();
        let child = Stepped::start(|| forget(lock(first)), |()| forget(lock(second)));
        let is_over = !child.steps(steps);
        drop(child);
        assert!(owner_has_ended(first), "after {steps} steps");
        assert!(second.mutex.try_lock().is_some(), "after {steps} steps");
        if is_over {
            break;
        }
    }
}

/// The sleeping thread acquires the lock, whether it was unlocked or not.
#[test]
fn a_process_may_be_killed_at_any_step_of_an_unlock() {
    if !may_trace() {
        return;
    }
    let _watchdog = watched();
    for steps in 1.. {
        let [first, second] = two();
        let locks = || {
            forget(lock(first));
            lock(second)
        };
        let child = Stepped::start(locks, drop);
        let mut is_over = false;
        let number = AtomicU32::new(0);
        watchdog::scope(|scope| {
            let sleeper = scope.spawn(|| {
                number.store(asleep::name(), Ordering::Relaxed);
                drop(second.mutex.lock());
            });
            second.until_waited_for();
            asleep::until_asleep(number.load(Ordering::Relaxed));
            is_over = !child.steps(steps);
            drop(child);
            sleeper.join().expect("no panic");
        });
        assert!(owner_has_ended(first), "after {steps} steps");
        if is_over {
            break;
        }
    }
}

/// The next owner has the lock in its list as soon as possible. After that the previous owner does not access the
/// lock's list entry: its own list is intact.
#[test]
fn the_next_owner_may_come_at_the_first_step_after_an_unlock() {
    if !may_trace() {
        return;
    }
    let _watchdog = watched();
    let [first, second] = two();
    let locks = || {
        forget(lock(first));
        lock(second)
    };
    let child = Stepped::start(locks, drop);
    while second.mutex.is_locked() {
        assert!(child.step(), "it does not unlock");
    }
    let (done, is_done) = mpsc::channel::<()>();
    watchdog::scope(|scope| {
        // Not the thread that forked, so that its list is at another address than the child's.
        let next = scope.spawn(move || {
            let guard = lock(second);
            // An error after the child has ended.
            let _ = is_done.recv();
            drop(guard);
        });
        while !second.mutex.is_locked() {
            thread::yield_now();
        }
        child.finish();
        drop(child);
        drop(done);
        next.join().expect("no panic");
    });
    assert!(owner_has_ended(first));
    drop(lock(second));
}

/// A notification comes between the unlock and the sleep of a waiter.
#[test]
fn a_notification_may_come_at_the_first_step_after_a_waiters_unlock() {
    if !may_trace() {
        return;
    }
    let _watchdog = watched();
    let shared = share();
    let begin = || {
        drop(lock(shared));
        lock(shared)
    };
    let wait = |guard| drop(shared.condvar.wait(guard));
    let child = Stepped::start(begin, wait);
    while shared.mutex.is_locked() {
        assert!(child.step(), "it does not unlock");
    }
    let guard = lock(shared);
    shared.condvar.notify_one();
    drop(guard);
    child.finish();
}
