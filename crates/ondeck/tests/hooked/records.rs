//! A record goes from one lock to another while a thread is about to use it. The thread does not mark
//! itself in the record of another lock, and an unlock that finds no record in between does not miss a
//! thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use ondeck::mutex::RawMutex;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Buffer, Gate, Hooked, Hooks, calls_of, hooks, until};
use super::{no_polling, unlock, watched};

static BUFFER: Buffer = Buffer::new();
/// Behind the load by which a thread that is about to arrive finds the record of its lock.
static FOUND: Gate = Gate::new();
/// Behind a store to a machine word of the table. An arriving thread makes its first one when it is about
/// to poll, right before it sets its mark.
static STORED: Gate = Gate::new();
/// The same as `STORED`, for another thread.
static STORED_TOO: Gate = Gate::new();
/// How many threads that poll have paused.
static PAUSED: AtomicU32 = AtomicU32::new(0);
/// How often a thread whose stores are counted has stored a machine word.
static STORES: AtomicU32 = AtomicU32::new(0);

std::thread_local! {
    /// How long this thread polls, in nanoseconds.
    static BUDGET: Cell<u32> = const { Cell::new(0) };
    /// The lock that this thread wants, by its address.
    static WANTS: Cell<usize> = const { Cell::new(0) };
    /// How often it has found the record.
    static FINDS: Cell<u32> = const { Cell::new(0) };
    static COUNTS: Cell<bool> = const { Cell::new(false) };
    static HAS_PAUSED: Cell<bool> = const { Cell::new(false) };
}

/// Longer than any of these tests takes.
const FOR_EVER: u32 = u32::MAX - 1;
const A_MOMENT: u32 = 1_000;

/// Unlocks never lose their fences. Each test has a table of its own: if a lock has shared a record in a
/// table, an unlock there that finds no record looks at the shared one.
macro_rules! going {
    ($name:ident) => {
        hooks! {
            $name {
                fn store(byte: &AtomicU8, value: u8, order: Ordering) {
                    BUFFER.store(byte, value, order);
                }
                fn load_number(number: &AtomicUsize, order: Ordering) -> usize {
                    let value = number.load(order);
                    if value != 0 && value == WANTS.get() {
                        FINDS.set(FINDS.get() + 1);
                        // The first load asks whether the thread has lost the lock a moment ago.
                        if FINDS.get() == 2 {
                            FOUND.pass();
                        }
                    }
                    value
                }
                fn store_number(number: &AtomicUsize, value: usize, order: Ordering) {
                    number.store(value, order);
                    if COUNTS.get() {
                        STORES.fetch_add(1, Ordering::SeqCst);
                    }
                    STORED.pass();
                    STORED_TOO.pass();
                }
                fn fence(_: Ordering) {
                    BUFFER.fence();
                }
                fn presumed_light_fence() {}
                fn heavy_fence() {
                    BUFFER.drain();
                }
                fn may_relax() -> bool {
                    false
                }
                fn polling() -> Polling {
                    let mut polling = no_polling();
                    polling.budget = BUDGET.get();
                    polling
                }
                fn pause() {
                    if BUDGET.get() != 0 && !HAS_PAUSED.replace(true) {
                        PAUSED.fetch_add(1, Ordering::SeqCst);
                    }
                    Linux::pause();
                }
                fn once_in(_: u32) -> bool {
                    false
                }
            }
        }
    };
}

type Lock<H> = RawMutex<Hooked<H>>;

/// A thread that polls for a mutex, which the caller has locked.
fn poll<'scope, H: Hooks>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope Lock<H>,
) -> ScopedJoinHandle<'scope, ()> {
    let paused = PAUSED.load(Ordering::SeqCst);
    let thread = scope.spawn(|| {
        BUDGET.set(FOR_EVER);
        mutex.lock();
        unlock(mutex);
    });
    until(|| PAUSED.load(Ordering::SeqCst) > paused);
    thread
}

/// A thread that parks for a mutex, which the caller has locked.
fn park<'scope, H: Hooks>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope Lock<H>,
) -> ScopedJoinHandle<'scope, ()> {
    let sleeps = Hooked::<H>::sleeps();
    let thread = scope.spawn(|| {
        mutex.lock();
        unlock(mutex);
    });
    Hooked::<H>::until_sleeps(sleeps + 1);
    thread
}

