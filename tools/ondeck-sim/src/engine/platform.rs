//! [`Sim`]: the simulated machine as a platform for locks.

use ondeck::parking::{Bias, Bucket, Row};
use ondeck::platform::{
    AtomicInt, Estimate, Estimates, Fences, FutexWait, Host, Ordering, Platform, Threads,
    Timestamp, averaged_cost, relax_interval,
};

use super::account::Doing;
use super::atomics::{SimInt, SimPtr};
use super::estimates::current;
use super::world::{any_world, on_thread, pause, settle, world};
use super::{Sim, fences, futex, scheduler, table};
use crate::time::{Time, in_nanos, of_nanos};

impl Sim {
    /// Does work that takes `nanos` nanoseconds at the speed 1.
    pub fn work(nanos: f64) {
        /// Longer work is cut into pieces of this length, so that it notices what its core's
        /// sibling does.
        const PIECE: f64 = 5_000.0;
        /// A thread that accesses nothing between its pieces also lets the machine catch up with
        /// its clock: otherwise the event that stops it would never happen.
        const AHEAD: Time = 20_000_000;
        let mut left = nanos;
        while left > 0.0 {
            let piece = left.min(PIECE);
            left -= piece;
            let mut world = world();
            let class = world.my_class();
            let speed = class.speed * if world.sibling_works() { class.smt_speed } else { 1.0 };
            let time = of_nanos(piece / speed);
            world.charge(time, Doing::Working);
            if left > 0.0 || world.me().clock > world.now + AHEAD {
                settle();
            }
        }
    }

    /// Reads `bytes` bytes of plain data, or reads and writes them.
    pub fn touch(address: usize, bytes: usize, write: bool) {
        if on_thread().is_some() {
            super::access::touch(address, bytes, write);
        }
    }

    /// Reads and writes numbers on separate lines whose addresses are known in advance: an
    /// out-of-order core has all of them under way at the same time.
    pub fn touch_together(addresses: &[usize]) {
        if on_thread().is_some() {
            super::access::touch_together(addresses);
        }
    }

    /// The charge of the calling thread so far, including the pending part.
    pub fn usage() -> super::Usage {
        settle();
        let mut world = world();
        let now = world.now;
        let me = world.me();
        let mut usage = me.usage;
        usage.cpu += now - me.since;
        usage
    }

    /// The time of the machine, in the engine's unit. Reading it costs no time.
    pub fn now_free() -> Time {
        if on_thread().is_some() {
            settle();
        }
        any_world().map_or(0, |world| world.now)
    }

    /// The number of the calling simulated thread, from 0.
    pub fn thread() -> usize {
        world().my_number()
    }

    /// Whether the thread with that number sleeps until a wake, or until a deadline of a lock.
    pub fn sleeps(thread: usize) -> bool {
        settle();
        let threads = &world().threads;
        threads
            .get(thread)
            .is_some_and(|it| it.state == super::State::Asleep && !it.only_sleeps && !it.naps)
    }

    /// Sleeps for `nanos` nanoseconds.
    pub fn sleep(nanos: u64) {
        let word = SimInt::<u32>::new(0);
        let deadline = Self::now().as_nanos() + nanos;
        world().me().only_sleeps = true;
        // No thread wakes it; the wait times out.
        let _ = Self::futex_wait(&word, 0, Some(Timestamp::from_nanos(deadline)));
        world().me().only_sleeps = false;
    }
}

// SAFETY: an access that changes memory happens in one step; see `atomics.rs`. A full fence waits
// for the stores of its CPU. Words are read only. A thread that panics ends the run: the others are
// not resumed.
unsafe impl Platform for Sim {
    type AtomicU8 = SimInt<u8>;
    type AtomicU32 = SimInt<u32>;
    type AtomicUsize = SimInt<usize>;
    type AtomicPtr<T: 'static> = SimPtr<T>;

    fn fence(order: Ordering) {
        // Weaker fences compile to nothing on a machine that orders loads and stores as x86 does.
        if order == Ordering::SeqCst && on_thread().is_some() {
            fences::full();
        }
    }

    fn pause() {
        pause(world().my_class().pause);
    }

    fn pause_times(count: u32) {
        pause(world().my_class().pause * Time::from(count));
    }

    fn spin_again() {
        pause(world().my_class().hit);
    }

    fn yield_now() {
        scheduler::yield_now();
    }

    fn now() -> Timestamp {
        if on_thread().is_none() {
            return Timestamp::from_nanos(any_world().map_or(0, |world| in_nanos(world.now)));
        }
        settle();
        let mut world = world();
        let now = in_nanos(world.now);
        let cost = world.costs.clock.monotonic_read;
        world.charge(cost, Doing::Clocks);
        Timestamp::from_nanos(now)
    }

    fn ticks() -> u64 {
        if on_thread().is_none() {
            return any_world()
                .map_or(0, |world| ticks_of(world.now, world.costs.clock.tsc_hertz()));
        }
        settle();
        let mut world = world();
        let cost = world.my_class().tsc_read;
        world.charge(cost, Doing::Clocks);
        ticks_of(world.now, world.costs.clock.tsc_hertz())
    }

