//! Records the locks that threads wait for: inside the measured process, into a file that outlives
//! it.
//!
//! Made for locks, not for programs: `ondeck_observe` calls it for the locks that a program has,
//! `ondeck_preload` for those that it replaces in C and C++ programs, and the crate `ondeck` for
//! its own with the feature `profile`. `ondeck run --profile` profiles a program, and
//! `ondeck-profile` reads the file.
//!
//! ```text
//! lock slow path ─► wait ─► thread    decides whether this one is recorded; keeps waits until their unlock
//!                    │
//!                  unlock ─► table    the lock's entry: account, totals, histograms
//!                    │
//!                 samples ─► stack    return addresses: frames, each stack kept once
//!                    │  └──► maps     the mappings of the process, and their build-ids
//!                    │
//!                    ▼
//!                  layout             the file: version 7, drawn there
//!
//! every operation ─► burst           the lock operations of threads, in order: for replays
//!
//! locks of others ─► observed        waits and wakes at futexes and at objects of the C library, also of another process
//! ```
//!
//! It allocates nothing, takes no lock, waits for nothing, and keeps `errno`. Signal handlers that
//! lock while their thread is in the recorder are not recorded. The child of a fork gets its own
//! file, and so does the image after an `exec`. If a file cannot be created, nothing is recorded
//! and the program continues.
//!
//! | variable | meaning |
//! |---|---|
//! | `ONDECK_PROFILE` | record into files in this folder, one for each process image |
//! | `ONDECK_RECORD` | also record [`burst`]s of the lock operations of threads, contended or not, if the lock calls [`burst`] |
//! | `ONDECK_CONTROL` | the file of a [`control`] page, by which another process switches recording |
//!
//! Probes for SystemTap, `bpftrace` and `perf`, whether recording or not:
//! `ondeck:wait_begin(lock)`, `ondeck:wait_end(lock, acquired)`; while recording also
//! `ondeck:release(lock)`.

#![no_std]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("ondeck-record runs on 64-bit Linux only: it maps a file and asks /proc");

mod begin;
mod build_id;
pub mod burst;
mod clock;
pub mod control;
#[cfg(target_env = "gnu")]
pub mod elf;
mod end;
mod frame_pointers;
mod frames;
pub mod layout;
pub mod lease;
mod maps;
pub mod observed;
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

pub use build_id::{BuildId, build_id};
pub use samples::created;
pub use state::{is_on, wants_bursts};
pub use unlock::{Held, before_plain_unlock, before_unlock};
pub use wait::{Wait, acquired, begin, parks, relocked};
pub use words::Words;
