//! Functions of stacks.

use ondeck_text::functions::{short, without_type};
use serde::Serialize;

/// A function, and a line of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Frame {
    /// The demangled name; the module and an offset if there is none.
    pub function: String,
    /// The source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
}

impl Frame {
    /// Returns whether the function has no name: it is an address, or a file and an offset.
    pub fn is_offset(&self) -> bool {
        let number = self.function.rsplit('+').next().unwrap_or_default();
        self.file.is_none() && number.starts_with("0x")
    }

    /// Returns the short name of the function and its place: `LruCache<…>::get_or (cache.h:12)`.
    pub fn short(&self) -> String {
        let function = short(&self.function);
        match (&self.file, self.line) {
            (Some(file), Some(line)) => {
                let name = file.rsplit('/').next().unwrap_or(file);
                format!("{function} ({name}:{line})")
            }
            _ => function,
        }
    }

    /// Returns whether the function is of the language's own library: of allocators, containers and
    /// calls of closures.
    pub fn is_of_language(&self) -> bool {
        const NAMESPACES: [&str; 7] =
            ["std::", "__gnu_cxx::", "core::", "alloc::", "<std::", "<core::", "<alloc::"];
        const SOURCES: [&str; 4] =
            ["/include/c++/", "/rustc/", "/library/std/src/", "/libstdc++-v3/"];
        let name = without_type(&self.function);
        NAMESPACES.iter().any(|start| name.starts_with(start))
            || self.file.as_ref().is_some_and(|file| SOURCES.iter().any(|part| file.contains(part)))
    }
}
