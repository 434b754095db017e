//! Names for addresses: functions with lines and inlined calls, variables with their declarations.
//!
//! Lines come from the object itself or from its separate debugging file: by build-id or by the name in
//! `.gnu_debuglink`, in the places where GDB looks for them (GDB manual, "Separate Debug Files"). Without
//! debugging information names come from symbols; without symbols there are only offsets and a build-id.

mod cfi;
mod declared;
mod mapped;
mod object_file;
mod perf_map;
mod source;

use std::collections::HashMap;
use std::path::PathBuf;

use crate::mappings::Source;

pub use cfi::{Bytes, REGISTERS, Rule, Rules};
pub use object_file::{ObjectFile, hexadecimal};
pub use perf_map::PerfMap;

/// Objects, each opened once.
#[derive(Default)]
pub struct Symbols {
    objects: HashMap<Source, Result<ObjectFile, String>>,
    /// Searched for objects and debugging files, by build-id.
    folders: Vec<PathBuf>,
}

impl Symbols {
    /// Symbols that are also searched in folders.
    pub fn with(folders: Vec<PathBuf>) -> Self {
        Self { objects: HashMap::new(), folders }
    }

    /// Returns the object that a process mapped; `None` if it cannot be found.
    pub fn object(&mut self, source: &Source) -> Option<&ObjectFile> {
        self.opened(source).as_ref().ok()
    }

    /// Returns the object, or the reason why there is none.
    pub fn opened(&mut self, source: &Source) -> &Result<ObjectFile, String> {
        let Self { objects, folders } = self;
        objects.entry(source.clone()).or_insert_with(|| source.open(folders))
    }
}
