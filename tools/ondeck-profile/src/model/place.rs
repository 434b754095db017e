//! Places of locks.

use serde::Serialize;

/// Where a lock is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "in")]
pub enum Place {
    /// In a variable of the program or of a library.
    Static {
        /// The module's file name.
        module: String,
        /// The variable; empty if the module has no symbol there.
        symbol: String,
        /// The offset in bytes from the variable's beginning.
        offset: u64,
        /// The file where the variable is declared, if there is debugging information.
        file: Option<String>,
        /// The line there.
        line: Option<u64>,
    },
    /// On the heap, by brk(2).
    Heap,
    /// On the stack of the first thread.
    Stack,
    /// In other memory: the allocator's, a thread's stack, shared memory.
    Memory,
    /// Not known: each thread waits at a word of its own. The lock is what one place in the program
    /// waits for.
    Waiters,
}

impl Place {
    /// Returns the variable, and the offset in it.
    pub fn symbol(&self) -> Option<String> {
        match self {
            Self::Static { symbol, offset: 0, .. } if !symbol.is_empty() => Some(symbol.clone()),
            Self::Static { symbol, offset, .. } if !symbol.is_empty() => {
                Some(format!("{symbol}+{offset:#x}"))
            }
            _ => None,
        }
    }

    /// Returns where the variable is declared, or in which memory the object is.
    pub fn origin(&self) -> Option<String> {
        match self {
            Self::Static { file: Some(file), line: Some(line), .. } => {
                Some(format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)))
            }
            Self::Static { module, .. } => Some(module.clone()),
            Self::Heap => Some("heap".to_owned()),
            Self::Stack => Some("stack of the first thread".to_owned()),
            Self::Memory => Some("heap or stack".to_owned()),
            // Only a recording joins threads by the place where they wait.
            Self::Waiters => None,
        }
    }
}
