//! The tables of three articles beside this machine's.
//!
//! A comparison has a figure for each lock, theirs and ours, and judges for each whether it is as many times worse
//! than the first lock, which is the article's base. It makes no statement where our quartiles overlap, because
//! noise is no verdict. Where a machine has fewer CPUs than the article's, the table names the limits.

mod articles;

use ondeck_lab::results::{Better, Report, Series};
use ondeck_lab::workload::{NOTIFY, param};

pub use articles::{ARTICLES, Article, named};
use articles::{Row, Table};

/// A ratio that two runs of one binary do not reach.
const CLEAR: f64 = 1.25;

/// If ours and theirs differ by more, the effect is of another size.
const SIZE: f64 = 3.0;

/// Stands for a figure whose rounds were cut short.
const TOO_FEW: &str = "too few rounds to say";

/// An article's tables beside a report's.
#[derive(Debug)]
pub struct Beside {
    /// The article.
    pub article: &'static Article,
    /// The machine's limits, if any.
    pub limits: Option<String>,
    /// The tables.
    pub tables: Vec<Compared>,
}

/// A table beside ours.
#[derive(Debug)]
pub struct Compared {
    /// Its subject, with the unit.
    pub what: &'static str,
    /// Which figures are better.
    pub better: Better,
    /// The locks of the article, and then the locks measured here only.
    pub rows: Vec<Line>,
}

/// A lock's figures.
#[derive(Debug)]
pub struct Line {
    /// Its name in the article, or its name here.
    pub name: String,
    /// The article's figure.
    pub theirs: Option<f64>,
    /// This machine's.
    pub ours: Option<f64>,
    /// The verdict on both; empty where there is nothing to compare.
    pub verdict: &'static str,
}

/// A figure of ours, and the quartiles that distinguish it from another.
#[derive(Clone, Copy)]
struct Ours {
    figure: f64,
    median: f64,
    low: f64,
    high: f64,
}

/// The article's tables beside a report's; `None` where the report has none of its locks.
pub fn beside(article: &'static Article, report: &Report) -> Option<Beside> {
    let tables: Vec<Compared> =
        article.tables.iter().filter_map(|table| table.beside(article, &report.series)).collect();
    let cpus = report.machine.usable_cpus;
    let limits = match article.cpus {
        Some(theirs) if cpus < theirs => Some(format!(
            "with {cpus} CPUs, where the article had {theirs}: {}",
            article.cannot_show
        )),
        Some(_) => None,
        None => Some(article.cannot_show.to_owned()),
    };
    (!tables.is_empty()).then_some(Beside { article, limits, tables })
}

impl Table {
    fn beside(&self, article: &Article, series: &[Series]) -> Option<Compared> {
        let &Row { lock: base, threads, figure: theirs, .. } = self.rows.first()?;
        // The report has this table, even if its rounds were cut short.
        self.series(series, base, threads)?;
        let base = self.ours(series, base, threads);
        let mut rows: Vec<Line> = self
            .rows
            .iter()
            .enumerate()
            .map(|(place, &Row { name, lock, threads, figure })| {
                let ours = self.ours(series, lock, threads);
                let verdict = match (ours, base) {
                    (_, Some(_)) if place == 0 => "compared with",
                    (None, _) if self.series(series, lock, threads).is_none() => {
                        "not measured here"
                    }
                    (Some(ours), Some(base)) => verdict(figure / theirs, ours, base),
                    _ => TOO_FEW,
                };
                let ours = ours.map(|ours| ours.figure);
                Line { name: name.to_owned(), theirs: Some(figure), ours, verdict }
            })
            .collect();
        let others =
            article.locks.iter().filter(|lock| self.rows.iter().all(|row| row.lock != **lock));
        let most = self.rows.iter().filter_map(|row| row.threads).max();
        for lock in others {
            if self.series(series, lock, most).is_some() {
                let name =
                    most.map_or((*lock).to_owned(), |most| format!("{lock}, {most} threads"));
                let ours = self.ours(series, lock, most).map(|ours| ours.figure);
                let verdict = if ours.is_some() { "" } else { TOO_FEW };
                rows.push(Line { name, theirs: None, ours, verdict });
            }
        }
        Some(Compared { what: self.what, better: self.better, rows })
    }

