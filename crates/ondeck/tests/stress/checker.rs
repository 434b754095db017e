//! Proves from the logs of all threads that a lock kept its promises.
//!
//! **Exclusion.** Each section draws a ticket from a counter that only the lock guards. Sorted by their tickets, the
//! sections of a lock are numbered from 0, and none began before its predecessor had ended. If two ran at once, or one
//! did not see its predecessor's stores, a number would occur twice.
//!
//! **Bounded bypass.** A lock that allows barging promises no order. This lock promises that a thread that has been
//! parked for a millisecond ([`OVERDUE_AFTER`]) is handed the lock by an unlock, one such thread every half a
//! millisecond ([`PERIOD`]). No wall time is asserted, because a machine may be busy or stopped for any time. Chances
//! are counted instead. The log's own clock is divided into periods. A wait is charged with the periods between the
//! moment when it became overdue and its acquisition, each weighted by the number of unlocks in it:
//!
//! * A period without an unlock counts as 0, because no waiter was passed over. So a period does not count if the
//!   process is stopped, if the owner has no CPU, or if the waiter was handed the lock and has not run yet: it is then
//!   the owner, and no other thread can be.
//! * A period with 128 unlocks or more counts as 1. While a thread is awake at the lock, only one random unlock in 128
//!   checks for an overdue waiter. A period with fewer unlocks counts as that fraction of 128.
//! * A waiter that is ready to run but has no CPU may be awake (the poller, or not yet in the queue), and is not handed
//!   the lock. The kernel reports an upper bound of that time, and this number of periods is not counted.
//!
//! In a period with a chance the oldest waiter is served, unless another thread takes the lock at the moment of the
//! handoff, which then fails and is tried in the next period. At most all other waiters are ahead of it. But a woken
//! waiter that does not get the lock goes to the end of the queue, and others may be served before it again. So no
//! bound is certain. [`most_chances`] is far above every count that was seen, and far below the counts of a lock
//! without handoffs.

/// The time for which a waiter is parked before it is overdue.
pub const OVERDUE_AFTER: u64 = 1_000_000;

/// The time between two handoffs.
pub const PERIOD: u64 = 500_000;

/// While a thread is awake at the lock, one unlock in this number checks for an overdue waiter.
const SAMPLE: f64 = 128.0;

/// One section. Times are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The lock's number.
    pub lock: usize,
    /// The number of previous sections of that lock.
    pub ticket: usize,
    /// When the thread began to want the lock.
    pub attempt: u64,
    /// When it acquired the lock.
    pub acquired: u64,
    /// When it was about to unlock.
    pub unlocked: u64,
    /// An upper bound of the time for which the thread was ready to run during its wait and had no CPU, in
    /// microseconds. Known only for long waits.
    pub delayed: u32,
    /// Whether it began with a wait at a condition variable. Only the notifier knows when the waiter began to wait for the
    /// lock.
    pub notified: bool,
}

/// A fault in a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Two sections at once, or one that did not see another's stores.
    Overlap { before: Section, after: Section },
    /// A waiter was passed over too often.
    Starved { waiter: Section, chances: f64, most: f64 },
}

/// The counts of a log without a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    pub sections: usize,
    /// The number of sections whose thread became overdue before them.
    pub long_waits: usize,
    /// The most chances that one of them had.
    pub chances: f64,
}

impl Report {
    /// Adds the counts of another log.
    pub fn add(&mut self, other: Self) {
        self.sections += other.sections;
        self.long_waits += other.long_waits;
        self.chances = self.chances.max(other.chances);
    }
}

/// Returns the number of chances that a waiter among `threads` may have before it acquires the lock.
pub fn most_chances(threads: usize) -> f64 {
    16.0 * (threads as f64 + 8.0)
}

/// Checks the logs of all threads that used `locks` locks. If `most_chances` is `None`, bypass is reported but not
/// judged.
pub fn check(
    logs: &[Vec<Section>],
    locks: usize,
    most_chances: Option<f64>,
) -> Result<Report, Fault> {
    let mut report = Report::default();
    for lock in 0..locks {
        let of_lock = logs.iter().flatten().filter(|section| section.lock == lock);
        let mut sections: Vec<Section> = of_lock.copied().collect();
        sections.sort_by_key(|section| (section.ticket, section.acquired));
        let mut before = Section::default();
        for (ticket, &after) in sections.iter().enumerate() {
            if after.ticket != ticket || after.acquired < before.unlocked {
                return Err(Fault::Overlap { before, after });
            }
            before = after;
        }
        let (long_waits, chances) = bypass(&sections, most_chances)?;
        report.add(Report { sections: sections.len(), long_waits, chances });
    }
    Ok(report)
}

/// Returns the number of waiters that became overdue, and the most chances that one of them had.
fn bypass(sections: &[Section], most: Option<f64>) -> Result<(usize, f64), Fault> {
    let (Some(first), Some(last)) = (sections.first(), sections.last()) else {
        return Ok((0, 0.0));
    };
    let start = first.unlocked;
    let period = |time: u64| (time.saturating_sub(start) / PERIOD) as usize;
    let mut unlocks = vec![0.0_f64; period(last.unlocked) + 2];
    for section in sections {
        unlocks[period(section.unlocked)] += 1.0;
    }
    // The sums of the chances in all periods before each period.
    let mut before = Vec::with_capacity(unlocks.len() + 1);
    let mut sum = 0.0;
    for count in unlocks {
        before.push(sum);
        sum += (count / SAMPLE).min(1.0);
    }
    let (mut long_waits, mut worst) = (0, 0.0_f64);
    for &waiter in sections.iter().filter(|section| !section.notified) {
        let due = waiter.attempt + OVERDUE_AFTER;
        if waiter.acquired <= due {
            continue;
        }
        long_waits += 1;
        let (from, to) = (period(due) + 1, period(waiter.acquired));
        let had = before[to.max(from)] - before[from];
        let forgiven = f64::from(waiter.delayed) * 1e3 / PERIOD as f64;
        let chances = (had - forgiven).max(0.0);
        worst = worst.max(chances);
        if let Some(most) = most
            && chances > most
        {
            return Err(Fault::Starved { waiter, chances, most });
        }
    }
    Ok((long_waits, worst))
}
