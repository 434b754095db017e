//! Fences of the running thread.

use super::access;
use super::account::Doing;
use super::note::note;
use super::recent::Step;
use super::world::{settle, world};

/// A full fence: the thread's stores are visible when it is over.
pub(super) fn full() {
    access::drain();
    let mut world = world();
    let cost = world.my_class().fence;
    world.charge(cost, Doing::Fencing);
    note(None, Step::Fence);
}

/// membarrier(2): an interrupt for each CPU that runs another thread, one caller at a time.
///
/// Whatever those CPUs stored before the interrupt is visible when the call is over, and their next load is
/// after what the caller did before it.
pub(super) fn heavy() {
    access::drain();
    let mut world = world();
    let (me, start) = (world.my_cpu_number(), world.now.max(world.membarrier_free));
    let costs = world.costs.membarrier;
    let others: Vec<usize> = (0..world.cpus.len())
        .filter(|&cpu| cpu != me && world.cpus[cpu].current.is_some())
        .collect();
    let sent = start + costs.base + costs.per_cpu * others.len() as u64;
    // A CPU whose thread has left it may have stores under way, too.
    let visible = world.storing.iter().map(|cpu| world.cpus[cpu].stores.last_commit()).max();
    let end = sent.max(visible.unwrap_or(0));
    world.membarrier_free = end;
    for cpu in others {
        world.interrupt(cpu, costs.interrupted);
    }
    world.charge_until(end, Doing::HeavyFencing);
    settle();
    note(None, Step::HeavyFence);
}
