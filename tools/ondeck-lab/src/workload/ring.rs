//! A bounded queue of numbers, for the lock under test to guard.

use super::Apart;
use crate::machine::Machine;

/// The numbers on two cache lines.
const SLOTS: usize = 16;

/// First in, first out. Its memory is allocated and touched from the beginning. It begins at a
/// cache line: elsewhere the allocator would decide how many lines the numbers are on.
pub(super) struct Ring {
    slots: Box<[Apart<[u64; SLOTS]>]>,
    capacity: usize,
    first: usize,
    len: usize,
}

impl Ring {
    pub(super) fn new(capacity: usize) -> Self {
        // Not zeros, because the kernel would create pages of zeros only at the first write.
        let slots = (0..capacity.div_ceil(SLOTS)).map(|_| Apart([u64::MAX; SLOTS])).collect();
        Self { slots, capacity, first: 0, len: 0 }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.len == self.capacity
    }

    /// Appends a number; the ring is not full.
    #[inline]
    pub(super) fn push<M: Machine>(&mut self, number: u64) {
        let place = self.first + self.len;
        let place = if place < self.capacity { place } else { place - self.capacity };
        let slot = &mut self.slots[place / SLOTS].0[place % SLOTS];
        M::touch(slot, true);
        *slot = number;
        self.len += 1;
    }

    /// Takes the oldest number; the ring is not empty.
    #[inline]
    pub(super) fn pop<M: Machine>(&mut self) -> u64 {
        let slot = &self.slots[self.first / SLOTS].0[self.first % SLOTS];
        M::touch(slot, false);
        let number = *slot;
        self.first = if self.first + 1 < self.capacity { self.first + 1 } else { 0 };
        self.len -= 1;
        number
    }
}

#[cfg(test)]
mod tests {
    use ondeck::platform::Native;

    use super::*;

    #[test]
    fn numbers_come_out_in_the_order_in_which_they_went_in() {
        let mut ring = Ring::new(3);
        let (mut sent, mut received) = (0..20, 0..20);
        for _ in 0..7 {
            while !ring.is_full() {
                ring.push::<Native>(sent.next().expect("more than the test takes"));
            }
            for _ in 0..2 {
                assert_eq!(Some(ring.pop::<Native>()), received.next());
            }
        }
        assert!(!ring.is_empty() && !ring.is_full());
        assert_eq!(Some(ring.pop::<Native>()), received.next());
        assert!(ring.is_empty());
    }
}
