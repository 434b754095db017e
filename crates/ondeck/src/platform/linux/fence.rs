//! A pair of fences of which only the rare side pays, by membarrier(2).
//!
//! ```text
//! STATE (one byte)
//!   UNCHOSEN ──► ASYMMETRIC   membarrier's private expedited command is registered
//!       │            └──────► DEGRADED    the kernel refuses it from now on
//!       └──────► SYMMETRIC    the kernel does not have it, a filter refuses it, or the environment
//!                             says ONDECK_NO_MEMBARRIER
//! ```
//!
//! Correct while `UNCHOSEN`: a light fence is then a full fence, and a heavy fence chooses first.
//! The transition is safe in every interleaving: a light fence is free only after `ASYMMETRIC`
//! was stored, which is after registration, and from then on every heavy fence, whatever it read
//! of `STATE`, goes through `choose` and so through membarrier.
//!
//! membarrier makes every CPU that runs a thread of this process execute a full fence between the
//! call and its return; a thread that does not run has had one when it was switched out
//! (membarrier(2), "MEMBARRIER_CMD_PRIVATE_EXPEDITED").
//!
//! # When membarrier is refused later
//!
//! A filter (seccomp) that is installed after the registration may refuse the heavy fence. Light
//! fences that were already free cannot be made full after the fact: an unlock may have put its store
//! into its CPU's store buffer, had no fence, and read that no thread waits, while the thread that
//! parks reads the lock as still taken. Neither sees the other.
//!
//! The process goes on all the same, `DEGRADED` for ever:
//!
//! * Every fence of the pair is a full one, and nothing is relaxed again. So an unlock that begins
//!   after it has read that fences are to be full has one, and takes part in the symmetric protocol.
//! * A thread that parks does not rely on unlocks that began before. It sleeps in bounded slices and
//!   looks at the lock again after each
//!   ([`heavy_fences_are_refused`](crate::platform::Host::heavy_fences_are_refused)). That is sound
//!   because a store leaves its CPU's buffer in finite time, without any fence: one of the next looks
//!   sees the lock free. The wake that the
//!   unlock did not make is late by some slices, and not lost.
//! * The same holds for what unlocks read: that they should have a full fence becomes visible to them
//!   in finite time, and an unlock that reads an older value is one of those from before.
//!
//! No other way to interrupt the process's CPUs takes membarrier's place. Taking rights from a page
//! (mprotect(2)) made older kernels interrupt every CPU that ran the process, to have it flush its
//! translations, and libraries have used that as a heavy fence. It is not a promise: aarch64
//! broadcasts the flush (`TLBI`) without an interrupt, and so does x86-64 on AMD's newer CPUs since
//! Linux 6.15 (`INVLPGB`). The fence would be missing there without any sign of it.

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering, compiler_fence, fence};

use super::{environment, quietly, ticks};

const UNCHOSEN: u8 = 0;
const ASYMMETRIC: u8 = 1;
const SYMMETRIC: u8 = 2;
const DEGRADED: u8 = 3;

/// Exported beside the parking table, and for the same reason: where the copies of this crate in a
/// process have one table, they have one state. A copy that was refused membarrier would make full
/// fences only, and unlocks of another copy, which has it, none.
// SAFETY: no other symbol of any library has this name.
#[unsafe(export_name = "ondeck_fence_state_2")]
static STATE: AtomicU8 = AtomicU8::new(UNCHOSEN);

