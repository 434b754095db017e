//! The parker: no token is lost, writes before it are seen, deadlines, and the end of its memory.

use ondeck::parker::RawParker;
use ondeck::platform::Timestamp;

use crate::guarded::Guarded;
use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{SLEEPS, SOON, explored};

/// A parker, and a cell for each thread that gives the token.
type Shared = Guarded<RawParker<Loom>, 2>;

impl Shared {
    fn new() -> &'static Self {
        Self::of(RawParker::new())
    }

    fn give(&self, thread: usize) {
        self.count_in(thread);
        self.raw().unpark();
    }

    fn take(&self, deadline: Option<Timestamp>) -> bool {
        // SAFETY: only one thread parks: the model's own thread, or one other.
        unsafe { self.raw().park(deadline) }
    }
}

fn freed() {
    let shared = Shared::new();
    let other = spawn(|| shared.give(0));
    assert!(shared.take(None));
    assert_eq!(shared.counted(), 1);
    shared.free();
    join(other);
}

fn two_tokens() {
    let shared = Shared::new();
    let others = [0, 1].map(|thread| spawn(move || shared.give(thread)));
    assert!(shared.take(None));
    others.into_iter().for_each(join);
    let now = Some(Timestamp::from_nanos(0));
    let second = shared.take(now);
    assert_eq!([0, 1].map(|thread| shared.counted_in(thread)), [1, 1]);
    assert!(!shared.take(now), "{second}: a third token");
    shared.free();
}

fn deadline() {
    let shared = Shared::new();
    let clock = spawn(|| pass_time(1));
    let other = spawn(|| shared.give(0));
    let in_time = shared.take(Some(SOON));
    if in_time {
        assert_eq!(shared.counted(), 1);
    }
    join(other);
    join(clock);
    assert_ne!(shared.take(Some(SOON)), in_time, "the token is taken once");
    shared.free();
}

explored! {
    fn the_thread_that_parks_frees_it on SLEEPS, 8 => freed;
    /// Two threads give tokens. If two were taken, or if both were given before, the writes of both
    /// are seen.
    fn two_tokens_are_one_or_two on SLEEPS, 4 => two_tokens;
    fn a_deadline_passes_at_any_time on SLEEPS, 6 => deadline;
}
