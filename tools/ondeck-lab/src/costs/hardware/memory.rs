//! The latency of a load whose line is in no cache.

use super::super::{Timing, two_threads};
use crate::clock::TickScale;
use crate::cpus;
use crate::system;
use ondeck::platform::{Native, Platform};

/// A cache line, and the next one of the chain.
#[repr(align(64))]
struct Line {
    next: u32,
}

/// Follows a chain in random order through more memory than caches hold; returns the shortest of
/// several stretches.
pub(super) fn latency() -> Timing {
    /// 256 MiB: few caches are larger, and it is made in half a second.
    const LINES: u32 = 1 << 22;
    /// Each is shorter than a time slice.
    const STRETCHES: u32 = 128;
    const LOADS: u32 = 1 << 12;
    let mut lines: Vec<Line> = Vec::new();
    lines.try_reserve_exact(LINES as usize).map_err(|error| error.to_string())?;
    advise_large_pages(&mut lines);
    lines.extend((0..LINES).map(|_| Line { next: 0 }));
    close(&mut lines);
    two_threads::on_cpu(cpus::first(), || {
        let (mut line, mut least) = (0, f64::INFINITY);
        for _ in 0..STRETCHES {
            let start = Native::ticks();
            line = (0..LOADS).fold(line, |line, _| lines[line as usize].next);
            least = least.min(TickScale::get().between(start, Native::ticks()));
        }
        std::hint::black_box(line);
        Ok(least / f64::from(LOADS))
    })
}

/// Links all lines into one ring in random order. A chain that closed early would fit into the
/// caches.
fn close(lines: &mut [Line]) {
    let mut order: Vec<u32> = (0..lines.len() as u32).collect();
    fastrand::Rng::with_seed(1).shuffle(&mut order);
    for pair in order.windows(2) {
        lines[pair[0] as usize].next = pair[1];
    }
    if let (Some(&first), Some(&last)) = (order.first(), order.last()) {
        lines[last as usize].next = first;
    }
}

/// Requests large pages, so that the time is the line's and includes no page walks. The first touch
/// of a page decides its size, so the request comes before it.
fn advise_large_pages(lines: &mut Vec<Line>) {
    /// `madvise` requires whole pages; this is the largest of the ordinary page sizes.
    const PAGE: usize = 65536;
    let spare = lines.spare_capacity_mut();
    let (address, bytes) = (spare.as_mut_ptr().addr(), size_of_val(spare));
    let (start, end) = (address.next_multiple_of(PAGE), (address + bytes) / PAGE * PAGE);
    let start = spare.as_mut_ptr().with_addr(start).cast();
    system::advise_large_pages(start, end.saturating_sub(start.addr()));
}

#[cfg(test)]
mod tests {
    use super::{Line, close};

    #[test]
    fn the_chain_visits_every_line() {
        let mut lines: Vec<_> = (0..1000).map(|_| Line { next: 0 }).collect();
        close(&mut lines);
        let mut seen = vec![false; lines.len()];
        let mut line = 0;
        while !seen[line] {
            seen[line] = true;
            line = lines[line].next as usize;
        }
        assert!(seen.iter().all(|&seen| seen));
    }
}
