//! Completion scripts, manual pages and the JSON schema: generated from the command itself, so
//! that they cannot disagree with it.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::{Ending, Usage, output};

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Ending, Usage> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ondeck", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

pub(crate) fn man(folder: Option<&Path>) -> Result<Ending, Usage> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command())
            .render(&mut page)
            .map_err(|error| Usage(error.to_string()))?;
        return output::print(&String::from_utf8_lossy(&page));
    };
    clap_mangen::generate_to(Cli::command(), folder).map_err(|error| {
        Usage(format!(
            "cannot write manual pages into {}: {error}; name a folder that exists",
            folder.display()
        ))
    })?;
    Ok(Ending::Whole)
}

pub(crate) fn schema() -> Result<Ending, Usage> {
    output::print(&ondeck_lab::report::json::schema())
}
