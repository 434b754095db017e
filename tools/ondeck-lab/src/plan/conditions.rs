//! Several placements in one run. Their differences become parameters of their series.

use std::collections::BTreeMap;

use super::Request;
use crate::environment::Placement;

/// A placement of threads, and the parameters that distinguish it from the others of the run.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    /// Where and how they run.
    pub placement: Placement,
    /// Parameters as they stand in reports; none if the run has only one condition.
    pub params: Vec<(String, String)>,
}

/// The names of these parameters, in the order of tables.
pub const CONDITIONS: [&str; 4] = ["policy", "slice", "pin", "quota"];

/// Whether a parameter is a condition, which says under what a series was measured and not what was
/// measured. Besides [`CONDITIONS`], the numbers of a simulated machine are conditions; their names
/// contain a point: `transfer.memory`.
pub fn is_condition(name: &str) -> bool {
    CONDITIONS.contains(&name) || name.contains('.')
}

/// The conditions among these parameters with their values, in the order of tables.
pub fn conditions_of(params: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    let value = |name: &str| params.get_key_value(name);
    let numbers = params.iter().filter(|(name, _)| name.contains('.'));
    let all = CONDITIONS.iter().filter_map(|name| value(name)).chain(numbers);
    all.map(|(name, value)| (&**name, &**value)).collect()
}

impl Request {
    /// The conditions of the run.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        let all: Vec<_> = self.placements.iter().map(Placement::values).collect();
        let differs = |name: usize| all.iter().any(|values| values[name] != all[0][name]);
        let params = |values: &[String; CONDITIONS.len()]| {
            (0..CONDITIONS.len())
                .filter(|&name| differs(name))
                .map(|name| (CONDITIONS[name].to_owned(), values[name].clone()))
                .collect()
        };
        self.placements
            .iter()
            .zip(&all)
            .map(|(placement, values)| Condition {
                placement: placement.clone(),
                params: params(values),
            })
            .collect()
    }
}

impl Placement {
    /// The words for its parts, in the order of [`CONDITIONS`].
    fn values(&self) -> [String; CONDITIONS.len()] {
        let slice = self.slice.map_or_else(|| "default".to_owned(), |slice| format!("{slice:?}"));
        let quota = self.quota.map_or_else(|| "none".to_owned(), |quota| quota.to_string());
        [self.policy.to_string(), slice, self.pinning.to_string(), quota]
    }
}
