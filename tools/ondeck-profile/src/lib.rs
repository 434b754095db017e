//! Reads what was recorded about a program's locks: the locks, the stacks, the waiting times and
//! their tails.
//!
//! The files have the layout of [`ondeck_record::layout`], one for each process image, in one
//! folder. They may be read while the programs run, and after they ended in any way.
//!
//! ```text
//! folder ─► file        one recording: checked, then read field by field
//!             │
//!             ▼
//!           reader ◄─── symbols    names, lines, inlined functions, variables, build-ids
//!             │    ◄─── mappings   the places of objects
//!             │    ◄─── futexes    other futexes on which threads waited
//!             ▼
//!           Profile  ─► table      for a terminal, also while the program runs
//!                    ─► page       HTML, with two flame graphs
//!                    ─► pprof      profile.proto, gzipped
//!                    ─► lines      JSON, one object a line
//!
//! folder ─► tracks      what threads did in order, for replays
//!
//! process ─► `who`      what its threads wait for now, and which thread keeps it
//! ```
//!
//! ```no_run
//! let profile = ondeck_profile::read("recordings".as_ref())?;
//! print!("{}", ondeck_profile::table::render(&profile, 10, false));
//! let holders = ondeck_profile::pprof::encode(&profile, ondeck_profile::Role::Holder)?;
//! std::fs::write("holders.pb.gz", holders)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod error;
mod file;
mod flame;
pub mod futexes;
mod kinds;
pub mod lines;
mod mappings;
mod model;
mod names;
pub mod page;
pub mod pprof;
mod reader;
mod runtimes;
mod symbols;
pub mod table;
pub mod tracks;
mod trim;
pub mod who;

pub use error::Error;
pub use model::{
    Cost, Dropped, Frame, Futex, Futexes, Kind, Location, Lock, Module, Object, Place, Process,
    Profile, Sample, Scope, Times,
};
pub use ondeck_record::layout::Role;
pub use reader::{Reader, read};
pub use runtimes::unseen as unseen_of_languages;
