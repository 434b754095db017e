//! One machine with several values of some of its numbers: a machine for each combination.

use std::str::FromStr;

use ondeck::spin::{MEASURED, Polling};
use ondeck_sim::engine::Costs;
use ondeck_sim::lab::Setup;
use ondeck_sim::machine::MachineFile;

use crate::ending::Error;

/// More machines are a typing mistake: each is a whole run.
const MOST_MACHINES: usize = 1_000;

/// What the keys of the polling of ondeck's locks begin with.
const POLLING: &str = "polling.";

/// Values of one key that are simulated one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    key: String,
    values: Vec<String>,
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let example = "write a key with its values, as `transfer.memory=80,160`";
        let Some((key, values)) = word.split_once('=') else { return Err(example.to_owned()) };
        let key = key.trim().to_owned();
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if key.is_empty() || values.iter().any(String::is_empty) {
            return Err(format!("a key or a value is empty; {example}"));
        }
        for (place, value) in values.iter().enumerate() {
            if values[..place].contains(value) {
                return Err(format!("the value {value} is there twice; leave one out"));
            }
        }
        Ok(Self { key, values })
    }
}

/// A simulated machine of the run.
#[derive(Debug)]
pub(crate) struct Variant {
    /// What tells it from the others: parameters as they stand in reports.
    pub(crate) params: Vec<(String, String)>,
    pub(crate) setup: Setup,
}

impl Variant {
    /// How many CPUs it has.
    pub(crate) fn cpus(&self) -> usize {
        self.setup.costs.places.len()
    }
}

/// The machine with each combination of values; the machine itself if nothing is swept.
pub(crate) fn variants(
    machine: &MachineFile,
    sweeps: &[Sweep],
    seed: u64,
) -> Result<Vec<Variant>, Error> {
    for (place, sweep) in sweeps.iter().enumerate() {
        if sweeps[..place].iter().any(|other| other.key == sweep.key) {
            return Err(Error::Usage(format!(
                "--sweep names {} twice; give all its values at once",
                sweep.key
            )));
        }
    }
    let count =
        sweeps.iter().fold(1_usize, |count, sweep| count.saturating_mul(sweep.values.len()));
    if count > MOST_MACHINES {
        return Err(Error::Usage(format!(
            "--sweep makes {count} machines; use at most {MOST_MACHINES} combinations of values"
        )));
    }
    let mut machines = vec![(machine.clone(), Polling::default(), Vec::new())];
    for Sweep { key, values } in sweeps {
        let mut swept = Vec::with_capacity(machines.len() * values.len());
        for (machine, polling, params) in &machines {
            for value in values {
                let (mut machine, mut polling) = (machine.clone(), *polling);
                match key.strip_prefix(POLLING) {
                    Some(field) => *polled(&mut polling, field)? = nanos(key, value)?,
                    None => machine = changed(&machine, key, value)?,
                }
                let mut params: Vec<(String, String)> = params.clone();
                params.push((key.clone(), value.clone()));
                swept.push((machine, polling, params));
            }
        }
        machines = swept;
    }
    let variant = |(machine, polling, params): (MachineFile, Polling, _)| Variant {
        params,
        setup: Setup { costs: Costs::from(machine.spec()), seed, polling },
    };
    Ok(machines.into_iter().map(variant).collect())
}

fn changed(machine: &MachineFile, key: &str, value: &str) -> Result<MachineFile, Error> {
    machine.changed(key, value).map_err(|error| Error::Usage(format!("--sweep: {error}")))
}

/// The field of that name.
fn polled<'a>(polling: &'a mut Polling, field: &str) -> Result<&'a mut u32, Error> {
    match field {
        "budget" => Ok(&mut polling.budget),
        "short" => Ok(&mut polling.short),
        "long" => Ok(&mut polling.long),
        "watch" => Ok(&mut polling.watch),
        "tenure" => Ok(&mut polling.tenure),
        _ => Err(Error::Usage(format!(
            "--sweep: there is no {POLLING}{field}; there are budget, short, long, watch and tenure"
        ))),
    }
}

