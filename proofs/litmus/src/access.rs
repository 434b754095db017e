//! A thread at the level of its source.

pub use std::sync::atomic::Ordering;

/// One access of a thread, with the value that it read or wrote, and its ordering in the C++20 model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant says what its fields are")]
pub enum Access {
    /// A load that returned `value`.
    Load { location: usize, value: u64, order: Ordering },
    /// A store.
    Store { location: usize, value: u64, order: Ordering },
    /// A read-modify-write that found `read` and wrote `written`.
    Modify { location: usize, read: u64, written: u64, order: Ordering },
    /// A fence.
    Fence { order: Ordering },
    /// A light fence, which is no instruction on the machine.
    Light,
    /// A heavy fence: a full fence of the caller, and of each other thread at some point during it.
    Heavy,
}

impl Access {
    /// Returns the location, if it is an access to memory.
    #[must_use]
    pub fn location(&self) -> Option<usize> {
        match *self {
            Self::Load { location, .. }
            | Self::Store { location, .. }
            | Self::Modify { location, .. } => Some(location),
            Self::Fence { .. } | Self::Light | Self::Heavy => None,
        }
    }

    /// Returns whether it writes memory.
    #[must_use]
    pub fn writes(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::Modify { .. })
    }

    /// Returns whether it reads memory.
    #[must_use]
    pub fn reads(&self) -> bool {
        matches!(self, Self::Load { .. } | Self::Modify { .. })
    }

    /// Returns the access with one part of its ordering removed, in each possible way: the mutations of a mutant.
    /// Returns no access if it orders nothing. A fence becomes `None`, which means that it is removed.
    #[must_use]
    pub fn weaker(&self) -> Vec<Option<Self>> {
        let orders = |order| match order {
            Ordering::SeqCst => vec![Ordering::AcqRel],
            Ordering::AcqRel => vec![Ordering::Acquire, Ordering::Release],
            Ordering::Acquire | Ordering::Release => vec![Ordering::Relaxed],
            _ => vec![],
        };
        let with = |make: &dyn Fn(Ordering) -> Self, order| {
            orders(order).into_iter().map(|order| Some(make(order))).collect()
        };
        match *self {
            Self::Load { location, value, order } => {
                with(&|order| Self::Load { location, value, order }, order)
            }
            Self::Store { location, value, order } => {
                with(&|order| Self::Store { location, value, order }, order)
            }
            Self::Modify { location, read, written, order } => {
                with(&|order| Self::Modify { location, read, written, order }, order)
            }
            Self::Fence { .. } | Self::Heavy => vec![None],
            Self::Light => vec![],
        }
    }
}

/// Returns the threads with one access weakened, in each possible way: thread, place, and the threads.
#[must_use]
pub fn weaken(threads: &[Vec<Access>]) -> Vec<(usize, usize, Vec<Vec<Access>>)> {
    let mut all = Vec::new();
    for (thread, accesses) in threads.iter().enumerate() {
        for (place, access) in accesses.iter().enumerate() {
            for weaker in access.weaker() {
                let mut mutant = threads.to_vec();
                mutant[thread].splice(place..=place, weaker);
                all.push((thread, place, mutant));
            }
        }
    }
    all
}
