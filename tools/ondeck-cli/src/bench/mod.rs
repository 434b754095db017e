//! `ondeck bench`: turns options into a plan, and results into reports.

mod answer;
mod options;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ondeck_lab::disturbance::Account;
use ondeck_lab::environment::{Placement, Quota, Refusal, realtime_refused};
use ondeck_lab::other_work::OtherWork;
use ondeck_lab::plan::{self, Extent, Request, Stage};
use ondeck_lab::results::{Report, Settings, Warning};
use ondeck_lab::workload::face::Needs;
use ondeck_lab::workload::{Subject, WorkloadInfo};
use ondeck_lab::{run, select, warnings};

use crate::ending::{Ending, Error};
use crate::files::Prepared;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::{choice, costs, output, session, summary};

use answer::{Growing, Selection};
pub(crate) use options::Options;

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    if let Some(round) = options.duration
        && round < Quota::LEAST_ROUND
        && options.quota.0.is_some()
    {
        let (least, period) = (Quota::LEAST_ROUND, Quota::PERIOD);
        return Err(Error::usage(format!(
            "--duration {round:?} is too short for a quota, whose period is {period:?}; use {least:?} or more"
        )));
    }
    let interrupt = Interrupt::listen()?;
    let everything = Subject::of_every_kind();
    let selection = Selection::of(options);
    let parts = match &selection {
        Some(selection) => selection.workloads(),
        None => options.choice.parts()?,
    };
    let mut request = request(options, &everything, parts.workloads, interrupt.flag())?;
    if let (Some(selection), None) = (&selection, &request.locks) {
        request.locks = Some(selection.locks(&everything));
    }
    let unmatched = choice::unmatched(&request);
    if !parts.costs && unmatched.len() == request.workloads.len() {
        return Err(Error::usage(unmatched[0].message.clone() + "; " + &unmatched[0].fix));
    }
    let prepared = Prepared::open(&options.outputs)?;

    let mut report = session::empty_report();
    let (placement, refusals) = request.placement.granted();
    request.placement = placement;
    if request.placement.policy.is_realtime() {
        report.warnings.extend(warnings::realtime(&report.machine));
    }
    let mut left_out: Vec<Warning> = leave_out_refused(&mut request).into_iter().collect();
    left_out.extend(choice::spinners_left_out(&request));
    if options.choice.workloads.is_some() {
        left_out.extend(unmatched);
    }
    report.warnings.extend(warnings::refused(&refusals));
    report.warnings.extend(left_out.iter().cloned());
    // In a suite this is no failure, because most users may not have it.
    let lacking =
        !refusals.is_empty() || (!left_out.is_empty() && options.choice.workloads.is_some());
    report.settings = settings(options, &request);
    summary::print_warnings(&report.warnings);

    let (start, cpu) = (Instant::now(), Account::now());
    let mut stages = match &selection {
        Some(selection) => selection.stages(&request, &everything),
        None => plan::stages(&request, &everything),
    };
    // Baselines come after the locks: an interrupted run has the requested results first.
    stages.extend(plan::baselines(&stages, request.extent));
    let planned: Duration = stages.iter().map(Stage::planned).sum();
    let cost_rounds = if parts.costs { cost_rounds(request.extent) } else { 0 };
    let total = planned + costs::planned(cost_rounds);
    output::say(format_args!("measuring for about {:.0} s", total.as_secs_f64().ceil()));
    let mut progress = Progress::new(total);
    let load = OtherWork::begin(options.background)
        .map_err(|error| Error::System(format!("--background {}: {error}", options.background)))?;
    let results = if selection.is_some() {
        let mut growing = Growing { progress: &mut progress, report: report.clone() };
        run::run(&request, &stages, &mut growing)
    } else {
        run::run(&request, &stages, &mut progress)
    };
    report.costs = costs::measure(cost_rounds, &interrupt, &mut progress, planned);
    progress.finish();
    drop(load);

    report.seconds = start.elapsed().as_secs_f64();
    session::look_again(&mut report, cpu);
    report.partial = interrupt.happened();
    report.series = results.series;
    report.baselines = results.baselines;
    report.failures = results.failures;
    report.locks = session::with_baseline()
        .iter()
        .filter(|subject| report.series.iter().any(|series| series.lock == subject.info.name))
        .map(session::lock_row)
        .collect();
    let late = warnings::after(&report.machine, &report.series, report.cpu_time);
    report.warnings.extend(late.iter().cloned());

    summary::print_warnings(&late);
    let text = printed(options, &report);
    let ending = session::finish(prepared, &report, &text);
    Ok(if lacking { Ending::Lacking } else { ending })
}

/// The text for the terminal.
fn printed(options: &Options, report: &Report) -> String {
    if Selection::of(options).is_some() {
        summary::of_answer(report)
    } else {
        summary::of_bench(report)
    }
}

/// Removes the workload that the machine does not permit, and returns the reason.
fn leave_out_refused(request: &mut Request) -> Option<Warning> {
    let realtime = |workload: &&WorkloadInfo| workload.needs == Needs::Realtime;
    let name = request.workloads.iter().find(realtime)?.name;
    let refusal = realtime_refused()?;
    request.workloads.retain(|workload| !realtime(&workload));
    let reason = format!("workload {name} needs realtime threads: {}", refusal.reason);
    Some(warnings::left_out(&Refusal { reason, ..refusal }))
}

fn request(
    options: &Options,
    everything: &[Subject],
    workloads: Vec<WorkloadInfo>,
    cancel: Arc<AtomicBool>,
) -> Result<Request, Error> {
    let locks = options.choice.locks.as_ref();
    let locks = locks.map(|words| select::locks(everything, words)).transpose();
    let extent = match (options.quick, options.full) {
        (true, _) => Extent::Quick,
        (_, true) => Extent::Full,
        _ => Extent::Suite,
    };
    Ok(options.choice.of(Request {
        locks: locks.map_err(Error::usage)?,
        workloads,
        round: options.duration,
        rounds: options.rounds,
        placement: Placement {
            pinning: options.pin.clone(),
            policy: options.policy,
            slice: options.slice.0,
            quota: options.quota.0,
        },
        stall_limit: options.stall_limit,
        helper: session::helper(),
        seed: options.seed,
        cancel,
        ..Request::of(extent)
    }))
}

/// The number of rounds for operations whose costs are part of the suite.
fn cost_rounds(extent: Extent) -> usize {
    match extent {
        Extent::Quick => 3,
        Extent::Suite => 11,
        Extent::Full => 101,
    }
}

/// The requested settings; where threads run, the granted ones.
fn settings(options: &Options, request: &Request) -> Settings {
    let placement = &request.placement;
    Settings {
        command: session::command_line(),
        extent: request.extent.to_string(),
        rounds: options.rounds,
        round_milliseconds: options.duration.map(|round| round.as_secs_f64() * 1e3),
        work: options.choice.work.map(|(section, outside)| format!("{section},{outside}")),
        data: options.choice.data_words(),
        stall_limit_seconds: options.stall_limit.as_secs_f64(),
        pinning: placement.pinning.to_string(),
        policy: placement.policy.to_string(),
        slice: placement.slice.map(|slice| format!("{slice:?}")),
        quota: placement.quota.map(|quota| quota.to_string()),
        background: options.background,
        seed: options.seed,
    }
}
