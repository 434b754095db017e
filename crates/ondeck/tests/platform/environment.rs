//! The environment is read while the program is loaded, and never again.

use ondeck::platform::{Fences, Linux};
use ondeck::spin::Polling;

use crate::again::{is_child, passes_with};

fn set(name: &str, value: &str) {
    // SAFETY: the process has this test's thread and one that waits for it to end.
    unsafe { std::env::set_var(name, value) };
}

#[test]
fn what_the_program_was_started_with_holds() {
    if is_child() {
        assert_eq!(Polling::current().short, 7);
        assert!(!Linux::fences_are_asymmetric());
    } else {
        passes_with(&[("ONDECK_SPIN", ",7"), ("ONDECK_NO_MEMBARRIER", "1")]);
    }
}

#[test]
fn what_the_program_puts_there_itself_changes_nothing() {
    if is_child() {
        set("ONDECK_SPIN", ",7");
        set("ONDECK_NO_MEMBARRIER", "0");
        assert_eq!(Polling::current().short, Polling::default().short);
        assert!(!Linux::fences_are_asymmetric());
    } else {
        passes_with(&[("ONDECK_NO_MEMBARRIER", "1")]);
    }
}

#[test]
fn what_the_program_installs_holds() {
    if is_child() {
        let mut polling = Polling::current();
        assert_eq!(polling.short, 7);
        polling.short = 8;
        polling.install();
        assert_eq!(Polling::current().short, 8);
    } else {
        passes_with(&[("ONDECK_SPIN", ",7")]);
    }
}
