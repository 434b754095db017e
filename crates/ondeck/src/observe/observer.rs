//! The events of locks that an observer is called for, and pairs of observers.

#[cfg(feature = "deadlock_detection")]
use core::sync::atomic::AtomicUsize;

use crate::platform::Platform;

/// The kinds of locks that are observed.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "a system may not have all of them")]
pub enum Kind {
    Mutex,
    Fair,
    Pi,
    RwLock,
    Once,
}

/// Where the guards of a lock are from, and whether they stay with their thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Guards {
    /// Those of this crate: they stay with their thread.
    Own,
    /// Those of another package, which stay with their thread. A thread that locks a mutex twice waits forever, as with the
    /// lock that it replaces.
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

/// A lock's note of the address at which it was last observed; empty in builds that need none.
///
/// What is known about an address is another lock's if the lock there has another address in its note. A destructor
/// could tell of a lock's end, but a const function cannot drop what has one.
pub struct Place(#[cfg(feature = "deadlock_detection")] AtomicUsize);

impl Place {
    pub(crate) const fn new() -> Self {
        Self(
            #[cfg(feature = "deadlock_detection")]
            AtomicUsize::new(0),
        )
    }

    #[cfg(feature = "deadlock_detection")]
    pub(crate) fn note(&self) -> &AtomicUsize {
        &self.0
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

    /// Returns whether a thread holds the lock. Only `misuse.rs` calls this, for the kinds of locks that it observes.
    fn is_held(&self) -> bool {
        unreachable!("`misuse.rs` observes no lock of this kind")
    }

    /// Returns whether a thread may be parked for the lock. Its owner calls this.
    fn may_be_awaited(&self) -> bool {
        true
    }
}

/// An observer of locks. Its value lives through one acquisition, unlock or wait of a thread.
pub(crate) trait Observer: Default {
    /// Returns whether locks of this type are observed now. If not, only [`parks`](Self::parks) is called.
    #[inline(always)]
    fn observes<L: Observed>() -> bool {
        false
    }

    /// The calling thread wants the lock, and will wait for it if it is taken. Its first attempt follows.
    #[inline(always)]
    #[track_caller]
    fn wants<L: Observed>(&mut self, _: &L, _: Access, _has_deadline: bool) {}

    /// The attempt has failed: the thread is about to wait.
    #[inline(always)]
    #[track_caller]
    fn waits<L: Observed>(&mut self, _: &L) {}

    /// The thread has the lock, whether or not it has [wanted](Self::wants) it: an attempt that cannot wait is observed only
    /// if it succeeds.
    #[inline(always)]
    fn acquired<L: Observed>(&mut self, _: &L, _: Access) {}

    /// The deadline has passed.
    #[inline(always)]
    fn gave_up(&mut self) {}

    /// The thread is about to unlock.
    #[inline(always)]
    #[track_caller]
    fn unlocks<L: Observed>(&mut self, _: &L, _: Access) {}

    /// The lock is unlocked, and may be gone.
    #[inline(always)]
    fn unlocked(&mut self) {}

    /// The thread, which holds the lock, is about to hold it in another way.
    #[inline(always)]
    fn changes<L: Observed>(&mut self, _: &L, _from: Access, _to: Access) {}

    /// The mutex that the thread unlocks is the one that it wants after a wait for a condition.
    #[inline(always)]
    fn awaits_condition<L: Observed>(&mut self, _: &L) {}

    /// The wait for a condition is over, and the thread has the mutex again. `waited` returns for how many nanoseconds it
    /// waited for the mutex, if it did.
    #[inline(always)]
    fn relocked<L: Observed>(&mut self, _: &L, _waited: &impl Fn() -> Option<u64>) {}

    /// The thread parks for the mutex of this name. May be called more than once in a wait.
    #[inline(always)]
    fn parks(_name: usize) {}
}

/// Observes nothing.
impl Observer for () {}

/// Calls both observers of a pair, in the order of their places in it, each if it observes the lock.
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
    fn unlocked(&mut self) {
        self.1.unlocked();
        self.0.unlocked();
    }

    #[inline(always)]
    fn parks(name: usize) {
        A::parks(name);
        B::parks(name);
    }
}
