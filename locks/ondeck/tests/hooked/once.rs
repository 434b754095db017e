//! Which threads that wait for a once offer their CPUs.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

use ondeck::Once;
use ondeck::parking::waiting;
use ondeck::platform::Timestamp;
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, hooks, unpolled, until};
use super::watched;

static TICKS: AtomicU64 = AtomicU64::new(0);
static YIELDS: AtomicU32 = AtomicU32::new(0);
static PRIORITY: AtomicU32 = AtomicU32::new(0);

hooks! {
    Offering {
        fn ticks() -> u64 {
            TICKS.fetch_add(1, Ordering::SeqCst)
        }
        fn polling() -> Polling {
            let mut polling = unpolled(0);
            polling.budget = 10;
            polling
        }
        fn yield_now() {
            YIELDS.fetch_add(1, Ordering::SeqCst);
        }
        fn priority() -> u32 {
            PRIORITY.load(Ordering::SeqCst)
        }
    }
}

type Machine = Hooked<Offering>;

/// Waits for a closure of a once in another thread, to the end or until a deadline. Returns the
/// number of times that the thread offered its CPU.
fn offers(deadline: Option<Timestamp>) -> u32 {
    let once = &Once::<Machine>::on_platform();
    let waits = || waiting::<Machine>(std::ptr::from_ref(once).addr()) == 1;
    let before = YIELDS.load(Ordering::SeqCst);
    thread::scope(|scope| {
        once.call_once(|| {
            let waiter = scope.spawn(move || match deadline {
                Some(deadline) => assert!(!once.wait_by(deadline)),
                None => once.call_once(|| unreachable!("it has run")),
            });
            until(|| if deadline.is_some() { waiter.is_finished() } else { waits() });
        });
    });
    YIELDS.load(Ordering::SeqCst) - before
}

#[test]
fn a_thread_with_a_deadline_or_of_real_time_keeps_its_cpu() {
    let _watchdog = watched();
    assert_ne!(offers(None), 0);
    // After a yield a thread may run again only after the time slices of others.
    assert_eq!(offers(Some(Timestamp::from_nanos(0))), 0);
    // A deadline thread would sleep until its next period.
    PRIORITY.store(1, Ordering::SeqCst);
    assert_eq!(offers(None), 0);
    Machine::until_at_rest();
}
