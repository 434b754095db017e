//! A second opinion: the rate of a closed queueing network, without a machine and without a lock's
//! code.

use crate::passage::Step;
use crate::script::{Part, Script, Sharing};

/// What an average acquisition asks for, in nanoseconds.
#[derive(Default)]
struct Demand {
    /// Of each lock.
    locks: Vec<f64>,
    /// Of none that others wait for.
    apart: f64,
    /// Of a CPU.
    cpu: f64,
}

/// Acquisitions a second of so many threads on so many CPUs, if locks are passed on in no time.
///
/// Mean value analysis (Reiser and Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing
/// Networks", 1980): each shared lock is a station with a queue, all threads are alike, sections
/// are as long as chance has it, and readers keep no thread waiting.
pub fn bound(script: &Script, threads: usize, cpus: usize) -> f64 {
    let (mut acquisitions, mut nanos) = (0.0, 0.0);
    for part in &script.parts {
        let present = part.threads.iter().filter(|passages| !passages.is_empty()).count();
        let customers = (threads * present).div_ceil(script.threads.max(1));
        acquisitions += part.acquisitions as f64;
        nanos += part.acquisitions as f64 / rate(&demand(script, part), customers, cpus);
    }
    acquisitions * 1e9 / nanos.max(1.0)
}

/// Acquisitions in a nanosecond.
fn rate(demand: &Demand, customers: usize, cpus: usize) -> f64 {
    let mut queues = vec![0.0; demand.locks.len()];
    let mut rate = 0.0;
    for number in 1..=customers.max(1) {
        let stays: Vec<f64> = demand
            .locks
            .iter()
            .zip(&queues)
            .map(|(demand, queue)| demand * (1.0 + queue))
            .collect();
        rate = number as f64 / (demand.apart + stays.iter().sum::<f64>()).max(1.0);
        queues = stays.iter().map(|stay| rate * stay).collect();
    }
    rate.min(cpus as f64 / demand.cpu.max(1.0))
}

fn demand(script: &Script, part: &Part) -> Demand {
    let mut all = Demand { locks: vec![0.0; script.locks.len()], ..Demand::default() };
    for passage in part.threads.iter().flatten() {
        let acquires =
            |step: &&Step| matches!(step, Step::Lock(_) | Step::Read(_) | Step::Write(_));
        let taken = passage.steps.iter().filter(acquires).count().max(1);
        let share = passage.weight as f64 / taken as f64 / part.acquisitions.max(1) as f64;
        let mut held = Vec::new();
        for step in &passage.steps {
            match *step {
                Step::Lock(lock) | Step::Write(lock) if script.locks[lock] == Sharing::Shared => {
                    held.push(lock);
                }
                Step::Unlock(lock) | Step::EndWrite(lock) => held.retain(|it| *it != lock),
                Step::Work(nanos) | Step::Sleep(nanos) | Step::Yield(nanos) => {
                    let nanos = share * nanos;
                    if held.is_empty() {
                        all.apart += nanos;
                    }
                    // Each of nested locks keeps others waiting, and the thread stays once.
                    for &lock in &held {
                        all.locks[lock] += nanos;
                    }
                    all.apart -= nanos * held.len().saturating_sub(1) as f64;
                    if matches!(step, Step::Work(_)) {
                        all.cpu += nanos;
                    }
                }
                _ => {}
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_bound_by_its_threads_then_by_its_lock_and_always_by_its_cpus() {
        let demand = Demand { locks: vec![100.0], apart: 900.0, cpu: 1_000.0 };
        let at = |threads, cpus| rate(&demand, threads, cpus) * 1_000.0;
        assert!((at(1, 64) - 1.0).abs() < 1e-9);
        // Two threads meet in a tenth of their sections.
        assert!((at(2, 64) - 2.0 / 1.01).abs() < 1e-9, "{}", at(2, 64));
        assert!((9.5..=10.0).contains(&at(64, 64)), "{}", at(64, 64));
        assert!((at(64, 4) - 4.0).abs() < 1e-9);
    }
}
