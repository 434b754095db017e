//! Files that reports go to: opened before anything is measured, in place only when complete.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ondeck_lab::report;
use ondeck_lab::results::Report;
use tempfile::NamedTempFile;

use crate::cli::Outputs;
use crate::{Ending, Usage};

/// The report files of a run, ready to be written.
pub(crate) struct Prepared {
    files: Vec<(Format, Target)>,
}

#[derive(Clone, Copy)]
enum Format {
    Json,
    Csv,
    Html,
}

/// Where a report goes.
enum Target {
    /// Beside its final name, and renamed when it is complete: no reader sees half a report, and a
    /// failed run leaves an older one alone. Removed if it is never written.
    File { temporary: NamedTempFile, path: PathBuf },
    /// A pipe or device, which must not be replaced.
    Stream(fs::File, PathBuf),
}

impl Prepared {
    /// Opens every file that the options name.
    ///
    /// Fails before anything is measured, with the file's name and what to do.
    pub(crate) fn open(outputs: &Outputs) -> Result<Self, Usage> {
        let wanted = [
            (Format::Json, &outputs.json),
            (Format::Csv, &outputs.csv),
            (Format::Html, &outputs.html),
        ];
        let mut seen: Vec<&Path> = Vec::new();
        let mut files = Vec::new();
        for (format, path) in wanted {
            let Some(path) = path else { continue };
            if seen.contains(&path.as_path()) {
                return Err(Usage(format!(
                    "{} is named for two reports; give each its own file",
                    path.display()
                )));
            }
            seen.push(path);
            files.push((format, Target::open(path)?));
        }
        Ok(Self { files })
    }

    /// Writes every report; returns the names of those that are files.
    pub(crate) fn write(self, report: &Report) -> Result<Vec<PathBuf>, Usage> {
        let mut written = Vec::new();
        for (format, target) in self.files {
            let text = match format {
                Format::Json => report::json::render(report),
                Format::Csv => {
                    report::csv::render(report).map_err(|error| Usage(error.to_string()))?
                }
                Format::Html => report::html::render(report),
            };
            written.push(target.write(&text)?);
        }
        Ok(written)
    }
}

impl Target {
    fn open(path: &Path) -> Result<Self, Usage> {
        let cannot = |error: std::io::Error, fix: &str| {
            Usage(format!("cannot write {}: {error}; {fix}", path.display()))
        };
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                return Err(Usage(format!(
                    "cannot write {}: it is a folder; name a file in it",
                    path.display()
                )));
            }
            Ok(found) if !found.is_file() => {
                let stream = fs::OpenOptions::new().write(true).open(path);
                return stream
                    .map(|stream| Self::Stream(stream, path.to_owned()))
                    .map_err(|error| cannot(error, "name a file that you may write"));
            }
            Ok(found) if found.permissions().readonly() => {
                return Err(Usage(format!(
                    "cannot write {}: it is read-only; name another file or make it writable",
                    path.display()
                )));
            }
            _ => {}
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let temporary = tempfile::Builder::new()
            .prefix(".ondeck-")
            // The user's own mask applies to these, as to any new file.
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .map_err(|error| {
                cannot(error, "name a file in a folder that exists and that you may write")
            })?;
        Ok(Self::File { temporary, path: path.to_owned() })
    }

    fn write(self, text: &str) -> Result<PathBuf, Usage> {
        let cannot = |path: &Path, error: &std::io::Error| {
            Usage(format!(
                "cannot write {}: {error}; the measurements were printed above",
                path.display()
            ))
        };
        match self {
            Self::File { mut temporary, path } => {
                temporary.write_all(text.as_bytes()).map_err(|error| cannot(&path, &error))?;
                temporary.persist(&path).map_err(|error| cannot(&path, &error.error))?;
                Ok(path)
            }
            Self::Stream(mut stream, path) => {
                stream.write_all(text.as_bytes()).map_err(|error| cannot(&path, &error))?;
                Ok(path)
            }
        }
    }
}

/// Whether standard output takes colours: a terminal, and nobody asked for none.
pub(crate) fn colours() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// Prints to standard output. A reader that has seen enough is no error.
pub(crate) fn print(text: &str) -> Result<Ending, Usage> {
    match anstream::stdout().write_all(text.as_bytes()) {
        Ok(()) => Ok(Ending::Whole),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Ending::Whole),
        Err(error) => Err(Usage(format!("cannot write to standard output: {error}"))),
    }
}
