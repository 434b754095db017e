//! The processed profile of the Firefox Profiler, gzipped: `https://profiler.firefox.com` opens it,
//! and sends it nowhere.
//!
//! The format is that of `src/types/profile.ts` in github.com/firefox-devtools/profiler, in version
//! 55, which later versions upgrade. A process has two threads in it: the stacks that kept others
//! waiting, and those that waited. There is no time line: a sample follows the one before it by its
//! own time.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::UNIX_EPOCH;

use ondeck_record::layout::Role;
use ondeck_text::functions::short;
use serde_json::{Value, json};

use crate::Error;
use crate::model::{Process, Profile};
use crate::pprof::packed;

const VERSION: u32 = 55;
const MILLIS: f64 = 1e-6;

/// Encodes the stacks of all processes, with times in milliseconds.
///
/// # Errors
///
/// [`Error::Writing`] if the compression fails, which cannot happen in memory.
pub fn encode(profile: &Profile) -> Result<Vec<u8>, Error> {
    let roles = [(Role::Holder, "kept others waiting"), (Role::Waiter, "waited")];
    let threads: Vec<Value> = profile
        .processes
        .iter()
        .flat_map(|process| roles.map(|(role, title)| thread(process, role, title)))
        .collect();
    let started = profile.processes.first().map(|first| first.started);
    let started = started.and_then(|started| started.duration_since(UNIX_EPOCH).ok());
    let file = json!({
        "meta": {
            "categories": [{ "name": "Other", "color": "grey", "subcategories": ["Other"] }],
            "debug": false,
            "extensions": { "length": 0, "baseURL": [], "id": [], "name": [] },
            "interval": 1,
            "markerSchema": [],
            "pausedRanges": [],
            "preprocessedProfileVersion": VERSION,
            "processType": 0,
            "product": "ondeck",
            "sourceCodeIsNotOnSearchfox": true,
            "startTime": started.unwrap_or_default().as_millis() as u64,
            "symbolicated": true,
            "usesOnlyOneStackType": true,
            "version": 24,
        },
        "libs": [],
        "pages": [],
        "profilerOverhead": [],
        "counters": [],
        "threads": threads,
    });
    packed(file.to_string().as_bytes())
}

/// Things with their places, each once.
struct Table<T> {
    places: HashMap<T, usize>,
    all: Vec<T>,
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn new() -> Self {
        Self { places: HashMap::new(), all: Vec::new() }
    }

    fn place(&mut self, thing: T) -> usize {
        *self.places.entry(thing).or_insert_with_key(|thing| {
            self.all.push(thing.clone());
            self.all.len() - 1
        })
    }

    fn column<C>(&self, of: impl Fn(&T) -> C) -> Vec<C> {
        self.all.iter().map(of).collect()
    }
}

/// The stacks of a role in the form of a thread. The outermost function of each is the lock.
fn thread(process: &Process, role: Role, title: &str) -> Value {
    let mut strings = Table::new();
    // The name and the file; the function and the line; the caller's stack and the frame.
    let mut functions: Table<(usize, Option<usize>)> = Table::new();
    let mut frames: Table<(usize, Option<u32>)> = Table::new();
    let mut stacks: Table<(Option<usize>, usize)> = Table::new();
    let (mut ends, mut times) = (Vec::new(), Vec::new());
    for lock in &process.locks {
        for sample in lock.samples(role) {
            let named = (format!("lock {}", lock.short_name()), None, None);
            let called = sample.shown().rev();
            let called = called.map(|it| (short(&it.function), it.file.clone(), it.line));
            let mut stack = None;
            for (name, file, line) in [named].into_iter().chain(called) {
                let file = file.map(|file| strings.place(file));
                let function = functions.place((strings.place(name), file));
                stack = Some(stacks.place((stack, frames.place((function, line)))));
            }
            ends.push(stack);
            times.push(sample.nanos * MILLIS);
        }
    }
    let no_frame: Vec<Option<u32>> = vec![None; frames.all.len()];
    let no_function: Vec<Option<u32>> = vec![None; functions.all.len()];
    json!({
        "name": title,
        "isMainThread": role == Role::Holder,
        "pid": process.pid.to_string(),
        "tid": format!("{}-{}", process.pid, role as u8),
        "processName": process.program.file_name().unwrap_or_default().to_string_lossy(),
        "processType": "default",
        "processStartupTime": 0,
        "processShutdownTime": null,
        "registerTime": 0,
        "unregisterTime": null,
        "pausedRanges": [],
        "showMarkersInTimeline": false,
        "stringArray": strings.all,
        "funcTable": {
            "length": functions.all.len(),
            "name": functions.column(|it| it.0),
            "fileName": functions.column(|it| it.1),
            "isJS": functions.column(|_| false),
            "relevantForJS": functions.column(|_| false),
            "resource": functions.column(|_| -1),
            "lineNumber": no_function,
            "columnNumber": no_function,
        },
        "frameTable": {
            "length": frames.all.len(),
            "func": frames.column(|it| it.0),
            "line": frames.column(|it| it.1),
            "address": frames.column(|_| -1),
            "inlineDepth": frames.column(|_| 0),
            "category": frames.column(|_| 0),
            "subcategory": frames.column(|_| 0),
            "innerWindowID": frames.column(|_| 0),
            "nativeSymbol": no_frame,
            "column": no_frame,
        },
        "stackTable": {
            "length": stacks.all.len(),
            "prefix": stacks.column(|it| it.0),
            "frame": stacks.column(|it| it.1),
        },
        "samples": {
            "length": times.len(),
            "weightType": "tracing-ms",
            "stack": ends,
            "timeDeltas": times,
            "weight": times,
        },
        "markers": {
            "length": 0, "category": [], "data": [], "endTime": [], "name": [], "phase": [], "startTime": [],
        },
        "nativeSymbols": {
            "length": 0, "address": [], "functionSize": [], "libIndex": [], "name": [],
        },
        "resourceTable": { "length": 0, "lib": [], "name": [], "host": [], "type": [] },
    })
}
