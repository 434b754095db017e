//! The model checker as a platform: loom's atomics, a futex and the parking table in one execution.

#[path = "loom_atomics.rs"]
mod atomics;
#[path = "loom_explore.rs"]
mod explore;
#[path = "loom_fence.rs"]
mod fence;
#[path = "loom_kernel.rs"]
mod kernel;
#[path = "loom_readers.rs"]
mod readers;
#[path = "loom_setting.rs"]
mod setting;
#[path = "loom_threads.rs"]
mod threads;
#[path = "loom_watch.rs"]
pub mod watch;

use loom::sync::atomic;
use ondeck::parking::Bucket;
use ondeck::platform::{AtomicInt, FutexWait, Host, Ordering, Platform, Timestamp};
use ondeck::spin::Polling;

use atomics::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize};
#[allow(unused_imports, reason = "not every test that has this platform needs all")]
pub use explore::{deeper, model};
#[allow(unused_imports, reason = "not every test that has this platform needs all")]
pub use kernel::{asleep, pass_time};
use setting::is_asymmetric;
#[allow(unused_imports, reason = "not every test that has this platform needs all")]
pub use setting::{Fences, MOST_BUCKETS, Relaxes, Setting, set};
#[allow(unused_imports, reason = "not every test that has this platform needs all")]
pub use threads::{join, spawn};

/// Runs locks inside `loom::model`; see the modules on what is modelled, and how.
#[derive(Debug)]
pub struct Loom;

struct Table {
    /// The addresses seen so far: an address's bucket is its place here, because an execution is
    /// repeated with other addresses.
    addresses: std::sync::Mutex<Vec<usize>>,
    attention: [AtomicU8; MOST_BUCKETS],
    unlock_modes: [AtomicUsize; MOST_BUCKETS],
    buckets: [Bucket<Loom>; MOST_BUCKETS],
}

loom::lazy_static! {
    static ref TABLE: Table = Table {
        addresses: std::sync::Mutex::default(),
        attention: [AtomicU8::new(0), AtomicU8::new(0)],
        unlock_modes: [AtomicUsize::new(0), AtomicUsize::new(0)],
        buckets: [Bucket::new(), Bucket::new()],
    };
}

fn place(address: usize) -> usize {
    let mut addresses = TABLE.addresses.lock().expect("no panic while it is held");
    let place = addresses.iter().position(|&other| other == address).unwrap_or_else(|| {
        addresses.push(address);
        addresses.len() - 1
    });
    place % setting::get().buckets
}

// SAFETY: atomics and fences are loom's, and the pair of fences is modelled in `loom_fence.rs`. The
// kernel's queues are found by address. A panic ends the model with all its threads.
unsafe impl Platform for Loom {
    type AtomicU8 = AtomicU8;
    type AtomicU32 = AtomicU32;
    type AtomicUsize = AtomicUsize;
    type AtomicPtr<T: 'static> = AtomicPtr<T>;

    fn test_and_set(flag: &AtomicU8, order: Ordering) -> bool {
        flag.compare_exchange(0, 1, order, Ordering::Relaxed).is_err()
    }

    fn fence(order: Ordering) {
        atomic::fence(order);
    }

    fn light_fence() {
        if !is_asymmetric() {
            atomic::fence(Ordering::SeqCst);
        }
    }

    fn heavy_fence() {
        if is_asymmetric() {
            fence::heavy();
        } else {
            atomic::fence(Ordering::SeqCst);
        }
    }

    fn pause() {
        loom::thread::yield_now();
    }

    // One turn of a waiting loop is as good as a hundred for a model checker.
    fn pause_times(_count: u32) {
        loom::thread::yield_now();
    }

    fn spin_again() {
        loom::thread::yield_now();
    }

    // Nor do a thousand releases differ from one: only those that it takes until releases skip may
    // be too many.
    fn spins(count: u32) -> u32 {
        if count >= 20_000 && setting::get().relaxes == Relaxes::ToLight { count } else { 1 }
    }

    fn yield_now() {
        loom::thread::yield_now();
    }

    fn now() -> Timestamp {
        kernel::now()
    }

    fn ticks() -> u64 {
        0
    }

    fn ticks_per_second() -> u64 {
        1
    }

    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        kernel::sleep(word, expected, deadline)
    }

    fn futex_wake(address: *const AtomicU32, count: u32) -> usize {
        kernel::wake(address, count)
    }

    fn futex_requeue(
        from: &AtomicU32,
        expected: u32,
        wake: u32,
        to: *const AtomicU32,
        move_: u32,
    ) -> Option<usize> {
        kernel::requeue(from, expected, wake, to, move_)
    }

    // Time does not pass: a duration is nothing, but for the patience of sleepers.
    fn ticks_in(nanos: u32) -> usize {
        usize::from(nanos >= 500_000 && !setting::get().overdue)
    }

    fn cpus() -> usize {
        2
    }
}

// SAFETY: an execution has one table, and an address keeps the place that it was given first. Fences
// are not relaxed where they are full.
unsafe impl Host for Loom {
    fn attention(address: usize) -> &'static AtomicU8 {
        &TABLE.attention[place(address)]
    }

    fn unlock_mode(address: usize) -> &'static AtomicUsize {
        &TABLE.unlock_modes[place(address)]
    }

    fn bucket(address: usize) -> &'static Bucket<Self> {
        let table = std::ptr::from_ref(&TABLE.buckets).addr();
        watch::table(table..table + size_of_val(&TABLE.buckets));
        &TABLE.buckets[place(address)]
    }

    fn polling() -> Polling {
        let mut polling = Polling::default();
        polling.budget = u32::from(setting::get().polls);
        polling.watch = polling.budget;
        polling
    }

    fn fences_are_asymmetric() -> bool {
        setting::get().fences != Fences::Refused
    }

    fn presumed_light_fence() {
        if setting::get().fences == Fences::Full {
            atomic::fence(Ordering::SeqCst);
        }
    }

    fn may_relax() -> bool {
        Self::fences_are_asymmetric() && setting::get().relaxes != Relaxes::Never
    }

    fn once_in(_count: u32) -> bool {
        true
    }

    // From 100 on: the watch takes a 1 for the status of a node.
    fn cpu() -> u32 {
        100 + threads::number() % setting::get().cpus
    }
}

/// Whether nothing is left in the parking table.
#[allow(dead_code, reason = "not every test that has this platform asks")]
pub fn is_at_rest() -> bool {
    TABLE.buckets.iter().all(Bucket::is_at_rest)
}
