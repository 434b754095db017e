//! The settings of a row of the matrix. Its number, its length and its seed determine all of them, so that a failed row
//! can be run again.

use fastrand::Rng;

/// The environment variable with a row's number, seconds and seed, set in the row's process.
pub const VARIABLE: &str = "ONDECK_STRESS_SETTINGS";

/// The parking table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Table {
    /// The standard one: 1,024 buckets.
    #[default]
    Linux,
    One,
    Two,
    /// One bucket, and no sleep ends with a slice, so a lost wake is a hang.
    Unmasked,
}

/// The behaviour of membarrier(2), from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Membarrier {
    #[default]
    Allowed,
    /// A filter refuses it with EPERM.
    Forbidden,
    /// A filter refuses it with ENOSYS, like a kernel without it.
    Missing,
    /// The environment disables it.
    Unwanted,
}

/// The CPUs of the threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cpus {
    /// Chosen by the kernel.
    #[default]
    Free,
    /// On one CPU, to which the whole process is bound from its start: no thread polls.
    Pinned,
    /// On one of several CPUs of the process: waiters poll although no owner can run at the same time.
    PinnedLate,
    /// On one CPU, under SCHED_FIFO, with four priorities.
    Fifo,
}

/// A row of the matrix. By default nothing disturbs it.
#[allow(clippy::struct_excessive_bools, reason = "any of them may be with any other")]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    pub number: usize,
    pub seconds: f64,
    pub seed: u64,
    pub table: Table,
    pub membarrier: Membarrier,
    pub cpus: Cpus,
    /// Whether no thread polls.
    pub unpolled: bool,
    /// Whether a handler of pthread_atfork(3) empties the table in the child of a fork, because a filter refuses to let
    /// the kernel wipe it.
    pub unwiped: bool,
    /// Whether signals interrupt waiting threads.
    pub signals: bool,
    /// Whether the process is stopped and continued.
    pub stops: bool,
    /// Whether the process forks. Not with a table of this test, which is not emptied in a child.
    pub forks: bool,
}

/// The number of rows that always run.
pub const FIXED: usize = 17;

/// The rows that always run: each setting, combined with the settings with which it is most likely to fail.
fn fixed() -> [Settings; FIXED] {
    let quiet = Settings::default();
    let (signals, stops, forks, unpolled) = (true, true, true, true);
    [
        quiet,
        Settings { signals, ..quiet },
        Settings { stops, ..quiet },
        Settings { signals, forks, ..quiet },
        Settings { cpus: Cpus::Pinned, signals, ..quiet },
        Settings { cpus: Cpus::PinnedLate, stops, ..quiet },
        Settings { cpus: Cpus::Fifo, signals, ..quiet },
        Settings { table: Table::One, signals, stops, ..quiet },
        Settings { table: Table::Two, signals, ..quiet },
        Settings { table: Table::Two, cpus: Cpus::Pinned, stops, ..quiet },
        Settings { table: Table::Unmasked, ..quiet },
        Settings { table: Table::Unmasked, unpolled, signals, ..quiet },
        Settings { membarrier: Membarrier::Forbidden, signals, forks, ..quiet },
        Settings { membarrier: Membarrier::Missing, stops, ..quiet },
        Settings { membarrier: Membarrier::Unwanted, table: Table::One, signals, ..quiet },
        Settings { unpolled, signals, stops, ..quiet },
        Settings { unwiped: true, forks, ..quiet },
    ]
}

impl Settings {
    /// Returns the row of this number: the first ones are always the same, others are drawn with the seed.
    pub fn row(number: usize, seconds: f64, seed: u64) -> Self {
        let settings = fixed().get(number).copied().unwrap_or_else(|| Self::draw(seed));
        Self { number, seconds, seed, ..settings }
    }

    fn draw(seed: u64) -> Self {
        fn one_of<T: Copy>(rng: &mut Rng, choices: [T; 4]) -> T {
            choices[rng.usize(..4)]
        }
        let mut rng = Rng::with_seed(seed);
        let table = one_of(&mut rng, [Table::Linux, Table::One, Table::Two, Table::Unmasked]);
        Self {
            table,
            membarrier: one_of(
                &mut rng,
                [
                    Membarrier::Allowed,
                    Membarrier::Forbidden,
                    Membarrier::Missing,
                    Membarrier::Unwanted,
                ],
            ),
            cpus: one_of(&mut rng, [Cpus::Free, Cpus::Pinned, Cpus::PinnedLate, Cpus::Fifo]),
            unpolled: rng.bool(),
            unwiped: table == Table::Linux && rng.bool(),
            signals: rng.bool(),
            stops: rng.bool(),
            forks: table == Table::Linux && rng.bool(),
            ..Self::default()
        }
    }

    /// Returns the value of [`VARIABLE`] for this row.
    pub fn text(&self) -> String {
        format!("{} {} {}", self.number, self.seconds, self.seed)
    }

    /// Returns the row that [`VARIABLE`] names, if any.
    pub fn of_environment() -> Option<Self> {
        let text = std::env::var(VARIABLE).ok()?;
        let mut words = text.split_whitespace();
        let mut next = || words.next().unwrap_or_else(|| panic!("{VARIABLE}={text}: too short"));
        let (number, seconds, seed) = (next().parse(), next().parse(), next().parse());
        match (number, seconds, seed) {
            (Ok(number), Ok(seconds), Ok(seed)) => Some(Self::row(number, seconds, seed)),
            _ => panic!("{VARIABLE}={text}: not a row's number, seconds and seed"),
        }
    }
}
