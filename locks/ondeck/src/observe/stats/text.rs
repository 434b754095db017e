//! Statistics as text.

use core::fmt::{self, Write};
use std::vec::Vec;

use super::{LockStats, dropped, snapshot};

extern crate std;

/// The bounds of the histogram: 1 µs to 17 s, as powers of two nanoseconds.
const BOUNDS: core::ops::RangeInclusive<u32> = 10..=34;

/// One line: the lock, its waits, its longest hold, and its state now.
impl fmt::Display for LockStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#x}", self.kind, self.address)?;
        if !self.name.is_empty() {
            write!(f, " \"{}\"", self.name.to_string_lossy())?;
        }
        if let Some(site) = self.site {
            write!(f, ", first awaited at {site}")?;
        }
        let Self { waits, gave_up, waited, longest_wait, .. } = self;
        write!(f, ": {waits} waits of {waited:.1?}, ")?;
        write!(f, "p50 {:.1?}, p99 {:.1?}, longest {longest_wait:.1?}", self.p50(), self.p99())?;
        if *gave_up != 0 {
            write!(f, "; {gave_up} gave up")?;
        }
        if !self.longest_hold.is_zero() {
            write!(f, "; held for {:.1?} at most", self.longest_hold)?;
            self.longest_hold_site.map_or(Ok(()), |site| write!(f, ", from {site} on"))?;
        }
        if self.waiting != 0 {
            write!(f, "; {} wait now", self.waiting)?;
        }
        if let Some(holder) = self.holder {
            write!(f, "; thread {:#x} has it for {:.1?}", holder.thread, holder.time)?;
            holder.site.map_or(Ok(()), |site| write!(f, ", from {site} on"))?;
        }
        Ok(())
    }
}

/// A label's value: a backslash, a quotation mark and a line feed are escaped.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|it| match it {
            '\\' | '"' => write!(f, "\\{it}"),
            '\n' => f.write_str("\\n"),
            it => f.write_char(it),
        })
    }
}

/// Locks with the same labels, whose numbers are one series.
struct Series {
    labels: std::string::String,
    locks: Vec<LockStats>,
}

impl Series {
    fn sum(&self, number: impl Fn(&LockStats) -> u64) -> u64 {
        self.locks.iter().map(number).sum()
    }

    fn longest(&self, time: impl Fn(&LockStats) -> core::time::Duration) -> f64 {
        self.locks.iter().map(time).max().unwrap_or_default().as_secs_f64()
    }
}

/// The end of a name, the type, what it means, and how it is read.
type Number = (&'static str, &'static str, &'static str, fn(&Series) -> f64);

/// Writes the numbers of all locks in the text format of Prometheus.
///
/// Locks of one name and kind are one series, and so are locks without a name that are first
/// awaited at one place.
///
/// # Errors
///
/// Those of `out`.
pub fn write_prometheus(out: &mut impl Write) -> fmt::Result {
    let mut all: Vec<Series> = Vec::new();
    for lock in snapshot() {
        let name = lock.name.to_string_lossy();
        let site = lock.site.filter(|_| name.is_empty());
        let site = site.map_or_else(std::string::String::new, |site| std::format!("{site}"));
        let (name, site) = (Escaped(&name), Escaped(&site));
        let labels = std::format!("name=\"{name}\",kind=\"{}\",site=\"{site}\"", lock.kind);
        match all.iter_mut().find(|series| series.labels == labels) {
            Some(series) => series.locks.push(lock),
            None => all.push(Series { labels, locks: std::vec![lock] }),
        }
    }
    let name = "ondeck_lock_wait_seconds";
    writeln!(out, "# HELP {name} Acquisitions that had to wait.\n# TYPE {name} histogram")?;
    for series in &all {
        let labels = &series.labels;
        for power in BOUNDS {
            let bound = (1_u64 << power) as f64 / 1e9;
            let count = series.sum(|lock| lock.shorter_than(power));
            writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}")?;
        }
        // Of the buckets, as the others, so that the series never falls.
        let count = series.sum(|lock| lock.times.iter().sum());
        writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}")?;
        let sum: core::time::Duration = series.locks.iter().map(|lock| lock.waited).sum();
        writeln!(out, "{name}_sum{{{labels}}} {}", sum.as_secs_f64())?;
        writeln!(out, "{name}_count{{{labels}}} {count}")?;
    }
    let numbers: [Number; 4] = [
        ("wait_seconds_max", "gauge", "The longest wait.", |series| {
            series.longest(|lock| lock.longest_wait)
        }),
        ("hold_seconds_max", "gauge", "The longest hold.", |series| {
            series.longest(|lock| lock.longest_hold)
        }),
        ("waiting", "gauge", "Threads that wait now.", |series| {
            series.sum(|lock| lock.waiting.into()) as f64
        }),
        ("gave_up_total", "counter", "Waits that ended without the lock.", |series| {
            series.sum(|lock| lock.gave_up) as f64
        }),
    ];
    for (name, kind, help, number) in numbers {
        writeln!(out, "# HELP ondeck_lock_{name} {help}\n# TYPE ondeck_lock_{name} {kind}")?;
        for series in &all {
            writeln!(out, "ondeck_lock_{name}{{{}}} {}", series.labels, number(series))?;
        }
    }
    let name = "ondeck_lock_dropped_total";
    writeln!(out, "# HELP {name} Waits for locks beyond the size of the table.")?;
    writeln!(out, "# TYPE {name} counter\n{name} {}", dropped())
}
