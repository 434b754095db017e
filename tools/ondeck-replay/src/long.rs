//! Long sections that bursts miss, by their count.

use crate::LONG;
use crate::passage::{Passage, Shorter, Step};
use crate::recording::{Action, Long, Thread};

/// Long sections of a kind that bursts have less often than this are replayed by their count
/// instead.
const SEEN: usize = 10;
/// One acquisition in this number is such a section, if there are fewer: rarer ones are replayed
/// more often and as much shorter, so that a short simulation has enough of them.
const RAREST: f64 = 1_000.0;

/// A kind of sections: the lock that begins them, and the call site.
type Kind = (usize, Option<usize>);

/// The long sections of the thread that its bursts have too rarely.
pub fn rare(thread: &Thread) -> Vec<Long> {
    let mut seen: Vec<Kind> = Vec::new();
    for burst in &thread.bursts {
        let mut section: Option<(Kind, f64)> = None;
        for it in &burst.operations {
            let slept = if it.action == Action::Blocked { it.took } else { 0.0 };
            if let Some((_, time)) = &mut section {
                *time += it.work + slept;
            }
            match (section, it.lock) {
                (Some((kind, time)), Some(lock)) if !it.acquires() && kind.0 == lock => {
                    seen.extend((time > LONG).then_some(kind));
                    section = None;
                }
                (None, Some(lock)) if it.acquires() => section = Some(((lock, it.site), 0.0)),
                _ => {}
            }
        }
    }
    let count = |long: &Long| seen.iter().filter(|kind| **kind == (long.lock, long.site)).count();
    thread.long.iter().filter(|long| count(long) < SEEN).copied().collect()
}

/// Replays the long sections in a part that has this share of the thread's acquisitions.
pub fn passage_of(long: &Long, acquisitions: f64, share: f64, shorter: &[Shorter]) -> Passage {
    let (count, time) = (long.count as f64 * share, (long.work + long.blocked) * share);
    let draw = count.max((acquisitions / RAREST).min(time / LONG));
    let (take, release) = match long.action {
        Action::Read => (Step::Read(long.lock), Step::EndRead(long.lock)),
        Action::Write => (Step::Write(long.lock), Step::EndWrite(long.lock)),
        _ => (Step::Lock(long.lock), Step::Unlock(long.lock)),
    };
    let factor = |it: &Shorter| (long.site == Some(it.site)).then_some(it.factor);
    let work = long.work * share / draw * shorter.iter().filter_map(factor).product::<f64>();
    let mut steps = vec![take, Step::Work(work)];
    if long.blocked > 0.0 {
        steps.push(Step::Sleep(long.blocked * share / draw));
    }
    steps.push(release);
    Passage { weight: draw.round() as u64, draw, is_long: true, steps, entries: vec![0] }
}
