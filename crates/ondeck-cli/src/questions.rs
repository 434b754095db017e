//! Questions for what the command line does not say, on a terminal only.

use std::fmt::Display;
use std::io::IsTerminal;

use dialoguer::Input;

use crate::Usage;
use crate::advise::yes;

/// Asks for parts of a situation, or takes them for granted.
pub(crate) struct Asking {
    asks: bool,
    assumed: Vec<String>,
}

impl Asking {
    /// Asks if somebody is there to answer and does not want to be left alone.
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
    ) -> Result<T, Usage> {
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
                Usage(format!("no answer: {error}; say it with --{flag}, or use --defaults"))
            })?;
        read(&answer).map_err(Usage)
    }

    /// A part that is or is not so; by default it is not.
    pub(crate) fn yes(
        &mut self,
        given: Option<bool>,
        (flag, question): (&str, &str),
    ) -> Result<bool, Usage> {
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
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(if self.0 { "yes" } else { "no" })
    }
}
