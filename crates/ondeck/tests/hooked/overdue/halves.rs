//! Locks whose addresses differ in their upper halves only.

use super::*;

static UNLOCKED: Gate = Gate::new();
static WOKE: Gate = Gate::new();

hooks! {
    Halves {
        fn ticks_in(nanos: u32) -> usize {
            at_once(nanos)
        }
        fn polling() -> Polling {
            no_polling()
        }
        fn presumed_light_fence() {
            UNLOCKED.pass();
        }
        fn fence(order: Ordering) {
            UNLOCKED.pass();
            std::sync::atomic::fence(order);
        }
        fn woke() {
            WOKE.pass();
        }
    }
}

type Lock = RawMutex<Hooked<Halves>>;

/// A mutex at this address, or None if the address is in use.
fn at(address: usize) -> Option<&'static Lock> {
    const PAGE: usize = 4_096;
    // SAFETY: a new mapping, in which nothing else lies.
    unsafe {
        let page = libc::mmap(
            std::ptr::with_exposed_provenance_mut(address),
            PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
            -1,
            0,
        );
        if page == libc::MAP_FAILED {
            return None;
        }
        page.cast::<Lock>().write(Lock::new());
        Some(&*page.cast::<Lock>())
    }
}

/// Unlocks. Between the store and the look another thread has the lock, and `meanwhile` runs.
fn unlock_while(mutex: &'static Lock, meanwhile: impl FnOnce()) {
    thread::scope(|scope| {
        let unlocks = scope.spawn(|| {
            UNLOCKED.stop_me();
            unlock(mutex);
        });
        UNLOCKED.until_reached();
        assert!(mutex.try_lock());
        UNLOCKED.open();
        unlocks.join().expect("no panic");
        meanwhile();
    });
}

#[test]
fn a_request_to_hand_a_lock_over_is_not_for_the_one_with_an_equal_half_of_its_address() {
    let _watchdog = watched();
    let places = (1..64_usize).map(|upper| upper << 32).filter_map(at);
    let two: Vec<_> = places.take(2).collect();
    let [mutex, other] = two[..] else {
        println!("skipped: needs two addresses whose lower halves are 0");
        return;
    };
    mutex.lock();
    other.lock();
    let (served, other_served) = (AtomicBool::new(false), AtomicBool::new(false));
    let may_unlock = AtomicBool::new(false);
    thread::scope(|scope| {
        park(scope, mutex, || {
            served.store(true, Ordering::SeqCst);
            until(|| may_unlock.load(Ordering::SeqCst));
        });
        // It is woken while the other thread owns the lock, and goes back to its place in the queue.
        let sleeps = Hooked::<Halves>::sleeps();
        unlock_while(mutex, || Hooked::<Halves>::until_sleeps(sleeps + 1));
        // Now it would be handed the lock, but another thread has locked it again, and that owner is
        // asked for it.
        unlock_while(mutex, || ());
        park_as(scope, other, || WOKE.stop_me(), || other_served.store(true, Ordering::SeqCst));
        unlock(other);
        WOKE.until_reached();
        assert!(!other.is_locked(), "its owner was not asked for it");
        WOKE.open();
        until(|| other_served.load(Ordering::SeqCst));
        assert!(!served.load(Ordering::SeqCst));
        unlock(mutex);
        assert!(mutex.is_locked(), "it was handed over");
        until(|| served.load(Ordering::SeqCst));
        may_unlock.store(true, Ordering::SeqCst);
    });
    Hooked::<Halves>::until_at_rest();
}
