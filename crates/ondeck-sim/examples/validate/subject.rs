//! The workloads of the tables, and the locks by name, each compiled into every shape.

use ondeck_zoo::locks::{for_each_hosted, for_each_pi};
use ondeck_zoo::{RawLock, Visitor};

use super::go_first::GoSpinbitFirst;
use super::shapes::{On, batch, channel, counter, many, steps, window};
use ondeck_sim::engine::Sim;

/// The workload of a lock.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Nanoseconds for an acquisition.
    Batch(batch::Batch),
    /// Microseconds for 200 pairs.
    Channel(channel::Channel),
    /// Milliseconds of the longest time.
    Longest(counter::Timed),
    /// Milliseconds of the run.
    Length(counter::Timed),
    /// Milliseconds of the round.
    Many(many::Many),
    /// Nanoseconds for an operation of a thread.
    Steps(steps::Steps),
    /// Nanoseconds for a pair of all threads.
    Window(window::Window),
}

impl Shape {
    /// Measures the shape with that lock on that machine.
    fn measured<L: RawLock<Sim>>(on: &On, shape: &Self) -> f64 {
        match shape {
            Self::Batch(batch) => batch::run::<L>(on, batch),
            Self::Channel(channel) => channel::run::<L>(on, channel),
            Self::Longest(timed) => counter::run::<L>(on, *timed).longest,
            Self::Length(timed) => counter::run::<L>(on, *timed).length,
            Self::Many(many) => many::run::<L>(on, *many),
            Self::Steps(steps) => steps::run::<L>(on, steps),
            Self::Window(window) => 1e9 / window::run::<L>(on, window),
        }
    }
}

/// Measures a shape with one lock.
pub type Measure = fn(&On, &Shape) -> f64;

/// The lock of that name, from the zoo or from a published table only.
pub fn measure(name: &str) -> Option<Measure> {
    struct Finder<'a>(&'a str, Option<Measure>);
    impl Visitor<Sim> for Finder<'_> {
        fn visit<L: RawLock<Sim>>(&mut self) {
            if L::INFO.name == self.0 {
                self.1 = Some(Shape::measured::<L>);
            }
        }
    }
    let mut finder = Finder(name, None);
    for_each_hosted(&mut finder);
    for_each_pi(&mut finder);
    finder.visit::<GoSpinbitFirst<Sim>>();
    finder.1
}
