//! Turns a recording into the table, and into the requested reports.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use ondeck_profile::{Profile, Reader, Role, lines, page, pprof, table};

use super::Way;
use super::futexes::Looks;
use crate::ending::Error;
use crate::files::Prepared;

/// Locks in the table on the terminal.
pub(crate) const LOCKS: usize = 10;

/// Which reports are wanted; the same for `run` and `attach`.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// Record which locks threads wait for and which functions keep them, and write a report:
    /// .html, .pb.gz or .jsonl; may be given several times
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().try_map(report))]
    pub(crate) profile: Vec<Report>,

    /// The stacks in .pb.gz: of threads that held a lock while others waited, or
    /// of threads that waited
    #[arg(long, value_enum, value_name = "THREAD", default_value = "holder")]
    blame: Blame,

    /// Also look here for debugging files, by build-id; may be given several times
    #[arg(long, value_name = "FOLDER")]
    pub(super) symbols: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Blame {
    /// The thread that unlocked, with the time of all that waited
    Holder,
    /// The thread that waited, with its own time
    Waiter,
}

/// A file, and its format.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    name: PathBuf,
    format: Format,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    Html,
    Pprof,
    Jsonl,
}

const FORMATS: [(&str, Format); 3] =
    [(".html", Format::Html), (".pb.gz", Format::Pprof), (".jsonl", Format::Jsonl)];

fn report(name: OsString) -> Result<Report, String> {
    let bytes = name.as_encoded_bytes();
    let has_end = |end: &str| bytes.ends_with(end.as_bytes()) && bytes.len() > end.len();
    if let Some(&(_, format)) = FORMATS.iter().find(|(end, _)| has_end(end)) {
        return Ok(Report { name: PathBuf::from(name), format });
    }
    let ends = FORMATS.map(|(end, _)| end).join(", ");
    Err(format!("the end of the name says what is written: one of {ends}"))
}

impl Wanted {
    /// Checks every file, before anything runs.
    pub(crate) fn prepare(&self) -> Result<Prepared<Format>, Error> {
        check_folders(&self.symbols)?;
        Prepared::of(self.profile.iter().map(|report| (report.format, Some(report.name.as_path()))))
    }

    /// Writes the reports; returns whether all of them are complete.
    pub(crate) fn write(&self, prepared: Prepared<Format>, profile: &Profile) -> bool {
        let role = match self.blame {
            Blame::Holder => Role::Holder,
            Blame::Waiter => Role::Waiter,
        };
        let in_words = |error: ondeck_profile::Error| error.to_string();
        let written = prepared.write_by(|format| match format {
            Format::Html => Ok(page::render(profile).into_bytes()),
            Format::Pprof => pprof::encode(profile, role).map_err(in_words),
            Format::Jsonl => Ok(lines::render(profile).into_bytes()),
        });
        written.tell()
    }
}

/// The table for a terminal, and the files that could not be read.
pub(crate) fn text(profile: &Profile, colours: bool) -> String {
    let mut text = table::render(profile, LOCKS, colours);
    for refused in &profile.refused {
        _ = writeln!(text, "not read: {refused}");
    }
    text
}

/// The message about a program that was attached to and has no recording.
pub(crate) const NOTHING: &str = "no thread has waited for a pthread lock yet\n";

/// Refuses a folder of symbols that is not there.
pub(crate) fn check_folders(symbols: &[PathBuf]) -> Result<(), Error> {
    match symbols.iter().find(|folder| !folder.is_dir()) {
        Some(folder) => {
            Err(Error::Usage(format!("--symbols {}: no such folder; name one", folder.display())))
        }
        None => Ok(()),
    }
}

impl Wanted {
    /// Reads the recording.
    pub(crate) fn read(&self, folder: &Path) -> Result<Profile, Error> {
        let mut reader = Reader::new(folder).with_symbols(self.symbols.clone());
        reader.read().map_err(|error| Error::System(error.to_string()))
    }

    /// Reads the recording of a program whose threads were sampled, which may have recorded
    /// nothing.
    pub(crate) fn read_all(
        &self,
        folder: &Path,
        looks: &Looks,
        way: &Way,
    ) -> Result<Profile, Error> {
        let folders = self.symbols.iter().cloned().chain(looks.watched.roots());
        let mut reader = Reader::new(folder).with_symbols(folders.collect());
        let mut profile = match reader.read() {
            Ok(profile) => profile,
            Err(ondeck_profile::Error::Empty { .. }) => Profile::default(),
            Err(error) => return Err(Error::System(error.to_string())),
        };
        if !matches!(way, Way::Notify { .. }) {
            profile.futexes = Some(reader.futexes(looks.seen()));
        }
        profile.scope = Some(looks.watched.scope(way, &profile, folder));
        Ok(profile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_says_what_is_written() {
        for word in ["a.html", "b/c.pb.gz", "l.jsonl"] {
            assert!(report(word.into()).is_ok(), "{word}");
        }
        for word in ["a.json.gz", "pb.gz", ".html", "a.pb", "report"] {
            let error = report(word.into()).expect_err("nothing says what it is");
            assert!(error.contains(".html") && error.contains(".pb.gz"), "{error}");
        }
    }
}
