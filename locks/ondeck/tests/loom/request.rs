//! The request of an heir, and an unlock that reads it after its store: Dekker's pattern, with each
//! pair of fences.

use ondeck::mutex::RawMutex;

use crate::condvar::{First, pair};
use crate::guarded::sections;
use crate::loom_platform::{Fences, Setting, join, refuse, spawn};
use crate::scenario::{ASYMMETRIC, SLEEPS, Shared, explore, explored};

/// The machine whose kernel refuses membarrier from some moment on.
const REFUSED_LATER: Setting = Setting { fences: Fences::RefusedLater, ..SLEEPS };

/// The owner unlocks while another thread arrives, which first runs `before` and then publishes its
/// request.
fn asks(before: fn()) {
    let shared = Shared::new();
    shared.lock();
    let heir = spawn(move || {
        before();
        shared.section()
    });
    shared.end_section(());
    join(heir);
    shared.end(2);
}

/// With all the orders of a load and a write that loom forgets: see `support/loom_readers.rs`.
#[test]
fn an_unlock_sees_the_request_or_the_heir_sees_the_unlock() {
    for fences in [Fences::Full, Fences::Asymmetric] {
        explore(Setting { fences, remembers: true, ..SLEEPS }, 3, || asks(|| ()));
    }
}

/// A waiter is moved to the mutex while its owner unlocks.
fn beside_a_notification() {
    let (shared, condition) = pair(First::Mutex);
    let waiter = spawn(move || condition.wait_for_count(shared));
    let owner = spawn(move || shared.section());
    shared.section();
    condition.raw().notify_one();
    join(owner);
    join(waiter);
    condition.end();
    shared.end(2);
}

explored! {
    fn a_heavy_fence_is_enough on ASYMMETRIC, 6 => || asks(|| ());
    /// Two threads publish requests, one after the other.
    fn a_heavy_fence_is_enough_for_two on ASYMMETRIC, 3 => || sections(RawMutex::new(), 1, &[1, 1]);
    /// Heavy fences are refused while an unlock without a fence is in progress. An heir that this
    /// unlock misses tries the lock again by itself.
    fn heavy_fences_are_refused_in_the_middle on REFUSED_LATER, 4 => || asks(refuse);
    fn an_unlock_beside_a_notification on ASYMMETRIC, 3 => beside_a_notification;
}
