//! The fair mutex: exclusion, handoffs in order, deadlines, and the end of its memory.

use ondeck::fair::RawFairMutex;

use crate::guarded::{
    Does::{Attempt, Section, Until},
    Guarded,
    Passes::{Anytime, Before},
    beside_the_owner, freed_by_the_last, sections,
};
use crate::loom_platform::{Loom, join, spawn};
use crate::scenario::{POLLS, SLEEPS, explored};

fn new() -> &'static Guarded<RawFairMutex<Loom>> {
    Guarded::of(RawFairMutex::new())
}

fn in_order() {
    let fair = new();
    fair.raw().lock();
    let waiter = spawn(|| fair.section());
    fair.until_waiting(1);
    let first = fair.end_section(());
    let third = fair.section();
    assert_eq!([first, join(waiter), third], [0, 1, 2]);
    fair.end(3);
}

explored! {
    fn two_sections_each_of_two_threads on SLEEPS, 4 => || sections(RawFairMutex::new(), 2, &[2]);
    fn a_section_each_of_three_threads on SLEEPS, 2 => || sections(RawFairMutex::new(), 1, &[1, 1]);
    fn a_waiter_reads_its_node_before_it_sleeps on POLLS, 4 => || sections(RawFairMutex::new(), 1, &[1]);
    /// The unlocking thread locks again, after the waiting one.
    fn the_owner_does_not_come_before_the_thread_that_waits on SLEEPS, 3 => in_order;
    fn the_last_of_two_frees_it on SLEEPS, 5 => || freed_by_the_last(new(), 2, 2);
    fn a_deadline_passes_at_any_time on SLEEPS, 4 => || beside_the_owner(new(), Anytime, &[Until], &[]);
    fn a_deadline_passes_beside_another_waiter on SLEEPS, 2 =>
        || beside_the_owner(new(), Before, &[Until, Section], &[]);
    /// A waiter gives up while the unlock is between its attempt and the bucket: the unlock finds
    /// no thread there.
    fn an_attempt_finds_it_free_after_a_waiter_gave_up on SLEEPS, 3 =>
        || beside_the_owner(new(), Before, &[Until, Attempt], &[]);
}
