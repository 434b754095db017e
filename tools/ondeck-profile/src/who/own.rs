//! The process of a test, as the one that is looked at.

use std::{fs, process};

use super::memory::Memory;
use super::modules_of;
use crate::mappings::Mappings;
use crate::names::Names;
use crate::symbols::Symbols;

/// Runs `test` with the names and the memory of this process.
pub fn with_own(test: impl FnOnce(&mut Names<'_>, &Memory)) {
    let pid = process::id();
    let memory = Memory::open(pid).expect("own memory");
    let maps = fs::read_to_string("/proc/self/maps").expect("own mappings");
    let mappings = Mappings::parse(&maps);
    let mut symbols = Symbols::default();
    let modules = modules_of(&mut symbols, &mappings, pid, &memory);
    test(&mut Names::new(&mut symbols, &modules, &mappings, pid), &memory);
}
