//! A thread in flight gives up while its record is light.

use super::*;

static BUFFER: Buffer = Buffer::new();
static WOKE: Gate = Gate::new();
/// Whether all deadlines have passed.
static IS_LATE: AtomicBool = AtomicBool::new(false);
/// Whether the poller was allowed to let unlocks do without fences.
static MAY_RELAX: AtomicBool = AtomicBool::new(false);
/// How often a thread that polls has paused.
static PAUSES: AtomicUsize = AtomicUsize::new(0);

std::thread_local! {
    static POLLS: Cell<bool> = const { Cell::new(false) };
}

hooks! {
    /// No thread is ever overdue; otherwise the poller would ask the owner to hand the lock over.
    Landing {
        fn store(byte: &AtomicU8, value: u8, order: Ordering) {
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
            MAY_RELAX.fetch_or(POLLS.get(), Ordering::SeqCst);
            POLLS.get()
        }
        fn once_in(_: u32) -> bool {
            false
        }
        fn ticks_in(nanos: u32) -> usize {
            if nanos >= 500_000 { usize::MAX / 4 } else { Linux::ticks_in(nanos) }
        }
        fn now() -> Timestamp {
            let late = if IS_LATE.load(Ordering::SeqCst) { 2 * HOUR } else { Duration::ZERO };
            Linux::now().after(late)
        }
        fn polling() -> Polling {
            let mut polling = no_polling();
            if POLLS.get() {
                polling.budget = u32::MAX - 1;
            }
            polling
        }
        fn pause() {
            if POLLS.get() {
                PAUSES.fetch_add(1, Ordering::SeqCst);
            }
            Linux::pause();
        }
        fn woke() {
            WOKE.pass();
        }
    }
}

const HOUR: Duration = Duration::from_hours(1);

/// An unlock without a fence relies on a thread that was woken and has not run yet. That thread runs
/// while the unlock's store is in the buffer, finds the lock locked, and its deadline has passed: it
/// wakes the other parked thread.
#[test]
fn a_woken_thread_gives_up_beside_an_unlock_without_a_fence() {
    let _watchdog = watched();
    let mutex = &RawMutex::<Hooked<Landing>>::new();
    // At the first unlock nothing is known of the bucket.
    mutex.lock();
    unlock(mutex);
    mutex.lock();
    let mut wakes = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            mutex.lock();
            unlock(mutex);
        });
        Hooked::<Landing>::until_sleeps(1);
        let gives_up = scope.spawn(|| {
            WOKE.stop_me();
            let mut owner = true;
            let late = Linux::now().after(HOUR);
            let calls = calls_of(|| owner = mutex.try_lock_until(late));
            if owner {
                unlock(mutex);
            }
            calls.wakes
        });
        Hooked::<Landing>::until_sleeps(2);
        unlock(mutex);
        WOKE.until_reached();
        mutex.lock();
        // The poller lets unlocks do without fences, and becomes the owner.
        let unlocks = scope.spawn(|| {
            POLLS.set(true);
            mutex.lock();
            BUFFER.begin();
            unlock(mutex);
        });
        until(|| MAY_RELAX.load(Ordering::SeqCst));
        let pauses = PAUSES.load(Ordering::SeqCst);
        until(|| PAUSES.load(Ordering::SeqCst) > pauses);
        unlock(mutex);
        unlocks.join().expect("no panic");
        assert!(mutex.is_locked(), "the store is in the buffer");
        IS_LATE.store(true, Ordering::SeqCst);
        WOKE.open();
        wakes = gives_up.join().expect("no panic");
        BUFFER.drain();
        // If the other thread was missed, this unlock wakes it.
        mutex.lock();
        unlock(mutex);
    });
    Hooked::<Landing>::until_at_rest();
    assert_eq!(wakes, 1, "the thread that unlocks relied on has woken none");
}
