//! The running thread's accesses to memory, and their cost.
//!
//! An access has two moments. It *begins* at the thread's clock, where it checks whether the core
//! has the line, and reserves the line if not. It *happens* when the line arrives: the value is
//! read or changed in one step, without a switch of coroutines in between. See
//! [`memory`](super::memory) for the lines.

use super::account::Doing;
use super::bits::Set;
use super::memory::{Access, NOBODY};
use super::store_buffer::Store;
use super::world::{World, any_world, come, settle, suspend, world};
use crate::time::Time;

/// The state of a line for an access that begins now.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// The core has it.
    Here(Time),
    /// It arrives after earlier accesses: it moves from `start` to `there`.
    Comes { start: Time, there: Time },
    /// It is under way for another access: see [`arbiter`](super::arbiter).
    Taken,
}

/// A load. Returns the value that the caller's CPU sees; `None` if it is the current value of the
/// atomic.
pub(super) fn load(address: usize) -> Option<u64> {
    settle();
    let mut world = world();
    if world.is_forwarded(address) {
        let hit = world.my_class().hit;
        world.charge(hit, Doing::Hitting);
        return world.seen(address);
    }
    fetch(address, Access::Read, 0);
    self::world().seen(address)
}

/// A read-modify-write. The caller makes it now, of the value that its CPU sees, and passes the
/// result to [`changed`].
pub(super) fn exclusive(address: usize) {
    drain();
    let world = world();
    let rmw = world.my_class().rmw;
    fetch(address, Access::Write, rmw);
}

/// The value of an atomic that is visible to all CPUs but those with stores under way; `None` if it
/// is the current value of the atomic.
pub(super) fn visible(address: usize) -> Option<u64> {
    let world = any_world().filter(|world| !world.hidden.is_empty())?;
    world.hidden.get(&address).map(|hidden| hidden.visible)
}

/// Records that an atomic has a new value, visible at once. Returns false if a store to it is under
/// way: the atomic then keeps the value of that store, which comes later.
pub(super) fn changed(address: usize, bits: u64) -> bool {
    let Some(mut world) = any_world().filter(|world| !world.hidden.is_empty()) else {
        return true;
    };
    let Some(hidden) = world.hidden.get_mut(&address) else { return true };
    hidden.visible = bits;
    false
}

/// A store; `before` reads the current value of the atomic. If it returns true, the caller writes
/// the value now.
pub(super) fn store(address: usize, bits: u64, size: u8, before: &dyn Fn() -> u64) -> bool {
    settle();
    let entries = world().costs.store_buffer.entries;
    if entries != 0 && world().my_cpu().stores.len() >= entries {
        let oldest = world().my_cpu().stores.first_commit();
        world().charge_until(oldest, Doing::Draining);
        come();
    }
    let hit = world().my_class().hit;
    if entries == 0 || world().is_fought_over(address) {
        // Without a buffer, or where it competes with other accesses, the thread waits for it.
        drain();
        fetch(address, Access::Write, hit);
        return changed(address, bits);
    }
    let world = &mut *world();
    let last = world.my_cpu().stores.last_commit();
    let delay = world.unrest.store_delay(&mut world.whims);
    // A store that a test delays lets others have its line until it happens.
    let kept_until = if world.unrest.delays_stores() { 0 } else { last };
    let line = world.own_next(address, kept_until);
    let there = match line {
        Line::Here(_) if last <= world.now && delay == 0 => {
            world.charge(hit, Doing::Hitting);
            return changed(address, bits);
        }
        Line::Here(_) => world.now,
        Line::Comes { there, .. } => there,
        Line::Taken => unreachable!("a store that is not fought over takes its turn"),
    };
    let commit = (there + delay).max(last);
    world.push_store(Store { address, bits, size, commit }, before());
    world.charge(hit, Doing::Hitting);
    true
}

/// Waits until the thread's own stores are visible.
pub(super) fn drain() {
    settle();
    let mut world = world();
    let last = world.my_cpu().stores.last_commit();
    if last > world.now || world.my_cpu().stores.len() != 0 {
        world.charge_until(last, Doing::Draining);
        come();
    }
}

