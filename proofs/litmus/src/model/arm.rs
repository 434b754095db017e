//! Armv8: multi-copy atomic, so that a store is visible to all other threads at once.
//!
//! Source: Christopher Pulte, Shaked Flur, Will Deacon, Jon French, Susmit Sarkar and Peter Sewell, "Simplifying ARM
//! Concurrency: Multicopy-Atomic Axiomatic and Operational Models for ARMv8" (POPL 2018), and section B2.3 of the Arm
//! Architecture Reference Manual. One rule is left out, which later versions do not have: that a release store is
//! before the coherence successors of the accesses that precede it.

use crate::event::Kind;
use crate::{Acquire, Execution};

/// The observations between threads, together with the order by atomic instructions and barriers, have no cycle: the
/// external visibility requirement. The internal one and atomicity were checked before.
pub fn accepts(execution: &Execution) -> bool {
    let program = &execution.program;
    let po = &program.po;
    let (reads, writes) = (program.reads(), program.writes());
    let memory = reads | writes;
    let acquires = |which: &[Acquire]| {
        program.which(|e| matches!(e.kind, Kind::Read { acquire } if which.contains(&acquire)))
    };
    let consistent = acquires(&[Acquire::Consistent]);
    let acquiring = acquires(&[Acquire::Consistent, Acquire::Processor]);
    let releasing = program.which(|e| matches!(e.kind, Kind::Write { release: true }));
    let rfi = execution.internal(&execution.rf);
    let atomic_writes = program.which(|e| e.atomic && matches!(e.kind, Kind::Write { .. }));
    let atomic = &program.rmw | &rfi.between(atomic_writes, acquiring);

    let barrier = program.fenced()
        | &po.between(releasing, consistent)
        | &po.between(acquiring, memory)
        | &po.between(memory, releasing);

    let observed = execution.external(&execution.rf)
        | &execution.external(&execution.co)
        | &execution.external(&execution.fr);
    (observed | &atomic | &barrier).is_acyclic()
}
