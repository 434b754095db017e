//! The parts that are no measurements: the machine, the build, the locks, the settings and the
//! glossary.

use maud::{Markup, html};
use ondeck_lab::results::{CpuTime, Metric, Report};
use ondeck_text::numbers::page as number;

use super::tables;
use crate::{data, glossary};

/// The machine and the build.
pub fn machine(report: &Report) -> Markup {
    let machine = &report.machine;
    let build = &report.build;
    let cpus = {
        let mut parts = vec![format!("{} logical", machine.cpus)];
        parts.extend(machine.cores.map(|cores| format!("{cores} cores")));
        parts.extend(machine.smt.map(|smt| if smt { "SMT on" } else { "no SMT" }.to_owned()));
        parts.push(format!("{} usable by this process", machine.usable_cpus));
        parts.extend(machine.numa_nodes.map(|nodes| {
            if nodes == 1 { "1 NUMA node".to_owned() } else { format!("{nodes} NUMA nodes") }
        }));
        parts.join(", ")
    };
    let virtualized = match &machine.virtualized {
        Some(name) => format!("yes: {name}"),
        None => "no hypervisor reported".to_owned(),
    };
    let machine = [
        ("CPU", format!("{} ({})", machine.cpu, machine.architecture)),
        ("CPUs", cpus),
        ("Caches of CPU 0", machine.caches.join(", ")),
        ("Memory", number::bytes(machine.memory_bytes)),
        ("Virtual", virtualized),
        ("Kernel", machine.kernel.clone()),
        ("C library", machine.libc.clone()),
        ("Scheduler", machine.scheduler.clone()),
        ("Clock", format!("{} (kernel: {})", machine.clock, machine.clock_source)),
        ("Frequency governor", machine.governor.clone().unwrap_or_default()),
        ("Frequency", machine.frequency.clone().unwrap_or_default()),
        ("Idle states", machine.idle_states.join(", ")),
        ("CPU quota", machine.cpu_quota.clone().unwrap_or_default()),
        ("Realtime threads may take", machine.realtime_share.clone().unwrap_or_default()),
        ("Time slice", millis(machine.slice_milliseconds)),
        ("Load when it began", machine.load_average.map_or_else(String::new, number::plain)),
        ("CPU time that the host took", taken(report.cpu_time, CpuTime::of_host)),
        ("CPU time that other programs had", taken(report.cpu_time, CpuTime::of_others)),
    ];
    let build = [
        ("ondeck", build.version.clone()),
        ("Commit", build.commit.clone().unwrap_or_default()),
        ("Compiler", build.rustc.clone()),
        ("Target", build.target.clone()),
        ("Profile", format!("{}, optimization level {}", build.profile, build.opt_level)),
        ("RUSTFLAGS", build.rustflags.clone()),
        ("Target features", build.target_features.clone()),
    ];
    html! {
        (tables::facts(&machine))
        h3 { "Build" }
        (tables::facts(&build))
    }
}

fn taken(cpu: Option<CpuTime>, share: fn(&CpuTime) -> f64) -> String {
    cpu.map_or_else(String::new, |cpu| format!("{:.1} %", share(&cpu) * 100.0))
}

fn millis(time: Option<f64>) -> String {
    time.map_or_else(String::new, |time| format!("{} ms", number::plain(time)))
}

/// None is the usual case, and has no row.
fn busy(threads: usize) -> String {
    if threads == 0 { String::new() } else { threads.to_string() }
}

/// The table of locks.
pub fn locks(report: &Report) -> Markup {
    let head = [
        ("lock", false),
        ("origin", false),
        ("a waiter", false),
        ("which thread is next", false),
        ("bytes", true),
        ("bytes per thread", true),
        ("unlock touches it afterwards", false),
        ("teaches", false),
        ("source", false),
    ];
    let rows = html! {
        tbody {
            @for row in &report.locks {
                tr {
                    th scope="row" { (tables::lock_name(&row.name, false)) }
                    td { (row.origin) }
                    td { (row.waiting) }
                    td { (row.fairness) }
                    td.number { (row.size_bytes) }
                    td.number { (row.context_bytes) }
                    td { (if row.touches_after_release { "may" } else { "never" }) }
                    td.long { (row.teaches) }
                    td.long { (row.source) }
                }
            }
        }
    };
    tables::plain("Facts of the locks", "wordy", &head, &rows)
}

/// The settings and the command for repeating the run.
pub fn settings(report: &Report) -> Markup {
    let settings = &report.settings;
    let rows = [
        ("Evidence", report.simulation().unwrap_or_default()),
        ("Started", report.started.clone()),
        ("Took", number::duration(report.seconds)),
        ("Extent", settings.extent.clone()),
        ("Rounds asked for", settings.rounds.map_or_else(String::new, |rounds| rounds.to_string())),
        ("Length of a round asked for", millis(settings.round_milliseconds)),
        ("Work asked for, ns", settings.work.clone().unwrap_or_default()),
        ("Lines of data asked for", settings.data.clone().unwrap_or_default()),
        ("Stuck after", format!("{} s", number::plain(settings.stall_limit_seconds))),
        ("Pinning", settings.pinning.clone()),
        ("Scheduling policy", settings.policy.clone()),
        ("Time slice", settings.slice.clone().unwrap_or_default()),
        ("CPUs of quota", settings.quota.clone().unwrap_or_default()),
        ("Busy threads beside", busy(settings.background)),
        ("Seed", settings.seed.to_string()),
        ("Schema of the results", report.schema.to_string()),
    ];
    html! {
        @if !settings.command.is_empty() {
            p { "To repeat it:" }
            pre { code { (settings.command) } }
        }
        (tables::facts(&rows))
        p {
            "Locks take turns round by round in one process, so that a disturbance of the machine "
            "affects all of them alike. Numbers are medians over rounds; two numbers with a dash "
            "between them are the quartiles."
        }
    }
}

/// Renders Markdown of the glossary or of a workload, with its `code`. Bold words are shown like
/// others.
pub fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part.replace("**", "")) }
        }
    }
}

/// The metrics that appear.
pub fn glossary(report: &Report) -> Markup {
    let mut metrics: Vec<&Metric> = Vec::new();
    for metric in report.series.iter().flat_map(|series| &series.metrics) {
        if !metrics.iter().any(|other| other.name == metric.name) {
            metrics.push(metric);
        }
    }
    html! {
        dl.glossary {
            @for metric in metrics {
                div {
                    dt { code { (metric.name) } " " span.unit { (metric.unit) } }
                    dd {
                        @if let Some(meaning) = glossary::metric(&metric.name) {
                            (prose(meaning)) " "
                        }
                        (data::capitalized(data::direction(metric.better))) "."
                    }
                }
            }
        }
    }
}
