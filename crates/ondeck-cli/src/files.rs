//! The report files of a run: found writable before anything is measured, written at its end.

use std::path::{Path, PathBuf};

use ondeck_lab::report;
use ondeck_lab::results::Report;

use crate::Usage;
use crate::cli::Outputs;
use crate::target::Target;

/// The report files of a run, ready to be written.
pub(crate) struct Prepared<F = Format> {
    files: Vec<File<F>>,
}

struct File<F> {
    format: F,
    /// As the user wrote it.
    name: PathBuf,
    target: Target,
}

/// What a report can be written as.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    Json,
    Csv,
    Html,
    Jsonl,
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
        Self::of([
            (Format::Json, outputs.json.as_deref()),
            (Format::Csv, outputs.csv.as_deref()),
            (Format::Html, outputs.html.as_deref()),
            (Format::Jsonl, outputs.jsonl.as_deref()),
            (Format::Markdown, outputs.markdown.as_deref()),
        ])
    }

    /// Writes every report that can be written, whatever happens to the others.
    pub(crate) fn write(self, report: &Report) -> Written {
        self.write_by(|format| format.render(report))
    }
}

impl<F: Copy> Prepared<F> {
    /// Makes sure of every file that is named, each for a format.
    pub(crate) fn of<'a>(
        wanted: impl IntoIterator<Item = (F, Option<&'a Path>)>,
    ) -> Result<Self, Usage> {
        let mut files: Vec<File<F>> = Vec::new();
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
            files.push(File { format, name: name.to_owned(), target });
        }
        Ok(Self { files })
    }

    /// Whether no file is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Writes every file that can be written, as `render` makes it of its format.
    pub(crate) fn write_by(self, render: impl Fn(F) -> Result<String, String>) -> Written {
        let mut written = Written { names: Vec::new(), errors: Vec::new() };
        for File { format, name, target } in self.files {
            let outcome = render(format)
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
            Self::Jsonl => report::jsonl::render(report).map_err(|error| error.to_string()),
            Self::Markdown => Ok(report::markdown::render(report)),
        }
    }
}
