//! Memory that is used again while an unlock is between its store and its look: as a condition variable, as
//! a key, as a word of the program, as another mutex. The unlock writes nothing there, and does not wake a
//! thread that waits there for something else.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Scope};

use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::parking::Parked;
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, Hooks, hooks};
use super::{keys, no_polling, unlock, watched};

/// A byte that is several objects one after the other.
struct Memory<H: Hooks>(MaybeUninit<RawMutex<Hooked<H>>>);

impl<H: Hooks> Memory<H> {
    fn new() -> &'static mut Self {
        Box::leak(Box::new(Self(MaybeUninit::new(RawMutex::new()))))
    }
}

/// A thread that is parked for a mutex which the caller has locked.
fn park<'scope, H: Hooks>(scope: &'scope Scope<'scope, '_>, mutex: &'scope RawMutex<Hooked<H>>) {
    let before = Hooked::<H>::sleeps();
    scope.spawn(|| {
        mutex.lock();
        unlock(mutex);
    });
    Hooked::<H>::until_sleeps(before + 1);
}

/// Three locks are contended, so that an unlock of any lock of the bucket takes the bucket's lock and looks
/// for a thread to wake. An unlock at `memory` stops behind its store. Meanwhile `reborn` runs; its
/// argument lets the unlock go on, and waits until it is over.
fn while_unlocking<H: Hooks>(
    gate: &'static Gate,
    memory: *mut RawMutex<Hooked<H>>,
    reborn: impl FnOnce(&mut dyn FnMut()),
) {
    let _watchdog = watched();
    let others = [0; 3].map(|_| RawMutex::<Hooked<H>>::new());
    // SAFETY: the caller has it made, and nothing else uses it.
    unsafe { (*memory).lock() };
    thread::scope(|scope| {
        for other in &others {
            other.lock();
            park(scope, other);
        }
        let address = memory.expose_provenance();
        let mut unlocks = Some(scope.spawn(move || {
            gate.stop_me();
            let memory = ptr::with_exposed_provenance::<RawMutex<Hooked<H>>>(address);
            // SAFETY: it is a mutex until the store. After the store its address is only compared.
            unsafe { (*memory).unlock() };
        }));
        gate.until_reached();
        reborn(&mut || {
            gate.open();
            unlocks.take().expect("once").join().expect("no panic");
        });
        others.iter().for_each(unlock);
    });
    Hooked::<H>::until_at_rest();
}

macro_rules! stopping_behind_the_store {
    ($name:ident $gate:ident) => {
        static $gate: Gate = Gate::new();

        hooks! {
            $name {
                fn presumed_light_fence() {
                    $gate.pass();
                }
                // An unlock with a full fence stops there; nothing else that the thread does has one.
                fn fence(order: Ordering) {
                    $gate.pass();
                    std::sync::atomic::fence(order);
                }
                fn polling() -> Polling {
                    no_polling()
                }
            }
        }
    };
}

stopping_behind_the_store! { AsCondvar CONDVAR_GATE }

#[test]
fn a_condition_variable_in_the_place_of_a_mutex_is_not_notified_by_its_unlock() {
    let memory = Memory::<AsCondvar>::new().0.as_mut_ptr();
    while_unlocking(&CONDVAR_GATE, memory, |go_on| {
        let condvar = memory.cast::<RawCondvar<Hooked<AsCondvar>>>();
        // SAFETY: the mutex is gone, and both objects are a byte.
        let condvar = unsafe {
            condvar.write(RawCondvar::new());
            &*condvar
        };
        let mutex = RawMutex::<Hooked<AsCondvar>>::new();
        thread::scope(|scope| {
            let before = Hooked::<AsCondvar>::sleeps();
            let waiter = scope.spawn(|| {
                mutex.lock();
                // SAFETY: locked above.
                assert!(unsafe { condvar.wait(&mutex, None) });
                unlock(&mutex);
            });
            Hooked::<AsCondvar>::until_sleeps(before + 1);
            mutex.lock();
            go_on();
            assert!(condvar.has_waiters(), "nothing is written there");
            unlock(&mutex);
            assert!(!waiter.is_finished());
            assert_eq!(condvar.notify_all(), 1, "it still waits");
        });
    });
}

stopping_behind_the_store! { AsKey KEY_GATE }

#[test]
fn a_key_in_the_place_of_a_mutex_is_not_unparked_by_its_unlock() {
    let memory = Memory::<AsKey>::new().0.as_mut_ptr();
    while_unlocking(&KEY_GATE, memory, |go_on| {
        let (word, key) = (memory.cast::<AtomicU8>(), memory.addr());
        // SAFETY: the mutex is gone, and both objects are a byte.
        let word = unsafe {
            word.write(AtomicU8::new(3));
            &*word
        };
        thread::scope(|scope| {
            let before = Hooked::<AsKey>::sleeps();
            scope.spawn(|| {
                let parked = keys::park::<Hooked<AsKey>>(key, || true, || (), None);
                assert_eq!((parked, word.load(Ordering::SeqCst)), (Parked::Woken, 7));
            });
            Hooked::<AsKey>::until_sleeps(before + 1);
            go_on();
            assert_eq!(word.load(Ordering::SeqCst), 3, "nothing is written there");
            word.store(7, Ordering::SeqCst);
            assert_eq!(keys::unpark::<Hooked<AsKey>>(key, 9, |_, _| ()), 1, "it is still parked");
        });
    });
}

stopping_behind_the_store! { AsMutex MUTEX_GATE }

#[test]
fn another_mutex_in_the_place_of_a_mutex_is_not_unlocked_nor_locked_by_its_unlock() {
    let memory = Memory::<AsMutex>::new().0.as_mut_ptr();
    while_unlocking(&MUTEX_GATE, memory, |go_on| {
        // SAFETY: the first mutex is gone.
        let mutex = unsafe {
            memory.write(RawMutex::new());
            &*memory
        };
        mutex.lock();
        thread::scope(|scope| {
            park(scope, mutex);
            // The unlock may wake that thread to compete, which then parks again.
            go_on();
            assert!(mutex.is_locked());
            unlock(mutex);
        });
        assert!(!mutex.is_locked());
    });
}
