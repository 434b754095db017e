//! What the tests share: a mutex with what it guards, and the machines that they run on.

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;
use ondeck::mutex::RawMutex;
use ondeck::platform::{Host, Timestamp};

use crate::loom_platform::{self, Fences, Loom, Setting, watch};

/// The machine where no thread polls before it parks.
pub const SLEEPS: Setting = Setting { polls: false, ..Setting::DEFAULT };
/// The machine where an arriving thread becomes the poller and polls once.
pub const POLLS: Setting = Setting::DEFAULT;
/// The machine where two more threads wait near, for one turn.
pub const NEAR: Setting = Setting { near: true, ..POLLS };
/// The machine where each poller counts as stale as soon as another thread looks at the clock.
pub const STALE: Setting = Setting { stale: true, ..POLLS };
/// The machine where every parked thread has waited for too long.
pub const OVERDUE: Setting = Setting { overdue: true, ..SLEEPS };
/// The machine whose light fences are nothing.
pub const ASYMMETRIC: Setting = Setting { fences: Fences::Asymmetric, ..SLEEPS };

/// A moment that has not come yet, until `loom_platform::pass_time(1)`.
pub const SOON: Timestamp = Timestamp::from_nanos(1);

/// Explores `scenario` on the machine `setting`, with at most `preemptions` involuntary switches in each
/// execution or deeper; afterwards all of its buckets are at rest.
pub fn explore(setting: Setting, preemptions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    loom_platform::set(setting);
    loom_platform::model("", loom_platform::deeper(preemptions), move || {
        watch::start();
        scenario();
        assert!(loom_platform::is_at_rest(), "a bucket is not at rest");
    });
}

/// A mutex, and a cell that it guards. Loom reports a race if exclusion or a happens-before edge is
/// missing between two accesses to the cell.
pub struct Shared {
    // Dropped by hand: see `End`.
    mutex: ManuallyDrop<RawMutex<Loom>>,
    count: UnsafeCell<u32>,
}

// SAFETY: `count` is only touched under the lock; loom checks that this is true.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

impl Shared {
    /// Never freed, so that an access after its end is noticed and is not undefined behaviour. This costs a
    /// hundred bytes an execution.
    pub fn new() -> &'static Self {
        let mutex = ManuallyDrop::new(RawMutex::new());
        let shared: &Self = Box::leak(Box::new(Self { mutex, count: UnsafeCell::new(0) }));
        // The order in which locks are made decides on their buckets.
        let _ = Loom::bucket(shared.address());
        shared
    }

    pub fn mutex(&self) -> &RawMutex<Loom> {
        &self.mutex
    }

    pub fn address(&self) -> usize {
        std::ptr::from_ref::<RawMutex<Loom>>(&self.mutex).addr()
    }

    /// From now on, if the calling thread waits, it waits for this mutex.
    pub fn watch(&self) {
        watch::wants(self.address());
    }

    pub fn lock(&self) {
        self.watch();
        self.mutex.lock();
    }

    pub fn try_lock(&self) -> bool {
        self.mutex.try_lock()
    }

    pub fn try_lock_until(&self, deadline: Timestamp) -> bool {
        self.watch();
        self.mutex.try_lock_until(deadline)
    }

    /// Counts; the caller owns the mutex.
    pub fn count(&self) -> u32 {
        self.count.with_mut(|count| {
            // SAFETY: the mutex guards it.
            unsafe {
                *count += 1;
                *count
            }
        })
    }

    /// What was counted; the caller owns the mutex.
    pub fn counted(&self) -> u32 {
        self.count.with(|count| {
            // SAFETY: the mutex guards it.
            unsafe { *count }
        })
    }

    pub fn unlock(&self) {
        // SAFETY: the scenarios call it when they own the mutex.
        unsafe { self.mutex.unlock() };
    }

    pub fn lock_and_count(&self) {
        self.lock();
        self.count();
        self.unlock();
    }

    /// At the end of all threads the mutex is free, and there were so many sections.
    pub fn end(&self, expected: u32) {
        assert_eq!(self.counted(), expected);
        assert!(!self.mutex.is_locked(), "no thread owns the mutex");
        // SAFETY: no thread uses it any more; that is what dropping it checks.
        unsafe { self.free() };
    }

    /// From now on the mutex is gone.
    ///
    /// # Safety
    ///
    /// No thread uses it any more. This function does not check that, but the model does.
    pub unsafe fn free(&self) {
        // SAFETY: as the caller promises, no reference to it is used any more; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.mutex).cast_mut()) };
    }
}

/// Runs `others` on threads of their own and `first` on the model's first thread. Returns when all have
/// ended.
pub fn together(first: impl FnOnce(), others: impl IntoIterator<Item = Box<dyn FnOnce()>>) {
    let others: Vec<_> = others.into_iter().map(loom_platform::spawn).collect();
    first();
    for other in others {
        loom_platform::join(other);
    }
}
