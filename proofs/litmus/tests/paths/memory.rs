//! The memory that the threads of a shape share: a parking table of one bucket, rows for visible readers, and a lock of
//! each kind with data.

use std::ptr;

use ondeck::biased::RawBiasedMutex;
use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::parking::{Bias, Bucket, Row};
use ondeck::platform::AtomicInt;
use ondeck::rwlock::RawRwLock;

use crate::machine::{Machine, Word};

/// One memory.
pub struct Memory {
    pub mode: Word,
    pub bucket: Bucket<Machine>,
    pub rows: [Row<Machine>; 3],
    pub bias: Bias<Machine>,
    pub mutex: RawMutex<Machine>,
    pub condvar: RawCondvar<Machine>,
    pub rwlock: RawRwLock<Machine>,
    pub biased: RawBiasedMutex<Machine>,
    /// The data that locks guard.
    pub data: Word,
}

impl Memory {
    /// Creates a memory. It is never freed, because nodes of sleeping threads may be linked there.
    pub fn leak() -> &'static Self {
        Box::leak(Box::new(Self {
            mode: Word::new(0),
            bucket: Bucket::new(),
            rows: [Row::new(), Row::new(), Row::new()],
            bias: Bias::new(),
            mutex: RawMutex::new(),
            condvar: RawCondvar::new(),
            rwlock: RawRwLock::new(),
            biased: RawBiasedMutex::new(),
            data: Word::new(0),
        }))
    }

    /// Returns the offset of an address of this memory.
    pub fn offset(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_sub(ptr::from_ref(self).addr());
        (offset < size_of::<Self>()).then_some(offset)
    }
}
