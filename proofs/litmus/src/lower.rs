//! Lowers the accesses of a thread to instructions, like a compiler.
//!
//! | source | x86-64 | Arm | RISC-V |
//! |---|---|---|---|
//! | load, relaxed | `mov` | `ldr` | `l` |
//! | load, acquire | `mov` | `ldar`; `ldapr` with FEAT_LRCPC | `l; fence r,rw` |
//! | store, relaxed | `mov` | `str` | `s` |
//! | store, release | `mov` | `stlr` | `fence rw,w; s` |
//! | read-modify-write | `lock` | `ld(a)xr; st(l)xr` | `lr(.aq); sc(.rl)` |
//! | fence, acquire | | `dmb ishld` | `fence r,rw` |
//! | fence, release | | `dmb ish` | `fence rw,w` |
//! | fence, acquire and release | | `dmb ish` | `fence.tso` |
//! | fence, sequentially consistent | `mfence` | `dmb ish` | `fence rw,rw` |
//!
//! If a machine has two ways, this is the weaker one: a loop of an exclusive load and store orders less than the single
//! instruction of FEAT_LSE or an AMO.
//!
//! Sources: LLVM's targets, whose output for the mutex is in `docs/data/assembly.md`; for RISC-V also its instruction
//! manual, "Mappings from C/C++ primitives to RISC-V primitives".

use crate::{Access, Acquire, Instr, Model, Ordering, Set};

/// Returns the instructions of the accesses on the machine of a model.
#[must_use]
pub fn lower(model: Model, accesses: &[Access]) -> Vec<Instr> {
    accesses.iter().flat_map(|access| instrs(model, *access)).collect()
}

fn instrs(model: Model, access: Access) -> Vec<Instr> {
    match access {
        Access::Load { location, value, order } => {
            let acquire =
                if is_acquire(order) { acquire_of_load(model, order) } else { Acquire::No };
            around(model, order, Instr::Read { location, value, acquire })
        }
        Access::Store { location, value, order } => {
            let release = is_release(order) && !matches!(model, Model::X86 | Model::RiscV);
            around(model, order, Instr::Write { location, value, release })
        }
        Access::Modify { location, read, written, order } => {
            let acquire = if is_acquire(order) { Acquire::Consistent } else { Acquire::No };
            let (release, single) = (is_release(order), model == Model::X86);
            vec![Instr::Modify { location, read, written, acquire, release, single }]
        }
        Access::Fence { order } => fence(model, order),
        Access::Light => vec![],
        Access::Heavy => vec![Instr::Heavy],
    }
}

/// RISC-V loads and stores have no orderings themselves. A sequentially consistent store of x86-64 has a fence after
/// it, or is an exchange, which orders the same.
fn around(model: Model, order: Ordering, access: Instr) -> Vec<Instr> {
    let fence = |before, after| Instr::Barrier { before, after, order: Ordering::Relaxed };
    let is_load = matches!(access, Instr::Read { .. });
    let strong = order == Ordering::SeqCst;
    let mut all = vec![access];
    if model == Model::RiscV && is_load && is_acquire(order) {
        all.push(fence(Set::R, Set::RW));
    }
    if model == Model::RiscV && !is_load && is_release(order) {
        all.insert(0, fence(Set::RW, Set::W));
    }
    if model == Model::RiscV && strong && is_load {
        all.insert(0, fence(Set::RW, Set::RW));
    }
    if matches!(model, Model::X86 | Model::RiscV) && strong && !is_load {
        all.push(fence(Set::RW, Set::RW));
    }
    all
}

fn acquire_of_load(model: Model, order: Ordering) -> Acquire {
    match model {
        // All loads of x86-64 acquire, which is implicit in its model; on RISC-V a fence follows the load.
        Model::X86 | Model::RiscV => Acquire::No,
        Model::ArmRcpc if order != Ordering::SeqCst => Acquire::Processor,
        Model::Arm | Model::ArmRcpc | Model::Cpp => Acquire::Consistent,
    }
}

fn fence(model: Model, order: Ordering) -> Vec<Instr> {
    let fence = |before, after| Instr::Barrier { before, after, order };
    match (model, order) {
        (Model::X86, Ordering::SeqCst) => vec![Instr::FULL],
        (Model::X86, _) => vec![],
        (Model::Arm | Model::ArmRcpc | Model::RiscV, Ordering::Acquire) => {
            vec![fence(Set::R, Set::RW)]
        }
        (Model::RiscV, Ordering::Release) => vec![fence(Set::RW, Set::W)],
        (Model::RiscV, Ordering::AcqRel) => vec![fence(Set::R, Set::RW), fence(Set::W, Set::W)],
        _ => vec![fence(Set::RW, Set::RW)],
    }
}

fn is_acquire(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn is_release(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}
