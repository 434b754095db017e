//! The biased mutex: exclusion between the owner and others, revocations, wakes by the owner's unlock, and
//! its memory.

use ondeck::biased::RawBiasedMutex;

use crate::guarded::{
    Does::{Attempt, Section, Until},
    Guarded,
    Passes::{Anytime, Before},
    at_once, beside_the_owner, freed_by_the_last,
};
use crate::loom_platform::{Fences, Loom, Setting, join, pass_time, refuse, spawn};
use crate::scenario::{SLEEPS, explored, until_asleep};

/// The machine whose threads have rows. Both halves of a pair of fences are full.
const ROWS: Setting = Setting { biased: true, ..SLEEPS };
/// The same; the light half is nothing.
const ASYMMETRIC: Setting = Setting { fences: Fences::Asymmetric, ..ROWS };
/// The same, until a thread calls `refuse`.
const REFUSED_LATER: Setting = Setting { fences: Fences::RefusedLater, ..ROWS };

type Mutex = Guarded<RawBiasedMutex<Loom>>;

impl Mutex {
    /// Creates a mutex that is biased to the calling thread, because one acquisition counts as a run on
    /// this machine.
    fn biased() -> &'static Self {
        let guarded = Self::of(RawBiasedMutex::new());
        guarded.section();
        assert!(guarded.raw().is_biased());
        guarded
    }
}

/// Another thread arrives while the owner is inside, and a third does something else.
fn beside_the_owner_inside(meanwhile: Option<fn()>) {
    let guarded = Mutex::biased();
    let held = guarded.raw().lock();
    assert!(held.is_by_bias());
    let other = spawn(|| guarded.section());
    let meanwhile = meanwhile.map(spawn);
    // As in `owner_of_two`.
    assert!(guarded.raw().is_locked());
    guarded.end_section(held);
    join(other);
    meanwhile.into_iter().for_each(join);
    guarded.end(3);
}

/// The owner leaves the first mutex, and enters the second: a thread that wants the first finds the address of the second in
/// place of the 0.
fn owner_of_two(second_is_biased: bool) {
    let [first, second] = Mutex::two_of_one_place(RawBiasedMutex::new);
    first.section();
    if second_is_biased {
        second.section();
    }
    let held = first.raw().lock();
    assert!(held.is_by_bias());
    let other = spawn(|| first.section());
    // An access at which the owner makes the fence of the other thread, which must not order the section.
    assert!(first.raw().is_locked());
    first.end_section(held);
    second.section();
    join(other);
    first.end(3);
    second.end(1 + u32::from(second_is_biased));
}

fn attempt_beside_the_owner() {
    let guarded = Mutex::biased();
    let other = spawn(|| guarded.attempt());
    guarded.section();
    let sections = join(other);
    guarded.section();
    guarded.end(3 + sections);
}

fn deadline_of_a_long_wait() {
    let guarded = Mutex::biased();
    let held = guarded.raw().lock();
    let other = spawn(|| guarded.section_until());
    until_asleep(1);
    pass_time(1);
    assert_eq!(join(other), 0);
    guarded.end_section(held);
    guarded.end(2);
}

fn refused_before() {
    let guarded = Mutex::biased();
    refuse();
    at_once(guarded, &[Section], &[&[Section]]);
}

fn without_membarrier() {
    let guarded = Mutex::of(RawBiasedMutex::new());
    let other = spawn(|| guarded.section());
    guarded.section();
    assert!(!guarded.raw().is_biased());
    join(other);
    guarded.end(2);
}

explored! {
    fn the_owner_and_another_thread on ROWS, 4 => || at_once(Mutex::biased(), &[Section], &[&[Section]]);
    fn the_owner_and_another_thread_with_asymmetric_fences on ASYMMETRIC, 3 =>
        || at_once(Mutex::biased(), &[Section], &[&[Section]]);
    /// The bias is revoked, and the lock biased to the other thread, whose own sections the first revokes.
    fn two_threads_that_become_the_owner_in_turn on ASYMMETRIC, 2 =>
        || at_once(Mutex::biased(), &[Section; 2], &[&[Section; 2]]);
    /// The owner notices late that its bias is revoked, and empties its slot while another owner is
    /// inside.
    fn a_late_owner_and_the_next_one_and_a_third_thread on ROWS, 3 =>
        || at_once(Mutex::biased(), &[Section], &[&[Section], &[Section]]);
    /// Another thread sleeps until the owner has left: only the unlock can wake it.
    fn the_owner_wakes_the_thread_that_waits_for_it on ASYMMETRIC, 4 => || beside_the_owner_inside(None);
    /// Only the slot orders the owner's section before the other thread's.
    fn the_owner_goes_on_to_a_mutex_of_the_same_slot on ASYMMETRIC, 3 => || owner_of_two(true);
    fn the_owner_becomes_that_of_a_mutex_of_the_same_slot on ASYMMETRIC, 3 => || owner_of_two(false);
    fn an_attempt_beside_the_owner on ROWS, 3 => attempt_beside_the_owner;
    fn an_attempt_of_the_owner_beside_another_thread on ASYMMETRIC, 3 =>
        || at_once(Mutex::biased(), &[Attempt], &[&[Section]]);
    fn a_deadline_passes_while_the_owner_is_inside on ROWS, 3 =>
        || beside_the_owner(Mutex::biased(), Anytime, &[Until], &[Section]);
    /// Only its deadline ends the wait of a thread whose owner stays inside.
    fn a_deadline_passes_and_the_owner_stays_inside on ASYMMETRIC, 3 => deadline_of_a_long_wait;
    /// A thread gave up after it had revoked the bias; the next one still waits for the owner.
    fn a_thread_comes_after_one_that_gave_up on ROWS, 3 =>
        || beside_the_owner(Mutex::biased(), Before, &[Until, Section], &[]);
    fn the_last_of_two_frees_it on ASYMMETRIC, 3 => || freed_by_the_last(Mutex::biased(), 2, 3);
    /// From some moment on heavy fences are refused, also while the owner enters or leaves.
    fn heavy_fences_are_refused_later on REFUSED_LATER, 3 => || beside_the_owner_inside(Some(refuse));
    /// The owner enters without a fence, and the thread that revokes the bias cannot issue one for it.
    fn heavy_fences_are_refused_before_the_owner_comes on REFUSED_LATER, 3 => refused_before;
    fn without_membarrier_it_is_not_biased on Setting { fences: Fences::Refused, ..ROWS }, 3 => without_membarrier;
}
