//! The names of one process's addresses.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::mappings::{Mapped, Mappings, Source};
use crate::model::{Frame, Location, Module, Place};
use crate::symbols::{ObjectFile, PerfMap, Rules, Symbols};

impl Symbols {
    /// Returns the mapped files, each with the address range of the whole file. `pid` is the
    /// process, which may have ended.
    pub(crate) fn modules(&mut self, mappings: &Mappings, program: &Path, pid: u32) -> Vec<Module> {
        let sources = mappings.files.iter().map(|mapped| (mapped, Source::of(mapped, pid)));
        let mut modules: Vec<Module> =
            sources.filter_map(|(mapped, source)| self.module(mapped, source)).collect();
        // pprof assumes that the first one is the program.
        modules.sort_by_key(|module| module.path != program);
        modules
    }

    /// Returns a mapped file with its names, or with the reason why it has none.
    pub(crate) fn module(&mut self, mapped: &Mapped, source: Source) -> Option<Module> {
        let least = mapped.parts.iter().map(|part| part.0).min()?;
        let most = mapped.parts.iter().map(|part| part.1).max()?;
        let mut module = Module {
            path: mapped.path.clone(),
            build_id: source.build_id.clone(),
            soname: String::new(),
            start: least,
            end: most,
            bias: least,
            has_lines: false,
            missing: None,
            source,
        };
        match self.opened(&module.source) {
            Ok(object) => {
                object.build_id().clone_into(&mut module.build_id);
                object.soname().clone_into(&mut module.soname);
                module.has_lines = object.has_lines();
                let bias = mapped
                    .parts
                    .iter()
                    .find_map(|(from, _, offset)| from.checked_sub(object.address_of(*offset)?));
                if let Some(bias) = bias {
                    module.bias = bias;
                    // Variables without an initial value lie after the mapped part of the file.
                    module.end = most.max(bias.saturating_add(object.end()));
                }
            }
            Err(why) => module.missing = Some(why.clone()),
        }
        Some(module)
    }
}

