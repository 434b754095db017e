//! Names for addresses: functions with lines and inlined calls, variables with their declarations.
//!
//! Lines come from the object itself or from its separate debugging file: by build-id or by the
//! name in `.gnu_debuglink`, in the places where GDB looks for them (GDB manual, "Separate Debug
//! Files"). Without debugging information names come from symbols; without symbols there are only
//! offsets and a build-id.

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
pub use object_file::ObjectFile;
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
        // A program may start thousands of processes of the same few files. Why a file cannot be
        // had depends on the process.
        let of_any = Source { pid: 0, range: (0, 0), ..source.clone() };
        let Self { objects, folders } = self;
        if objects.get(&of_any).is_none_or(Result::is_err) {
            let object = objects.remove(source).unwrap_or_else(|| source.open(folders));
            let key = if object.is_ok() { of_any } else { source.clone() };
            return objects.entry(key).insert_entry(object).into_mut();
        }
        &objects[&of_any]
    }
}
