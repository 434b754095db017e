//! A chain: which stacks had a lock one after the other, up to a wake.
//!
//! ```text
//! oldest                                             newest
//! ├── A's hold ──┤ gap ├── B's hold ──┤├── C's hold ──┤ wake
//! ```
//!
//! A thread that is woken takes over the chain of its waker, and adds its own hold when it wakes
//! another thread. So the chain goes from thread to thread as the lock does, even if each waiter
//! sleeps at a word of its own. A gap is time in which a woken thread was not running yet.

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

    /// Adds `gap`, in which nothing had the lock, and a hold until `until` to the last segment,
    /// whose stack has it again. The gap moves to the front, so that the segment stays as long as
    /// its holds.
    pub fn extend(&mut self, gap: u64, until: u64) {
        if let Some(last) = self.segments[..self.used as usize].last_mut() {
            last.until = until;
            last.from = last.from.saturating_add(gap).min(until);
        }
    }

    /// Replaces the shortest pair of neighbours by one segment, as long as both. It has the stack
    /// of either, as often as that one is long, so that each stack is charged rightly on average.
    fn join(&mut self) {
        let length = |one: &Segment| one.until.saturating_sub(one.from);
        let pairs = self.used().windows(2).enumerate();
        let shortest = pairs.min_by_key(|(_, pair)| length(&pair[0]) + length(&pair[1]));
        let Some((at, pair)) = shortest else { return };
        let [a, b] = [length(&pair[0]), length(&pair[1])];
        // Both, because a segment that was joined at its beginning may be joined at its end.
        let random = mixed(pair[0].from.rotate_left(32) ^ pair[1].until);
        let is_first = (u128::from(random) * u128::from(a + b)) >> 64 < u128::from(a);
        let (until, stack) = (pair[1].until, pair[usize::from(!is_first)].stack);
        self.segments[at] = Segment { from: until.saturating_sub(a + b), until, stack };
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

/// Returns a number whose bits all depend on those of a time: SplitMix64's (Steele, Lea, Flood
/// 2014).
fn mixed(time: u64) -> u64 {
    let once = (time ^ time >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let twice = (once ^ once >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    twice ^ twice >> 31
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
    fn neighbours_that_are_joined_keep_their_shares_on_average() {
        let mut chain = Chain::EMPTY;
        // In turn 3 and 1, with gaps.
        for turn in 0..20_000 {
            let from = turn * 8;
            chain.push(Segment { from, until: from + 3, stack: 7 });
            chain.push(Segment { from: from + 5, until: from + 6, stack: 8 });
        }
        let sum = |stack| -> u64 {
            let its = parts(&chain, 0).into_iter().filter(|part| part.0 == stack);
            its.map(|part| part.1).sum()
        };
        assert_eq!(sum(7) + sum(8), 80_000);
        let mut sums = 0;
        for start in 0..2_000 {
            let mut chain = Chain::EMPTY;
            for turn in 0..100 {
                let from = start * 1_013 + turn * 8;
                chain.push(Segment { from, until: from + 3, stack: 7 });
                chain.push(Segment { from: from + 5, until: from + 6, stack: 8 });
            }
            let its = parts(&chain, 0).into_iter().filter(|part| part.0 == 7);
            sums += its.map(|part| part.1).sum::<u64>();
        }
        assert!((580_000..620_000).contains(&sums), "{sums} of 800000 instead of 600000");
    }

    #[test]
    fn a_stack_that_has_the_lock_again_and_again_has_one_segment() {
        let mut chain = Chain::EMPTY;
        chain.push(Segment { from: 0, until: 10, stack: 1 });
        chain.push(Segment { from: 10, until: 30, stack: 2 });
        chain.extend(5, 50);
        chain.extend(0, 60);
        assert_eq!(parts(&chain, 0), [(2, 45), (1, 10)]);
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
