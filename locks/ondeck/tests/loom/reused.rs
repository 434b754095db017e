//! Memory that is reused. The last user of a mutex frees it while another thread is between the
//! store and the second load of its unlock, and another object takes the same address.
//!
//! The rest of that unlock may wake a thread of a new mutex. It has no effect on an object of
//! another kind: it takes no node of another kind, and writes nothing to the memory.

use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};

use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::parking::Parked;
use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::guarded::Guarded;
use crate::keys;
use crate::loom_platform::{Loom, join, spawn};
use crate::scenario::{ASYMMETRIC, LATE, POLLS, SLEEPS, Shared, explored, until_asleep};

/// Memory for one lock's byte at a time, at the same address.
struct Memory(UnsafeCell<MaybeUninit<RawMutex<Loom>>>);

/// The memory, and a cell that the mutex there guards.
type Slot = Guarded<Memory>;

impl Slot {
    fn new() -> &'static Self {
        Self::of(Memory(UnsafeCell::new(MaybeUninit::new(RawMutex::new()))))
    }

    fn mutex(&self) -> &RawMutex<Loom> {
        // SAFETY: the scenarios use it while it is a mutex.
        unsafe { (*self.raw().0.get()).assume_init_ref() }
    }

    fn lock(&self) {
        self.mutex().lock();
    }

    fn unlock(&self) {
        // SAFETY: the scenarios call it when they own the mutex.
        unsafe { self.mutex().unlock() };
    }

    /// The owner's section, after which the last of two users frees the mutex. Returns whether the
    /// caller was the last.
    fn end_section(&self) -> bool {
        let last = self.count() == 2;
        self.unlock();
        if last {
            // SAFETY: all sections are over. The test checks that no thread uses the mutex any
            // more.
            unsafe { std::ptr::drop_in_place(self.raw().0.get().cast::<RawMutex<Loom>>()) };
        }
        last
    }

    /// Replaces the object by another one.
    fn put<T>(&self, value: T) -> &T {
        assert!(size_of::<T>() <= size_of::<RawMutex<Loom>>());
        let place = self.raw().0.get().cast::<T>();
        // SAFETY: the memory is large enough, and aligned for an atomic of the same size; the
        // previous object has ended.
        unsafe {
            place.write(value);
            &*place
        }
    }
}

/// Two threads use a mutex. The last one frees it, and then does `next` with its memory. The other
/// may still be in its unlock.
fn reuse(next: fn(&'static Slot)) {
    let slot = Slot::new();
    let section = move || {
        if slot.end_section() {
            next(slot);
        }
    };
    slot.lock();
    let other = spawn(move || {
        slot.lock();
        section();
    });
    // The other thread finds the mutex locked.
    Loom::yield_now();
    section();
    join(other);
}

/// Another mutex, with a thread that waits for it while it is locked.
fn another_mutex(slot: &'static Slot) {
    slot.put(RawMutex::<Loom>::new());
    slot.lock();
    let waiter = spawn(move || {
        slot.lock();
        slot.count();
        slot.unlock();
    });
    slot.count();
    slot.unlock();
    join(waiter);
    assert!(!slot.mutex().is_locked());
    slot.lock();
    assert_eq!(slot.count(), 5);
    slot.unlock();
}

/// A condition variable with a waiter, which only a notification may end.
fn a_condition_variable(slot: &'static Slot) {
    let condition = slot.put(RawCondvar::<Loom>::new());
    let shared = Shared::new();
    let waiter = spawn(move || {
        shared.lock();
        // SAFETY: this thread owns the mutex.
        assert!(unsafe { condition.wait(shared.raw(), None) });
        assert_eq!(shared.counted(), 1, "the waiter was woken by something else");
        shared.unlock();
    });
    // The thread that is still in its unlock of the old mutex may continue now.
    until_asleep(1);
    shared.section();
    let told = condition.notify_one();
    assert_eq!(told, 1, "a waiter was taken off by something else");
    join(waiter);
    assert!(!condition.has_waiters());
    shared.end(1);
}

/// A key of another lock with a parked thread, which only an unpark may wake.
fn a_key(slot: &'static Slot) {
    let word = slot.put(<Loom as Platform>::AtomicU8::new(7));
    let key = slot.address();
    let waiter = spawn(move || {
        let closed = || word.load(Ordering::Relaxed) == 7;
        let parked = keys::park::<Loom>(key, closed, || (), None);
        assert_ne!(word.load(Ordering::Relaxed), 7, "the thread was woken by something else");
        usize::from(parked == Parked::Woken)
    });
    // The thread that is still in its unlock of the old mutex may continue now.
    until_asleep(1);
    word.store(8, Ordering::Relaxed);
    let told = keys::unpark::<Loom>(key, usize::MAX, |_, _| ());
    assert_eq!(join(waiter), told, "a thread was taken off by something else");
    assert_eq!(word.load(Ordering::Relaxed), 8, "the program's word was written");
}

/// A word of the program that is 0, like a free lock.
fn a_word(slot: &'static Slot) {
    let word = ManuallyDrop::new(<Loom as Platform>::AtomicU8::new(0));
    let word = slot.put(word);
    Loom::yield_now();
    assert_eq!(word.load(Ordering::Relaxed), 0, "the program's word was written");
}

explored! {
    fn by_a_mutex_asleep on SLEEPS, 3 => || reuse(another_mutex);
    fn by_a_mutex_polling on POLLS, 3 => || reuse(another_mutex);
    fn by_a_mutex_late on LATE, 3 => || reuse(another_mutex);
    fn by_a_mutex_with_light_fences on ASYMMETRIC, 2 => || reuse(another_mutex);
    fn by_a_condition_variable on SLEEPS, 2 => || reuse(a_condition_variable);
    fn by_a_condition_variable_that_is_watched on POLLS, 3 => || reuse(a_condition_variable);
    fn by_a_condition_variable_late on LATE, 3 => || reuse(a_condition_variable);
    fn by_a_key on SLEEPS, 3 => || reuse(a_key);
    fn by_a_key_late on LATE, 3 => || reuse(a_key);
    fn by_a_word on SLEEPS, 4 => || reuse(a_word);
    fn by_a_word_late on LATE, 4 => || reuse(a_word);
    fn by_a_word_with_light_fences on ASYMMETRIC, 3 => || reuse(a_word);
}
