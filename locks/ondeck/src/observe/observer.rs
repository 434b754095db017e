//! The events of locks that an observer is called for, and pairs of observers.

use core::ffi::CStr;
#[cfg(any(feature = "deadlock_detection", feature = "stats"))]
use core::ffi::c_char;
#[cfg(any(feature = "deadlock_detection", feature = "stats"))]
use core::ptr;
#[cfg(feature = "deadlock_detection")]
use core::sync::atomic::AtomicUsize;
#[cfg(any(feature = "deadlock_detection", feature = "stats"))]
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::platform::Platform;

/// The kinds of locks that are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "a system may not have all of them")]
pub enum Kind {
    /// A [`Mutex`](crate::Mutex), also a [`ReentrantMutex`](crate::ReentrantMutex), which is one
    /// with a count.
    Mutex,
    /// A [`FairMutex`](crate::FairMutex).
    FairMutex,
    /// A `PiMutex`.
    PiMutex,
    /// A [`RwLock`](crate::RwLock).
    RwLock,
    /// A [`Once`](crate::Once), held by the thread that runs its closure.
    Once,
    /// A semaphore of C, of which only waits are observed.
    Semaphore,
}

#[cfg(any(feature = "stats", feature = "internals"))]
impl Kind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Mutex, Self::FairMutex, Self::PiMutex, Self::RwLock, Self::Once, Self::Semaphore];
}

#[cfg(any(feature = "stats", feature = "internals"))]
impl core::fmt::Display for Kind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self, f)
    }
}

/// Where the guards of a lock are from, and whether they stay with their thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Guards {
    /// Those of this crate: they stay with their thread.
    Own,
    /// Those of another package, which stay with their thread. A thread that locks a mutex twice
    /// waits forever, as with the lock that it replaces.
    #[cfg(feature = "internals")]
    Wrapped,
    /// Those of another package, which any thread may drop.
    Movable,
}

/// How a thread wants a lock, or holds it.
#[derive(Clone, Copy)]
pub enum Access {
    /// Exclusively: a writer, the owner of a mutex, the thread that runs the closure of a once.
    Alone,
    /// Shared with other readers.
    Read,
    /// Wanted before waiting writers; held as `Read`.
    ReadRecursive,
    /// Shared with readers, and alone in being able to become a writer.
    Upgradable,
    /// Wanted by a thread that holds it as `Upgradable`; held as `Alone`.
    Upgrade,
}

/// What observers keep in a lock; empty in builds that need nothing of it.
pub struct Place {
    /// The lock's name; null if it has none, so that a lock of zeros is one.
    #[cfg(any(feature = "deadlock_detection", feature = "stats"))]
    name: AtomicPtr<c_char>,
    /// The address at which the lock was last observed.
    ///
    /// What is known about an address is another lock's if the lock there has another address in
    /// its note. A destructor could tell of a lock's end, but a const function cannot drop what has
    /// one.
    #[cfg(feature = "deadlock_detection")]
    note: AtomicUsize,
}

#[allow(
    unused_variables,
    clippy::needless_update,
    clippy::unused_self,
    reason = "builds without names ignore them"
)]
impl Place {
    pub(crate) const fn new() -> Self {
        Self {
            #[cfg(any(feature = "deadlock_detection", feature = "stats"))]
            name: AtomicPtr::new(ptr::null_mut()),
            #[cfg(feature = "deadlock_detection")]
            note: AtomicUsize::new(0),
        }
    }

    pub(crate) const fn named(name: &'static CStr) -> Self {
        Self {
            #[cfg(any(feature = "deadlock_detection", feature = "stats"))]
            name: AtomicPtr::new(name.as_ptr().cast_mut()),
            ..Self::new()
        }
    }

    pub(crate) fn set_name(&self, name: &'static CStr) {
        // Release: with `name`, for names of a library that was loaded later.
        #[cfg(any(feature = "deadlock_detection", feature = "stats"))]
        self.name.store(name.as_ptr().cast_mut(), Ordering::Release);
    }

    /// Returns the lock's name; null if it has none.
    #[cfg(any(feature = "deadlock_detection", feature = "stats"))]
    pub(crate) fn name_pointer(&self) -> *const c_char {
        self.name.load(Ordering::Acquire)
    }

    /// Returns the lock's name; an empty one if it has none.
    pub(crate) fn name(&self) -> &'static CStr {
        cfg_select! {
            any(feature = "deadlock_detection", feature = "stats") => {
                let name = self.name_pointer();
                // SAFETY: if it is not null, it is that of a static string.
                if name.is_null() { c"" } else { unsafe { CStr::from_ptr(name) } }
            }
            _ => { c"" }
        }
    }

    #[cfg(feature = "deadlock_detection")]
    pub(crate) fn note(&self) -> &AtomicUsize {
        &self.note
    }
}

