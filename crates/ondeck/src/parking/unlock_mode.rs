//! The word that every unlock of a mutex loads: whether a waiting thread has a request to an unlock.
//!
//! ```text
//!   0 QUIET     no unlock of this bucket has anything to do but its store
//!   ─── the address of a mutex ─── 2 | 1 ─ request ─ 0
//!                                        1 DEBT  its owner left parked threads without an heir:
//!                                                the unlock wakes the oldest
//!                                        2 WAKE  its heir sleeps: the unlock wakes it
//!                                        3 HAND  its heir is overdue: the unlock hands it the lock
//! ```
//!
//! Threads write the word under the bucket's lock and read it without the lock. It is not 0 only while a thread is linked
//! for that mutex. All mutexes of a bucket share one word: an heir that finds it taken by another mutex makes no request
//! (`heir.rs`), and an unlock of another mutex compares the address and returns.
//!
//! The shift drops the two highest bits of an address. Two mutexes that differ in nothing else may mistake each other's
//! request for their own: their unlocks then search the queues by whole addresses, and find nothing to do.

/// No unlock of the bucket has a request to serve.
pub const QUIET: usize = 0;

const REQUEST_BITS: u32 = 2;

/// The request to an unlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Request {
    /// Wake the oldest parked thread, unless a running one has become the heir.
    Debt = 1,
    /// Wake the heir.
    Wake = 2,
    /// Hand the lock to the heir.
    Hand = 3,
}

impl Request {
    /// Returns the word that makes this request to unlocks of the mutex at `address`.
    #[inline]
    pub(crate) fn of(self, address: usize) -> usize {
        address << REQUEST_BITS | self as usize
    }

    /// Returns whether the word, which is not [`QUIET`], has a request to unlocks of the mutex at `address`: for their fast
    /// path.
    #[inline(always)]
    pub(crate) fn is_of(mode: usize, address: usize) -> bool {
        (mode ^ (address << REQUEST_BITS)) < 1 << REQUEST_BITS
    }

    /// Returns the word's request to unlocks of the mutex at `address`.
    #[inline]
    pub(crate) fn read(mode: usize, address: usize) -> Option<Self> {
        let requests = [Self::Debt, Self::Wake, Self::Hand];
        requests.into_iter().find(|request| mode != QUIET && request.of(address) == mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_asks_what_it_was_made_for_of_its_mutex_only() {
        for request in [Request::Debt, Request::Wake, Request::Hand] {
            let mode = request.of(0x1001);
            assert_ne!(mode, QUIET);
            assert_eq!(Request::read(mode, 0x1001), Some(request));
            assert!(Request::is_of(mode, 0x1001));
            assert!([0x1000, 0x1002, 0x1005].iter().all(|&other| !Request::is_of(mode, other)));
            assert_eq!([0x1000, 0x1002, 0x1005].map(|other| Request::read(mode, other)), [None; 3]);
        }
        assert_eq!(Request::read(QUIET, 0), None);
    }
}
