//! The actions of a test that replace or extend the real machine: each hook with its default.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering, fence};

use ondeck::platform::{FutexWait, Linux, Platform, Threads, Timestamp};
use ondeck::spin::Polling;

use super::Place;

/// The pause before the first poll, in nanoseconds.
pub const SHORT: u32 = 100;

/// No thread polls, or watches. It pauses for `short` nanoseconds before its first attempt as the
/// heir.
pub fn unpolled(short: u32) -> Polling {
    let mut polling = Polling::default();
    (polling.budget, polling.watch, polling.short) = (0, 0, short);
    polling
}

/// What a test does instead of the machine, or in addition.
pub trait Hooks: Copy + fmt::Debug + Send + Sync + 'static {
    /// The number of threads that have rows, by which they can be visible readers.
    const ROWS: usize = 0;

    /// Where the table is kept.
    fn place() -> &'static OnceLock<Place<Self>>;

    /// Called when a mutex or a condition variable is written.
    fn store(byte: &AtomicU8, value: u8, order: Ordering) {
        byte.store(value, order);
    }
    /// Before a mutex is tried.
    fn attempt() {}
    /// Called when a machine word of the table or of a node is read.
    fn load_number(number: &AtomicUsize, order: Ordering) -> usize {
        number.load(order)
    }
    /// Called when a machine word of the table or of a node is written.
    fn store_number(number: &AtomicUsize, value: usize, order: Ordering) {
        number.store(value, order);
    }
    /// Before the unlock mode is read or written.
    fn unlock_mode() {}
    /// In an unlock, after its store.
    fn presumed_light_fence() {
        fence(Ordering::SeqCst);
    }
    fn fence(order: Ordering) {
        fence(order);
    }
    fn heavy_fence() {
        fence(Ordering::SeqCst);
    }
    fn fences_are_asymmetric() -> bool {
        true
    }
    fn heavy_fences_are_refused() -> bool {
        false
    }
    /// Whether sleeps end with the slices of a parked thread.
    fn has_slices() -> bool {
        false
    }
    /// Before each sleep, also on a word of the table, without an end: such as a bucket's lock.
    fn before_sleep(_is_of_table: bool) {}
    /// Returns how a sleep until this time ends, if it ends at once. Not called for a bucket's
    /// lock.
    fn sleep(_until: Option<Timestamp>) -> Option<FutexWait> {
        None
    }
    /// Before a thread is woken. Not called for a bucket's lock.
    fn wakes() {}
    /// After a thread was woken. Not called for a bucket's lock.
    fn woke() {}
    fn pause() {
        Linux::pause();
    }
    fn spins(count: u32) -> u32 {
        count
    }
    fn yield_now() {
        Linux::yield_now();
    }
    fn now() -> Timestamp {
        Linux::now()
    }
    fn ticks() -> u64 {
        Linux::ticks()
    }
    fn ticks_per_second() -> u64 {
        Linux::ticks_per_second()
    }
    fn ticks_in(nanos: u32) -> usize {
        Linux::ticks_in(nanos)
    }
    fn polling() -> Polling {
        unpolled(SHORT)
    }
    fn cpus() -> usize {
        2
    }
    fn once_in(count: u32) -> bool {
        Linux::once_in(count)
    }
    fn cpu() -> u32 {
        0
    }
    fn cache() -> usize {
        0
    }
    fn node() -> usize {
        0
    }
    fn priority() -> u32 {
        0
    }
    fn has_real_time_threads() -> bool {
        false
    }
    fn heavy_cost_ticks() -> usize {
        0
    }
    fn may_relax() -> bool {
        false
    }
    /// 0: a thread that finds a lock held does not read it before it polls or parks, so its pauses
    /// show a test whether it polls.
    fn transfer_ticks() -> usize {
        0
    }
    fn note_wake(_ticks: usize) {}
    fn wake_ticks() -> usize {
        Self::ticks_in(20_000)
    }
}

/// Defines hooks with a table, and their actions.
macro_rules! hooks {
    ($(#[$about:meta])* $name:ident { $($hook:item)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $name;

        impl crate::hooked_platform::Hooks for $name {
            fn place() -> &'static std::sync::OnceLock<crate::hooked_platform::Place<Self>> {
                static PLACE: std::sync::OnceLock<crate::hooked_platform::Place<$name>> =
                    std::sync::OnceLock::new();
                &PLACE
            }

            $($hook)*
        }
    };
}
pub(crate) use hooks;
