//! Memory models, which decide which executions may happen.

mod arm;
mod cpp;
mod riscv;
mod x86;

use crate::Execution;

/// A memory model, with the machine that compilers map to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Model {
    /// x86-64: total store order.
    X86,
    /// Armv8, with LDAR for loads that acquire.
    Arm,
    /// Armv8.3 and later, with LDAPR for loads that acquire.
    ArmRcpc,
    /// RISC-V: RVWMO.
    RiscV,
    /// C++20, which is also Rust's model: the freedom of a compiler in addition to the machine's.
    Cpp,
}

/// All models.
pub const MODELS: [Model; 5] = [Model::X86, Model::Arm, Model::ArmRcpc, Model::RiscV, Model::Cpp];

impl Model {
    /// Returns whether the execution may happen.
    #[must_use]
    pub fn accepts(self, execution: &Execution) -> bool {
        match self {
            Self::X86 => x86::accepts(execution),
            Self::Arm | Self::ArmRcpc => arm::accepts(execution),
            Self::RiscV => riscv::accepts(execution),
            Self::Cpp => cpp::accepts(execution),
        }
    }

    /// Returns its name, for tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86-64",
            Self::Arm => "Arm",
            Self::ArmRcpc => "Arm, LDAPR",
            Self::RiscV => "RISC-V",
            Self::Cpp => "C++20",
        }
    }
}
