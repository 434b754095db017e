//! The tables of locks and of samples, and the account of a lock's waiting threads.

use core::ffi::CStr;
use core::sync::atomic::Ordering;

use crate::layout::{
    File, LOCKS, Lock, PLACES, Place, Role, SAMPLES, Sample, bucket_of, place_of, sample_key,
};
use crate::{clock, room};

/// If this number of consecutive places is occupied, a table is treated as full.
const FAR: usize = 128;

/// Returns the entry of the lock at `address`, and whether it is new. `None` if there is no room,
/// which is counted. `turn` is the lock's count of acquisitions; 0 if it has none.
pub fn lock(
    file: &'static File,
    address: usize,
    kind: u32,
    turn: u64,
) -> Option<(&'static Lock, bool)> {
    keyed(file, address as u64, address, kind, turn)
}

/// As [`lock`], for an entry that is found by another number than its address.
pub fn keyed(
    file: &'static File,
    key: u64,
    address: usize,
    kind: u32,
    turn: u64,
) -> Option<(&'static Lock, bool)> {
    let first = place_of(key, PLACES);
    for step in 0..FAR {
        let place = &file.places[(first + step) & (PLACES - 1)];
        if room::reach(file, place).is_none() {
            break;
        }
        let seen = match place.address.load(Ordering::Acquire) {
            // If no entry is left, no place is used either, so that the search stays short.
            0 if file.header.locks_used.load(Ordering::Relaxed) >= LOCKS as u64 => break,
            0 => place.address.compare_exchange(0, key, Ordering::AcqRel, Ordering::Acquire),
            other => Err(other),
        };
        match seen {
            Ok(_) => {
                let number = file.header.locks_used.fetch_add(1, Ordering::Relaxed);
                let Some(lock) = file.locks.get(number as usize) else { break };
                if room::reach(file, lock).is_none() {
                    break;
                }
                lock.kind.store(kind, Ordering::Relaxed);
                if file.header.counted_before.load(Ordering::Relaxed) != 0 {
                    lock.acquisitions_before.store(turn, Ordering::Relaxed);
                    lock.acquisitions.store(turn, Ordering::Relaxed);
                }
                lock.address.store(address as u64, Ordering::Release);
                // Release: publishes the entry to which it refers.
                place.entry.store(number + 1, Ordering::Release);
                return Some((lock, true));
            }
            // Another thread may be about to enter the lock: the caller's record is dropped.
            Err(other) if other == key => match entry(file, place) {
                Some(lock) => return Some((lock, false)),
                None => break,
            },
            Err(_) => {}
        }
    }
    file.header.dropped_locks.fetch_add(1, Ordering::Relaxed);
    None
}

