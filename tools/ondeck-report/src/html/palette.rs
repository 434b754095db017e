//! The colour of each lock, the same in every figure of a report.

use std::collections::BTreeMap;

use ondeck_lab::results::{Origin, Report};
use ondeck_lab::workload::NO_LOCK;
use ondeck_text::ink::Ink;

use crate::data;

/// The colours of locks, the same in every figure of a report.
#[derive(Clone, Debug)]
pub struct Palette {
    slots: BTreeMap<String, usize>,
}

impl Palette {
    /// Gives every lock of a report its slot: first this project's own, then peers, then the rest,
    /// each in the order of the series.
    pub fn new(report: &Report) -> Self {
        let peer = Origin::Peer.to_string();
        let is_peer =
            |name: &str| report.locks.iter().any(|row| row.name == name && row.origin == peer);
        let mut locks = data::locks(&report.series.iter().collect::<Vec<_>>());
        locks.sort_by_key(|name| match *name {
            own if is_own(own) => 0,
            NO_LOCK => 3,
            other => 2 - u8::from(is_peer(other)),
        });
        let slots = locks.into_iter().enumerate().map(|(slot, name)| (name.to_owned(), slot));
        Palette { slots: slots.collect() }
    }

    /// The slot of a lock; the one after the last for a lock that the report does not have.
    pub fn slot(&self, lock: &str) -> usize {
        self.slots.get(lock).copied().unwrap_or(self.slots.len())
    }

    /// The ink of a lock.
    pub fn ink(&self, lock: &str) -> Ink {
        Ink::Series(self.slot(lock))
    }

    /// Every lock in the order of the slots.
    pub fn locks(&self) -> Vec<&str> {
        let mut locks: Vec<(&str, usize)> =
            self.slots.iter().map(|(lock, slot)| (lock.as_str(), *slot)).collect();
        locks.sort_by_key(|(_, slot)| *slot);
        locks.into_iter().map(|(lock, _)| lock).collect()
    }
}

/// Whether a lock is this project's own.
pub fn is_own(lock: &str) -> bool {
    lock.starts_with("ondeck")
}
