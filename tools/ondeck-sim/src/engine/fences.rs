//! Fences of the running thread.

use super::access;
use super::account::Doing;
use super::queue::Event;
use super::world::{World, settle, world};
use crate::time::Time;

/// A full fence: when it returns, the thread's stores are visible.
pub(super) fn full() {
    access::drain();
    let mut world = world();
    let cost = world.my_class().fence;
    world.charge(cost, Doing::Fencing);
}

/// membarrier(2): an interrupt for each CPU that runs another thread, one caller at a time.
///
/// When the call returns, whatever those CPUs stored before the interrupt is visible, and their
/// next load comes after what the caller did before the call.
pub(super) fn heavy() {
    access::drain();
    let mut world = world();
    let (me, start) = (world.my_cpu_number(), world.now.max(world.membarrier_free));
    let costs = world.costs.membarrier;
    let others: Vec<usize> = (0..world.cpus.len())
        .filter(|&cpu| cpu != me && world.cpus[cpu].current.is_some())
        .collect();
    let sent = start + costs.base + costs.per_cpu * others.len() as u64;
    // A CPU whose thread has left it may also have stores under way.
    let visible = world.storing.iter().map(|cpu| world.cpus[cpu].stores.last_commit()).max();
    let end = sent.max(visible.unwrap_or(0));
    world.membarrier_free = end;
    for cpu in others {
        world.interrupt(cpu, costs.interrupted);
    }
    world.charge_until(end, Doing::HeavyFencing);
    settle();
}

impl World {
    /// The CPU's thread loses this time.
    fn interrupt(&mut self, cpu: usize, time: Time) {
        let Some(number) = self.cpus[cpu].current else { return };
        self.cpus[cpu].epoch += 1;
        let epoch = self.cpus[cpu].epoch;
        let thread = &mut self.threads[number];
        // An access that waits for its line has no known time of arrival.
        thread.spent.add(Doing::Queueing, self.now.saturating_sub(thread.clock));
        thread.resume_at = thread.resume_at.max(self.now) + time;
        thread.clock = thread.resume_at;
        thread.spent.add(Doing::HeavyFencing, time);
        self.queue.push(thread.resume_at, Event::Resume { cpu: cpu as u32, epoch });
    }
}
