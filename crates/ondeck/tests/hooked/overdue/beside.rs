//! A thread of a real-time class is woken beside a thread in flight.

use super::*;

static WOKE: Gate = Gate::new();

std::thread_local! {
    static PRIORITY: Cell<u32> = const { Cell::new(0) };
}

hooks! {
    Beside {
        fn polling() -> Polling {
            no_polling()
        }
        fn priority() -> u32 {
            PRIORITY.get()
        }
        fn woke() {
            WOKE.pass();
        }
    }
}

/// An ordinary thread was woken and has not run yet. A thread of a real-time class does not wait for it.
#[test]
fn a_thread_of_a_real_time_class_is_woken_beside_one_in_flight() {
    let _watchdog = watched();
    let mutex = RawMutex::<Hooked<Beside>>::new();
    let is_served = AtomicBool::new(false);
    mutex.lock();
    thread::scope(|scope| {
        park_as(scope, &mutex, || WOKE.stop_me(), || ());
        unlock(&mutex);
        WOKE.until_reached();
        mutex.lock();
        let served = || is_served.store(true, Ordering::SeqCst);
        park_as(scope, &mutex, || PRIORITY.set(1), served);
        let calls = calls_of(|| unlock(&mutex));
        assert_eq!(calls.wakes, 1);
        until(|| is_served.load(Ordering::SeqCst));
        WOKE.open();
    });
    Hooked::<Beside>::until_at_rest();
}
