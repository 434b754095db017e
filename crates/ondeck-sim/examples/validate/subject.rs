//! The locks by name, each compiled into every shape.

use ondeck_zoo::locks::{for_each_hosted, for_each_pi};
use ondeck_zoo::{RawLock, Visitor};

use super::go_first::GoSpinbitFirst;
use super::shapes::{On, batch, channel, counter, many, steps, window};
use ondeck_sim::engine::Sim;

/// A lock in all shapes.
#[derive(Clone, Copy)]
pub struct Subject {
    batch: fn(&On, &batch::Batch) -> f64,
    channel: fn(&On, &channel::Channel) -> f64,
    counter: fn(&On, &counter::Timed) -> (f64, f64),
    many: fn(&On, &many::Many) -> f64,
    steps: fn(&On, &steps::Steps) -> f64,
    window: fn(&On, &window::Window) -> f64,
}

/// What a lock is to do.
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

impl Subject {
    fn of<L: RawLock<Sim>>() -> Self {
        Self {
            batch: batch::run::<L>,
            channel: channel::run::<L>,
            counter: counter::run::<L>,
            many: many::run::<L>,
            steps: steps::run::<L>,
            window: window::run::<L>,
        }
    }

    /// The lock of that name: of the zoo, or one that only published tables have.
    pub fn named(name: &str) -> Option<Self> {
        struct Finder<'a>(&'a str, Option<Subject>);
        impl Visitor<Sim> for Finder<'_> {
            fn visit<L: RawLock<Sim>>(&mut self) {
                if L::INFO.name == self.0 {
                    self.1 = Some(Subject::of::<L>());
                }
            }
        }
        let mut finder = Finder(name, None);
        for_each_hosted(&mut finder);
        for_each_pi(&mut finder);
        finder.visit::<GoSpinbitFirst<Sim>>();
        finder.1
    }

    /// What that shape comes to on that machine.
    pub fn measure(&self, on: &On, shape: &Shape) -> f64 {
        match shape {
            Shape::Batch(batch) => (self.batch)(on, batch),
            Shape::Channel(channel) => (self.channel)(on, channel),
            Shape::Longest(timed) => (self.counter)(on, timed).1,
            Shape::Length(timed) => (self.counter)(on, timed).0,
            Shape::Many(many) => (self.many)(on, many),
            Shape::Steps(steps) => (self.steps)(on, steps),
            Shape::Window(window) => 1e9 / (self.window)(on, window),
        }
    }
}
