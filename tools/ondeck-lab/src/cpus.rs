//! Lists of CPUs, and two CPUs for measurements on two: of different cores where there are several.

use std::ops::RangeInclusive;

use crate::system;

const ONE_CPU: &str = "this process may use only one CPU";

/// Returns the numbers of a list such as `0-3,8`, as the kernel and users write it; `None` if it is
/// none.
pub fn listed(list: &str) -> Option<Vec<usize>> {
    let ranges: Option<Vec<_>> = list.split(',').map(range).collect();
    Some(ranges?.into_iter().flatten().collect())
}

/// A CPU, or a range of them as `0-3`.
fn range(word: &str) -> Option<RangeInclusive<usize>> {
    /// No kernel can be built for more CPUs; a longer range is a typing mistake.
    const MOST: usize = 8_192;
    let number = |word: &str| word.trim().parse::<usize>().ok().filter(|cpu| *cpu < MOST);
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(first..=last)
}

/// The first usable CPU.
pub(crate) fn first() -> usize {
    system::usable_cpus().first().copied().unwrap_or(0)
}

/// A usable CPU on another core than the first's, or any other where there is none.
pub(crate) fn second() -> Result<usize, String> {
    let usable = system::usable_cpus();
    let Some((first, others)) = usable.split_first() else { return Err(ONE_CPU.to_owned()) };
    let core = system::siblings(*first);
    let elsewhere = others.iter().find(|other| system::siblings(**other) != core);
    elsewhere.or(others.first()).copied().ok_or_else(|| ONE_CPU.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_its_numbers_or_is_none() {
        assert_eq!(listed("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(listed("0-2, 6"), Some(vec![0, 1, 2, 6]));
        assert_eq!(listed("0"), Some(vec![0]));
        for list in ["", "0,x", "3-1", "0-", "0-99999999999"] {
            assert_eq!(listed(list), None, "{list}");
        }
    }
}
