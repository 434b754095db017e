//! The situations of workloads whose threads wait for each other: for a condition, for room in a channel,
//! or parked at another lock.

use super::situation::{Rounds, Situation, by, counts, counts_of_two, plain};
use super::{Extent, Request};
use crate::workload::{NOTIFY, Notify};

/// Capacities of a bounded queue: one, in which every item is a meeting of two threads; fewer than there
/// are threads, so that most wait; and far more.
const CAPACITIES: [usize; 3] = [1, 8, 128];

/// Threads that are parked while one times its pairs.
const PARKED: [usize; 5] = [0, 1, 100, 1_000, 4_000];

/// The moments to notify: those asked for, else the source's own, and both if there is time.
fn moments(request: &Request) -> Vec<Notify> {
    let both = request.extent != Extent::Quick;
    let chosen = if both { &Notify::BOTH[..] } else { &Notify::BOTH[..1] };
    request.notify.clone().unwrap_or_else(|| chosen.to_vec())
}

/// The situation with its threads notifying then.
fn notifying(notify: Notify, mut situation: Situation) -> Situation {
    situation.variant = notify.word();
    if notify != Notify::Inside {
        situation.params.push((NOTIFY, notify.to_string()));
    }
    situation
}

/// Every buffer with every number of threads and every moment to notify.
fn buffers(request: &Request, capacities: &[usize], counts: &[usize]) -> Vec<Situation> {
    let mut situations = Vec::new();
    for &capacity in request.capacities.as_deref().unwrap_or(capacities) {
        for &threads in counts {
            for notify in moments(request) {
                let params = vec![("capacity", capacity.to_string())];
                let situation = Situation { capacity, params, ..plain(threads) };
                situations.push(notifying(notify, situation));
            }
        }
    }
    situations
}

pub(super) fn condvar(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(50, 1).short(),
        Rounds::of_millis(40, 3),
        Rounds::of_millis(2_000, 11),
    );
    // One of them is the server.
    let counts = counts_of_two(request, &[3, 9], &[2, 9], &[2, 3, 5, 9, 17, 33, 65]);
    let situations = counts.into_iter().flat_map(|threads| {
        moments(request).into_iter().map(move |notify| notifying(notify, plain(threads)))
    });
    (rounds, situations.collect())
}

pub(super) fn producer_consumer(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(50, 1).short(),
        Rounds::of_millis(40, 3).short(),
        Rounds::of_millis(1_000, 11),
    );
    let capacities = by(request.extent, &CAPACITIES[1..2], &CAPACITIES, &CAPACITIES);
    let counts = counts_of_two(request, &[16], &[2, 4, 16], &[2, 4, 8, 16, 32]);
    (rounds, buffers(request, capacities, &counts))
}

pub(super) fn recovery(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(40, 1).short(),
        Rounds::of_millis(80, 3).short(),
        Rounds::of_millis(1_000, 11),
    );
    let counts = counts_of_two(request, &[4], &[4], &[2, 4, 16]);
    (rounds, buffers(request, &CAPACITIES[1..2], &counts))
}

pub(super) fn chan(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(50, 1).short(),
        Rounds::of_millis(40, 3),
        Rounds::of_millis(1_000, 11),
    );
    let counts = counts(request, &[8], &[2, 8], super::situation::MANY);
    (rounds, counts.into_iter().map(plain).collect())
}

pub(super) fn collision(request: &Request) -> (Rounds, Vec<Situation>) {
    // One thread times its pairs, so nothing is shared, however long a round is.
    let rounds = by(
        request.extent,
        Rounds::of_millis(2, 2).short(),
        Rounds::of_millis(4, 2).short(),
        Rounds::of_millis(50, 11).short(),
    );
    let with_timer =
        |parked: &[usize]| -> Vec<usize> { parked.iter().map(|one| one + 1).collect() };
    let counts =
        counts(request, &with_timer(&PARKED[..3]), &with_timer(&PARKED), &with_timer(&PARKED));
    (rounds, counts.into_iter().map(plain).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::request;
    use crate::workload::WORKLOADS;

    fn situations(workload: &str, request: &Request) -> Vec<(usize, String)> {
        let mut request = request.clone();
        request.workloads =
            WORKLOADS.iter().filter(|info| info.name == workload).copied().collect();
        let stages = crate::plan::stages(&request, &crate::workload::Subject::all());
        let params = |stage: &crate::plan::Stage| -> Vec<String> {
            stage.params.iter().map(|(name, value)| format!("{name}={value}")).collect()
        };
        stages.iter().map(|stage| (stage.threads, params(stage).join(";"))).collect()
    }

    #[test]
    fn one_request_has_every_buffer_with_every_number_of_threads_and_moment() {
        let all = Request {
            threads: Some(vec![2, 4]),
            capacities: Some(vec![1, 128]),
            notify: Some(Notify::BOTH.to_vec()),
            ..request(Extent::Suite)
        };
        let found = situations("producer_consumer", &all);
        assert_eq!(found.len(), 8);
        assert_eq!(found[0], (2, "capacity=1".to_owned()));
        assert_eq!(found[7], (4, "capacity=128;notify=after".to_owned()));
    }

    /// As they are in reports that were written before there was another.
    #[test]
    fn notifying_inside_is_no_parameter() {
        let inside = Request { notify: Some(vec![Notify::Inside]), ..request(Extent::Suite) };
        assert_eq!(situations("condvar", &inside), [(2, String::new()), (9, String::new())]);
        let suite = situations("condvar", &request(Extent::Suite));
        assert!(suite.contains(&(9, "notify=after".to_owned())), "{suite:?}");
        assert_eq!(situations("condvar", &request(Extent::Quick)).len(), 2);
    }
}
