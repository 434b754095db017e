//! A short verdict for each workload: the best lock here, and the locks that are much worse.
//!
//! A verdict claims no more than the numbers do: locks with overlapping quartile ranges are not
//! distinguished, series that are partial, cut off or of too few rounds are not judged at all, and
//! throughput never stands without the share of the least served thread.
//!
//! A report of many situations has a line for each workload, and one for all locks of papers that
//! are worse in each situation.

use std::collections::BTreeMap;

use ondeck_lab::results::{Better, Metric, Report, Series, Unit};
use ondeck_lab::sample::{LONGEST, LONGEST_GAP, SHARE, SLOWDOWN};
use ondeck_lab::workload::face::Judged;
use ondeck_lab::workload::{self, NO_LOCK};
use ondeck_text::numbers::terminal::time;

use crate::data::{grouped, is_historical, params_in_brief};

/// The metric that ranks a workload's locks, if it has one.
pub fn judged_by(workload: &str) -> Option<&'static str> {
    match workload::named(workload)?.judged {
        Judged::By(quantity) => Some(quantity.name),
        Judged::RankedBy(_) => None,
    }
}

/// The verdict names the worst lock if it is at least this many times worse than the best.
const WORTH_SAYING: f64 = 1.5;

/// One round has no spread.
const FEWEST_ROUNDS: usize = 2;

/// One judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The workload and the situation, as `throughput, 8 threads, empty section`.
    pub situation: String,
    /// The leading lock, its figure, and the lock that is far worse.
    pub judgement: String,
}

/// The verdicts of a report, in the order of the series. For each workload and parameters only the
/// series with the most threads counts, which shows the most about contention. A workload of
/// several situations has one verdict that counts them, and all locks of papers that never lead
/// have one.
pub fn verdicts(report: &Report) -> Vec<Verdict> {
    let judged = situations(&report.series);
    let mut verdicts: Vec<Verdict> = grouped(&judged, |one| one.workload.to_owned())
        .into_iter()
        .map(|(workload, judged)| match &*judged {
            [one] => Verdict { situation: one.words.clone(), judgement: one.judgement.clone() },
            several => Verdict {
                situation: format!("{workload}, {} situations", several.len()),
                judgement: counted(several),
            },
        })
        .collect();
    verdicts.extend(behind_everywhere(report, &judged));
    verdicts
}

/// One situation.
struct Situation<'a> {
    workload: &'a str,
    words: String,
    judgement: String,
    /// The best lock, and the locks not distinguished from it.
    leaders: Vec<&'a str>,
    /// The locks that are far enough from the best to be named.
    behind: Vec<&'a str>,
}

fn situations(series: &[Series]) -> Vec<Situation<'_>> {
    let mut situations: Vec<(&str, String, usize)> = Vec::new();
    for one in series {
        let params = one.params_word();
        match situations.iter_mut().find(|(name, word, _)| *name == one.workload && *word == params)
        {
            Some((_, _, most)) => *most = one.threads.max(*most),
            None => situations.push((&one.workload, params, one.threads)),
        }
    }
    situations
        .into_iter()
        .filter_map(|(workload, params, threads)| {
            let rows = ranked(series, workload, &params, threads, judged_by(workload)?);
            let best = rows.first()?;
            let leads = |row: &&Row<'_>| overlap(best.1, row.1);
            let lost = |row: &&Row<'_>| !leads(row) && factor(best.1, row.1) >= WORTH_SAYING;
            Some(Situation {
                workload: &best.0.workload,
                words: situation(best.0),
                judgement: judgement(&rows)?,
                leaders: rows.iter().take_while(leads).map(|row| &*row.0.lock).collect(),
                behind: rows.iter().filter(lost).map(|row| &*row.0.lock).collect(),
            })
        })
        .collect()
}

