//! The model checker as a platform: loom's atomics, a futex and the parking table in one execution.

#[macro_use]
#[path = "delegated.rs"]
mod delegated;

#[path = "loom_atomics.rs"]
mod atomics;
#[path = "loom_explore.rs"]
mod explore;
#[path = "loom_fence.rs"]
mod fence;
#[path = "loom_kernel.rs"]
mod kernel;
#[path = "loom_life.rs"]
mod life;
#[path = "loom_readers.rs"]
mod readers;
#[path = "loom_setting.rs"]
mod setting;
#[path = "loom_threads.rs"]
mod threads;
#[path = "loom_words.rs"]
mod words;

use loom::sync::atomic;
use ondeck::parking::{Bias, Bucket, Row};
use ondeck::platform::{
    self, AtomicInt, Estimates, FutexWait, Host, Ordering, Platform, Threads, Timestamp,
};
use ondeck::spin::Polling;

use atomics::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize};
#[allow(unused_imports, reason = "not every test with this platform needs all")]
pub use explore::{deeper, model};
#[allow(unused_imports, reason = "not every test with this platform needs all")]
pub use kernel::{asleep, pass_time, refuse};
use setting::is_asymmetric;
#[allow(unused_imports, reason = "not every test with this platform needs all")]
pub use setting::{Fences, MOST_BUCKETS, Setting, set};
#[allow(unused_imports, reason = "not every test with this platform needs all")]
pub use threads::{join, spawn};

/// Runs locks inside `loom::model`; the modules document the modelled features.
#[derive(Debug)]
pub struct Loom;

struct Table {
    /// The addresses seen so far. An address's bucket is its index in this list, because executions
    /// are repeated with different addresses.
    addresses: std::sync::Mutex<Vec<usize>>,
    unlock_modes: [AtomicUsize; MOST_BUCKETS],
    buckets: [Bucket<Loom>; MOST_BUCKETS],
}

loom::lazy_static! {
    static ref TABLE: Table = Table {
        addresses: std::sync::Mutex::default(),
        unlock_modes: [AtomicUsize::new(0), AtomicUsize::new(0)],
        buckets: [Bucket::new(), Bucket::new()],
    };
}

/// The number of threads in the largest model with visible readers.
const MOST_READERS: usize = 4;

/// The rows of visible readers. Not part of the table, because few models need them.
struct Readers {
    rows: [Row<Loom>; MOST_READERS],
    bias: Bias<Loom>,
}

loom::lazy_static! {
    static ref READERS: Readers = Readers {
        rows: [Row::new(), Row::new(), Row::new(), Row::new()],
        bias: Bias::new(),
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

// SAFETY: atomics and fences are loom's. The kernel's queues are found by address. A panic ends the
// model with all its threads.
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

    // Loom runs a thread that has yielded only when no other can run. Where no thread polls, its
    // few pauses are no yields: so the others may be anywhere when it continues.
    fn pause() {
        threads::pass_tick();
        if setting::get().polls {
            loom::thread::yield_now();
        }
    }

    // For a model checker one iteration of a waiting loop shows the same as a hundred.
    fn pause_times(_count: u32) {
        Self::pause();
    }

    fn spin_again() {
        loom::thread::yield_now();
    }

    // One attempt shows the same as several.
    fn spins(_count: u32) -> u32 {
        1
    }

    fn yield_now() {
        threads::pass_tick();
        fence::before_access();
        loom::thread::yield_now();
    }

    fn now() -> Timestamp {
        kernel::now()
    }

    // Returns the time of the calling thread, which advances with its pauses and yields.
    fn ticks() -> u64 {
        threads::ticks()
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

    // A model has no real time.
    fn sleep_nanos(_nanos: u32) {
        Self::pause();
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

    // A pause is a tick. The setting determines whether a thread is overdue.
    fn ticks_in(nanos: u32) -> usize {
        const EVER: usize = 1 << 40;
        match nanos {
            // No mutex is captured.
            0 | 2_000_000 => 0,
            1..250_000 => 1,
            250_000 if setting::get().due && threads::is_due() => 0,
            // An offer is for no longer than its thread keeps its CPU.
            250_000 if setting::get().stale => 1,
            500_000 | 1_000_000 if setting::get().late => 0,
            _ if setting::get().overdue => EVER.wrapping_neg(),
            _ => EVER,
        }
    }

    fn cpus() -> usize {
        2
    }

    // Two neighbours are on two nodes.
    fn node() -> usize {
        threads::number() as usize % 2
    }
}

// SAFETY: an execution has one table, and an address keeps its first place.
unsafe impl Host for Loom {
    fn unlock_mode(address: usize) -> &'static AtomicUsize {
        &TABLE.unlock_modes[place(address)]
    }

    fn bucket(address: usize) -> &'static Bucket<Self> {
        &TABLE.buckets[place(address)]
    }

    fn row() -> Option<&'static Row<Self>> {
        setting::get().biased.then(|| &READERS.rows[threads::number() as usize])
    }

    fn rows() -> &'static [Row<Self>] {
        if setting::get().biased { &READERS.rows } else { &[] }
    }

    fn bias(_address: usize) -> Option<&'static Bias<Self>> {
        setting::get().biased.then(|| &READERS.bias)
    }
}

// SAFETY: the pair is modelled in `loom_fence.rs`. Fences are not relaxed where both are full.
unsafe impl platform::Fences for Loom {
    fn light_fence() {
        if !is_asymmetric() {
            atomic::fence(Ordering::SeqCst);
        }
    }

    fn heavy_fence() {
        if is_asymmetric() && !kernel::is_refused() {
            fence::heavy();
        } else {
            atomic::fence(Ordering::SeqCst);
        }
    }

    fn fences_are_asymmetric() -> bool {
        setting::get().fences != Fences::Refused && !kernel::is_refused()
    }

    fn heavy_fences_are_refused() -> bool {
        kernel::is_refused()
    }

    fn presumed_light_fence() {
        if setting::get().fences == Fences::Full {
            atomic::fence(Ordering::SeqCst);
        }
    }

    fn may_relax() -> bool {
        Self::fences_are_asymmetric()
    }
}

impl Estimates for Loom {
    fn polling() -> Polling {
        let mut polling = Polling::default();
        polling.budget = u32::from(setting::get().polls);
        polling.watch = polling.budget;
        (polling.short, polling.long) = (1, 1);
        polling.tenure = 1;
        polling
    }

    // A thread that is late by this amount counts as having lost its CPU.
    fn wake_ticks() -> usize {
        if setting::get().stale { 0 } else { 1 << 50 }
    }

    fn transfer_ticks() -> usize {
        0
    }
}

impl Threads for Loom {
    fn thread() -> usize {
        threads::number() as usize + 1
    }

    fn once_in(_count: u32) -> bool {
        true
    }

    fn priority() -> u32 {
        u32::from(setting::get().urgent && threads::number() == 1)
    }
}

/// Returns whether nothing is left in the parking table.
#[allow(dead_code, reason = "not every test with this platform asks")]
pub fn is_at_rest() -> bool {
    let asks = |mode: &AtomicUsize| mode.load(Ordering::Relaxed) != 0;
    TABLE.buckets.iter().all(Bucket::is_at_rest) && !TABLE.unlock_modes.iter().any(asks)
}