/// Accesses plain data that the thread reads, or reads and writes: only its lines move.
pub(super) fn touch(address: usize, bytes: usize, write: bool) {
    let first = address / super::memory::LINE;
    let last = (address + bytes.max(1) - 1) / super::memory::LINE;
    for line in first..=last {
        settle();
        let access = if write { Access::Write } else { Access::Read };
        fetch(line * super::memory::LINE, access, 0);
    }
}

/// Accesses plain data whose addresses the thread knows in advance: the lines move at the same
/// time, as far as they are free, and the thread continues when the last one has arrived.
pub(super) fn touch_together(addresses: &[usize]) {
    settle();
    let mut latest = world().now;
    let mut taken = Vec::new();
    for &address in addresses {
        let mut here = world();
        match here.own(address) {
            Line::Here(_) => {}
            Line::Comes { there, .. } => latest = latest.max(there),
            Line::Taken => taken.push(address),
        }
    }
    let mut here = world();
    let hit = here.my_class().hit * addresses.len() as Time;
    here.charge_until(latest, Doing::Moving);
    here.charge(hit, Doing::Hitting);
    here.me().in_access = true;
    come();
    world().me().in_access = false;
    for address in taken {
        settle();
        fetch(address, Access::Write, 0);
    }
}

/// An atomic is gone: stores to it are dropped.
pub(super) fn forget(address: usize) {
    if let Some(mut world) = any_world()
        && !world.hidden.is_empty()
    {
        world.forget(address);
    }
}

/// The running thread's access begins as soon as it can, and waits for its line; the operation
/// takes `more` in addition.
fn fetch(address: usize, access: Access, more: Time) {
    loop {
        let mut here = world();
        let line = match access {
            Access::Read => here.read(address),
            Access::Write => here.own(address),
        };
        match line {
            Line::Here(hit) => return here.charge(hit.max(more), Doing::Hitting),
            Line::Comes { start, there } => {
                here.charge_until(start, Doing::Queueing);
                here.charge_until(there, Doing::Moving);
                here.me().in_access = true;
                come();
                let mut here = world();
                here.me().in_access = false;
                return here.charge(more, Doing::Hitting);
            }
            Line::Taken => {
                here.wait_for_line(address, access);
                suspend();
            }
        }
    }
}

impl World {
    /// A read of the line of that address begins now.
    fn read(&mut self, address: usize) -> Line {
        let (now, place, hit) = (self.now, self.my_place(), self.my_class().hit);
        let number = self.memory.number(address);
        let core = place.core;
        let line = self.memory.line(number);
        if usize::from(line.owner) == core {
            // Its own store may still be under way.
            let there = line.owned_from;
            return if there <= now { Line::Here(hit) } else { Line::Comes { start: now, there } };
        }
        if line.sharers.has(core) || line.is_stale_at(core, now) {
            return Line::Here(hit);
        }
        let (owner, sharers) = (line.owner, line.sharers);
        // Copies of a line that is already shared are made in turn.
        let makes_copy = owner == NOBODY && !sharers.is_empty();
        if line.is_taken(now) && !makes_copy {
            return Line::Taken;
        }
        let start = now.max(line.busy_until);
        let way = self.jittered_way(self.way_to(place.core, owner, &sharers));
        let there = start + way;
        let occupancy = self.costs.transfer.read_occupancy;
        let turnaround = self.turnaround(way);
        let line = self.memory.line(number);
        line.turnaround = turnaround;
        line.traffic.reads += 1;
        line.traffic.queued += start - now;
        line.traffic.moved += way;
        if owner != NOBODY {
            line.ask_owner(start, way);
            line.sharers = Set::of(usize::from(owner));
            line.sharers.insert(core);
            line.owner = NOBODY;
            line.busy_until = there;
        } else if sharers.is_empty() {
            // In no cache: the core receives it exclusively, and may write it.
            line.owner = core as u16;
            line.owned_from = there;
            line.busy_until = there;
        } else {
            line.sharers.insert(core);
            line.busy_until = start + occupancy.min(way);
        }
        Line::Comes { start, there }
    }

