//! The real machine with a separate table of one bucket for each test. It calls the test's hooks,
//! in which the test may stop a thread, count, or do something else.
//!
//! The default of each hook is [`Linux`]'s own function. Each test has its own hooks, and so its
//! own table. Fences are treated as asymmetric, regardless of the kernel: both halves are full
//! fences.

#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

#[path = "hooked_atomics.rs"]
mod atomics;
#[path = "hooked_buffer.rs"]
mod buffer;
#[path = "hooked_calls.rs"]
mod calls;
#[path = "hooked_gate.rs"]
mod gate;
#[path = "hooks.rs"]
mod hooks;

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use ondeck::parking::{BIASES, Bias, Bucket, Row, bias_of};
use ondeck::platform::{
    AtomicInt, Estimates, Fences, FutexWait, Host, Linux, Platform, Threads, Timestamp,
};
use ondeck::spin::Polling;

pub use crate::until::until;
use crate::until::{Turn, until_ended};
use atomics::{Byte, Number, Pointer, Word};
pub use buffer::Buffer;
use calls::count_call;
pub use calls::{Calls, Write, calls_of, written};
pub use gate::Gate;
pub(crate) use hooks::hooks;
pub use hooks::{Hooks, SHORT, unpolled};

/// The machine with these hooks.
#[derive(Clone, Copy, Debug)]
pub struct Hooked<H>(PhantomData<H>);

/// The table.
#[derive(Debug)]
pub struct Place<H: Hooks> {
    unlock_mode: Number<H>,
    bucket: Bucket<Hooked<H>>,
    biases: [Bias<Hooked<H>>; BIASES],
    rows: Vec<Row<Hooked<H>>>,
    sleeps: AtomicU32,
}

impl<H: Hooks> Hooked<H> {
    fn table() -> &'static Place<H> {
        H::place().get_or_init(|| Place {
            unlock_mode: AtomicInt::new(0),
            bucket: Bucket::new(),
            biases: std::array::from_fn(|_| Bias::new()),
            rows: (0..H::ROWS).map(|_| Row::new()).collect(),
            sleeps: AtomicU32::new(0),
        })
    }

    /// Returns the word that unlocks read.
    pub fn mode() -> usize {
        Self::table().unlock_mode.load(Ordering::Relaxed)
    }

    /// Returns the number of times that threads have begun to sleep, except for a bucket's lock.
    pub fn sleeps() -> u32 {
        Self::table().sleeps.load(Ordering::SeqCst)
    }

    /// Waits until threads have begun to sleep this number of times.
    #[track_caller]
    pub fn until_sleeps(count: u32) {
        until(|| Self::sleeps() >= count);
    }

    /// Does something, and waits until a thread has begun to sleep after that.
    #[track_caller]
    pub fn until_it_sleeps<R>(start: impl FnOnce() -> R) -> R {
        let sleeps = Self::sleeps();
        let started = start();
        Self::until_sleeps(sleeps + 1);
        started
    }

    fn is_of_table(address: usize) -> bool {
        let table = std::ptr::from_ref(Self::table()).addr();
        (table..table + size_of::<Place<H>>()).contains(&address)
    }

    /// Waits until nothing is left in the table.
    #[track_caller]
    pub fn until_at_rest() {
        until(|| Self::table().bucket.is_at_rest());
    }
}

// SAFETY: all calls go to `Linux`, or to a test that stops threads, counts, or emulates a machine
// that would be allowed to do the same.
unsafe impl<H: Hooks> Platform for Hooked<H> {
    type AtomicU8 = Byte<H>;
    type AtomicU32 = Word<H>;
    type AtomicUsize = Number<H>;
    type AtomicPtr<T: 'static> = Pointer<T>;

    delegated! {
        H:
        fn fence(order: Ordering);
        fn pause();
        fn spins(count: u32) -> u32;
        fn yield_now();
        fn now() -> Timestamp;
        fn ticks() -> u64;
        fn ticks_per_second() -> u64;
        fn ticks_in(nanos: u32) -> usize;
        fn cpus() -> usize;
        fn node() -> usize;
    }

