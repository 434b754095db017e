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
    /// A file that is no recording of this version, or not a whole one.
    #[error("{} {why}", path.display())]
    Unusable {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// A report could not be made.
    #[error("cannot draw the flame graph: {0}")]
    Drawing(String),
    /// A report could not be packed.
    #[error("cannot write the profile: {0}")]
    Writing(#[from] io::Error),
}
