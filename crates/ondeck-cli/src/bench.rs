//! `ondeck bench`: from options to a plan, from results to reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ondeck_lab::alone::Helper;
use ondeck_lab::environment::Placement;
use ondeck_lab::plan::{self, Extent, Request, Stage};
use ondeck_lab::report::table;
use ondeck_lab::results::{Evidence, Failure, LockRow, Report, SCHEMA_VERSION, Settings};
use ondeck_lab::run::{self, Observer};
use ondeck_lab::workload::Subject;
use ondeck_lab::{machine, select, verdict, warnings};

use crate::cli::{ALONE, BenchOptions};
use crate::output::{self, Prepared};
use crate::progress::Progress;
use crate::{Ending, Usage, costs, with_baseline};

/// Not a lock's workload, but part of the suite.
const COSTS: &str = "costs";

pub(crate) fn run(options: &BenchOptions) -> Result<Ending, Usage> {
    let everything = Subject::all();
    let mut request = request(options, &everything)?;
    let with_costs =
        options.workloads.as_ref().is_none_or(|words| words.iter().any(|word| word == COSTS));
    let prepared = Prepared::open(&options.outputs)?;
    let interrupt = Interrupt::listen()?;

    let mut report = empty_report();
    let (placement, refusals) = request.placement.clone().granted();
    request.placement = placement;
    report.warnings.extend(warnings::refused(&refusals));
    let stages = plan::stages(&request, &everything);
    report.settings = settings(options, &request, &stages);
    print_warnings(&report);

    let start = Instant::now();
    let planned = stages.iter().map(Stage::planned).sum();
    let mut watcher = Watcher { progress: Progress::new(planned), interrupt: &interrupt };
    let results = run::run(&request, &stages, &mut watcher);
    watcher.progress.finish();
    if with_costs && !interrupt.happened() {
        let rounds = match request.extent {
            Extent::Quick => 3,
            Extent::Suite => 11,
            Extent::Full => 101,
        };
        report.costs = costs::measure(rounds, &interrupt);
    }

    report.seconds = start.elapsed().as_secs_f64();
    report.partial = interrupt.happened();
    report.series = results.series;
    report.failures = results.failures;
    report.locks = with_baseline()
        .iter()
        .filter(|subject| report.series.iter().any(|series| series.lock == subject.info.name))
        .map(lock_row)
        .collect();
    let late = warnings::after(&report.machine, &report.series);
    report.warnings.extend(late);

    print_report(&report)?;
    let ending = finish(prepared, &report)?;
    Ok(if refusals.is_empty() { ending } else { Ending::Lacking })
}

/// A report about this machine that has no measurements yet.
pub(crate) fn empty_report() -> Report {
    let machine = machine::describe();
    Report {
        schema: SCHEMA_VERSION,
        evidence: Evidence::Measured,
        started: ondeck_lab::now(),
        seconds: 0.0,
        partial: false,
        build: machine::build(),
        settings: Settings { command: command_line(), ..Settings::default() },
        warnings: warnings::before(&machine),
        failures: Vec::new(),
        locks: Vec::new(),
        series: Vec::new(),
        costs: Vec::new(),
        machine,
    }
}

/// Writes the report files, names them, and says whether anything is missing.
pub(crate) fn finish(prepared: Prepared, report: &Report) -> Result<Ending, Usage> {
    for path in prepared.write(report)? {
        anstream::eprintln!("wrote {}", path.display());
    }
    let refused_costs = report.costs.iter().any(|cost| cost.refused.is_some());
    Ok(if report.partial || refused_costs || !report.failures.is_empty() {
        Ending::Lacking
    } else {
        Ending::Whole
    })
}

pub(crate) fn print_warnings(report: &Report) {
    for warning in &report.warnings {
        anstream::eprintln!("warning: {}\n         {}", warning.message, warning.fix);
    }
}

/// A lock's row in tables and reports.
pub(crate) fn lock_row(subject: &Subject) -> LockRow {
    let info = &subject.info;
    LockRow {
        name: info.name.to_owned(),
        origin: info.origin.to_string(),
        waiting: info.waiting.to_string(),
        fairness: info.fairness.to_string(),
        size_bytes: subject.size,
        context_bytes: subject.context_size,
        touches_after_release: info.touches_after_release,
        source: info.source.to_owned(),
        teaches: info.teaches.to_owned(),
    }
}

