//! The names of addresses that a process has noted itself.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use ondeck_record::layout::BUILD_ID;

use super::memory::Memory;
use super::wait;
use crate::mappings::Mappings;
use crate::model::{Frame, Module, Place};
use crate::names::Names;
use crate::symbols::Symbols;

/// Returns the mappings of a running process as a recording has them: behind the beginning of a
/// file is a line with its build-id, by which the file is found when it has been deleted or
/// replaced.
pub fn mappings(pid: u32) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let memory = Memory::open(pid).ok();
    let mut identified = String::new();
    for line in text.lines() {
        identified.push_str(line);
        identified.push('\n');
        let start = Mappings::beginning(line);
        if let Some(id) = start.and_then(|start| memory.as_ref()?.build_id(start)) {
            _ = writeln!(identified, "{}{id}", String::from_utf8_lossy(BUILD_ID));
        }
    }
    identified
}

/// The addresses of a process.
pub struct Addresses {
    pid: u32,
    mappings: Mappings,
    modules: Vec<Module>,
    symbols: Symbols,
}

impl Addresses {
    /// Those of a process with these mappings, as in `/proc/PID/maps`. `folders` are searched for
    /// files, by build-id.
    pub fn new(pid: u32, mappings: &str, folders: Vec<PathBuf>) -> Self {
        let mappings = Mappings::parse(mappings);
        let mut symbols = Symbols::with(folders);
        let modules = symbols.modules(&mappings, Path::new(""), pid);
        Self { pid, mappings, modules, symbols }
    }

    fn names(&mut self) -> Names<'_> {
        Names::new(&mut self.symbols, &self.modules, &self.mappings, self.pid)
    }

    /// Returns the functions of the program in a stack, innermost first: the call of a lock, and
    /// its callers.
    pub fn callers(&mut self, returns: &[u64]) -> Vec<Frame> {
        let stack = self.names().stack(returns);
        wait::callers(&stack, &self.modules)
    }

    /// Returns the place of a lock.
    pub fn place(&mut self, address: u64) -> Place {
        self.names().place(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::ObjectFile;

    #[test]
    fn mappings_of_a_process_have_the_build_ids_of_its_files() {
        let all = Mappings::parse(&mappings(std::process::id()));
        let exe = fs::read_link("/proc/self/exe").expect("this program");
        let file = all.files.iter().find(|file| file.path == exe).expect("it is mapped");
        assert!(!file.build_id.is_empty());
        let mut symbols = Symbols::default();
        let source =
            crate::mappings::Source { path: exe, identity: file.identity, ..Default::default() };
        let known = symbols.object(&source).map(ObjectFile::build_id);
        assert_eq!(known, Some(&*file.build_id));
    }
}
