//! `ondeck trace`: why the lock was idle, and why threads waited.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ondeck_lab::disturbance::Account;
use ondeck_lab::environment::{Pinning, Placement, Policy};
use ondeck_lab::results::Failure;
use ondeck_lab::results::trace::{Document, KIND, SCHEMA, Settings};
use ondeck_lab::team::{TeamError, TeamSetting};
use ondeck_lab::workload::{NO_LOCK, Subject};
use ondeck_lab::{select, warnings};
use ondeck_report::json;
use ondeck_trace::{LEAST, Request, Tracer, text};

use crate::ending::{Ending, Error};
use crate::files::Prepared;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::{output, session, summary, values};

#[derive(Debug, Args)]
#[command(
    next_help_heading = "How to measure",
    after_help = "\
Examples:
  ondeck trace
  ondeck trace --locks ondeck,ticket_spinlock --threads 8
  ondeck trace --locks glibc --work 1000,1000 --policy batch --json trace.json

Ctrl-C ends the run under way; what was found is kept and marked partial.

Exit codes: 0 done, also where the kernel shows less than was asked for; 1
something was not traced or written; 2 wrong usage."
)]
pub(crate) struct Options {
    /// Locks to trace: names, patterns with `*` and `?`, or groups, separated by commas
    #[arg(
        help_heading = "What to measure",
        short,
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "ondeck,std,spinlock,ticket_spinlock",
        value_parser = values::LockNames,
        hide_possible_values = true
    )]
    locks: Vec<String>,

    /// Number of threads; by default twice the number of CPUs
    #[arg(help_heading = "What to measure", short, long, value_name = "COUNT", value_parser = values::thread_count)]
    threads: Option<usize>,

    /// Work inside the critical section and outside of it, in nanoseconds
    #[arg(help_heading = "What to measure", long, value_name = "SECTION,OUTSIDE", value_parser = values::work, default_value = "0,0")]
    work: (u64, u64),

    /// Runs of each lock
    #[arg(short, long, value_name = "COUNT", default_value = "10", value_parser = values::round_count)]
    runs: usize,

    /// No run of a lock begins after this time
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = values::round_length)]
    duration: Duration,

    /// Pairs of each thread in a run
    #[arg(hide_short_help = true, long, value_name = "COUNT", default_value = "16384", value_parser = pairs)]
    pairs: u32,

    /// Number of the longest idles, and of the longest waits, to show
    #[arg(help_heading = "Output", long, value_name = "COUNT", default_value = "4", value_parser = longest)]
    longest: usize,

    /// Where threads run: `none`, `each`, or a list of CPUs as `0,2` or `0-3,6`
    #[arg(hide_short_help = true, long, value_name = "HOW", default_value = "none")]
    pin: Pinning,

    /// Scheduling policy of the threads: `other`, `batch`, `fifo`, `rr`
    #[arg(hide_short_help = true, long, value_name = "POLICY", default_value = "other")]
    policy: Policy,

    /// Report a lock as stuck if none of its threads makes progress for so long
    #[arg(hide_short_help = true, long, value_name = "TIME", default_value = "10s", value_parser = values::stall_limit)]
    stall_limit: Duration,

    /// Write the trace as JSON
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn pairs(word: &str) -> Result<u32, String> {
    /// The stamps of this number of pairs take 40 MB a thread.
    const MOST: usize = 1_000_000;
    values::in_range(word, 1, MOST, "pairs").map(|pairs| pairs as u32)
}

