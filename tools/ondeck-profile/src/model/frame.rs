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
    /// calls of closures. Where the file is known it decides, because a program's own crate may be
    /// called `std`.
    pub fn is_of_language(&self) -> bool {
        const NAMESPACES: [&str; 7] =
            ["std::", "__gnu_cxx::", "core::", "alloc::", "<std::", "<core::", "<alloc::"];
        const SOURCES: [&str; 6] = [
            "/include/c++/",
            "/libstdc++-v3/",
            "/rustc/",
            "/library/std/src/",
            "/library/core/src/",
            "/library/alloc/src/",
        ];
        if let Some(file) = &self.file {
            return SOURCES.iter().any(|part| file.contains(part));
        }
        let name = without_type(&self.function);
        NAMESPACES.iter().any(|start| name.starts_with(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_is_called_std_is_the_programs() {
        for (function, file, expected) in [
            ("std::report", Some("/home/me/std/src/main.rs"), false),
            ("core::report", Some("core/src/lib.rs"), false),
            ("std::thread::sleep", Some("/rustc/4a2c/library/std/src/thread/functions.rs"), true),
            ("core::ptr::drop_in_place<T>", Some("/usr/src/rustc/library/core/src/ptr.rs"), true),
            ("report", Some("/usr/include/c++/12/bits/invoke.h"), true),
            ("std::thread::sleep", None, true),
            ("report", None, false),
        ] {
            let (function, file) = (function.to_owned(), file.map(str::to_owned));
            let frame = Frame { function, file, line: None };
            assert_eq!(frame.is_of_language(), expected, "{frame:?}");
        }
    }
}
