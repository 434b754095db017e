//! Completion scripts, manual pages and the JSON schema: generated from the command itself, so
//! that they cannot disagree with it.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::ending::{Ending, Error};
use crate::output;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Ending, Error> {
    output::print(&script(shell))?;
    Ok(Ending::Whole)
}

fn script(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ondeck", &mut script);
    String::from_utf8_lossy(&script).into_owned()
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

#[cfg(test)]
mod tests {
    use clap_complete::Shell;

    use super::*;

    #[test]
    fn shells_complete_the_names_of_locks() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            assert!(script(shell).contains("ticket_spinlock"), "{shell}");
        }
        // Omits the list of all names from each page.
        let help = Cli::command().render_long_help().to_string();
        assert!(!help.contains("ticket_spinlock"), "{help}");
    }
}
