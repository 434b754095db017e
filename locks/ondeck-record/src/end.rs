//! The end of a program: adds the acquisitions that locks have counted since they were last
//! recorded.

use core::sync::atomic::Ordering;

use crate::layout::{File, LOCKS};
use crate::sys::Memory;
use crate::{clock, maps, room};

/// The offsets in a `pthread_mutex_t` of its kind, and of the count that the preloaded library
/// keeps there.
const KIND: usize = 16;
const ACQUISITIONS: usize = 24;

/// Completes the file.
pub fn finish(file: &File) {
    // Only the used entries: reading a page of the file would allocate memory for it.
    let used = file.header.locks_used.load(Ordering::Relaxed) as usize;
    let memory = Memory::open(0);
    let peek = |address: usize, buffer: &mut [u8]| {
        memory.as_ref().is_some_and(|memory| memory.read(address as u64, buffer))
    };
    for lock in &file.locks[..used.min(LOCKS)] {
        let Some(lock) = room::reach(file, lock) else { continue };
        let address = lock.address.load(Ordering::Acquire) as usize;
        let known = lock.acquisitions.load(Ordering::Relaxed);
        if address == 0 || known == 0 {
            // This lock does not count.
            continue;
        }
        // The lock's memory may be freed or reused: the kind or the count then most likely does not
        // fit.
        let (mut now_kind, mut count) = ([0; 4], [0; 8]);
        if peek(address + KIND, &mut now_kind)
            && peek(address + ACQUISITIONS, &mut count)
            && u32::from_ne_bytes(now_kind) & 3 == lock.kind.load(Ordering::Relaxed)
        {
            let count = u64::from_ne_bytes(count);
            if (known..known.saturating_add(1 << 40)).contains(&count) {
                lock.acquisitions.store(count, Ordering::Relaxed);
            }
        }
    }
    let (ticks, nanos) = clock::both();
    file.header.later_monotonic.store(nanos, Ordering::Relaxed);
    file.header.later_ticks.store(ticks, Ordering::Release);
    maps::refresh(file);
    file.header.ended.store(1, Ordering::Release);
}
