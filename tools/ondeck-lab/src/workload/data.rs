//! Data that a lock guards: cache lines that move from core to core with the lock.

use ondeck::platform::{AtomicInt, Ordering};

use crate::machine::Machine;

/// A word on its own cache line.
#[repr(align(64))]
pub(super) struct Line<M: Machine>(M::AtomicUsize);

impl<M: Machine> Line<M> {
    /// The owner reads and writes the word.
    #[inline(always)]
    pub(super) fn change(&self) {
        // Two accesses as of plain data. They are atomic for two reasons: if a lock lets two
        // threads in, a count is lost, which is noticed, and no memory is corrupted; and a machine
        // of virtual time moves the line.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// The number of changes.
    pub(super) fn changes(&self) -> u64 {
        self.0.load(Ordering::Relaxed) as u64
    }
}

/// Adjacent lines that start at an even one, so that the adjacent-line prefetcher of x86 fetches no
/// other data with them.
pub(super) struct Data<M: Machine> {
    /// One more line than needed; the first or the last is left free.
    room: Box<[Line<M>]>,
    first: usize,
}

impl<M: Machine> Data<M> {
    pub(super) fn of_lines(count: usize) -> Self {
        let room: Box<[Line<M>]> = (0..=count).map(|_| Line(AtomicInt::new(0))).collect();
        let first = usize::from(!room.as_ptr().addr().is_multiple_of(2 * size_of::<Line<M>>()));
        Self { room, first }
    }

    pub(super) fn lines(&self) -> &[Line<M>] {
        &self.room[self.first..][..self.room.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use ondeck::platform::Native;

    use super::*;

    #[test]
    fn data_begins_at_an_even_line_and_has_the_lines_that_were_asked_for() {
        for count in [0, 1, 2, 7] {
            let data = Data::<Native>::of_lines(count);
            assert_eq!(data.lines().len(), count);
            assert_eq!(data.lines().as_ptr().addr() % 128, 0, "{count} lines");
            assert_eq!(size_of_val(data.lines()), 64 * count);
        }
    }
}
