//! Every lock of the registry, portable or a peer, keeps every promise on the real machine.

#[path = "support/conformance.rs"]
mod conformance;

use conformance::Limits;
use ondeck::platform::Native;
use ondeck_zoo::{RawLock, Visitor, registry};

#[test]
fn every_lock_keeps_every_property() {
    struct Check;
    impl Visitor<Native> for Check {
        fn visit<L: RawLock<Native>>(&mut self) {
            let start = std::time::Instant::now();
            // The first failure ends the test: a lock that hung has left threads behind, which
            // would disturb the rest.
            if let Err(failure) = conformance::check::<L>(Limits::default()) {
                panic!("{failure}");
            }
            println!("{}: {:?}", L::INFO.name, start.elapsed());
        }
    }
    registry::for_each(&mut Check);
}
