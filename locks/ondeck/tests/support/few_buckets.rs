//! The real machine with a parking table of one or two buckets, so that all locks share them; and a
//! machine on which no sleep ends with a slice, so that a lost wake is a hang.
//!
//! Everything except the table is [`Linux`]'s own.

#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ondeck::parking::{Bucket, bucket_of};
use ondeck::platform::{Estimates, Fences, FutexWait, Host, Linux, Platform, Threads, Timestamp};
use ondeck::spin::Polling;

/// A test's own table, and the other differences.
pub trait Table: Copy + Send + Sync + 'static {
    /// The number of buckets.
    const BUCKETS: usize;
    /// Whether sleeps end with the slices of a parked thread.
    const HAS_SLICES: bool;

    /// Where the table is kept.
    fn place() -> &'static OnceLock<Place<Self>>;
}

/// The machine with that table.
#[derive(Clone, Copy, Debug)]
pub struct Few<T>(PhantomData<T>);

/// A table.
pub struct Place<T: Table> {
    unlock_modes: Vec<AtomicUsize>,
    buckets: Vec<Bucket<Few<T>>>,
}

macro_rules! tables {
    ($($(#[$about:meta])* $name:ident: $buckets:literal, $has_slices:literal;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Table for $name {
            const BUCKETS: usize = $buckets;
            const HAS_SLICES: bool = $has_slices;

            fn place() -> &'static OnceLock<Place<Self>> {
                static PLACE: OnceLock<Place<$name>> = OnceLock::new();
                &PLACE
            }
        }
    )*};
}

tables! {
    /// All locks and condition variables are in the same bucket.
    One: 1, true;
    /// Half of them are in each.
    Two: 2, true;
    /// All are in one, and only a wake ends a sleep that is longer than a nap.
    Unmasked: 1, false;
}

impl<T: Table> Place<T> {
    fn get() -> &'static Self {
        T::place().get_or_init(|| Self {
            unlock_modes: (0..T::BUCKETS).map(|_| AtomicUsize::new(0)).collect(),
            buckets: (0..T::BUCKETS).map(|_| Bucket::new()).collect(),
        })
    }
}

fn index<T: Table>(address: usize) -> usize {
    bucket_of(address) % T::BUCKETS
}

// SAFETY: all calls go to `Linux`, which keeps the same promises.
unsafe impl<T: Table> Platform for Few<T> {
    type AtomicU8 = <Linux as Platform>::AtomicU8;
    type AtomicU32 = <Linux as Platform>::AtomicU32;
    type AtomicUsize = <Linux as Platform>::AtomicUsize;
    type AtomicPtr<U: 'static> = <Linux as Platform>::AtomicPtr<U>;

    delegated! {
        Linux:
        fn fence(order: Ordering);
        fn pause();
        fn yield_now();
        fn now() -> Timestamp;
        fn ticks() -> u64;
        fn ticks_per_second() -> u64;
        fn futex_wake(address: *const Self::AtomicU32, count: u32) -> usize;
        fn futex_requeue(from: &Self::AtomicU32, expected: u32, wake: u32, to: *const Self::AtomicU32, move_: u32) -> Option<usize>;
        fn ticks_in(nanos: u32) -> usize;
        fn single_threaded() -> bool;
        fn cpus() -> usize;
    }

    fn futex_wait(word: &Self::AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        /// The shortest slice is longer than this, and the deadlines and naps of these tests are
        /// shorter.
        const SLICE: Duration = Duration::from_millis(15);
        let is_kept = |end: &Timestamp| T::HAS_SLICES || end.since(Linux::now()) <= SLICE;
        Linux::futex_wait(word, expected, deadline.filter(is_kept))
    }
}

// SAFETY: the table is created once, and a place in it is a function of the address. No test forks.
unsafe impl<T: Table> Host for Few<T> {
    fn unlock_mode(address: usize) -> &'static AtomicUsize {
        &Place::<T>::get().unlock_modes[index::<T>(address)]
    }

    fn bucket(address: usize) -> &'static Bucket<Self> {
        &Place::<T>::get().buckets[index::<T>(address)]
    }
}

// SAFETY: the fences are those of `Linux`.
unsafe impl<T: Table> Fences for Few<T> {
    delegated! {
        Linux:
        fn light_fence();
        fn heavy_fence();
        fn fences_are_asymmetric() -> bool;
        fn presumed_light_fence();
        fn heavy_fences_are_refused() -> bool;
        fn heavy_cost_ticks() -> usize;
        fn may_relax() -> bool;
    }
}

impl<T: Table> Estimates for Few<T> {
    delegated! {
        Linux:
        fn polling() -> Polling;
        fn note_wake(ticks: usize);
        fn wake_ticks() -> usize;
        fn note_transfer(ticks: usize);
        fn transfer_ticks() -> usize;
    }
}

impl<T: Table> Threads for Few<T> {
    delegated! {
        Linux:
        fn once_in(count: u32) -> bool;
        fn thread() -> usize;
        fn cpu() -> u32;
        fn cache() -> usize;
        fn priority() -> u32;
        fn has_real_time_threads() -> bool;
    }
}
