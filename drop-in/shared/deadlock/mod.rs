//! What the locks tell the detection of deadlocks, and nothing at all without the feature.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | how a lock is taken, given up and waited for: what locks call |
//! | `registry.rs` | which thread holds and awaits what |
//! | `graph.rs` | which threads wait for each other in a circle |
//! | `check.rs` | what programs call |

#[cfg(feature = "deadlock_detection")]
mod check;
#[cfg(feature = "deadlock_detection")]
mod graph;
#[cfg(feature = "deadlock_detection")]
mod registry;

#[cfg(feature = "deadlock_detection")]
pub use check::{DeadlockedThread, check_deadlock};

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "deadlock_detection"), allow(dead_code, reason = "only named"))]
pub(crate) enum Held {
    /// Beside other readers.
    Read,
    /// Beside readers, and by one thread only.
    Upgradable,
    /// Alone: a writer, the owner of a mutex, the thread that runs the closure of a once.
    Alone,
}

/// How a thread wants a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "deadlock_detection"), allow(dead_code, reason = "only named"))]
pub(crate) enum Want {
    /// To read, after writers that wait.
    Read,
    /// To read, before writers that wait.
    Recursive,
    /// To read, and perhaps to write later.
    Upgradable,
    /// To write, from an upgradable read.
    Upgrade,
    /// To have it alone.
    Alone,
}

/// Whether a wait ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "deadlock_detection"), allow(dead_code, reason = "only named"))]
pub(crate) enum Ends {
    Never,
    AtADeadline,
}

impl Want {
    /// How the lock is held after it was had.
    #[cfg(feature = "deadlock_detection")]
    fn held(self) -> Held {
        match self {
            Self::Read | Self::Recursive => Held::Read,
            Self::Upgradable => Held::Upgradable,
            Self::Upgrade | Self::Alone => Held::Alone,
        }
    }
}

/// Takes the lock at `key`: by `attempt`, or else by `block`; says whether that succeeded.
///
/// Without the feature it is `block` alone, which makes an attempt first itself.
#[inline(always)]
pub(crate) fn acquire(
    key: usize,
    want: Want,
    ends: Ends,
    attempt: impl FnOnce() -> bool,
    block: impl FnOnce() -> bool,
) -> bool {
    #[cfg(feature = "deadlock_detection")]
    {
        let has = attempt() || registry::waits(key, want, ends, block);
        if has {
            acquired(key, want);
        }
        has
    }
    #[cfg(not(feature = "deadlock_detection"))]
    {
        let _ = (key, want, ends, attempt);
        block()
    }
}

/// Takes the lock at `key` if `attempt` does; says whether it did.
#[inline(always)]
pub(crate) fn try_acquire(key: usize, want: Want, attempt: impl FnOnce() -> bool) -> bool {
    let has = attempt();
    if has {
        acquired(key, want);
    }
    has
}

/// The calling thread has taken the lock at `key`.
#[inline(always)]
pub(crate) fn acquired(key: usize, want: Want) {
    #[cfg(feature = "deadlock_detection")]
    registry::holds(key, want.held());
    #[cfg(not(feature = "deadlock_detection"))]
    let _ = (key, want);
}

/// The calling thread is about to give the lock at `key` up.
#[inline(always)]
pub(crate) fn releases(key: usize, held: Held) {
    #[cfg(feature = "deadlock_detection")]
    registry::gives_up(key, held);
    #[cfg(not(feature = "deadlock_detection"))]
    let _ = (key, held);
}

/// The calling thread holds the lock at `key` in another way from now on.
#[inline(always)]
pub(crate) fn changes(key: usize, from: Held, to: Held) {
    #[cfg(feature = "deadlock_detection")]
    {
        registry::holds(key, to);
        registry::gives_up(key, from);
    }
    #[cfg(not(feature = "deadlock_detection"))]
    let _ = (key, from, to);
}

/// The calling thread waits no more: it runs the closure of the once at `key`.
#[inline(always)]
pub(crate) fn turn_has_come(key: usize) {
    #[cfg(feature = "deadlock_detection")]
    {
        registry::waits_no_more();
        registry::holds(key, Held::Alone);
    }
    #[cfg(not(feature = "deadlock_detection"))]
    let _ = key;
}

/// Runs `block`, which waits for the lock at `key` until it could be had, without taking it.
#[inline(always)]
pub(crate) fn waits<T>(key: usize, want: Want, ends: Ends, block: impl FnOnce() -> T) -> T {
    #[cfg(feature = "deadlock_detection")]
    {
        registry::waits(key, want, ends, block)
    }
    #[cfg(not(feature = "deadlock_detection"))]
    {
        let _ = (key, want, ends);
        block()
    }
}
