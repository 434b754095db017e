//! The C library's mutex in four of its kinds.
//!
//! Source: glibc, `nptl/pthread_mutex_lock.c`, `pthread_mutex_unlock.c`, `lowlevellock.h`; read at
//! 2.36. It is called as C programs call it, through the dynamic linker's table, not inlined.
//!
//! Teaches: the overhead of a general mutex around Drepper's three states (a kind to branch on, an
//! owner, a count of users), and the overhead of each kind.
//!
//! ```text
//! int lock        0 free · 1 locked · 2 locked, a thread may sleep
//!                 with priority inheritance: thread id | waiters
//! int count       depth, for the recursive kind
//! int owner       thread id
//! int nusers      users, condition variables among them
//! int kind        chosen by the attributes
//! int spins       a running estimate, for the adaptive kind
//! list            links, for robust kinds only, while held
//! ```
//!
//! In a process that never started a thread glibc uses no atomic instructions. To measure the
//! mutex, keep a second thread alive; the 3 ns without one are not the mutex.
//!
//! # The condition variable
//!
//! `pthread_cond_t`, one for all kinds. It has two groups of waiters, an older one that is being
//! woken and a newer one that waits, so that a signal does not reach a thread that began to wait
//! after it. Up to 2.40 it could very rarely lose a signal (glibc bug 25847). With priority
//! inheritance a woken thread acquires the mutex like any other; there is no requeue.
//!
//! # Moving
//!
//! `new` initializes the mutex and then moves it to its final place. POSIX gives meaning to the
//! object where it was initialized, and leaves using a copy of it undefined. In glibc a move is
//! sound while no thread holds or waits for the mutex. `pthread_mutex_init` stores the kind and
//! zeros, and no pointer to the mutex itself. The address counts only as the futex's name, and only
//! while a thread sleeps. No list links a mutex that is not held. A box would follow POSIX to the
//! letter, and cost a cache miss that C programs do not have.
//!
//! # After the unlock
//!
//! Nothing is touched. The wake needs to know whether the mutex is shared between processes. The
//! unlock reads that before the exchange, which is "the last access to the mutex to not violate the
//! mutex destruction requirements" (older versions did violate them: glibc bug 13690). The wake
//! uses the address only.
//!
//! With priority inheritance the uncontended unlock is a compare-exchange. The contended one is the
//! kernel's, which writes the next owner's id into the word and then leaves it alone.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

use ondeck::platform::Native;

use crate::posix::{Object, acquired, check};
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// A mutex of any kind.
type Pthread = Object<libc::pthread_mutex_t>;

fn pthread(kind: c_int, protocol: c_int) -> Pthread {
    let mut attributes = MaybeUninit::uninit();
    let attributes = attributes.as_mut_ptr();
    // SAFETY: the attributes are initialized first and destroyed last, the pointer refers to a
    // local; each failure panics. The file's head argues how the mutex may be moved.
    unsafe {
        posix!(check: pthread_mutexattr_init(attributes));
        posix!(check: pthread_mutexattr_settype(attributes, kind));
        posix!(check: pthread_mutexattr_setprotocol(attributes, protocol));
        let mutex = Object::new(|mutex| posix!(check: pthread_mutex_init(mutex, attributes)));
        posix!(check: pthread_mutexattr_destroy(attributes));
        mutex
    }
}

/// `pthread_cond_t`, the same for every kind of mutex.
#[derive(Debug)]
pub struct GlibcCondvar(Object<libc::pthread_cond_t>);

impl GlibcCondvar {
    fn create() -> Self {
        // SAFETY: a failure panics. All zeros after initialization: it may move until it is used,
        // as a mutex may.
        Self(unsafe {
            Object::new(|condvar| posix!(check: pthread_cond_init(condvar, ptr::null())))
        })
    }
}

