//! The two clocks: the system's clock, for deadlines, and the hardware counter if it can be
//! trusted.
//!
//! A counter can be trusted if it runs at a constant rate in every power state. x86 reports that in
//! CPUID leaf 8000_0007H, EDX bit 8 ("invariant TSC", Intel SDM volume 3, 19.17.1). The generic
//! timer of aarch64 always does (Arm ARM, D12), but firmware must report its rate. If a counter
//! cannot be trusted, ticks are the monotonic clock's nanoseconds, or 64 of them on 32 bits.

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use super::Native;
use crate::platform::Timestamp;
use crate::platform::system::System;

const UNKNOWN: u8 = 0;
const HARDWARE: u8 = 1;
const MONOTONIC: u8 = 2;

/// The clock that ticks come from: UNKNOWN, then HARDWARE or MONOTONIC for ever. Relaxed, because
/// it is independent of other data: every thread that decides it decides the same.
static SOURCE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Ticks in a second; 0 before the first call.
static RATE: AtomicUsize = AtomicUsize::new(0);

const NANOS_PER_SECOND: u64 = 1_000_000_000;

fn monotonic() -> Timestamp {
    <Native as System>::now()
}

#[inline(always)]
pub(in crate::platform) fn read() -> u64 {
    if is_hardware() { hardware::read() } else { monotonic().as_nanos() >> MONOTONIC_SHIFT }
}

/// Returns the ticks at a moment when all earlier work has completed.
#[inline(always)]
pub(in crate::platform) fn read_ordered() -> u64 {
    hardware::complete();
    read()
}

#[inline(always)]
pub(in crate::platform) fn is_hardware() -> bool {
    match SOURCE.load(Ordering::Relaxed) {
        UNKNOWN => decide(),
        source => source == HARDWARE,
    }
}

#[cold]
fn decide() -> bool {
    let invariant = hardware::is_invariant();
    SOURCE.store(if invariant { HARDWARE } else { MONOTONIC }, Ordering::Relaxed);
    invariant
}

pub(in crate::platform) fn per_second() -> u64 {
    match RATE.load(Ordering::Relaxed) {
        0 => {
            let monotonic = NANOS_PER_SECOND >> MONOTONIC_SHIFT;
            let rate = if is_hardware() { hardware::rate() } else { monotonic };
            // Fits: a hardware counter is used only with 64 bits. Two threads measure two rates, and
            // the first one stays: the same ticks always convert to the same time.
            let (relaxed, rate) = (Ordering::Relaxed, rate as usize);
            RATE.compare_exchange(0, rate, relaxed, relaxed).map_or_else(|it| it, |_| rate) as u64
        }
        rate => rate as u64,
    }
}

/// Returns the binary logarithm of about a second in ticks: between half a second and two. It needs
/// no calibration.
#[allow(dead_code, reason = "Linux looks at masks of CPUs about once a second")]
#[inline]
pub(in crate::platform) fn second_bits() -> u32 {
    if is_hardware() { hardware::second_bits() } else { MONOTONIC_SECOND_BITS }
}

/// 1.07 seconds.
const MONOTONIC_SECOND_BITS: u32 = 30 - MONOTONIC_SHIFT;

/// The number of low bits of the clock's nanoseconds that ticks leave out.
///
/// Locks keep points in time in a machine word, and compare them as numbers that wrap around. On 32
/// bits ticks are 64 ns long, the time that a cache line takes from one CPU to another, which is
/// the shortest time that a lock measures. A comparison of two points in time is then correct if
/// they are less than 137 seconds apart.
const MONOTONIC_SHIFT: u32 = if usize::BITS == 64 { 0 } else { 6 };

/// Ticks in 1,024 nanoseconds; 0 before the first call.
static PER_1024_NANOS: AtomicUsize = AtomicUsize::new(0);

#[inline]
pub(in crate::platform) fn in_nanos(nanos: u32) -> usize {
    let scale = match PER_1024_NANOS.load(Ordering::Relaxed) {
        0 => scale(),
        scale => scale,
    };
    // 64 bits: the product of 2^32 nanoseconds and 2^32 ticks in 1,024 of them still fits.
    ((u64::from(nanos) * scale as u64) >> 10) as usize
}

#[cold]
fn scale() -> usize {
    let scale = ((per_second() << 10) / NANOS_PER_SECOND).max(1) as usize;
    PER_1024_NANOS.store(scale, Ordering::Relaxed);
    scale
}

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
mod hardware {
    use core::arch::x86_64::{__cpuid, _rdtsc};

