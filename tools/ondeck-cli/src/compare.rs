//! `ondeck compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ondeck_report::compare::{self, Choice, Comparison, Input};
use ondeck_report::{comparison, json};

use crate::ending::{Ending, Error};
use crate::files::{Prepared, read_all};
use crate::values::thread_count;
use crate::{output, summary};

#[derive(Debug, Args)]
#[command(
    next_help_heading = "What to compare",
    after_help = "\
Examples:
  ondeck compare before.json after.json
  ondeck compare before.json after.json -m throughput,cpu_per_op -l 'ondeck*'
  ondeck compare before.json after.json --fail-above 5% --alpha 0.001
  ondeck compare --by lock --base glibc report.json

B/A is the median of the ratios of all samples of B to all of A, with its
confidence interval; p is of the two-sided Mann-Whitney test; ~ means that no
difference is significant. Use 10 rounds or more.

Exit codes: 0 done; 1 a metric is worse by more than --fail-above; 2 wrong
usage, or a file that cannot be read or written."
)]
pub(crate) struct Options {
    /// Reports that `--json` wrote, the first is the base; `-` is standard input
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,

    /// What to put side by side: reports, or the locks of one report
    #[arg(long, value_enum, default_value = "file")]
    by: By,

    /// With `--by lock`: the lock that the others are compared with
    #[arg(long, value_name = "LOCK")]
    base: Option<String>,

    /// Locks: names or patterns, separated by commas
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    locks: Option<Vec<String>>,

    /// Workloads: names or patterns, separated by commas
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    workloads: Option<Vec<String>>,

    /// Numbers of threads, separated by commas
    #[arg(short, long, value_name = "COUNTS", value_delimiter = ',', value_parser = thread_count)]
    threads: Option<Vec<usize>>,

    /// Metrics: names or patterns, separated by commas; without it, the one that a workload is
    /// judged by
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    metrics: Option<Vec<String>>,

    /// The significance level; intervals use 1 − alpha
    #[arg(help_heading = "How to compare", long, value_name = "P", default_value = "0.05", value_parser = alpha)]
    alpha: f64,

    /// Exit with 1 if a metric is worse by more than this, as `5%`, and the difference is
    /// significant
    #[arg(help_heading = "How to compare", long, value_name = "PERCENT", value_parser = percent)]
    fail_above: Option<f64>,

    /// Compare reports of different machines
    #[arg(help_heading = "How to compare", hide_short_help = true, long)]
    across_machines: bool,

    /// Write the comparison as JSON
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The same series of the first report and of each other
    File,
    /// The locks of one report, in the same situations
    Lock,
}

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    let by = by(options)?;
    let prepared = Prepared::of([((), options.json.as_deref())])?;
    prepared.apart_from_inputs(options.reports.iter().map(PathBuf::as_path))?;
    let inputs = read_all(&options.reports)?;
    if !options.across_machines {
        compare::same::of_one_machine(&inputs).map_err(|apart| {
            Error::Usage(format!("{apart}; give --across-machines if that is meant"))
        })?;
    }
    let choice = Choice {
        locks: options.locks.clone(),
        workloads: options.workloads.clone(),
        threads: options.threads.clone(),
        metrics: options.metrics.clone(),
        alpha: options.alpha,
    };
    let comparison = compare::compare(&inputs, &by, &choice).map_err(Error::usage)?;
    show(prepared, &comparison, &inputs)?;
    let Some(above) = options.fail_above else { return Ok(Ending::Whole) };
    let worse = comparison.worse_by_more_than(above);
    for line in &worse {
        output::say(format_args!("worse: {line}"));
    }
    Ok(if worse.is_empty() { Ending::Whole } else { Ending::Lacking })
}

fn by(options: &Options) -> Result<compare::By, Error> {
    let wrong = |message: &str| Err(Error::usage(message));
    match (options.by, &options.base, options.reports.len()) {
        (By::File, Some(_), _) => {
            wrong("--base names a lock, and files are compared; add --by lock or leave it out")
        }
        (By::File, None, 1) => {
            wrong("one report has nothing to be compared with; name another, or use --by lock")
        }
        (By::File, None, _) => Ok(compare::By::File),
        (By::Lock, None, _) => wrong("--by lock needs the lock to compare with: --base glibc"),
        (By::Lock, Some(base), 1) => Ok(compare::By::Lock { base: base.clone() }),
        (By::Lock, Some(_), _) => wrong("--by lock is within one report; name one"),
    }
}

/// Writes the files first, as with measurements; a gate must not pass because its files could not
/// be read.
fn show(prepared: Prepared<()>, comparison: &Comparison, inputs: &[Input]) -> Result<(), Error> {
    let written = prepared.write_by(|()| Ok(json::render(comparison)));
    let mut text = comparison::render(comparison, output::colours());
    if !comparison.notes.is_empty() {
        text.push('\n');
    }
    for note in &comparison.notes {
        text.push_str(&summary::note(note));
    }
    output::print(&text)?;
    for input in inputs {
        if input.report.partial {
            output::say(format_args!("note: {} was interrupted", input.name));
        }
    }
    written.all()
}

fn alpha(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(alpha) if alpha > 0.0 && alpha <= 0.5 => Ok(alpha),
        Ok(_) => Err("use more than 0 and up to 0.5".to_owned()),
        Err(_) => Err("not a number; write one as `0.05`".to_owned()),
    }
}

fn percent(word: &str) -> Result<f64, String> {
    let number = word.trim().strip_suffix('%').map(|number| number.trim_end().parse::<f64>());
    match number {
        Some(Ok(percent)) if (0.0..=1_000.0).contains(&percent) => Ok(percent / 100.0),
        Some(Ok(_)) => Err("use 0% to 1000%".to_owned()),
        _ => Err("write a number with its sign, as `5%`".to_owned()),
    }
}
