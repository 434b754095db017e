//! The environment is read while the program is loaded, and never again.

use ondeck::platform::{Fences, Linux};
use ondeck::spin::Polling;

use crate::again::alone_with;

fn set(name: &str, value: &str) {
    // SAFETY: the process has this test's thread and one that waits for it to end.
    unsafe { std::env::set_var(name, value) };
}

#[test]
fn what_the_program_was_started_with_holds() {
    alone_with(&[("ONDECK_SPIN", ",7"), ("ONDECK_NO_MEMBARRIER", "1")], || {
        assert_eq!(Polling::current().short, 7);
        assert!(!Linux::fences_are_asymmetric());
    });
}

#[test]
fn what_the_program_puts_there_itself_changes_nothing() {
    alone_with(&[("ONDECK_NO_MEMBARRIER", "1")], || {
        set("ONDECK_SPIN", ",7");
        set("ONDECK_NO_MEMBARRIER", "0");
        assert_eq!(Polling::current().short, Polling::default().short);
        assert!(!Linux::fences_are_asymmetric());
    });
}

#[test]
fn what_the_program_installs_holds() {
    alone_with(&[("ONDECK_SPIN", ",7")], || {
        let mut polling = Polling::current();
        assert_eq!(polling.short, 7);
        polling.short = 8;
        polling.install();
        assert_eq!(Polling::current().short, 8);
    });
}
