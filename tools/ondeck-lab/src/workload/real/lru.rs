//! A cache of the most recently used entries, guarded by one lock.
//!
//! 1,024 entries for 4,096 keys, of which small ones are requested more often. A hit moves the
//! entry to the front of a list. A miss computes the value outside of the lock and replaces the
//! least recently used entry. So a lookup writes, which is why such caches have a mutex.

use fastrand::Rng;

use super::mixed;
use crate::workload::gaps::{self, Gaps};
use crate::workload::prelude::*;

const ENTRIES: usize = 1_024;
const KEYS: usize = 4_096;

/// No entry, or no key.
const NONE: u16 = u16::MAX;

/// Entries in a ring by use, and for each key the place of its entry.
struct Cache {
    entry_of: Box<[u16; KEYS]>,
    entries: Box<[Entry; ENTRIES]>,
    /// The most recently used entry; its `newer` is the least recently used one.
    newest: u16,
    hits: u64,
    misses: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    key: u16,
    newer: u16,
    older: u16,
    value: u64,
}

impl Cache {
    fn new() -> Self {
        let around = |index: usize| (index % ENTRIES) as u16;
        let entry = |index: usize| Entry {
            key: NONE,
            newer: around(index + ENTRIES - 1),
            older: around(index + 1),
            value: 0,
        };
        Self {
            entry_of: Box::new([NONE; KEYS]),
            entries: Box::new(std::array::from_fn(entry)),
            newest: 0,
            hits: 0,
            misses: 0,
        }
    }

    /// Returns the value of a key that is in the cache.
    fn get(&mut self, key: u16) -> Option<u64> {
        let index = self.entry_of[usize::from(key)];
        if index == NONE {
            self.misses += 1;
            return None;
        }
        self.hits += 1;
        self.touch(index);
        Some(self.entries[usize::from(index)].value)
    }

    /// Inserts a value; another thread may have done so in between.
    fn put(&mut self, key: u16, value: u64) {
        let index = match self.entry_of[usize::from(key)] {
            NONE => self.entries[usize::from(self.newest)].newer,
            known => known,
        };
        self.touch(index);
        let entry = &mut self.entries[usize::from(index)];
        let former = std::mem::replace(&mut entry.key, key);
        entry.value = value;
        if former != NONE {
            self.entry_of[usize::from(former)] = NONE;
        }
        self.entry_of[usize::from(key)] = index;
    }

    /// Makes an entry the newest.
    fn touch(&mut self, index: u16) {
        if index == self.newest {
            return;
        }
        let Entry { newer, older, .. } = self.entries[usize::from(index)];
        self.entries[usize::from(newer)].older = older;
        self.entries[usize::from(older)].newer = newer;
        let second = self.newest;
        let oldest = self.entries[usize::from(second)].newer;
        self.entries[usize::from(second)].newer = index;
        self.entries[usize::from(oldest)].older = index;
        let entry = &mut self.entries[usize::from(index)];
        (entry.newer, entry.older) = (oldest, second);
        self.newest = index;
    }

    /// The number of entries that can be reached in either direction before the ring closes, each
    /// once and with the key that leads to it.
    fn sound(&self) -> u64 {
        let mut index = self.newest;
        let mut count = 0;
        for _ in 0..ENTRIES {
            let entry = self.entries[usize::from(index)];
            let back = self.entries[usize::from(entry.older)].newer == index;
            let known = entry.key == NONE || self.entry_of[usize::from(entry.key)] == index;
            count += u64::from(back && known);
            index = entry.older;
        }
        if index == self.newest { count } else { 0 }
    }
}

pub(super) fn round(given: &Round, lock: AnyMutex<Native>) -> Sampled {
    let cache = Guarded::<_, Cache>::new(lock, Cache::new());
    let (shared, outcome) = given.timed::<Native, _, _>(cache, |member, cache| {
        let mut context = cache.context();
        let mut rng = Rng::with_seed(member.index as u64);
        let mut right = 0;
        member.start()?;
        let mut gaps = Gaps::begin::<Native>();
        let look_up = || {
            let key = key(&mut rng);
            let expected = mixed(u64::from(key));
            let value = cache.with(&mut context, |cache| cache.get(key)).unwrap_or_else(|| {
                cache.with(&mut context, |cache| cache.put(key, expected));
                expected
            });
            right += u64::from(value == expected);
        };
        member.repeat(look_up, |()| gaps.done::<Native>());
        Some((right, gaps.end::<Native>()))
    })?;
    let right = outcome.results.iter().map(|(right, _)| right).sum();
    let (lookups, sound) =
        shared.with(&mut shared.context(), |cache| (cache.hits + cache.misses, cache.sound()));
    audit::balance("lookups", lookups, outcome.total_pairs())?;
    audit::balance("right values", outcome.total_pairs(), right)?;
    audit::balance("entries in their places", ENTRIES as u64, sound)?;
    let gaps = outcome.results.iter().map(|&(_, gap)| gap);
    Ok(gaps::with::<Native>(Sample::of_outcome(&outcome), gaps))
}

/// Prefers small keys: the lesser of two numbers.
fn key(rng: &mut Rng) -> u16 {
    rng.usize(0..KEYS).min(rng.usize(0..KEYS)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_that_was_not_used_for_longest_goes() {
        let mut cache = Cache::new();
        for key in 0..ENTRIES as u16 {
            assert_eq!(cache.get(key), None);
            cache.put(key, u64::from(key) + 7);
        }
        assert_eq!(cache.get(0), Some(7));
        cache.put(2_000, 9);
        assert_eq!((cache.get(0), cache.get(1), cache.get(2_000)), (Some(7), None, Some(9)));
        assert_eq!(cache.sound(), ENTRIES as u64);
    }

    #[test]
    fn a_ring_with_a_wrong_link_is_not_sound() {
        let mut cache = Cache::new();
        cache.entries[5].older = 9;
        assert!(cache.sound() < ENTRIES as u64);
    }
}
