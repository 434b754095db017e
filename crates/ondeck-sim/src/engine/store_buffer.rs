//! Stores of a CPU that other CPUs do not see yet.
//!
//! ```text
//! newest ──► [store] [store] [store] ──► visible to all
//!                                oldest, when its line has arrived
//! ```
//!
//! Stores leave in the order in which they came, as on x86 (TSO). A load of the same CPU reads the newest
//! store to its address; other CPUs read what is visible. That is all the reordering that the machine has: loads are
//! not reordered with loads, nor stores with stores, as they are on Arm.
//!
//! # Where values are
//!
//! The atomic itself has the value of the newest store to it from the moment of that store, and what other CPUs still
//! see is kept aside ([`Hidden`]) until all stores to it are visible. The other way round a store would be written to
//! the atomic later, and a program may have moved it by then: as long as it has an atomic for itself, Rust lets it.
//! What a moved atomic leaves behind is forgotten when its stores have left the buffer. No other CPU asks for it:
//! whatever the thread puts at that address, others learn of it by stores that are behind those.
//!
//! Only if several CPUs have stores to one atomic under way, the one that becomes visible last is written to it. Such
//! an atomic is shared, and is not moved.

use std::collections::VecDeque;
use std::ptr;

use crate::time::Time;

/// A value that is not visible yet.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// Where it goes; the provenance of the pointer was exposed.
    pub address: usize,
    /// The value.
    pub bits: u64,
    /// 1, 4 or 8 bytes; 0 if the place is gone.
    pub size: u8,
    /// When it gets visible.
    pub commit: Time,
}

impl Store {
    /// Writes the value to the atomic.
    ///
    /// # Safety
    ///
    /// The address is that of an atomic of this size, whose provenance was exposed, and which has not been moved.
    pub unsafe fn write(&self) {
        // SAFETY: as the caller promises; all accesses are made on this OS thread.
        unsafe {
            match self.size {
                1 => ptr::with_exposed_provenance_mut::<u8>(self.address).write(self.bits as u8),
                4 => {
                    ptr::with_exposed_provenance_mut::<u32>(self.address).write(self.bits as u32);
                }
                8 => ptr::with_exposed_provenance_mut::<u64>(self.address).write(self.bits),
                _ => {}
            }
        }
    }
}

/// Of an atomic with stores under way: what CPUs see that did not make them.
#[derive(Clone, Copy, Debug)]
pub struct Hidden {
    /// The value that is visible.
    pub visible: u64,
    /// The CPU that made the stores; none if several did.
    pub cpu: Option<usize>,
    /// How many are under way.
    pub stores: usize,
}

/// The store buffer of a CPU.
#[derive(Debug, Default)]
pub struct StoreBuffer {
    stores: VecDeque<Store>,
    last_commit: Time,
}

impl StoreBuffer {
    /// How many stores are under way.
    #[inline]
    pub fn len(&self) -> usize {
        self.stores.len()
    }

    /// When the oldest store leaves.
    pub fn first_commit(&self) -> Time {
        self.stores.front().map_or(0, |store| store.commit)
    }

    /// When all stores that were ever put in have left.
    #[inline]
    pub fn last_commit(&self) -> Time {
        self.last_commit
    }

    /// Puts a store in; it leaves no sooner than those before it.
    pub fn push(&mut self, store: Store) {
        self.last_commit = store.commit;
        self.stores.push_back(store);
    }

    /// The value of the newest store to that address.
    pub fn newest(&self, address: usize) -> Option<u64> {
        let to = |store: &&Store| store.address == address && store.size != 0;
        self.stores.iter().rev().find(to).map(|store| store.bits)
    }

    /// Takes the oldest store out.
    pub fn pop(&mut self) -> Option<Store> {
        self.stores.pop_front()
    }

    /// The atomic at that address is gone: stores to it go nowhere.
    pub fn forget(&mut self, address: usize) {
        for store in &mut self.stores {
            if store.address == address {
                store.size = 0;
            }
        }
    }
}
