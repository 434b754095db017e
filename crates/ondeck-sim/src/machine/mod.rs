//! Machine files: what a simulated machine is made of, what its operations cost, and where each number is from.
//!
//! A machine file is TOML. Each number is a leaf `key = { value = 43.5, from = "its source" }`; a file may name
//! a base, from which the keys come that it leaves out. [`keys`] lists all keys with their ranges.
//!
//! ```text
//! text ──document──► leaves of the file ──merge──► leaves of the file and its bases
//!                        │  keys, ranges                     │  topology, then what is missing
//!                        ▼                                   ▼
//!                   MachineError                       MachineFile: Spec, Leaf
//! ```

mod bundled;
mod document;
mod error;
mod file;
mod fitted;
mod key;
mod keys;
mod leaves;
mod spec;
mod topology;
mod write;

pub use bundled::names as bundled_names;

pub use error::MachineError;
pub use file::MachineFile;
pub use fitted::Fitted;
pub use key::{Key, Range};
pub use keys::keys;
pub use leaves::{Leaf, Value};
pub use spec::{
    Class, Clock, Cluster, Futex, Idle, Membarrier, Policy, Scheduler, Spec, StoreBuffer, Transfer,
    Yield,
};
pub use topology::{Distance, HardwareThread, MAX_THREADS, Topology};
pub use write::{Figure, Measured, write};
