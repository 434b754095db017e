//! The trace as Chrome's trace events, which Perfetto and chrome://tracing show.
//!
//! Each lock is a process with a track for the lock, for each thread and for each CPU; the long
//! idles and waits have separate tracks. Every slice is a complete event; a flow arrow connects an
//! unlock to the acquisition that ended a long idle.

use ondeck_lab::results::trace::{Clip, Document, Episode, LockTrace};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::timeline::{Nanos, State};

/// One event in the format. Times are microseconds.
#[derive(Debug, Serialize)]
struct Event {
    name: String,
    cat: &'static str,
    ph: &'static str,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: usize,
    tid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    args: Map<String, Value>,
}

/// Numbers of tracks: the lock, its long idles, then threads, their long waits, and CPUs.
const LOCK: usize = 1;
const IDLES: usize = 2;
const THREADS: usize = 10;
const WAITS: usize = 50_000;
const CPUS: usize = 100_000;

/// The whole trace.
pub fn render(document: &Document) -> String {
    let mut out = Out { events: Vec::new(), pid: 0, flows: 0 };
    for (place, lock) in document.locks.iter().enumerate() {
        out.pid = place + 1;
        out.lock(lock, document.settings.threads);
    }
    let trace = json!({
        "displayTimeUnit": "ns",
        "otherData": {
            "command": document.settings.command,
            "started": document.started,
            "cpu": document.machine.cpu,
            "kernel": document.machine.kernel,
        },
        "traceEvents": out.events,
    });
    format!("{trace}\n")
}

struct Out {
    events: Vec<Event>,
    pid: usize,
    flows: usize,
}

impl Out {
    fn lock(&mut self, lock: &LockTrace, threads: usize) {
        self.meta("process_name", 0, &lock.lock);
        self.track(LOCK, "lock: owner");
        self.track(IDLES, "longest idles");
        for thread in 0..threads {
            self.track(THREADS + thread, &format!("thread {thread}"));
        }
        let mut cpus: Vec<u32> =
            lock.clips.iter().flat_map(|clip| clip.cpus.iter().map(|cpu| cpu.number)).collect();
        cpus.sort_unstable();
        cpus.dedup();
        for cpu in cpus {
            self.track(CPUS + cpu as usize, &format!("CPU {cpu}"));
        }
        for clip in &lock.clips {
            self.clip(clip);
        }
        let began = |run: usize| {
            lock.clips.iter().find(|clip| clip.run == run).map_or(0, |clip| clip.run_began)
        };
        for episode in &lock.longest_idles {
            let began = began(episode.run);
            self.episode(IDLES, episode, began);
            if let Some(before) = episode.before {
                let arrow = (episode.from + began, episode.to + began);
                self.flow(arrow, THREADS + before, THREADS + episode.thread);
            }
        }
        let mut waiters: Vec<usize> =
            lock.longest_waits.iter().map(|episode| episode.thread).collect();
        waiters.sort_unstable();
        waiters.dedup();
        for thread in waiters {
            self.track(WAITS + thread, &format!("longest waits of thread {thread}"));
        }
        for episode in &lock.longest_waits {
            self.episode(WAITS + episode.thread, episode, began(episode.run));
        }
    }

    fn clip(&mut self, clip: &Clip) {
        let began = clip.run_began;
        for owned in &clip.owners {
            let name =
                owned.thread.map_or("several".to_owned(), |thread| format!("thread {thread}"));
            let args = Map::from_iter([("pairs".to_owned(), owned.pairs.into())]);
            self.slice(&name, "lock", (owned.from, owned.to), began, LOCK, args);
        }
        for (thread, track) in clip.threads.iter().enumerate() {
            for span in &track.spans {
                let cpu = span.cpu.map_or(String::new(), |cpu| format!(", CPU {cpu}"));
                let name = format!("{}{cpu}", word(span.state));
                let times = (span.from, span.to);
                self.slice(&name, "thread", times, began, THREADS + thread, Map::new());
            }
        }
        for cpu in &clip.cpus {
            for slice in &cpu.slices {
                let name =
                    slice.thread.map_or(slice.other.clone(), |thread| format!("thread {thread}"));
                let times = (slice.from, slice.to);
                self.slice(&name, "cpu", times, began, CPUS + cpu.number as usize, Map::new());
            }
        }
    }

    fn episode(&mut self, track: usize, episode: &Episode, began: Nanos) {
        let args = Map::from_iter([
            ("verdict".to_owned(), episode.verdict.clone().into()),
            ("thread".to_owned(), episode.thread.into()),
        ]);
        let times = (episode.from, episode.to);
        self.slice(episode.cause.words(), "episode", times, began, track, args);
    }

    fn slice(
        &mut self,
        name: &str,
        cat: &'static str,
        (from, to): (Nanos, Nanos),
        began: Nanos,
        tid: usize,
        args: Map<String, Value>,
    ) {
        // A viewer may round to whole nanoseconds, or subtract the beginning of the trace, before
        // or after it adds both. In every case the sum must not exceed the beginning of the next
        // slice.
        let dur = Some((micros(to.saturating_sub(from)) - PICOSECOND).max(0.0));
        let event = Event { ts: micros(from + began), dur, tid, args, ..self.blank() };
        self.event(name, cat, "X", event);
    }

    fn flow(&mut self, (from, to): (Nanos, Nanos), giver: usize, taker: usize) {
        self.flows += 1;
        let id = Some(self.flows);
        let start = Event { ts: micros(from), tid: giver, id, ..self.blank() };
        self.event("handoff", "lock", "s", start);
        let finish = Event { ts: micros(to), tid: taker, id, bp: Some("e"), ..self.blank() };
        self.event("handoff", "lock", "f", finish);
    }

    fn track(&mut self, tid: usize, name: &str) {
        self.meta("thread_name", tid, name);
        let args = Map::from_iter([("sort_index".to_owned(), tid.into())]);
        self.event("thread_sort_index", "__metadata", "M", Event { tid, args, ..self.blank() });
    }

    fn meta(&mut self, what: &str, tid: usize, name: &str) {
        let args = Map::from_iter([("name".to_owned(), name.into())]);
        self.event(what, "__metadata", "M", Event { tid, args, ..self.blank() });
    }

    fn blank(&self) -> Event {
        Event {
            name: String::new(),
            cat: "",
            ph: "",
            ts: 0.0,
            dur: None,
            pid: self.pid,
            tid: 0,
            id: None,
            bp: None,
            args: Map::new(),
        }
    }

    fn event(&mut self, name: &str, cat: &'static str, ph: &'static str, event: Event) {
        self.events.push(Event { name: name.to_owned(), cat, ph, ..event });
    }
}

/// In microseconds: far below the precision of the measurement, above the error of doubles for
/// minutes of microseconds.
const PICOSECOND: f64 = 1e-6;

fn micros(nanos: Nanos) -> f64 {
    nanos as f64 / 1e3
}

fn word(state: State) -> &'static str {
    match state {
        State::Running => "running",
        State::Queued => "ready, no CPU",
        State::Asleep => "asleep",
    }
}
