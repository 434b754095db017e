//! Forks while a crowd uses its locks, by a thread that owns a lock for which others are parked. The
//! child's locks work, although none of the parent's waiters exists in it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::{Host, Timestamp};

use super::copy::{Fork, fork, with_threads};

/// Forks until the time is over, as the owner of a lock for which others are parked. Returns the number of
/// forks.
pub fn fork_on<P: Host>(seed: u64, over: &AtomicBool) -> u64 {
    let mut rng = Rng::with_seed(seed);
    let mutex = RawMutex::<P>::new();
    let mut forks = 0;
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    mutex.lock();
                    // SAFETY: this thread owns the lock.
                    unsafe { mutex.unlock() };
                    thread::sleep(Duration::from_micros(50));
                }
            });
        }
        // It forks at least once, however busy the machine is.
        loop {
            mutex.lock();
            // Usually long enough for them to park.
            thread::sleep(Duration::from_micros(rng.u64(0..1_000)));
            fork(Fork::Library, || {
                // SAFETY: this thread's copy owns the lock, and none of the threads that are parked for the
                // parent's exists here.
                unsafe { mutex.unlock() };
                contend(&mutex);
            });
            // SAFETY: this thread owns the lock.
            unsafe { mutex.unlock() };
            forks += 1;
            if over.load(Ordering::Relaxed) {
                break;
            }
            thread::sleep(Duration::from_micros(rng.u64(0..20_000)));
        }
    });
    forks
}

/// Threads of the child contend for a free lock, wait for each other, and end.
fn contend<P: Host>(mutex: &RawMutex<P>) {
    const THREADS: u32 = 3;
    const SECTIONS: u32 = 100;
    let condvar = RawCondvar::<P>::new();
    let count = AtomicU32::new(0);
    let work = || {
        for _ in 0..SECTIONS {
            let soon = Timestamp::from_nanos(P::now().as_nanos() + 10_000);
            if !mutex.try_lock_until(soon) {
                mutex.lock();
            }
            // This need not be a read-modify-write, because the lock's owner is alone.
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            // SAFETY: this thread owns the lock.
            unsafe { mutex.unlock() };
        }
        condvar.notify_one();
    };
    with_threads(THREADS as usize, &work, || {
        mutex.lock();
        while count.load(Ordering::Relaxed) < THREADS * SECTIONS {
            // SAFETY: this thread owns the lock.
            unsafe { condvar.wait(mutex, None) };
        }
        // SAFETY: this thread owns the lock.
        unsafe { mutex.unlock() };
    });
}
