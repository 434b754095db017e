//! The names of locks, for people who read reports.

use core::ffi::CStr;

use crate::fair::RawFairMutex;
use crate::mutex::RawMutex;
use crate::observe::Observed;
use crate::once::Once;
use crate::platform::Native;
use crate::poison;
use crate::reentrant::RawThreadId;
use crate::rwlock::RawRwLock;

/// A lock that can be given a [name]: each lock of this crate whose owner is a thread of this
/// process.
pub trait AnyLock: private::Raw {}

mod private {
    use super::Observed;

    pub trait Raw {
        /// Returns the lock without its data.
        fn raw(&self) -> &impl Observed;
    }
}

macro_rules! any_lock {
    ($([$($generic:tt)*] $lock:ty: |$it:ident| $raw:expr;)*) => {
        $(
            impl<$($generic)*> private::Raw for $lock {
                fn raw(&self) -> &impl Observed {
                    let $it = self;
                    $raw
                }
            }

            impl<$($generic)*> AnyLock for $lock {}
        )*
    };
}

any_lock! {
    // SAFETY: only to name it, as in the lines below.
    [T: ?Sized] lock_api::Mutex<RawMutex<Native>, T>: |it| unsafe { it.raw() };
    // SAFETY: as above.
    [T: ?Sized] lock_api::Mutex<RawFairMutex<Native>, T>: |it| unsafe { it.raw() };
    // SAFETY: as above.
    [T: ?Sized] lock_api::RwLock<RawRwLock<Native>, T>: |it| unsafe { it.raw() };
    [T: ?Sized] lock_api::ReentrantMutex<RawMutex<Native>, RawThreadId, T>:
        // SAFETY: as above.
        |it| unsafe { it.raw() };
    [T: ?Sized] poison::Mutex<T>: |it| private::Raw::raw(it.without_poison());
    [T: ?Sized] poison::RwLock<T>: |it| private::Raw::raw(it.without_poison());
    [] Once: |it| it.raw();
}

on_linux! {
    any_lock! {
        // SAFETY: as above.
        [T: ?Sized] lock_api::Mutex<crate::pi::RawPiMutex, T>: |it| unsafe { it.raw() };
    }
}

/// Names a lock, or gives it another name; an empty name takes it away. Statistics, profiles,
/// reports of deadlocks and the raw lock's `Debug` show the name; a profile keeps the first. The
/// `Debug` of `Mutex<T>` is that of [`lock_api`], which does not.
///
/// A lock can also be made with its name, which moves with it. The builds that show names keep a
/// word more in each lock; in all others the name is ignored, and the lock stays as small as it is.
///
/// ```
/// use ondeck::{Mutex, RwLock, mutex::RawMutex, rwlock::RawRwLock};
///
/// static ACCOUNTS: Mutex<u64> = Mutex::from_raw(RawMutex::named(c"accounts"), 0);
/// static ROUTES: RwLock<u64> = RwLock::from_raw(RawRwLock::named(c"routes"), 0);
///
/// let log = Mutex::new(String::new());
/// ondeck::name(&log, c"log");
/// ```
pub fn name(lock: &impl AnyLock, name: &'static CStr) {
    lock.raw().place().set_name(name);
}

#[cfg(feature = "deadlock_detection")]
pub(crate) fn raw(lock: &impl AnyLock) -> &impl Observed {
    lock.raw()
}
