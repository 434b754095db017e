//! The locks that a program can name to the detection.

use crate::fair::RawFairMutex;
use crate::mutex::RawMutex;
use crate::observe::Observed;
use crate::once::Once;
use crate::pi::RawPiMutex;
use crate::platform::Native;
use crate::poison;
use crate::reentrant::RawThreadId;
use crate::rwlock::RawRwLock;

/// A lock that takes part in the detection.
pub trait Detected: private::Raw {}

mod private {
    use super::Observed;

    pub trait Raw {
        /// Returns the lock without its data.
        fn raw(&self) -> &impl Observed;
    }
}

macro_rules! detected {
    ($([$($generic:tt)*] $lock:ty: |$it:ident| $raw:expr;)*) => {
        $(
            impl<$($generic)*> private::Raw for $lock {
                fn raw(&self) -> &impl Observed {
                    let $it = self;
                    $raw
                }
            }

            impl<$($generic)*> Detected for $lock {}
        )*
    };
}

detected! {
    // SAFETY: only to name it, as in the lines below.
    [T: ?Sized] lock_api::Mutex<RawMutex<Native>, T>: |it| unsafe { it.raw() };
    // SAFETY: as above.
    [T: ?Sized] lock_api::Mutex<RawFairMutex<Native>, T>: |it| unsafe { it.raw() };
    // SAFETY: as above.
    [T: ?Sized] lock_api::Mutex<RawPiMutex, T>: |it| unsafe { it.raw() };
    // SAFETY: as above.
    [T: ?Sized] lock_api::RwLock<RawRwLock<Native>, T>: |it| unsafe { it.raw() };
    [T: ?Sized] lock_api::ReentrantMutex<RawMutex<Native>, RawThreadId, T>:
        // SAFETY: as above.
        |it| unsafe { it.raw() };
    [T: ?Sized] poison::Mutex<T>: |it| private::Raw::raw(it.without_poison());
    [T: ?Sized] poison::RwLock<T>: |it| private::Raw::raw(it.without_poison());
    [] Once: |it| it.raw();
}

/// Excludes a lock from all reports until it is moved or [forgotten](forget). Any thread may call this at any time, even
/// while detection is off.
///
/// It silences false reports of a program that has another reason why its threads cannot be there at the same time. To
/// silence an order of locks rather than a lock, see [`with_ignored`](super::with_ignored).
///
/// ```
/// static LOG: ondeck::Mutex<String> = ondeck::Mutex::new(String::new());
///
/// ondeck::deadlock::ignore(&LOG);
/// ```
pub fn ignore(lock: &impl Detected) {
    let raw = lock.raw();
    ondeck_deadlock::meets(raw.name(), raw.place().note());
    ondeck_deadlock::ignore(raw.name());
}

/// Forgets the facts about a lock: which thread holds it, and after which locks it was acquired.
///
/// A lock that moves, and one that is gone, is forgotten when another lock is used at its address. Call this to forget it at
/// once.
pub fn forget(lock: &impl Detected) {
    ondeck_deadlock::forget(lock.raw().name());
}
