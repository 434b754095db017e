//! `ondeck advise`.

use std::fmt::{self, Display};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use ondeck_advise::measure::{self, Means};
use ondeck_advise::profile::{self, Recorded};
use ondeck_advise::rules::BUILT_IN;
use ondeck_advise::{Advice, Company, Evidence, Language, Need, Reads, Rules, UseCase, Users};
use ondeck_lab::disturbance::Account;
use ondeck_lab::environment::{Placement, Policy};
use ondeck_lab::other_work::OtherWork;
use ondeck_lab::plan::Stage;
use ondeck_lab::results::{self, Machine, Report};
use ondeck_lab::workload::{STARVE, Subject, UNCONTENDED};
use ondeck_lab::{machine, run, select, warnings};
use ondeck_report::{json, read};

use crate::ending::{Ending, Error};
use crate::files::Prepared;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::values::{LockNames, cpu_count, in_range, seed, thread_count, time, work};
use crate::{output, session, summary};

/// A program that has no lock yet.
const NO_LOCK_NOW: &str = "none";

const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(30);

#[derive(Debug, Args)]
#[command(
    next_help_heading = "The situation",
    after_help = "\
Examples:
  ondeck advise                     for the usual situation, which it prints
  ondeck advise --threads 16 --work 100,500 --company some
  ondeck advise --threads 8 --fairness 10ms --condvar --freed
  ondeck advise --threads 8 --reads 90      a lock for readers and writers
  ondeck advise --realtime                  a lock that knows priorities
  ondeck advise --used-by processes         one that several processes share
  ondeck advise --threads 8 --no-measure
  ondeck run --profile run.jsonl -- ./program
  ondeck advise --profile run.jsonl         for the lock that it waits for
  ondeck bench -w throughput -t 8 --work 100,500 -r 10 --json r.json
  ondeck advise --threads 8 --work 100,500 --from r.json