/// A time that threads poll for.
fn nanos(key: &str, value: &str) -> Result<u32, Error> {
    /// A second: what polls for longer does not wait, but loops.
    const MOST: u32 = 1_000_000_000;
    match value.parse() {
        _ if value == "measured" => Ok(MEASURED),
        Ok(nanos) if nanos <= MOST => Ok(nanos),
        _ => Err(Error::Usage(format!(
            "--sweep: {key} cannot be {value}: use 0 to {MOST} (ns), or measured"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swept(words: &[&str]) -> Result<Vec<Variant>, String> {
        let machine = MachineFile::find("ryzen-7-1700").expect("it is bundled");
        let sweeps: Result<Vec<Sweep>, _> = words.iter().map(|word| word.parse()).collect();
        variants(&machine, &sweeps?, 1).map_err(|error| error.to_string())
    }

    #[test]
    fn several_sweeps_make_each_combination_in_order() {
        let found = swept(&["transfer.memory=80,160", "polling.budget=0,measured"]).expect("right");
        let words: Vec<String> =
            found.iter().map(|it| format!("{} {}", it.params[0].1, it.params[1].1)).collect();
        assert_eq!(words, ["80 0", "80 measured", "160 0", "160 measured"]);
        let of = |it: &Variant| (it.setup.costs.transfer.memory / 1_000, it.setup.polling.budget);
        let values: Vec<_> = found.iter().map(of).collect();
        assert_eq!(values, [(80, 0), (80, MEASURED), (160, 0), (160, MEASURED)]);
        assert_eq!(found[0].setup.polling.tenure, MEASURED);
    }

    #[test]
    fn a_topology_is_swept_too() {
        let found = swept(&["topology.cores_per_cluster=2,16"]).expect("right");
        assert_eq!(found.iter().map(Variant::cpus).collect::<Vec<_>>(), [8, 64]);
    }

    #[test]
    fn a_mistake_names_key_value_and_range() {
        for (words, parts) in [
            (&["transfer.memory"][..], &["`transfer.memory=80,160`"][..]),
            (&["transfer.memory=80,"], &["empty"]),
            (&["transfer.memory=80,80"], &["80", "twice"]),
            (&["transfer.memory=80", "transfer.memory=90"], &["transfer.memory twice"]),
            (&["transfer.memroy=80"], &["transfer.memroy", "did you mean transfer.memory?"]),
            (&["transfer.memory=1"], &["transfer.memory cannot be 1", "10 to 10000 (ns)"]),
            (&["transfer.memory=NaN"], &["NaN", "10 to 10000 (ns)"]),
            (&["topology.smt=1.5"], &["1.5", "1 to 2, whole"]),
            (&["scheduler.policy=lifo"], &["lifo", "\"eevdf\""]),
            (&["transfer.cross_socket=200"], &["ryzen-7-1700 has no transfer.cross_socket"]),
            (&["topology.sockets=1,2"], &["transfer.cross_socket is missing", "1 to 10000"]),
            (&["topology.clusters_per_socket=64", "topology.cores_per_cluster=8"], &["512"]),
            (&["polling.bugdet=0"], &["polling.bugdet", "budget"]),
            (&["polling.budget=-1"], &["polling.budget cannot be -1", "0 to 1000000000 (ns)"]),
        ] {
            let error = swept(words).expect_err(words[0]);
            for part in parts {
                assert!(error.contains(part), "{words:?}: {error}");
            }
        }
        let many = (10..1_500).map(|value| value.to_string()).collect::<Vec<_>>().join(",");
        let error = swept(&[&format!("transfer.memory={many}")]).expect_err("too many");
        assert!(error.contains("1490 machines") && error.contains("at most 1000"), "{error}");
    }
}
