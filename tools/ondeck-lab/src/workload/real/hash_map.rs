//! A hash map in stripes with open addressing, each stripe with a lock.
//!
//! Nine of ten operations look a key up, the tenth adds one to its value. Each stripe has its own
//! cache lines. With one stripe all threads want the same lock, for the same data.

use fastrand::Rng;

use super::mixed;
use crate::workload::gaps::{self, Gaps};
use crate::workload::guarded::Held;
use crate::workload::prelude::*;

/// Places of all stripes; half of them are in use when every key is there.
const PLACES: usize = 8_192;

const KEYS: u64 = PLACES as u64 / 2;

/// One operation in this number writes.
const WRITES: u32 = 10;

/// A key, 0 if there is none, and its value.
type Place = (u64, u64);

/// One of `STRIPES` stripes.
struct Stripe<const STRIPES: usize> {
    places: Box<[Place]>,
}

impl<const STRIPES: usize> Stripe<STRIPES> {
    const PLACES: usize = PLACES / STRIPES;

    fn new() -> Self {
        Self { places: vec![(0, 0); Self::PLACES].into() }
    }

    /// The place of the key, or an empty place for it.
    fn find(&mut self, key: u64, hash: u64) -> Option<&mut Place> {
        let first = hash as usize % Self::PLACES;
        let place = (first..first + Self::PLACES)
            .map(|place| place % Self::PLACES)
            .find(|&place| [0, key].contains(&self.places[place].0))?;
        Some(&mut self.places[place])
    }

    fn get(&mut self, key: u64, hash: u64) -> u64 {
        self.find(key, hash).map_or(0, |place| place.1)
    }

    fn add(&mut self, key: u64, hash: u64) {
        if let Some(place) = self.find(key, hash) {
            *place = (key, place.1 + 1);
        }
    }
}

/// The key's stripe, and the start of the search in it.
fn place<const STRIPES: usize>(key: u64) -> (usize, u64) {
    let hash = mixed(key);
    (hash as usize % STRIPES, hash / STRIPES as u64)
}

pub(super) fn round<const STRIPES: usize>(given: &Round, lock: AnyMutex<Native>) -> Sampled {
    let stripe = |_| Guarded::<_, Stripe<STRIPES>>::new(lock, Stripe::new());
    let map: [_; STRIPES] = std::array::from_fn(stripe);
    let (shared, outcome) = given.timed::<Native, _, _>(map, |member, map| {
        let mut context = map[0].context();
        let mut rng = Rng::with_seed(member.index as u64);
        let (mut added, mut sum) = (0_u64, 0_u64);
        member.start()?;
        let mut gaps = Gaps::begin::<Native>();
        let operation = || {
            let key = rng.u64(1..=KEYS);
            let (stripe, hash) = place::<STRIPES>(key);
            let stripe = &map[stripe];
            if rng.u32(0..WRITES) == 0 {
                stripe.with(&mut context, |stripe| stripe.add(key, hash));
                added += 1;
            } else {
                sum = sum.wrapping_add(stripe.with(&mut context, |stripe| stripe.get(key, hash)));
            }
        };
        member.repeat(operation, |()| gaps.done::<Native>());
        std::hint::black_box(sum);
        Some((added, gaps.end::<Native>()))
    })?;
    let mut context = shared[0].context();
    let values = |stripe: &mut Held<'_, _, Stripe<STRIPES>, 0>| {
        stripe.places.iter().map(|place| place.1).sum::<u64>()
    };
    let held = shared.iter().map(|stripe| stripe.with(&mut context, values)).sum();
    audit::balance("additions", held, outcome.results.iter().map(|(added, _)| added).sum())?;
    let gaps = outcome.results.iter().map(|&(_, gap)| gap);
    Ok(gaps::with::<Native>(Sample::of_outcome(&outcome), gaps))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps_every_value<const STRIPES: usize>() {
        let mut stripes: Vec<_> = (0..STRIPES).map(|_| Stripe::<STRIPES>::new()).collect();
        for key in (1..=KEYS).chain(1..=KEYS / 2) {
            let (stripe, hash) = place::<STRIPES>(key);
            stripes[stripe].add(key, hash);
        }
        for key in 1..=KEYS {
            let (stripe, hash) = place::<STRIPES>(key);
            let expected = if key <= KEYS / 2 { 2 } else { 1 };
            assert_eq!(stripes[stripe].get(key, hash), expected, "{key}");
        }
    }

    #[test]
    fn every_key_has_a_place_and_keeps_its_value() {
        keeps_every_value::<1>();
        keeps_every_value::<16>();
    }
}
