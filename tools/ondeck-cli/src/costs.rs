//! `ondeck costs`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use ondeck_lab::costs::hardware;
use ondeck_lab::disturbance::Account;
use ondeck_lab::results::{Cost, Report};
use ondeck_lab::{costs, warnings};
use ondeck_report::table;

use crate::ending::{Ending, Error};
use crate::files::{Outputs, Prepared};
use crate::interrupt::Interrupt;
use crate::machine_file;
use crate::progress::Progress;
use crate::values::round_count;
use crate::{output, session, summary};

/// The time of a round of every operation on a machine with 2 cores.
const ROUND: Duration = Duration::from_millis(60);

/// The time of measuring for a machine file on a machine with 2 cores.
const HARDWARE: Duration = Duration::from_secs(4);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds of each operation
    #[arg(help_heading = "How to measure", short, long, value_name = "COUNT", default_value = "11", value_parser = round_count)]
    rounds: usize,

    /// Write a machine file, by which `ondeck sim` simulates this machine: measured where it can
    /// be, and as other machines where it cannot
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    machine_file: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Output")]
    outputs: Outputs,
}

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    let prepared = Prepared::open(&options.outputs)?;
    let machine_file = Prepared::of([((), options.machine_file.as_deref())])?;
    machine_file.apart_from(&prepared)?;
    let interrupt = Interrupt::listen()?;
    let mut report = session::empty_report();
    report.settings.rounds = Some(options.rounds);
    summary::print_warnings(&report.warnings);

    let (start, cpu) = (Instant::now(), Account::now());
    let behind = planned(options.rounds);
    let more = if machine_file.is_empty() { Duration::ZERO } else { HARDWARE };
    let mut progress = Progress::new(behind + more);
    report.costs = measure(options.rounds, &interrupt, &mut progress, Duration::ZERO);
    let hardware = options.machine_file.as_deref().map(|path| {
        let mut show = |what: &str, share| {
            progress.show(behind + HARDWARE.mul_f64(share), format!("machine file: {what}"));
        };
        (path, hardware::measure(&mut show, &|| interrupt.happened()))
    });
    progress.finish();
    report.seconds = start.elapsed().as_secs_f64();
    session::look_again(&mut report, cpu);
    let late = warnings::disturbed(&report.machine, report.cpu_time);
    report.warnings.extend(late.iter().cloned());
    report.partial = interrupt.happened();

    let mut text = format!("{}\n", table::costs(&report.costs, output::colours()));
    if report.partial {
        text.push_str(summary::INTERRUPTED);
    }
    let ending = session::finish(prepared, &report, &text);
    summary::print_warnings(&late);
    let Some((path, hardware)) = hardware else { return Ok(ending) };
    if report.partial {
        output::say(format_args!("{} was not written: interrupted", path.display()));
        return Ok(Ending::Lacking);
    }
    let written = machine_file.write_by(|()| described(path, &report, &hardware));
    Ok(if written.tell() { ending } else { Ending::Lacking })
}

/// The text of the machine file at `path`.
fn described(
    path: &Path,
    report: &Report,
    hardware: &hardware::Hardware,
) -> Result<String, String> {
    let name = path.file_stem().map_or("machine".into(), |stem| stem.to_string_lossy());
    // The date part of a time like 2026-01-31T12:00:00Z.
    let day = report.started.split('T').next().unwrap_or_default();
    machine_file::text(&name, &report.machine, hardware, day)
}

/// The planned time of this number of rounds.
pub(crate) fn planned(rounds: usize) -> Duration {
    ROUND * rounds as u32
}

/// Measures, with a progress bar that starts at `behind`.
pub(crate) fn measure(
    rounds: usize,
    interrupt: &Interrupt,
    progress: &mut Progress,
    behind: Duration,
) -> Vec<Cost> {
    let total = planned(rounds);
    costs::measure(
        rounds,
        &mut |operation, share| {
            progress.show(behind + total.mul_f64(share), format!("costs: {operation}"));
        },
        &|| interrupt.happened(),
    )
}
