//! The slices of a sleep: their lengths, and that a signal does not move their ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::{FutexWait, Timestamp};

use super::hooked_platform::{Hooked, hooks};
use super::{unlock, watched};

/// The time, in nanoseconds.
static NOW: AtomicU64 = AtomicU64::new(0);
/// The requested end of each sleep, and the time at its beginning.
static SLEEPS: Mutex<Vec<(Timestamp, Timestamp)>> = Mutex::new(Vec::new());

/// The number of sleeps that end at once: by a signal, a millisecond apart, or because their time
/// is over.
const MOST: usize = 30;
const SIGNALS: usize = 10;

std::thread_local! {
    static IS_SLICED: Cell<bool> = const { Cell::new(false) };
}

hooks! {
    Sliced {
        fn now() -> Timestamp {
            Timestamp::from_nanos(NOW.load(Ordering::SeqCst))
        }
        fn sleep(until: Option<Timestamp>) -> Option<FutexWait> {
            if !IS_SLICED.get() {
                return None;
            }
            let until = until.expect("no thread sleeps for ever");
            let mut sleeps = SLEEPS.lock().unwrap_or_else(PoisonError::into_inner);
            if sleeps.len() == MOST {
                return None;
            }
            sleeps.push((Self::now(), until));
            let (time, outcome) = if sleeps.len() <= SIGNALS {
                (Self::now().after(Duration::from_millis(1)), FutexWait::Interrupted)
            } else {
                (until, FutexWait::TimedOut)
            };
            NOW.store(time.as_nanos(), Ordering::SeqCst);
            Some(outcome)
        }
    }
}

type Machine = Hooked<Sliced>;

/// A thread sleeps, interrupted by signals at first, until `wake` wakes it. Its slices grow to
/// `longest`.
fn sleeps(longest: Duration, thread: impl FnOnce() + Send, wake: impl FnOnce()) {
    let before = Machine::sleeps();
    SLEEPS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    thread::scope(|scope| {
        scope.spawn(|| {
            IS_SLICED.set(true);
            thread();
        });
        Machine::until_sleeps(before + 1);
        wake();
    });
    Machine::until_at_rest();
    let sleeps = SLEEPS.lock().unwrap_or_else(PoisonError::into_inner);
    let (amid_signals, others) = sleeps.split_at(SIGNALS);
    // The first of the other sleeps is the rest of the same slice.
    let others = &others[1..];
    let end = amid_signals[0].1;
    assert!(
        amid_signals.iter().all(|&(_, until)| until == end),
        "a signal moves the end of a slice"
    );
    let lengths: Vec<_> = others.iter().map(|&(begin, until)| until.since(begin)).collect();
    assert!(
        lengths.is_sorted_by(|one, next| *next <= 2 * *one),
        "a slice is twice as long at most"
    );
    assert!(lengths.iter().all(|&length| length <= longest), "{lengths:?}");
    assert_eq!(lengths.last(), Some(&longest), "slices grow");
}

/// The tests share a table and the clock.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn signals_move_no_slice_of_a_thread_that_is_parked_for_a_mutex_and_none_is_long() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mutex = RawMutex::<Machine>::new();
    mutex.lock();
    let waits = || {
        mutex.lock();
        unlock(&mutex);
    };
    thread::scope(|scope| {
        let before = Machine::sleeps();
        scope.spawn(waits);
        Machine::until_sleeps(before + 1);
        sleeps(Duration::from_millis(640), waits, || unlock(&mutex));
    });
}

#[test]
fn signals_move_no_slice_of_a_waiter_of_a_condition_variable_and_they_become_rare() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (mutex, condvar) = (RawMutex::<Machine>::new(), RawCondvar::<Machine>::new());
    let waits = || {
        mutex.lock();
        // SAFETY: locked above.
        assert!(unsafe { condvar.wait(&mutex, None) });
        unlock(&mutex);
    };
    sleeps(Duration::from_millis(2_560), waits, || assert_eq!(condvar.notify_one(), 1));
}
