//! Every peer through the interface that the zoo gives it.
//!
//! The locks themselves are tested by their authors. Here it is tested that they are called rightly.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Barrier, mpsc};
use std::thread;

use ondeck::platform::Linux;
use ondeck_zoo::{Fairness, Mutex, RawLock, Visitor, Waiting, peers};

/// Calls a generic function for every peer.
macro_rules! for_each_peer {
    ($check:ident) => {{
        struct Check;
        impl Visitor<Linux> for Check {
            fn visit<L: RawLock<Linux>>(&mut self) {
                $check::<L>();
            }
        }
        peers::for_each_peer(&mut Check);
    }};
}

fn four_threads_count<L: RawLock<Linux>>() {
    const THREADS: u64 = 4;
    /// A yield inside the section, so often, lets the others run into the held lock.
    const ROUNDS_PER_YIELD: u64 = 40;

    // A strict order of spinning threads pays a time slice for each one that is off its CPU.
    let rounds = match (L::INFO.waiting, L::INFO.fairness) {
        (Waiting::Spins, Fairness::Fifo) => 100,
        _ => 2_000,
    };

    let mut counter = Mutex::<L, u64>::new(0);
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut context = counter.context();
                start.wait();
                for round in 0..rounds {
                    counter.with(&mut context, |count| {
                        let before = *count;
                        if round % ROUNDS_PER_YIELD == 0 {
                            thread::yield_now();
                        }
                        *count = before + 1;
                    });
                }
            });
        }
    });
    assert!(counter.is_idle(), "{}: a mark was left behind", L::INFO.name);
    assert_eq!(counter.into_inner(), THREADS * rounds, "{}", L::INFO.name);
}

#[test]
fn every_peer_excludes_and_comes_to_rest() {
    for_each_peer!(four_threads_count);
}

fn try_while_held<L: RawLock<Linux>>() {
    let name = L::INFO.name;
    let mut value = Mutex::<L, u32>::new(0);
    thread::scope(|scope| {
        let (value, (held, is_held), (release, released)) =
            (&value, mpsc::channel(), mpsc::channel::<()>());
        let holder = scope.spawn(move || {
            value.with(&mut value.context(), |value| {
                held.send(()).expect("the other thread waits for this");
                released.recv().expect("the other thread sends this");
                *value = 1;
            });
        });
        is_held.recv().expect("the holder sends this");
        let mut context = value.context();
        assert_eq!(
            value.try_with(&mut context, |value| *value),
            None,
            "{name}: held, but acquired"
        );
        release.send(()).expect("the holder waits for this");
        holder.join().expect("the holder ends");
        // The same context once more: a failure leaves it free for another use.
        let expected = L::INFO.has_try_lock.then_some(1);
        assert_eq!(value.try_with(&mut context, |value| *value), expected, "{name}: free");
        assert_eq!(value.with(&mut context, |value| *value), 1, "{name}: after the attempts");
    });
    assert!(value.is_idle(), "{name}: a mark was left behind");
}

#[test]
fn an_attempt_fails_while_another_thread_holds_the_lock() {
    for_each_peer!(try_while_held);
}

fn panic_inside<L: RawLock<Linux>>() {
    let name = L::INFO.name;
    let mut value = Mutex::<L, u32>::new(0);
    let mut context = value.context();
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        value.with(&mut context, |_| panic::resume_unwind(Box::new(name)));
    }));
    assert!(outcome.is_err());
    assert!(value.is_idle(), "{name}: still held");
    value.with(&mut context, |value| *value += 1);
    assert_eq!(value.try_with(&mut context, |value| *value), Some(1), "{name}: try after a panic");
}

#[test]
fn a_panic_in_the_section_releases_the_lock_and_poisons_nothing() {
    for_each_peer!(panic_inside);
}

fn held_is_not_idle<L: RawLock<Linux>>() {
    let mut lock = L::new();
    let context = L::Context::default();
    assert!(lock.is_idle(), "{}: new", L::INFO.name);
    // SAFETY: the context stays here and serves this acquisition alone.
    unsafe { lock.lock(&context) };
    assert!(!lock.is_idle(), "{}: held", L::INFO.name);
    // SAFETY: acquired above with this context.
    unsafe { lock.unlock(&context) };
    assert!(lock.is_idle(), "{}: released", L::INFO.name);
}

#[test]
fn a_held_peer_is_not_idle() {
    for_each_peer!(held_is_not_idle);
}

fn moved_between_uses<L: RawLock<Linux>>() {
    let mut locks: Vec<L> = Vec::new();
    for _ in 0..8 {
        // Growing moves those before, which have been used.
        locks.push(L::new());
        for lock in &mut locks {
            let context = L::Context::default();
            // SAFETY: the context stays here and serves one acquisition at a time; the lock is
            // borrowed exclusively, so no thread holds it.
            unsafe {
                assert!(!L::INFO.has_try_lock || lock.try_lock(&context), "{}", L::INFO.name);
                if L::INFO.has_try_lock {
                    lock.unlock(&context);
                }
                lock.lock(&context);
                lock.unlock(&context);
            }
        }
    }
}

#[test]
fn a_peer_at_rest_may_move() {
    for_each_peer!(moved_between_uses);
}
