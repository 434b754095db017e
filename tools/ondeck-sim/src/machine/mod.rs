//! Machine files: the parts of a simulated machine, the costs of its operations, and the source of
//! each number.
//!
//! A machine file is TOML. Each number is a leaf `key = { value = 43.5, from = "its source" }`. A
//! file may name a base, which supplies the keys that the file omits. [`keys`] lists all keys with
//! their ranges.
//!
//! | file | what |
//! |---|---|
//! | `file.rs` | finds a file, and checks it as a whole |
//! | `document.rs` | reads the text of a file and of its bases |
//! | `leaf.rs` | a value, and where it is from |
//! | `sections.rs` | the keys of each section |
//! | `costs.rs` | the machine that the engine reads |
//! | `key.rs` | one key, and what its value may be |
//! | `bundled.rs` | the files that are compiled in |

mod bundled;
mod costs;
mod document;
mod file;
mod key;
mod leaf;
mod sections;

pub use bundled::names as bundled_names;
pub use costs::{Costs, MAX_CPUS, Place, small};
pub use file::MachineFile;
pub use key::{Key, Range, Value};
pub use leaf::{Leaf, MachineError};
pub use sections::{
    Class, Clock, Cluster, Futex, Idle, Membarrier, Policy, Scheduler, StoreBuffer, Transfer,
    Yield, keys,
};
