//! Collections that use the system's allocator, so that locks of the program's own allocator can be
//! entered in them.

use std::alloc::System;
use std::hash::{BuildHasherDefault, Hasher};

use allocator_api2::vec::Vec as AnyVec;
use hashbrown::{HashMap, HashSet};

pub(crate) type Vec<T> = AnyVec<T, System>;
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>, System>;
pub(crate) type Set<K> = HashSet<K, BuildHasherDefault<Mix>, System>;

/// Hashes numbers and addresses, which no attacker can choose.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
