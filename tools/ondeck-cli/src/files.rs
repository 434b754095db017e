//! The report files of a run: checked to be writable before the measurement, written at its end;
//! and reports that are read back.

use std::path::{Path, PathBuf};

use clap::Args;
use ondeck_lab::results::Report;
use ondeck_report::compare::Input;
use ondeck_report::{csv, html, json, read};

use crate::ending::Error;
use crate::output;
use crate::target::Target;

/// Where reports go.
#[derive(Debug, Args)]
pub(crate) struct Outputs {
    /// Write the report as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write one row for each workload, lock, number of threads and metric
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,

    /// Write a page with plots that needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

impl Outputs {
    /// Whether any file is named.
    pub(crate) fn any(&self) -> bool {
        let Self { json, csv, html } = self;
        [json, csv, html].iter().any(|name| name.is_some())
    }
}

/// The report files of a run, checked and ready.
pub(crate) struct Prepared<F = Format> {
    files: Vec<File<F>>,
}

struct File<F> {
    format: F,
    /// The name given by the user.
    name: PathBuf,
    target: Target,
}

/// The formats of a report.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    Json,
    Csv,
    Html,
}

/// The result of writing a run's files.
pub(crate) struct Written {
    /// The files that are complete.
    pub(crate) names: Vec<PathBuf>,
    /// An error for each other file.
    pub(crate) errors: Vec<output::Failed>,
}

impl Written {
    /// Prints the names of the complete files.
    fn name_files(&self) {
        for name in &self.names {
            output::say(format_args!("wrote {}", name.display()));
        }
    }

    /// Prints the names of the complete files and the errors of the others; returns whether all are
    /// complete.
    pub(crate) fn tell(&self) -> bool {
        self.name_files();
        for error in &self.errors {
            output::say(format_args!("error: {error}"));
        }
        self.errors.is_empty()
    }

    /// Prints the names of the complete files, and fails with the first error, if any.
    pub(crate) fn all(self) -> Result<(), Error> {
        self.name_files();
        self.errors.into_iter().next().map_or(Ok(()), |error| Err(Error::Output(error)))
    }
}

impl Prepared {
    /// Checks every file that the options name.
    ///
    /// Fails before anything is measured, with the file's name and a remedy.
    pub(crate) fn open(outputs: &Outputs) -> Result<Self, Error> {
        Self::of([
            (Format::Json, outputs.json.as_deref()),
            (Format::Csv, outputs.csv.as_deref()),
            (Format::Html, outputs.html.as_deref()),
        ])
    }

    /// Writes every report that can be written, whatever happens to the others.
    pub(crate) fn write(self, report: &Report) -> Written {
        self.write_by(|format| format.render(report))
    }
}

impl<F: Copy> Prepared<F> {
    /// Checks every named file, each for a format.
    pub(crate) fn of<'a>(
        wanted: impl IntoIterator<Item = (F, Option<&'a Path>)>,
    ) -> Result<Self, Error> {
        let mut files: Vec<File<F>> = Vec::new();
        for (format, name) in wanted {
            let Some(name) = name else { continue };
            let target = Target::find(name).map_err(|problem| {
                Error::Usage(format!("cannot write {}: {problem}", name.display()))
            })?;
            let file = File { format, name: name.to_owned(), target };
            apart(&file, &files)?;
            files.push(file);
        }
        Ok(Self { files })
    }

    /// Fails if one of these files is also one of the others.
    pub(crate) fn apart_from<G>(&self, others: &Prepared<G>) -> Result<(), Error> {
        self.files.iter().try_for_each(|file| apart(file, &others.files))
    }

    /// Fails if one of these files is also read, and so would be lost.
    pub(crate) fn apart_from_inputs<'a>(
        &self,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(), Error> {
        for input in inputs {
            // The place of a file that is not there is reported by what reads it.
            let place = input.canonicalize().ok();
            if let Some(file) =
                self.files.iter().find(|file| Some(file.target.place()) == place.as_deref())
            {
                let (name, input) = (file.name.display(), input.display());
                return Err(Error::Usage(format!(
                    "{name} would replace {input}, which is read; name another file"
                )));
            }
        }
        Ok(())
    }

    /// Whether no file is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Writes every file that can be written, with the bytes that `render` returns for its format.
    pub(crate) fn write_by<T: AsRef<[u8]>>(
        self,
        render: impl Fn(F) -> Result<T, String>,
    ) -> Written {
        let mut written = Written { names: Vec::new(), errors: Vec::new() };
        for File { format, name, target } in self.files {
            let outcome = render(format)
                .and_then(|text| target.write(text.as_ref()).map_err(|error| error.to_string()));
            match outcome {
                Ok(()) => written.names.push(name),
                Err(error) => {
                    written
                        .errors
                        .push(output::Failed { place: name.display().to_string(), error });
                }
            }
        }
        written
    }
}

fn apart<F, G>(file: &File<F>, others: &[File<G>]) -> Result<(), Error> {
    match others.iter().find(|other| other.target.place() == file.target.place()) {
        None => Ok(()),
        Some(other) => Err(Error::Usage(format!(
            "{} and {} are the same file; give each its own",
            file.name.display(),
            other.name.display()
        ))),
    }
}

impl Format {
    fn render(self, report: &Report) -> Result<String, String> {
        match self {
            Self::Json => Ok(json::render(report)),
            Self::Csv => csv::render(report).map_err(|error| error.to_string()),
            Self::Html => Ok(html::render(report)),
        }
    }
}

/// Reads every report; each keeps the name given by the user.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<Input>, Error> {
    let is_input = |path: &&PathBuf| path.as_os_str() == read::STANDARD_INPUT;
    if paths.iter().filter(is_input).count() > 1 {
        return Err(Error::Usage("`-` is named twice; standard input can be read once".to_owned()));
    }
    paths
        .iter()
        .map(|path| match read::file(path) {
            Ok(report) => Ok(Input { name: path.display().to_string(), report }),
            Err(error) => Err(Error::usage(error)),
        })
        .collect()
}
