//! The mutex that inherits priorities as programs use it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::pi::{OwnerEnded, RawPiMutex};
#[cfg(target_pointer_width = "32")]
use ondeck::platform::FutexWait;
use ondeck::platform::{Linux, Platform};
use ondeck::{PiMutex, PiMutexGuard};

use crate::again::alone;
use crate::copy::{Fork, fork};
use crate::seccomp::refuse_futex_operation;
use crate::until::until;

use super::watchdog;

const SHORT: Duration = Duration::from_millis(5);

/// Returns the mutex's word, in the kernel's format.
fn word<T>(mutex: &PiMutex<T>) -> u32 {
    // SAFETY: the first word of the mutex is an atomic of the kernel's layout.
    unsafe { &*(&raw const *mutex).cast::<AtomicU32>() }.load(Ordering::Relaxed)
}

/// Waits until a thread waits in the kernel for the mutex: its word says so.
fn until_waited_for<T>(mutex: &PiMutex<T>) {
    until(|| word(mutex) & libc::FUTEX_WAITERS != 0);
}

/// Returns the message of a thread's panic.
fn message(result: thread::Result<()>) -> String {
    *result.expect_err("a panic").downcast::<String>().expect("a message")
}

#[test]
fn an_attempt_with_a_deadline_succeeds_before_it() {
    let mutex = PiMutex::new(0);
    let guard = mutex.lock();
    watchdog::scope(|scope| {
        let waiter = scope.spawn(|| mutex.try_lock_for(Duration::MAX).map(|guard| *guard));
        until_waited_for(&mutex);
        drop(guard);
        assert_eq!(waiter.join().expect("no panic"), Some(0));
    });
    assert!(mutex.try_lock_for(Duration::ZERO).is_some());
}

/// Available since Linux 5.14; `libc` has it on some CPUs only.
const FUTEX_LOCK_PI2: i32 = 13;

/// The kernel ends each wait by the realtime clock at once, as if the clock had been set forward.
#[test]
fn a_deadline_on_a_clock_that_is_set_forward_is_waited_for_all_the_same() {
    alone(|| {
        let mutex = PiMutex::new(());
        let _guard = mutex.lock();
        let attempt = || {
            refuse_futex_operation(FUTEX_LOCK_PI2, libc::ENOSYS);
            refuse_futex_operation(libc::FUTEX_LOCK_PI, libc::ETIMEDOUT);
            let deadline = Linux::now().after(SHORT);
            // SAFETY: the child is only reaped.
            assert_eq!(unsafe { mutex.raw() }.try_lock_until(deadline), Ok(false));
            assert!(Linux::now() >= deadline);
        };
        watchdog::scope(|scope| scope.spawn(attempt).join()).expect("no panic");
    });
}

/// On 32 bits the call with deadlines of 64 bits also exists.
#[test]
#[cfg(target_pointer_width = "32")]
fn an_operation_that_the_kernel_does_not_have_is_no_call_that_it_does_not_have() {
    alone(|| {
        let mutex = PiMutex::new(());
        let _guard = mutex.lock();
        let attempt = || {
            refuse_futex_operation(FUTEX_LOCK_PI2, libc::ENOSYS);
            assert!(mutex.try_lock_for(SHORT).is_none());
            // Using the other call would end the process.
            crate::seccomp::refuse(libc::SYS_futex, libc::ENOSYS);
            let (word, now) = (AtomicU32::new(0), Linux::now());
            assert_eq!(Linux::futex_wait(&word, 0, Some(now)), FutexWait::TimedOut);
        };
        watchdog::scope(|scope| scope.spawn(attempt).join()).expect("no panic");
    });
}

#[test]
fn its_owner_is_told_if_it_locks_it_again() {
    let mutex = PiMutex::new(());
    let guard = mutex.lock();
    let again = catch_unwind(AssertUnwindSafe(|| drop(mutex.lock())));
    assert!(message(again).contains("deadlock: this thread locks a PiMutex that it holds"));
    assert!(mutex.try_lock().is_none());
    drop(guard);
    assert!(!mutex.is_locked());
}

