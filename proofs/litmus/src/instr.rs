//! A thread at the level of a machine.

use crate::Ordering;

/// The accesses that a barrier orders: loads, stores, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// Whether loads are included.
    pub reads: bool,
    /// Whether stores are included.
    pub writes: bool,
}

impl Set {
    /// Nothing.
    pub const NONE: Self = Self { reads: false, writes: false };
    /// Loads.
    pub const R: Self = Self { reads: true, writes: false };
    /// Stores.
    pub const W: Self = Self { reads: false, writes: true };
    /// Loads and stores.
    pub const RW: Self = Self { reads: true, writes: true };
}

/// How a load acquires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquire {
    /// Not at all.
    No,
    /// It is ordered before all later accesses: LDAPR. Such a load may be ordered before an earlier release store.
    Processor,
    /// The same, and it stays after earlier release stores: LDAR, `lr.aq`.
    Consistent,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant says what its fields are")]
pub enum Instr {
    /// A load that returned `value`.
    Read { location: usize, value: u64, acquire: Acquire },
    /// A store.
    Write { location: usize, value: u64, release: bool },
    /// A read-modify-write; `single` if it is one instruction, and not a loop of an exclusive load and store.
    Modify {
        location: usize,
        read: u64,
        written: u64,
        acquire: Acquire,
        release: bool,
        single: bool,
    },
    /// A barrier between the accesses in `before` and in `after`. `order` is for the C++ model, which has no such
    /// sets.
    Barrier { before: Set, after: Set, order: Ordering },
    /// See [`Access::Heavy`](crate::Access::Heavy).
    Heavy,
}

impl Instr {
    /// A barrier between all accesses.
    pub const FULL: Self =
        Self::Barrier { before: Set::RW, after: Set::RW, order: Ordering::SeqCst };

    /// Returns whether it accesses memory.
    #[must_use]
    pub fn is_access(&self) -> bool {
        matches!(self, Self::Read { .. } | Self::Write { .. } | Self::Modify { .. })
    }
}
