//! The report files of a run: found writable before anything is measured, written at its end.

use std::path::PathBuf;

use ondeck_lab::report;
use ondeck_lab::results::Report;

use crate::Usage;
use crate::cli::Outputs;
use crate::target::Target;

/// The report files of a run, ready to be written.
pub(crate) struct Prepared {
    files: Vec<File>,
}

struct File {
    format: Format,
    /// As the user wrote it.
    name: PathBuf,
    target: Target,
}

#[derive(Clone, Copy)]
enum Format {
    Json,
    Csv,
    Html,
    Markdown,
}

/// What became of the files of a run.
pub(crate) struct Written {
    /// The files that are whole.
    pub(crate) names: Vec<PathBuf>,
    /// A message for each that is not.
    pub(crate) errors: Vec<String>,
}

impl Prepared {
    /// Makes sure of every file that the options name.
    ///
    /// Fails before anything is measured, with the file's name and what to do.
    pub(crate) fn open(outputs: &Outputs) -> Result<Self, Usage> {
        let wanted = [
            (Format::Json, &outputs.json),
            (Format::Csv, &outputs.csv),
            (Format::Html, &outputs.html),
            (Format::Markdown, &outputs.markdown),
        ];
        let mut files: Vec<File> = Vec::new();
        for (format, name) in wanted {
            let Some(name) = name else { continue };
            let target = Target::find(name)
                .map_err(|problem| Usage(format!("cannot write {}: {problem}", name.display())))?;
            if let Some(other) = files.iter().find(|file| file.target.place() == target.place()) {
                let (one, other) = (name.display(), other.name.display());
                return Err(Usage(format!(
                    "{one} and {other} are the same file; give each report its own"
                )));
            }
            files.push(File { format, name: name.clone(), target });
        }
        Ok(Self { files })
    }

    /// Writes every report that can be written, whatever happens to the others.
    pub(crate) fn write(self, report: &Report) -> Written {
        let mut written = Written { names: Vec::new(), errors: Vec::new() };
        for File { format, name, target } in self.files {
            let outcome = format
                .render(report)
                .and_then(|text| target.write(&text).map_err(|error| error.to_string()));
            match outcome {
                Ok(()) => written.names.push(name),
                Err(error) => {
                    written.errors.push(format!("cannot write {}: {error}", name.display()));
                }
            }
        }
        written
    }
}

impl Format {
    fn render(self, report: &Report) -> Result<String, String> {
        match self {
            Self::Json => Ok(report::json::render(report)),
            Self::Csv => report::csv::render(report).map_err(|error| error.to_string()),
            Self::Html => Ok(report::html::render(report)),
            Self::Markdown => Ok(report::markdown::render(report)),
        }
    }
}
