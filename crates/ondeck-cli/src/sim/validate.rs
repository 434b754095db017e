//! `ondeck sim --validate`: the simulator against published measurements.

use std::sync::Mutex;
use std::time::Duration;

use ondeck_sim::validate::{self, Extent};

use crate::ending::{Ending, Error};
use crate::output;
use crate::progress::Progress;

/// Up to so many threads are simulated in some seconds for a table.
const QUICK: u32 = 16;

pub(super) fn run(tables: &[String], quick: bool) -> Result<Ending, Error> {
    let names: Vec<&str> = tables.iter().map(String::as_str).collect();
    let extent = if quick { Extent::Threads(QUICK) } else { Extent::Full };
    // How many numbers there are is known with the first of them.
    let shown: Mutex<Option<Progress>> = Mutex::new(None);
    let tell = |done: usize, of: usize| {
        let Ok(mut shown) = shown.lock() else { return };
        let number = |count: usize| Duration::from_secs(count as u64);
        let progress = shown.get_or_insert_with(|| Progress::new(number(of)));
        progress.show(number(done), format!("{done} of {of} published numbers"));
    };
    let validation = validate::run(&names, 1, extent, &tell).map_err(Error::usage)?;
    if let Some(progress) = shown.into_inner().ok().flatten() {
        progress.finish();
    }
    output::print(&validation.to_string())?;
    Ok(Ending::Whole)
}
