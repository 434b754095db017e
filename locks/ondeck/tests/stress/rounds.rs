//! Rounds in which each thread uses one lock once, and then all meet at a barrier. After a lost
//! wake no later unlock wakes the thread, so the round never ends. In a crowd the next unlock finds
//! a parked thread that an earlier one has forgotten.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use ondeck::barrier::Barrier;
use ondeck::fair::RawFairMutex;
use ondeck::latch::Latch;
use ondeck::mutex::RawMutex;
use ondeck::once::Once;
use ondeck::platform::{Host, Timestamp};
use ondeck::rwlock::RawRwLock;
use ondeck::semaphore::Semaphore;

/// The maximum number of rounds of each kind: each round uses up a latch and a once.
const MOST: usize = if cfg!(miri) { 64 } else { 4_096 };
/// Half of the rounds are for mutexes, and a quarter for the reader-writer lock.
const KINDS: usize = 20;
/// The first rounds find most buckets of the standard table in their initial state.
const MUTEXES: usize = MOST;

struct Family<P: Host> {
    mutexes: Vec<RawMutex<P>>,
    rwlock: RawRwLock<P>,
    fair: RawFairMutex<P>,
    semaphore: Semaphore<P>,
    latches: Vec<Latch<P>>,
    onces: Vec<Once<P>>,
    barrier: Barrier<P>,
    /// The number of sections of owners.
    count: UnsafeCell<u64>,
}

// SAFETY: only the owner of the round's lock writes the count, and only its owner and its readers
// read it.
unsafe impl<P: Host> Sync for Family<P> {}

impl<P: Host> Family<P> {
    fn new(threads: u32, is_fair: bool) -> Self {
        let semaphore = if is_fair { Semaphore::fair_on_platform } else { Semaphore::on_platform };
        Self {
            mutexes: (0..MUTEXES).map(|_| RawMutex::new()).collect(),
            rwlock: RawRwLock::new(),
            fair: RawFairMutex::new(),
            semaphore: semaphore(1),
            latches: (0..MOST).map(|_| Latch::on_platform(threads)).collect(),
            onces: (0..MOST).map(|_| Once::on_platform()).collect(),
            barrier: Barrier::on_platform(threads),
            count: UnsafeCell::new(0),
        }
    }

    /// Runs a section of an owner. Returns the number of sections: one.
    fn own(&self, rng: &mut Rng) -> u64 {
        // SAFETY: the caller is the owner.
        let before = unsafe { *self.count.get() };
        linger::<P>(rng);
        // SAFETY: the same.
        unsafe { *self.count.get() = before + 1 };
        1
    }

    /// Runs a section of a reader.
    fn read(&self, rng: &mut Rng) -> u64 {
        // SAFETY: there is no writer during the read.
        let count = || unsafe { self.count.get().read_volatile() };
        let before = count();
        linger::<P>(rng);
        assert_eq!(before, count(), "a writer beside a reader");
        0
    }

    /// Uses the lock of the round. Returns the number of owner sections.
    fn visit(&self, round: usize, rng: &mut Rng) -> u64 {
        let (latch, once) = (&self.latches[round / KINDS], &self.onces[round / KINDS]);
        let deadline = soon::<P>(rng);
        // SAFETY: each unlock below matches a lock of the thread just before.
        unsafe {
            match round % KINDS {
                0 => {
                    if rng.bool() || !self.fair.try_lock_until(deadline) {
                        self.fair.lock();
                    }
                    let sections = self.own(rng);
                    self.fair.unlock();
                    sections
                }
                1 => {
                    if rng.bool() || !self.semaphore.try_acquire_by(deadline) {
                        self.semaphore.acquire();
                    }
                    let sections = self.own(rng);
                    self.semaphore.release(1);
                    sections
                }
                2 => {
                    linger::<P>(rng);
                    latch.count_down();
                    if rng.bool() || !latch.wait_by(deadline) {
                        latch.wait();
                    }
                    0
                }
                3 => {
                    let mut sections = 0;
                    once.call_once(|| sections = self.own(rng));
                    sections
                }
                4..10 => self.visit_rwlock(deadline, rng),
                _ => {
                    let mutex = &self.mutexes[round % MUTEXES];
                    if rng.bool() || !mutex.try_lock_until(deadline) {
                        mutex.lock();
                    }
                    let sections = self.own(rng);
                    mutex.unlock();
                    sections
                }
            }
        }
    }

