//! The threads of a running process: what each waits for, since when, and which thread keeps it.
//!
//! Nothing is stopped, started or changed in the process. All comes from `/proc/PID`:
//!
//! ```text
//! process   may it be looked at? else the reason, with the remedy
//!    │
//! thread    state, system call with its arguments, stack pointer and instruction
//!    │ ◄─── memory    words of the stack and of locks
//!    │ ◄─── unwind    the callers: call frame information, else frame pointers, else calls
//!    ▼
//!  wait     which lock, by the functions that sleep and the word that they sleep on
//!    │ ◄─── keeper    the owner, if the lock's memory says it
//!    │ ◄─── perhaps   else threads that may be it
//!    ▼
//!  `Who` ─► circles   deadlocks
//!        ─► text, json
//! ```
//!
//! The threads run on while they are looked at. So each is read twice, and what has changed in
//! between counts as running. The threads of a deadlock are read once more at the end.

mod addresses;
mod calls;
mod circles;
mod goroutines;
pub mod json;
mod keeper;
mod library;
mod memory;
#[cfg(test)]
mod own;
mod perhaps;
mod process;
mod references;
mod report;
mod since;
mod stopped;
pub mod text;
mod thread;
mod unwind;
mod wait;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

pub use addresses::{Addresses, mappings};
pub use goroutines::{GoLock, Goroutine, Goroutines};
pub use keeper::Keeper;
use library::Library;
use memory::Memory;
use process::Process;
pub use process::Refusal;
pub use report::{Lock, Thread, Wait, Who};
use since::Clocks;
pub use stopped::{Returns, Stopped};
pub use thread::State;
use thread::{Call, Look};
pub use wait::Kind;

use crate::mappings::{Mappings, Source};
use crate::model::{Module, Place};
use crate::names::Names;
use crate::runtimes::Runtime;
use crate::symbols::Symbols;

/// The number of times that a thread which moves is read.
const ATTEMPTS: usize = 3;

/// Looks at a process. `folders` are searched for files and debugging files, by build-id.
///
/// # Errors
///
/// [`Refusal`] if there is no such process, or the kernel does not show it.
pub fn look(pid: u32, folders: Vec<PathBuf>) -> Result<Who, Refusal> {
    let process = Process::find(pid)?;
    let io = |source| Refusal::Io { pid, source };
    let memory = Memory::open(pid).map_err(io)?;
    let maps = fs::read_to_string(process.folder.join("maps")).map_err(io)?;
    let mappings = Mappings::parse(&maps);
    let mut symbols = Symbols::with(folders);
    let mut modules = modules_of(&mut symbols, &mappings, pid, &memory);
    modules.sort_by_key(|module| module.path != process.program);
    let mut names = Names::new(&mut symbols, &modules, &mappings, pid);
    let mut clocks = Clocks::default();

    let mut looks: Vec<Look> = fs::read_dir(process.folder.join("task"))
        .map_err(io)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .map(|tid| Look::new(&process.folder, tid))
        .collect();
    looks.sort_by_key(|look| look.tid);
    let tids: Vec<(u32, u32)> = looks.iter().map(|look| (look.inner_tid(), look.tid)).collect();
    let mut seen: Vec<Seen> = looks
        .iter()
        .filter_map(|look| Seen::of(look, &mut names, &memory, &mut clocks, &modules))
        .collect();
    let parked = keeper::parked(seen.iter().filter_map(|one| one.futex.as_ref()));
    for one in &mut seen {
        let Some(futex) = &one.futex else { continue };
        let found = keeper::of(&memory, futex, one.library, &tids);
        let function = wait::entry(&one.thread.stack, &modules);
        let called = function.as_deref().unwrap_or_default();
        let object = keeper::object(&memory, futex, one.library, &found, called, &parked);
        one.thread.wait = Some(Wait {
            kind: futex.kind,
            word: futex.word,
            object,
            place: object.map_or(Place::Memory, |object| names.place(object)),
            function,
            is_timed: futex.is_timed,
            keeper: found.keeper,
        });
    }
    let mut deadlocks = circles::find(seen.iter().map(|one| &one.thread));
    deadlocks.retain(|circle| {
        let members = || seen.iter().filter(|one| circle.contains(&one.thread.tid));
        members().all(Seen::has_not_moved)
            && members().all(|one| {
                let same = |futex| keeper::of(&memory, futex, one.library, &tids).keeper;
                one.futex.as_ref().map(same) == one.thread.wait.as_ref().map(|w| w.keeper.clone())
            })
    });
    let stacks: Vec<(u32, u64)> =
        seen.iter().filter_map(|one| Some((one.thread.tid, one.call?.sp))).collect();
    let threads: Vec<Thread> = seen.into_iter().map(|one| one.thread).collect();
    let mut wanted = report::locks(&threads);
    perhaps::add(&mut wanted, &threads, &stacks, &mut names, &memory);
    let goroutines = goroutines::look(&mut names, &memory);
    let missing = missing(&threads, &modules);
    Ok(Who {
        pid,
        program: process.program,
        arguments: process.arguments,
        locks: wanted,
        goroutines,
        unseen: Runtime::among(&modules).into_iter().map(|it| it.now(pid)).collect(),
        threads,
        deadlocks,
        missing,
        modules,
    })
}

