//! The Markdown report: a summary to paste into an issue, in GitHub's dialect.

mod escape;
mod fit;
mod tables;

use ondeck_lab::results::Report;

use crate::verdict;

use crate::numbers::page as number;

use super::data;
use escape::{code, prose};
use fit::{Piece, Rank};

/// GitHub's limit for an issue or a comment, in characters.
pub const LIMIT: usize = 65_536;

/// Renders the report as Markdown shorter than [`LIMIT`]. What had to be left out is named at its
/// end.
pub fn render(report: &Report) -> String {
    let mut pieces = vec![Piece::new(Rank::Head, "head", head(report))];
    for failure in &report.failures {
        let name = format!("failure of {}", failure.lock);
        let text = format!(
            "- **{}**: {} in {} at {} threads: {}\n",
            prose(&failure.kind.word()),
            code(&failure.lock),
            code(&failure.workload),
            failure.threads,
            prose(&failure.message)
        );
        pieces.push(Piece::new(Rank::Finding, name, text));
    }
    for warning in &report.warnings {
        let fix = if warning.fix.is_empty() { "" } else { " → " };
        let text = format!("- warning: {}{fix}{}\n", prose(&warning.message), prose(&warning.fix));
        pieces.push(Piece::new(Rank::Finding, format!("warning {}", warning.code), text));
    }
    let verdicts = verdict::verdicts(report);
    for (index, verdict) in verdicts.iter().enumerate() {
        let heading = match (index, &report.simulated) {
            (0, None) => "\n### Verdict on this machine\n\n".to_owned(),
            (0, Some(simulated)) => {
                format!("\n### Verdict on {}, simulated\n\n", prose(&simulated.machine))
            }
            _ => String::new(),
        };
        let text = format!(
            "{heading}- **{}**: {}\n",
            prose(&verdict.situation),
            prose(&verdict.judgement)
        );
        pieces.push(Piece::new(Rank::Finding, format!("verdict on {}", verdict.situation), text));
    }
    pieces.extend(tables::workloads(report));
    pieces.extend(tables::costs(report));
    fit::join(&pieces, LIMIT)
}

fn head(report: &Report) -> String {
    let settings = &report.settings;
    let simulation = report.simulation();
    let word = if simulation.is_some() { "computed" } else { "measured" };
    let simulated =
        simulation.map_or_else(String::new, |words| format!("**{}**\n\n", prose(&words)));
    let interrupted =
        if report.partial { "; **interrupted**, so some of it is missing" } else { "" };
    let asked = [
        ("extent", settings.extent.to_string()),
        ("pinning", settings.pinning.to_string()),
        ("policy", settings.policy.to_string()),
        ("rounds", settings.rounds.map_or_else(String::new, |rounds| rounds.to_string())),
        ("work", settings.work.clone().unwrap_or_default()),
        ("seed", settings.seed.to_string()),
    ];
    let asked: Vec<String> = asked
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name} {}", prose(value)))
        .collect();
    let command = match settings.command.as_str() {
        "" => String::new(),
        command => format!("{}: ", code(command)),
    };
    let cores = report.machine.pure_work;
    let cores = cores.map_or_else(String::new, |work| format!("{}\n\n", prose(&work.line())));
    format!(
        "## ondeck: {} locks in {} workloads\n\n{simulated}{}\n\n{cores}{command}{}; {word} in {}{interrupted}\n\n",
        data::lock_names(report).len(),
        data::workloads(report).len(),
        prose(&data::origin(report)),
        asked.join(", "),
        number::duration(report.seconds),
    )
}