    fn futex_wait(word: &Self::AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        // Threads that wait for the bucket's lock have no deadline; others that sleep on a word of
        // the table may have one.
        let is_of_table = deadline.is_none() && Self::is_of_table(std::ptr::from_ref(word).addr());
        H::before_sleep(is_of_table);
        // As the kernel does, first read the word. A test may end a sleep at once.
        if word.load(Ordering::Relaxed) != expected {
            return FutexWait::Mismatch;
        }
        if is_of_table {
            return Linux::futex_wait(&word.0, expected, deadline);
        }
        if let Some(outcome) = H::sleep(deadline) {
            return outcome;
        }
        std::thread_local! {
            /// The word at which this thread's last sleep timed out.
            static TIMED_OUT: Cell<usize> = const { Cell::new(0) };
        }
        /// The shortest slice of a parked thread's sleep is longer than this, and a deadline of
        /// these tests is shorter.
        const SLICE: Duration = Duration::from_millis(15);
        let begun = H::now();
        // On a busy machine threads would otherwise wake by themselves by chance.
        let ends = deadline.filter(|end| H::has_slices() || end.since(begun) <= SLICE);
        let address = std::ptr::from_ref(word).addr();
        // The next slice of a sleep does not count as another sleep.
        if TIMED_OUT.replace(0) != address {
            Self::table().sleeps.fetch_add(1, Ordering::SeqCst);
        }
        let mut time = begun;
        let outcome = until_ended(
            || format!("a wake, or the end {ends:?} of its sleep at {begun:?},"),
            || {
                // A wake may be meant for an earlier node at this address, and the test may control
                // the time.
                let soon = Linux::now().after(Duration::from_millis(1));
                let outcome = Linux::futex_wait(&word.0, expected, Some(soon));
                if word.load(Ordering::Relaxed) != expected {
                    return Turn::Ends(outcome);
                }
                let Some(end) = ends else { return Turn::Waits };
                match (H::now(), core::mem::replace(&mut time, H::now())) {
                    (now, _) if now >= end => Turn::Ends(FutexWait::TimedOut),
                    (now, before) if now != before => Turn::Passes,
                    _ => Turn::Waits,
                }
            },
        );
        if outcome == FutexWait::TimedOut && word.load(Ordering::Relaxed) == expected {
            TIMED_OUT.set(address);
        } else {
            H::woke();
        }
        outcome
    }
    fn futex_wake(address: *const Self::AtomicU32, count: u32) -> usize {
        if !Self::is_of_table(address.addr()) {
            count_call(|calls| calls.wakes += 1);
            H::wakes();
        }
        Linux::futex_wake(address.cast(), count)
    }
    fn futex_requeue(
        from: &Self::AtomicU32,
        expected: u32,
        wake: u32,
        to: *const Self::AtomicU32,
        move_: u32,
    ) -> Option<usize> {
        Linux::futex_requeue(&from.0, expected, wake, to.cast(), move_)
    }
}

// SAFETY: the table is created once, a place in it is a function of the address, and the number of
// a row is given to one thread. No test forks.
unsafe impl<H: Hooks> Host for Hooked<H> {
    fn unlock_mode(_: usize) -> &'static Number<H> {
        H::unlock_mode();
        &Self::table().unlock_mode
    }
    fn bucket(_: usize) -> &'static Bucket<Self> {
        &Self::table().bucket
    }
    fn bias(address: usize) -> Option<&'static Bias<Self>> {
        Some(&Self::table().biases[bias_of(address)])
    }
    fn row() -> Option<&'static Row<Self>> {
        static NUMBERS: AtomicUsize = AtomicUsize::new(0);
        std::thread_local! {
            /// The number of a thread among the threads that want a row.
            static NUMBER: usize = NUMBERS.fetch_add(1, Ordering::Relaxed);
        }
        (H::ROWS != 0).then(|| Self::table().rows.get(NUMBER.with(|number| *number))).flatten()
    }
    fn rows() -> &'static [Row<Self>] {
        &Self::table().rows
    }
}

// SAFETY: the fences are those of `Linux`, or of a test that emulates others.
unsafe impl<H: Hooks> Fences for Hooked<H> {
    delegated! {
        Linux:
        fn light_fence();
    }

    fn heavy_fence() {
        count_call(|calls| calls.heavy_fences += 1);
        H::heavy_fence();
    }
    delegated! {
        H:
        fn fences_are_asymmetric() -> bool;
        fn presumed_light_fence();
        fn heavy_fences_are_refused() -> bool;
        fn heavy_cost_ticks() -> usize;
        fn may_relax() -> bool;
    }
}

impl<H: Hooks> Estimates for Hooked<H> {
    delegated! {
        H:
        fn polling() -> Polling;
        fn transfer_ticks() -> usize;
        fn note_wake(ticks: usize);
        fn wake_ticks() -> usize;
    }
}

impl<H: Hooks> Threads for Hooked<H> {
    fn thread() -> usize {
        Linux::thread()
    }

    delegated! {
        H:
        fn once_in(count: u32) -> bool;
        fn cpu() -> u32;
        fn cache() -> usize;
        fn priority() -> u32;
        fn has_real_time_threads() -> bool;
    }
}
