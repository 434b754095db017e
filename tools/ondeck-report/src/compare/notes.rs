//! Remarks on the trustworthiness of a comparison's figures.

use ondeck_lab::results::Report;
use ondeck_lab::warnings;

use super::{Comparison, Input, Row, rank, same};

pub(super) fn notes(comparison: &Comparison, inputs: &[Input]) -> Vec<String> {
    let rows: Vec<&Row> = comparison.tables.iter().flat_map(|table| &table.rows).collect();
    let alpha = comparison.alpha;
    let mut notes = Vec::new();

    let mute = rows.iter().filter(|row| rank::least_p(row.base.n, row.other.n) >= alpha).count();
    if mute > 0 {
        notes.push(format!(
            "{mute} of {} rows have too few rounds to differ at all at alpha {alpha}: measure with \
             --rounds {} or more, better 10",
            rows.len(),
            rank::fewest_samples(alpha)
        ));
    }
    let differing = rows.iter().filter(|row| row.differs).count();
    let by_chance = (rows.len() - mute) as f64 * alpha;
    if differing > 0 && by_chance >= 1.0 {
        notes.push(format!(
            "{differing} of {} rows differ; by chance alone it would be up to {by_chance:.0}: see \
             --alpha",
            rows.len()
        ));
    }
    let sides = || rows.iter().flat_map(|row| [row.base, row.other]);
    if sides().any(|side| side.partial) {
        notes.push("* fewer rounds than planned".to_owned());
    }
    if sides().any(|side| side.cut_runs > 0) {
        notes.push(
            "> runs were cut: their times are lower bounds, and no difference is stated".to_owned(),
        );
    }
    if rows.iter().any(|row| row.ratio.is_none()) {
        notes.push("a ratio of - : a sample is below zero".to_owned());
    }
    let unlike = |row: &&&Row| row.base.round_milliseconds != row.other.round_milliseconds;
    let unlike = rows.iter().filter(unlike).count();
    if unlike > 0 {
        notes.push(format!(
            "{unlike} of {} rows have rounds of different lengths on both sides, which is a difference \
             by itself",
            rows.len()
        ));
    }
    for input in inputs {
        let disturbed = warnings::disturbed(&input.report.machine, input.report.cpu_time);
        notes
            .extend(disturbed.iter().map(|warning| format!("{}: {}", input.name, warning.message)));
    }
    for pair in inputs.windows(2) {
        let [one, other] = pair else { continue };
        for (what, one_has, other_has) in settings(&one.report, &other.report) {
            notes.push(format!(
                "{} was measured with {what} {one_has}, {} with {other_has}",
                one.name, other.name
            ));
        }
    }
    notes
}

/// The settings that are not in series, where they differ.
fn settings(one: &Report, other: &Report) -> Vec<(&'static str, String, String)> {
    let of = |report: &Report| {
        let build = [("libc", report.machine.libc.clone()), ("rustc", report.build.rustc.clone())];
        same::conditions(&report.settings).into_iter().chain(build)
    };
    same::differing(of(one), of(other)).collect()
}
