//! The locks that a program can name to the detection.

use crate::fair::RawFairMutex;
use crate::mutex::RawMutex;
use crate::once::Once;
use crate::pi::RawPiMutex;
use crate::platform::Native;
use crate::poison;
use crate::reentrant::RawThreadId;
use crate::rwlock::RawRwLock;

/// A lock that takes part in the detection.
pub trait Detected: private::Address {}

mod private {
    pub trait Address {
        /// Returns the address that names the lock in reports.
        fn address(&self) -> usize;
    }
}

macro_rules! detected {
    ($([$($generic:tt)*] $lock:ty: |$it:ident| $address:expr;)*) => {
        $(
            impl<$($generic)*> private::Address for $lock {
                fn address(&self) -> usize {
                    let $it = self;
                    $address
                }
            }

            impl<$($generic)*> Detected for $lock {}
        )*
    };
}

/// Returns the address of a lock without its data, which begins with its state.
fn place<T>(raw: &T) -> usize {
    (&raw const *raw).addr()
}

detected! {
    // SAFETY: for its address only, as in the lines below.
    [T: ?Sized] lock_api::Mutex<RawMutex<Native>, T>: |it| place(unsafe { it.raw() });
    // SAFETY: as above.
    [T: ?Sized] lock_api::Mutex<RawFairMutex<Native>, T>: |it| place(unsafe { it.raw() });
    // SAFETY: as above.
    [T: ?Sized] lock_api::Mutex<RawPiMutex, T>: |it| place(unsafe { it.raw() });
    // SAFETY: as above.
    [T: ?Sized] lock_api::RwLock<RawRwLock<Native>, T>: |it| place(unsafe { it.raw() });
    [T: ?Sized] lock_api::ReentrantMutex<RawMutex<Native>, RawThreadId, T>:
        // SAFETY: as above.
        |it| place(unsafe { it.raw() });
    [T: ?Sized] poison::Mutex<T>: |it| it.without_poison().address();
    [T: ?Sized] poison::RwLock<T>: |it| it.without_poison().address();
    [] Once: |it| place(it);
}

/// Excludes a lock from all reports until it is dropped or [forgotten](forget). Any thread may call this at any time, even
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
    ondeck_deadlock::ignore(lock.address());
}

/// Forgets the facts about a lock: which thread holds it, and after which locks it was acquired.
///
/// A lock that is dropped is forgotten automatically. Call this for a lock that moves to another address after its use, or
/// whose memory is used again without a drop: whatever is at the old address then is another lock.
pub fn forget(lock: &impl Detected) {
    ondeck_deadlock::forget(lock.address());
}
