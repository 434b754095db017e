//! The pair of a light and a heavy fence.

use std::time::Duration;

use ondeck::platform::{Fences, Native};

use crate::dekker::both_missed;

/// Each of two threads stores, makes its fence, and loads the other's location. With paired fences
/// at least one of them sees the other's store.
#[test]
fn one_of_two_threads_sees_the_other() {
    let light = || {
        if Native::fences_are_asymmetric() {
            Native::presumed_light_fence();
        } else {
            Native::light_fence();
        }
    };
    Native::fences_are_asymmetric();
    assert_eq!(both_missed(20_000, Duration::from_secs(5), light, Native::heavy_fence), 0);
}

/// The documented behaviour of each system.
#[test]
fn fences_are_asymmetric_where_the_documentation_says_so() {
    if Native::fences_are_asymmetric() {
        Native::heavy_fence();
        let x86 = cfg!(any(target_arch = "x86_64", target_arch = "x86"));
        let documented = !cfg!(any(target_vendor = "apple", target_family = "wasm"));
        assert!(documented && (!cfg!(windows) || x86), "asymmetric");
    } else {
        assert!(!Native::may_relax());
    }
}
