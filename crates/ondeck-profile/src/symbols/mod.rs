//! Names for addresses: functions with lines and inlined calls, variables with their declarations.
//!
//! Lines come from the object itself or from its separate debugging file: by build-id or by the name in
//! `.gnu_debuglink`, in the places where GDB looks for them (GDB manual, "Separate Debug Files"). Without
//! debugging information names come from symbols; without symbols there are only offsets and a build-id.

mod declared;
mod mapped;
mod object_file;

use std::collections::HashMap;
use std::path::Path;

pub use object_file::ObjectFile;

/// Objects by path, each opened once.
#[derive(Default)]
pub struct Symbols {
    objects: HashMap<std::path::PathBuf, Option<ObjectFile>>,
}

impl Symbols {
    /// Returns the object at `path`; `None` if it can no longer be read.
    pub fn object(&mut self, path: &Path) -> Option<&ObjectFile> {
        self.objects.entry(path.to_owned()).or_insert_with(|| ObjectFile::open(path)).as_ref()
    }
}
