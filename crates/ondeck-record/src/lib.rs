//! Records which locks threads wait for: inside the process that is measured, into a file that outlives it.
//!
//! For locks, not for programs: `ondeck_preload` calls it for the mutexes of C and C++ programs, the crate
//! `ondeck` with its feature `profile` for its own. Programs get a profile by `ondeck run --profile`, and
//! `ondeck-profile` reads the file.
//!
//! ```text
//! lock slow path ─► wait ─► thread    whether this one is recorded; waits until their unlock
//!                    │
//!                  unlock ─► table    the lock's entry: account, totals, histograms
//!                    │
//!                 samples ─► stack    return addresses: frames, each stack kept once
//!                    │  └──► maps     what is mapped where
//!                    │
//!                    ▼
//!                  layout             the file: version 4, drawn there
//!
//! every operation ─► burst           what threads do with locks, in order: for replays
//! ```
//!
//! It allocates nothing, takes no lock, waits for nothing, and keeps `errno`. Signal handlers that lock
//! while their thread is in here are not recorded. The child of a fork gets a file of its own, and so does
//! the image after an `exec`. Where a file cannot be made, nothing is recorded and the program goes on.
//!
//! | variable | says |
//! |---|---|
//! | `ONDECK_PROFILE` | record into files in this folder, one for each process image |
//! | `ONDECK_RECORD` | also record [`burst`]s of what threads do with locks, contended or not, if the lock calls [`burst`] |
//! | `ONDECK_CONTROL` | the file of a [`control`] page, by which another process switches recording |
//!
//! Probes for SystemTap, `bpftrace` and `perf`, whether recording or not: `ondeck:wait_begin(lock)`,
//! `ondeck:wait_end(lock, acquired)`; while recording `ondeck:release(lock)`, too.

#![no_std]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("ondeck-record runs on 64-bit Linux only: it maps a file and asks /proc");

mod begin;
pub mod burst;
mod clock;
pub mod control;
mod end;
mod frame_pointers;
mod frames;
pub mod layout;
pub mod lease;
mod maps;
mod room;
mod samples;
mod slot;
mod stack;
mod state;
mod sys;
mod table;
mod thread;
mod unlock;
mod wait;
mod words;

pub use samples::created;
pub use state::{is_on, wants_bursts};
pub use unlock::{Held, before_plain_unlock, before_unlock};
pub use wait::{Wait, acquired, begin, parks, relocked};
pub use words::Words;
