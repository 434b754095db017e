//! The promises of a reader-writer lock, as checks that report which one is broken.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use ondeck::platform::Native;
use ondeck_zoo::{Fairness, RawRwLock, Waiting};

mod rounds;

use rounds::most_rounds;

const THREADS: u64 = 5;

/// The number of threads that write now and then; the others only read, so that some thread reads
/// while another writes. Three, so that an unlock may leave a writer asleep after it has woken
/// another.
const WRITERS: u64 = 3;

/// Writers change two numbers one after the other; a reader that sees them differ was inside at the
/// same time.
struct Halves<L> {
    lock: L,
    one: AtomicU64,
    other: AtomicU64,
}

/// Lets other threads run into the middle of a section, even where all threads share one CPU.
fn linger() {
    thread::sleep(Duration::from_micros(20));
}

/// Five threads read and write, and linger in the middle now and then. Writers have 2,000 rounds,
/// or `ONDECK_TEST_ROUNDS`.
pub fn exclusion<L: RawRwLock<Native>>() -> Result<(), String> {
    // A strict order of spinning threads costs a time slice for each one that is off its CPU.
    let strict = L::INFO.fairness == Fairness::Fifo && L::INFO.waiting == Waiting::Spins;
    let rounds = if strict { 60 } else { most_rounds().min(2_000) };
    let mut halves = Halves { lock: L::new(), one: AtomicU64::new(0), other: AtomicU64::new(0) };
    if !halves.lock.is_idle() {
        return Err("a new lock is not at rest".into());
    }
    let (start, torn) = (Barrier::new(THREADS as usize), AtomicBool::new(false));
    let left = AtomicU64::new(WRITERS);
    let work = |thread: u64| {
        let (read, write) = (L::Read::default(), L::Write::default());
        let (mut writes, mut round) = (0, 0);
        start.wait();
        // Readers continue until the writers have ended, so that there is always one.
        while if thread < WRITERS { round < rounds } else { left.load(Relaxed) > 0 } {
            round += 1;
            let lingers = (round + thread).is_multiple_of(12 + 4 * thread);
            // SAFETY: the contexts stay here, each serves one acquisition at a time, and each
            // unlock matches its acquisition.
            unsafe {
                if thread < WRITERS && (round + thread).is_multiple_of(3) {
                    halves.lock.write(&write);
                    halves.one.store(halves.one.load(Relaxed) + 1, Relaxed);
                    if lingers {
                        linger();
                    }
                    halves.other.store(halves.other.load(Relaxed) + 1, Relaxed);
                    halves.lock.unlock_write(&write);
                    writes += 1;
                } else {
                    halves.lock.read(&read);
                    let one = halves.one.load(Relaxed);
                    if lingers {
                        linger();
                    }
                    if one != halves.other.load(Relaxed) {
                        torn.store(true, Relaxed);
                    }
                    halves.lock.unlock_read(&read);
                    if lingers {
                        // A lock that prefers readers lets writers in when there is none.
                        linger();
                    }
                }
            }
        }
        left.fetch_sub(u64::from(thread < WRITERS), Relaxed);
        writes
    };
    let writes: u64 = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).sum()
    });
    let found = (halves.one.into_inner(), halves.other.into_inner());
    if torn.into_inner() {
        Err("a reader saw a write in halves".into())
    } else if found != (writes, writes) {
        Err(format!("of {writes} writes {found:?} are left"))
    } else if !halves.lock.is_idle() {
        Err("the lock is not at rest after use".into())
    } else {
        Ok(())
    }
}

/// Checks the attempts of another thread while the lock is free, read and written.
pub fn attempts<L: RawRwLock<Native>>() -> Result<(), String> {
    let mut lock = L::new();
    for _ in 0..3 {
        let (read, write) = (L::Read::default(), L::Write::default());
        // SAFETY: the contexts stay here, and each acquisition ends before the next begins.
        unsafe {
            lock.read(&read);
            if try_write_elsewhere(&lock) {
                return Err("a writer got in beside a reader".into());
            }
            if read_elsewhere(&lock, false) != L::SHARES {
                return Err("a second reader was kept out".into());
            }
            if L::SHARES {
                read_elsewhere(&lock, true);
            }
            lock.unlock_read(&read);
            if !lock.is_idle() {
                return Err("the lock is not at rest after a read".into());
            }
            lock.write(&write);
            if lock.is_idle() {
                return Err("a lock that is held is at rest".into());
            }
            if try_write_elsewhere(&lock) || read_elsewhere(&lock, false) {
                return Err("an attempt got in beside a writer".into());
            }
            lock.unlock_write(&write);
        }
        if !(try_write_elsewhere(&lock) && read_elsewhere(&lock, false)) {
            return Err("an attempt at a free lock fails".into());
        }
        if !lock.is_idle() {
            return Err("the lock is not at rest after attempts".into());
        }
    }
    Ok(())
}

/// An attempt may occasionally fail needlessly.
const ATTEMPTS: usize = 100;

fn elsewhere<L: RawRwLock<Native>>(lock: &L, attempt: impl Fn(&L) -> bool + Sync) -> bool {
    let attempts = || (0..ATTEMPTS).any(|_| attempt(lock));
    thread::scope(|scope| scope.spawn(attempts).join()).expect("it does not panic")
}

fn try_write_elsewhere<L: RawRwLock<Native>>(lock: &L) -> bool {
    elsewhere(lock, |lock| {
        let context = L::Write::default();
        // SAFETY: the context stays here, and the unlock matches the acquisition.
        let got = unsafe { lock.try_write(&context) };
        if got {
            // SAFETY: as above.
            unsafe { lock.unlock_write(&context) };
        }
        got
    })
}

/// Reads in another thread, by an attempt unless the thread `waits`.
fn read_elsewhere<L: RawRwLock<Native>>(lock: &L, waits: bool) -> bool {
    elsewhere(lock, |lock| {
        let context = L::Read::default();
        // SAFETY: the context stays here, and the unlock matches the acquisition.
        unsafe {
            if waits {
                lock.read(&context);
            } else if !lock.try_read(&context) {
                return false;
            }
            lock.unlock_read(&context);
        }
        true
    })
}
