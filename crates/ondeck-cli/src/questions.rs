//! Questions for what the command line does not say, on a terminal only.

use std::fmt::{self, Display};
use std::io::IsTerminal;

use dialoguer::Input;
use ondeck_lab::select;

use crate::ending::Error;

/// Asks for parts of a situation, or takes them for granted.
pub(crate) struct Asking {
    asks: bool,
    assumed: Vec<String>,
}

impl Asking {
    /// Asks if a user is there to answer and did not ask for defaults.
    pub(crate) fn begin(defaults: bool) -> Self {
        let asks = !defaults && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self { asks, assumed: Vec::new() }
    }

    /// A part as it was given, else as it is answered, else by default. `name` is the flag's and the
    /// question; an answer is read as the flag's value is.
    pub(crate) fn part<T: Display>(
        &mut self,
        given: Option<T>,
        (flag, question): (&str, &str),
        default: T,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Error> {
        if let Some(given) = given {
            return Ok(given);
        }
        if !self.asks {
            self.assumed.push(format!("--{flag}={default}"));
            return Ok(default);
        }
        let answer: String = Input::new()
            .with_prompt(question)
            .default(default.to_string())
            .validate_with(|word: &String| read(word).map(|_| ()))
            .interact_text()
            .map_err(|error| {
                Error::Usage(format!("no answer: {error}; use --{flag} or --defaults"))
            })?;
        read(&answer).map_err(Error::Usage)
    }

    /// A part that is or is not so; by default it is not.
    pub(crate) fn yes(
        &mut self,
        given: Option<bool>,
        (flag, question): (&str, &str),
    ) -> Result<bool, Error> {
        let given = given.map(Word);
        let read = |word: &str| yes(word).map(Word);
        let answer = self.part(given, (flag, question), Word(false), read)?;
        Ok(answer.0)
    }

    /// What was taken for granted, as flags.
    pub(crate) fn assumed(self) -> Vec<String> {
        self.assumed
    }
}

/// Yes or no.
struct Word(bool);

impl Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.0 { "yes" } else { "no" })
    }
}

/// A number of bytes, or `any`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(pub(crate) Option<usize>);

/// The lock that a program has, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Now(pub(crate) Option<String>);

pub(crate) fn now(word: &str) -> Result<Now, String> {
    match word.trim() {
        "none" => Ok(Now(None)),
        name if select::lock_names().contains(&name) => Ok(Now(Some(name.to_owned()))),
        name => Err(format!("no lock `{name}`; use a name of `ondeck list`, or `none`")),
    }
}

impl Display for Now {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("none"))
    }
}

/// Work as it is written on the command line.
#[derive(Clone, Copy)]
pub(crate) struct Work(pub(crate) (u64, u64));

impl Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.0.0, self.0.1)
    }
}

impl Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => write!(f, "{bytes}"),
            None => f.write_str("any"),
        }
    }
}

pub(crate) fn bytes(word: &str) -> Result<Limit, String> {
    /// A page: no lock is larger.
    const MOST: usize = 4_096;
    match word.trim().parse::<usize>() {
        Ok(bytes) if (1..=MOST).contains(&bytes) => Ok(Limit(Some(bytes))),
        Err(_) if word.trim() == "any" => Ok(Limit(None)),
        _ => Err(format!("use 1 to {MOST} bytes, or `any`")),
    }
}

pub(crate) fn yes(word: &str) -> Result<bool, String> {
    match word.trim().to_lowercase().as_str() {
        "yes" | "y" | "true" => Ok(true),
        "no" | "n" | "false" => Ok(false),
        _ => Err("use `yes` or `no`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_answers_are_checked() {
        assert_eq!(bytes("8"), Ok(Limit(Some(8))));
        assert_eq!(bytes("any"), Ok(Limit(None)));
        for wrong in ["0", "4097", "-1", "eight", ""] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(now("none"), Ok(Now(None)));
        assert_eq!(now("std_rwlock"), Ok(Now(Some("std_rwlock".to_owned()))));
        assert!(now("my_lock").is_err_and(|error| error.contains("ondeck list")));
        assert_eq!((yes("Yes"), yes("no")), (Ok(true), Ok(false)));
        assert!(yes("maybe").is_err());
    }
}
