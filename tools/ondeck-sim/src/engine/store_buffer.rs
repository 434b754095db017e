//! Stores of a CPU that are not visible to other CPUs yet.
//!
//! ```text
//! newest ──► [store] [store] [store] ──► visible to all
//!                                oldest, when its line has arrived
//! ```
//!
//! Stores leave in the order in which they came, as on x86 (TSO). A load of the same CPU reads the
//! newest store to its address; other CPUs read the visible value. The machine has no other
//! reordering: unlike on Arm, loads are not reordered with loads, nor stores with stores.
//!
//! # Where values are
//!
//! The atomic itself has the value of the newest store from the moment of that store. The value
//! that other CPUs still see is kept aside ([`Hidden`]) until all stores to the atomic are visible.
//! The opposite design would write a store to the atomic later, when a program may have moved it:
//! Rust allows a move while the program has exclusive access. The record of a moved atomic is
//! dropped when its stores have left the buffer. No other CPU can ask for it: other threads learn
//! of new contents at that address only by later stores.
//!
//! Only if several CPUs have stores to one atomic under way, the store that becomes visible last is
//! written to the atomic. Such an atomic is shared, and is not moved.

use std::collections::VecDeque;
use std::ptr;

use crate::time::Time;

/// A value that is not visible yet.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// Its address; the provenance of the pointer was exposed.
    pub address: usize,
    /// The value.
    pub bits: u64,
    /// 1, 4 or 8 bytes; 0 if the atomic is gone.
    pub size: u8,
    /// The time at which it becomes visible.
    pub commit: Time,
}

impl Store {
    /// Writes the value to the atomic.
    ///
    /// # Safety
    ///
    /// The address belongs to an atomic of this size, whose provenance was exposed, and which has
    /// not been moved.
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

/// For an atomic with stores under way: the state that other CPUs see.
#[derive(Clone, Copy, Debug)]
pub struct Hidden {
    /// The value that is visible.
    pub visible: u64,
    /// The CPU that made the stores; `None` if several did.
    pub cpu: Option<usize>,
    /// The number of stores under way.
    pub stores: usize,
}

/// The store buffer of a CPU.
#[derive(Debug, Default)]
pub struct StoreBuffer {
    stores: VecDeque<Store>,
    last_commit: Time,
}

impl StoreBuffer {
    /// The number of stores under way.
    #[inline]
    pub fn len(&self) -> usize {
        self.stores.len()
    }

    /// The time at which the oldest store leaves.
    pub fn first_commit(&self) -> Time {
        self.stores.front().map_or(0, |store| store.commit)
    }

    /// The time at which all stores so far have left.
    #[inline]
    pub fn last_commit(&self) -> Time {
        self.last_commit
    }

    /// Adds a store; it leaves no sooner than earlier ones.
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

    /// The atomic at that address is gone: stores to it are dropped.
    pub fn forget(&mut self, address: usize) {
        for store in &mut self.stores {
            if store.address == address {
                store.size = 0;
            }
        }
    }
}
