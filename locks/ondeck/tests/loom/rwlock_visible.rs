//! The reader-writer lock's visible readers: that they see the last writer's stores, heavy fences
//! that are refused later, and the deadline of a writer whose reader stays.

use ondeck::platform::Host;
use ondeck::rwlock::RawRwLock;

use crate::loom_platform::{Fences, Loom, Setting, join, pass_time, refuse, spawn};
use crate::rwlock_scenario::Lock;
use crate::scenario::{SLEEPS, SOON, explored, until_asleep};

/// The machine whose threads can be visible readers. The light half of a pair of fences is nothing.
pub const VISIBLE: Setting = Setting { biased: true, fences: Fences::Asymmetric, ..SLEEPS };
/// The same, until a thread calls `refuse`.
const REFUSED_LATER: Setting = Setting { fences: Fences::RefusedLater, ..VISIBLE };

fn becomes_biased() {
    let guarded = Lock::new();
    // The machine creates the rows at their first use, which must not order the section for the
    // other thread.
    let _ = Loom::row();
    let reader = spawn(|| guarded.read());
    guarded.write();
    guarded.raw().consider_bias();
    join(reader);
    guarded.end(1);
}

/// The reader leaves the first lock, and enters the second: a writer of the first finds the address
/// of the second in place of the 0.
fn reader_of_two() {
    let [first, second] = Lock::two_of_one_place(RawRwLock::new);
    first.raw().consider_bias();
    second.raw().consider_bias();
    let held = first.raw().lock_shared();
    let writer = spawn(|| first.write());
    // An access at which the reader makes the fence of the writer, which must not order the
    // section.
    assert!(first.raw().is_locked());
    first.counted();
    first.unlock_shared(held);
    second.read();
    join(writer);
    first.end(1);
    second.end(0);
}

fn refused_before() {
    let guarded = Lock::biased_if_possible();
    refuse();
    let writer = spawn(|| guarded.write());
    guarded.read();
    join(writer);
    guarded.end(1);
}

fn refused_later() {
    let guarded = Lock::biased_if_possible();
    let writer = spawn(|| guarded.write());
    let refuser = spawn(refuse);
    guarded.read();
    join(writer);
    join(refuser);
    guarded.end(1);
}

fn deadline() {
    let guarded = Lock::biased_if_possible();
    let held = guarded.raw().lock_shared();
    let writer = spawn(|| guarded.raw().try_lock_exclusive_until(SOON));
    until_asleep(1);
    pass_time(1);
    assert!(!join(writer), "there is a reader");
    guarded.counted();
    guarded.unlock_shared(held);
    guarded.end(0);
}

explored! {
    /// Only the word orders the writer before the reader.
    fn a_reader_of_a_lock_that_becomes_biased_sees_the_last_writer on VISIBLE, 3 => becomes_biased;
    /// Only the slot orders the reader before the writer.
    fn a_reader_goes_on_to_a_lock_of_the_same_slot on VISIBLE, 3 => reader_of_two;
    /// The reader enters without a fence, and the writer cannot issue one for it.
    fn heavy_fences_are_refused_before_the_reader_comes on REFUSED_LATER, 3 => refused_before;
    /// Also while the reader enters or leaves.
    fn heavy_fences_are_refused_later on REFUSED_LATER, 2 => refused_later;
    /// Only its deadline ends the wait of the writer.
    fn a_deadline_passes_and_the_reader_stays on VISIBLE, 3 => deadline;
}
