//! The values that several commands take: counts, times and work. Each refusal names the allowed
//! range.

use std::ffi::OsStr;
use std::time::Duration;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use ondeck_lab::workload::Subject;

/// A larger number is a typing mistake: the largest machines have some thousand CPUs, and the
/// kernel's default limit for a process is of that order.
pub(crate) const MOST_THREADS: usize = 4_096;

pub(crate) const MOST_ROUNDS: usize = 100_000;
const SHORTEST_ROUND: Duration = Duration::from_millis(1);
const LONGEST_ROUND: Duration = Duration::from_hours(1);

/// A lock's name, a pattern or a group: accepts every word, and lets shells complete the names.
#[derive(Clone)]
pub(crate) struct LockNames;

impl TypedValueParser for LockNames {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        word: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, word)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = Subject::of_every_kind().into_iter().map(|lock| lock.info.name);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

pub(crate) fn thread_count(word: &str) -> Result<usize, String> {
    in_range(word, 1, MOST_THREADS, "threads")
}

pub(crate) fn round_count(word: &str) -> Result<usize, String> {
    in_range(word, 1, MOST_ROUNDS, "rounds")
}

pub(crate) fn cpu_count(word: &str) -> Result<usize, String> {
    in_range(word, 1, MOST_THREADS, "CPUs")
}

pub(crate) fn seed(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("use a whole number, 0 to {}", u64::MAX))
}

pub(crate) fn in_range(word: &str, least: usize, most: usize, what: &str) -> Result<usize, String> {
    match word.trim().parse::<usize>() {
        Ok(count) if (least..=most).contains(&count) => Ok(count),
        Ok(_) => Err(format!("use {least} to {most} {what}")),
        Err(_) => Err(format!("not a whole number; use {least} to {most} {what}")),
    }
}

pub(crate) fn round_length(word: &str) -> Result<Duration, String> {
    time(word, SHORTEST_ROUND, LONGEST_ROUND)
}

/// The length of a round in virtual time. A millisecond has as many operations there as on a real
/// machine, and takes a thousand times as long to compute.
pub(crate) fn simulated_round(word: &str) -> Result<Duration, String> {
    time(word, Duration::from_micros(10), Duration::from_mins(1))
}

/// Parses the time without progress after which a simulated lock counts as stuck.
pub(crate) fn simulated_stall_limit(word: &str) -> Result<Duration, String> {
    time(word, Duration::from_millis(1), Duration::from_mins(1))
}

pub(crate) fn stall_limit(word: &str) -> Result<Duration, String> {
    time(word, Duration::from_millis(100), LONGEST_ROUND)
}

pub(crate) fn time(word: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let shown = |time| humantime::format_duration(time);
    match humantime::parse_duration(word) {
        Ok(time) if (least..=most).contains(&time) => Ok(time),
        Ok(_) => Err(format!("use {} to {}", shown(least), shown(most))),
        Err(_) => Err("not a time; write a number with its unit, as `100ms` or `2s`".to_owned()),
    }
}

pub(crate) fn work(word: &str) -> Result<(u64, u64), String> {
    /// A section of a second is no longer a critical section.
    const MOST_NANOS: u64 = 1_000_000_000;
    let nanos = |part: &str| part.trim().parse::<u64>().ok().filter(|&nanos| nanos <= MOST_NANOS);
    match word.split_once(',').map(|(section, outside)| (nanos(section), nanos(outside))) {
        Some((Some(section), Some(outside))) => Ok((section, outside)),
        _ => {
            Err("write two whole numbers of nanoseconds up to 1000000000, as `100,500`".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_do_not_matter() {
        assert_eq!(work("100, 500"), Ok((100, 500)));
    }
}