/// A lock that is observed.
#[allow(dead_code, reason = "each observer calls some of them")]
pub trait Observed {
    type Platform: Platform;
    const KIND: Kind;

    const GUARDS: Guards = Guards::Own;

    /// Returns the address by which the observers know the lock.
    fn name(&self) -> usize;

    fn place(&self) -> &Place;

    /// Returns whether a thread holds the lock alone.
    fn is_held(&self) -> bool;

    /// Returns whether a thread may be parked for the lock. Its owner calls this.
    fn may_be_awaited(&self) -> bool {
        true
    }
}

/// An observer of locks. Its value lives through one acquisition, unlock or wait of a thread.
pub(crate) trait Observer: Default {
    /// Returns whether locks of this type are observed now. If not, only [`parks`](Self::parks) is
    /// called.
    #[inline(always)]
    fn observes<L: Observed>() -> bool {
        false
    }

    /// The calling thread wants the lock, and will wait for it if it is taken. Its first attempt
    /// follows.
    #[inline(always)]
    #[track_caller]
    fn wants<L: Observed>(&mut self, _: &L, _: Access, _has_deadline: bool) {}

    /// The attempt has failed: the thread is about to wait.
    #[inline(always)]
    #[track_caller]
    fn waits<L: Observed>(&mut self, _: &L) {}

    /// The thread has the lock, whether or not it has [wanted](Self::wants) it: an attempt that
    /// cannot wait is observed only if it succeeds.
    #[inline(always)]
    #[track_caller]
    fn acquired<L: Observed>(&mut self, _: &L, _: Access) {}

    /// The deadline has passed.
    #[inline(always)]
    fn gave_up(&mut self) {}

    /// The thread is about to unlock.
    #[inline(always)]
    #[track_caller]
    fn unlocks<L: Observed>(&mut self, _: &L, _: Access) {}

    /// The lock is unlocked, and may be gone. If the thread does not go on, it waits for a
    /// condition, or has the lock again.
    #[inline(always)]
    fn unlocked(&mut self, _goes_on: bool) {}

    /// The thread, which holds the lock, is about to hold it in another way.
    #[inline(always)]
    #[track_caller]
    fn changes<L: Observed>(&mut self, _: &L, _from: Access, _to: Access) {}

    /// The mutex that the thread unlocks is the one that it wants after a wait for a condition.
    #[inline(always)]
    fn awaits_condition<L: Observed>(&mut self, _: &L) {}

    /// The wait for a condition is over, and the thread has the mutex again. `waited` returns for
    /// how many nanoseconds it waited for the mutex, if it did.
    #[inline(always)]
    fn relocked<L: Observed>(&mut self, _: &L, _waited: &impl Fn() -> Option<u64>) {}

    /// The thread parks for the mutex of this name. May be called more than once in a wait.
    #[inline(always)]
    fn parks(_name: usize) {}
}

/// Observes nothing.
impl Observer for () {}

/// Calls both observers of a pair, in the order of their places in it, each if it observes the
/// lock.
macro_rules! both {
    ($($First:ident $first:tt, $Second:ident $second:tt: {$(
        $event:ident($($argument:ident: $type:ty),*);
    )+})+) => {$($(
        #[inline(always)]
        #[track_caller]
        fn $event<L: Observed>(&mut self, lock: &L $(, $argument: $type)*) {
            if $First::observes::<L>() {
                self.$first.$event(lock $(, $argument)*);
            }
            if $Second::observes::<L>() {
                self.$second.$event(lock $(, $argument)*);
            }
        }
    )+)+};
}

/// Both, as far as each observes the lock. The one that begins first ends last.
impl<A: Observer, B: Observer> Observer for (A, B) {
    both! {
        A 0, B 1: {
            wants(access: Access, has_deadline: bool);
            waits();
            unlocks(access: Access);
            changes(from: Access, to: Access);
            awaits_condition();
        }
        B 1, A 0: {
            acquired(access: Access);
            relocked(waited: &impl Fn() -> Option<u64>);
        }
    }

    #[inline(always)]
    fn observes<L: Observed>() -> bool {
        A::observes::<L>() || B::observes::<L>()
    }

    #[inline(always)]
    fn gave_up(&mut self) {
        self.1.gave_up();
        self.0.gave_up();
    }

    #[inline(always)]
    fn unlocked(&mut self, goes_on: bool) {
        self.1.unlocked(goes_on);
        self.0.unlocked(goes_on);
    }

    #[inline(always)]
    fn parks(name: usize) {
        A::parks(name);
        B::parks(name);
    }
}
