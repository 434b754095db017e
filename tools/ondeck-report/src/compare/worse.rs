//! Finds regressions, for a gate.

use ondeck_lab::results::{Better, Failure, FailureKind, Report, Series};

use super::{Comparison, Row, Table, place};

impl Comparison {
    /// Describes everything that is worse than the base by more than `above`, a part of the base,
    /// and not by chance; and every series of the base that failed in the other report. A line
    /// each.
    pub fn worse_by_more_than(&self, above: f64) -> Vec<String> {
        let mut worse = Vec::new();
        for table in &self.tables {
            for row in &table.rows {
                let loss = loss(table.better, row);
                if row.differs && loss > above {
                    let Row { lock, threads, p, .. } = row;
                    let by = if loss.is_finite() {
                        format!("{:.1} %", loss * 100.0)
                    } else {
                        "any percentage".to_owned()
                    };
                    let place = place(&table.workload, &table.params);
                    let s = if *threads == 1 { "" } else { "s" };
                    let than = against(table);
                    worse.push(format!(
                        "{lock}, {place}, {threads} thread{s}: {} is worse by {by}{than} (p={p:.3})",
                        table.metric
                    ));
                }
            }
        }
        let failed = self.lone.iter().filter(|lone| Some(&lone.file) == self.files.first());
        for lone in failed {
            if let Some(kind) = &lone.failure {
                let place = place(&lone.workload, &lone.params);
                worse.push(format!("{}, {place}: {kind} in {}", lone.lock, lone.lacking));
            }
        }
        worse
    }
}

fn against(table: &Table) -> String {
    match &table.other {
        Some(other) => format!(" in {other}"),
        None => format!(" than {}", table.base),
    }
}

/// The part of the base by which the other is worse; below zero if it is better.
fn loss(better: Better, row: &Row) -> f64 {
    match (better, row.ratio) {
        (Better::Lower, Some(ratio)) => ratio - 1.0,
        (Better::Higher, Some(ratio)) => 1.0 - ratio,
        (Better::Neither, _) | (_, None) => f64::NEG_INFINITY,
    }
}

/// Why a report lacks a series, if it states that.
pub(super) fn failure(report: &Report, series: &Series) -> Option<String> {
    // A lock that hung is left out of the rest of its run; a refusal by the system applies to one
    // series.
    let of_the_system = |failure: &Failure| failure.kind == FailureKind::Refused.word();
    let its = report.failures.iter().find(|failure| {
        failure.lock == series.lock
            && (failure.workload == series.workload || !of_the_system(failure))
    });
    its.map(|failure| failure.kind.clone())
}
