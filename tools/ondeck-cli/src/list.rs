//! `ondeck list`.

use std::fmt::Write;

use clap::Args;
use ondeck_lab::results::Kind;
use ondeck_lab::select;
use ondeck_lab::workload::{Subject, WORKLOADS};
use ondeck_report::table;

use crate::ending::{Ending, Error};
use crate::{output, session};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Locks to list: names, patterns or groups, separated by commas
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    locks: Vec<String>,

    /// Also show each lock's source and what it teaches
    #[arg(long)]
    long: bool,
}

/// The tables of locks, and their headings.
const KINDS: [(Kind, &str); 2] = [(Kind::Mutex, "mutexes"), (Kind::RwLock, "reader-writer locks")];

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    let everything = Subject::of_every_kind();
    let subjects = select::locks(&everything, &options.locks).map_err(Error::usage)?;
    let rows: Vec<_> = subjects.iter().map(session::lock_row).collect();
    let mut text = String::new();
    if options.long {
        for row in &rows {
            _ = writeln!(
                text,
                "{}\n  {}; {}, {}; {} bytes, {} more for each thread{}\n  condvar: {}\n  teaches: {}\n  source:  {}",
                row.name,
                row.kind,
                row.waiting,
                row.fairness,
                row.size_bytes,
                row.context_bytes,
                if row.touches_after_release {
                    "; its unlock may touch it when another thread has it"
                } else {
                    ""
                },
                row.condvar,
                row.teaches,
                row.source
            );
        }
    } else {
        for (kind, heading) in KINDS {
            let of_kind: Vec<_> =
                rows.iter().filter(|row| row.kind == kind.to_string()).cloned().collect();
            if !of_kind.is_empty() {
                _ = writeln!(text, "{heading}\n{}\n", table::locks(&of_kind, output::colours()));
            }
        }
        _ = writeln!(
            text,
            "{} locks. bytes: the lock; +thread: what each thread brings to it.",
            rows.len()
        );
    }
    text.push_str("\nworkloads\n");
    let workloads = WORKLOADS.iter().map(|workload| (workload.name, workload.about));
    for (name, about) in workloads.chain([select::COSTS]) {
        _ = writeln!(text, "  {name:17} {about}");
    }
    text.push_str("\ngroups\n");
    for group in select::GROUPS {
        _ = writeln!(text, "  {:12} {}", group.name, group.about);
    }
    output::print(&text)?;
    Ok(Ending::Whole)
}
