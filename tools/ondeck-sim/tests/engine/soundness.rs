//! Programs must not be able to cause unsoundness: by freed memory, by threads that panic or
//! remain.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use ondeck::platform::{AtomicInt, Ordering, Platform};
use ondeck_sim::engine::{Call, End, Sim, Simulation, Unrest};
use ondeck_sim::time::of_nanos;

use super::machine::{Apart, Word, cores, free, leaked, meet, on, run, run_for, word, word32};

/// Room for a word that is dropped before the room is.
type Room = Apart<MaybeUninit<Word>>;

const JUNK: usize = 0xABAB_ABAB;

/// Drops the word and uses its memory for something else.
///
/// # Safety
///
/// The room has a word, and nothing else uses it.
unsafe fn reuse(room: *mut Room) {
    // SAFETY: the caller's promise.
    unsafe {
        ptr::drop_in_place(room.cast::<Word>());
        room.cast::<usize>().write(JUNK);
    }
}

fn late_stores() -> Unrest {
    Unrest { latest_store: of_nanos(10_000.0), seed: 7, ..Unrest::none() }
}

#[test]
fn a_store_does_not_reach_memory_that_was_given_back_by_another_thread() {
    let room = Box::into_raw(Box::new(Apart(MaybeUninit::new(Word::new(0)))));
    let left = leaked(Cell::new(2));
    let user = |cpu| {
        on(cpu, move || {
            meet(5_000);
            // SAFETY: the room is kept until the end; the word exists until both threads are done.
            let word = unsafe { (*room).0.assume_init_ref() };
            if cpu == 0 {
                word.store(1, Ordering::Release);
            } else {
                Sim::work(100.0);
            }
            // Counts as an `Arc` does.
            left.set(left.get() - 1);
            if left.get() == 0 {
                // SAFETY: the last user.
                unsafe { reuse(room) };
            }
        })
    };
    let costs = cores(2);
    let simulation = Simulation { unrest: late_stores(), ..Simulation::new(&costs, 1) };
    simulation.run(vec![user(0), user(1)], Vec::new(), &|| false);
    // SAFETY: made above, and written by `reuse`.
    let value = unsafe { room.cast::<usize>().read() };
    assert_eq!(value, JUNK);
    // SAFETY: as above; there is nothing to drop in it.
    drop(unsafe { Box::from_raw(room) });
}

#[test]
fn a_store_does_not_reach_memory_that_was_given_back_by_a_call() {
    let room = Box::into_raw(Box::new(Apart(MaybeUninit::new(Word::new(0)))));
    let user = free(move || {
        meet(5_000);
        // SAFETY: the room is kept until the end; the word exists until the call.
        unsafe { (*room).0.assume_init_ref() }.store(1, Ordering::Release);
    });
    // SAFETY: the thread has finished with it at that time.
    let call = Call { at: of_nanos(5_100.0), call: Box::new(move || unsafe { reuse(room) }) };
    let costs = cores(1);
    let simulation = Simulation { unrest: late_stores(), ..Simulation::new(&costs, 1) };
    simulation.run(vec![user], vec![call], &|| false);
    // SAFETY: made above, and written by `reuse`.
    let value = unsafe { room.cast::<usize>().read() };
    assert_eq!(value, JUNK);
    // SAFETY: as above; there is nothing to drop in it.
    drop(unsafe { Box::from_raw(room) });
}

