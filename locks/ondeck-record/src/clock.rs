//! Ticks: the time-stamp counter of x86-64 if it runs at a constant rate, otherwise
//! `CLOCK_MONOTONIC`.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

const UNKNOWN: u8 = 0;
const COUNTER: u8 = 1;
const MONOTONIC: u8 = 2;

/// The source of ticks. Relaxed: no other data depends on it, and each thread decides the same.
static SOURCE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Ticks a second, or 0 before the measurement. A child of a fork need not measure again.
static RATE: AtomicU64 = AtomicU64::new(0);

const NANOS_PER_SECOND: u64 = 1_000_000_000;

pub fn nanos_of(clock: libc::clockid_t) -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: clock_gettime writes to the given timespec; if it fails, the zeros stay.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec.cast_unsigned() * NANOS_PER_SECOND + time.tv_nsec.cast_unsigned()
}

/// Returns the current time.
#[inline]
pub fn ticks() -> u64 {
    match SOURCE.load(Ordering::Relaxed) {
        COUNTER => counter::read(),
        MONOTONIC => nanos_of(libc::CLOCK_MONOTONIC),
        _ => decide(),
    }
}

#[cold]
fn decide() -> u64 {
    let source = if counter::is_invariant() { COUNTER } else { MONOTONIC };
    SOURCE.store(source, Ordering::Relaxed);
    ticks()
}

/// Returns ticks and nanoseconds of `CLOCK_MONOTONIC` at the same moment, from the least
/// interrupted of a few attempts.
pub fn both() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..4 {
        let before = ticks();
        let nanos = nanos_of(libc::CLOCK_MONOTONIC);
        let between = ticks().wrapping_sub(before);
        if between < best.0 {
            best = (between, before + between / 2, nanos);
        }
    }
    (best.1, best.2)
}

/// Returns the ticks a second. The first call measures them for 0.2 ms.
///
/// The recorder needs the rate only for its own limits. The reader uses a second moment, much
/// later.
pub fn rate() -> u64 {
    let known = RATE.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let (start_ticks, start) = both();
    let rate = loop {
        let (ticks, nanos) = both();
        let passed = nanos.saturating_sub(start);
        if passed >= 200_000 {
            let counted = u128::from(ticks.wrapping_sub(start_ticks));
            break (counted * u128::from(NANOS_PER_SECOND) / u128::from(passed)) as u64;
        }
    };
    RATE.store(rate.max(1), Ordering::Relaxed);
    rate.max(1)
}

/// Returns the ticks in `nanos` nanoseconds; 0 while the rate is unknown.
#[inline]
pub fn ticks_in(nanos: u64) -> u64 {
    // An hour of nanoseconds at 5 GHz is 2^42 times 2^33, which would overflow, so compute with
    // microseconds.
    nanos * (RATE.load(Ordering::Relaxed) / 1_000_000) / 1_000
}

/// Returns the nanoseconds in `ticks` ticks, once the rate is known.
pub fn nanos_in(ticks: u64) -> u64 {
    let rate = u128::from(RATE.load(Ordering::Relaxed).max(1));
    (u128::from(ticks) * u128::from(NANOS_PER_SECOND) / rate) as u64
}

#[cfg(target_arch = "x86_64")]
mod counter {
    use core::arch::x86_64::{__cpuid, _rdtsc};

    #[inline(always)]
    pub fn read() -> u64 {
        // SAFETY: every x86-64 CPU has RDTSC, and Linux allows it in user space.
        unsafe { _rdtsc() }
    }

    /// CPUID leaf 8000_0007H, EDX bit 8 (Intel SDM volume 3, "Invariant TSC").
    pub fn is_invariant() -> bool {
        const LEAF: u32 = 0x8000_0007;
        __cpuid(0x8000_0000).eax >= LEAF && __cpuid(LEAF).edx & 1 << 8 != 0
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod counter {
    pub fn read() -> u64 {
        super::nanos_of(libc::CLOCK_MONOTONIC)
    }

    pub fn is_invariant() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_nanoseconds_pass_at_the_measured_rate() {
        let rate = rate();
        let one_second = ticks_in(NANOS_PER_SECOND);
        assert!(rate.abs_diff(one_second) < 1_000_000, "{rate} a second, {one_second} in one");
        assert_eq!(ticks_in(3_600 * NANOS_PER_SECOND), 3_600 * one_second);
        assert!(nanos_in(one_second).abs_diff(NANOS_PER_SECOND) < 1_000_000);
    }
}