/// A bucket has records for two locks. While `work` runs, a thread polls for one of them. `work` is called
/// with the other one, which is locked, and for which a thread has parked.
fn with_a_quiet_record<H: Hooks>(work: impl FnOnce(&Lock<H>)) {
    /// The tests share gates.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let [polled, quiet] = &[0; 2].map(|_| Lock::<H>::new());
    // At the first unlock nothing is known of the bucket.
    quiet.lock();
    unlock(quiet);
    thread::scope(|scope| {
        polled.lock();
        poll(scope, polled);
        quiet.lock();
        let parks = park(scope, quiet);
        unlock(quiet);
        parks.join().expect("no panic");
        quiet.lock();
        work(quiet);
        unlock(polled);
    });
    Hooked::<H>::until_at_rest();
}

/// An arriving thread stops at `gate` while its lock still has the record. Then another lock has the record.
fn arrives_late<H: Hooks>(gate: &'static Gate) {
    let next = &Lock::<H>::new();
    let mut wakes = 0;
    with_a_quiet_record::<H>(|quiet| {
        thread::scope(|scope| {
            let late = scope.spawn(|| {
                BUDGET.set(FOR_EVER);
                COUNTS.set(true);
                WANTS.set(std::ptr::from_ref(quiet).addr());
                gate.stop_me();
                quiet.lock();
                unlock(quiet);
            });
            gate.until_reached();
            next.lock();
            let polls = poll(scope, next);
            unlock(next);
            polls.join().expect("no panic");
            next.lock();
            park(scope, next);
            // The thread polls, or it has found that the record is another lock's, and parks.
            let (stores, sleeps) = (STORES.load(Ordering::SeqCst), Hooked::<H>::sleeps());
            gate.open();
            until(|| {
                STORES.load(Ordering::SeqCst) > stores + 100 || Hooked::<H>::sleeps() > sleeps
            });
            wakes = calls_of(|| unlock(next)).wakes;
            unlock(quiet);
            late.join().expect("no panic");
            // If the thread was missed, this unlock wakes it.
            next.lock();
            unlock(next);
        });
    });
    assert_eq!(wakes, 1, "an unlock relies on a thread that polls for another lock");
}

going! { Found }

#[test]
fn a_thread_that_has_found_the_record_of_its_lock_does_not_poll_for_the_next_that_has_it() {
    arrives_late::<Found>(&FOUND);
}

going! { Stored }

#[test]
fn a_thread_that_has_read_the_marks_of_its_lock_does_not_poll_for_the_next_that_has_the_record() {
    arrives_late::<Stored>(&STORED);
}

going! { Stays }

/// A record is about to go to another lock, but stays because a thread begins to poll. In between an unlock
/// has found no record, and had no fence. Then the thread parks.
#[test]
fn a_thread_parks_beside_an_unlock_that_found_no_record_because_it_was_about_to_go() {
    let last = &Lock::<Stays>::new();
    let mut missed = false;
    with_a_quiet_record::<Stays>(|quiet| {
        last.lock();
        thread::scope(|scope| {
            let parks = scope.spawn(|| {
                BUDGET.set(A_MOMENT);
                COUNTS.set(true);
                STORED.stop_me();
                quiet.lock();
                unlock(quiet);
            });
            STORED.until_reached();
            let evicts = scope.spawn(|| {
                BUDGET.set(A_MOMENT);
                STORED_TOO.stop_me();
                assert!(!last.try_lock_until(Linux::now()));
            });
            STORED_TOO.until_reached();
            let unlocks = scope.spawn(|| {
                BUFFER.begin();
                unlock(quiet);
            });
            unlocks.join().expect("no panic");
            assert!(quiet.is_locked(), "the store is in the buffer");
            let (stores, sleeps) = (STORES.load(Ordering::SeqCst), Hooked::<Stays>::sleeps());
            STORED.open();
            // The thread has set its mark.
            until(|| STORES.load(Ordering::SeqCst) > stores);
            STORED_TOO.open();
            evicts.join().expect("no panic");
            until(|| Hooked::<Stays>::sleeps() > sleeps || parks.is_finished());
            missed = !parks.is_finished();
            BUFFER.drain();
            // If the thread was missed, this unlock wakes it.
            quiet.lock();
            unlock(quiet);
        });
        unlock(last);
        quiet.lock();
        unlock(quiet);
    });
    assert!(!missed, "the thread has parked for a lock that was unlocked");
}
