//! Kinds of locks.

use ondeck_record::layout::kind;
use serde::Serialize;

/// The kind of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A `pthread_mutex_t` of the default kind.
    Default,
    /// A recursive `pthread_mutex_t`.
    Recursive,
    /// An error-checking `pthread_mutex_t`.
    Errorcheck,
    /// An adaptive `pthread_mutex_t`.
    Adaptive,
    /// A mutex of the crate `ondeck`.
    Ondeck,
    /// A `pthread_rwlock_t`.
    Rwlock,
    /// An observed `pthread_mutex_t` or `mtx_t`.
    Pthread,
    /// An observed `pthread_rwlock_t`.
    PthreadRwlock,
    /// An observed `pthread_cond_t` or `cnd_t`.
    Condvar,
    /// An observed `sem_t`.
    Semaphore,
    /// An observed `pthread_barrier_t`.
    Barrier,
    /// An observed futex of Rust's standard library.
    Std,
    /// Of parking_lot.
    ParkingLot,
    /// Of usync.
    Usync,
    /// Of saa.
    Saa,
    /// Of abseil.
    Abseil,
    /// Of oneTBB.
    Tbb,
    /// Of Go's runtime and its package sync.
    Go,
    /// Of musl.
    Musl,
    /// Of code that is in no library of locks known here.
    Futex,
    /// Calls of sched_yield(2) by such code.
    Yield,
    /// A kind that this version does not know.
    Unknown,
}

impl Kind {
    pub(crate) fn of(number: u32) -> Self {
        match number {
            kind::DEFAULT => Self::Default,
            kind::RECURSIVE => Self::Recursive,
            kind::ERRORCHECK => Self::Errorcheck,
            kind::ADAPTIVE => Self::Adaptive,
            kind::ONDECK => Self::Ondeck,
            kind::RWLOCK => Self::Rwlock,
            kind::OBSERVED_MUTEX => Self::Pthread,
            kind::OBSERVED_RWLOCK => Self::PthreadRwlock,
            kind::CONDVAR => Self::Condvar,
            kind::SEMAPHORE => Self::Semaphore,
            kind::BARRIER => Self::Barrier,
            kind::FUTEX => Self::Futex,
            kind::YIELD => Self::Yield,
            _ => Self::Unknown,
        }
    }

    /// Returns whether an object of POSIX threads is one at which threads wait for a notification.
    pub(crate) fn is_notice(self) -> bool {
        matches!(self, Self::Condvar | Self::Semaphore | Self::Barrier)
    }

    /// Returns whether the lock is the program's own, and was observed.
    pub fn is_observed(self) -> bool {
        !matches!(
            self,
            Self::Default
                | Self::Recursive
                | Self::Errorcheck
                | Self::Adaptive
                | Self::Ondeck
                | Self::Rwlock
                | Self::Unknown
        )
    }

    /// Returns a word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Recursive => "recursive",
            Self::Errorcheck => "errorcheck",
            Self::Adaptive => "adaptive",
            Self::Ondeck => "ondeck",
            Self::Rwlock => "rwlock",
            Self::Pthread => "pthread",
            Self::PthreadRwlock => "pthread rwlock",
            Self::Condvar => "pthread cond",
            Self::Semaphore => "semaphore",
            Self::Barrier => "barrier",
            Self::Std => "std",
            Self::ParkingLot => "parking_lot",
            Self::Usync => "usync",
            Self::Saa => "saa",
            Self::Abseil => "abseil",
            Self::Tbb => "tbb",
            Self::Go => "Go",
            Self::Musl => "musl",
            Self::Futex => "futex",
            Self::Yield => "yield",
            Self::Unknown => "unknown",
        }
    }
}