/// Ends with the lock.
fn end_with(mutex: &Arc<PiMutex<u32>>, when: impl FnOnce() + Send + 'static) {
    let mutex = Arc::clone(mutex);
    let ended = thread::spawn(move || {
        let mut guard = mutex.lock();
        *guard = 1;
        std::mem::forget(guard);
        when();
    });
    ended.join().expect("no panic");
}

/// No thread can acquire the lock of an ended thread, until one recovers and repairs it.
fn is_abandoned(mutex: &PiMutex<u32>) {
    let lock = || message(catch_unwind(AssertUnwindSafe(|| drop(mutex.lock()))));
    assert!(lock().contains("a thread ended while it owned the lock"), "{}", lock());
    assert!(mutex.try_lock().is_none());
    let start = Instant::now();
    assert!(mutex.try_lock_for(SHORT).is_none());
    assert!(start.elapsed() >= SHORT);
    // SAFETY: the threads of this test keep no references.
    unsafe {
        let raw = mutex.raw();
        assert_eq!(raw.lock_robust(), Err(OwnerEnded));
        raw.unlock();
        assert_eq!(raw.lock_robust(), Err(OwnerEnded), "nothing has repaired it");
        raw.repair();
        raw.unlock();
        assert_eq!(raw.lock_robust(), Ok(()));
        raw.unlock();
    }
    assert_eq!(*mutex.lock(), 1);
}

#[test]
fn an_owner_that_ends_before_another_comes() {
    let mutex = Arc::new(PiMutex::new(0));
    end_with(&mutex, || ());
    is_abandoned(&mutex);
}

/// A kernel thread has the number of an owner that has ended. Kernel threads own no locks.
#[test]
fn an_owner_that_ended_and_whose_number_a_thread_of_the_kernel_has() {
    const FIRST: u32 = 2;
    if std::fs::read_to_string(format!("/proc/{FIRST}/comm")).ok().as_deref() != Some("kthreadd\n")
    {
        println!("skipped: threads of the kernel are not seen here");
        return;
    }
    let mutex = PiMutex::new(1);
    std::mem::forget(mutex.lock());
    // SAFETY: as in `word`.
    unsafe { &*(&raw const mutex).cast::<AtomicU32>() }.store(FIRST, Ordering::Relaxed);
    is_abandoned(&mutex);
}

#[test]
fn an_owner_that_ends_while_others_wait() {
    let mutex = Arc::new(PiMutex::new(0));
    let (waits, told) = (Arc::new(AtomicBool::new(false)), Arc::clone(&mutex));
    let waiting = Arc::clone(&waits);
    let waiters = thread::spawn(move || {
        until(|| told.is_locked());
        watchdog::scope(|scope| {
            let waiters = [0; 2].map(|_| scope.spawn(|| drop(told.lock())));
            until_waited_for(&told);
            waiting.store(true, Ordering::Relaxed);
            for waiter in waiters {
                assert!(message(waiter.join()).contains("a thread ended"));
            }
        });
    });
    end_with(&mutex, move || {
        until(|| waits.load(Ordering::Relaxed));
    });
    waiters.join().expect("both are told");
    is_abandoned(&mutex);
}

/// After an owner has ended, and before the waiting thread has become the owner, the kernel refuses
/// arriving threads.
#[test]
fn threads_that_come_while_an_owner_ends_are_refused_for_a_moment_only() {
    for _ in 0..100 {
        let mutex = Arc::new(PiMutex::new(0));
        let told = AtomicBool::new(false);
        watchdog::scope(|scope| {
            let owned = Arc::clone(&mutex);
            scope.spawn(|| end_with(&mutex, move || until_waited_for(&owned)));
            until(|| mutex.is_locked());
            scope.spawn(|| {
                let lock = catch_unwind(AssertUnwindSafe(|| drop(mutex.lock())));
                assert!(message(lock).contains("a thread ended"));
                told.store(true, Ordering::Relaxed);
            });
            for _ in 0..2 {
                scope.spawn(|| {
                    while !told.load(Ordering::Relaxed) {
                        assert!(mutex.try_lock_for(Duration::from_nanos(1)).is_none());
                    }
                });
            }
        });
    }
}