/// A thread, and what shows that it has not moved since.
struct Seen<'a> {
    look: &'a Look,
    call: Option<Call>,
    sleeps: Option<u64>,
    futex: Option<wait::Futex>,
    library: Library,
    thread: Thread,
}

impl<'a> Seen<'a> {
    /// Reads a thread; `None` if it has ended.
    fn of(
        look: &'a Look,
        names: &mut Names<'_>,
        memory: &Memory,
        clocks: &mut Clocks,
        modules: &[Module],
    ) -> Option<Self> {
        for _ in 0..ATTEMPTS {
            let (state, cpu) = look.state()?;
            let (sleeps, call) = (look.sleeps(), look.call());
            let last = look.stopped_running();
            let stack = call.map(|call| unwind::stack(names, memory, &call)).unwrap_or_default();
            if call.is_none() || look.call() != call || look.sleeps() != sleeps {
                continue;
            }
            let library = Library::of(&stack.locations, modules);
            let futex = call
                .and_then(|call| wait::futex(memory, &call, &stack.locations, modules, library));
            return Some(Self {
                look,
                call,
                sleeps,
                futex,
                library,
                thread: Thread {
                    tid: look.tid,
                    inner_tid: look.inner_tid(),
                    name: look.name(),
                    state,
                    call: call.and_then(|call| call.number),
                    kernel: look.place_in_kernel(),
                    since: clocks.since(last, cpu),
                    callers: wait::callers(&stack.locations, modules),
                    stack: stack.locations,
                    is_searched: stack.is_searched,
                    wait: None,
                },
            });
        }
        let (state, _) = look.state()?;
        // It ran in between, whatever it does now.
        let state = if state == State::Asleep { State::Running } else { state };
        let thread = Thread::without_stack(look.tid, look.inner_tid(), look.name(), state);
        Some(Self { look, call: None, sleeps: None, futex: None, library: Library::Glibc, thread })
    }

    fn has_not_moved(&self) -> bool {
        self.look.call() == self.call && self.look.sleeps() == self.sleeps
    }
}

/// Returns the mapped files, with the build-ids that are in memory.
fn modules_of(
    symbols: &mut Symbols,
    mappings: &Mappings,
    pid: u32,
    memory: &Memory,
) -> Vec<Module> {
    let files = mappings.files.iter();
    files
        .filter_map(|mapped| {
            let mut source = Source::of(mapped, pid);
            let start = mapped.parts.iter().find(|part| part.2 == 0).map(|part| part.0);
            source.build_id = start.and_then(|start| memory.build_id(start)).unwrap_or_default();
            symbols.module(mapped, source)
        })
        .collect()
}

/// Returns the files whose functions are in stacks and have no names, with the reason.
fn missing(threads: &[Thread], modules: &[Module]) -> Vec<String> {
    let locations = threads.iter().flat_map(|thread| &thread.stack);
    let used: BTreeSet<usize> = locations.filter_map(|location| location.module).collect();
    used.into_iter().filter_map(|module| modules[module].nameless()).collect()
}
