//! Moves stores into the [buffers](super::store_buffer) of CPUs and out of them, and reads around
//! them.

use std::collections::hash_map::Entry;

use super::queue::Event;
use super::store_buffer::{Hidden, Store};
use super::world::World;

impl World {
    /// A store of the running thread leaves its CPU at its commit time. Other CPUs see `visible`
    /// until then.
    pub(super) fn push_store(&mut self, store: Store, visible: u64) {
        let cpu = self.my_cpu_number();
        let hidden = Hidden { visible, cpu: Some(cpu), stores: 0 };
        let hidden = self.hidden.entry(store.address).or_insert(hidden);
        hidden.stores += 1;
        hidden.cpu = hidden.cpu.filter(|&other| other == cpu);
        self.queue.push(store.commit, Event::Commit { cpu: cpu as u32 });
        self.cpus[cpu].stores.push(store);
        self.storing.insert(cpu);
    }

    /// The oldest store of a CPU becomes visible.
    pub(super) fn commit(&mut self, cpu: usize) {
        let Some(store) = self.cpus[cpu].stores.pop() else { return };
        if self.cpus[cpu].stores.len() == 0 {
            self.storing.remove(cpu);
        }
        if store.size == 0 {
            return;
        }
        let Entry::Occupied(mut hidden) = self.hidden.entry(store.address) else { return };
        hidden.get_mut().visible = store.bits;
        hidden.get_mut().stores -= 1;
        if hidden.get().stores == 0 && hidden.remove().cpu.is_none() {
            // SAFETY: the store exposed the provenance of its atomic. Several CPUs had stores to
            // it, and it still exists: otherwise the store would have been forgotten.
            unsafe { store.write() };
        }
    }

    /// The value that the running thread's CPU sees of an atomic; `None` if it is the current value
    /// of the atomic.
    pub(super) fn seen(&self, address: usize) -> Option<u64> {
        if self.hidden.is_empty() {
            return None;
        }
        let hidden = self.hidden.get(&address)?;
        let cpu = self.my_cpu_number();
        match hidden.cpu {
            Some(only) if only == cpu => None,
            Some(_) => Some(hidden.visible),
            None => Some(self.cpus[cpu].stores.newest(address).unwrap_or(hidden.visible)),
        }
    }

    /// Whether a load of the running thread reads a store of its own CPU that is under way.
    pub(super) fn is_forwarded(&self, address: usize) -> bool {
        let stores = &self.cpus[self.my_cpu_number()].stores;
        stores.len() != 0 && stores.newest(address).is_some()
    }

    /// The atomic at that address is gone: stores to it are dropped, also those of other threads.
    ///
    /// A thread can learn of another's store before it is visible through state that is not
    /// simulated: the count of an `Arc`, or a word of the harness.
    pub(super) fn forget(&mut self, address: usize) {
        if self.hidden.remove(&address).is_some() {
            for cpu in self.storing.iter() {
                self.cpus[cpu].stores.forget(address);
            }
        }
    }
}
