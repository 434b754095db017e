//! Every lock of the registry, portable or a peer, keeps every promise on the real machine.
//! `ONDECK_TEST_WITHOUT` names locks, separated by commas, that this machine cannot run.

#[path = "support/conformance.rs"]
mod conformance;

use std::time::{Duration, Instant};

use conformance::{Property, check};
use ondeck::platform::Native;
use ondeck_zoo::{RawLock, Visitor, registry};

#[test]
fn every_lock_keeps_every_property() {
    /// Locks that are left out and have not been visited yet.
    struct Check<'a>(Vec<&'a str>);
    impl Visitor<Native> for Check<'_> {
        fn visit<L: RawLock<Native>>(&mut self) {
            if let Some(place) = self.0.iter().position(|name| *name == L::INFO.name) {
                self.0.remove(place);
                println!("{}: left out", L::INFO.name);
                return;
            }
            let start = Instant::now();
            // The first failure ends the test: a hung lock has left threads running, which would
            // disturb the rest.
            for property in Property::ALL {
                check::<L>(property, Duration::from_mins(1))
                    .unwrap_or_else(|what| panic!("{what}"));
            }
            println!("{}: {:?}", L::INFO.name, start.elapsed());
        }
    }
    let without = std::env::var("ONDECK_TEST_WITHOUT").unwrap_or_default();
    let mut check = Check(without.split(',').filter(|name| !name.is_empty()).collect());
    registry::for_each(&mut check);
    assert!(check.0.is_empty(), "ONDECK_TEST_WITHOUT names no lock: {:?}", check.0);
}