Exit codes: 0 a lock is named; 1 no lock is named, and why is printed; 2 wrong
usage, or a file that cannot be read or written."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Options {
    /// How many threads use the lock
    #[arg(short, long, value_name = "COUNT", value_parser = thread_count)]
    threads: Option<usize>,

    /// CPUs of the machine that the program runs on, if it is not this one
    #[arg(long, value_name = "COUNT", value_parser = cpu_count)]
    cpus: Option<usize>,

    /// Work with the lock held and between an unlock and the next lock, in nanoseconds
    #[arg(long, value_name = "SECTION,OUTSIDE", value_parser = work)]
    work: Option<(u64, u64)>,

    /// How many per cent of the sections only read: 0, 50, 90, 99, 99.9 or 100; above 0 the locks are those for
    /// readers and writers
    #[arg(long, value_name = "PERCENT")]
    reads: Option<Reads>,

    /// Which threads use it: `threads`; `one` (one thread almost always); `reentrant` (a thread may lock again
    /// what it holds); `processes` (several share the memory)
    #[arg(long, value_name = "HOW")]
    used_by: Option<Users>,

    /// How fair the lock has to be: `none`, `some` (no thread is left out for long), `strict` (order
    /// of arrival), or the longest wait, as `10ms`
    #[arg(long, value_name = "NEED")]
    fairness: Option<Need>,

    /// Threads have realtime priorities that count
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_parser = yes)]
    realtime: Option<bool>,

    /// The most bytes that a lock may have
    #[arg(hide_short_help = true, long, value_name = "COUNT", value_parser = bytes)]
    bytes: Option<Limit>,

    /// Other work on the machine: `none`, `some` (for half of the CPUs), `busy` (for all)
    #[arg(long, value_name = "HOW")]
    company: Option<Company>,

    /// Threads also wait for conditions
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_parser = yes)]
    condvar: Option<bool>,

    /// What the program is written in: `rust`, `c`, `c++`, `none` (it is not compiled again)
    #[arg(long, value_name = "NAME")]
    language: Option<Language>,

    /// The lock that the program has now, which it keeps if none is better; `none` if it is new
    #[arg(long, value_name = "LOCK", value_parser = LockNames, hide_possible_values = true)]
    now: Option<String>,

    /// The thread that unlocks last may free the lock's memory while another thread's unlock still
    /// returns
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_parser = yes)]
    freed: Option<bool>,

    /// Take threads, work, language and the present lock from what `ondeck run --profile FILE.jsonl` recorded, of
    /// the lock that threads waited for longest
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,

    /// Rank the locks of papers and texts too, which no library offers
    #[arg(hide_short_help = true, long)]
    specimens: bool,

    /// What it always does now: uses defaults for what is not given, and lists them
    #[arg(long, hide = true)]
    defaults: bool,

    /// Take measurements from a report that `ondeck bench --json` wrote; `-` is standard input
    #[arg(help_heading = "How to decide", long, value_name = "REPORT", conflicts_with_all = ["no_measure", "save", "time"])]
    from: Option<PathBuf>,

    /// Do not measure: use the rules only
    #[arg(help_heading = "How to decide", long, conflicts_with_all = ["save", "time"])]
    no_measure: bool,

    /// About how long measuring may take
    #[arg(help_heading = "How to decide", long, value_name = "TIME", default_value = "15s", value_parser = measuring)]
    time: Duration,

    /// Seed of the order in which locks take turns
    #[arg(
        help_heading = "How to decide",
        hide_short_help = true,
        long,
        value_name = "NUMBER",
        default_value = "1",
        value_parser = seed
    )]
    seed: u64,

    /// Print the rules, with their sources
    #[arg(help_heading = "How to decide", long)]
    rules: bool,

    /// Write the answer as JSON
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write what was measured as a report, for `--from` and `ondeck compare`
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    save: Option<PathBuf>,
}

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
    if options.defaults {
        output::say("note: --defaults is no longer needed: nothing is asked");
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
    let is_open = candidates.len() > 1
        && measure::is_modelled(&situation)
        && !ondeck_advise::is_unknown(&rules, &situation);
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

/// The assumed parts of a situation, as flags.
#[derive(Default)]
struct Assumed(Vec<String>);

impl Assumed {
    /// Returns the given part, otherwise the default.
    fn part<T: Display>(&mut self, given: Option<T>, flag: &str, default: T) -> T {
        given.unwrap_or_else(|| {
            self.0.push(format!("--{flag}={default}"));
            default
        })
    }

    /// Returns a yes-or-no part; the default is no.
    fn yes(&mut self, given: Option<bool>, flag: &str) -> bool {
        given.unwrap_or_else(|| {
            self.0.push(format!("--{flag}=no"));
            false
        })
    }
}

/// The situation, and its assumed parts.
fn situation(
    options: &Options,
    here: &Machine,
    recorded: Option<&Recorded>,
) -> Result<(UseCase, Vec<String>), Error> {
    let mut assumed = Assumed::default();
    let cpus = here.usable_cpus.max(1);
    let threads = options.threads.or(recorded.map(|recorded| recorded.threads));
    let threads = assumed.part(threads, "threads", cpus);
    let usual = UseCase::usual(threads, cpus);
    // A single thread never waits, however long its sections are.
    let (section_ns, outside_ns) = match (options.work, threads) {
        (Some(work), _) => work,
        (None, 1) => (0, 0),
        (None, _) => {
            let section = recorded.and_then(|recorded| recorded.section_ns);
            let outside = recorded.and_then(|recorded| recorded.outside_ns);
            let work = (section.unwrap_or(usual.section_ns), outside.unwrap_or(usual.outside_ns));
            if section.is_none() || outside.is_none() {
                assumed.0.push(format!("--work={},{}", work.0, work.1));
            }
            work
        }
    };
    // A single thread needs no lock that admits several readers.
    let reads = if threads == 1 {
        Reads::NONE
    } else {
        let reads = options.reads.or(recorded.map(|recorded| recorded.reads));
        assumed.part(reads, "reads", usual.reads)
    };
    let used_by = options.used_by.or(recorded.map(|recorded| recorded.used_by));
    let used_by = assumed.part(used_by, "used-by", usual.used_by);
    let fairness = assumed.part(options.fairness, "fairness", usual.fairness);
    let realtime = assumed.yes(options.realtime, "realtime");
    let bytes = assumed.part(options.bytes, "bytes", Limit(usual.bytes));
    let company = assumed.part(options.company, "company", usual.company);
    let condvar = assumed.yes(options.condvar, "condvar");
    let language = options.language.or(recorded.map(|recorded| recorded.language));
    let language = assumed.part(language, "language", usual.language);
    let offered = if language == Language::Rust { "std" } else { "glibc" };
    let given = options.now.as_deref().or(recorded.map(|recorded| recorded.now));
    let now = assumed.part(given.map(str::trim), "now", offered);
    if now != NO_LOCK_NOW && !select::lock_names().contains(&now) {
        return Err(Error::Usage(format!(
            "no lock `{now}`; use a name of `ondeck list`, or `{NO_LOCK_NOW}`"
        )));
    }
    let freed = assumed.yes(options.freed, "freed");
    let situation = UseCase {
        threads,
        cpus: options.cpus.map_or(usual.cpus, |cpus| cpus.max(1)),
        section_ns,
        outside_ns,
        reads,
        used_by,
        fairness,
        realtime,
        bytes: bytes.0,
        company,
        condvar,
        language,
        now: (now != NO_LOCK_NOW).then(|| now.to_owned()),
        freed,
        specimens: options.specimens,
        virtual_machine: here.virtualized.is_some(),
        ..usual
    };
    Ok((situation, assumed.0))
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
        (Format::Answer, _) => Ok(advice.json()),
        (Format::Report, Some(report)) => Ok(json::render(report)),
        (Format::Report, None) => Err("nothing had to be measured".to_owned()),
    });
    output::print(&advice.text())?;
    if measured.is_some_and(|report| report.partial) && options.from.is_none() {
        output::say(summary::INTERRUPTED.trim_end());
    }
    written.name_files();
    written.all()
}

/// A number of bytes, or `any`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit(Option<usize>);

impl Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => write!(f, "{bytes}"),
            None => f.write_str("any"),
        }
    }
}

fn bytes(word: &str) -> Result<Limit, String> {
    /// A page: no lock is larger.
    const MOST: usize = 4_096;
    if word.trim() == "any" {
        return Ok(Limit(None));
    }
    in_range(word, 1, MOST, "bytes, or `any`").map(|bytes| Limit(Some(bytes)))
}

fn yes(word: &str) -> Result<bool, String> {
    match word.trim().to_lowercase().as_str() {
        "yes" | "y" | "true" => Ok(true),
        "no" | "n" | "false" => Ok(false),
        _ => Err("use `yes` or `no`".to_owned()),
    }
}

fn measuring(word: &str) -> Result<Duration, String> {
    time(word, SHORTEST, LONGEST)
}
