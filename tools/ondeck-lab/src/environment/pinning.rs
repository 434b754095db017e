//! Which CPUs threads run on.

use std::fmt;
use std::str::FromStr;

use crate::cpus;
use crate::system;

/// Which CPUs threads are bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// The scheduler places them.
    #[default]
    None,
    /// Thread *i* runs on the *i*-th usable CPU; after the last CPU the first follows again.
    Each,
    /// All threads run on the last usable CPU, because the first has the most interrupts.
    One,
    /// Thread *i* runs on the *i*-th CPU of the list; after the last CPU the first follows again.
    List(Vec<usize>),
}

impl Pinning {
    /// The CPUs that are assigned to threads in turn; empty if the scheduler decides.
    pub(super) fn cpus(&self) -> Vec<usize> {
        match self {
            Self::None => Vec::new(),
            Self::Each => system::usable_cpus(),
            Self::One => system::usable_cpus().last().copied().into_iter().collect(),
            Self::List(cpus) => cpus.clone(),
        }
    }
}

impl fmt::Display for Pinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Each => f.write_str("each"),
            Self::One => f.write_str("one"),
            Self::List(cpus) => f.write_str(&join(cpus)),
        }
    }
}

impl FromStr for Pinning {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word.trim() {
            "none" => Ok(Self::None),
            "each" => Ok(Self::Each),
            "one" => Ok(Self::One),
            list => cpus::listed(list).map(Self::List).ok_or_else(|| {
                "expected `none`, `each`, `one`, or CPU numbers as `0,2` or `0-3,6`".to_owned()
            }),
        }
    }
}

/// CPUs as a user writes them.
pub(super) fn join(cpus: &[usize]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values_agree() {
        for word in ["none", "each", "one", "0,2,3"] {
            assert_eq!(word.parse::<Pinning>().expect(word).to_string(), word);
        }
        assert_eq!(" 0-2, 6".parse(), Ok(Pinning::List(vec![0, 1, 2, 6])));
        "each one".parse::<Pinning>().expect_err("no word");
    }
}
