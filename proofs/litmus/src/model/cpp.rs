//! C++20, whose memory model is also Rust's: includes the freedom of compilers.
//!
//! Source: Ori Lahav, Viktor Vafeiadis, Jeehoon Kang, Chung-Kil Hur and Derek Dreyer, "Repairing Sequential Consistency
//! in C/C++11" (PLDI 2017), with the release sequences of C++20. It is weaker than that model in three respects, so it
//! forbids nothing that C++ allows: cycles of program order and reads-from are allowed, as in the standard; accesses
//! that are `SeqCst` count as acquire and release, and only fences are sequentially consistent; a data race is not an
//! error but two relaxed accesses.

use crate::event::{Event, Kind, Program};
use crate::relation::Events;
use crate::{Acquire, Execution, Ordering, Relation};

/// Happens-before agrees with the order of writes, and fences have one order.
pub fn accepts(execution: &Execution) -> bool {
    let program = &execution.program;
    let (rf, co, fr) = (&execution.rf, &execution.co, &execution.fr);
    let happens = happens_before(execution);
    let communication = (rf | co) | fr;
    let eco = communication.closure();
    if !happens.is_irreflexive() || !happens.then(&eco).is_irreflexive() {
        return false;
    }
    let fences = fences(program, |order| order == Ordering::SeqCst);
    let same_location = same_location(program);
    let po_other = &program.po - &same_location;
    let scb = (&program.po | &po_other.then(&happens).then(&po_other))
        | &(&happens & &same_location)
        | co
        | fr;
    let into = happens.or_same().between(fences, everything(program));
    let out = happens.or_same().between(everything(program), fences);
    let by_base = into.then(&scb).then(&out);
    let by_fences = (&happens | &happens.then(&eco).then(&happens)).between(fences, fences);
    (by_base | &by_fences).is_acyclic()
}

/// Returns happens-before: program order and synchronization.
fn happens_before(execution: &Execution) -> Relation {
    let program = &execution.program;
    let po = &program.po;
    let all = everything(program);
    let releasing = fences(program, |o| !matches!(o, Ordering::Acquire | Ordering::Relaxed))
        | program.which(|e| matches!(e.kind, Kind::Write { release: true }));
    let acquiring = fences(program, |o| !matches!(o, Ordering::Release | Ordering::Relaxed))
        | program.which(|e| matches!(e.kind, Kind::Read { acquire } if acquire != Acquire::No));
    let is_fence = program.which(|e| matches!(e.kind, Kind::Fence { .. }));
    let (reads, writes) = (program.reads(), program.writes());
    // A release sequence continues through read-modify-writes.
    let sequence = execution.rf.then(&program.rmw).closure().or_same();
    let from = Relation::empty(program.events.len()).or_same() | &po.between(is_fence, writes);
    let to = Relation::empty(program.events.len()).or_same() | &po.between(reads, is_fence);
    let synchronizes = from
        .between(releasing, writes)
        .then(&sequence)
        .then(&execution.rf)
        .then(&to.between(reads, acquiring));
    // Initial writes are before all other events.
    let initial = program.which(|e: &Event| e.thread.is_none());
    let mut begin = Relation::empty(program.events.len());
    for from in crate::relation::bits(initial) {
        crate::relation::bits(all & !initial).for_each(|to| begin.add(from, to));
    }
    (po | &synchronizes | &program.forced | &begin).closure()
}

fn fences(program: &Program, is: impl Fn(Ordering) -> bool) -> Events {
    program.which(|e| matches!(e.kind, Kind::Fence { order, .. } if is(order)))
}

fn everything(program: &Program) -> Events {
    program.which(|_| true)
}

fn same_location(program: &Program) -> Relation {
    let mut same = Relation::empty(program.events.len());
    let is_access = |e: &Event| !matches!(e.kind, Kind::Fence { .. });
    for (i, a) in program.events.iter().enumerate() {
        for (j, b) in program.events.iter().enumerate() {
            if is_access(a) && is_access(b) && a.location == b.location {
                same.add(i, j);
            }
        }
    }
    same
}
