//! The once: one closure runs, and every call returns after it; panics; the end of its memory.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ondeck::Once;
use ondeck::once::OnceState;

use crate::guarded::{Guarded, awaited_until_a_deadline, freed_by_a_waiter};
use crate::loom_platform::{Loom, join, spawn};
use crate::scenario::{POLLS, SLEEPS, explored};

fn new() -> Once<Loom> {
    Once::on_platform()
}

/// The given number of threads call it.
fn called_by(threads: usize) {
    let once = Guarded::<_>::of(new());
    let call = move || {
        once.come();
        assert_eq!(once.counted(), 1, "one closure ran");
    };
    let others: Vec<_> = (1..threads).map(|_| spawn(call)).collect();
    call();
    others.into_iter().for_each(join);
    assert_eq!(once.raw().state(), OnceState::Done);
    once.free();
}

/// Each closure panics. One thread calls twice: between the other's load of the state and its
/// change a closure may run and leave the same state.
fn poisoned_again() {
    let once = Guarded::<_>::of(new());
    let call = move || {
        let closure = |_| {
            once.count();
            resume_unwind(Box::new(()));
        };
        let call = AssertUnwindSafe(|| once.raw().call_once_force(closure));
        assert!(catch_unwind(call).is_err(), "its closure ran");
    };
    let other = spawn(call);
    call();
    call();
    join(other);
    assert_eq!(once.counted(), 3);
    once.free();
}

explored! {
    fn two_threads_call on SLEEPS, 5 => || called_by(2);
    fn three_threads_call on SLEEPS, 2 => || called_by(3);
    fn closures_that_panic_one_after_the_other on SLEEPS, 3 => poisoned_again;
    fn a_caller_polls_before_it_sleeps on POLLS, 4 => || called_by(2);
    /// The thread that finds it done frees it, while the other may still be finishing its call.
    fn a_waiter_frees_it on SLEEPS, 5 => || freed_by_a_waiter(new());
    fn a_deadline_passes_at_any_time on SLEEPS, 4 => || awaited_until_a_deadline(new());
}
