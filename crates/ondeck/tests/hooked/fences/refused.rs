//! The kernel refuses heavy fences after it has made some.

use super::*;

static BUFFER: Buffer = Buffer::new();
static REFUSED: AtomicBool = AtomicBool::new(false);

hooks! {
    /// From some moment on the kernel refuses heavy fences.
    Refusing {
        fn store(byte: &AtomicU8, value: u8, order: Ordering) {
            BUFFER.store(byte, value, order);
        }
        fn fence(_: Ordering) {
            BUFFER.fence();
        }
        fn presumed_light_fence() {}
        fn heavy_fence() {
            if REFUSED.load(Ordering::SeqCst) {
                BUFFER.fence();
            } else {
                BUFFER.drain();
            }
        }
        fn fences_are_asymmetric() -> bool {
            !REFUSED.load(Ordering::SeqCst)
        }
        fn heavy_fences_are_refused() -> bool {
            REFUSED.load(Ordering::SeqCst)
        }
        fn polling() -> Polling {
            no_polling()
        }
    }
}

/// An unlock without a fence is over, and its store becomes visible only after a thread has parked,
/// which no unlock will see. That thread looks again by itself.
#[test]
fn a_thread_parks_after_heavy_fences_were_refused_beside_an_unlock_without_a_fence() {
    let _watchdog = watched();
    let mutex = RawMutex::<Hooked<Refusing>>::new();
    mutex.lock();
    unlock(&mutex);
    mutex.lock();
    thread::scope(|scope| {
        let unlocks = scope.spawn(|| {
            BUFFER.begin();
            unlock(&mutex);
        });
        unlocks.join().expect("no panic");
        assert!(mutex.is_locked(), "the store is in the buffer");
        REFUSED.store(true, Ordering::SeqCst);
        let parks = scope.spawn(|| {
            mutex.lock();
            unlock(&mutex);
        });
        Hooked::<Refusing>::until_sleeps(1);
        assert!(!parks.is_finished());
        BUFFER.drain();
        parks.join().expect("no panic");
    });
    Hooked::<Refusing>::until_at_rest();
}
