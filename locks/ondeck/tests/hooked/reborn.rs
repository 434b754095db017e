//! Memory that is reused while an unlock is between its load of the unlock mode and the bucket's
//! lock: as a condition variable, as a key, as another mutex. The unlock writes nothing there, and
//! does not wake a thread that waits there for something else.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

use ondeck::condvar::RawCondvar;
use ondeck::parking::Parked;

use super::keys;
use super::steered::*;

/// An unlock has seen that an heir at `memory` wants to be woken. The heir gives up, and `reborn`
/// runs, which may use the memory in any way. Its argument lets the unlock continue, and returns
/// the number of threads that the unlock has woken.
fn while_unlocking(reborn: impl FnOnce(*mut Lock, &dyn Fn() -> u32)) {
    let _alone = alone();
    let memory = Box::leak(Box::new(MaybeUninit::new(Lock::new()))).as_mut_ptr();
    let address = memory.expose_provenance();
    // SAFETY: the memory is a mutex until no thread uses it.
    let mutex = move || unsafe { &*ptr::with_exposed_provenance::<Lock>(address) };
    let [owner, heir] = Actor::some();
    owner.does(move || lock(mutex()));
    heir.sleeps_in(move || lock_until(mutex(), after(MICRO)));
    // Before its store it reads the mode twice.
    owner.stops_at(&HAS_READ, 3, move || unlock(mutex()));
    time_passes(MICRO);
    assert_eq!(heir.ends(), 0);
    reborn(memory, &|| {
        HAS_READ.open();
        owner.ends()
    });
}

#[test]
fn a_condition_variable_in_the_place_of_a_mutex_is_not_notified_by_its_unlock() {
    while_unlocking(|memory, go_on| {
        let condvar = memory.cast::<RawCondvar<Machine>>();
        // SAFETY: the mutex has ended, and both objects are a byte.
        let condvar = unsafe {
            condvar.write(RawCondvar::new());
            &*condvar
        };
        let (mutex, waiter) = (new_lock(), Actor::new());
        waiter.sleeps_in(|| {
            mutex.lock();
            // SAFETY: locked above.
            unsafe { condvar.wait(mutex, None) }.into()
        });
        assert_eq!(go_on(), 0);
        assert!(condvar.has_waiters(), "nothing is written there");
        assert_eq!(condvar.notify_all(), 1, "it still waits");
        assert_eq!(waiter.unlocks(mutex), 0);
    });
}

#[test]
fn a_key_in_the_place_of_a_mutex_is_not_unparked_by_its_unlock() {
    while_unlocking(|memory, go_on| {
        let (word, key) = (memory.cast::<AtomicU8>(), memory.addr());
        // SAFETY: the mutex has ended, and both objects are a byte.
        let word = unsafe {
            word.write(AtomicU8::new(3));
            &*word
        };
        let (parks, soon) = (Actor::new(), after(SLICE));
        parks.sleeps_in(move || {
            let parked = keys::park::<Machine>(key, || true, || (), Some(soon));
            u32::from(parked == Parked::Woken)
        });
        assert_eq!(go_on(), 0);
        assert_eq!(word.load(Ordering::SeqCst), 3, "nothing is written there");
        assert_eq!(keys::unpark::<Machine>(key, 9, |_, _| ()), 1, "it is still parked");
        assert_eq!(parks.ends(), 1);
    });
}

/// The unlock may wake the heir of the new mutex, which then publishes its request again.
#[test]
fn another_mutex_in_the_place_of_a_mutex_is_not_unlocked_by_its_unlock() {
    while_unlocking(|memory, go_on| {
        // SAFETY: the first mutex has ended.
        let mutex = unsafe {
            memory.write(Lock::new());
            &*memory
        };
        let heir = Actor::new();
        lock(mutex);
        heir.sleeps_for(mutex);
        until_a_sleep_after(|| assert_eq!(go_on(), 1));
        assert!(mutex.is_locked() && heir.is_busy());
        assert_eq!(unlock(mutex), 1);
        assert_eq!(heir.unlocks(mutex), 0);
    });
}
