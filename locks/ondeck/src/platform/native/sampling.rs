//! A random choice in each thread, for work that is due now and then.

use core::ptr;

use super::thread::Word;
use super::ticks;

/// See [`Host::once_in`](crate::platform::Host::once_in).
#[inline]
pub(super) fn once_in(count: u32) -> bool {
    // The state of the thread's generator; 0 before its first use.
    let before = match Word::Random.get() as u32 {
        0 => seed(),
        before => before,
    };
    // Not a count: threads that alternate between two locks would never choose one of them. A
    // linear congruential generator (Knuth, volume 2, section 3.3.4, line 16), of which the high
    // bits are the good ones.
    let next = before.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    Word::Random.set(next.into());
    (next >> 12).is_multiple_of(count)
}

/// Returns the seed of the calling thread's generator, a different one in each thread. If all began
/// alike, threads that end before the first choice would never make one, whatever their number.
///
/// It comes from the stack's address, for threads that begin together, and from the time, for
/// threads that get the stack of an ended thread.
#[cold]
fn seed() -> u32 {
    /// From the golden ratio, as for the buckets: spreads differences in low bits over the high
    /// ones.
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let on_stack = 0_u8;
    let own = ptr::from_ref(&on_stack).addr() as u64;
    (own.wrapping_mul(GOLDEN).wrapping_add(ticks::read()).wrapping_mul(GOLDEN) >> u32::BITS) as u32
}
