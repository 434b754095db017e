//! `ondeck advise`.

mod options;
mod situation;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ondeck_advise::measure::{self, Means};
use ondeck_advise::profile::{self, Recorded};
use ondeck_advise::rules::BUILT_IN;
use ondeck_advise::{Advice, Evidence, Rules, UseCase};
use ondeck_lab::disturbance::Account;
use ondeck_lab::environment::{Placement, Policy};
use ondeck_lab::other_work::OtherWork;
use ondeck_lab::plan::Stage;
use ondeck_lab::results::{self, Report};
use ondeck_lab::workload::{STARVE, Subject, UNCONTENDED};
use ondeck_lab::{machine, run, warnings};
use ondeck_report::{json, read};

use crate::ending::{Ending, Error};
use crate::files::Prepared;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::{output, session, summary};

pub(crate) use options::Options;
use situation::situation;

#[derive(Clone, Copy)]
enum Format {
    Answer,
    Report,
}

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    if options.rules {
        output::print(BUILT_IN)?;
        return Ok(Ending::Whole);
    }
    let rules = Rules::built_in();
    let prepared = Prepared::of([
        (Format::Answer, options.json.as_deref()),
        (Format::Report, options.save.as_deref()),
    ])?;
    prepared
        .apart_from_inputs(options.from.iter().chain(&options.profile).map(PathBuf::as_path))?;
    let given = options.from.as_ref().map(|path| read::file(path));
    let given = given.transpose().map_err(Error::usage)?;
    let here = match &given {
        Some(report) => report.machine.clone(),
        None => machine::describe(),
    };
    let recorded = recorded(options)?;
    let (situation, assumed) = situation(options, &here, recorded.as_ref())?;

    let everything = ondeck_advise::subjects(&situation);
    let candidates = ondeck_advise::candidates(&rules, &situation, &everything);
    // With one candidate there is no choice, and with none nothing to measure.
    let is_open = candidates.len() > 1 && !ondeck_advise::is_unknown(&rules, &situation);
    let mut whole = true;
    let measured = match given {
        Some(report) if is_open => {
            require(&report, &situation, &candidates, options)?;
            Some(report)
        }
        None if is_open && !options.no_measure => {
            let (report, all) = measured(options, &situation, &candidates)?;
            whole = all;
            Some(report)
        }
        _ => None,
    };
    let by = by(options, measured.as_ref());
    let evidence = measured.as_ref().map(|report| Evidence { by: &by, report });
    let mut advice = ondeck_advise::advise(&rules, &situation, &everything, evidence);
    advice.assumed = assumed;
    show(prepared, &advice, measured.as_ref(), options)?;
    Ok(if advice.answer.known && whole { Ending::Whole } else { Ending::Lacking })
}

/// The recorded facts of the worst lock, if there is a recording.
fn recorded(options: &Options) -> Result<Option<Recorded>, Error> {
    let Some(path) = &options.profile else { return Ok(None) };
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        let fix = profile::HOW_TO_RECORD;
        Error::Usage(format!("{name}: cannot be read: {error}; {fix}"))
    })?;
    let recorded =
        profile::worst_lock(&text).map_err(|problem| Error::Usage(format!("{name} {problem}")))?;
    output::say(format_args!("threads waited for {} longest", recorded.name));
    Ok(Some(recorded))
}

/// Refuses a report that has no measurement of the situation.
fn require(
    report: &Report,
    situation: &UseCase,
    candidates: &[Subject],
    options: &Options,
) -> Result<(), Error> {
    if ondeck_advise::speaks_of(report, situation, candidates) {
        return Ok(());
    }
    let name = options.from.as_ref().map_or(String::new(), |path| path.display().to_string());
    let UseCase { threads, section_ns, outside_ns, .. } = situation;
    let flags = if *threads == 1 {
        format!("-w {UNCONTENDED} -r 10")
    } else {
        let workload = measure::workload(situation);
        format!("-w {workload},{STARVE} -t {threads} --work {section_ns},{outside_ns} -r 10")
    };
    let names: Vec<&str> = candidates.iter().map(|subject| subject.info.name).collect();
    Err(Error::Usage(format!(
        "{name} has no whole series of this situation; measure it with `ondeck bench {flags} -l {} \
         --json {name}`, or leave --from out",
        names.join(",")
    )))
}

/// Measures the candidates; returns the report, and whether the run ended normally.
fn measured(
    options: &Options,
    situation: &UseCase,
    candidates: &[Subject],
) -> Result<(Report, bool), Error> {
    let interrupt = Interrupt::listen()?;
    let mut report = session::empty_report();
    let policy = if situation.realtime { Policy::Fifo } else { Policy::Other };
    let (placement, refusals) = Placement { policy, ..Placement::default() }.granted();
    report.warnings.extend(warnings::refused(&refusals));
    summary::print_warnings(&report.warnings);
    let means = Means {
        time: options.time,
        helper: session::helper(),
        placement,
        stall_limit: Duration::from_secs(10),
        seed: options.seed,
        cancel: interrupt.flag(),
    };
    report.settings.pinning = means.placement.pinning.to_string();
    report.settings.policy = means.placement.policy.to_string();
    let (request, stages) = measure::plan(situation, candidates, &means);
    report.settings = results::Settings {
        stall_limit_seconds: request.stall_limit.as_secs_f64(),
        seed: request.seed,
        ..report.settings
    };
    let (start, cpu) = (Instant::now(), Account::now());
    let mut progress = Progress::new(stages.iter().map(Stage::planned).sum());
    let busy = situation.company.threads(situation.measured_cpus);
    let other = OtherWork::begin(busy).map_err(|error| {
        Error::System(format!("cannot start other work beside the lock: {error}"))
    })?;
    let results = run::run(&request, &stages, &mut progress);
    drop(other);
    progress.finish();
    report.seconds = start.elapsed().as_secs_f64();
    session::look_again(&mut report, cpu);
    report.partial = interrupt.happened();
    report.series = results.series;
    report.failures = results.failures;
    report.locks = candidates.iter().map(session::lock_row).collect();
    let late = warnings::after(&report.machine, &report.series, report.cpu_time);
    report.warnings.extend(late);
    // The intervals of the advice include noise; they do not show the time that the host took.
    summary::print_warnings(&warnings::disturbed(&report.machine, report.cpu_time));
    let whole = refusals.is_empty() && !report.partial;
    Ok((report, whole))
}

fn by(options: &Options, measured: Option<&Report>) -> String {
    let name = match &options.from {
        Some(path) => path.display().to_string(),
        None => "this run".to_owned(),
    };
    match measured.map(|report| report.evidence) {
        Some(results::Evidence::Simulated) => format!("{name}, which is simulated"),
        _ => name,
    }
}

/// Writes the files first, as with measurements.
fn show(
    prepared: Prepared<Format>,
    advice: &Advice,
    measured: Option<&Report>,
    options: &Options,
) -> Result<(), Error> {
    let written = prepared.write_by(|format| match (format, measured) {
        (Format::Answer, _) => Ok(json::render(advice)),
        (Format::Report, Some(report)) => Ok(json::render(report)),
        (Format::Report, None) => Err("nothing had to be measured".to_owned()),
    });
    output::print(&advice.text())?;
    if measured.is_some_and(|report| report.partial) && options.from.is_none() {
        output::say(summary::INTERRUPTED.trim_end());
    }
    written.all()
}