    /// A write of the line of that address begins now, if the line is not under way.
    fn own(&mut self, address: usize) -> Line {
        let (now, core) = (self.now, self.my_place().core);
        let number = self.memory.number(address);
        let line = self.memory.line(number);
        let is_owner = usize::from(line.owner) == core;
        if !is_owner && !line.is_kept_by(core, now, now) && line.is_taken(now) {
            return Line::Taken;
        }
        self.own_next(address, 0)
    }

    /// A write of the line of that address begins as soon as the line is not under way. The core
    /// keeps the line at least until that moment.
    fn own_next(&mut self, address: usize, kept_until: Time) -> Line {
        let (now, place, hit) = (self.now, self.my_place(), self.my_class().hit);
        let cpu = self.my_cpu_number() as u16;
        let sibling = self.costs.transfer.smt_sibling;
        let number = self.memory.number(address);
        let core = place.core;
        let line = self.memory.line(number);
        if usize::from(line.owner) == core {
            let from_sibling = line.writer != cpu && line.writer != NOBODY;
            line.writer = cpu;
            if from_sibling {
                let start = now.max(line.owned_from);
                line.owned_from = start + sibling;
                if line.waiting.is_empty() {
                    line.busy_until = line.busy_until.max(line.owned_from);
                }
                line.busy_until = line.busy_until.max(kept_until);
                line.traffic.writes += 1;
                line.traffic.moved += sibling;
                return Line::Comes { start, there: start + sibling };
            }
            line.busy_until = line.busy_until.max(kept_until);
            let there = line.owned_from;
            return if there <= now { Line::Here(hit) } else { Line::Comes { start: now, there } };
        }
        if line.is_kept_by(core, now, kept_until) {
            return Line::Here(hit);
        }
        let start = now.max(line.busy_until);
        let (owner, sharers) = (line.owner, line.sharers);
        let others = sharers.len() - usize::from(sharers.has(core));
        let way = if owner != NOBODY || sharers.is_empty() {
            self.way_to(core, owner, &sharers)
        } else {
            // Each copy is invalidated; the farthest one answers last.
            let farthest = self.farthest(core, &sharers);
            farthest + self.costs.transfer.invalidate * others.saturating_sub(1) as Time
        };
        let way = self.jittered_way(way);
        let there = start + way;
        let turnaround = self.turnaround(way);
        let line = self.memory.line(number);
        line.turnaround = turnaround;
        line.traffic.writes += 1;
        line.traffic.queued += start - now;
        line.traffic.moved += way;
        if owner != NOBODY {
            line.ask_owner(start, way);
        }
        line.take_copies(core, now, there.max(kept_until));
        line.owner = core as u16;
        line.writer = cpu;
        line.owned_from = there;
        line.busy_until = there.max(kept_until);
        Line::Comes { start, there }
    }

    /// The way of a line to a core, from the nearest cache that has it or from memory.
    pub(super) fn way_to(&self, core: usize, owner: u16, sharers: &Set) -> Time {
        if owner != NOBODY {
            return self.way_between(core, usize::from(owner));
        }
        let nearest = sharers.iter().map(|other| self.way_between(core, other)).min();
        nearest.unwrap_or(self.costs.transfer.memory)
    }

    fn farthest(&self, core: usize, sharers: &Set) -> Time {
        let others = sharers.iter().filter(|&other| other != core);
        others
            .map(|other| self.way_between(core, other))
            .max()
            .unwrap_or(self.costs.transfer.same_cluster)
    }

    fn way_between(&self, one: usize, other: usize) -> Time {
        let cpu_of = |core: usize| &self.costs.places[self.costs.cpu_of_core[core]];
        self.costs.distance(cpu_of(one), cpu_of(other))
    }

    fn jittered_way(&mut self, way: Time) -> Time {
        self.jittered(way, self.costs.transfer.jitter)
    }

    /// The time, or up to that part of it more or less.
    pub(super) fn jittered(&mut self, time: Time, jitter: f64) -> Time {
        if jitter == 0.0 {
            return time;
        }
        (time as f64 * (1.0 - jitter + 2.0 * jitter * self.rng.f64())).round() as Time
    }
}
