//! Completion scripts, manual pages and the JSON schema: generated from the command itself, so
//! that they cannot disagree with it.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::ending::{Ending, Error};
use crate::output;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Ending, Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ondeck", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Ending::Whole)
}

pub(crate) fn man(folder: Option<&Path>) -> Result<Ending, Error> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command())
            .render(&mut page)
            .map_err(|error| Error::System(error.to_string()))?;
        output::print(&String::from_utf8_lossy(&page))?;
        return Ok(Ending::Whole);
    };
    clap_mangen::generate_to(Cli::command(), folder).map_err(|error| {
        Error::Usage(format!(
            "cannot write manual pages into {}: {error}; name a folder that exists",
            folder.display()
        ))
    })?;
    Ok(Ending::Whole)
}

pub(crate) fn schema() -> Result<Ending, Error> {
    output::print(&ondeck_report::json::schema())?;
    Ok(Ending::Whole)
}
