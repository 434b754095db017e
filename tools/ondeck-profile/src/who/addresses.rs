//! The names of addresses that a process has noted itself.

use std::path::{Path, PathBuf};

use super::wait;
use crate::mappings::Mappings;
use crate::model::{Frame, Module, Place};
use crate::names::Names;
use crate::symbols::Symbols;

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
