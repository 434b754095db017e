//! An unlock asks behind its store how fences are paired, because a thread may have parked in between.

use super::*;

static BUFFER: Buffer = Buffer::new();
static BEFORE_THE_STORE: Gate = Gate::new();
/// Whether unlocks may go without fences from now on.
static MAY_RELAX: AtomicBool = AtomicBool::new(true);

hooks! {
    /// Unlocks that find no parked thread soon leave out their fences.
    Relaxed {
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
            no_polling()
        }
    }
}

/// An unlock reads that it needs no fence. Before its store a thread parks, with a heavy fence after
/// which the next threads that park make full fences only, and gives up. Then the unlock goes on, and
/// another thread parks while the store is in the buffer.
#[test]
fn a_thread_parks_beside_an_unlock_that_needed_no_fence_a_moment_ago() {
    let _watchdog = watched();
    let mutex = &RawMutex::<Hooked<Relaxed>>::new();
    // At the first unlock nothing is known of the bucket. Then a thread parks, so that there is a
    // record, and unlocks look there.
    mutex.lock();
    unlock(mutex);
    mutex.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            mutex.lock();
            unlock(mutex);
        });
        Hooked::<Relaxed>::until_sleeps(1);
        unlock(mutex);
    });
    Hooked::<Relaxed>::until_at_rest();
    // It counts for more than a hundred unlocks, after which the next ones leave out their fences.
    mutex.lock();
    unlock(mutex);
    MAY_RELAX.store(false, Ordering::Relaxed);
    thread::scope(|scope| {
        let unlocks = scope.spawn(|| {
            mutex.lock();
            BUFFER.begin();
            BEFORE_THE_STORE.stop_me();
            unlock(mutex);
        });
        BEFORE_THE_STORE.until_reached();
        let soon = Linux::now().after(Duration::from_millis(5));
        assert!(!mutex.try_lock_until(soon), "it is locked, and the heavy fence changes nothing");
        assert_eq!(Hooked::<Relaxed>::sleeps(), 2);
        BEFORE_THE_STORE.open();
        unlocks.join().expect("no panic");
        let parks = scope.spawn(|| {
            mutex.lock();
            unlock(mutex);
        });
        until(|| Hooked::<Relaxed>::sleeps() == 3 || parks.is_finished());
        BUFFER.drain();
    });
    Hooked::<Relaxed>::until_at_rest();
}