macro_rules! glibc_mutexes {
    ($(
        $(#[$doc:meta])*
        $Lock:ident($kind:expr, $protocol:expr) {
            name: $name:literal,
            waiting: $waiting:expr,
            fairness: $fairness:expr,
            source: $source:literal,
            teaches: $teaches:literal,
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $Lock(Pthread);

        // SAFETY, as a lock: POSIX specifies it as a mutex. It leaves open what a second lock by
        // the owner does; glibc's waits for ever, except with the recursive kind.
        raw_lock! {
            unsafe impl RawLock<Native> for $Lock {
                INFO: LockInfo {
                    name: $name,
                    origin: Origin::Peer,
                    waiting: $waiting,
                    fairness: $fairness,
                    condvar: CondvarKind::Own,
                    source: $source,
                    teaches: $teaches,
                    ..LockInfo::USUAL
                },
                IS_REENTRANT: $kind == libc::PTHREAD_MUTEX_RECURSIVE,
                Condvar: GlibcCondvar,
                new: Self(pthread($kind, $protocol)),
                // SAFETY: the mutex is initialized.
                lock: |this, ()| unsafe { posix!(check: pthread_mutex_lock(this.0.get())) },
                // SAFETY: the mutex is initialized.
                try_lock: |this, ()| unsafe { posix!(acquired: pthread_mutex_trylock(this.0.get())) },
                // SAFETY: the mutex is initialized, and held by this thread.
                unlock: |this, ()| unsafe { posix!(check: pthread_mutex_unlock(this.0.get())) },
                // Reads the futex word, which glibc's binary interface keeps first: 0 is free and
                // without waiters in every kind. An attempt would not do, because the owner of a
                // recursive mutex succeeds. SAFETY: the mutex is initialized, larger and more
                // aligned than an `int`.
                is_idle: |this| unsafe { this.0.get().cast::<c_int>().read() == 0 },
            }
        }

        // SAFETY, as a condition variable: POSIX specifies it as one, for a mutex of any kind that
        // is held once.
        raw_condvar! {
            unsafe impl RawCondvar<Native, $Lock> for GlibcCondvar {
                new: Self::create(),
                // SAFETY: both are initialized, and the mutex is held by this thread.
                wait: |this, lock, ()| unsafe {
                    posix!(check: pthread_cond_wait(this.0.get(), lock.0.get()))
                },
                // SAFETY: the condition variable is initialized.
                notify_one: |this| unsafe { posix!(check: pthread_cond_signal(this.0.get())) },
                // SAFETY: as above.
                notify_all: |this| unsafe { posix!(check: pthread_cond_broadcast(this.0.get())) },
            }
        }
    )*};
}

glibc_mutexes! {
    /// `pthread_mutex_t` as `PTHREAD_MUTEX_INITIALIZER` makes it.
    GlibcMutex(libc::PTHREAD_MUTEX_DEFAULT, libc::PTHREAD_PRIO_NONE) {
        name: "glibc",
        waiting: Waiting::Sleeps,
        fairness: Fairness::Barging,
        source: "The GNU C library, pthread_mutex_t of the default kind",
        teaches: "Drepper's three states without a spin, inside a mutex that has to be everything",
    }

    /// `pthread_mutex_t` of the kind `PTHREAD_MUTEX_ADAPTIVE_NP`.
    GlibcAdaptive(libc::PTHREAD_MUTEX_ADAPTIVE_NP, libc::PTHREAD_PRIO_NONE) {
        name: "glibc_adaptive",
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        source: "The GNU C library, pthread_mutex_t, PTHREAD_MUTEX_ADAPTIVE_NP",
        teaches: "A spin of up to twice what earlier ones took, at most 100 polls, before the sleep",
    }

    /// `pthread_mutex_t` with `PTHREAD_PRIO_INHERIT`.
    ///
    /// The kernel hands off to the waiter of the highest priority, and among equals to the first
    /// one.
    GlibcPi(libc::PTHREAD_MUTEX_DEFAULT, libc::PTHREAD_PRIO_INHERIT) {
        name: "glibc_pi",
        waiting: Waiting::Sleeps,
        fairness: Fairness::Priority,
        source: "The GNU C library, pthread_mutex_t, PTHREAD_PRIO_INHERIT",
        teaches: "Every contended pair is two system calls and a handoff to a sleeping thread",
    }

    /// `pthread_mutex_t` of the kind `PTHREAD_MUTEX_RECURSIVE`.
    GlibcRecursive(libc::PTHREAD_MUTEX_RECURSIVE, libc::PTHREAD_PRIO_NONE) {
        name: "glibc_recursive",
        waiting: Waiting::Sleeps,
        fairness: Fairness::Barging,
        source: "The GNU C library, pthread_mutex_t, PTHREAD_MUTEX_RECURSIVE",
        teaches: "What it costs to know the owner and to count, beside the default kind",
    }
}
