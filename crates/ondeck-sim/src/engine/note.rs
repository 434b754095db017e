//! Tells what threads do: the last events are kept, and a [`Listener`](super::Listener) is called with all of them.
//!
//! Both only if that was asked for: otherwise each access looks at one flag of its OS thread.

use std::cell::Cell;

use super::memory::LINE;
use super::recent::{Recent, Step};
use super::world::{World, any_world};

thread_local! {
    /// Whether the machine that is shown to this OS thread keeps events, or has a listener.
    static KEPT: Cell<bool> = const { Cell::new(false) };
}

/// Starts or stops reporting the events of this OS thread's machine.
pub(super) fn keep(is_on: bool) {
    KEPT.set(is_on);
}

/// The running thread did that, there.
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
    /// That happened to a thread.
    pub(super) fn note(&mut self, thread: usize, address: Option<usize>, step: Step) {
        if self.recent.keeps() {
            let name = address.map(|address| self.memory.name(address));
            let place = name.map(|name| (name / LINE, name % LINE));
            let (at, cpu) = (self.now, self.threads[thread].cpu);
            self.recent.push(Recent { at, thread, cpu, place, step, times: 1 });
        }
    }
}
