//! A campaign in parts that separate jobs carry out.
//!
//! Stages are dealt to shards whole, so that the locks of a stage take turns in the same process. A
//! stage's shard depends on its number and not on the machine: every stage is in exactly one shard,
//! wherever the others run. Dealing in turn makes shards even enough: the longest of 8 shards of a
//! full campaign is planned to take 1.2 times the mean, of a suite 1.5.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest number of parts.
const MOST: usize = 10_000;

/// One part of a campaign that is divided into several: `2/5`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Shard {
    /// Which one, from 1.
    pub index: usize,
    /// How many there are.
    pub of: usize,
}

impl Shard {
    /// The whole campaign.
    pub const WHOLE: Self = Self { index: 1, of: 1 };

    /// The parts of this shard, in the campaign's order.
    pub fn deal<T>(self, campaign: Vec<T>) -> Vec<T> {
        let numbered = campaign.into_iter().enumerate();
        numbered.filter(|(number, _)| self.has(*number)).map(|(_, part)| part).collect()
    }

    /// Whether the part with that number, from 0, belongs to this shard. Parts that follow the
    /// stages of a campaign are numbered after them.
    pub fn has(self, number: usize) -> bool {
        number % self.of == self.index - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let number = |part: &str| part.trim().parse::<usize>().ok();
        let parts = word.split_once('/').map(|(index, of)| (number(index), number(of)));
        let Some((Some(index), Some(of))) = parts else {
            return Err("write which one of how many, as `2/5`".to_owned());
        };
        if of > MOST || of == 0 {
            return Err(format!("use 1 to {MOST} shards"));
        }
        if index == 0 || index > of {
            return Err(format!(
                "shards are numbered 1 to {of}; an array's index from 0 needs 1 added"
            ));
        }
        Ok(Self { index, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_read_as_they_are_written() {
        assert_eq!("2/5".parse(), Ok(Shard { index: 2, of: 5 }));
        assert_eq!(Shard { index: 2, of: 5 }.to_string(), "2/5");
        for (word, fix) in [
            ("0/5", "1 to 5"),
            ("6/5", "1 to 5"),
            ("1/0", "1 to 10000"),
            ("2", "`2/5`"),
            ("a/b", "`2/5`"),
        ] {
            assert!(word.parse::<Shard>().is_err_and(|error| error.contains(fix)), "{word}");
        }
    }
}
