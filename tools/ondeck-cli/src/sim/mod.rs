//! `ondeck sim`: the laboratory's workloads on simulated machines.
//!
//! | file | what |
//! |---|---|
//! | `options.rs` | the options of the command |
//! | `chosen.rs` | locks and workloads that can be simulated, or why one cannot |
//! | `campaign.rs` | stages on all threads, results in the order of the plan |
//! | `machine.rs` | the machine as reports describe it |
//! | `replay.rs` | a program's recording, instead of workloads |
//! | `shorter.rs` | the sections to shorten in it |
//! | `verdict.rs` | the conclusion of it |

mod campaign;
mod chosen;
mod machine;
mod options;
mod replay;
mod shorter;
mod verdict;

use std::path::Path;
use std::time::Instant;

use ondeck_lab::plan::{self, Extent, Request, Stage};
use ondeck_lab::results::{Evidence, LockRow, Report, Settings, Simulated};
use ondeck_lab::workload::Subject;
use ondeck_sim::lab;
use ondeck_sim::machine::MachineFile;

use crate::ending::{Ending, Error};
use crate::files::Prepared;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::{choice, output, session, summary};

pub(crate) use options::Options;

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    let machine = MachineFile::find(&options.machine).map_err(Error::usage)?;
    if let Some(file) = &options.replay {
        return replay::run(file, &machine, options);
    }
    let setup = lab::Setup { costs: machine.costs().clone(), seed: options.seed };
    let subjects = lab::subjects();
    let interrupt = Interrupt::listen()?;
    let request = Request {
        simulated: true,
        locks: chosen::locks(options, &subjects)?,
        workloads: chosen::workloads(options)?,
        round: Some(options.duration),
        rounds: Some(options.rounds),
        stall_limit: options.stall_limit,
        seed: options.seed,
        cancel: interrupt.flag(),
        ..Request::of(if options.quick { Extent::Quick } else { Extent::Suite })
    };
    let request = options.choice.of(request);
    let unmatched = choice::unmatched(&request);
    if let (Some(first), true) = (unmatched.first(), unmatched.len() == request.workloads.len()) {
        return Err(Error::Usage(first.message.clone() + "; " + &first.fix));
    }
    let stages = stages(options, &request, setup.costs.places.len(), &subjects);
    let prepared = Prepared::open(&options.outputs)?;
    prepared.apart_from_inputs([Path::new(&options.machine)])?;

    let mut report = empty_report(&machine, options, &request);
    if options.choice.workloads.is_some() {
        report.warnings.extend(unmatched);
    }
    report.warnings.extend(choice::spinners_left_out(&request));
    summary::print_warnings(&report.warnings);
    let lacking = !report.warnings.is_empty();

    let start = Instant::now();
    let jobs: Vec<Stage> = stages.iter().flat_map(campaign::jobs).collect();
    output::say(format_args!("simulating {}", machine.about()));
    let mut progress = Progress::new(campaign::planned(&jobs));
    let found = campaign::carry_out(&setup, &jobs, &request, &mut progress);
    progress.finish();

    for its in found {
        report.series.extend(its.series);
        report.baselines.extend(its.baselines);
        report.failures.extend(its.failures);
    }
    report.seconds = start.elapsed().as_secs_f64();
    report.partial = interrupt.happened();
    report.locks = rows(&report, &subjects);
    let ending = session::finish(prepared, &report, &summary::of_bench(&report));
    Ok(if lacking { Ending::Lacking } else { ending })
}

/// All stages, including the baselines with the lock that does nothing.
fn stages(options: &Options, request: &Request, cpus: usize, subjects: &[Subject]) -> Vec<Stage> {
    let mut request = Request { cpus, ..request.clone() };
    if options.quick {
        request.work = request.work.or(Some((100, 500)));
        request.threads = request.threads.or_else(|| Some(quick_counts(cpus)));
    }
    let stages = plan::stages(&request, subjects);
    let baselines = plan::baselines(&stages, request.extent);
    stages.into_iter().chain(baselines).collect()
}

/// One thread, a few, a quarter of the CPUs, all of them.
fn quick_counts(cpus: usize) -> Vec<usize> {
    let mut counts = vec![1, 4.min(cpus), (cpus / 4).max(1), cpus];
    counts.sort_unstable();
    counts.dedup();
    counts
}

fn empty_report(machine: &MachineFile, options: &Options, request: &Request) -> Report {
    let choice = &options.choice;
    Report {
        evidence: Evidence::Simulated,
        simulated: Some(Simulated { machine: machine.name().to_owned(), seed: options.seed }),
        machine: machine::describe(machine),
        warnings: Vec::new(),
        settings: Settings {
            command: session::command_line(),
            extent: request.extent.to_string(),
            rounds: Some(options.rounds),
            round_milliseconds: Some(options.duration.as_secs_f64() * 1e3),
            work: choice.work.map(|(section, outside)| format!("{section},{outside}")),
            data: choice.data_words(),
            stall_limit_seconds: options.stall_limit.as_secs_f64(),
            pinning: request.placement.pinning.to_string(),
            policy: request.placement.policy.to_string(),
            seed: options.seed,
            ..Settings::default()
        },
        ..session::empty_report()
    }
}

/// The facts of the locks in the report.
fn rows(report: &Report, subjects: &[Subject]) -> Vec<LockRow> {
    let empty = subjects.first().map(Subject::empty);
    let has =
        |subject: &&Subject| report.series.iter().any(|series| series.lock == subject.info.name);
    subjects.iter().chain(&empty).filter(has).map(session::lock_row).collect()
}
