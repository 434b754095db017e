//! The mutex and the condition variable for memory that several processes share.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ondeck::ipc::{self, Condvar, MutexGuard};
use ondeck::platform::Linux;

use crate::alike::fails_in_time;
use crate::asleep;
use crate::copy::{Fork, fork};
use crate::seccomp::{Filter, Scope};
use crate::shared::{Child, Shared, WAITED, lock, share};
use crate::watchdog;

/// Starts a thread that waits for the mutex, and returns when it sleeps. It returns whether it has
/// acquired the mutex.
fn sleeper<'a>(
    scope: &'a thread::Scope<'a, '_>,
    shared: &'static Shared,
) -> thread::ScopedJoinHandle<'a, bool> {
    let (number, sleeps) = mpsc::channel();
    let waiter = scope.spawn(move || {
        number.send(asleep::name()).expect("the test waits for it");
        // Long enough that only a lost wake exceeds it.
        shared.mutex.try_lock_for(Duration::from_secs(30)).is_some()
    });
    let number = sleeps.recv().expect("it has begun");
    shared.until_waited_for();
    asleep::until_asleep(number);
    waiter
}

#[test]
fn processes_exclude_each_other() {
    const TURNS: u32 = 5_000;
    let shared = share();
    let count = || (0..TURNS).for_each(|_| *lock(shared) += 1);
    let children = [0; 3].map(|_| Child::start(count));
    watchdog::scope(|scope| {
        scope.spawn(count);
        scope.spawn(count);
    });
    for child in children {
        assert_eq!(child.status(), 0);
    }
    assert_eq!(*lock(shared), 5 * TURNS);
    assert_eq!(shared.word() & !WAITED, 0, "no owner is left");
}

/// The owner is killed. Its successors get the error until one of them repairs the lock.
#[test]
fn the_next_owner_is_told_that_a_process_was_killed() {
    assert!(ipc::owner_death_is_told());
    let shared = share();
    let child = Child::start(|| {
        let mut guard = lock(shared);
        *guard = 7;
        shared.next_step();
        shared.until_step(2);
    });
    shared.until_step(1);
    assert!(shared.mutex.try_lock().is_none());
    drop(child);
    let died = shared.mutex.try_lock().expect("it is free").expect_err("the owner was killed");
    // SAFETY: the owner's process has ended, and its references with it.
    let guard = unsafe { died.into_inner() };
    assert_eq!(*guard, 7);
    drop(guard);
    let died = shared.mutex.try_lock().expect("it is free").expect_err("nothing has repaired it");
    // SAFETY: as above.
    let guard = unsafe { died.repair() };
    assert!(!MutexGuard::owner_has_died(&guard));
    drop(guard);
    assert_eq!(*lock(shared), 7);
}

/// A waiter is woken, and killed before it runs: the kernel wakes another in its place.
///
/// The waiter is bound to the CPU of the thread that wakes and kills it, and runs only while that
/// CPU is idle.
#[test]
fn a_waiter_that_is_killed_takes_no_wake_along() {
    let shared = share();
    let cpu = Linux::affinity()[0];
    let guard = lock(shared);
    let child = Child::start(|| {
        Linux::set_affinity(&[cpu]).expect("one of its own");
        // SAFETY: all fields are numbers, of which some C libraries have more than one.
        let parameters: libc::sched_param = unsafe { std::mem::zeroed() };
        // SAFETY: sets the class of the calling thread by live parameters.
        let set = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) };
        assert_eq!(set, 0);
        drop(lock(shared));
    });
    shared.until_waited_for();
    asleep::until_asleep(child.0.cast_unsigned());
    watchdog::scope(|scope| {
        let waiter = sleeper(scope, shared);
        Linux::set_affinity(&[cpu]).expect("one of its own");
        // Wakes the child, which arrived first.
        drop(guard);
        drop(child);
        assert!(waiter.join().expect("no panic"), "no thread was woken");
    });
}

