//! x86-64: each CPU has a first-in-first-out buffer for its stores, and no other reordering.
//!
//! Source: Peter Sewell, Susmit Sarkar, Scott Owens, Francesco Zappa Nardelli and Magnus Myreen, "x86-TSO: A Rigorous
//! and Usable Programmer's Model for x86 Multiprocessors" (CACM 2010); in axioms as in "Herding Cats".

use crate::Execution;

/// Program order, except from a store to a later load, together with barriers, locked instructions, and the
/// observations between threads, has no cycle.
pub fn accepts(execution: &Execution) -> bool {
    let program = &execution.program;
    let (reads, writes) = (program.reads(), program.writes());
    let memory = reads | writes;
    let kept = program.po.between(reads, memory) | &program.po.between(writes, writes);
    // A locked instruction is a full barrier.
    let locked = program.which(|event| event.atomic);
    let locked = program.po.between(memory, locked) | &program.po.between(locked, memory);
    let seen = execution.external(&execution.rf) | &execution.co | &execution.fr;
    let mut order = kept | &locked | &program.fenced() | &seen;
    for &(read, write) in &program.single {
        order.fuse(read, write);
    }
    order.is_acyclic()
}
