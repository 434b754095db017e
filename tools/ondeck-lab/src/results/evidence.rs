//! Where the numbers of a report come from.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// Where numbers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Taken on the machine that the report names.
    #[default]
    Measured,
    /// Computed for a machine that the report names.
    Simulated,
}

crate::worded! {
    Evidence: "expected `measured` or `simulated`";
    Measured = "measured", Simulated = "simulated"
}

/// What numbers were computed for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Simulated {
    /// The name of the machine that was simulated.
    pub machine: String,
    /// What all chance in it was drawn from: the same seed gives the same numbers.
    pub seed: u64,
}

/// As every report says it: `simulated on epyc, seed 7`.
impl fmt::Display for Simulated {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "simulated on {}, seed {}", self.machine, self.seed)
    }
}

impl Report {
    /// Describes the simulation of a simulated report; `None` if the report was measured.
    pub fn simulation(&self) -> Option<String> {
        let unnamed = || "simulated on a machine without a name".to_owned();
        match (self.evidence, &self.simulated) {
            (Evidence::Measured, _) => None,
            (Evidence::Simulated, Some(simulated)) => Some(simulated.to_string()),
            (Evidence::Simulated, None) => Some(unnamed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_and_the_seed_are_named() {
        let simulated = Simulated { machine: "epyc".to_owned(), seed: 7 };
        assert_eq!(simulated.to_string(), "simulated on epyc, seed 7");
    }
}
