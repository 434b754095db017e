//! Threads that hand items to each other stay awake. These tests count how often the threads sleep, on
//! machines with wakes of different lengths.
//!
//! A sleeping thread has to be woken. If by the time it runs the thread that is to notify it next always
//! sleeps itself, each item costs a wake, and nothing ends that.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::{Host, Linux, Platform};

use super::busy::CpuTime;
use super::hooked_platform::{Hooked, hooks};
use super::unlock;
use super::watchdog::Watchdog;

/// Ticks by which a wake takes longer than on this machine.
static LAG: AtomicUsize = AtomicUsize::new(0);

hooks! {
    Lagging {
        fn woke() {
            let (start, lag) = (Linux::ticks(), LAG.load(Ordering::Relaxed) as u64);
            while Linux::ticks().wrapping_sub(start) < lag {
                Linux::pause();
            }
        }
        fn cpu() -> u32 {
            Linux::cpu()
        }
        fn transfer_ticks() -> usize {
            Linux::ticks_in(100)
        }
        fn note_wake(ticks: usize) {
            Linux::note_wake(ticks);
        }
        fn wake_ticks() -> usize {
            Linux::wake_ticks()
        }
    }
}

type Machine = Hooked<Lagging>;

/// Items in a window.
const WINDOW: u32 = 500;

/// The most sleeps in a good window. Each sleep costs a wake. If the threads never meet awake, there are
/// 120 and more.
const FEW: u32 = WINDOW / 50;

/// So many good windows in a row do not happen by chance.
const ENOUGH: u32 = 8;

/// The most items of a run. However good the lock is, threads that get no CPU sleep, too, so that good
/// windows may be late.
const MOST: u32 = 1_000_000;

/// What a mutex guards here.
#[derive(Default)]
struct Inside {
    /// Items that were put in and not taken yet.
    items: u32,
    taken: u32,
    /// How often threads had begun to sleep at the end of the last window.
    sleeps: u32,
    /// Good windows in a row.
    good: u32,
    is_over: bool,
}

/// A number of items behind a mutex, and the two condition variables that threads wait at.
struct Buffer {
    mutex: RawMutex<Machine>,
    not_full: RawCondvar<Machine>,
    not_empty: RawCondvar<Machine>,
    inside: UnsafeCell<Inside>,
    capacity: u32,
    /// Whether a thread notifies before it unlocks.
    notifies_inside: bool,
}

// SAFETY: the mutex guards what is inside.
unsafe impl Sync for Buffer {}

impl Buffer {
    fn new(capacity: u32, notifies_inside: bool) -> Self {
        Self {
            mutex: RawMutex::new(),
            not_full: RawCondvar::new(),
            not_empty: RawCondvar::new(),
            inside: UnsafeCell::new(Inside { sleeps: Machine::sleeps(), ..Inside::default() }),
            capacity,
            notifies_inside,
        }
    }

    /// Puts an item in, or returns false if there were enough.
    fn put(&self) -> bool {
        let (is_full, put) = (
            |inside: &Inside| inside.items == self.capacity,
            |inside: &mut Inside| inside.items += 1,
        );
        self.step(&self.not_full, is_full, put, &self.not_empty)
    }

    /// Takes an item out, or returns false if there were enough.
    fn take(&self) -> bool {
        let take = |inside: &mut Inside| {
            inside.items -= 1;
            inside.taken += 1;
            if inside.taken.is_multiple_of(WINDOW) {
                let sleeps = Machine::sleeps();
                inside.good = if sleeps - inside.sleeps <= FEW { inside.good + 1 } else { 0 };
                inside.sleeps = sleeps;
                inside.is_over |= inside.good == ENOUGH || inside.taken >= MOST;
            }
        };
        self.step(&self.not_empty, |inside| inside.items == 0, take, &self.not_full)
    }

    fn step(
        &self,
        condvar: &RawCondvar<Machine>,
        has_to_wait: impl Fn(&Inside) -> bool,
        change: impl Fn(&mut Inside),
        other: &RawCondvar<Machine>,
    ) -> bool {
        // SAFETY: what is inside is accessed by the owner of the mutex only.
        let goes_on = unsafe {
            self.mutex.lock();
            while !(*self.inside.get()).is_over && has_to_wait(&*self.inside.get()) {
                assert!(condvar.wait(&self.mutex, None));
            }
            let inside = &mut *self.inside.get();
            if !inside.is_over {
                change(inside);
                if self.notifies_inside {
                    other.notify_one();
                }
            }
            !inside.is_over
        };
        unlock(&self.mutex);
        if goes_on && !self.notifies_inside {
            other.notify_one();
        } else if !goes_on {
            self.not_full.notify_all();
            self.not_empty.notify_all();
        }
        goes_on
    }
}

/// `threads` threads on either side hand items to each other through a buffer of this capacity.
fn hand_over(capacity: u32, threads: u32, notifies_inside: bool) {
    // The tests run one after the other, because each wants the CPUs for itself.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if Linux::cpus() < 2 {
        println!("skipped: needs two CPUs");
        return;
    }
    let _watchdog = Watchdog::start("a buffer", Duration::from_mins(10));
    for micros in [0, 15, 30] {
        LAG.store(Linux::ticks_in(micros * 1_000), Ordering::Relaxed);
        let buffer = Buffer::new(capacity, notifies_inside);
        let (sleeps, told) = (Machine::sleeps(), Machine::sleeps_when_told());
        let before = CpuTime::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| while buffer.put() {});
                scope.spawn(|| while buffer.take() {});
            }
        });
        Machine::until_at_rest();
        let Inside { taken, good, .. } = buffer.inside.into_inner();
        let (sleeps, told) = (Machine::sleeps() - sleeps, Machine::sleeps_when_told() - told);
        println!(
            "{micros} µs more: {taken} items, {sleeps} sleeps, {told} of near threads that were told"
        );
        assert!(told <= taken / 100 + 10, "{told} near threads were parked by notifications");
        // A thread whose CPU has gone to another process cannot stay awake.
        if good != ENOUGH && before.is_some_and(|before| before.others_were_busy()) {
            println!("skipped: other processes had the CPUs");
            return;
        }
        assert_eq!(good, ENOUGH, "of {taken} items no {WINDOW} in a row cost few wakes");
    }
}

#[test]
fn the_threads_of_a_bounded_buffer_stay_awake_however_long_a_wake_takes() {
    hand_over(8, 2, false);
}

#[test]
fn a_job_server_and_its_worker_stay_awake_however_long_a_wake_takes() {
    hand_over(1, 1, true);
}