#[test]
fn the_child_of_a_fork_unlocks_what_its_thread_locked() {
    let mutex = PiMutex::new(0);
    let guard = mutex.lock();
    for how in [Fork::Library, Fork::Call] {
        fork(how, || {
            // SAFETY: the thread that forked owned it.
            unsafe { mutex.raw().unlock() };
            let guard = mutex.lock();
            // A direct system call, because musl's function does not notice a fork that bypasses
            // the library. SAFETY: gettid has no preconditions.
            let own = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
            assert_eq!(word(&mutex), own, "the child's thread has another number");
            assert!(mutex.try_lock().is_none());
            drop(guard);
        });
    }
    drop(guard);
}

/// Returns the effective priority of a thread of this process: below 0 for a real-time class.
fn runs_with(tid: i32) -> i32 {
    let path = format!("/proc/self/task/{tid}/stat");
    let text = std::fs::read_to_string(path).expect("the thread lives");
    let rest = text.rsplit(')').next().expect("a name");
    rest.split_whitespace().nth(15).expect("a priority").parse().expect("a number")
}

/// Moves the calling thread to a real-time class. Returns false if that is not allowed.
fn become_urgent() -> bool {
    // SAFETY: all fields are numbers, of which some C libraries have more than one.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = 1;
    // SAFETY: sets the class of the calling thread by live parameters.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0 }
}

#[test]
fn an_owner_has_the_priority_of_the_thread_that_waits() {
    let mutex = PiMutex::new(());
    // SAFETY: gettid has no preconditions.
    let own = unsafe { libc::gettid() };
    let guard = mutex.lock();
    let before = runs_with(own);
    assert!(before >= 0);
    let (sends, is_urgent) = mpsc::channel();
    watchdog::scope(|scope| {
        scope.spawn(|| {
            sends.send(become_urgent()).expect("the owner waits for it");
            drop(mutex.lock());
        });
        if is_urgent.recv().expect("no panic") {
            // Not as soon as the word says that a thread waits.
            until(|| runs_with(own) < 0);
        } else {
            eprintln!("not allowed to make a thread urgent: nothing was shown");
        }
        drop(guard);
    });
    assert_eq!(runs_with(own), before);
}

#[test]
fn a_guard_unlocks_and_can_be_mapped() {
    let mutex = PiMutex::new((1, 2));
    let mut second = PiMutexGuard::map(mutex.lock(), |pair| &mut pair.1);
    *second += 1;
    drop(second);
    assert_eq!(mutex.into_inner(), (1, 3));
    let raw = RawPiMutex::default();
    assert_eq!(raw.try_lock_until(Linux::now()), Ok(true));
    // SAFETY: locked above.
    unsafe { raw.unlock() };
    assert!(!raw.is_locked());
}

/// Two threads want each other's lock. One of them has a deadline, so this is not a deadlock.
#[test]
fn an_attempt_in_a_circle_of_waits_ends_at_its_deadline() {
    let (first, second) = (PiMutex::new(()), PiMutex::new(()));
    let (one, two) = (&first, &second);
    let own = one.lock();
    watchdog::scope(|scope| {
        let (locked, is_locked) = mpsc::channel();
        let other = scope.spawn(move || {
            let _own = two.lock();
            locked.send(()).expect("the other thread waits for it");
            drop(one.lock());
        });
        is_locked.recv().expect("no panic");
        until_waited_for(one);
        let deadline = Instant::now() + SHORT;
        assert!(two.try_lock_until(deadline).is_none());
        assert!(Instant::now() >= deadline);
        drop(own);
        other.join().expect("no panic");
    });
    drop(second.lock());
}