    fn visit_rwlock(&self, deadline: Timestamp, rng: &mut Rng) -> u64 {
        let lock = &self.rwlock;
        // SAFETY: each unlock below matches a lock of the thread just before.
        unsafe {
            match rng.u32(0..8) {
                0..3 => {
                    let in_time =
                        rng.bool().then(|| lock.try_lock_shared_until(deadline)).flatten();
                    let held = in_time.unwrap_or_else(|| lock.lock_shared());
                    let sections = self.read(rng);
                    lock.unlock_shared(held);
                    sections
                }
                3 => {
                    let outer = rng.bool().then(|| lock.lock_shared());
                    lock.lock_shared_recursive_counted();
                    if let Some(outer) = outer {
                        self.read(rng);
                        lock.unlock_shared(outer);
                    }
                    let sections = self.read(rng);
                    lock.unlock_shared_counted();
                    sections
                }
                4 => {
                    lock.lock_upgradable();
                    self.read(rng);
                    if rng.bool() || !lock.try_upgrade_until(deadline) {
                        lock.upgrade();
                    }
                    let sections = self.own(rng);
                    lock.unlock_exclusive();
                    sections
                }
                5 => {
                    lock.lock_exclusive();
                    let sections = self.own(rng);
                    let held = if rng.bool() {
                        lock.downgrade()
                    } else {
                        lock.downgrade_to_upgradable();
                        self.read(rng);
                        lock.downgrade_upgradable()
                    };
                    self.read(rng);
                    lock.unlock_shared(held);
                    sections
                }
                other => {
                    if rng.bool() || !lock.try_lock_exclusive_until(deadline) {
                        lock.lock_exclusive();
                    }
                    let sections = self.own(rng);
                    if other == 6 {
                        lock.unlock_exclusive();
                    } else {
                        lock.unlock_exclusive_fair();
                    }
                    sections
                }
            }
        }
    }
}

/// About as long as a waiter polls, so that unlocks meet threads that are about to park.
fn soon<P: Host>(rng: &mut Rng) -> Timestamp {
    P::now().after(Duration::from_nanos(rng.u64(0..40_000)))
}

/// Occasionally long enough that others sleep.
fn linger<P: Host>(rng: &mut Rng) {
    match rng.u32(0..8) {
        0 => thread::sleep(Duration::from_micros(rng.u64(0..100))),
        1..5 => {}
        _ => {
            let end = soon::<P>(rng);
            while P::now() < end {
                P::pause();
            }
        }
    }
}

/// Runs rounds until the time is over. Returns their number. Each thread first calls `begin`, with
/// its number.
pub fn run<P: Host>(duration: Duration, seed: u64, begin: impl Fn(usize) + Sync) -> u64 {
    let mut rng = Rng::with_seed(seed);
    let threads = rng.usize(2..6);
    let family = Family::<P>::new(u32::try_from(threads).expect("a few"), rng.bool());
    let (last, sections) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
    let start = Instant::now();
    thread::scope(|scope| {
        for number in 0..threads {
            let mut rng = rng.fork();
            let (family, last, sections, begin) = (&family, &last, &sections, &begin);
            scope.spawn(move || {
                begin(number);
                for round in 0.. {
                    let more = family.visit(round, &mut rng);
                    sections.fetch_add(more, Ordering::Relaxed);
                    // This is before the barrier, so that after it all threads know whether the
                    // round is the last.
                    let is_last = round + 1 == MOST * KINDS || start.elapsed() > duration;
                    if number == 0 && is_last {
                        last.store(round as u64, Ordering::Relaxed);
                    }
                    family.barrier.wait();
                    if last.load(Ordering::Relaxed) <= round as u64 {
                        break;
                    }
                }
            });
        }
    });
    assert_eq!(family.count.into_inner(), sections.into_inner(), "two owners at once");
    last.into_inner() + 1
}
