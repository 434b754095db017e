//! The pair of a light and a heavy fence.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::platform::{Fences, Native};

use crate::watchdog::Watchdog;

/// Store buffering (Dekker): each of two threads stores, makes its fence, and loads what the other stores. With
/// fences that pair at least one of them sees the other.
#[test]
fn one_of_two_threads_sees_the_other() {
    const ROUNDS: usize = 2_000;
    let _watchdog = Watchdog::start("store buffering", Duration::from_mins(2));
    let asymmetric = Native::fences_are_asymmetric();
    let words = [const { AtomicU32::new(0) }; 2];
    let seen = [const { AtomicU32::new(0) }; 2];
    let meet = Barrier::new(2);
    let run = |own: usize, fence: fn()| {
        for round in 0..ROUNDS {
            meet.wait();
            words[own].store(1, Ordering::Relaxed);
            fence();
            seen[own].store(words[1 - own].load(Ordering::Relaxed), Ordering::Relaxed);
            meet.wait();
            if own == 0 {
                let [light, heavy] = seen.each_ref().map(|seen| seen.load(Ordering::Relaxed));
                assert!(light == 1 || heavy == 1, "round {round}, asymmetric: {asymmetric}");
                for word in &words {
                    word.store(0, Ordering::Relaxed);
                }
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| run(1, Native::heavy_fence));
        run(0, || {
            if Native::fences_are_asymmetric() {
                Native::presumed_light_fence();
            } else {
                Native::light_fence();
            }
        });
    });
}

/// What the documentation says of each system.
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
