//! What can be wrong with a recording.

use std::io;
use std::path::PathBuf;

/// Why a folder or a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder or the file cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No process recorded anything.
    #[error(
        "{} has no recording (no file *.ondeck-profile): the program did not start under `ondeck run \
         --profile`, cannot be preloaded (static, setuid, another architecture), or had no room for a file, which takes up to 93 MB where TMPDIR names",
        folder.display()
    )]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// Another kind of file.
    #[error("{} is not a recording of ondeck: it begins with {found}", path.display())]
    Foreign {
        /// Which one.
        path: PathBuf,
        /// Its first bytes, escaped.
        found: String,
    },
    /// The process ended before the head was written.
    #[error("{} was not begun: its process ended, or failed, while it made the file", path.display())]
    Unfinished {
        /// Which one.
        path: PathBuf,
    },
    /// Another version of the layout.
    #[error(
        "{} has version {found} of the format, and this program reads version {known}: use the `ondeck` \
         whose library recorded it", path.display()
    )]
    Version {
        /// Which one.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that can be read.
        known: u32,
    },
    /// Another layout under the same version, which no two releases have.
    #[error(
        "{} was recorded by a library of another build, whose recordings have {found} bytes instead of \
         {expected}: use the `ondeck` and the library of one build", path.display()
    )]
    Build {
        /// Which one.
        path: PathBuf,
        /// Its length, by its own head.
        found: u64,
        /// The length that can be read.
        expected: u64,
    },
    /// A part is missing.
    #[error(
        "{} is truncated: {found} bytes of {expected}; copy it whole (it is mostly a hole: `cp --sparse=always`)",
        path.display()
    )]
    Truncated {
        /// Which one.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The length that it must have.
        expected: u64,
    },
    /// A report could not be made.
    #[error("cannot draw the flame graph: {0}")]
    Drawing(String),
    /// A report could not be packed.
    #[error("cannot write the profile: {0}")]
    Writing(#[from] io::Error),
}
