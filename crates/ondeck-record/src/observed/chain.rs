//! A chain: which stacks had a lock one after the other, up to a wake.
//!
//! ```text
//! oldest                                             newest
//! ├── A's hold ──┤ gap ├── B's hold ──┤├── C's hold ──┤ wake
//! ```
//!
//! A thread that is woken takes over the chain of its waker, and adds its own hold when it wakes another thread. So the
//! chain goes from thread to thread as the lock does, even if each waiter sleeps at a word of its own. A gap is time in
//! which a woken thread was not running yet.

/// The segments of a chain. If there are more, the shortest pair of neighbours becomes one.
const LENGTH: usize = 12;

/// The time in which one stack had the lock.
#[derive(Clone, Copy)]
pub struct Segment {
    /// Ticks.
    pub from: u64,
    /// When it woke another thread, in ticks.
    pub until: u64,
    /// The number of the stack plus 1; 0 if it is not known.
    pub stack: u32,
}

#[derive(Clone, Copy)]
pub struct Chain {
    used: u32,
    /// Oldest first.
    segments: [Segment; LENGTH],
}

impl Chain {
    pub const EMPTY: Self =
        Self { used: 0, segments: [Segment { from: 0, until: 0, stack: 0 }; LENGTH] };

    fn used(&self) -> &[Segment] {
        &self.segments[..self.used as usize]
    }

    /// Returns the last moment of the chain; 0 if it is empty.
    pub fn end(&self) -> u64 {
        self.used().last().map_or(0, |last| last.until)
    }

    /// Adds a segment after all others.
    pub fn push(&mut self, segment: Segment) {
        if self.used as usize == LENGTH {
            self.join();
        }
        self.segments[self.used as usize] = segment;
        self.used += 1;
    }

    /// Replaces the shortest pair of neighbours by one segment, with the stack of the longer one.
    fn join(&mut self) {
        let length = |pair: &[Segment]| pair[1].until.saturating_sub(pair[0].from);
        let shortest = self.used().windows(2).enumerate().min_by_key(|(_, pair)| length(pair));
        let Some((at, pair)) = shortest else { return };
        let [a, b] = [pair[0], pair[1]];
        let own = |one: Segment| one.until.saturating_sub(one.from);
        let stack = if own(a) > own(b) { a.stack } else { b.stack };
        self.segments[at] = Segment { from: a.from, until: b.until, stack };
        self.segments.copy_within(at + 2.., at + 1);
        self.used -= 1;
    }

    /// Sets the stack of the segment that ended at `until`, if the chain still has it.
    pub fn name(&mut self, until: u64, stack: u32) {
        let used = self.used as usize;
        let its = self.segments[..used].iter_mut().rfind(|segment| segment.until == until);
        if let Some(segment) = its.filter(|segment| segment.stack == 0) {
            segment.stack = stack;
        }
    }

    /// Returns the parts of the segments after `from`, newest first.
    pub fn after(&self, from: u64) -> impl Iterator<Item = Segment> {
        let parts = self.used().iter().rev().take_while(move |one| one.until > from);
        parts.map(move |one| Segment { from: one.from.max(from), ..*one })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    fn parts(chain: &Chain, from: u64) -> Vec<(u32, u64)> {
        chain.after(from).map(|one| (one.stack, one.until - one.from)).collect()
    }

    #[test]
    fn a_waiter_is_told_who_had_the_lock_since_it_came() {
        let mut chain = Chain::EMPTY;
        for (stack, from, until) in [(1, 0, 100), (2, 110, 200), (3, 200, 230)] {
            chain.push(Segment { from, until, stack });
        }
        assert_eq!(chain.end(), 230);
        assert_eq!(parts(&chain, 150), [(3, 30), (2, 50)]);
        assert_eq!(parts(&chain, 60), [(3, 30), (2, 90), (1, 40)]);
        assert_eq!(parts(&chain, 230), []);
    }

    #[test]
    fn a_long_hold_stays_in_the_chain_after_many_short_ones() {
        let mut chain = Chain::EMPTY;
        chain.push(Segment { from: 0, until: 10_000, stack: 9 });
        for short in 0..1_000 {
            let from = 10_000 + short * 10;
            chain.push(Segment { from, until: from + 10, stack: 1 });
        }
        assert_eq!(parts(&chain, 0).into_iter().map(|part| part.1).sum::<u64>(), 20_000);
        let kept: u64 =
            parts(&chain, 0).into_iter().filter(|part| part.0 == 9).map(|part| part.1).sum();
        assert_eq!(kept, 10_000);
    }

    #[test]
    fn the_longer_of_two_neighbours_names_both() {
        for (lengths, expected) in [([5, 1], 7), ([1, 5], 8)] {
            let mut chain = Chain::EMPTY;
            let mut from = 0;
            let mut push = |length: u64, stack| {
                chain.push(Segment { from, until: from + length, stack });
                from += length;
            };
            push(lengths[0], 7);
            push(lengths[1], 8);
            (1..LENGTH).for_each(|_| push(100, 1));
            assert_eq!(parts(&chain, 0).last(), Some(&(expected, 6)));
        }
    }

    #[test]
    fn a_segment_gets_its_stack_later_once() {
        let mut chain = Chain::EMPTY;
        chain.push(Segment { from: 0, until: 10, stack: 0 });
        chain.name(10, 4);
        chain.name(10, 5);
        chain.name(11, 6);
        assert_eq!(parts(&chain, 0), [(4, 10)]);
    }
}
