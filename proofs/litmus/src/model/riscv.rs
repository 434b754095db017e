//! RISC-V: RVWMO, a global order of all accesses that keeps thirteen kinds of program order.
//!
//! Source: The RISC-V Instruction Set Manual, Volume I, chapter "RVWMO Memory Consistency Model", whose rules are cited
//! by their numbers. Rules 9 to 13 are about dependencies, which no program here has.

use crate::event::Kind;
use crate::{Acquire, Execution, Relation};

/// The preserved program order and the observations between threads have no cycle.
pub fn accepts(execution: &Execution) -> bool {
    let program = &execution.program;
    let po = &program.po;
    let (reads, writes) = (program.reads(), program.writes());
    let memory = reads | writes;
    let po_location = program.po_of_location();
    let rfi = execution.internal(&execution.rf);

    // 1: to a later store of the same location.
    let to_store = po_location.between(memory, writes);
    // 2: between loads of one location that return values of different stores, without a store between them.
    let loads = po_location.between(reads, reads);
    let across = po_location.between(reads, writes).then(&po_location.between(writes, reads));
    let one_source = execution.rf.inverse().then(&execution.rf);
    let different = &(&loads - &across) - &one_source;
    // 3: from the store of an atomic instruction to a load that returns its value.
    let atomic_writes = program.which(|e| e.atomic && matches!(e.kind, Kind::Write { .. }));
    let from_atomic = rfi.between(atomic_writes, reads);
    // 5, 6, 7: annotations. All are RCsc.
    let acquiring =
        program.which(|e| matches!(e.kind, Kind::Read { acquire } if acquire != Acquire::No));
    let releasing = program.which(|e| matches!(e.kind, Kind::Write { release: true }));
    let annotated = po.between(acquiring, memory)
        | &po.between(memory, releasing)
        | &po.between(acquiring | releasing, acquiring | releasing);
    let seen = execution.external(&execution.rf) | &execution.co | &execution.fr;
    // 4: fences. 8: a paired load and store.
    let rules: [&Relation; 5] =
        [&different, &from_atomic, &program.fenced(), &annotated, &program.rmw];
    let mut order = rules.into_iter().fold(to_store | &seen, |all, rule| all | rule);
    for &(read, write) in &program.single {
        order.fuse(read, write);
    }
    order.is_acyclic()
}
