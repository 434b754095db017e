//! A reader-writer lock that is broken in one place: a counter of readers, and a writer's bit.

use ondeck::platform::{AtomicInt, Ordering, Platform};
use ondeck_zoo::{LockInfo, RawRwLock, rwlocks};

pub struct Broken<P: Platform, const MISTAKE: u8>(P::AtomicU32);

/// It is intact.
pub const NO_MISTAKE: u8 = 0;
/// A reader's unlock orders nothing.
pub const RELAXED_READER: u8 = 1;
/// A writer's unlock orders nothing.
pub const RELAXED_WRITER: u8 = 2;
/// A writer does not wait for readers.
pub const OVERTAKES: u8 = 3;
/// A reader does not wait for a writer.
pub const PEEKS: u8 = 4;
/// A reader that leaves is not counted.
pub const STAYS: u8 = 5;
/// An attempt to read waits for no reader at all.
pub const ALONE: u8 = 6;

const WRITER: u32 = 1 << 31;

impl<P: Platform, const MISTAKE: u8> Broken<P, MISTAKE> {
    const fn release(relaxed: u8) -> Ordering {
        if MISTAKE == relaxed { Ordering::Relaxed } else { Ordering::Release }
    }

    fn change(&self, from: u32, to: u32) -> bool {
        self.0.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

// SAFETY, as a lock: untrue on purpose unless there is no mistake. The guarded data is checked, by
// loom or as atomic numbers.
raw_rwlock! {
    unsafe impl [P: Platform, const MISTAKE: u8] RawRwLock<P> for Broken<P, MISTAKE> {
        INFO: LockInfo {
            name: "broken_rwlock",
            ..<rwlocks::CounterRwLock<P> as RawRwLock<P>>::INFO
        },
        new: Self(AtomicInt::new(0)),
        read: |this, ()| {
            if MISTAKE == PEEKS {
                this.0.fetch_add(1, Ordering::Acquire);
                return;
            }
            // SAFETY: as the caller promises.
            while !unsafe { this.try_read(&()) } {
                P::yield_now();
            }
        },
        try_read: |this, ()| {
            let state = this.0.load(Ordering::Relaxed);
            let possible = state & WRITER == 0 && !(MISTAKE == ALONE && state != 0);
            possible && this.change(state, state + 1)
        },
        unlock_read: |this, ()| if MISTAKE != STAYS || this.0.load(Ordering::Relaxed) > 1 {
            this.0.fetch_sub(1, Self::release(RELAXED_READER));
        },
        // SAFETY: as the caller promises.
        write: |this, ()| while !unsafe { this.try_write(&()) } {
            P::yield_now();
        },
        try_write: |this, ()| {
            let state = this.0.load(Ordering::Relaxed);
            let possible = if MISTAKE == OVERTAKES { state & WRITER == 0 } else { state == 0 };
            possible && this.change(state, state | WRITER)
        },
        unlock_write: |this, ()| {
            this.0.fetch_and(!WRITER, Self::release(RELAXED_WRITER));
        },
        is_idle: |this| this.0.load(Ordering::Relaxed) == 0,
    }
}
