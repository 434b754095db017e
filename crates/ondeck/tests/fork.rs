//! The child of a fork finds locks that work, whatever the parent's threads were doing.

#[path = "support/watchdog.rs"]
mod watchdog;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::{Condvar, Mutex};
use watchdog::Watchdog;

/// How the process is copied.
#[derive(Clone, Copy, Debug)]
enum Fork {
    /// By the C library, with its handlers.
    Library,
    /// By the system call alone.
    Call,
}

/// Runs `child` in a forked child, which must come to its end.
fn fork(how: Fork, child: impl FnOnce()) {
    // SAFETY: the child uses the memory that it has a copy of, and ends without running the parent's
    // destructors. The C library's allocator works in it after its own fork; after the bare call
    // `child` must not allocate.
    let pid = unsafe {
        match how {
            Fork::Library => libc::fork(),
            Fork::Call => libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as i32,
        }
    };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        child();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) };
    }
    let start = Instant::now();
    let mut status = -1;
    loop {
        // SAFETY: waits for a child of ours, into a live integer.
        let ended = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
        if ended == pid {
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{how:?}: {status}");
            return;
        }
        if start.elapsed() > Duration::from_secs(30) {
            // SAFETY: a signal to our own child.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            panic!("{how:?}: the child hangs in a lock");
        }
        thread::sleep(Duration::from_micros(100));
    }
}

/// Threads of the child want one lock, wait for each other, and end.
fn contend(mutex: &Mutex<u32>) {
    let condvar = Condvar::new();
    let before = *mutex.lock();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..200 {
                    *mutex.lock() += 1;
                }
                condvar.notify_one();
            });
        }
        let mut count = mutex.lock();
        condvar.wait_while(&mut count, |count| *count < before + 600);
    });
}

#[test]
fn a_lock_with_sleepers_is_released_by_the_child() {
    let _watchdog = Watchdog::start("sleepers at a fork", Duration::from_mins(2));
    // Without the kernel's wiping only the C library's fork can be noticed.
    let bare = std::env::var_os("ONDECK_TEST_LIBRARY_FORK").is_none();
    for how in [Fork::Library, Fork::Call].into_iter().take(1 + usize::from(bare)) {
        for _ in 0..20 {
            let mutex = Mutex::new(0);
            thread::scope(|scope| {
                let guard = mutex.lock();
                for _ in 0..3 {
                    scope.spawn(|| *mutex.lock() += 1);
                }
                // Until they sleep, most likely.
                thread::sleep(Duration::from_millis(2));
                fork(how, || {
                    // Nobody of those who sleep in the parent is here to be woken.
                    // SAFETY: this thread's copy owns the lock.
                    unsafe { mutex.force_unlock(lock_api::GuardNoSend::new()) };
                    match how {
                        Fork::Library => contend(&mutex),
                        Fork::Call => (0..1_000).for_each(|_| *mutex.lock() += 1),
                    }
                });
                drop(guard);
            });
            assert_eq!(mutex.into_inner(), 3);
        }
    }
}

#[test]
fn a_fork_in_the_middle_of_everything() {
    let _watchdog = Watchdog::start("forks in the middle", Duration::from_mins(2));
    let mutexes: Vec<Mutex<u32>> = (0..4).map(|_| Mutex::new(0)).collect();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (mutexes, over) = (&mutexes, &over);
            scope.spawn(move || {
                let mut turn = thread;
                while !over.load(Ordering::Relaxed) {
                    turn += 1;
                    let mut count = mutexes[turn % 2].lock();
                    *count = count.wrapping_add(1);
                    if turn % 512 == 0 {
                        // Longer than others poll, so that they sleep.
                        thread::sleep(Duration::from_micros(50));
                    }
                }
            });
        }
        for _ in 0..100 {
            fork(Fork::Library, || {
                // Locks that the parent's threads held at the fork stay locked; these are free.
                contend(&mutexes[2]);
                contend(&mutexes[3]);
                let held = mutexes[0].try_lock_for(Duration::from_micros(200));
                drop(held);
            });
        }
        over.store(true, Ordering::Relaxed);
    });
}
