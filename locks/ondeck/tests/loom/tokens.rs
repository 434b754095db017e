//! Parking with tokens: an unpark gives a token or a deadline passes, and the thread learns of only
//! one of them.

use ondeck::parking::{self, Choice, Parked};
use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::guarded::Guarded;
use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{SLEEPS, SOON, explored};

const BROUGHT: usize = 3;
const GIVEN: usize = 7;

/// A thread parks at a word until another has changed it, while its deadline passes.
fn token_and_deadline() {
    let guarded = Guarded::<<Loom as Platform>::AtomicU32>::of(AtomicInt::new(0));
    let (word, key) = (guarded.raw(), guarded.address());
    let waiter = spawn(move || {
        let mut told = 0;
        let closed = || word.load(Ordering::Relaxed) == 0;
        let timed_out = |at, is_last| {
            assert!(at == key && is_last);
            told += 1;
        };
        // SAFETY: the word belongs to this scenario.
        let ended =
            unsafe { parking::park::<Loom>(key, BROUGHT, closed, || (), timed_out, Some(SOON)) };
        (ended, told)
    });
    let clock = spawn(|| pass_time(1));
    word.store(1, Ordering::Relaxed);
    let choose = |brought| {
        assert_eq!(brought, BROUGHT);
        Choice::Unpark
    };
    // SAFETY: as above.
    let done = unsafe { parking::unpark::<Loom>(key, choose, |_| GIVEN) };
    let ((parked, given), told) = join(waiter);
    match parked {
        Parked::Woken => assert_eq!((done.woken, given, told), (1, GIVEN, 0)),
        Parked::TimedOut => assert_eq!((done.woken, told), (0, 1)),
        Parked::Invalid => assert_eq!((done.woken, told), (0, 0)),
    }
    join(clock);
}

explored! {
    fn a_thread_has_a_token_or_timed_out on SLEEPS, 4 => token_and_deadline;
}
