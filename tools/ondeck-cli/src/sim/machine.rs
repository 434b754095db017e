//! Describes a simulated machine as reports describe machines.

use ondeck_lab::results::Machine;
use ondeck_sim::machine::MachineFile;

/// Contains nothing about the host: reports of one simulated machine can be merged wherever they
/// were computed.
pub(super) fn describe(machine: &MachineFile) -> Machine {
    let costs = machine.costs();
    let (cpus, cores) = (costs.places.len(), costs.cpu_of_core.len());
    // The costs are in picoseconds.
    let idle = |index: usize| format!("state {index} {} µs", costs.idle[index].exit as f64 / 1e6);
    Machine {
        cpu: machine.about().to_owned(),
        architecture: "simulated".to_owned(),
        cpus,
        cores: Some(cores),
        smt: Some(cpus > cores),
        usable_cpus: cpus,
        numa_nodes: Some(costs.sockets()),
        kernel: format!("simulated, scheduler {}", costs.scheduler.policy),
        scheduler: costs.scheduler.policy.to_string(),
        clock: "virtual time".to_owned(),
        idle_states: (0..costs.idle.len()).map(idle).collect(),
        slice_milliseconds: Some(costs.scheduler.slice as f64 / 1e9),
        load_average: Some(0.0),
        ..Machine::default()
    }
}
