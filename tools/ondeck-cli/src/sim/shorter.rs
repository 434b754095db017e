//! The value of `--shorter`: a call site, and the remaining part of the work in its sections.

use std::str::FromStr;

/// The remaining part of the work in the sections of a call site.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(super) site: String,
    pub(super) factor: f64,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let example = "write a function or a line and what is left, as `Cache::get=50%`";
        let (site, percent) = word.rsplit_once('=').ok_or(example)?;
        let percent = percent.trim().strip_suffix('%').ok_or(example)?;
        match percent.trim().parse::<f64>() {
            Ok(left) if (0.0..=100.0).contains(&left) && !site.is_empty() => {
                Ok(Self { site: site.to_owned(), factor: left / 100.0 })
            }
            Ok(left) if !site.is_empty() => Err(format!("{left}% is not possible: use 0% to 100%")),
            _ => Err(example.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_what_is_before_the_last_equals_sign() {
        let part: Part = "operator==(A, B)=25%".parse().expect("a site and a part");
        assert_eq!(part, Part { site: "operator==(A, B)".to_owned(), factor: 0.25 });
        for (word, wrong) in [
            ("get", "50%"),
            ("get=50", "50%"),
            ("=50%", "50%"),
            ("get=x%", "50%"),
            ("get=-1%", "-1%"),
            ("get=150%", "100%"),
        ] {
            let error = word.parse::<Part>().expect_err(word);
            assert!(error.contains(wrong), "{word}: {error}");
        }
    }
}
