//! Proves from the logs of all threads that a lock did what it promises.
//!
//! **Exclusion.** Sorted by their tickets, the sections of a lock are numbered from 0 without a gap
//! and without a number twice; each found the stamp that the one before it left; none began before
//! the one before it had ended; and the sections of a thread do not overlap with its next attempt.
//!
//! **Bounded bypass.** A lock that allows barging promises no order. What this one promises is that
//! who has slept for a millisecond ([`PATIENCE`]) is handed the lock, by one of the releases, one
//! waiter every half a millisecond ([`PERIOD`]). No wall time is asserted: a machine may be busy or
//! stopped for as long as it likes. What is counted is chances. The log's own clock is cut into
//! periods, and a wait is charged with those that lie between the end of its patience and its
//! acquisition, each by how many times the lock was released in it:
//!
//! * A period without a release counts nothing: nobody was passed over. So it does not count when
//!   the process is stopped, when the owner has no CPU, or when the waiter was handed the lock and
//!   has not run yet: it is the owner then, and nobody else can be.
//! * A period with 128 releases or more counts 1. While somebody is awake at the lock only one
//!   release in 128 looks whether a waiter is overdue, at random; a period with fewer counts for so
//!   many of 128.
//! * A waiter that is ready to run but has no CPU may be awake (on deck, or not yet in the queue),
//!   and is not handed anything. For how long at most that was, the kernel tells; so many periods
//!   are forgiven.
//!
//! In a period with a chance the oldest waiter is served, unless somebody else takes the lock in
//! the moment of the handover, which then fails and is tried in the next period. Ahead of a waiter
//! there are at most all the others; but a woken waiter that fails to get the lock goes to the end
//! of the queue, and others may go before it once more. So no number is certain, and
//! [`most_chances`] is one that is far above what was ever seen, and far below what a lock needs
//! that hands nothing over.

use std::fmt;

use super::log::{How, Log, Section};

/// How long a waiter sleeps before it is handed the lock.
pub const PATIENCE: u64 = 1_000_000;

/// The time between two handovers.
pub const PERIOD: u64 = 500_000;

/// One release in so many looks for who is overdue, while somebody is awake.
const SAMPLE: f64 = 128.0;

/// What is wrong with a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Two sections drew the same ticket.
    Twice { one: Section, other: Section },
    /// Nobody has this ticket.
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

/// What a log shows that is as it should be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    pub sections: usize,
    /// Those of each way to acquire the lock.
    pub by: [usize; How::ALL.len()],
    /// Attempts, at once or with a deadline, that ended without the lock.
    pub missed: usize,
    /// Sections whose thread waited beyond its patience.
    pub long_waits: usize,
    /// Chances that the unluckiest of them had.
    pub chances: f64,
}

impl Report {
    /// Both together.
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

/// How many chances a waiter may have before it has the lock, among `threads`.
pub fn most_chances(threads: usize) -> f64 {
    16.0 * (threads as f64 + 8.0)
}

/// Checks the logs of all `threads` that used `locks` locks from the first section on. Without
/// `most_chances` bypass is reported, but not judged.
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
        if after.attempt < before.released {
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
            // As many numbers below are then missing.
            None => beyond = true,
        }
    }
    debug_assert_eq!(beyond, sorted.contains(&None));
    let missing = |ticket| Fault::Gap { lock, ticket };
    sorted.into_iter().enumerate().map(|(ticket, section)| section.ok_or(missing(ticket))).collect()
}

fn exclusion(sections: &[Section]) -> Result<(), Fault> {
    for section in sections {
        let ordered = section.attempt <= section.acquired && section.acquired <= section.released;
        if !ordered {
            return Err(Fault::Backwards { before: *section, after: *section });
        }
    }
    let mut before = Section::default();
    for &after in sections {
        if after.found != before.left {
            return Err(Fault::Unseen { before, after });
        }
        if after.acquired < before.released {
            return Err(Fault::Overlap { before, after });
        }
        before = after;
    }
    Ok(())
}

/// How many waited beyond their patience, and the chances of the unluckiest of them.
fn bypass(sections: &[Section], most: Option<f64>) -> Result<(usize, f64), Fault> {
    let (Some(first), Some(last)) = (sections.first(), sections.last()) else {
        return Ok((0, 0.0));
    };
    let start = first.released;
    let period = |time: u64| (time.saturating_sub(start) / PERIOD) as usize;
    let mut releases = vec![0.0_f64; period(last.released) + 2];
    for section in sections {
        releases[period(section.released)] += 1.0;
    }
    // The chances in all periods before each.
    let mut before = Vec::with_capacity(releases.len() + 1);
    let mut sum = 0.0;
    for count in releases {
        before.push(sum);
        sum += (count / SAMPLE).min(1.0);
    }
    let (mut long_waits, mut worst) = (0, 0.0_f64);
    for &waiter in sections.iter().filter(|section| section.how != How::Condition) {
        let due = waiter.attempt + PATIENCE;
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
