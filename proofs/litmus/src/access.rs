//! A thread as its source says it.

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
    /// A light fence that is nothing on the machine.
    Light,
    /// A heavy fence: a full one of the caller, and of each other thread somewhere meanwhile.
    Heavy,
}

impl Access {
    /// The location, if it is an access to memory.
    #[must_use]
    pub fn location(&self) -> Option<usize> {
        match *self {
            Self::Load { location, .. }
            | Self::Store { location, .. }
            | Self::Modify { location, .. } => Some(location),
            Self::Fence { .. } | Self::Light | Self::Heavy => None,
        }
    }

    /// Whether it writes memory.
    #[must_use]
    pub fn writes(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::Modify { .. })
    }

    /// Whether it reads memory.
    #[must_use]
    pub fn reads(&self) -> bool {
        matches!(self, Self::Load { .. } | Self::Modify { .. })
    }

    /// The same with one part of its ordering less, in each way that there is: what a mutant is made of. None if it
    /// orders nothing. A fence becomes `None`: it is gone.
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

/// The threads with one access weakened, in each way that there is: thread, place, and the threads.
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
