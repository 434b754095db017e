//! Three contended locks, of which one has no record of its own.

use super::*;

static WOKE: Gate = Gate::new();
/// How many threads that poll have paused.
static PAUSED: AtomicU32 = AtomicU32::new(0);

std::thread_local! {
    static POLLS: Cell<bool> = const { Cell::new(false) };
    static HAS_PAUSED: Cell<bool> = const { Cell::new(false) };
}

hooks! {
    /// Some threads poll for as long as the test takes.
    Shares {
        fn ticks_in(nanos: u32) -> usize {
            at_once(nanos)
        }
        fn polling() -> Polling {
            let mut polling = no_polling();
            if POLLS.get() {
                polling.budget = u32::MAX - 1;
            }
            polling
        }
        fn pause() {
            if POLLS.get() && !HAS_PAUSED.replace(true) {
                PAUSED.fetch_add(1, Ordering::SeqCst);
            }
            Linux::pause();
        }
        fn woke() {
            WOKE.pass();
        }
    }
}

type Lock = RawMutex<Hooked<Shares>>;

/// A thread that polls for a mutex, which is locked.
fn poll<'scope>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope Lock,
) -> ScopedJoinHandle<'scope, ()> {
    let paused = PAUSED.load(Ordering::SeqCst);
    mutex.lock();
    let thread = scope.spawn(|| {
        POLLS.set(true);
        mutex.lock();
        unlock(mutex);
    });
    until(|| PAUSED.load(Ordering::SeqCst) > paused);
    thread
}

/// The tests share a table.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A thread that is handed the lock owns it before it runs.
#[test]
fn an_overdue_thread_of_a_lock_that_shares_a_record_is_handed_the_lock() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let [one, two, three] = &[0; 3].map(|_| Lock::new());
    let mut handed = false;
    thread::scope(|scope| {
        poll(scope, one);
        poll(scope, two);
        three.lock();
        park_as(scope, three, || WOKE.stop_me(), || ());
        unlock(three);
        handed = three.is_locked();
        WOKE.open();
        unlock(one);
        unlock(two);
    });
    assert!(handed);
    Hooked::<Shares>::until_at_rest();
}

/// Two threads park for a lock that shares a record. Before the second one parks, another lock gives up
/// its own record.
#[test]
fn threads_of_a_lock_that_shares_a_record_are_counted_together() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let [one, two, three] = &[0; 3].map(|_| Lock::new());
    let served = &AtomicU32::new(0);
    let serve = move || _ = served.fetch_add(1, Ordering::SeqCst);
    thread::scope(|scope| {
        poll(scope, one);
        let polls = poll(scope, two);
        three.lock();
        park(scope, three, serve);
        unlock(two);
        polls.join().expect("no panic");
        park(scope, three, serve);
        unlock(three);
        until(|| served.load(Ordering::SeqCst) == 2);
        unlock(one);
    });
    Hooked::<Shares>::until_at_rest();
}
