//! How much CPU time the threads of a team may use together, as in a container with a limit.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::usable_cpus;

/// A number of CPUs: the threads may use that many times the time that passes, and then stand still
/// until the next [period](Self::PERIOD) begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    thousandths: u32,
}

impl Quota {
    /// The kernel's default, which containers have.
    pub const PERIOD: Duration = Duration::from_millis(100);

    /// The least that a round under a quota takes: in parts of a period, threads may run without a
    /// limit.
    pub const LEAST_ROUND: Duration = Self::PERIOD.saturating_mul(3);

    /// The kernel refuses less than a millisecond in a period.
    const LEAST: u32 = 10;

    /// The CPU time of all threads together in a period, in microseconds.
    pub(crate) fn micros_in_a_period(self) -> u32 {
        self.thousandths * (Self::PERIOD.as_micros() / 1_000) as u32
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", f64::from(self.thousandths) / 1e3)
    }
}

impl FromStr for Quota {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let most = usable_cpus().len();
        let range = format!("use 0.01 to {most} CPUs, which this process has, or `none`");
        let cpus: f64 = word.trim().parse().map_err(|_| format!("not a number; {range}"))?;
        let thousandths = (cpus * 1e3).round();
        // False for what is no number.
        let fits = (f64::from(Self::LEAST)..=most as f64 * 1e3).contains(&thousandths);
        if fits { Ok(Self { thousandths: thousandths as u32 }) } else { Err(range) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values_agree() {
        for (word, shown, micros) in [("1", "1.0", 100_000), ("0.5", "0.5", 50_000)] {
            let quota: Quota = word.parse().expect(word);
            assert_eq!((quota.to_string(), quota.micros_in_a_period()), (shown.to_owned(), micros));
        }
    }

    #[test]
    fn what_no_kernel_grants_is_refused() {
        let more = (usable_cpus().len() + 1).to_string();
        for word in ["0", "0.001", "-1", "NaN", "inf", "one", "", &more] {
            let error = word.parse::<Quota>().expect_err(word);
            assert!(error.contains("use 0.01 to"), "{word}: {error}");
        }
    }
}
