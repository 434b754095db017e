//! Relations between events, as bits.

use std::ops::{BitAnd, BitOr, Sub};

/// A set of events: bit `i` is event `i`.
pub type Events = u128;

/// The largest number of events of an execution.
pub const MOST: usize = 128;

/// A relation between the events of one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Row `i` has the events to which event `i` is related.
    rows: Vec<Events>,
}

impl Relation {
    /// Returns the empty relation between the given number of events.
    ///
    /// # Panics
    ///
    /// If there are more than 128.
    #[must_use]
    pub fn empty(count: usize) -> Self {
        assert!(
            count <= MOST,
            "{count} events, and a relation has {MOST} at most: give fewer accesses"
        );
        Self { rows: vec![0; count] }
    }

    /// Relates two events.
    pub fn add(&mut self, from: usize, to: usize) {
        self.rows[from] |= 1 << to;
    }

    /// Returns whether two events are related.
    #[must_use]
    pub fn has(&self, from: usize, to: usize) -> bool {
        self.rows[from] & 1 << to != 0
    }

    /// Returns the pairs that begin in one set and end in the other.
    #[must_use]
    pub fn between(&self, from: Events, to: Events) -> Self {
        let row = |(i, row): (usize, &Events)| if from & 1 << i == 0 { 0 } else { row & to };
        Self { rows: self.rows.iter().enumerate().map(row).collect() }
    }

    /// Returns the composition of this and `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let row = |row: &Events| bits(*row).fold(0, |all, i| all | next.rows[i]);
        Self { rows: self.rows.iter().map(row).collect() }
    }

    /// Returns the inverse.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut inverse = Self::empty(self.rows.len());
        for (from, row) in self.rows.iter().enumerate() {
            for to in bits(*row) {
                inverse.add(to, from);
            }
        }
        inverse
    }

    /// Returns the reflexive closure.
    #[must_use]
    pub fn or_same(&self) -> Self {
        let row = |(i, row): (usize, &Events)| row | 1 << i;
        Self { rows: self.rows.iter().enumerate().map(row).collect() }
    }

    /// Returns the transitive closure (Warshall's algorithm).
    #[must_use]
    pub fn closure(&self) -> Self {
        let mut rows = self.rows.clone();
        for middle in 0..rows.len() {
            let reached = rows[middle];
            for row in &mut rows {
                if *row & 1 << middle != 0 {
                    *row |= reached;
                }
            }
        }
        Self { rows }
    }

    /// Merges two events: relations of `second` become relations of `first`, and the pair itself is removed.
    pub fn fuse(&mut self, first: usize, second: usize) {
        let row = self.rows[second];
        self.rows[second] = 0;
        self.rows[first] |= row;
        for row in &mut self.rows {
            if *row & 1 << second != 0 {
                *row = *row & !(1 << second) | 1 << first;
            }
        }
        self.rows[first] &= !(1 << first);
    }

    /// Returns whether the relation has no cycle.
    #[must_use]
    pub fn is_acyclic(&self) -> bool {
        // Remove events that lead only to removed events, until all are removed or none can be.
        let mut left: Events = self.all();
        loop {
            let gone =
                bits(left).filter(|&i| self.rows[i] & left == 0).fold(0, |set, i| set | 1 << i);
            if gone == 0 {
                return left == 0;
            }
            left &= !gone;
        }
    }

    /// Returns whether no event is related to itself.
    #[must_use]
    pub fn is_irreflexive(&self) -> bool {
        self.rows.iter().enumerate().all(|(i, row)| row & 1 << i == 0)
    }

    /// Returns all pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.rows.iter().enumerate().flat_map(|(from, row)| bits(*row).map(move |to| (from, to)))
    }

    fn all(&self) -> Events {
        (0..self.rows.len()).fold(0, |set, i| set | 1 << i)
    }

    fn zip(&self, other: &Self, f: impl Fn(Events, Events) -> Events) -> Self {
        Self { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| f(*a, *b)).collect() }
    }
}

/// Returns the numbers of the set bits.
pub fn bits(mut set: Events) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (bit < MOST).then_some(bit)
    })
}

impl BitOr for &Relation {
    type Output = Relation;
    fn bitor(self, other: Self) -> Relation {
        self.zip(other, |a, b| a | b)
    }
}

impl BitOr<&Relation> for Relation {
    type Output = Relation;
    fn bitor(self, other: &Relation) -> Relation {
        &self | other
    }
}

impl BitAnd for &Relation {
    type Output = Relation;
    fn bitand(self, other: Self) -> Relation {
        self.zip(other, |a, b| a & b)
    }
}

impl Sub for &Relation {
    type Output = Relation;
    fn sub(self, other: Self) -> Relation {
        self.zip(other, |a, b| a & !b)
    }
}
