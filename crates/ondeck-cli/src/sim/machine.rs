//! A simulated machine as reports describe machines.

use std::collections::BTreeSet;

use ondeck_lab::results::Machine;
use ondeck_sim::machine::Spec;

/// Nothing of the machine at hand is in it: reports of one simulated machine go together wherever they were computed.
pub(super) fn describe(spec: &Spec) -> Machine {
    let topology = spec.topology();
    let (cpus, cores) = (topology.threads().len(), topology.cores());
    let sockets: BTreeSet<usize> = topology.threads().iter().map(|it| it.socket).collect();
    let idle = |index: usize| {
        let state = &spec.idle[index];
        format!("state {index} {} µs", state.exit / 1e3)
    };
    Machine {
        cpu: spec.about.clone(),
        architecture: "simulated".to_owned(),
        cpus,
        cores: Some(cores),
        smt: Some(cpus > cores),
        usable_cpus: cpus,
        numa_nodes: Some(sockets.len()),
        kernel: format!("simulated, scheduler {}", spec.scheduler.policy),
        scheduler: spec.scheduler.policy.to_string(),
        clock: "virtual time".to_owned(),
        idle_states: (0..spec.idle.len()).map(idle).collect(),
        slice_milliseconds: Some(spec.scheduler.slice / 1e6),
        load_average: Some(0.0),
        ..Machine::default()
    }
}
