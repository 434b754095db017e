//! Threads of a real-time class and overdue ones: the highest priority first.

use super::*;

std::thread_local! {
    static PRIORITY: Cell<u32> = const { Cell::new(0) };
}

hooks! {
    RealTime {
        fn ticks_in(nanos: u32) -> usize {
            at_once(nanos)
        }
        fn polling() -> Polling {
            no_polling()
        }
        fn priority() -> u32 {
            PRIORITY.get()
        }
    }
}

/// Threads of these priorities park one after the other. Returns the order in which they have the lock.
/// With `handed` the first one is handed the lock.
fn order(priorities: &[u32], handed: bool) -> Vec<u32> {
    let _watchdog = watched();
    let mutex = RawMutex::<Hooked<RealTime>>::new();
    let order = Mutex::new(Vec::new());
    mutex.lock();
    thread::scope(|scope| {
        for &priority in priorities {
            let order = &order;
            let note = move || order.lock().expect("no panic").push(priority);
            park_as(scope, &mutex, move || PRIORITY.set(priority), note);
        }
        if handed {
            // SAFETY: locked above.
            unsafe { mutex.unlock_fair() };
        } else {
            unlock(&mutex);
        }
    });
    Hooked::<RealTime>::until_at_rest();
    order.into_inner().expect("no panic")
}

#[test]
fn a_thread_of_a_real_time_class_comes_before_those_that_are_overdue() {
    for handed in [false, true] {
        assert_eq!(order(&[0, 5, 0], handed)[0], 5);
        assert_eq!(order(&[0, 3, 9, 3, 0], handed)[..3], [9, 3, 3]);
    }
}
