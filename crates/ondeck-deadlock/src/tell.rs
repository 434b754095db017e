//! What becomes of a report.

use std::alloc::System;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::sync::{Arc, PoisonError, RwLock};

use crate::kinds::{Hold, Lock, Want};
use crate::memory::Vec;
use crate::order::Seen;
use crate::report::{Edge, Holding, Report, ReportKind};
use crate::stack::Stack;
use crate::switch;
use crate::thread::Thread;

type Handler = Arc<dyn Fn(&Report) + Send + Sync>;

static HANDLER: RwLock<Option<Handler>> = RwLock::new(None);

/// From now on each report is given to `handler` rather than printed.
///
/// It runs in the thread that is about to wait, without any lock of the detection, but with all locks that the
/// thread holds: it should not take a lock of the program, nor panic. Locks that it takes are not looked at.
pub fn on_report(handler: impl Fn(&Report) + Send + Sync + 'static) {
    *HANDLER.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(handler));
}

/// From now on reports are printed to stderr, as they are at the beginning.
pub fn print_reports() {
    *HANDLER.write().unwrap_or_else(PoisonError::into_inner) = None;
}

/// A report under the table's lock, when nothing may be allocated by the program's allocator.
pub(crate) struct Found {
    kind: ReportKind,
    edges: Vec<Edge>,
}

impl Found {
    pub(crate) fn new(kind: ReportKind) -> Self {
        Self { kind, edges: Vec::new_in(System) }
    }

    /// Of locks that were taken in orders which make a circle.
    pub(crate) fn inversion(circle: &[Seen]) -> Self {
        let mut found = Self::new(ReportKind::Inversion);
        for seen in circle {
            found.edge(seen.thread, Some(&seen.from), (seen.to, seen.want, &seen.wanted_at));
        }
        found
    }

    pub(crate) fn edge(
        &mut self,
        thread: Thread,
        holds: Option<&Hold>,
        (wants, want, stack): (Lock, Want, &Stack),
    ) {
        let holds = holds.map(|it| Holding { lock: it.lock, held: it.held, stack: it.stack });
        self.edges.push(Edge { thread, holds, wants, want, stack: *stack });
    }

    /// The same for reports of the same addresses in the code, of whatever locks.
    pub(crate) fn digest(&self) -> u64 {
        let of_edge = |edge: &Edge| {
            let held = edge.holds.map_or(0, |holds| holds.stack.digest());
            held.rotate_left(17)
                .wrapping_add(edge.stack.digest())
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        // A circle may be found from any of its edges.
        self.edges.iter().map(of_edge).fold(self.kind as u64, u64::wrapping_add)
    }

    /// The same for reports that read the same, of whatever locks: the compiler may have copied a call, as when it
    /// unrolls a loop. Looks up names, without the table's lock.
    pub(crate) fn digest_of_text(&self) -> u64 {
        let of_edge = |edge: &Edge| {
            let mut text = DefaultHasher::new();
            edge.holds.map(|holds| holds.stack.to_string()).hash(&mut text);
            edge.stack.to_string().hash(&mut text);
            text.finish()
        };
        self.edges.iter().map(of_edge).fold(self.kind as u64, u64::wrapping_add)
    }

    /// Without the table's lock.
    pub(crate) fn report(&self) -> Report {
        Report { kind: self.kind, edges: self.edges.to_vec() }
    }

    /// Tells the report, and aborts if that is asked for. Without the table's lock.
    pub(crate) fn tell(&self) {
        let report = self.report();
        let handler = HANDLER.read().unwrap_or_else(PoisonError::into_inner).clone();
        match handler {
            Some(handler) => handler(&report),
            // What cannot be written is lost.
            None => _ = std::io::stderr().write_all(report.to_string().as_bytes()),
        }
        if report.has_come_about() && switch::aborts() {
            std::process::abort();
        }
    }
}
