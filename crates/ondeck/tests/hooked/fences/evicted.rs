//! The record of a lock whose unlocks have no fences goes to another lock.

use super::*;

static BUFFER: Buffer = Buffer::new();
static BEFORE_THE_STORE: Gate = Gate::new();
static MAY_RELAX: AtomicBool = AtomicBool::new(true);
/// How many threads that poll have paused.
static PAUSED: AtomicUsize = AtomicUsize::new(0);

std::thread_local! {
    static POLLS: Cell<bool> = const { Cell::new(false) };
    static HAS_PAUSED: Cell<bool> = const { Cell::new(false) };
}

hooks! {
    /// The same as `Relaxed`, but some threads poll for as long as the test takes.
    Evicting {
        fn store(byte: &AtomicU8, value: u8, order: Ordering) {
            BEFORE_THE_STORE.pass();
            BUFFER.store(byte, value, order);
        }
        fn fence(_: Ordering) {
            BUFFER.fence();
        }
        fn presumed_light_fence() {}
        fn heavy_fence() {
            BUFFER.drain();
        }
        fn may_relax() -> bool {
            MAY_RELAX.load(Ordering::Relaxed)
        }
        fn once_in(_: u32) -> bool {
            true
        }
        fn spins(count: u32) -> u32 {
            count.min(100)
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
    }
}

type Lock = RawMutex<Hooked<Evicting>>;

/// A thread that polls for a mutex which the caller has locked.
fn poll<'scope>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope Lock,
) -> ScopedJoinHandle<'scope, ()> {
    let paused = PAUSED.load(Ordering::SeqCst);
    let thread = scope.spawn(|| {
        POLLS.set(true);
        mutex.lock();
        unlock(mutex);
    });
    until(|| PAUSED.load(Ordering::SeqCst) > paused);
    thread
}

/// A thread parks for a mutex that the caller owns, and then locks it.
fn park_once(mutex: &Lock) {
    let sleeps = Hooked::<Evicting>::sleeps();
    mutex.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            mutex.lock();
            unlock(mutex);
        });
        Hooked::<Evicting>::until_sleeps(sleeps + 1);
        unlock(mutex);
    });
}

/// A bucket has records for two locks. A thread polls for one of them. When `work` is called with the
/// other one, `light`, the unlocks of that lock have no fences. In the shared record a thread has
/// parked, with a heavy fence.
fn with_a_light_lock(work: impl FnOnce(&Lock)) {
    let [one, two, light, shared] = &[0; 4].map(|_| Lock::new());
    // At the first unlock nothing is known of the bucket.
    one.lock();
    unlock(one);
    MAY_RELAX.store(true, Ordering::Relaxed);
    thread::scope(|scope| {
        one.lock();
        poll(scope, one);
        two.lock();
        let polls = poll(scope, two);
        park_once(shared);
        unlock(two);
        polls.join().expect("no panic");
        // Its second unlock counts for as many unlocks as are worth a heavy fence.
        park_once(light);
        MAY_RELAX.store(false, Ordering::Relaxed);
        work(light);
        unlock(one);
    });
    Hooked::<Evicting>::until_at_rest();
}

/// The tests share a table.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// After an unlock without a fence the record of the lock goes to another lock. A thread that parks for
/// the first lock now is counted in the shared record.
#[test]
fn a_thread_parks_in_the_shared_record_beside_an_unlock_without_a_fence() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (last, mut missed) = (Lock::new(), false);
    with_a_light_lock(|light| {
        thread::scope(|scope| {
            let unlocks = scope.spawn(|| {
                light.lock();
                BUFFER.begin();
                unlock(light);
            });
            unlocks.join().expect("no panic");
            assert!(light.is_locked(), "the store is in the buffer");
            last.lock();
            poll(scope, &last);
            let sleeps = Hooked::<Evicting>::sleeps();
            let parks = scope.spawn(|| {
                light.lock();
                unlock(light);
            });
            until(|| Hooked::<Evicting>::sleeps() > sleeps || parks.is_finished());
            missed = !parks.is_finished();
            BUFFER.drain();
            unlock(&last);
            // If the parked thread was missed, this unlock wakes it.
            light.lock();
            unlock(light);
        });
    });
    assert!(!missed, "the thread has parked for a lock that was unlocked");
}

/// An unlock reads that it needs no fence. Before its store the record goes to another lock, which has
/// a poller. The mark of that poller says nothing of the thread that has parked meanwhile.
#[test]
fn a_thread_parks_while_the_record_goes_to_a_lock_that_is_polled() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let last = Lock::new();
    let mut wakes = 0;
    with_a_light_lock(|light| {
        thread::scope(|scope| {
            let unlocks = scope.spawn(|| {
                light.lock();
                BEFORE_THE_STORE.stop_me();
                calls_of(|| unlock(light)).wakes
            });
            BEFORE_THE_STORE.until_reached();
            last.lock();
            poll(scope, &last);
            let sleeps = Hooked::<Evicting>::sleeps();
            scope.spawn(|| {
                light.lock();
                unlock(light);
            });
            Hooked::<Evicting>::until_sleeps(sleeps + 1);
            BEFORE_THE_STORE.open();
            wakes = unlocks.join().expect("no panic");
            unlock(&last);
            // If the parked thread was missed, this unlock wakes it.
            light.lock();
            unlock(light);
        });
    });
    assert_eq!(wakes, 1);
}
