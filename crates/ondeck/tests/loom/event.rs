//! The event: no wait is forgotten, writes before a set are seen, deadlines, and the end of its memory.

use ondeck::Event;
use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::guarded::{
    Guarded, awaited_beside_a_deadline, awaited_until_a_deadline, freed_by_a_waiter, two_wait,
};
use crate::loom_platform::{Loom, join, spawn};
use crate::scenario::{POLLS, SLEEPS, explored};

fn new() -> Event<Loom> {
    Event::on_platform()
}

/// Items are ready before each set. All accesses to their number are relaxed: the event orders them.
fn reset_and_look() {
    let event = Guarded::<_>::of(new());
    let items: &<Loom as Platform>::AtomicU32 = Box::leak(Box::new(AtomicInt::new(0)));
    let producer = spawn(|| {
        for _ in 0..2 {
            items.store(items.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            event.raw().set();
        }
    });
    let mut seen = 0;
    while seen < 2 {
        event.raw().wait();
        event.raw().reset();
        seen = items.load(Ordering::Relaxed);
    }
    join(producer);
    event.free();
}

explored! {
    fn a_waiter_frees_it on SLEEPS, 6 => || freed_by_a_waiter(new());
    fn a_waiter_reads_its_node_before_it_sleeps on POLLS, 4 => || freed_by_a_waiter(new());
    fn two_threads_wait on SLEEPS, 2 => || two_wait(new());
    fn a_deadline_passes_at_any_time on SLEEPS, 4 => || awaited_until_a_deadline(new());
    fn a_deadline_passes_beside_another_waiter on SLEEPS, 2 => || awaited_beside_a_deadline(new());
    /// The consumer resets, checks for items, and waits: it does not wait while there is an item that it
    /// has not seen.
    fn what_was_ready_before_a_set_is_seen_after_the_reset on SLEEPS, 4 => reset_and_look;
}
