//! The document: head, summary, sections in their order, footer.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use ondeck_lab::results::{Failure, Report};
use ondeck_text::frame;
use ondeck_text::numbers::page as number;

use super::figure::{slug, tag};
use super::palette::Palette;
use super::{costs, facts, overview, tools, workload};
use crate::data;

const SCRIPT: &str = include_str!("page.js");

/// Nothing may be fetched, and no script may run except the page's own: neither through this file
/// nor through a name in it. The SHA-256 of the script, in base64, identifies it.
const POLICY: &str = "default-src 'none'; script-src 'sha256-YAxWWAz1uToQh5ayHiUmU7qt51qT81Oe0i7SY42uGuQ='; \
                      style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

struct Section {
    id: String,
    title: String,
    body: Markup,
}

/// The whole page.
pub fn document(report: &Report) -> Markup {
    let palette = Palette::new(report);
    let sections = sections(report, &palette);
    let title = format!("ondeck: locks on {}", data::or_unknown(&report.machine.cpu));
    html! {
        (DOCTYPE)
        html lang="en" {
            (frame::head(&title, &report.build.version, POLICY))
            body {
                header {
                    p.kicker {
                        "ondeck report " (tag(report.evidence))
                        @if let Some(simulation) = report.simulation() { " " (simulation) }
                    }
                    h1 { "Locks on " (data::or_unknown(&report.machine.cpu)) }
                    p.verdict { (verdict(report)) }
                    p #origin .note { (data::origin(report)) }
                    @if let Some(work) = report.machine.pure_work { p.note { (work.line()) } }
                }
                (tools::bar(report, &palette))
                main {
                    (failures(report))
                    (warnings(report))
                    (overview::answer(report))
                    (overview::verdicts(report))
                    nav aria-label="Sections" {
                        ul {
                            @for section in &sections {
                                li { a href=(format!("#{}", section.id)) { (section.title) } }
                            }
                        }
                    }
                    @for section in &sections {
                        section id=(section.id) {
                            h2 { (section.title) }
                            (section.body)
                        }
                    }
                }
                footer {
                    p {
                        "Written by ondeck " (report.build.version) ", started "
                        (report.started) ". This file is complete: it loads nothing."
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// The parts of the page in their order. A part is a function of the report and a line here.
fn sections(report: &Report, palette: &Palette) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut add = |id: &str, title: String, body: Markup| {
        // Names of workloads come from outside and may collide with another id.
        let taken = |id: &str| sections.iter().any(|section| section.id == id);
        let mut unique = if id.is_empty() { "section".to_owned() } else { id.to_owned() };
        while taken(&unique) {
            unique.push_str("-2");
        }
        sections.push(Section { id: unique, title, body });
    };
    for workload in data::workloads(report) {
        let body = html! {
            (workload::section(report, palette, workload))
            @if let Some(limits) = data::cannot_show(workload) {
                p.note { strong { "What this does not show: " } (facts::prose(&limits)) }
            }
        };
        add(&format!("workload-{}", slug(workload)), data::title(workload), body);
    }
    if !report.costs.is_empty() {
        add("costs", "Costs of the machine".to_owned(), costs::section(report));
    }
    if !report.baselines.is_empty() {
        add("harness", "The harness's own part".to_owned(), costs::harness(report));
    }
    if !report.locks.is_empty() {
        add("locks", "The locks".to_owned(), facts::locks(report));
    }
    add("machine", "Machine and build".to_owned(), facts::machine(report));
    add("settings", "How it was run".to_owned(), facts::settings(report));
    add("glossary", "Metrics".to_owned(), facts::glossary(report));
    sections
}

/// The contents in one line.
fn verdict(report: &Report) -> String {
    let plural = |count: usize, one: &str, many: &str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    let verb = match report.simulation() {
        None => "measured".to_owned(),
        Some(simulation) => format!("{simulation},"),
    };
    let mut line = format!(
        "{} in {}, {verb} in {}.",
        plural(data::lock_names(report).len(), "lock", "locks"),
        plural(data::workloads(report).len(), "workload", "workloads"),
        number::duration(report.seconds),
    );
    if !report.failures.is_empty() {
        let what = plural(report.failures.len(), "measurement failed.", "measurements failed.");
        line = format!("{line} {what}");
    }
    if !report.warnings.is_empty() {
        let what = plural(report.warnings.len(), "warning", "warnings");
        line = format!("{line} {what} to read first.");
    }
    line
}

fn failures(report: &Report) -> Markup {
    html! {
        @if report.partial {
            aside.box.warning {
                h2 { "Interrupted" }
                p { "The run was interrupted. What was measured until then is here." }
                p.fix { strong { "What to do: " } "repeat the run, and let it end." }
            }
        }
        @for failure in &report.failures { (failed(failure)) }
    }
}

fn warnings(report: &Report) -> Markup {
    html! {
        @if !report.warnings.is_empty() {
            aside.box.warning {
                h2 { "Before you trust the numbers" }
                @for warning in &report.warnings {
                    details {
                        summary { (warning.message) }
                        @if !warning.fix.is_empty() {
                            p.fix { strong { "What to do: " } (warning.fix) }
                        }
                    }
                }
            }
        }
    }
}

fn failed(failure: &Failure) -> Markup {
    let kind = data::capitalized(&failure.kind.replace('_', " "));
    html! {
        aside.box.failure {
            h2 { (kind) ": " (failure.lock) ", " (failure.workload) " at " (failure.threads) " threads" }
            p { (failure.message) }
            @if !failure.thread_states.is_empty() {
                p { "Where its threads were:" }
                ul { @for state in &failure.thread_states { li { code { (state) } } } }
            }
            p.fix {
                strong { "What it means: " }
                "the other numbers stand; the figures and tables lack this one."
            }
        }
    }
}