/// Counts its drop, after a step of the machine.
struct Told(&'static Cell<u32>);

impl Drop for Told {
    fn drop(&mut self) {
        Sim::yield_now();
        Sim::work(10.0);
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn a_thread_that_panics_ends_the_run_and_unwinds_alone() {
    let (panicked, waited) = (leaked(Cell::new(0)), leaked(Cell::new(0)));
    let one = Told(panicked);
    let other = Told(waited);
    let jobs = vec![
        on(0, move || {
            let _told = one;
            Sim::work(50_000.0);
            panic!("as it is to be");
        }),
        on(0, move || {
            let _told = other;
            let flag = word32(0);
            let _ = Sim::futex_wait(&flag.0, 0, None);
        }),
    ];
    let result = catch_unwind(AssertUnwindSafe(|| run(&cores(1), jobs)));
    assert_eq!(result.expect_err("it panicked").downcast_ref(), Some(&"as it is to be"));
    assert_eq!((panicked.get(), waited.get()), (1, 0));
    // The OS thread can have another machine.
    assert_eq!(run(&cores(1), vec![free(|| Sim::work(1.0))]).end, End::Done);
}

#[test]
fn a_machine_within_another_is_refused_and_the_outer_one_goes_on() {
    let shared = word(0);
    let job = free(move || {
        let inner = catch_unwind(|| run(&cores(1), Vec::new()));
        assert!(inner.is_err());
        shared.0.fetch_add(1, Ordering::Relaxed);
        Sim::work(1_000.0);
    });
    assert_eq!(run(&cores(1), vec![job]).end, End::Done);
    assert_eq!(shared.0.load(Ordering::Relaxed), 1);
}

#[test]
fn a_thread_that_is_alone_is_stopped_by_the_limit_and_by_hand() {
    let spinner = |never: &'static Apart<Word>| {
        free(move || {
            while never.0.load(Ordering::Relaxed) == 0 {
                Sim::pause();
            }
        })
    };
    let never = word(0);
    let ran = run_for(&cores(1), 1e6, vec![spinner(never)]);
    assert_eq!(ran.end, End::TooLong);
    assert!(ran.time <= of_nanos(1e6));
    let asked = Cell::new(0);
    let cancelled = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let ran = Simulation::new(&cores(1), 1).run(vec![spinner(never)], Vec::new(), &cancelled);
    assert_eq!(ran.end, End::Cancelled);
}

#[test]
fn threads_that_wait_for_ever_are_told_with_what_they_wait_for() {
    let waiter = || {
        free(|| {
            let flag = word32(0);
            let _ = Sim::futex_wait(&flag.0, 0, None);
        })
    };
    for limit in [1e9, f64::MAX] {
        let ran = run_for(&cores(1), limit, vec![waiter(), waiter(), free(|| ())]);
        assert_eq!(ran.end, End::Deadlock);
        assert_eq!(ran.stuck.len(), 2);
        assert!(ran.stuck[1].to_string().starts_with("thread 1 sleeps on"), "{}", ran.stuck[1]);
    }
}

#[test]
fn the_stack_of_a_thread_that_was_left_behind_stays() {
    const KEPT: u64 = 0x0123_4567_89AB_CDEF;
    let place = leaked(Cell::new(ptr::null::<u64>()));
    let waiter = free(move || {
        let node = std::hint::black_box(KEPT);
        place.set(&raw const node);
        let flag = word32(0);
        let _ = Sim::futex_wait(&flag.0, 0, None);
    });
    assert_eq!(run(&cores(1), vec![waiter]).end, End::Deadlock);
    let many = (0..8).map(|_| free(|| Sim::work(std::hint::black_box(100.0))));
    run(&cores(1), many.collect());
    // SAFETY: stacks of remaining threads are not freed, as another thread's lock may have a
    // pointer to them.
    assert_eq!(unsafe { place.get().read_volatile() }, KEPT);
}

#[test]
#[should_panic(expected = "thread 0 may run on none of the 2 CPUs")]
fn a_thread_without_a_cpu_is_refused() {
    run(&cores(2), vec![on(5, || ())]);
}

/// Makes an atomic, stores to it, and returns it.
#[inline(never)]
#[allow(clippy::unnecessary_box_returns, reason = "it is to stay where it is")]
fn stored(value: usize) -> Box<Apart<Word>> {
    let word = Apart(Word::new(0));
    word.0.store(value, Ordering::Relaxed);
    Box::new(word)
}

#[test]
fn an_atomic_is_moved_with_what_was_stored_to_it() {
    let job = free(|| {
        let (one, other) = (stored(1), stored(2));
        // Nothing writes to the places that the atomics had before.
        let junk = std::hint::black_box([JUNK; 64]);
        assert_eq!((one.0.load(Ordering::Relaxed), other.0.load(Ordering::Relaxed)), (1, 2));
        Sim::work(100_000.0);
        assert_eq!((one.0.load(Ordering::Relaxed), other.0.swap(3, Ordering::Relaxed)), (1, 2));
        assert_eq!(std::hint::black_box(junk), [JUNK; 64]);
        assert_eq!(other.0.load(Ordering::Relaxed), 3);
    });
    let costs = cores(1);
    let simulation = Simulation { unrest: late_stores(), ..Simulation::new(&costs, 1) };
    assert_eq!(simulation.run(vec![job], Vec::new(), &|| false).end, End::Done);
}