/// Resolves the addresses of one process to names.
pub(crate) struct Names<'a> {
    symbols: &'a mut Symbols,
    pub(crate) modules: &'a [Module],
    mappings: &'a Mappings,
    known: HashMap<u64, Arc<Location>>,
    rules: HashMap<u64, Option<Rules>>,
    pid: u32,
    /// Of functions outside of all files, once there is one.
    compiled: OnceCell<PerfMap>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(
        symbols: &'a mut Symbols,
        modules: &'a [Module],
        mappings: &'a Mappings,
        pid: u32,
    ) -> Self {
        let compiled = OnceCell::new();
        let (known, rules) = (HashMap::new(), HashMap::new());
        Self { symbols, modules, mappings, known, rules, pid, compiled }
    }

    pub(crate) fn module(&self, address: u64) -> Option<usize> {
        self.modules.iter().position(|module| (module.start..module.end).contains(&address))
    }

    pub(crate) fn stack(&mut self, returns: &[u64]) -> Vec<Arc<Location>> {
        let mut stack: Vec<Arc<Location>> = Vec::with_capacity(returns.len() + 1);
        for address in returns {
            // The call is before the instruction to which it returns, which may belong to another
            // line or another function.
            let location = self.location(address.saturating_sub(1));
            let inner = stack.last().map_or(0, |inner| inner.address);
            stack.extend(self.left(inner, *address));
            stack.push(location);
        }
        stack
    }

    /// Returns the function that was called before `address` and has left no frame, because it
    /// ended with a tail call of the function that contains `inner`, 0 if that is none of the
    /// stack. Functions that end with an unlock do that.
    fn left(&mut self, inner: u64, address: u64) -> Option<Arc<Location>> {
        let module = self.module(address)?;
        let bias = self.modules[module].bias;
        let object = self.symbols.object(&self.modules[module].source)?;
        let called = object.called_before(address.wrapping_sub(bias))?;
        let is_it = inner.checked_sub(bias).is_some_and(|inner| object.is_within(called, inner));
        (!is_it).then(|| self.location(called.wrapping_add(bias)))
    }

    /// Returns whether `address` is in the function that begins at `start`.
    pub(crate) fn is_within(&mut self, start: u64, address: u64) -> bool {
        let Some(module) = self.module(start) else { return false };
        let bias = self.modules[module].bias;
        let object = self.symbols.object(&self.modules[module].source);
        object.is_some_and(|object| {
            object.is_within(start.wrapping_sub(bias), address.wrapping_sub(bias))
        })
    }

    /// Returns the object at an address, and its bias.
    fn object_at(&mut self, address: u64) -> Option<(&ObjectFile, u64)> {
        let module = &self.modules[self.module(address)?];
        let bias = module.bias;
        Some((self.symbols.object(&module.source)?, bias))
    }

    /// Returns where the function that contains an address begins.
    pub(crate) fn function_at(&mut self, address: u64) -> Option<u64> {
        let (object, bias) = self.object_at(address)?;
        Some(object.function_at(address.wrapping_sub(bias))?.wrapping_add(bias))
    }

    /// Returns the name of the function that begins at an address.
    pub(crate) fn function_name(&mut self, start: u64) -> Option<&str> {
        let (object, bias) = self.object_at(start)?;
        object.function_name(start.wrapping_sub(bias))
    }

    /// Returns whether a mapped file has a Go runtime.
    pub(crate) fn is_any_of_go(&mut self) -> bool {
        let mut sources = self.modules.iter().map(|module| &module.source);
        sources.any(|source| self.symbols.object(source).is_some_and(ObjectFile::is_of_go))
    }

    /// Returns the address of the variable with a name.
    pub(crate) fn variable_named(&mut self, name: &str) -> Option<u64> {
        self.modules.iter().find_map(|module| {
            let start = self.symbols.object(&module.source)?.variable_named(name)?;
            Some(start.wrapping_add(module.bias))
        })
    }

    /// Returns how the caller of the function at an address is found.
    pub(crate) fn rules(&mut self, address: u64) -> Option<Rules> {
        if let Some(known) = self.rules.get(&address) {
            return known.clone();
        }
        let at = self.object_at(address);
        let rules = at.and_then(|(object, bias)| object.rules(address.wrapping_sub(bias)));
        self.rules.insert(address, rules.clone());
        rules
    }

    /// Returns whether instructions are mapped at an address.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.mappings.code.iter().any(|(from, to)| (*from..*to).contains(&address))
    }

    pub(crate) fn location(&mut self, address: u64) -> Arc<Location> {
        if let Some(known) = self.known.get(&address) {
            return Arc::clone(known);
        }
        let module = self.module(address);
        let mut frames = Vec::new();
        if let Some(module) = module.map(|index| &self.modules[index]) {
            let inside = address.wrapping_sub(module.bias);
            if let Some(object) = self.symbols.object(&module.source) {
                frames = object.frames(inside);
            }
            if frames.is_empty() {
                let name = module.path.file_name().unwrap_or_default().to_string_lossy();
                let function = format!("{name}+{inside:#x}");
                frames.push(Frame { function, file: None, line: None });
            }
        } else {
            let compiled = self.compiled.get_or_init(|| PerfMap::of(self.pid));
            let function = compiled.function(address);
            let function = function.map_or_else(|| format!("{address:#x}"), str::to_owned);
            frames.push(Frame { function, file: None, line: None });
        }
        let location = Arc::new(Location { address, module, frames });
        self.known.insert(address, Arc::clone(&location));
        location
    }

    pub(crate) fn place(&mut self, address: u64) -> Place {
        let within =
            |ranges: &[(u64, u64)]| ranges.iter().any(|(a, b)| (*a..*b).contains(&address));
        if let Some(module) = self.module(address).map(|index| &self.modules[index]) {
            let object = self.symbols.object(&module.source);
            let variable = object
                .and_then(|object| object.variable(address.wrapping_sub(module.bias)))
                .unwrap_or_default();
            return Place::Static {
                module: module.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                symbol: variable.name,
                offset: variable.offset,
                file: variable.declared.as_ref().map(|declared| declared.0.clone()),
                line: variable.declared.map(|declared| declared.1),
            };
        }
        if within(&self.mappings.heap) {
            Place::Heap
        } else if within(&self.mappings.stack) {
            Place::Stack
        } else {
            Place::Memory
        }
    }
}