/// The number of situations in which each lock leads, alone or with others.
fn counted(situations: &[&Situation<'_>]) -> String {
    /// The most that a line has room for.
    const MOST: usize = 4;
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    for leader in situations.iter().flat_map(|one| &one.leaders) {
        *wins.entry(leader).or_default() += 1;
    }
    let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
    wins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let rest = wins.len().saturating_sub(MOST);
    wins.truncate(MOST);
    let mut words: Vec<String> =
        wins.iter().map(|(lock, count)| format!("{lock} in {count}")).collect();
    if rest > 0 {
        words.push(format!("{rest} others"));
    }
    format!("leads, or is not told apart from the leader: {}", words.join(", "))
}

/// The locks of papers and of the three texts that are worse in each situation in which they took
/// part.
fn behind_everywhere(report: &Report, judged: &[Situation<'_>]) -> Option<Verdict> {
    let leads = |name: &str| judged.iter().any(|one| one.leaders.contains(&name));
    let mut names: Vec<&str> = Vec::new();
    for name in judged.iter().flat_map(|one| &one.behind) {
        if is_historical(report, name) && !leads(name) && !names.contains(name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| Verdict {
        situation: "locks of papers".to_owned(),
        judgement: format!(
            "lead nowhere, and are {WORTH_SAYING} times behind or more somewhere: {}",
            names.join(", ")
        ),
    })
}

type Row<'a> = (&'a Series, &'a Metric);

fn ranked<'a>(
    series: &'a [Series],
    workload: &str,
    params: &str,
    threads: usize,
    metric: &str,
) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = series
        .iter()
        .filter(|one| one.workload == workload && one.threads == threads)
        .filter(|one| one.lock != NO_LOCK && one.params_word() == params)
        .filter(|one| !one.partial && one.cut_runs == 0)
        .filter_map(|one| Some((one, one.metric(metric)?)))
        .filter(|(_, metric)| metric.median > 0.0 && metric.n >= FEWEST_ROUNDS)
        .collect();
    rows.sort_by(|(_, one), (_, other)| match one.better {
        Better::Higher => other.median.total_cmp(&one.median),
        Better::Lower | Better::Neither => one.median.total_cmp(&other.median),
    });
    rows
}

fn judgement(rows: &[Row<'_>]) -> Option<String> {
    let (best, worst) = (rows.first()?, rows.last()?);
    let tied: Vec<&str> = rows[1..]
        .iter()
        .take_while(|(_, metric)| overlap(best.1, metric))
        .map(|(series, _)| series.lock.as_str())
        .collect();
    let leader = format!("{} leads with {}", best.0.lock, value(*best));
    let leaders = match tied.len() {
        0 => leader,
        1..=3 => format!("{leader}, not told apart from {}", tied.join(", ")),
        more => format!("{leader}, not told apart from {more} others"),
    };
    let factor = factor(best.1, worst.1);
    Some(if factor >= WORTH_SAYING && !overlap(best.1, worst.1) {
        let times = if factor < 1_000.0 { format!("{factor:.1}") } else { "over 1,000".to_owned() };
        format!("{leaders}; {} is {times} times behind", worst.0.lock)
    } else {
        leaders
    })
}

fn factor(one: &Metric, other: &Metric) -> f64 {
    (one.median / other.median).max(other.median / one.median)
}

/// The situation of a series, in words.
pub(crate) fn situation(series: &Series) -> String {
    let params = params_in_brief(&series.params);
    let comma = if params.is_empty() { "" } else { ", " };
    format!("{}, {} threads{comma}{params}", series.workload, series.threads)
}

fn overlap(one: &Metric, other: &Metric) -> bool {
    one.p25 <= other.p75 && other.p25 <= one.p75
}

fn value((series, metric): Row<'_>) -> String {
    match Unit::of(&metric.unit) {
        Some(Unit::PerSecond) => {
            let share = series.metric(SHARE.name).map_or_else(
                || " at an unknown share".to_owned(),
                |share| format!(" at a share of {:.2}", share.median),
            );
            match metric.median {
                below if below < 1e6 => format!("{:.1} k/s{share}", below / 1e3),
                _ => format!("{:.1} M/s{share}", metric.median / 1e6),
            }
        }
        Some(Unit::Ratio) if metric.name == SLOWDOWN.name => {
            format!("{:.2} times slower", metric.median)
        }
        Some(Unit::Ratio) => format!("{:.0} % of what is done alone", metric.median * 100.0),
        Some(Unit::Milliseconds)
            if [LONGEST_GAP.name, LONGEST.name].contains(&&*metric.name)
                && series.round_milliseconds.is_some() =>
        {
            format!("{} in half of its rounds", time(metric.median * 1e6))
        }
        // The longest of a run, typical of the runs.
        Some(Unit::Milliseconds) => format!("{} in half of its runs", time(metric.median * 1e6)),
        Some(Unit::Nanoseconds) if metric.median >= 1e3 => time(metric.median),
        _ => format!("{:.1} {}", metric.median, metric.unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::{self, Spread};

    fn series(lock: &str, threads: usize, throughput: Spread) -> Series {
        made::series(lock, threads, throughput, (0.1, 0.25, 0.4))
    }

    #[test]
    fn the_leader_is_named_with_those_it_cannot_be_told_apart_from() {
        let series = [
            series("slow", 8, (0.9e6, 1e6, 1.1e6)),
            series("fast", 8, (9e6, 10e6, 11e6)),
            series("near", 8, (8e6, 9.5e6, 10e6)),
            series("none", 8, (80e6, 95e6, 100e6)),
            Series { partial: true, ..series("half", 8, (50e6, 51e6, 52e6)) },
            Series { cut_runs: 1, ..series("cut", 8, (50e6, 51e6, 52e6)) },
            series("fast", 1, (90e6, 99e6, 100e6)),
        ];
        let [one] = &*situations(&series) else { panic!("one situation") };
        let judgement = "fast leads with 10.0 M/s at a share of 0.25, not told apart from near; slow is \
                         10.0 times behind";
        assert_eq!((&*one.words, &*one.judgement), ("throughput, 8 threads", judgement));
        assert_eq!((&*one.leaders, &*one.behind), (&["fast", "near"][..], &["slow"][..]));
    }

    #[test]
    fn situations_of_a_workload_are_counted() {
        let one = |leaders| Situation {
            workload: "throughput",
            words: String::new(),
            judgement: String::new(),
            leaders,
            behind: Vec::new(),
        };
        let (both, alone) = (one(vec!["fast", "near"]), one(vec!["near"]));
        let words = counted(&[&both, &alone]);
        assert!(words.ends_with(": near in 2, fast in 1"), "{words}");
    }

    #[test]
    fn nothing_measured_is_no_verdict() {
        assert!(situations(&[]).is_empty());
    }
}