    fn series<'a>(
        &self,
        series: &'a [Series],
        lock: &str,
        threads: Option<usize>,
    ) -> Option<&'a Series> {
        let fits = |one: &&Series| {
            one.workload == self.workload
                && one.lock == lock
                && threads.is_none_or(|threads| one.threads == threads)
                && !one.params.contains_key(NOTIFY)
                && one.params.get(param::PROCESS).is_none_or(|kind| kind == param::SEVERAL_THREADS)
        };
        series.iter().find(fits)
    }

    fn ours(&self, series: &[Series], lock: &str, threads: Option<usize>) -> Option<Ours> {
        let metric = self.series(series, lock, threads)?.metric(self.metric)?;
        let longest = metric.samples.iter().copied().fold(metric.max, f64::max);
        let [figure, median, low, high] = [
            if self.longest { longest } else { metric.median },
            metric.median,
            metric.p25,
            metric.p75,
        ]
        .map(|value| value * self.scale);
        (metric.n > 1).then_some(Ours { figure, median, low, high })
    }
}

/// Whether ours relates to the first lock's as theirs does.
fn verdict(theirs: f64, ours: Ours, base: Ours) -> &'static str {
    let apart = ours.low > base.high || base.low > ours.high;
    let ratio = ours.median / base.median;
    let clear = |ratio: f64| !(1.0 / CLEAR..=CLEAR).contains(&ratio);
    match (clear(theirs), apart && clear(ratio)) {
        // Zeros have no ratio.
        _ if !ratio.is_finite() || ratio <= 0.0 => "too small to say",
        (true, false) if apart => "no such difference here",
        (_, false) if !apart => "not told apart here",
        (false, _) => {
            if clear(ratio) {
                "a difference here only"
            } else {
                "the same"
            }
        }
        (true, _) if (theirs > 1.0) != (ratio > 1.0) => "the other way round here",
        (true, _) if theirs / SIZE <= ratio && ratio <= theirs * SIZE => "the same",
        (true, _) if (ratio > theirs) == (theirs > 1.0) => "the same, larger",
        (true, _) => "the same, smaller",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(low: f64, median: f64, high: f64) -> Ours {
        Ours { figure: high, median, low, high }
    }

    #[test]
    fn a_verdict_compares_the_ratios() {
        let base = ours(0.9, 1.0, 1.1);
        assert_eq!(verdict(4.0, ours(4.5, 5.0, 5.5), base), "the same");
        assert_eq!(verdict(4.0, ours(45.0, 50.0, 55.0), base), "the same, larger");
        assert_eq!(verdict(40.0, ours(4.5, 5.0, 5.5), base), "the same, smaller");
        assert_eq!(verdict(0.1, ours(0.008, 0.01, 0.02), base), "the same, larger");
        assert_eq!(verdict(4.0, ours(0.1, 0.2, 0.3), base), "the other way round here");
        assert_eq!(verdict(1.0, ours(4.5, 5.0, 5.5), base), "a difference here only");
        assert_eq!(verdict(4.0, ours(1.12, 1.15, 1.2), base), "no such difference here");
    }

    #[test]
    fn noise_gives_no_verdict() {
        assert_eq!(verdict(4.0, ours(0.5, 5.0, 9.0), ours(0.4, 1.0, 2.0)), "not told apart here");
        assert_eq!(verdict(0.13, ours(0.0, 0.0, 0.0), ours(0.0, 0.0, 0.0)), "too small to say");
    }

    #[test]
    fn a_table_whose_rounds_were_cut_is_shown() {
        let text = include_bytes!("../../tests/data/sample-report.json");
        let report = crate::read::text("sample", text).expect("a report");
        let table = &ARTICLES[0].tables[0];
        let mut one = report.series[0].clone();
        one.workload = table.workload.to_owned();
        one.params.clear();
        let lines = table.rows.iter().map(|row| Series {
            lock: row.lock.to_owned(),
            threads: row.threads.unwrap_or(1),
            metrics: vec![],
            ..one.clone()
        });
        let compared = table.beside(&ARTICLES[0], &lines.collect::<Vec<_>>()).expect("it is there");
        assert!(compared.rows.iter().all(|row| row.ours.is_none() && row.verdict == TOO_FEW));
        assert!(table.beside(&ARTICLES[0], &[]).is_none());
    }
}
