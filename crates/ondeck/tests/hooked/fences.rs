//! An unlock without a fence, whose store is still in the store buffer of its CPU when the unlock is over:
//! a thread that parks then sees the lock taken, and the unlock has not seen that thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering, fence};
use std::thread;
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Gate, Hooked, hooks, until};
use super::{no_polling, unlock, watched};

std::thread_local! {
    /// Whether this thread's stores stay in its store buffer.
    static BUFFERS: Cell<bool> = const { Cell::new(false) };
}

/// The byte whose store of 0 is not visible yet; 0 if there is none.
struct Buffer(AtomicUsize);

impl Buffer {
    const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    fn store(&self, byte: &AtomicU8, value: u8, order: Ordering) {
        if BUFFERS.get() {
            assert_eq!(value, 0, "an unlock");
            self.0.store(std::ptr::from_ref(byte).expose_provenance(), Ordering::SeqCst);
        } else {
            byte.store(value, order);
        }
    }

    /// A full fence of the thread that buffers, or a heavy one of another.
    fn drain(&self) {
        let byte = self.0.swap(0, Ordering::SeqCst);
        if byte != 0 {
            let byte = std::ptr::with_exposed_provenance::<AtomicU8>(byte);
            // SAFETY: a byte that a test of this file keeps until its end.
            unsafe { (*byte).store(0, Ordering::SeqCst) };
        }
    }

    /// A full fence drains only the caller's own buffer.
    fn fence(&self) {
        if BUFFERS.get() {
            self.drain();
        }
        fence(Ordering::SeqCst);
    }
}

mod asked_after_the_store {
    use super::*;

    static BUFFER: Buffer = Buffer::new();
    static BEFORE_THE_STORE: Gate = Gate::new();
    /// Whether unlocks may go without fences from now on.
    static MAY_RELAX: AtomicBool = AtomicBool::new(true);

    hooks! {
        /// Unlocks that find no thread soon leave out their fences.
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

    /// An unlock finds out that it needs no fence. Before its store a thread parks, whose heavy fence
    /// makes the next ones do with full fences, and gives up. Then the unlock goes on, and another thread
    /// parks while the store is in the buffer.
    #[test]
    fn a_thread_parks_beside_an_unlock_that_needed_no_fence_a_moment_ago() {
        let _watchdog = watched();
        let mutex = &RawMutex::<Hooked<Relaxed>>::new();
        // The first unlock finds out that nothing is known. Then one parks, so that there is a record, and
        // unlocks look there.
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
        // It counts a hundred and more, for which the fences of the next are left out.
        mutex.lock();
        unlock(mutex);
        MAY_RELAX.store(false, Ordering::Relaxed);
        thread::scope(|scope| {
            let unlocks = scope.spawn(|| {
                mutex.lock();
                BUFFERS.set(true);
                BEFORE_THE_STORE.stop_me();
                unlock(mutex);
            });
            BEFORE_THE_STORE.until_reached();
            let soon = Linux::now().after(Duration::from_millis(5));
            assert!(
                !mutex.try_lock_until(soon),
                "it is locked, and the heavy fence changes nothing"
            );
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
}

mod refused {
    use super::*;

    static BUFFER: Buffer = Buffer::new();
    static REFUSED: AtomicBool = AtomicBool::new(false);

    hooks! {
        /// The kernel refuses heavy fences from some moment on.
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

    /// An unlock has had no fence and is over; its store becomes visible when a thread has parked that no
    /// unlock will see. That thread looks again by itself.
    #[test]
    fn a_thread_parks_after_heavy_fences_were_refused_beside_an_unlock_without_a_fence() {
        let _watchdog = watched();
        let mutex = RawMutex::<Hooked<Refusing>>::new();
        mutex.lock();
        unlock(&mutex);
        mutex.lock();
        thread::scope(|scope| {
            let unlocks = scope.spawn(|| {
                BUFFERS.set(true);
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
}
