//! Cache lines: which cores have them, and when they are free for the next access.
//!
//! ```text
//! owner      the core that may write the line without asking, from `owned_from` on
//! sharers    cores with a copy that may be read only; none while there is an owner
//! stale      cores whose copy is being taken from them: until `stale_until` they read the old value
//! leaving    the same of owners: while writes queue, each has the line from its write to the next one
//! keeper     the owner of before: a request for its line is on the way, and it writes in `kept` until that comes
//! busy_until the line is under way until then: the next access that misses begins no sooner
//!
//! change                      made by          when
//! owner → sharers             a read miss      a copy stays with the owner
//! owner, sharers → owner      a write miss     copies become stale, and are gone when the line arrives
//! ```
//!
//! An access that misses reserves the line in the order of arrival: it begins when the one before
//! is over. This file keeps the state after all reservations. The value is read or changed when the
//! access is over, so a core with a stale copy reads the old value for as long as the message that
//! invalidates its copy is under way.
//!
//! Lines are numbered in the order of their first use. An address is identified by its line's
//! number and its offset in that line, so the placement by the real allocator or stack does not
//! matter.

use rustc_hash::FxHashMap;

use super::bits::Set;
use crate::time::Time;

/// Bytes of a line.
pub const LINE: usize = 64;

/// The part of a line's way that its request takes to reach the owner: half of there and back.
const REQUEST: f64 = 0.5;

/// No core.
pub const NOBODY: u16 = u16::MAX;

/// A line's state: see the file's head.
#[derive(Clone, Debug)]
pub struct Line {
    /// See the file's head.
    pub owner: u16,
    /// The CPU that had it last exclusively: the siblings of a core take it from each other.
    pub writer: u16,
    /// See the file's head.
    pub keeper: u16,
    /// See the file's head.
    pub kept: (Time, Time),
    /// See the file's head.
    pub owned_from: Time,
    /// See the file's head.
    pub busy_until: Time,
    /// From `busy_until` on, no access begins for this time if some wait.
    pub turnaround: Time,
    /// Accesses that wait until the line is not under way, unordered.
    pub waiting: Vec<Waiting>,
    /// Whether an event is queued for the time when the line is free.
    pub drawn_at_end: bool,
    /// See the file's head.
    pub sharers: Set,
    /// See the file's head.
    pub stale: Set,
    /// See the file's head.
    pub stale_until: Time,
    /// See the file's head.
    pub leaving: Vec<(u16, Time)>,
    /// Its traffic.
    pub traffic: Traffic,
}

/// An access that waits for a line.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The CPU whose thread makes it.
    pub cpu: u32,
    /// Its core.
    pub core: u16,
    /// The CPU's epoch; the access is void if the epoch has changed.
    pub epoch: u32,
    /// Its kind.
    pub access: Access,
}

/// What an access needs of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A copy.
    Read,
    /// The only copy.
    Write,
}

impl Line {
    /// Whether an access that misses has to wait, at that moment.
    #[inline]
    pub fn is_taken(&self, now: Time) -> bool {
        now < self.busy_until || !self.waiting.is_empty() && now < self.busy_until + self.turnaround
    }

    /// Whether that core may still write the line now, and has it until `until`: another core's
    /// request has begun, and has not reached it.
    #[inline]
    pub fn is_kept_by(&self, core: usize, now: Time, until: Time) -> bool {
        let (from, to) = self.kept;
        usize::from(self.keeper) == core && from <= now && now.max(until) < to
    }

    /// A request for the line begins, and reaches its owner after a part of the line's way.
    #[inline]
    pub fn ask_owner(&mut self, start: Time, way: Time) {
        self.keeper = self.owner;
        self.kept = (start, start + (way as f64 * REQUEST).round() as Time);
    }

    /// Whether that core still reads a copy that is being invalidated.
    #[inline]
    pub fn is_stale_at(&self, core: usize, now: Time) -> bool {
        now < self.stale_until && self.stale.has(core)
            || self
                .leaving
                .iter()
                .any(|&(leaving, until)| usize::from(leaving) == core && now < until)
    }

    /// A write of that core invalidates all copies, which are gone at `until`.
    pub fn take_copies(&mut self, core: usize, now: Time, until: Time) {
        self.leaving.retain(|&(_, until)| now < until);
        if self.owner != NOBODY {
            self.leaving.push((self.owner, until));
        } else if !self.sharers.is_empty() {
            if now < self.stale_until {
                let rest = self.stale.iter().map(|core| (core as u16, self.stale_until));
                self.leaving.extend(rest);
            }
            self.stale = self.sharers;
            self.stale_until = until;
        }
        self.stale.remove(core);
        self.leaving.retain(|&(leaving, _)| usize::from(leaving) != core);
        self.owner = NOBODY;
        self.sharers = Set::EMPTY;
    }
}

/// The traffic of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Misses of reads.
    pub reads: u64,
    /// Misses of writes and of read-modify-writes.
    pub writes: u64,
    /// Time that accesses waited for earlier ones.
    pub queued: Time,
    /// Time that the line was under way for them.
    pub moved: Time,
}

/// The memory of a machine.
#[derive(Debug, Default)]
pub struct Memory {
    numbers: FxHashMap<usize, u32>,
    lines: Vec<Line>,
}

impl Memory {
    /// The number of an address's line.
    #[inline]
    pub fn number(&mut self, address: usize) -> usize {
        let lines = &mut self.lines;
        let number = *self.numbers.entry(address / LINE).or_insert_with(|| {
            lines.push(Line {
                owner: NOBODY,
                writer: NOBODY,
                keeper: NOBODY,
                kept: (0, 0),
                owned_from: 0,
                busy_until: 0,
                turnaround: 0,
                waiting: Vec::new(),
                drawn_at_end: false,
                sharers: Set::EMPTY,
                stale: Set::EMPTY,
                stale_until: 0,
                leaving: Vec::new(),
                traffic: Traffic::default(),
            });
            lines.len() as u32 - 1
        });
        number as usize
    }

    /// A name of the address that is the same in every run.
    #[inline]
    pub fn name(&mut self, address: usize) -> usize {
        self.number(address) * LINE + address % LINE
    }

    /// A line by its number.
    #[inline]
    pub fn line(&mut self, number: usize) -> &mut Line {
        &mut self.lines[number]
    }

    /// All lines that were used.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}
