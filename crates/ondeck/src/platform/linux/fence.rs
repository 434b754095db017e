//! A pair of fences of which only the rare side pays, by membarrier(2).
//!
//! ```text
//! STATE (one byte, written by `choose` alone)
//!   UNCHOSEN ──► ASYMMETRIC   membarrier's private expedited command is registered
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

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering, compiler_fence, fence};

use super::{die, environment, errno, ticks};

const UNCHOSEN: u8 = 0;
const ASYMMETRIC: u8 = 1;
const SYMMETRIC: u8 = 2;

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
        // The kernel has registered us. A child of a fork may yet be unknown to it: registered by
        // another thread while the fork copied first the kernel's state and then the memory that says
        // so. Otherwise only a filter installed since then can refuse. Light fences that were already
        // free cannot be made full after the fact: stopping is the only answer that is never wrong.
        let fenced = || membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
        let register = || membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
        if !(fenced() || register() && fenced()) {
            die("membarrier, registered but now refused,", errno());
        }
    } else {
        fence(Ordering::SeqCst);
    }
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

/// The time between two permissions to rely on heavy fences, in nanoseconds. Each costs two heavy
/// fences at most: 2 to 12 µs of the caller and up to 5 of every running sibling, each.
const RELAX_INTERVAL_NANOS: u32 = 50_000;

/// See [`Platform::may_relax`](crate::platform::Platform::may_relax).
pub(super) fn may_relax() -> bool {
    /// When the last permission was given, in ticks. Relaxed: a permission more, for two threads
    /// that ask at the same time, is no harm.
    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    if !choose() {
        return false;
    }
    let now = ticks::read() as usize;
    if now.wrapping_sub(GIVEN.load(Ordering::Relaxed)) < ticks::in_nanos(RELAX_INTERVAL_NANOS) {
        return false;
    }
    GIVEN.store(now, Ordering::Relaxed);
    true
}

fn membarrier(command: libc::c_int) -> libc::c_long {
    // SAFETY: membarrier takes a command, flags and a CPU, all integers, and touches no memory.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
}
