//! The locks that can be simulated.

use ondeck_lab::workload::{Subject, Subjects};
use ondeck_zoo::locks;

use crate::engine::Sim;

/// Every lock that runs on a simulated machine: those that run on any machine, and those for which the kernel keeps
/// the queue.
pub fn subjects() -> Vec<Subject> {
    let mut subjects = Subject::of_every_kind_on::<Sim>();
    let mutexes =
        subjects.iter().take_while(|subject| subject.kind == ondeck_zoo::Kind::Mutex).count();
    let mut of_kernel = Subjects::default();
    locks::for_each_pi::<Sim>(&mut of_kernel);
    subjects.splice(mutexes..mutexes, of_kernel.0);
    subjects
}
