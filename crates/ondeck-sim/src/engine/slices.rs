//! Time slices that are a little longer for a thread that asked for it: rseq's extension in Linux 7.0.
//!
//! The steps are those of the kernel (Thomas Gleixner, "rseq: Implement time slice extension mechanism"). A thread asks
//! by a store. When it is to lose its CPU, to another thread's slice or to a woken one, it keeps the CPU for
//! `slice_extension` more, once. It gives the CPU up as soon as it gives the time back, or makes a system call.
//! A thread that has lost its CPU all the same asks no more.

use super::account::Doing;
use super::queue::Event;
use super::time::Time;
use super::world::{World, settle, suspend, world};

/// The running thread asks for more time; whether it does from now on.
pub(super) fn ask() -> bool {
    let hit = world().my_class().hit;
    world().charge(hit, Doing::Hitting);
    if world().costs.scheduler.slice_extension == 0 {
        return false;
    }
    // The store is made now, not before events that are due.
    settle();
    let me = world().me();
    let asks = !me.wants_longer_slice && !me.slice_was_extended;
    me.wants_longer_slice |= asks;
    asks
}

/// The running thread wants no more time. It gives up its CPU if it has been given some.
pub(super) fn give_back() {
    let hit = world().my_class().hit;
    world().charge(hit, Doing::Hitting);
    settle();
    world().me().wants_longer_slice = false;
    if world().me().slice_was_extended {
        // rseq_slice_yield(2).
        let entry = world().costs.futex.entry;
        world().charge(entry, Doing::Yielding);
        settle();
        enter_kernel();
    }
}

/// The running thread begins a system call: time that it was given is over. No access is under way.
pub(super) fn enter_kernel() {
    let world = world();
    if !std::mem::take(&mut world.me().slice_was_extended) {
        return;
    }
    let (cpu, number) = (world.my_cpu_number(), world.my_number());
    if world.cpus[cpu].ready.is_empty() || world.is_its_turn(cpu, number) {
        return;
    }
    world.leave(cpu);
    let thread = &mut world.threads[number];
    thread.remaining = 0;
    thread.usage.involuntary += 1;
    world.enqueue(cpu, number);
    world.schedule(cpu);
    suspend();
}

impl World {
    /// Whether a running thread that is to lose its CPU keeps it for a while, because it asked. It is to lose it then.
    pub(super) fn extends(&mut self, cpu: usize, number: usize) -> bool {
        let thread = &mut self.threads[number];
        if !std::mem::take(&mut thread.wants_longer_slice) {
            return false;
        }
        thread.slice_was_extended = true;
        self.end_slice_at(cpu, self.now + self.costs.scheduler.slice_extension);
        true
    }

    /// The CPU's slice is to end then, unless it ends earlier.
    pub(super) fn end_slice_at(&mut self, cpu: usize, then: Time) {
        if then < self.cpus[cpu].armed {
            self.cpus[cpu].armed = then;
            self.queue.push(then, Event::SliceEnd { cpu: cpu as u32 });
        }
    }
}
