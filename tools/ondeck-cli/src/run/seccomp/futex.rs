//! The arguments of futex(2).

use ondeck_profile::who::Stopped;
use ondeck_record::observed::remote::ticks_in;

/// The call waits without a deadline if it asks for more than this, an hour.
const LONGEST: i128 = 3_600_000_000_000;

/// A call of futex(2), as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Futex {
    /// With the expected value, if the thread sleeps only then.
    Wait(Option<u32>),
    /// The largest number of threads that the call wakes at its word, and at its second word.
    Wake(u64, u64),
    /// Wakes, and moves others to the second word.
    Requeue(u64, u64),
}

impl Futex {
    pub(super) fn of(&[_, operation, value, second, ..]: &[u64; 6]) -> Option<Self> {
        const LOCK_PI2: i32 = 13;
        // As the kernel, which takes 0 for 1.
        let count = |value: u64| u64::from((value as u32).max(1));
        Some(match operation as i32 & libc::FUTEX_CMD_MASK {
            libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET | libc::FUTEX_WAIT_REQUEUE_PI => {
                Self::Wait(Some(value as u32))
            }
            libc::FUTEX_LOCK_PI | LOCK_PI2 => Self::Wait(None),
            libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => Self::Wake(count(value), 0),
            libc::FUTEX_UNLOCK_PI => Self::Wake(1, 0),
            libc::FUTEX_WAKE_OP => Self::Wake(count(value), count(second)),
            libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE | libc::FUTEX_CMP_REQUEUE_PI => {
                Self::Requeue(u64::from(value as u32), u64::from(second as u32))
            }
            _ => return None,
        })
    }
}

/// Returns when a wait ends by itself, if it does.
pub(super) fn deadline(stopped: &Stopped, operation: i32, timeout: u64, now: u64) -> Option<u64> {
    if timeout == 0 {
        return None;
    }
    let [seconds, nanos] = [0, 8].map(|at| stopped.word(timeout.wrapping_add(at)));
    let of = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let time = of(seconds?.cast_signed(), nanos?.cast_signed());
    let command = operation & libc::FUTEX_CMD_MASK;
    let left = if command == libc::FUTEX_WAIT {
        time
    } else {
        let is_realtime =
            operation & libc::FUTEX_CLOCK_REALTIME != 0 || command == libc::FUTEX_LOCK_PI;
        let clock = if is_realtime { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
        // SAFETY: plain data, for which zeros are valid.
        let mut is: libc::timespec = unsafe { std::mem::zeroed() };
        // SAFETY: the call writes to the structure.
        unsafe { libc::clock_gettime(clock, &raw mut is) };
        time - of(is.tv_sec, is.tv_nsec)
    };
    (left < LONGEST).then(|| now + ticks_in(left.max(0) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_waits_wakes_and_moves() {
        let of = |operation: i32, value: u64, second: u64| {
            let private = operation | libc::FUTEX_PRIVATE_FLAG;
            Futex::of(&[0x1000, private as u64, value, second, 0x2000, 0])
        };
        let all = u64::from(i32::MAX as u32);
        for (found, expected) in [
            (of(libc::FUTEX_WAIT, 2, 0), Some(Futex::Wait(Some(2)))),
            (of(libc::FUTEX_WAIT_BITSET, u64::MAX, 0), Some(Futex::Wait(Some(u32::MAX)))),
            (of(libc::FUTEX_LOCK_PI, 0, 0), Some(Futex::Wait(None))),
            (of(libc::FUTEX_WAKE, 0, 0), Some(Futex::Wake(1, 0))),
            (of(libc::FUTEX_WAKE, all, 0), Some(Futex::Wake(all, 0))),
            (of(libc::FUTEX_WAKE_OP, 1, 3), Some(Futex::Wake(1, 3))),
            (of(libc::FUTEX_REQUEUE, 0, 1), Some(Futex::Requeue(0, 1))),
            (of(libc::FUTEX_TRYLOCK_PI, 0, 0), None),
        ] {
            assert_eq!(found, expected);
        }
    }
}
