//! A published number, and how the simulator reproduces it.

use ondeck_sim::engine::{Costs, Set};
use ondeck_sim::machine::{Fitted, MachineFile, Policy};

use super::copied::Published;
use super::shapes::On;
use super::subject::{Shape, measure};

/// A table to be simulated.
pub struct Table {
    /// Its name on the command line.
    pub name: &'static str,
    /// Author and title.
    pub source: &'static str,
    /// The unit of its numbers; `None` if only the order of the locks can be compared.
    pub unit: Option<&'static str>,
    /// The values fitted to rows, and the rows left out.
    pub note: &'static str,
    /// Its points.
    pub cases: Vec<Case>,
    /// Numbers of machines that are not simulated, for the baseline.
    pub others: Vec<Published>,
}

/// A published number, and how it is simulated.
#[derive(Clone, Debug)]
pub struct Case {
    /// The curve's place: machine, workload.
    pub series: String,
    /// The lock as the source has it.
    pub lock: &'static str,
    /// The published number, in the table's unit.
    pub published: Published,
    /// Where it runs.
    pub bench: Bench,
    /// What runs.
    pub shape: Shape,
    /// Whether what runs was fitted to this number. What the machine file was fitted to is marked there.
    pub fitted: bool,
    /// The earlier table whose number this one repeats, or nothing: a number fitted there counts as fitted
    /// here.
    pub repeats: &'static str,
}

/// A machine, and the CPUs of it that a program may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bench {
    /// The machine file.
    pub machine: &'static str,
    pub cpus: Cpus,
    /// Another scheduler than the file's.
    pub policy: Option<Policy>,
}

/// CPUs of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cpus {
    All,
    /// One of each core.
    Cores,
    /// One of each core of the first socket.
    FirstSocket,
    /// This number of CPUs, from the first on.
    First(usize),
    /// The CPUs of this number of clusters, from the first on.
    FirstClusters(usize),
}

impl Bench {
    /// All CPUs of that machine.
    pub fn of(machine: &'static str) -> Self {
        Self { machine, cpus: Cpus::All, policy: None }
    }

    /// Some CPUs of that machine.
    pub fn with(machine: &'static str, cpus: Cpus) -> Self {
        Self { machine, cpus, policy: None }
    }

    /// Reads the machine's numbers for the engine.
    ///
    /// # Panics
    ///
    /// If the machine file does not exist: the files of the tables are compiled in.
    pub fn costs(&self) -> Costs {
        let file = MachineFile::find(self.machine);
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", self.machine));
        let mut costs = file.costs().clone();
        if let Some(policy) = self.policy {
            costs.scheduler.policy = policy;
        }
        costs
    }

    /// The CPUs that may be used; `None` if all may.
    pub fn allowed(&self, costs: &Costs) -> Option<Set> {
        let is_first = |cpu: &usize| costs.places[*cpu].sibling.is_none_or(|other| other > *cpu);
        let all = 0..costs.places.len();
        match self.cpus {
            Cpus::All => None,
            Cpus::Cores => Some(all.filter(is_first).collect()),
            Cpus::FirstSocket => {
                Some(all.filter(is_first).filter(|&cpu| costs.places[cpu].socket == 0).collect())
            }
            Cpus::First(count) => Some(all.take(count).collect()),
            Cpus::FirstClusters(count) => {
                Some(all.filter(|&cpu| costs.places[cpu].cluster < count).collect())
            }
        }
    }
}

impl Case {
    /// Whether anything was fitted to this number: the workload, or a value of the machine file. A fitted number says
    /// nothing about the simulator.
    ///
    /// # Panics
    ///
    /// If the machine file does not exist: the files of the tables are compiled in.
    pub fn is_fitted(&self, table: &str) -> bool {
        let (name, of) = (self.bench.machine, &self.published);
        let table = if self.repeats.is_empty() { table } else { self.repeats };
        let file = MachineFile::find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let covers = |mark: &Fitted| mark.covers(table, name, self.lock, of.threads);
        self.fitted || file.leaves().any(|(_, leaf)| leaf.fitted.as_ref().is_some_and(covers))
    }

    /// Simulates it on that machine with each seed and returns the median; `None` if the zoo does not have
    /// the lock.
    pub fn simulate(&self, costs: &Costs, seeds: u64) -> Option<f64> {
        let measure = measure(self.published.ours)?;
        let cpus = self.bench.allowed(costs);
        let results = (1..=seeds).map(|seed| measure(&On { costs, cpus, seed }, &self.shape));
        super::stats::median(results.collect())
    }
}
