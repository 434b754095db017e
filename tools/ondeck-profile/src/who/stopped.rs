//! Stacks of threads that are stopped at the beginning of a system call, of a process whose
//! recording another one makes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::memory::Memory;
use super::thread::{Call, Look};
pub use super::unwind::Returns;
use super::{modules_of, unwind};
use crate::mappings::Mappings;
use crate::model::Module;
use crate::names::Names;
use crate::symbols::Symbols;

/// A process, with what its stacks need to be unwound.
pub struct Stopped {
    pid: u32,
    folder: PathBuf,
    memory: Memory,
    symbols: Symbols,
    mappings: Mappings,
    modules: Vec<Module>,
}

impl Stopped {
    /// Opens a process.
    ///
    /// # Errors
    ///
    /// What the kernel says if its memory may not be read.
    pub fn open(pid: u32) -> io::Result<Self> {
        let folder = Path::new("/proc").join(pid.to_string());
        Ok(Self {
            pid,
            memory: Memory::open(pid)?,
            folder,
            symbols: Symbols::default(),
            mappings: Mappings::default(),
            modules: Vec::new(),
        })
    }

    fn map(&mut self) -> io::Result<()> {
        self.mappings = Mappings::parse(&fs::read_to_string(self.folder.join("maps"))?);
        self.modules = modules_of(&mut self.symbols, &self.mappings, self.pid, &self.memory);
        Ok(())
    }

    /// Returns the word of memory at an address, if it is mapped.
    pub fn word(&self, address: u64) -> Option<u64> {
        self.memory.word(address)
    }

    /// Returns the half of a word there.
    pub fn half(&self, address: u64) -> Option<u32> {
        self.memory.half(address)
    }

    /// Returns the stack pointer of a thread.
    pub fn stack_pointer(&self, tid: u32) -> Option<u64> {
        Some(Look::new(&self.folder, tid).call()?.sp)
    }

    /// Returns the stack with that pointer, called by the instruction before `pc`; at most `most`
    /// addresses.
    pub fn stack(&mut self, pc: u64, sp: u64, most: usize) -> Returns {
        let is_code =
            |mappings: &Mappings| mappings.code.iter().any(|(a, b)| (*a..*b).contains(&pc));
        // At first, nothing is known: most processes never wait.
        if !is_code(&self.mappings) {
            // A process that has just ended needs no names.
            _ = self.map();
        }
        let Self { symbols, mappings, modules, memory, pid, .. } = self;
        let mut names = Names::new(symbols, modules, mappings, *pid);
        unwind::addresses(&mut names, memory, Call { sp, pc, ..Call::default() }, most)
    }
}
