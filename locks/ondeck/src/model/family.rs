//! The types without a protected value: each is a monitor.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

use super::monitor::Monitor;
use super::{Once, std};

macro_rules! shown {
    ($($Type:ident)*) => {$(
        impl fmt::Debug for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($Type), " { .. }"))
            }
        }
    )*};
}
shown!(Barrier Latch Semaphore);

pub struct Barrier {
    total: u32,
    arrived: Monitor<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult {
    is_leader: bool,
}

impl BarrierWaitResult {
    pub fn is_leader(&self) -> bool {
        self.is_leader
    }
}

impl Barrier {
    pub const fn new(total: u32) -> Self {
        let total = if total == 0 { 1 } else { total };
        Self { total, arrived: Monitor::new(0) }
    }

    pub fn wait(&self) -> BarrierWaitResult {
        let arrived = self.arrived.change(|arrived| {
            *arrived += 1;
            *arrived
        });
        let is_leader = arrived.is_multiple_of(self.total);
        if !is_leader {
            let round = arrived / self.total;
            self.arrived.wait(|arrived| arrived / self.total > round);
        }
        BarrierWaitResult { is_leader }
    }

    pub fn wait_for(&self, _: Duration) -> Option<BarrierWaitResult> {
        Some(self.wait())
    }

    pub fn wait_until(&self, _: Instant) -> Option<BarrierWaitResult> {
        Some(self.wait())
    }
}

pub const MOST_COUNT: u32 = u32::MAX / 2;

pub struct Latch(Monitor<u32>);

impl Latch {
    pub const fn new(count: u32) -> Self {
        assert!(count <= MOST_COUNT, "a latch counts 2^31 - 1 at most");
        Self(Monitor::new(count))
    }

    pub fn count_down(&self) {
        self.count_down_by(1);
    }

    pub fn count_down_by(&self, count: u32) {
        self.0.change(|left| {
            let after = left.checked_sub(count).filter(|_| *left != 0 || count == 0);
            *left = after.expect("a latch is counted down by more than what remains");
        });
    }

    pub fn arrive_and_wait(&self) {
        self.count_down();
        self.wait();
    }

    pub fn is_open(&self) -> bool {
        self.left() == 0
    }

    pub fn left(&self) -> u32 {
        self.0.read(|left| *left)
    }

    pub fn wait(&self) {
        self.0.wait(|left| *left == 0);
    }
}

pub const MOST_PERMITS: u32 = u32::MAX / 8;

#[derive(Clone, Copy)]
struct Permits {
    free: u32,
    is_fair: bool,
    /// The numbers of threads that came for permits of a fair semaphore, and that have them.
    came: u32,
    served: u32,
}

impl Permits {
    fn acquire(&mut self, permits: u32) -> Option<()> {
        self.free = self.free.checked_sub(permits)?;
        Some(())
    }
}

pub struct Semaphore(Monitor<Permits>);

impl Semaphore {
    const fn of(permits: u32, is_fair: bool) -> Self {
        assert!(permits <= MOST_PERMITS, "more permits than a semaphore can have");
        Self(Monitor::new(Permits { free: permits, is_fair, came: 0, served: 0 }))
    }

    pub const fn new(permits: u32) -> Self {
        Self::of(permits, false)
    }

    pub const fn fair(permits: u32) -> Self {
        Self::of(permits, true)
    }

    pub fn acquire(&self) {
        self.acquire_many(1);
    }

    pub fn acquire_many(&self, permits: u32) {
        let mut turn = None;
        let is_fair = self.0.take(|state| {
            if state.is_fair {
                let turn = *turn.get_or_insert(state.came);
                state.came = state.came.max(turn + 1);
                if state.served != turn {
                    return None;
                }
            }
            state.acquire(permits)?;
            state.served += 1;
            Some(state.is_fair)
        });
        if is_fair {
            // The next thread may continue too.
            self.0.change(|_| ());
        }
    }

    pub fn try_acquire(&self) -> bool {
        self.try_acquire_many(1)
    }

    pub fn try_acquire_many(&self, permits: u32) -> bool {
        self.0.change(|state| {
            let may = !state.is_fair || state.came == state.served;
            may && state.acquire(permits).is_some()
        })
    }

    pub fn try_acquire_many_for(&self, permits: u32, _: Duration) -> bool {
        self.acquire_many(permits);
        true
    }

    pub fn try_acquire_many_until(&self, permits: u32, _: Instant) -> bool {
        self.acquire_many(permits);
        true
    }

    pub fn release(&self, permits: u32) {
        self.0.change(|state| {
            let free = state.free.checked_add(permits).filter(|free| *free <= MOST_PERMITS);
            state.free = free.expect("a release of more permits than a semaphore can have");
        });
    }

    pub fn available(&self) -> u32 {
        self.0.read(|state| state.free)
    }
}

macro_rules! with_deadlines {
    ($($Type:ident $wait:ident $wait_for:ident $wait_until:ident;)*) => {$(
        impl $Type {
            pub fn $wait_for(&self, _: Duration) -> bool {
                self.$wait();
                true
            }

            pub fn $wait_until(&self, _: Instant) -> bool {
                self.$wait();
                true
            }
        }
    )*};
}
with_deadlines! {
    Latch wait wait_for wait_until;
    Once wait wait_for wait_until;
    Semaphore acquire try_acquire_for try_acquire_until;
}
