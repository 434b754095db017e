//! Shuttle's scheduler as a platform: its atomics, with a futex, a clock and a table beside them.
//!
//! Memory is sequentially consistent: one thread runs at a time, every access sees the last one, fences are
//! nothing. All random choices are drawn from shuttle, which can therefore replay them: which thread to
//! run, how fast time passes, which addresses share a bucket, and the fields of [`Setting`].

#[path = "shuttle_atomics.rs"]
mod atomics;
#[path = "shuttle_explore.rs"]
pub mod explore;
#[path = "shuttle_kernel.rs"]
mod kernel;
#[path = "shuttle_life.rs"]
mod life;

use std::sync::Mutex;

use ondeck::parking::{Bias, Bucket, Row};
use ondeck::platform::{
    AtomicInt, Estimates, Fences, FutexWait, Host, Ordering, Platform, Threads, Timestamp,
};
use ondeck::spin::Polling;
use shuttle::rand::{RngCore, thread_rng};
use shuttle::sync::atomic;

use atomics::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize};
use kernel::{Kernel, kernel, pass_time, place, sleep, take};

/// Runs locks inside a shuttle runner.
#[derive(Debug)]
pub struct Shuttle;

/// What is drawn for each execution.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a property of the machine by itself")]
struct Setting {
    /// Buckets of the parking table, at most [`MOST_BUCKETS`].
    buckets: usize,
    /// Whether the heir of a lock polls, and a waiter of a condition variable watches, before it parks.
    polls: bool,
    /// Whether heavy fences are there.
    asymmetric: bool,
    /// The number of CPUs.
    cpus: usize,
    /// Whether awake threads soon count as ones that have lost their CPUs.
    stale: bool,
    /// Whether some threads are of a real-time scheduling class.
    urgent: bool,
    /// Whether threads can be visible readers of reader-writer locks.
    visible: bool,
    /// Whether sleeps end with the slices of a parked thread. Without them a lost wake is a deadlock.
    slices: bool,
    /// The start of the tick counter: 0, or shortly before it wraps around.
    first_tick: u64,
}

impl Setting {
    fn draw() -> Self {
        Self {
            buckets: 1 + below(MOST_BUCKETS),
            polls: one_in(2),
            asymmetric: !one_in(4),
            cpus: if one_in(8) { 1 } else { 2 + 2 * below(2) },
            stale: one_in(4),
            urgent: one_in(4),
            visible: one_in(2),
            slices: one_in(2),
            first_tick: if one_in(2) { 0 } else { u64::MAX - 60 },
        }
    }
}

pub const MOST_BUCKETS: usize = 4;

/// The first threads of an execution have rows; readers of later ones are counted.
const ROWS: usize = 6;

/// A tick is so many nanoseconds, so that the mutex's times are some tens of ticks.
pub const TICK_NANOS: u64 = 25_000;

struct Machine {
    setting: Setting,
    kernel: Mutex<Kernel>,
    unlock_modes: [AtomicUsize; MOST_BUCKETS],
    buckets: [Bucket<Shuttle>; MOST_BUCKETS],
    rows: [Row<Shuttle>; ROWS],
    bias: Bias<Shuttle>,
}

shuttle::lazy_static! {
    /// A new one for each execution.
    static ref MACHINE: Machine = Machine {
        setting: Setting::draw(),
        kernel: Mutex::default(),
        unlock_modes: [(); MOST_BUCKETS].map(|()| AtomicUsize::new(0)),
        buckets: [(); MOST_BUCKETS].map(|()| Bucket::new()),
        rows: [(); ROWS].map(|()| Row::new()),
        bias: Bias::new(),
    };
}

/// An execution begins. Making the machine is not a single step, so it must not happen in the middle of a
/// system call.
fn begin() {
    shuttle::lazy_static::initialize(&MACHINE);
}

/// A number below `end`.
pub fn below(end: usize) -> usize {
    (thread_rng().next_u64() % end as u64) as usize
}

/// True once in `count` times.
pub fn one_in(count: usize) -> bool {
    below(count) == 0
}

/// Another thread may run here.
pub fn step() {
    let _ = atomic::AtomicU8::new(0).load(Ordering::SeqCst);
}

// SAFETY: atomics are shuttle's and sequentially consistent, so that fences have nothing to do. The
// kernel's queues are found by address. A panic ends the execution with all its threads.
unsafe impl Platform for Shuttle {
    type AtomicU8 = AtomicU8;
    type AtomicU32 = AtomicU32;
    type AtomicUsize = AtomicUsize;
    type AtomicPtr<T: 'static> = AtomicPtr<T>;

