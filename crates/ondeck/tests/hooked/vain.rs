//! How long threads wait awake for an owner that has lost its CPU.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

use ondeck::mutex::RawMutex;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, hooks};
use super::{SHORT, unlock, watched};

/// The time, in ticks: it goes on by as much whenever a thread looks at it.
static CLOCK: AtomicU64 = AtomicU64::new(1);
static PAUSES: AtomicU32 = AtomicU32::new(0);

hooks! {
    InVain {
        fn ticks() -> u64 {
            CLOCK.fetch_add(Linux::ticks_in(50) as u64, Ordering::SeqCst)
        }
        fn pause() {
            PAUSES.fetch_add(1, Ordering::SeqCst);
        }
        fn polling() -> Polling {
            let mut polling = Polling::default();
            // Far less than the time after which a thread is overdue.
            (polling.budget, polling.near, polling.offer) = (20_000, 0, 0);
            (polling.short, polling.long) = (SHORT, 2 * SHORT);
            polling
        }
    }
}

/// The owner stays away, and threads arrive one after the other. Each of them would poll for as long as a
/// wake takes: together they would burn a CPU for as long as the owner needs one.
#[test]
fn pollers_that_come_after_others_in_vain_poll_for_less_time() {
    let _watchdog = watched();
    let mutex = RawMutex::<Hooked<InVain>>::new();
    let pauses_until_parked = |count: usize| -> Vec<u32> {
        thread::scope(|scope| {
            mutex.lock();
            let pauses = (0..count).map(|_| {
                let before = PAUSES.load(Ordering::SeqCst);
                let parked = Hooked::<InVain>::sleeps();
                scope.spawn(|| {
                    mutex.lock();
                    unlock(&mutex);
                });
                Hooked::<InVain>::until_sleeps(parked + 1);
                PAUSES.load(Ordering::SeqCst) - before
            });
            let pauses = pauses.collect();
            unlock(&mutex);
            pauses
        })
    };
    let pauses = pauses_until_parked(5);
    assert!(pauses[1] > pauses[0] / 2, "one may have been unlucky: {pauses:?}");
    assert!(pauses[4] < pauses[0] / 4, "the owner does not run: {pauses:?}");
    let again = pauses_until_parked(1);
    assert!(again[0] > pauses[0] / 2, "the lock was unlocked: {again:?} after {pauses:?}");
    Hooked::<InVain>::until_at_rest();
}
