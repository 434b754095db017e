//! A pair of fences of which only the rare side pays, by a system call that makes every CPU of the
//! process execute a full fence: membarrier(2), or `FlushProcessWriteBuffers`.
//!
//! ```text
//! STATE (one byte)
//!   UNCHOSEN ──► ASYMMETRIC   the system has the call, and the process is registered for it
//!       │            └──────► DEGRADED    the kernel refuses it from now on: Linux only
//!       └──────► SYMMETRIC    the system does not have it, a filter refuses it, or the environment
//!                             has ONDECK_NO_MEMBARRIER
//! ```
//!
//! It is correct while `UNCHOSEN`: a light fence is then a full fence, and a heavy fence chooses
//! first. The transition is safe in every interleaving: a light fence is free only after
//! `ASYMMETRIC` was stored, which is after registration. From then on every heavy fence, whatever
//! it read of `STATE`, goes through `choose` and so through the system call. On a system without
//! the call, light fences are full ones at compile time.
//!
//! The call makes every CPU that runs a thread of this process execute a full fence between the
//! call and its return; a thread that does not run executed one when it was switched out. See
//! `heavy_fence` of each system for the source of that guarantee.
//!
//! # If membarrier is refused later
//!
//! A filter (seccomp) that is installed after the registration may refuse the heavy fence. Light
//! fences that were already free cannot be made full afterwards: an unlock may have put its store
//! into its CPU's store buffer, made no fence, and read that no thread waits, while the parking
//! thread reads the lock as still taken. Neither sees the other.
//!
//! The process nevertheless continues, `DEGRADED` for ever:
//!
//! * Every fence of the pair is a full one, and nothing is relaxed again. So an unlock that begins
//!   after it has read that fences must be full has one, and takes part in the symmetric protocol.
//! * A parking thread does not rely on unlocks that began before. It sleeps in bounded slices and
//!   checks the lock again after each
//!   ([`heavy_fences_are_refused`](crate::platform::Host::heavy_fences_are_refused)). That is sound
//!   because a store leaves its CPU's buffer in finite time, without any fence: one of the next
//!   checks sees the lock free. The wake that the unlock did not make is late by some slices, and
//!   not lost.
//! * The same holds for the loads of unlocks: they see in finite time that they must make a full
//!   fence, and an unlock that reads an older value counts as one that began before.
//!
//! No other way to interrupt the process's CPUs replaces membarrier. Removing rights from a page
//! (mprotect(2)) made older kernels interrupt every CPU that ran the process, so that it flushed
//! its translations, and libraries have used that as a heavy fence. It is not guaranteed: aarch64
//! broadcasts the flush (`TLBI`) without an interrupt, and so does x86-64 on AMD's newer CPUs since
//! Linux 6.15 (`INVLPGB`). There the fence would be missing without any sign of it.

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering, compiler_fence, fence};

use super::{Native, environment, ticks};
use crate::machine::{averaged_cost, relax_interval};
use crate::platform::system::System;

const UNCHOSEN: u8 = 0;
const ASYMMETRIC: u8 = 1;
const SYMMETRIC: u8 = 2;
const DEGRADED: u8 = 3;

/// Exported with the parking table, and for the same reason: copies of this crate in a process that
/// share one table share one state. Otherwise, if one copy were refused membarrier it would make
/// only full fences, and unlocks of another copy that has membarrier would make none.
// SAFETY: no other symbol of any library has this name.
#[unsafe(export_name = "ondeck_fence_state_2")]
static STATE: AtomicU8 = AtomicU8::new(UNCHOSEN);

#[inline(always)]
pub(super) fn light() {
    // Relaxed: an old UNCHOSEN only makes this a full fence where none was needed.
    if Native::MAY_HAVE_HEAVY_FENCE && STATE.load(Ordering::Relaxed) == ASYMMETRIC {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

pub(super) fn heavy() {
    if choose() {
        let start = ticks::read();
        // The kernel has registered this process. It may not know a child of a fork: another thread
        // registered while the fork copied first the kernel's state and then the memory that
        // records the registration. Otherwise only a filter installed since then can refuse.
        let fenced = || <Native as System>::heavy_fence();
        let register = || <Native as System>::register_heavy_fence();
        if fenced() || register() && fenced() {
            note_cost(ticks::read().wrapping_sub(start) as usize);
            return;
        }
        // Relaxed: it is independent of other data. A filter may be in force for some threads only:
        // heavy fences of others that are under way still work, and later ones are no longer
        // needed.
        STATE.store(DEGRADED, Ordering::Relaxed);
    }
    fence(Ordering::SeqCst);
}

/// See [`Host::heavy_fences_are_refused`](crate::platform::Host::heavy_fences_are_refused).
#[inline]
pub(super) fn are_refused() -> bool {
    STATE.load(Ordering::Relaxed) == DEGRADED
}

/// Decides once whether membarrier carries the cost. Returns whether it does.
pub(super) fn choose() -> bool {
    match STATE.load(Ordering::Relaxed) {
        UNCHOSEN => {
            let wanted = environment::allows_membarrier();
            let has = wanted && <Native as System>::register_heavy_fence();
            let chosen = if has { ASYMMETRIC } else { SYMMETRIC };
            // Two threads may both register, which the kernel allows. They could only disagree if a
            // filter was installed between them, and then the first decision stands: a thread that
            // was refused must not make fences full that the other has already seen free, nor the
            // other way round.
            match STATE.compare_exchange(UNCHOSEN, chosen, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => chosen == ASYMMETRIC,
                Err(earlier) => earlier == ASYMMETRIC,
            }
        }
        state => state == ASYMMETRIC,
    }
}

/// The average cost of a heavy fence to its caller, in ticks; 0 before the first one. Relaxed: it
/// is independent of other data, and a lost update is harmless.
static COST: AtomicUsize = AtomicUsize::new(0);

fn note_cost(cost: usize) {
    COST.store(averaged_cost(COST.load(Ordering::Relaxed), cost), Ordering::Relaxed);
}

/// See [`Host::heavy_cost_ticks`](crate::platform::Host::heavy_cost_ticks).
#[inline]
pub(super) fn cost() -> usize {
    COST.load(Ordering::Relaxed)
}

/// See [`Host::may_relax`](crate::platform::Host::may_relax).
pub(super) fn may_relax() -> bool {
    /// When the last permission was given, in ticks. Relaxed: an extra permission, for two threads
    /// that ask at the same time, is harmless.
    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    if !choose() {
        return false;
    }
    let interval = relax_interval(cost(), ticks::in_nanos);
    let now = ticks::read() as usize;
    if now.wrapping_sub(GIVEN.load(Ordering::Relaxed)) < interval {
        return false;
    }
    GIVEN.store(now, Ordering::Relaxed);
    true
}
