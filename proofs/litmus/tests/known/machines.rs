//! Tests of features that only machines have: barriers of one kind, forwarding.
//!
//! Sources as in `source.rs`. `n4b`, `n5`, `n6` and `iwp2.4` are from "A Better x86 Memory Model: x86-TSO" (Owens,
//! Sarkar and Sewell, TPHOLs 2009).

use ondeck_litmus::Model::{self, Arm, ArmRcpc, RiscV, X86};

use super::notation::machine;

/// Model, name, test, whether it is allowed.
const TESTS: &[(Model, &str, &str, bool)] = &[
    (X86, "SB+mfences", "Wx=1 rw/rw Ry=0 | Wy=1 rw/rw Rx=0", false),
    (X86, "iwp2.4", "Wx=1 Rx=1 Ry=0 | Wy=1 Ry=1 Rx=0", true),
    (X86, "n4b", "Rx=2 Wx=1 | Rx=1 Wx=2", false),
    (X86, "n5", "Wx=1 Rx=2 | Wx=2 Rx=1", false),
    (X86, "n6", "Wx=1 Rx=1 Ry=0 | Wy=2 Wx=2 # x=1", true),
    (Arm, "MP+dmb.st+dmb.ld", "Wx=1 w/w Wy=1 | Ry=1 r/rw Rx=0", false),
    (Arm, "MP+dmb.ld+dmb.ld", "Wx=1 r/rw Wy=1 | Ry=1 r/rw Rx=0", true),
    (Arm, "MP+dmb.st+dmb.st", "Wx=1 w/w Wy=1 | Ry=1 w/w Rx=0", true),
    (Arm, "SB+dmb.sts", "Wx=1 w/w Ry=0 | Wy=1 w/w Rx=0", true),
    (Arm, "LB+dmb.lds", "Rx=1 r/rw Wy=1 | Ry=1 r/rw Wx=1", false),
    (Arm, "R+dmb.st+dmb", "Wx=1 w/w Wy=1 | Wy=2 rw/rw Rx=0 # y=2", false),
    (Arm, "R+dmb+dmb.st", "Wx=1 rw/rw Wy=1 | Wy=2 w/w Rx=0 # y=2", true),
    (Arm, "SB+stlr+ldar", "Wx=1.rel Ry=0.acq | Wy=1.rel Rx=0.acq", false),
    (Arm, "MP+stlr+ldapr", "Wx=1 Wy=1.rel | Ry=1.pc Rx=0", false),
    (ArmRcpc, "SB+stlr+ldapr", "Wx=1.rel Ry=0.pc | Wy=1.rel Rx=0.pc", true),
    (
        ArmRcpc,
        "SB+stlr+ldapr, one location too",
        "Wx=1.rel Rx=1.pc Ry=0 | Wy=1.rel Ry=1.pc Rx=0",
        true,
    ),
    (RiscV, "MP+fence.w.w+fence.r.r", "Wx=1 w/w Wy=1 | Ry=1 r/r Rx=0", false),
    (RiscV, "MP+fence.r.r+fence.r.r", "Wx=1 r/r Wy=1 | Ry=1 r/r Rx=0", true),
    (RiscV, "SB+fence.tso", "Wx=1 r/rw w/w Ry=0 | Wy=1 r/rw w/w Rx=0", true),
    (RiscV, "SB+fence.w.r", "Wx=1 w/r Ry=0 | Wy=1 w/r Rx=0", false),
    (RiscV, "2+2W+fence.w.w", "Wx=1 w/w Wy=2 | Wy=1 w/w Wx=2 # x=1 y=1", false),
    (RiscV, "SB+sc.rl+lr.aq", "Ux=0>1.rel Uy=0>0.acq | Uy=0>1.rel Ux=0>0.acq # x=1 y=1", false),
];

#[test]
fn each_machine_has_the_verdict_of_the_literature() {
    for (model, name, text, allowed) in TESTS {
        let verdict = machine(text).verdict(*model);
        assert_eq!(verdict.is_allowed(), *allowed, "{name} in {}", model.name());
    }
}
