//! A machine that is not Linux by its type: its threads, atomics and clocks are those of Linux.

use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ondeck::parking::Bucket;
use ondeck::platform::{
    Estimates, Fences, FutexWait, Host, Linux, Ordering, Platform, Threads, Timestamp,
};
use ondeck_lab::environment::Placement;
use ondeck_lab::machine::Machine;
use ondeck_lab::team::{Body, Outcome, Shared, TeamError, TeamSetting, Teams, Until};
use ondeck_lab::usage::Usage;
use ondeck_lab::work::Work;

/// So many CPUs it says it has.
pub const CPUS: usize = 3;

/// See the module.
pub struct Elsewhere;

/// What the machine was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    pub teams: usize,
    pub touches: usize,
}

static TEAMS: AtomicUsize = AtomicUsize::new(0);
static TOUCHES: AtomicUsize = AtomicUsize::new(0);

/// So often by now.
pub fn calls() -> Calls {
    Calls { teams: TEAMS.load(Ordering::Relaxed), touches: TOUCHES.load(Ordering::Relaxed) }
}

/// A team of so many threads.
pub fn setting(threads: usize) -> TeamSetting {
    TeamSetting {
        threads,
        placement: Placement::default(),
        stall_limit: Duration::from_secs(10),
        cancel: Arc::default(),
    }
}

// SAFETY: each function is that of Linux; a futex is passed on as it is.
unsafe impl Platform for Elsewhere {
    type AtomicU8 = AtomicU8;
    type AtomicU32 = AtomicU32;
    type AtomicUsize = AtomicUsize;
    type AtomicPtr<T: 'static> = AtomicPtr<T>;

    fn fence(order: Ordering) {
        Linux::fence(order);
    }
    fn pause() {
        Linux::pause();
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
    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        Linux::futex_wait(word, expected, deadline)
    }
    fn futex_wake(address: *const AtomicU32, count: u32) -> usize {
        Linux::futex_wake(address, count)
    }
    fn futex_requeue(
        from: &AtomicU32,
        expected: u32,
        wake: u32,
        to: *const AtomicU32,
        move_: u32,
    ) -> Option<usize> {
        Linux::futex_requeue(from, expected, wake, to, move_)
    }
    fn ticks_in(nanos: u32) -> usize {
        Linux::ticks_in(nanos)
    }
    fn cpus() -> usize {
        CPUS
    }
}

static UNLOCK_MODE: AtomicUsize = AtomicUsize::new(0);
static BUCKET: OnceLock<Bucket<Elsewhere>> = OnceLock::new();

// SAFETY: all addresses have the same word and the same bucket, which nothing else changes; no test forks.
unsafe impl Host for Elsewhere {
    fn unlock_mode(_: usize) -> &'static AtomicUsize {
        &UNLOCK_MODE
    }
    fn bucket(_: usize) -> &'static Bucket<Self> {
        BUCKET.get_or_init(Bucket::new)
    }
}

// SAFETY: both are full fences.
unsafe impl Fences for Elsewhere {
    fn light_fence() {
        Linux::fence(Ordering::SeqCst);
    }
    fn heavy_fence() {
        Linux::fence(Ordering::SeqCst);
    }
}

impl Estimates for Elsewhere {}

impl Threads for Elsewhere {
    fn once_in(count: u32) -> bool {
        thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });
        CALLS.set(CALLS.get().wrapping_add(1));
        CALLS.get().is_multiple_of(count)
    }
}

impl Teams for Elsewhere {
    fn run_team<T: Send + 'static>(
        setting: &TeamSetting,
        until: Until,
        body: &Body<Self, T>,
    ) -> Result<Outcome<T>, TeamError> {
        TEAMS.fetch_add(1, Ordering::Relaxed);
        let threads = setting.threads;
        let shared = Shared::new(threads);
        let spawn = |index| {
            let (shared, body) = (Arc::clone(&shared), Arc::clone(body));
            std::thread::spawn(move || shared.work(index, |member| body(member)))
        };
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        while shared.arrived() < threads {
            std::thread::yield_now();
        }
        let opened = Self::now();
        shared.open();
        while !shared.all_run() && shared.ended() < threads {
            std::thread::yield_now();
        }
        let (begin, from) = (Self::now(), shared.progress());
        let (Until::Elapsed(limit) | Until::Finished(limit)) = until;
        while shared.ended() < threads && Self::now().since(begin) < limit {
            std::thread::yield_now();
        }
        let (window, to) = (Self::now().since(begin), shared.progress());
        shared.stop();
        let mut usage = Usage::default();
        let mut results = Vec::new();
        for handle in handles {
            let (result, charged) = handle.join().map_err(|_| TeamError::Panicked)?;
            usage = usage.plus(charged);
            results.push(result);
        }
        let window_pairs: Vec<u64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
        let contended_pairs = match until {
            Until::Elapsed(_) => window_pairs.clone(),
            Until::Finished(_) => shared.first_end().unwrap_or_default().to_vec(),
        };
        Ok(Outcome {
            window,
            window_pairs,
            contended_pairs,
            pairs: shared.progress(),
            usage,
            span: Self::now().since(opened),
            cpus: CPUS,
            results,
        })
    }

    fn usage() -> Usage {
        Usage::of_this_thread()
    }

    fn thread_number() -> i32 {
        Linux::thread_number()
    }

    fn is_parked(thread: i32) -> bool {
        Linux::is_parked(thread)
    }
}

impl Machine for Elsewhere {
    fn perform(work: Work) {
        work.perform();
    }

    fn touch<T: ?Sized>(_data: &T, _write: bool) {
        TOUCHES.fetch_add(1, Ordering::Relaxed);
    }

    fn sleep(time: Duration) {
        std::thread::sleep(time);
    }
}