/// An owner unlocks, and another thread takes the lock at once. Only then is the first owner's
/// process killed, before it has woken the sleeping thread. The second owner's unlock wakes that
/// thread.
#[test]
fn an_owner_that_is_killed_before_its_wake_leaves_it_to_the_next() {
    static SHARED: AtomicPtr<Shared> = AtomicPtr::new(ptr::null_mut());
    extern "C" fn end(_: i32) {
        // SAFETY: memory of this test, which is never unmapped.
        let shared = unsafe { &*SHARED.load(Ordering::Relaxed) };
        shared.next_step();
        shared.until_step(4);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(7) };
    }
    let shared = share();
    SHARED.store(ptr::from_ref(shared).cast_mut(), Ordering::Relaxed);
    let child = Child::start(|| {
        let guard = lock(shared);
        let handler: extern "C" fn(i32) = end;
        // SAFETY: the handler only uses atomics and system calls.
        unsafe { libc::signal(libc::SIGSYS, handler as libc::sighandler_t) };
        // A wake of one thread.
        let filter = Filter::trapping(libc::SYS_futex, 1);
        filter.install(Scope::Thread).expect("filters are allowed");
        shared.next_step();
        shared.until_step(2);
        drop(guard);
    });
    shared.until_step(1);
    watchdog::scope(|scope| {
        let waiter = sleeper(scope, shared);
        shared.next_step();
        shared.until_step(3);
        let guard = shared.mutex.try_lock().expect("it was unlocked").expect("no owner has died");
        shared.next_step();
        assert_eq!(libc::WEXITSTATUS(child.status()), 7, "it was to end before its wake");
        drop(guard);
        assert!(waiter.join().expect("no panic"), "no thread was woken");
    });
}

/// A process that is killed while it sleeps stays counted. Some unlocks later the count is
/// corrected.
#[test]
fn an_unlock_wakes_no_thread_for_ever_if_none_is_left() {
    let shared = share();
    let guard = lock(shared);
    let child = Child::start(|| drop(lock(shared)));
    shared.until_waited_for();
    asleep::until_asleep(child.0.cast_unsigned());
    drop(child);
    drop(guard);
    assert_eq!(shared.word(), WAITED, "the sleeping thread is counted");
    for _ in 0..300 {
        drop(lock(shared));
    }
    assert_eq!(shared.word(), 0);
}

#[test]
fn a_thread_that_ends_is_told_like_a_process() {
    let shared = share();
    let end = || {
        let guard = lock(shared);
        std::mem::forget(guard);
    };
    thread::spawn(end).join().expect("no panic");
    // SAFETY: the owner keeps no reference.
    let guard = unsafe { shared.mutex.lock().expect_err("its owner has ended").repair() };
    drop(guard);
    drop(lock(shared));
}

/// A robust mutex of the C library.
struct Other(Box<MaybeUninit<libc::pthread_mutex_t>>);

impl Other {
    fn new() -> Self {
        let mut other = Self(Box::new(MaybeUninit::uninit()));
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: both are initialized here, and the mutex stays in its box.
        unsafe {
            assert_eq!(libc::pthread_mutexattr_init(attributes.as_mut_ptr()), 0);
            let robust = libc::PTHREAD_MUTEX_ROBUST;
            assert_eq!(libc::pthread_mutexattr_setrobust(attributes.as_mut_ptr(), robust), 0);
            assert_eq!(libc::pthread_mutex_init(other.0.as_mut_ptr(), attributes.as_ptr()), 0);
        }
        other
    }

    fn lock(&self) -> i32 {
        // SAFETY: an initialized mutex.
        unsafe { libc::pthread_mutex_lock(self.0.as_ptr().cast_mut()) }
    }

    fn unlock(&self) {
        // SAFETY: an initialized mutex, owned by the caller.
        assert_eq!(unsafe { libc::pthread_mutex_unlock(self.0.as_ptr().cast_mut()) }, 0);
    }
}

/// The list of a thread's locks is shared with the C library: locks of both enter and leave it in
/// any order, and for all locks of both that are left, the owner's death is reported.
#[test]
fn locks_of_the_c_library_are_in_the_same_list() {
    let shared = [0; 4].map(|_| share());
    let others = [0; 3].map(|_| Other::new());
    let [first, second, third] = others.each_ref();
    watchdog::scope(|scope| {
        scope.spawn(|| {
            let [a, b, c, d] = shared.map(lock);
            assert_eq!([first.lock(), second.lock()], [0, 0]);
            drop(b);
            first.unlock();
            drop(d);
            assert_eq!(third.lock(), 0);
            let b = lock(shared[1]);
            assert_eq!(first.lock(), 0);
            drop(a);
            second.unlock();
            let a = lock(shared[0]);
            third.unlock();
            drop(b);
            // `a`, `c` and `first` are still in the list.
            std::mem::forget((a, c));
        });
    });
    let died = shared.map(|shared| shared.mutex.lock().is_err());
    assert_eq!(died, [true, false, true, false]);
    assert_eq!([first.lock(), second.lock(), third.lock()], [libc::EOWNERDEAD, 0, 0]);
}

