//! The C library of a stack: its locks have their own meaning of their bytes.

use std::sync::Arc;

use crate::model::{Location, Module};

/// The library whose `pthread_` functions wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    Glibc,
    Musl,
    /// The shim, whose objects have another meaning.
    Ondeck,
}

impl Library {
    /// Returns the library whose functions sleep at the top of a stack.
    pub fn of(stack: &[Arc<Location>], modules: &[Module]) -> Self {
        // The observer's functions call the C library's.
        let is_shim = |location: &Arc<Location>| {
            location.module.is_some_and(|module| {
                let name = &modules[module].soname;
                name.starts_with("libondeck") && !name.starts_with("libondeck_observe")
            })
        };
        // Only musl's functions of these names sleep.
        let is_musl = |location: &Arc<Location>| {
            let of_library = location.module.is_some_and(|module| {
                let name = modules[module].path.file_name().unwrap_or_default();
                let name = name.to_string_lossy();
                name == "libc.so" || name.starts_with("ld-musl") || name.starts_with("libc.musl")
            });
            let is_name = |name: &str| {
                name.starts_with("__timedwait") || name == "pthread_mutex_timedlock_pi"
            };
            of_library || location.frames.iter().any(|one| is_name(&one.function))
        };
        match () {
            () if stack.iter().any(is_shim) => Self::Ondeck,
            () if stack.iter().any(is_musl) => Self::Musl,
            () => Self::Glibc,
        }
    }
}
