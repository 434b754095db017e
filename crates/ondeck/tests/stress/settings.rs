//! The settings of a row of the matrix. They are written as words, so that a row that failed can be run
//! again.

use std::fmt;
use std::str::FromStr;

use fastrand::Rng;

/// The environment variable that has a row's settings in its process.
pub const VARIABLE: &str = "ONDECK_STRESS_SETTINGS";

macro_rules! choices {
    ($($(#[$about:meta])* $name:ident {
        $(#[$first_what:meta])* $first:ident = $first_word:literal,
        $($(#[$what:meta])* $choice:ident = $word:literal,)*
    })*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            #[default]
            $(#[$first_what])* $first,
            $($(#[$what])* $choice,)*
        }

        impl $name {
            pub const ALL: &[Self] = &[Self::$first, $(Self::$choice,)*];

            fn word(self) -> &'static str {
                match self {
                    Self::$first => $first_word,
                    $(Self::$choice => $word,)*
                }
            }

            fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|choice| choice.word() == word)
            }
        }
    )*};
}

choices! {
    /// The parking table.
    Table {
        /// The standard one: 1,024 buckets.
        Linux = "linux",
        One = "one-bucket",
        Two = "two-buckets",
        /// One bucket, and no sleep ends with a slice: a lost wake is a hang.
        Unmasked = "unmasked",
    }
    /// What membarrier(2) does, from the start.
    Membarrier {
        Allowed = "allowed",
        /// A filter refuses it with EPERM.
        Forbidden = "eperm",
        /// A filter refuses it with ENOSYS, as a kernel without it does.
        Missing = "enosys",
        /// The environment says not to use it.
        Unwanted = "unwanted",
    }
    /// Where the threads run.
    Cpus {
        /// Where the kernel puts them.
        Free = "free",
        /// On one CPU, to which the whole process is bound from its start: no thread polls.
        Pinned = "pinned",
        /// On one of the CPUs that the process has: waiters poll although no owner can run meanwhile.
        PinnedLate = "pinned-late",
        /// On one CPU, under SCHED_FIFO, with four priorities.
        Fifo = "fifo",
    }
    /// How waiters poll.
    Polls {
        Default = "default",
        Never = "never",
    }
    /// What empties the table in the child of a fork.
    Wiping {
        Kernel = "kernel",
        /// pthread_atfork(3), because a filter refuses the kernel's part.
        Handler = "handler",
    }
}

/// A row of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub table: Table,
    pub membarrier: Membarrier,
    pub cpus: Cpus,
    pub polls: Polls,
    pub wiping: Wiping,
    /// Whether signals interrupt waiting threads.
    pub signals: bool,
    /// Whether the process is stopped and goes on again.
    pub stops: bool,
    /// Whether the process forks.
    pub forks: bool,
    pub seconds: f64,
    pub seed: u64,
}

impl Settings {
    /// A row without disturbances.
    pub fn quiet(seconds: f64, seed: u64) -> Self {
        Self {
            table: Table::default(),
            membarrier: Membarrier::default(),
            cpus: Cpus::default(),
            polls: Polls::default(),
            wiping: Wiping::default(),
            signals: false,
            stops: false,
            forks: false,
            seconds,
            seed,
        }
    }

    /// A row drawn at random.
    pub fn draw(rng: &mut Rng, seconds: f64) -> Self {
        let table = draw(rng, Table::ALL);
        // The tables of tests have no handler.
        let wiping = if table == Table::Linux { draw(rng, Wiping::ALL) } else { Wiping::Kernel };
        Self {
            table,
            membarrier: draw(rng, Membarrier::ALL),
            cpus: draw(rng, Cpus::ALL),
            polls: draw(rng, Polls::ALL),
            wiping,
            signals: rng.bool(),
            stops: rng.bool(),
            forks: rng.bool(),
            seconds,
            seed: rng.u64(..),
        }
    }
}

fn draw<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.usize(..choices.len())]
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = |on| if on { "yes" } else { "no" };
        write!(
            f,
            "table={} membarrier={} cpus={} polls={} wiping={} signals={} stops={} forks={} \
             seconds={} seed={}",
            self.table.word(),
            self.membarrier.word(),
            self.cpus.word(),
            self.polls.word(),
            self.wiping.word(),
            flag(self.signals),
            flag(self.stops),
            flag(self.forks),
            self.seconds,
            self.seed,
        )
    }
}

impl FromStr for Settings {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut settings = Self::quiet(1.0, 0);
        for word in text.split_whitespace() {
            read(&mut settings, word).ok_or_else(|| format!("{VARIABLE}: {word:?}"))?;
        }
        Ok(settings)
    }
}

fn read(settings: &mut Settings, word: &str) -> Option<()> {
    let (name, value) = word.split_once('=')?;
    let flag = || match value {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    match name {
        "table" => settings.table = Table::parse(value)?,
        "membarrier" => settings.membarrier = Membarrier::parse(value)?,
        "cpus" => settings.cpus = Cpus::parse(value)?,
        "polls" => settings.polls = Polls::parse(value)?,
        "wiping" => settings.wiping = Wiping::parse(value)?,
        "signals" => settings.signals = flag()?,
        "stops" => settings.stops = flag()?,
        "forks" => settings.forks = flag()?,
        "seconds" => settings.seconds = value.parse().ok()?,
        "seed" => settings.seed = value.parse().ok()?,
        _ => return None,
    }
    Some(())
}

#[test]
fn settings_are_read_as_they_are_written() {
    let mut rng = Rng::with_seed(1);
    for _ in 0..100 {
        let settings = Settings::draw(&mut rng, 0.25);
        assert_eq!(settings.to_string().parse(), Ok(settings));
    }
    assert!("table=three-buckets".parse::<Settings>().is_err());
    assert!("colour=blue".parse::<Settings>().is_err());
}