fn request(options: &BenchOptions, everything: &[Subject]) -> Result<Request, Usage> {
    let unknown = |error: select::Unknown| Usage(error.to_string());
    let locks = options.locks.as_ref().map(|words| select::locks(everything, words)).transpose();
    let words: Vec<String> = match &options.workloads {
        Some(words) => words.iter().filter(|word| *word != COSTS).cloned().collect(),
        None => vec!["all".to_owned()],
    };
    Ok(Request {
        extent: match (options.quick, options.full) {
            (true, _) => Extent::Quick,
            (_, true) => Extent::Full,
            _ => Extent::Suite,
        },
        locks: locks.map_err(unknown)?,
        workloads: select::workloads(&words).map_err(unknown)?,
        threads: options.threads.clone().map(|mut threads| {
            threads.sort_unstable();
            threads.dedup();
            threads
        }),
        round: options.duration,
        rounds: options.rounds,
        work: options.work,
        placement: Placement { pinning: options.pin.clone(), policy: options.policy },
        stall_limit: options.stall_limit,
        helper: std::env::current_exe()
            .ok()
            .map(|program| Helper { program, arguments: vec![ALONE.to_owned()] }),
        seed: options.seed,
    })
}

fn settings(options: &BenchOptions, request: &Request, stages: &[Stage]) -> Settings {
    let timed = stages.iter().find(|stage| !stage.workload.counted);
    Settings {
        command: command_line(),
        rounds: timed.or(stages.first()).map_or(0, |stage| stage.turns),
        round_milliseconds: timed.map_or(0.0, |stage| stage.turn.as_secs_f64() * 1e3),
        pinning: request.placement.pinning.to_string(),
        policy: request.placement.policy.to_string(),
        seed: options.seed,
    }
}

/// The command line that repeats this run, without the path that the program was started by.
fn command_line() -> String {
    std::iter::once("ondeck".to_owned())
        .chain(std::env::args().skip(1))
        .collect::<Vec<_>>()
        .join(" ")
}

fn print_report(report: &Report) -> Result<(), Usage> {
    use std::fmt::Write;
    let mut text = table::render(report, output::colours());
    if let Some(empty) = report
        .series
        .iter()
        .find(|series| series.workload == "uncontended" && series.lock == "none")
        .and_then(|series| series.metric("pair"))
    {
        _ = writeln!(
            text,
            "\nharness: an empty lock costs {:.2} ns a pair; it is in every number",
            empty.median
        );
    }
    let verdicts = verdict::verdicts(&report.series);
    if !verdicts.is_empty() {
        text.push_str("\nverdict on this machine\n");
        for verdict in verdicts {
            _ = writeln!(text, "{}\n  {}", verdict.situation, verdict.judgement);
        }
    }
    for failure in &report.failures {
        _ = writeln!(text, "\n{}", describe(failure));
    }
    _ = writeln!(text, "\n{}", machine_line(report));
    if report.partial {
        text.push_str("interrupted: what is marked * or missing was not measured to its end\n");
    }
    output::print(&text)?;
    let late = |code: &str| ["oversubscribed", "noisy"].contains(&code);
    for warning in report.warnings.iter().filter(|warning| late(&warning.code)) {
        anstream::eprintln!("warning: {}\n         {}", warning.message, warning.fix);
    }
    Ok(())
}

fn machine_line(report: &Report) -> String {
    let machine = &report.machine;
    format!(
        "measured in {:.0} s, median of {} rounds\n{}, {} CPUs{}, {}, {}",
        report.seconds,
        report.settings.rounds,
        if machine.cpu.is_empty() { &machine.architecture } else { &machine.cpu },
        machine.usable_cpus,
        if machine.virtualized.is_some() { " (virtual)" } else { "" },
        machine.kernel,
        machine.libc,
    )
}

fn describe(failure: &Failure) -> String {
    let mut text = format!(
        "{}: {} in workload {} with {} threads: {}",
        failure.kind, failure.lock, failure.workload, failure.threads, failure.message
    );
    for state in &failure.thread_states {
        text.push_str("\n  ");
        text.push_str(state);
    }
    text
}

/// Whether the user pressed Ctrl-C. A second time ends the process at once.
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(crate) fn listen() -> Result<Self, Usage> {
        /// What shells report for a process that SIGINT ended.
        const ENDED_BY_INTERRUPT: i32 = 130;
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        ctrlc::set_handler(move || {
            if seen.swap(true, Ordering::Relaxed) {
                std::process::exit(ENDED_BY_INTERRUPT);
            }
            anstream::eprintln!("\nending after this round; Ctrl-C again to stop at once");
        })
        .map_err(|error| Usage(format!("cannot listen for Ctrl-C: {error}")))?;
        Ok(Self(flag))
    }

    pub(crate) fn happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct Watcher<'a> {
    progress: Progress,
    interrupt: &'a Interrupt,
}

impl Observer for Watcher<'_> {
    fn turn(&mut self, stage: &Stage, lock: &str, behind: Duration) {
        let place = if stage.alone {
            "one-threaded process".to_owned()
        } else {
            format!("{} threads", stage.threads)
        };
        self.progress.show(behind, format!("{}, {place}: {lock}", stage.workload.name));
    }

    fn failed(&mut self, failure: &Failure) {
        self.progress.note(&format!("{}\nit is left out from here on", describe(failure)));
    }

    fn cancelled(&self) -> bool {
        self.interrupt.happened()
    }
}
