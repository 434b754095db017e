//! A ring buffer of the kernel's events, read to its end after the run.

use perf_event::Sampler;

/// The requested head of every record: thread, time, CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) nanos: u64,
    pub(super) cpu: u32,
}

/// `PERF_RECORD_*` of the kernel's interface.
pub(super) const LOST: u32 = 2;
pub(super) const SAMPLE: u32 = 9;

/// Bytes of process, thread, time, CPU and a reserved word: at the beginning of a sample, at the
/// end of every other record.
const HEAD: usize = 24;

impl Head {
    /// Parses a record's bytes; `None` if they are too few.
    pub(super) fn of(kind: u32, bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = if kind == SAMPLE {
            bytes.split_at_checked(HEAD)?
        } else {
            let (rest, head) = bytes.split_at_checked(bytes.len().checked_sub(HEAD)?)?;
            (head, rest)
        };
        let nanos = u64::from_ne_bytes(head[8..16].try_into().ok()?);
        let cpu = u32::from_ne_bytes(head[16..20].try_into().ok()?);
        Some((Self { nanos, cpu }, rest))
    }
}

/// Passes every record to `take`: kind, flags, head and bytes. If not everything fitted, returns
/// the time of the last event before the loss.
///
/// A full ring stays full, because it is read only after the run. It has no room for a record of
/// the loss; its fill level shows it.
pub(super) fn drain(
    sampler: &mut Sampler,
    capacity: usize,
    mut take: impl FnMut(u32, u16, Head, &[u8]),
) -> Option<u64> {
    /// Larger than any record with its header.
    const LARGEST: usize = 256;
    const HEADER: usize = 8;
    let mut lost = None;
    let (mut latest, mut length) = (0, 0);
    while let Some(record) = sampler.next_record() {
        length += record.len() + HEADER;
        let bytes = record.to_contiguous();
        let Some((head, rest)) = Head::of(record.ty(), &bytes) else { continue };
        if record.ty() == LOST {
            lost.get_or_insert(latest);
        } else {
            take(record.ty(), record.misc(), head, rest);
            latest = head.nanos;
        }
    }
    if length + LARGEST > capacity {
        lost.get_or_insert(latest);
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_in_front_of_a_sample_and_behind_other_records() {
        let mut head = [0_u8; HEAD];
        head[8..16].copy_from_slice(&77_u64.to_ne_bytes());
        head[16..20].copy_from_slice(&3_u32.to_ne_bytes());
        let wanted = Head { nanos: 77, cpu: 3 };
        let sample = [&head[..], b"rest"].concat();
        assert_eq!(Head::of(SAMPLE, &sample), Some((wanted, &b"rest"[..])));
        let other = [&b"rest"[..], &head].concat();
        assert_eq!(Head::of(LOST, &other), Some((wanted, &b"rest"[..])));
        assert_eq!(Head::of(LOST, &head[..20]), None);
    }
}