    // All accesses are sequentially consistent without fences.
    fn fence(_order: Ordering) {}

    fn pause() {
        shuttle::thread::yield_now();
    }

    fn pause_times(_count: u32) {
        shuttle::thread::yield_now();
    }

    fn spin_again() {
        shuttle::thread::yield_now();
    }

    fn spins(count: u32) -> u32 {
        count.min(2)
    }

    fn yield_now() {
        shuttle::thread::yield_now();
    }

    fn now() -> Timestamp {
        Timestamp::from_nanos(kernel(|kernel| kernel.now) * TICK_NANOS)
    }

    fn ticks() -> u64 {
        pass_time().wrapping_add(MACHINE.setting.first_tick)
    }

    fn ticks_per_second() -> u64 {
        1_000_000_000 / TICK_NANOS
    }

    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        sleep(word, expected, deadline)
    }

    fn futex_wake(address: *const AtomicU32, count: u32) -> usize {
        step();
        kernel::wake(take(address.addr(), count as usize))
    }

    fn futex_requeue(
        from: &AtomicU32,
        expected: u32,
        wake: u32,
        to: *const AtomicU32,
        move_: u32,
    ) -> Option<usize> {
        if from.load(Ordering::Relaxed) != expected {
            return None;
        }
        let address = std::ptr::from_ref(from).addr();
        let woken = take(address, wake as usize);
        let others = take(address, move_ as usize);
        let count = others.len();
        kernel(|kernel| kernel.queues.entry(to.addr()).or_default().extend(others));
        Some(kernel::wake(woken) + count)
    }

    fn ticks_in(nanos: u32) -> usize {
        u64::from(nanos).div_ceil(TICK_NANOS) as usize
    }

    fn cpus() -> usize {
        MACHINE.setting.cpus
    }
}

// SAFETY: an execution has one table, and an address keeps the place that was drawn for it first.
unsafe impl Host for Shuttle {
    fn unlock_mode(address: usize) -> &'static AtomicUsize {
        &MACHINE.unlock_modes[place(address)]
    }

    fn bucket(address: usize) -> &'static Bucket<Self> {
        &MACHINE.buckets[place(address)]
    }

    fn row() -> Option<&'static Row<Self>> {
        let row = MACHINE.rows.get(usize::from(shuttle::current::me()));
        row.filter(|_| MACHINE.setting.visible)
    }

    fn rows() -> &'static [Row<Self>] {
        if MACHINE.setting.visible { &MACHINE.rows } else { &[] }
    }

    // All addresses share one.
    fn bias(_address: usize) -> Option<&'static Bias<Self>> {
        MACHINE.setting.visible.then_some(&MACHINE.bias)
    }
}

// SAFETY: atomics are sequentially consistent.
unsafe impl Fences for Shuttle {
    fn light_fence() {}

    fn heavy_fence() {
        step();
    }

    fn fences_are_asymmetric() -> bool {
        MACHINE.setting.asymmetric
    }

    fn presumed_light_fence() {}

    fn may_relax() -> bool {
        MACHINE.setting.asymmetric && one_in(2)
    }
}

impl Estimates for Shuttle {
    fn polling() -> Polling {
        const TICK: u32 = TICK_NANOS as u32;
        let mut polling = Polling::default();
        (polling.short, polling.long) = (TICK, 2 * TICK);
        let polls = u32::from(MACHINE.setting.polls);
        (polling.budget, polling.watch) = (polls * 4 * TICK, polls * 3 * TICK);
        polling.tenure = 4 * TICK;
        polling
    }

    // A thread that is late by this has lost its CPU.
    fn wake_ticks() -> usize {
        if MACHINE.setting.stale { 1 } else { 1 << 40 }
    }

    fn transfer_ticks() -> usize {
        1
    }
}

impl Threads for Shuttle {
    fn once_in(_count: u32) -> bool {
        one_in(2)
    }

    fn cpu() -> u32 {
        below(2) as u32
    }

    fn priority() -> u32 {
        if MACHINE.setting.urgent && one_in(4) { 1 + below(2) as u32 } else { 0 }
    }
}

/// Whether nothing is left in the parking table, and no thread sleeps.
#[allow(dead_code, reason = "the tests of the zoo do not ask")]
pub fn is_at_rest() -> bool {
    kernel(|kernel| kernel.queues.values().all(Vec::is_empty))
        && MACHINE.buckets.iter().all(Bucket::is_at_rest)
        && MACHINE.unlock_modes.iter().all(|mode| mode.load(Ordering::Relaxed) == 0)
}