#[inline(always)]
pub(super) fn light() {
    // Relaxed: reading an old UNCHOSEN only makes this a full fence where none was needed.
    if STATE.load(Ordering::Relaxed) == ASYMMETRIC {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

pub(super) fn heavy() {
    if choose() {
        let start = ticks::read();
        // The kernel has registered us. A child of a fork may yet be unknown to it: registered by
        // another thread while the fork copied first the kernel's state and then the memory that says
        // so. Otherwise only a filter installed since then can refuse.
        let fenced = || membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
        let register = || membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
        if fenced() || register() && fenced() {
            note_cost(ticks::read().wrapping_sub(start) as usize);
            return;
        }
        // Relaxed: it stands alone. A filter may be in force for some threads only: for others a heavy
        // fence that is under way is still one, and those to come are not needed any more.
        STATE.store(DEGRADED, Ordering::Relaxed);
    }
    fence(Ordering::SeqCst);
}

/// See [`Host::heavy_fences_are_refused`](crate::platform::Host::heavy_fences_are_refused).
#[inline]
pub(super) fn are_refused() -> bool {
    STATE.load(Ordering::Relaxed) == DEGRADED
}

/// Settles once whether membarrier carries the cost; says whether it does.
pub(super) fn choose() -> bool {
    match STATE.load(Ordering::Relaxed) {
        UNCHOSEN => {
            let wanted = environment::allows_membarrier();
            let register = libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
            let chosen = if wanted && membarrier(register) == 0 { ASYMMETRIC } else { SYMMETRIC };
            // Two threads may both register, which the kernel allows. They could only disagree if
            // a filter arrived between them, and then the first word stands: a thread that was
            // refused must not make fences full that the other has already seen free, nor the
            // other way round.
            match STATE.compare_exchange(UNCHOSEN, chosen, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => chosen == ASYMMETRIC,
                Err(earlier) => earlier == ASYMMETRIC,
            }
        }
        state => state == ASYMMETRIC,
    }
}

/// What a heavy fence costs its caller on average, in ticks; 0 before the first one. Relaxed: it
/// stands alone, and a cost lost to another one is no harm.
static COST: AtomicUsize = AtomicUsize::new(0);

fn note_cost(cost: usize) {
    COST.store(averaged(COST.load(Ordering::Relaxed), cost), Ordering::Relaxed);
}

/// The running average, with one more cost.
fn averaged(average: usize, cost: usize) -> usize {
    /// One cost is so small a part of the average.
    const PART: usize = 8;
    if average == 0 {
        return cost.max(1);
    }
    // A caller that lost its CPU meanwhile has measured that: a few times the average is enough to
    // follow a machine that has become slower.
    let cost = cost.min(4 * average);
    (average - average / PART + cost / PART).max(1)
}

/// See [`Host::heavy_cost_ticks`](crate::platform::Host::heavy_cost_ticks).
#[inline]
pub(super) fn cost() -> usize {
    COST.load(Ordering::Relaxed)
}

/// The time between two permissions to rely on heavy fences, in costs of one. Where threads park one after
/// the other, a permission costs two heavy fences at most, a sixteenth of the time of one thread; threads
/// that park together, before the first such fence is over, make one each. Siblings that run pay less than
/// the caller, each: 2 to 12 µs and up to 5 were measured.
const RELAX_INTERVAL_COSTS: usize = 32;

/// The shortest time between two permissions, in nanoseconds: for machines whose heavy fences are
/// cheap, and as long as the cost is unknown.
const LEAST_RELAX_INTERVAL_NANOS: u32 = 20_000;

/// See [`Host::may_relax`](crate::platform::Host::may_relax).
pub(super) fn may_relax() -> bool {
    /// When the last permission was given, in ticks. Relaxed: a permission more, for two threads
    /// that ask at the same time, is no harm.
    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    if !choose() {
        return false;
    }
    let interval = interval(cost(), ticks::in_nanos(LEAST_RELAX_INTERVAL_NANOS));
    let now = ticks::read() as usize;
    if now.wrapping_sub(GIVEN.load(Ordering::Relaxed)) < interval {
        return false;
    }
    GIVEN.store(now, Ordering::Relaxed);
    true
}

/// The time between two permissions, of the same unit as the cost and the least.
fn interval(cost: usize, least: usize) -> usize {
    cost.saturating_mul(RELAX_INTERVAL_COSTS).max(least)
}

fn membarrier(command: libc::c_int) -> libc::c_long {
    // SAFETY: membarrier takes a command, flags and a CPU, all integers, and touches no memory.
    quietly(|| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_rarer_where_fences_are_dearer() {
        assert_eq!(interval(0, 60_000), 60_000);
        assert_eq!(interval(1_000, 60_000), 60_000);
        assert_eq!(interval(10_000, 60_000), 320_000);
    }

    #[test]
    fn the_first_cost_is_the_average() {
        assert_eq!(averaged(0, 5_000), 5_000);
        assert_eq!(averaged(0, 0), 1);
    }

    #[test]
    fn the_average_follows_what_fences_cost() {
        let after = |average, cost, count| (0..count).fold(average, |sum, _| averaged(sum, cost));
        assert!((9_900..=10_000).contains(&after(5_000, 10_000, 100)));
        assert!((5_000..5_100).contains(&after(10_000, 5_000, 100)));
        assert!((1..16).contains(&after(5_000, 0, 1_000)));
    }

    #[test]
    fn a_caller_that_lost_its_cpu_counts_for_a_few() {
        assert_eq!(averaged(8_000, 8_000_000), 11_000);
    }
}
