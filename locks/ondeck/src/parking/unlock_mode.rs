//! The word that every unlock of a mutex loads: whether a waiting thread has a request to an
//! unlock.
//!
//! ```text
//!   0 QUIET     no unlock of this bucket has anything to do but its store
//!   all ones    FULL: more mutexes have a request than the word has entries
//!
//!   63 ── entry ── 48 | 47 ── entry ── 32 | 31 ── entry ── 16 | 15 ── entry ── 0     (two entries where words have 32 bits)
//!
//!   an entry    0: none
//!               15 ── tag of a mutex ── 2 | 1 ── request ── 0
//!                     1 DEBT  its owner left parked threads without an heir: the unlock wakes the oldest
//!                     2 WAKE  its heir waits to be woken: the unlock wakes it
//!                     3 OFFER its heir is overdue: the unlock offers it the lock
//! ```
//!
//! Threads write the word under the bucket's lock and read it without the lock. The queue of a
//! mutex has the request itself (`node.rs`); the word only sends unlocks there. So neighbours in a
//! bucket take no request from each other, and two mutexes with the same tag cost each other a
//! search that finds nothing.

use super::{BUCKET_BITS, hash_of};

/// No unlock of the bucket has a request to serve.
pub const QUIET: usize = 0;

/// Each unlock of the bucket has to search.
const FULL: usize = usize::MAX;

const ENTRY_BITS: u32 = 16;
const ENTRY: usize = (1 << ENTRY_BITS) - 1;

/// The bits of an entry that are its request.
const REQUEST: usize = 3;

/// The request to an unlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Request {
    /// Wake the oldest parked thread, unless a running one has become the heir.
    Debt = 1,
    /// Wake the heir.
    Wake = 2,
    /// Offer the lock to the heir.
    Offer = 3,
}

impl Request {
    /// Returns the request that the word may have to unlocks of the mutex at `address`. If another
    /// mutex has the same tag, it is the one that asks for more.
    pub(crate) fn read(mode: usize, address: usize) -> Option<Self> {
        if mode == FULL {
            return Some(Self::Offer);
        }
        let entries = shifts().map(|shift| mode >> shift & ENTRY);
        let own = entries.filter(|entry| entry & !REQUEST == tag(address));
        let request = own.max()? & REQUEST;
        [Self::Debt, Self::Wake, Self::Offer].into_iter().find(|&known| known as usize == request)
    }

    /// Returns the word with this request to unlocks of the mutex at `address` added.
    pub(super) fn added(self, mode: usize, address: usize) -> usize {
        let free = shifts().find(|shift| mode >> shift & ENTRY == 0);
        free.map_or(FULL, |shift| mode | (tag(address) | self as usize) << shift)
    }

    /// Returns the word without this request to unlocks of the mutex at `address`, or `None` if the
    /// word is full.
    pub(super) fn removed(self, mode: usize, address: usize) -> Option<usize> {
        let entry = tag(address) | self as usize;
        let own = shifts().find(|shift| mode >> shift & ENTRY == entry);
        (mode != FULL).then(|| own.map_or(mode, |shift| mode & !(ENTRY << shift)))
    }
}

/// Returns the tag of the mutex at `address`, in its place in an entry: the bits of the hash after
/// those that choose the bucket.
fn tag(address: usize) -> usize {
    (hash_of(address) << BUCKET_BITS >> (u64::BITS - ENTRY_BITS)) as usize & !REQUEST
}

/// Returns the places of the word's entries.
fn shifts() -> impl Iterator<Item = u32> {
    (0..usize::BITS).step_by(ENTRY_BITS as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Request; 3] = [Request::Debt, Request::Wake, Request::Offer];
    const ADDRESSES: [usize; 5] = [0x1001, 0x1000, 0x1002, 0x1005, 0x7fff_0000_1001];

    #[test]
    fn a_word_has_the_request_that_was_added_for_its_mutex_only() {
        for request in ALL {
            let mode = request.added(QUIET, ADDRESSES[0]);
            let found = ADDRESSES.map(|address| Request::read(mode, address));
            assert_eq!(found, [Some(request), None, None, None, None]);
            assert_eq!(request.removed(mode, ADDRESSES[0]), Some(QUIET));
        }
        assert_eq!(Request::read(QUIET, 0), None);
    }

    #[test]
    fn neighbours_keep_their_requests_and_a_full_word_sends_every_unlock_to_search() {
        let entries = shifts().count();
        let (within, beyond) = (&ADDRESSES[..entries], ADDRESSES[entries]);
        let mode = within.iter().fold(QUIET, |mode, &address| Request::Wake.added(mode, address));
        assert!(within.iter().all(|&it| Request::read(mode, it) == Some(Request::Wake)));
        assert_eq!(Request::read(mode, beyond), None);
        let one_less = Request::Wake.removed(mode, within[1]).unwrap();
        assert_eq!(Request::read(one_less, within[1]), None);
        assert_eq!(Request::read(one_less, within[0]), Some(Request::Wake));
        let full = Request::Debt.added(mode, beyond);
        assert!(ADDRESSES.iter().all(|&it| Request::read(full, it) == Some(Request::Offer)));
        assert_eq!(Request::Debt.removed(full, beyond), None);
    }

    #[test]
    fn of_two_mutexes_with_one_tag_each_finds_the_request_that_asks_for_more() {
        let mode = Request::Offer.added(Request::Debt.added(QUIET, 0x1001), 0x1001);
        assert_eq!(Request::read(mode, 0x1001), Some(Request::Offer));
        let mode = Request::Offer.removed(mode, 0x1001).unwrap();
        assert_eq!(Request::read(mode, 0x1001), Some(Request::Debt));
    }
}
