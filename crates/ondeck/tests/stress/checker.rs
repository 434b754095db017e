//! Proves from the logs of all threads that a lock did what it promises.
//!
//! **Exclusion.** Sorted by their tickets, the sections of a lock are numbered from 0, with no gap and no
//! number twice. Each section found the stamp that its predecessor left, and none began before its
//! predecessor had ended. The sections of a thread do not overlap with its next attempt.
//!
//! **Bounded bypass.** A lock that allows barging promises no order. This lock promises that a thread that
//! has been parked for a millisecond ([`OVERDUE_AFTER`]) is handed the lock by an unlock, one such thread
//! every half a millisecond ([`PERIOD`]). No wall time is asserted, because a machine may be busy or
//! stopped for any time. Chances are counted instead. The log's own clock is cut into periods, and a wait
//! is charged with the periods between the moment when it became overdue and its acquisition, each by how
//! many times the lock was unlocked in it:
//!
//! * A period without an unlock counts nothing, because no waiter was passed over. So a period does not
//!   count if the process is stopped, if the owner has no CPU, or if the waiter was handed the lock and has
//!   not run yet: then it is the owner, and no other thread can be.
//! * A period with 128 unlocks or more counts 1. While a thread is awake at the lock, only one unlock in
//!   128 looks whether a waiter is overdue, at random. A period with fewer unlocks counts for that part of
//!   128.
//! * A waiter that is ready to run but has no CPU may be awake (the poller, or not yet in the queue), and
//!   is not handed the lock. The kernel tells for how long at most that was, and so many periods are not
//!   counted.
//!
//! In a period with a chance the oldest waiter is served, unless another thread takes the lock at the
//! moment of the handoff, which then fails and is tried in the next period. At most all other waiters are
//! ahead of one. But a woken waiter that does not get the lock goes to the end of the queue, and others may
//! come before it once more. So no bound is certain. [`most_chances`] is far above every count that was
//! seen, and far below the counts of a lock without handoffs.

use std::fmt;

use super::log::{How, Log, Section};

/// How long a waiter is parked before it is overdue.
pub const OVERDUE_AFTER: u64 = 1_000_000;

/// The time between two handoffs.
pub const PERIOD: u64 = 500_000;

/// While a thread is awake at the lock, one unlock in so many looks whether a waiter is overdue.
const SAMPLE: f64 = 128.0;

/// What is wrong with a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Two sections drew the same ticket.
    Twice { one: Section, other: Section },
    /// No section has this ticket.
    Gap { lock: usize, ticket: usize },
    /// A section did not find what its predecessor left.
    Unseen { before: Section, after: Section },
    /// Two sections at once.
    Overlap { before: Section, after: Section },
    /// A thread wanted a lock before it had ended its section.
    Backwards { before: Section, after: Section },
    /// A waiter was passed over too often.
    Starved { waiter: Section, chances: f64, most: f64 },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#?}")
    }
}

/// The counts of a log without a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    pub sections: usize,
    /// The sections of each way to acquire the lock.
    pub by: [usize; How::ALL.len()],
    /// Attempts, at once or with a deadline, that ended without the lock.
    pub missed: usize,
    /// Sections whose thread became overdue before.
    pub long_waits: usize,
    /// The most chances that one of them had.
    pub chances: f64,
}

impl Report {
    /// Adds the counts of another log.
    pub fn add(&mut self, other: Self) {
        self.sections += other.sections;
        self.missed += other.missed;
        for (sum, count) in self.by.iter_mut().zip(other.by) {
            *sum += count;
        }
        self.long_waits += other.long_waits;
        self.chances = self.chances.max(other.chances);
    }
}

/// How many chances a waiter among `threads` may have before it has the lock.
pub fn most_chances(threads: usize) -> f64 {
    16.0 * (threads as f64 + 8.0)
}

/// Checks the logs of all threads that used `locks` locks from the first section on. If `most_chances` is
/// `None`, bypass is reported and not judged.
pub fn check(logs: &[Log], locks: usize, most_chances: Option<f64>) -> Result<Report, Fault> {
    let mut report = Report::default();
    for log in logs {
        own_order(log.sections())?;
        report.missed += log.missed();
    }
    for lock in 0..locks {
        let sections = by_ticket(logs, lock)?;
        exclusion(&sections)?;
        let (long_waits, chances) = bypass(&sections, most_chances)?;
        let by = How::ALL.map(|how| sections.iter().filter(|section| section.how == how).count());
        report.add(Report { sections: sections.len(), by, missed: 0, long_waits, chances });
    }
    Ok(report)
}

/// A thread does one thing after the other.
fn own_order(sections: &[Section]) -> Result<(), Fault> {
    for pair in sections.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        if after.attempt < before.unlocked {
            return Err(Fault::Backwards { before, after });
        }
    }
    Ok(())
}

/// The sections of one lock in the order of their tickets, which are all there.
fn by_ticket(logs: &[Log], lock: usize) -> Result<Vec<Section>, Fault> {
    let of_lock =
        || logs.iter().flat_map(Log::sections).filter(move |section| section.lock as usize == lock);
    let count = of_lock().count();
    let mut sorted: Vec<Option<Section>> = vec![None; count];
    let mut beyond = false;
    for &section in of_lock() {
        match sorted.get_mut(section.ticket as usize) {
            Some(Some(one)) => return Err(Fault::Twice { one: *one, other: section }),
            Some(place) => *place = Some(section),
            // Then as many numbers below are missing.
            None => beyond = true,
        }
    }
    debug_assert_eq!(beyond, sorted.contains(&None));
    let missing = |ticket| Fault::Gap { lock, ticket };
    sorted.into_iter().enumerate().map(|(ticket, section)| section.ok_or(missing(ticket))).collect()
}

fn exclusion(sections: &[Section]) -> Result<(), Fault> {
    for section in sections {
        let ordered = section.attempt <= section.acquired && section.acquired <= section.unlocked;
        if !ordered {
            return Err(Fault::Backwards { before: *section, after: *section });
        }
    }
    let mut before = Section::default();
    for &after in sections {
        if after.found != before.left {
            return Err(Fault::Unseen { before, after });
        }
        if after.acquired < before.unlocked {
            return Err(Fault::Overlap { before, after });
        }
        before = after;
    }
    Ok(())
}

/// How many waiters became overdue, and the most chances that one of them had.
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
    // The chances in all periods before each.
    let mut before = Vec::with_capacity(unlocks.len() + 1);
    let mut sum = 0.0;
    for count in unlocks {
        before.push(sum);
        sum += (count / SAMPLE).min(1.0);
    }
    let (mut long_waits, mut worst) = (0, 0.0_f64);
    for &waiter in sections.iter().filter(|section| section.how != How::Condition) {
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