fn entry(file: &'static File, place: &Place) -> Option<&'static Lock> {
    let number = place.entry.load(Ordering::Acquire);
    file.locks.get(number.checked_sub(1)? as usize)
}

/// Returns the entry of the lock at `address`, if it has one.
pub fn find(file: &'static File, address: usize) -> Option<&'static Lock> {
    let key = address as u64;
    let first = place_of(key, PLACES);
    for step in 0..FAR {
        let place = room::reach(file, &file.places[(first + step) & (PLACES - 1)])?;
        match place.address.load(Ordering::Acquire) {
            0 => return None,
            other if other == key => return entry(file, place),
            _ => {}
        }
    }
    None
}

/// Gives the entry a name, unless it has one.
pub fn name(lock: &Lock, name: &CStr) {
    let ([first, others @ ..], [one, rest @ ..]) = (&lock.name, name.to_bytes()) else { return };
    // The thread that writes the first byte writes all. Relaxed: a reader may find a part of the
    // name, as of all else.
    if first.load(Ordering::Relaxed) == 0
        && first.compare_exchange(0, *one, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    {
        others.iter().zip(rest).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
    }
}

/// Records that another lock is initialized at `address`: its count begins at 0, and the count of
/// the previous one is kept.
pub fn initialized(file: &'static File, address: usize, kind: u32) {
    if let Some(lock) = find(file, address) {
        let counted = lock.acquisitions.swap(0, Ordering::Relaxed);
        lock.acquisitions_before.fetch_sub(counted, Ordering::Relaxed);
        lock.reused.fetch_add(1, Ordering::Relaxed);
        lock.kind.store(kind, Ordering::Relaxed);
    }
}

/// Adds to the sample of this stack at this lock.
pub fn sample(file: &File, lock: &Lock, role: Role, stack: u32, count: u64, ticks: u64, one: u64) {
    let number =
        (core::ptr::from_ref(lock).addr() - file.locks.as_ptr().addr()) / size_of::<Lock>();
    let key = sample_key(number, role, stack);
    let first = place_of(key, SAMPLES);
    for step in 0..FAR {
        let sample: &Sample = &file.samples[(first + step) & (SAMPLES - 1)];
        if room::reach(file, sample).is_none() {
            break;
        }
        let seen = match sample.key.load(Ordering::Relaxed) {
            0 => sample.key.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed),
            other => Err(other),
        };
        if seen.is_ok() || seen == Err(key) {
            sample.count.fetch_add(count, Ordering::Relaxed);
            sample.ticks.fetch_add(ticks, Ordering::Relaxed);
            sample.longest.fetch_max(one, Ordering::Relaxed);
            return;
        }
    }
    file.header.dropped_samples.fetch_add(1, Ordering::Relaxed);
}

/// Makes one change of the account; see [`Lock`].
fn change(lock: &Lock, change: impl FnOnce()) {
    lock.begun.fetch_add(1, Ordering::AcqRel);
    change();
    // Release: publishes the change. Pairs with the acquire load of `charge`.
    lock.done.fetch_add(1, Ordering::AcqRel);
}

/// Records that a thread that counts for `weight` began to wait at `now`.
pub fn arrive(lock: &Lock, now: u64, weight: u32) {
    let weight = u64::from(weight);
    change(lock, || {
        lock.area.fetch_sub(weight.wrapping_mul(now), Ordering::AcqRel);
        if lock.waiting.fetch_add(weight, Ordering::AcqRel) == 0 {
            lock.since.store(now, Ordering::Relaxed);
        }
    });
}

/// Records that the thread stopped waiting at `now`.
pub fn leave(lock: &Lock, now: u64, weight: u32) {
    let weight = u64::from(weight);
    change(lock, || {
        lock.area.fetch_add(weight.wrapping_mul(now), Ordering::AcqRel);
        lock.waiting.fetch_sub(weight, Ordering::AcqRel);
    });
}

/// Changes the weight of a thread that has waited since `arrived` from `from` to `to`, as if it had
/// been `to` since the arrival.
pub fn reweigh(lock: &Lock, arrived: u64, from: u32, to: u32) {
    let (from, to) = (u64::from(from), u64::from(to));
    change(lock, || {
        let area = from.wrapping_sub(to).wrapping_mul(arrived);
        lock.area.fetch_add(area, Ordering::AcqRel);
        lock.waiting.fetch_sub(from.wrapping_sub(to), Ordering::AcqRel);
    });
}

/// Returns the total ticks for which the owner that unlocked at `now` kept others waiting since the
/// previous unlock. 0 if other threads change the account too often to read it: the next owner is
/// then charged for both.
pub fn charge(lock: &Lock, now: u64) -> u64 {
    for _ in 0..4 {
        let done = lock.done.load(Ordering::Acquire);
        let waiting = lock.waiting.load(Ordering::Acquire);
        let area = lock.area.load(Ordering::Acquire);
        if lock.begun.load(Ordering::Acquire) == done {
            return raise(lock, area.wrapping_add(waiting.wrapping_mul(now)));
        }
    }
    0
}

/// Sets the amount that owners were charged with to `total`, and returns the increase.
///
/// The total may be smaller than before: because of a wait that began after the total's moment, or
/// because of an owner that recorded late. At the first waits of a lock it may even be less than 0.
fn raise(lock: &Lock, total: u64) -> u64 {
    let mut before = lock.charged.load(Ordering::Acquire);
    loop {
        let more = total.wrapping_sub(before);
        if !more.cast_signed().is_positive() {
            return 0;
        }
        match lock.charged.compare_exchange_weak(before, total, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => return more,
            Err(now) => before = now,
        }
    }
}

/// Adds `left` to the ticks that no owner was charged with, and takes `wanted` of them, or as many
/// as there are.
pub fn out_of_rest(lock: &Lock, left: u64, wanted: u64) -> u64 {
    if wanted <= left {
        lock.rest.fetch_add(left - wanted, Ordering::Relaxed);
        return wanted;
    }
    let mut rest = lock.rest.load(Ordering::Relaxed);
    loop {
        let taken = rest.min(wanted - left);
        match lock.rest.compare_exchange_weak(
            rest,
            rest - taken,
            Ordering::Relaxed,
            Ordering::Relaxed,
        ) {
            Ok(_) => return left + taken,
            Err(now) => rest = now,
        }
    }
}

/// Counts `weight` waits of `ticks` each.
pub fn waited(lock: &Lock, ticks: u64, weight: u32) {
    let weight = u64::from(weight);
    lock.events.fetch_add(1, Ordering::Relaxed);
    lock.waits.fetch_add(weight, Ordering::Relaxed);
    lock.wait_ticks.fetch_add(weight * ticks, Ordering::Relaxed);
    lock.wait_longest.fetch_max(ticks, Ordering::Relaxed);
    lock.wait_times[bucket_of(ticks)].fetch_add(weight, Ordering::Relaxed);
}

/// Counts a hold of `ticks` at whose end threads waited.
pub fn held(lock: &Lock, ticks: u64) {
    lock.events.fetch_add(1, Ordering::Relaxed);
    lock.holds.fetch_add(1, Ordering::Relaxed);
    lock.hold_ticks.fetch_add(ticks, Ordering::Relaxed);
    lock.hold_longest.fetch_max(ticks, Ordering::Relaxed);
    lock.hold_times[bucket_of(ticks)].fetch_add(1, Ordering::Relaxed);
}

/// Records that the thread with this number took part.
pub fn took_part(lock: &Lock, thread: u32) {
    let bit = 1 << (thread % 64);
    let word = &lock.threads[thread as usize / 64 % 4];
    // Most of the time the bit is already set, and the line need not be written.
    if word.load(Ordering::Relaxed) & bit == 0 {
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

/// Measures the cost of a wait that is not recorded, in sixteenths of a tick: two readings of the
/// clock, and about as much for everything else.
pub fn cost_of_look() -> u64 {
    const TIMES: u64 = 64;
    let start = clock::ticks();
    for _ in 0..TIMES {
        core::hint::black_box(clock::ticks());
    }
    clock::ticks().wrapping_sub(start) * 16 * 3 / TIMES
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::boxed::Box;

    use super::*;

    fn empty() -> Box<Lock> {
        // SAFETY: all fields are atomics, for which zeros are valid.
        unsafe { Box::new_zeroed().assume_init() }
    }

    #[test]
    fn a_long_name_is_cut_off_and_another_ignored() {
        let lock = empty();
        let told = || lock.name.each_ref().map(|byte| byte.load(Ordering::Relaxed));
        name(&lock, c"");
        assert_eq!(told(), [0; 48]);
        name(&lock, c"a name of fifty bytes, which is longer than the ro");
        name(&lock, c"log");
        assert_eq!(&told(), b"a name of fifty bytes, which is longer than the ");
    }

    #[test]
    fn owners_are_charged_with_all_that_others_waited_together() {
        let lock = empty();
        // Two threads wait since 100 and since 140; the owner unlocks at 200.
        arrive(&lock, 100, 1);
        arrive(&lock, 140, 3);
        assert_eq!(charge(&lock, 200), 100 + 3 * 60);
        // The first holds the lock from 210 on, and unlocks at 300.
        leave(&lock, 210, 1);
        assert_eq!(charge(&lock, 300), 10 + 3 * 100);
        leave(&lock, 310, 3);
        assert_eq!(charge(&lock, 400), 3 * 10);
        assert_eq!(charge(&lock, 500), 0);
    }

    #[test]
    fn a_thread_that_came_after_the_unlock_takes_nothing_off_the_charge() {
        let lock = empty();
        arrive(&lock, 100, 1);
        // Between the moment of the unlock, 150, and its record.
        arrive(&lock, 300, 1);
        assert_eq!(charge(&lock, 150), 0);
        assert_eq!(charge(&lock, 400), 300 + 100);
        assert_eq!(lock.charged.load(Ordering::Relaxed), 400);
    }

    #[test]
    fn a_thread_that_parks_counts_for_itself_from_its_arrival_on() {
        let lock = empty();
        arrive(&lock, 100, 16);
        reweigh(&lock, 100, 16, 1);
        assert_eq!(charge(&lock, 1_000), 900);
        leave(&lock, 1_100, 1);
        assert_eq!((charge(&lock, 2_000), lock.waiting.load(Ordering::Relaxed)), (100, 0));
    }
}
