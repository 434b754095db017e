//! The futex of Linux beyond the guarantees of every system (`systems/futex.rs`): each outcome of a
//! wait, and the number of woken or moved threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ondeck::platform::{FutexWait, Linux, Platform, Timestamp};

/// Longer than any test takes: a wait that reaches it has lost its wake.
fn far_ahead() -> Timestamp {
    Linux::now().after(Duration::from_mins(1))
}

/// Threads that wait while the word is 0.
fn wait_at<const COUNT: usize>(word: &Arc<AtomicU32>) -> [JoinHandle<FutexWait>; COUNT] {
    [(); COUNT].map(|()| {
        let word = Arc::clone(word);
        thread::spawn(move || Linux::futex_wait(&word, 0, Some(far_ahead())))
    })
}

/// Wakes on `word` until all of these have been woken, however late they begin to sleep.
fn wake_all<const COUNT: usize>(word: &AtomicU32, waiters: [JoinHandle<FutexWait>; COUNT]) {
    let mut woken = 0;
    while woken < COUNT {
        woken += Linux::futex_wake(word, u32::MAX);
        thread::yield_now();
    }
    assert_eq!(woken, COUNT);
    for waiter in waiters {
        assert_eq!(waiter.join().expect("no panic"), FutexWait::Woken);
    }
}

#[test]
fn a_word_that_differs_does_not_sleep() {
    let word = AtomicU32::new(1);
    assert_eq!(Linux::futex_wait(&word, 0, None), FutexWait::Mismatch);
}

#[test]
fn a_wake_chooses_as_many_as_it_says() {
    let word = Arc::new(AtomicU32::new(0));
    wake_all(&word, wait_at::<3>(&word));
    assert_eq!(Linux::futex_wake(&raw const *word, 1), 0);
}

#[test]
fn a_wake_of_no_thread_wakes_none() {
    let word = Arc::new(AtomicU32::new(0));
    let waiter = wait_at::<1>(&word);
    for _ in 0..1_000 {
        assert_eq!(Linux::futex_wake(&raw const *word, 0), 0);
        thread::yield_now();
    }
    wake_all(&word, waiter);
}

#[test]
fn a_signal_interrupts_the_wait() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = nothing;
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
    let word = Arc::new(AtomicU32::new(0));
    let (tell, told) = std::sync::mpsc::channel();
    let waiter = thread::spawn({
        let word = Arc::clone(&word);
        move || {
            // SAFETY: returns the caller's own identity.
            let own = unsafe { libc::pthread_self() };
            // With musl it is a pointer, which is not `Send`.
            tell.send(own as usize).expect("the test listens");
            Linux::futex_wait(&word, 0, Some(far_ahead()))
        }
    });
    let thread = told.recv().expect("it tells") as libc::pthread_t;
    while !waiter.is_finished() {
        // SAFETY: the thread was not joined, so its identity is still valid.
        unsafe { libc::pthread_kill(thread, libc::SIGUSR1) };
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(waiter.join().expect("no panic"), FutexWait::Interrupted);
}

#[test]
fn requeue_moves_waiters_to_the_other_word() {
    let (from, to) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let waiters = wait_at::<2>(&from);
    let mut moved = 0;
    while moved < 2 {
        moved +=
            Linux::futex_requeue(&from, 0, 0, &raw const *to, u32::MAX).expect("the value is 0");
        thread::yield_now();
    }
    assert_eq!(moved, 2);
    assert_eq!(Linux::futex_wake(&raw const *from, u32::MAX), 0, "a waiter was left behind");
    wake_all(&to, waiters);
    from.store(1, Ordering::Relaxed);
    assert_eq!(Linux::futex_requeue(&from, 0, 1, &raw const *to, 1), None);
}
