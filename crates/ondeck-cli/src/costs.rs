//! `ondeck costs`.

use std::time::{Duration, Instant};

use ondeck_lab::{costs, report::table};

use crate::bench::{self, Interrupt};
use crate::cli::CostsOptions;
use crate::output::{self, Prepared};
use crate::progress::Progress;
use crate::{Ending, Usage};

/// What a round of every operation takes on a machine of 2 cores.
const ROUND: Duration = Duration::from_millis(60);

pub(crate) fn run(options: &CostsOptions) -> Result<Ending, Usage> {
    let prepared = Prepared::open(&options.outputs)?;
    let interrupt = Interrupt::listen()?;
    let mut report = bench::empty_report();
    report.settings.rounds = options.rounds;
    let start = Instant::now();
    report.costs = measure(options.rounds, &interrupt);
    report.seconds = start.elapsed().as_secs_f64();
    report.partial = interrupt.happened();

    output::print(&format!("{}\n", table::costs(&report.costs, output::colours())))?;
    bench::print_warnings(&report);
    bench::finish(prepared, &report)
}

/// Measures with a progress bar.
pub(crate) fn measure(rounds: usize, interrupt: &Interrupt) -> Vec<ondeck_lab::results::Cost> {
    let total = ROUND * rounds as u32;
    let mut progress = Progress::new(total);
    let costs = costs::measure(
        rounds,
        |operation, share| progress.show(total.mul_f64(share), format!("costs: {operation}")),
        || interrupt.happened(),
    );
    progress.finish();
    costs
}
