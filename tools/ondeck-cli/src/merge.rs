//! `ondeck merge`.

use std::path::PathBuf;

use clap::Args;
use ondeck_report::merge;

use crate::ending::{Ending, Error};
use crate::files::{Outputs, Prepared, read_all};
use crate::{session, summary};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ondeck bench --shard 1/2 --json 1.json      on one machine, or as one job
  ondeck bench --shard 2/2 --json 2.json      as another
  ondeck merge 1.json 2.json --json all.json --html all.html

Samples of the same series are joined. Runs of different machines, policies and
pinnings are refused, and so is a run that is in two of the files.")]
pub(crate) struct Options {
    /// Reports that `--json` wrote; `-` is standard input
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,

    #[command(flatten, next_help_heading = "Output")]
    outputs: Outputs,
}

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    let prepared = Prepared::open(&options.outputs)?;
    prepared.apart_from_inputs(options.reports.iter().map(PathBuf::as_path))?;
    if prepared.is_empty() {
        return Err(Error::Usage(
            "nowhere to write the merged report; name a file with --json".to_owned(),
        ));
    }
    let inputs = read_all(&options.reports)?;
    let merged = merge::merge(&inputs, &session::command_line()).map_err(Error::usage)?;
    let samples: usize = merged
        .series
        .iter()
        .flat_map(|series| &series.metrics)
        .map(|metric| metric.samples.len())
        .sum();
    let text =
        format!("{} runs, {} series, {samples} samples\n", merged.runs.len(), merged.series.len());
    let arrived = session::deliver(prepared, &merged, &text);
    let old = |warning| inputs.iter().any(|input| input.report.warnings.contains(warning));
    let new: Vec<_> = merged.warnings.iter().filter(|warning| !old(warning)).cloned().collect();
    summary::print_warnings(&new);
    let lacking = merged.warnings.iter().any(|warning| warning.code == merge::MISSING_SHARDS);
    // The runs themselves have reported what they lack.
    Ok(if arrived && !lacking { Ending::Whole } else { Ending::Lacking })
}
