//! The document: head, summary, sections in their order, footer.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::results::{Evidence, Failure, Report};

use super::figure::{slug, tag};
use super::theme::{self, Palette};
use super::{costs, data, facts, generic, glance, latency, number, throughput, uncontended};

const STYLE: &str = include_str!("style.css");

/// Nothing may be fetched: not by this file, nor by a name in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri \
                      'none'; form-action 'none'";

struct Section {
    id: String,
    title: String,
    body: Markup,
}

/// The whole page.
pub fn document(report: &Report) -> Markup {
    let sections = sections(report);
    let title = format!("ondeck: locks on {}", or_unknown(&report.machine.cpu));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("ondeck {}", report.build.version));
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(theme::css())) }
            }
            body {
                header {
                    p.kicker { "ondeck report " (tag(report.evidence)) }
                    h1 { "Locks on " (or_unknown(&report.machine.cpu)) }
                    p.verdict { (verdict(report)) }
                }
                main {
                    (boxes(report))
                    (glance::lines(report))
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
            }
        }
    }
}

fn sections(report: &Report) -> Vec<Section> {
    let palette = Palette::new(report);
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
    add("machine", "Machine and build".to_owned(), facts::machine(report));
    for workload in data::workloads(report) {
        let (title, body) = match workload {
            "uncontended" => ("Uncontended".to_owned(), uncontended::section(report)),
            "throughput" => ("Throughput".to_owned(), throughput::section(report, &palette)),
            "wait" => ("Longest wait".to_owned(), latency::section(report, workload)),
            "idle" => ("Longest idle".to_owned(), latency::section(report, workload)),
            other => (generic::title(other), generic::section(report, &palette, other)),
        };
        add(&format!("workload-{}", slug(workload)), title, body);
    }
    if !report.costs.is_empty() {
        add("costs", "Costs of the machine".to_owned(), costs::section(report));
    }
    if !report.locks.is_empty() {
        add("locks", "The locks".to_owned(), facts::locks(report));
    }
    add("settings", "How it was run".to_owned(), facts::settings(report));
    add("glossary", "Words".to_owned(), facts::glossary(report));
    sections
}

fn or_unknown(name: &str) -> &str {
    if name.trim().is_empty() { "an unnamed CPU" } else { name }
}

/// What there is, in one line.
fn verdict(report: &Report) -> String {
    let plural = |count: usize, one: &str, many: &str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    let verb = match report.evidence {
        Evidence::Measured => "measured",
        Evidence::Simulated => "simulated",
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

fn boxes(report: &Report) -> Markup {
    html! {
        @if report.partial {
            aside.box.warning {
                h2 { "Interrupted" }
                p { "The run was interrupted. What was measured until then is here." }
                p.fix { strong { "What to do: " } "repeat the run, and let it end." }
            }
        }
        @for failure in &report.failures { (failed(failure)) }
        @for warning in &report.warnings {
            aside.box.warning {
                h2 { (throughput::capitalized(&warning.code.replace('_', " "))) }
                p { (warning.message) }
                @if !warning.fix.is_empty() {
                    p.fix { strong { "What to do: " } (warning.fix) }
                }
            }
        }
    }
}

fn failed(failure: &Failure) -> Markup {
    let kind = throughput::capitalized(&failure.kind.replace('_', " "));
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