fn longest(word: &str) -> Result<usize, String> {
    values::in_range(word, 1, 1_000, "episodes")
}

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    let interrupt = Interrupt::listen()?;
    let locks = select::locks(&Subject::all(), &options.locks).map_err(Error::usage)?;
    let prepared = Prepared::of([((), options.json.as_deref())])?;

    let asked =
        Placement { pinning: options.pin.clone(), policy: options.policy, ..Placement::default() };
    let (placement, refusals) = asked.granted();
    let machine = session::described();
    let threads = options.threads.unwrap_or(2 * machine.usable_cpus.max(1));
    let mut before = warnings::before(&machine);
    before.extend(warnings::refused(&refusals));
    summary::print_warnings(&before);

    let mut tracer = Tracer::new(Request {
        team: TeamSetting {
            threads,
            placement: placement.clone(),
            stall_limit: options.stall_limit,
            cancel: interrupt.flag(),
        },
        runs: options.runs,
        duration: options.duration,
        pairs: options.pairs,
        section_nanos: options.work.0,
        outside_nanos: options.work.1,
        longest_idles: options.longest,
        longest_waits: options.longest,
    });
    for refusal in tracer.refused() {
        output::say(format_args!("refused: {}\n  fix: {}", refusal.reason, refusal.fix));
    }

    let mut found = Document {
        schema: SCHEMA,
        kind: KIND.to_owned(),
        started: ondeck_lab::now(),
        partial: false,
        build: session::build(),
        machine,
        settings: Settings {
            command: session::command_line(),
            threads,
            runs: options.runs,
            pairs: options.pairs,
            section_nanos: options.work.0,
            outside_nanos: options.work.1,
            pinning: placement.pinning.to_string(),
            policy: placement.policy.to_string(),
            least_nanos: LEAST,
        },
        sight: tracer.sight(),
        refused: tracer.refused().to_vec(),
        warnings: before,
        stamp_nanos: 0.0,
        failures: Vec::new(),
        locks: Vec::new(),
    };
    let cpu = Account::now();
    trace_all(&mut tracer, &locks, options, threads, &mut found);
    found.partial = interrupt.happened();
    // A trace does not show the time that the host takes: the thread appears to have a CPU and to
    // do nothing.
    let cpu = session::cpu_time_since(cpu);
    if let Some(pure_work) = &mut found.machine.pure_work {
        pure_work.look_again();
    }
    let late = warnings::disturbed(&found.machine, cpu);
    found.warnings.extend(late.iter().cloned());

    let arrived = deliver(prepared, &found)?;
    summary::print_warnings(&late);
    let whole = arrived && !found.partial && found.failures.is_empty() && refusals.is_empty();
    Ok(if whole { Ending::Whole } else { Ending::Lacking })
}

/// Writes the files, prints the text, and names the files; returns whether all were written.
fn deliver(prepared: Prepared<()>, found: &Document) -> Result<bool, Error> {
    let written = prepared.write_by(|()| Ok(json::render(found)));
    let mut shown = text::render(found);
    if found.partial {
        shown.push_str(summary::INTERRUPTED);
    }
    let printed = output::print(&shown);
    let whole = written.tell();
    printed?;
    Ok(whole)
}

/// What failures name in place of a workload.
const WORKLOAD: &str = "trace";

fn trace_all(
    tracer: &mut Tracer,
    locks: &[Subject],
    options: &Options,
    threads: usize,
    found: &mut Document,
) {
    // The length of a run depends on the lock by orders of magnitude; the bar counts runs.
    let step = Duration::from_secs(1);
    let mut progress = Progress::new(step * (options.runs * locks.len()) as u32);
    match tracer.stamp_cost() {
        Ok(nanos) => found.stamp_nanos = nanos,
        Err(TeamError::Cancelled) => return,
        Err(error) => found.failures.push(Failure::of(WORKLOAD, NO_LOCK, 1, error)),
    }
    for (place, lock) in locks.iter().enumerate() {
        let name = lock.info.name;
        let (outcome, failed) = tracer.trace(lock, |run| {
            let behind = step * (place * options.runs + run) as u32;
            progress.show(behind, format!("{name}: run {}", run + 1));
        });
        if outcome.runs > 0 {
            found.locks.push(outcome);
        }
        match failed {
            None => {}
            Some(TeamError::Cancelled) => break,
            Some(error) => {
                let failure = Failure::of(WORKLOAD, name, threads, error);
                progress.note(&summary::describe(&failure));
                found.failures.push(failure);
            }
        }
    }
    progress.finish();
}
