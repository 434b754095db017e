//! Tests of orderings of the source, through the mappings of compilers, in each model.
//!
//! Sources of the verdicts: for x86-64 "x86-TSO" (CACM 2010); for Arm "Simplifying ARM Concurrency" (POPL 2018),
//! whose processors are multi-copy atomic; for RISC-V its manual's "RVWMO Explanatory Material"; for C++ "Repairing
//! Sequential Consistency in C/C++11" (PLDI 2017), without its axiom against load buffering, which C++20 allows. The
//! names are from "Herding Cats".

use ondeck_litmus::{MODELS, Verdict};

use super::notation::source;

/// Name, test, and for each of `MODELS` whether it is allowed (`A`) or forbidden (`f`).
const TESTS: &[(&str, &str, &str)] = &[
    // Store buffering.
    ("SB", "Wx=1 Ry=0 | Wy=1 Rx=0", "A AAAA"),
    ("SB+F+F", "Wx=1 F Ry=0 | Wy=1 F Rx=0", "f ffff"),
    ("SB+F+po", "Wx=1 F Ry=0 | Wy=1 Rx=0", "A AAAA"),
    ("SB+F.acqrel", "Wx=1 F.acqrel Ry=0 | Wy=1 F.acqrel Rx=0", "A ffAA"),
    ("SB+rel+acq", "Wx=1.rel Ry=0.acq | Wy=1.rel Rx=0.acq", "A fAAA"),
    ("SB+rmw", "Ux=0>1 Ry=0 | Uy=0>1 Rx=0", "f AAAA"),
    ("SB+rmw.acqrel", "Ux=0>1.acqrel Ry=0 | Uy=0>1.acqrel Rx=0", "f AAAA"),
    ("SB+light+light", "Wx=1 light Ry=0 | Wy=1 light Rx=0", "A AAAA"),
    ("SB+light+F", "Wx=1 light Ry=0 | Wy=1 F Rx=0", "A AAAA"),
    ("SB+light+heavy", "Wx=1 light Ry=0 | Wy=1 heavy Rx=0", "f ffff"),
    ("SB+heavy+heavy", "Wx=1 heavy Ry=0 | Wy=1 heavy Rx=0", "f ffff"),
    // Message passing.
    ("MP", "Wx=1 Wy=1 | Ry=1 Rx=0", "f AAAA"),
    ("MP+rel+acq", "Wx=1 Wy=1.rel | Ry=1.acq Rx=0", "f ffff"),
    ("MP+rel+po", "Wx=1 Wy=1.rel | Ry=1 Rx=0", "f AAAA"),
    ("MP+po+acq", "Wx=1 Wy=1 | Ry=1.acq Rx=0", "f AAAA"),
    ("MP+F.rel+F.acq", "Wx=1 F.rel Wy=1 | Ry=1 F.acq Rx=0", "f ffff"),
    ("MP+F.acq+F.acq", "Wx=1 F.acq Wy=1 | Ry=1 F.acq Rx=0", "f AAAA"),
    ("MP+F.rel+F.rel", "Wx=1 F.rel Wy=1 | Ry=1 F.rel Rx=0", "f ffAA"),
    ("MP+F+F", "Wx=1 F Wy=1 | Ry=1 F Rx=0", "f ffff"),
    ("MP+rmw", "Wx=1 Uy=0>1.rel | Uy=1>2.acq Rx=0", "f ffff"),
    ("MP+light+heavy", "Wx=1 light Wy=1 | Ry=1 heavy Rx=0", "f ffff"),
    ("MP+heavy+light", "Wx=1 heavy Wy=1 | Ry=1 light Rx=0", "f ffff"),
    // Load buffering.
    ("LB", "Rx=1 Wy=1 | Ry=1 Wx=1", "f AAAA"),
    ("LB+acq", "Rx=1.acq Wy=1 | Ry=1.acq Wx=1", "f fffA"),
    ("LB+rel", "Rx=1 Wy=1.rel | Ry=1 Wx=1.rel", "f fffA"),
    ("LB+acq+rel", "Rx=1.acq Wy=1.rel | Ry=1.acq Wx=1.rel", "f ffff"),
    // Three and four threads.
    ("WRC", "Wx=1 | Rx=1 Wy=1 | Ry=1 Rx=0", "f AAAA"),
    ("WRC+rel+acq", "Wx=1 | Rx=1 Wy=1.rel | Ry=1.acq Rx=0", "f ffff"),
    ("ISA2", "Wx=1 Wy=1 | Ry=1 Wz=1 | Rz=1 Rx=0", "f AAAA"),
    ("ISA2+rel+acqs", "Wx=1 Wy=1.rel | Ry=1.acq Wz=1.rel | Rz=1.acq Rx=0", "f ffff"),
    ("ISA2+rel+po+acq", "Wx=1 Wy=1.rel | Ry=1 Wz=1 | Rz=1.acq Rx=0", "f AAAA"),
    ("IRIW", "Wx=1 | Wy=1 | Rx=1 Ry=0 | Ry=1 Rx=0", "f AAAA"),
    ("IRIW+acqs", "Wx=1 | Wy=1 | Rx=1.acq Ry=0 | Ry=1.acq Rx=0", "f fffA"),
    ("IRIW+F+F", "Wx=1 | Wy=1 | Rx=1 F Ry=0 | Ry=1 F Rx=0", "f ffff"),
    ("MP+release sequence", "Wx=1 Wy=1.rel | Uy=1>2 | Ry=2.acq Rx=0", "f ffff"),
    // Orders of writes.
    ("2+2W", "Wx=1 Wy=2 | Wy=1 Wx=2 # x=1 y=1", "f AAAA"),
    ("2+2W+rels", "Wx=1 Wy=2.rel | Wy=1 Wx=2.rel # x=1 y=1", "f fffA"),
    ("2+2W+F+F", "Wx=1 F Wy=2 | Wy=1 F Wx=2 # x=1 y=1", "f ffff"),
    ("R", "Wx=1 Wy=1 | Wy=2 Rx=0 # y=2", "A AAAA"),
    ("R+rel+F", "Wx=1 Wy=1.rel | Wy=2 F Rx=0 # y=2", "f fffA"),
    ("R+F+F", "Wx=1 F Wy=1 | Wy=2 F Rx=0 # y=2", "f ffff"),
    ("S", "Wx=2 Wy=1 | Ry=1 Wx=1 # x=2", "f AAAA"),
    ("S+rel+acq", "Wx=2 Wy=1.rel | Ry=1.acq Wx=1 # x=2", "f ffff"),
    // One location.
    ("CoRR", "Wx=1 | Rx=1 Rx=0", "f ffff"),
    ("CoWW", "Wx=1 Wx=2 # x=1", "f ffff"),
    ("CoRW", "Rx=1 Wx=1", "f ffff"),
    ("CoWR", "Wx=1 Rx=0", "f ffff"),
    ("both exchanges find 0", "Ux=0>1 | Ux=0>1", "f ffff"),
    ("a store after both halves", "Ux=0>1 | Wx=2 # x=2", "A AAAA"),
    ("a store overwritten unseen", "Ux=0>1 | Wx=2 # x=1", "f ffff"),
];

#[test]
fn each_test_has_the_verdict_of_the_literature() {
    let mut wrong = Vec::new();
    for (name, text, verdicts) in TESTS {
        let expected: Vec<bool> =
            verdicts.chars().filter(|c| *c != ' ').map(|c| c == 'A').collect();
        assert_eq!(expected.len(), MODELS.len(), "{name}: a verdict for each model");
        for (model, expected) in MODELS.into_iter().zip(expected) {
            match source(model, text).verdict(model) {
                Verdict::Allowed(execution) if !expected => {
                    wrong.push(format!("{name} is allowed in {}:\n{execution}", model.name()));
                }
                Verdict::Forbidden { considered } if expected => {
                    wrong.push(format!("{name} is forbidden in {}, of {considered}", model.name()));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