/// A process locks three, one within the other, and unlocks some of them in any order. Another one
/// locks those, and the first ends.
#[test]
fn those_that_are_left_are_reported_whatever_was_unlocked_before() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for unlocked in 0..=3 {
            let shared = [0; 3].map(|_| share());
            let child = Child::start(|| {
                let mut guards = shared.map(|shared| Some(lock(shared)));
                order[..unlocked].iter().for_each(|&number| drop(guards[number].take()));
                std::mem::forget(guards);
                shared[0].next_step();
                shared[0].until_step(2);
            });
            shared[0].until_step(1);
            let (free, left) = order.split_at(unlocked);
            let taken: Vec<_> = free.iter().map(|&number| lock(shared[number])).collect();
            shared[0].next_step();
            assert_eq!(child.status(), 0);
            for &number in left {
                let locked = shared[number].mutex.try_lock().expect("it is not locked for ever");
                assert!(locked.is_err(), "{order:?}, {unlocked} unlocked");
            }
            drop(taken);
        }
    }
}

#[test]
fn its_owner_is_told_if_it_locks_it_again() {
    let shared = share();
    let guard = lock(shared);
    let again = catch_unwind(AssertUnwindSafe(|| drop(shared.mutex.lock())));
    let message = *again.expect_err("a panic").downcast::<String>().expect("a message");
    assert!(message.contains("deadlock: this thread locks an ipc::Mutex"), "{message}");
    drop(guard);
    drop(lock(shared));
}

#[test]
fn the_copy_of_a_guard_in_a_child_unlocks_nothing() {
    let shared = share();
    let guard = lock(shared);
    for how in [Fork::Library, Fork::Call] {
        fork(how, || {
            // SAFETY: the child does not use the parent's guard.
            drop(unsafe { ptr::read(&raw const guard) });
            assert!(shared.mutex.try_lock().is_none());
        });
    }
    assert!(shared.mutex.is_locked());
    drop(guard);
    // The child of the C library's fork locks it with its own thread number.
    fork(Fork::Library, || std::mem::forget(lock(shared)));
    assert!(shared.mutex.lock().is_err(), "it has ended");
}

#[test]
fn the_copy_of_a_guard_in_a_child_unlocks_nothing_that_the_child_has_locked_since() {
    let shared = share();
    let guard = ManuallyDrop::new(lock(shared));
    // SAFETY: the guard is not used again in this process. The child only drops its copy.
    let drop_here = || drop(unsafe { ptr::read(&raw const *guard) });
    drop_here();
    fork(Fork::Library, || {
        let own = lock(shared);
        drop_here();
        assert!(shared.mutex.is_locked());
        drop(own);
        assert!(!shared.mutex.is_locked());
    });
}

/// Two processes take turns.
#[test]
fn notifications_go_to_other_processes() {
    const TURNS: u32 = 500;
    let shared = share();
    let play = |parity: u32, notify: fn(&Condvar)| {
        for turn in 0..TURNS {
            let mut guard = lock(shared);
            while *guard != 2 * turn + parity {
                let waited = if parity == 0 {
                    shared.condvar.wait(guard)
                } else {
                    let (waited, in_time) = shared.condvar.wait_for(guard, Duration::MAX);
                    assert!(in_time);
                    waited
                };
                guard = waited.expect("no owner has died");
            }
            *guard += 1;
            notify(&shared.condvar);
        }
    };
    let child = Child::start(|| play(1, Condvar::notify_one));
    play(0, Condvar::notify_all);
    assert_eq!(child.status(), 0);
    assert_eq!(*lock(shared), 2 * TURNS);
}

#[test]
fn none_ends_before_its_deadline() {
    let shared = share();
    let (mutex, condvar) = (&shared.mutex, &shared.condvar);
    let guard = lock(shared);
    watchdog::scope(|scope| {
        scope.spawn(|| {
            assert!(mutex.try_lock().is_none());
            fails_in_time(
                "ipc::Mutex",
                |time| mutex.try_lock_for(time).is_some(),
                |end| mutex.try_lock_until(end).is_some(),
            );
        });
    });
    drop(guard);
    assert!(mutex.try_lock_for(Duration::ZERO).is_some());
    fails_in_time(
        "ipc::Condvar",
        |time| condvar.wait_for(lock(shared), time).1,
        |end| condvar.wait_until(lock(shared), end).1,
    );
    condvar.notify_one();
    assert_eq!(format!("{condvar:?}"), "Condvar { waiters: 0, .. }");
}