    fn ticks_per_second() -> u64 {
        any_world().map_or(1_000_000_000, |world| world.costs.clock.tsc_hertz())
    }

    fn futex_wait(word: &SimInt<u32>, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        let deadline = deadline.map(|deadline| of_nanos(deadline.as_nanos() as f64));
        let address = std::ptr::from_ref(word).addr();
        futex::wait(address, expected, deadline, || word.visible())
    }

    fn futex_wake(address: *const SimInt<u32>, count: u32) -> usize {
        if on_thread().is_some() {
            futex::wake(address.addr(), count as usize)
        } else {
            any_world().map_or(0, |mut world| world.wake_at_once(address.addr(), count as usize))
        }
    }

    fn sleep_nanos(nanos: u32) {
        Self::sleep(nanos.into());
    }

    fn futex_requeue(
        from: &SimInt<u32>,
        expected: u32,
        wake: u32,
        to: *const SimInt<u32>,
        move_: u32,
    ) -> Option<usize> {
        let address = std::ptr::from_ref(from).addr();
        let counts = (wake as usize, move_ as usize);
        futex::requeue(address, expected, to.addr(), counts, || from.visible())
    }

    fn ticks_in(nanos: u32) -> usize {
        (u64::from(nanos) * Self::ticks_per_second() / 1_000_000_000) as usize
    }

    fn cpus() -> usize {
        any_world().map_or(1, |mut world| match on_thread() {
            Some(_) => world.me().allowed.map_or(world.cpus.len(), |allowed| allowed.len()),
            None => world.cpus.len(),
        })
    }

    // A socket is a NUMA node.
    fn node() -> usize {
        on_thread().map_or(0, |world| world.my_place().socket)
    }
}

/// The value of the time-stamp counter at a moment.
fn ticks_of(time: Time, hertz: u64) -> u64 {
    (u128::from(time) * u128::from(hertz) / 1_000_000_000_000) as u64
}

// SAFETY: the bucket is a function of an address's name, which is a function of the address and
// differs for different addresses. Tables begin empty with each machine. Each thread has the row
// with its number.
unsafe impl Host for Sim {
    fn unlock_mode(address: usize) -> &'static SimInt<usize> {
        table::unlock_mode(address)
    }

    fn bucket(address: usize) -> &'static Bucket<Self> {
        table::bucket(address)
    }

    fn name_of(address: usize) -> usize {
        any_world().map_or(address, |mut world| world.memory.name(address))
    }

    fn row() -> Option<&'static Row<Self>> {
        table::row(on_thread()?.my_number())
    }

    fn rows() -> &'static [Row<Self>] {
        // Also while a lock is inspected after its machine is gone.
        any_world().map_or(&[], |world| table::rows(world.threads.len()))
    }

    fn bias(address: usize) -> Option<&'static Bias<Self>> {
        any_world().map(|_| table::bias(address))
    }
}

// SAFETY: a heavy fence waits for the stores of all CPUs. Every simulated machine has asymmetric
// fences: `light_fence` is ordered by `heavy_fence` for as long as the machine runs.
unsafe impl Fences for Sim {
    fn light_fence() {}

    fn heavy_fence() {
        if on_thread().is_some() {
            let start = Self::ticks();
            fences::heavy();
            let cost = Self::ticks().wrapping_sub(start) as usize;
            let mut world = world();
            world.estimates.heavy = averaged_cost(world.estimates.heavy, cost);
        }
    }

    fn fences_are_asymmetric() -> bool {
        true
    }

    fn presumed_light_fence() {}

    fn may_relax() -> bool {
        if on_thread().is_none() {
            return false;
        }
        let now = Self::ticks();
        let interval = relax_interval(world().estimates.heavy, Self::ticks_in);
        let mut world = world();
        if now.wrapping_sub(world.estimates.relaxed_at) < interval as u64 {
            return false;
        }
        world.estimates.relaxed_at = now;
        true
    }

    fn heavy_cost_ticks() -> usize {
        world().estimates.heavy
    }
}

impl Estimates for Sim {
    fn note_wake(ticks: usize) {
        let before = Self::wake_ticks();
        world().estimates.wake = Estimate::WAKE.noted(before, ticks, Self::ticks_in);
    }

    fn wake_ticks() -> usize {
        current(&Estimate::WAKE, world().estimates.wake, Self::ticks_in)
    }

    fn note_transfer(ticks: usize) {
        let before = Self::transfer_ticks();
        world().estimates.transfer = Estimate::TRANSFER.noted(before, ticks, Self::ticks_in);
    }

    fn transfer_ticks() -> usize {
        current(&Estimate::TRANSFER, world().estimates.transfer, Self::ticks_in)
    }
}

impl Threads for Sim {
    fn thread() -> usize {
        on_thread().map_or(0, |world| world.my_number() + 1)
    }

    fn once_in(count: u32) -> bool {
        on_thread().is_some_and(|mut world| world.me().random.u32(..count) == 0)
    }

    fn cpu() -> u32 {
        on_thread().map_or(0, |world| world.my_cpu_number() as u32)
    }

    fn cache() -> usize {
        on_thread().map_or(0, |world| world.my_place().cluster)
    }
}
