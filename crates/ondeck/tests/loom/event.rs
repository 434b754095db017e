//! The event: no wait is forgotten, what was before a set is seen, deadlines, and the end of its memory.

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;
use ondeck::Event;
use ondeck::platform::{AtomicInt, Host, Ordering, Platform};

use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{POLLS, SLEEPS, SOON, explore};

/// An event, and what is ready when it is set.
struct Shared {
    // Dropped by hand: see `free`.
    event: ManuallyDrop<Event<Loom>>,
    value: UnsafeCell<u32>,
    /// Items that are ready. All accesses are relaxed: the event orders them.
    items: <Loom as Platform>::AtomicU32,
}

// SAFETY: `value` is written before the set and read after the wait; loom checks that.
unsafe impl Sync for Shared {}

impl Shared {
    /// Never freed, so that an access after its end is noticed.
    fn new() -> &'static Self {
        let shared: &Self = Box::leak(Box::new(Self {
            event: ManuallyDrop::new(Event::on_platform()),
            value: UnsafeCell::new(0),
            items: AtomicInt::new(0),
        }));
        let _ = Loom::bucket((&raw const *shared.event).addr());
        shared
    }

    fn set(&self) {
        self.value.with_mut(|value| {
            // SAFETY: before the set, of one thread.
            unsafe { *value = 1 };
        });
        self.event.set();
    }

    fn check(&self) {
        // SAFETY: after the wait.
        self.value.with(|value| assert_eq!(unsafe { *value }, 1));
    }

    fn wait(&self) {
        self.event.wait();
        self.check();
    }

    /// From now on the event is gone: a later access is noticed.
    fn free(&self) {
        // SAFETY: no thread uses it any more, which is what is checked; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.event).cast_mut()) };
    }
}

#[test]
fn a_waiter_frees_it() {
    explore(SLEEPS, 6, || {
        let shared = Shared::new();
        let other = spawn(|| shared.set());
        shared.wait();
        shared.free();
        join(other);
    });
}

#[test]
fn a_waiter_reads_its_node_before_it_sleeps() {
    explore(POLLS, 4, || {
        let shared = Shared::new();
        let other = spawn(|| shared.set());
        shared.wait();
        shared.free();
        join(other);
    });
}

#[test]
fn two_threads_wait() {
    explore(SLEEPS, 2, || {
        let shared = Shared::new();
        let [first, second] = [0; 2].map(|_| spawn(|| shared.wait()));
        shared.set();
        join(first);
        join(second);
        shared.free();
    });
}

#[test]
fn a_deadline_passes_at_any_time() {
    explore(SLEEPS, 4, || {
        let shared = Shared::new();
        let clock = spawn(|| pass_time(1));
        let other = spawn(|| {
            if shared.event.wait_by(SOON) {
                shared.check();
            }
        });
        shared.set();
        join(other);
        join(clock);
        assert!(shared.event.is_set());
        shared.free();
    });
}

#[test]
fn a_deadline_passes_beside_another_waiter() {
    explore(SLEEPS, 2, || {
        let shared = Shared::new();
        let hurried = spawn(|| shared.event.wait_by(SOON));
        let patient = spawn(|| shared.wait());
        pass_time(1);
        shared.set();
        join(patient);
        join(hurried);
        shared.free();
    });
}

/// The consumer resets, looks, and waits: it does not wait while there is an item that it has not seen.
#[test]
fn what_was_ready_before_a_set_is_seen_after_the_reset() {
    explore(SLEEPS, 4, || {
        let shared = Shared::new();
        let producer = spawn(|| {
            for _ in 0..2 {
                let items = shared.items.load(Ordering::Relaxed);
                shared.items.store(items + 1, Ordering::Relaxed);
                shared.event.set();
            }
        });
        let mut seen = 0;
        while seen < 2 {
            shared.event.wait();
            shared.event.reset();
            seen = shared.items.load(Ordering::Relaxed);
        }
        join(producer);
        shared.free();
    });
}