    use super::{NANOS_PER_SECOND, monotonic};

    /// Long enough that the error of about 20 ns in reading the clocks is 0.01 %, and short because
    /// the first thread that waits for a lock may have to wait for this.
    const CALIBRATION_NANOS: u64 = 200_000;

    #[inline(always)]
    pub(in crate::platform) fn read() -> u64 {
        // SAFETY: every x86-64 CPU has RDTSC, and Linux permits it in user space.
        unsafe { _rdtsc() }
    }

    /// RDTSC may be executed before an older instruction has its result. LFENCE waits for all of
    /// them (Intel SDM volume 2, "RDTSC"; also on AMD, since Linux makes it dispatch serializing).
    #[inline(always)]
    pub(in crate::platform) fn complete() {
        // SAFETY: SSE2, and with it LFENCE, is part of x86-64.
        unsafe { core::arch::x86_64::_mm_lfence() };
    }

    pub(in crate::platform) fn is_invariant() -> bool {
        const LEAF: u32 = 0x8000_0007;
        const INVARIANT_TSC: u32 = 1 << 8;
        __cpuid(0x8000_0000).eax >= LEAF && __cpuid(LEAF).edx & INVARIANT_TSC != 0
    }

    /// The counters of CPUs in use run at 1 to 4 GHz.
    #[inline]
    pub(in crate::platform) fn second_bits() -> u32 {
        31
    }

    /// Measured against the monotonic clock: CPUID leaf 15H reports the rate only on some CPUs, and
    /// almost never in a virtual machine.
    pub(in crate::platform) fn rate() -> u64 {
        let (start, start_ticks) = both();
        loop {
            core::hint::spin_loop();
            if monotonic().as_nanos() - start >= CALIBRATION_NANOS {
                let (end, end_ticks) = both();
                let ticks = u128::from(end_ticks.wrapping_sub(start_ticks));
                // Fits: no counter has 2^64 ticks in a second.
                return (ticks * u128::from(NANOS_PER_SECOND) / u128::from(end - start)) as u64;
            }
        }
    }

    /// Returns both clocks at the same moment: of a few attempts, the one with the shortest time
    /// between the readings around the ticks.
    fn both() -> (u64, u64) {
        const ATTEMPTS: usize = 5;
        let mut best = (u64::MAX, 0, 0);
        for _ in 0..ATTEMPTS {
            let before = monotonic().as_nanos();
            let ticks = read();
            let between = monotonic().as_nanos() - before;
            if between < best.0 {
                best = (between, before + between / 2, ticks);
            }
        }
        (best.1, best.2)
    }
}

#[cfg(all(target_arch = "aarch64", target_pointer_width = "64", not(miri)))]
mod hardware {
    use core::arch::asm;

    #[inline(always)]
    pub(in crate::platform) fn read() -> u64 {
        let ticks: u64;
        // SAFETY: Linux allows CNTVCT_EL0 to user space; reading it changes nothing.
        unsafe {
            asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags));
        };
        ticks
    }

    /// The counter may be read early; ISB waits for older instructions (Arm ARM, D12.2.1).
    #[inline(always)]
    pub(in crate::platform) fn complete() {
        // SAFETY: a barrier, which accesses nothing.
        unsafe { asm!("isb", options(nostack, preserves_flags)) };
    }

    /// The rate is the number that firmware has written into a register. If firmware has left that
    /// out, the length of a tick is unknown.
    pub(in crate::platform) fn is_invariant() -> bool {
        rate() != 0
    }

    /// The nearest power of two: counters run at 24 MHz to 1 GHz.
    pub(in crate::platform) fn second_bits() -> u32 {
        (rate() + rate() / 2).ilog2()
    }

    pub(in crate::platform) fn rate() -> u64 {
        let rate: u64;
        // SAFETY: CNTFRQ_EL0 is readable by user space; reading it changes nothing.
        unsafe {
            asm!("mrs {}, cntfrq_el0", out(reg) rate, options(nomem, nostack, preserves_flags));
        };
        rate
    }
}

#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    not(miri)
)))]
mod hardware {
    pub(in crate::platform) fn read() -> u64 {
        super::monotonic().as_nanos()
    }

    pub(in crate::platform) fn complete() {}

    pub(in crate::platform) fn is_invariant() -> bool {
        false
    }

    pub(in crate::platform) fn second_bits() -> u32 {
        super::MONOTONIC_SECOND_BITS
    }

    pub(in crate::platform) fn rate() -> u64 {
        super::NANOS_PER_SECOND
    }
}
