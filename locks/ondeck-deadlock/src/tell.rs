//! Delivers reports.

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

/// Passes each report from now on to `handler` instead of printing it.
///
/// The handler runs in the thread that is about to wait. That thread holds no lock of the
/// detection, but still holds its other locks: the handler should neither lock the program's locks
/// nor panic. Locks that it acquires are not checked.
pub fn on_report(handler: impl Fn(&Report) + Send + Sync + 'static) {
    *HANDLER.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(handler));
}

/// Prints reports to stderr from now on, the initial setting.
pub fn print_reports() {
    *HANDLER.write().unwrap_or_else(PoisonError::into_inner) = None;
}

/// A report as it is kept under the table's lock, when the program's allocator must not be used.
pub(crate) struct Found {
    kind: ReportKind,
    edges: Vec<Edge>,
}

impl Found {
    pub(crate) fn new(kind: ReportKind) -> Self {
        Self { kind, edges: Vec::new_in(System) }
    }

    /// Of locks that were acquired in orders that form a circle.
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

    /// Returns a digest that is the same for reports with the same code addresses, whichever locks
    /// they are about.
    pub(crate) fn digest(&self) -> u64 {
        let of_edge = |edge: &Edge| {
            let held = edge.holds.map_or(0, |holds| holds.stack.digest());
            held.rotate_left(17)
                .wrapping_add(edge.stack.digest())
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        // The same circle may be found from any of its edges.
        self.edges.iter().map(of_edge).fold(self.kind as u64, u64::wrapping_add)
    }

    /// Returns a digest that is the same for reports with the same text, whichever locks they are
    /// about: the compiler may have duplicated a call, for example by unrolling a loop. Looks up
    /// names, without the table's lock.
    pub(crate) fn digest_of_text(&self) -> u64 {
        let of_edge = |edge: &Edge| {
            let mut text = DefaultHasher::new();
            edge.holds.map(|holds| holds.stack.to_string()).hash(&mut text);
            edge.stack.to_string().hash(&mut text);
            text.finish()
        };
        self.edges.iter().map(of_edge).fold(self.kind as u64, u64::wrapping_add)
    }

    /// Called without the table's lock.
    pub(crate) fn report(&self) -> Report {
        Report { kind: self.kind, edges: self.edges.to_vec() }
    }

    /// Delivers the report, and aborts if that is configured. Called without the table's lock.
    pub(crate) fn tell(&self) {
        let report = self.report();
        let handler = HANDLER.read().unwrap_or_else(PoisonError::into_inner).clone();
        match handler {
            Some(handler) => handler(&report),
            // A failed write is ignored.
            None => _ = std::io::stderr().write_all(report.to_string().as_bytes()),
        }
        if report.has_come_about() && switch::aborts() {
            std::process::abort();
        }
    }
}
