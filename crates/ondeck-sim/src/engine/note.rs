//! Records the events of threads: keeps the last ones, and calls a [`Listener`](super::Listener) with each.
//!
//! Both are optional: without them each access only checks one flag of its OS thread.

use std::cell::Cell;

use super::memory::LINE;
use super::recent::{Recent, Step};
use super::world::{World, any_world};

thread_local! {
    /// Whether the machine of this OS thread keeps events, or has a listener.
    static KEPT: Cell<bool> = const { Cell::new(false) };
}

/// Starts or stops reporting the events of this OS thread's machine.
pub(super) fn keep(is_on: bool) {
    KEPT.set(is_on);
}

/// Notes a step of the running thread at an address.
#[inline]
pub(super) fn note(address: Option<usize>, step: Step) {
    if KEPT.get() {
        tell(address, step);
    }
}

#[cold]
fn tell(address: Option<usize>, step: Step) {
    let Some(mut world) = any_world() else { return };
    let Some(thread) = world.current else { return };
    world.note(thread, address, step);
    if let Some(listener) = world.recent.listener() {
        world.current = None;
        listener(thread, address, step);
        world.current = Some(thread);
    }
}

impl World {
    /// Notes a step of a thread.
    pub(super) fn note(&mut self, thread: usize, address: Option<usize>, step: Step) {
        if self.recent.keeps() {
            let name = address.map(|address| self.memory.name(address));
            let place = name.map(|name| (name / LINE, name % LINE));
            let (at, cpu) = (self.now, self.threads[thread].cpu);
            self.recent.push(Recent { at, thread, cpu, place, step, times: 1 });
        }
    }
}
