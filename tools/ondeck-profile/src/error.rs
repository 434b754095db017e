//! Errors of reading a recording.

use std::io;
use std::path::PathBuf;

/// Why a folder or a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder or the file cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The cause.
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
    /// A file that is not a recording of this version, or is incomplete.
    #[error("{} {why}", path.display())]
    Unusable {
        /// The path.
        path: PathBuf,
        /// The fault, and the remedy.
        why: String,
    },
    /// A report could not be packed.
    #[error("cannot write the profile: {0}")]
    Writing(#[from] io::Error),
}
