//! What a watched round has of its threads.

use ondeck_sim::engine::{Course, Ran, State, Watched, Way};
use ondeck_sim::lab::Chosen;

use super::*;

/// Two rounds of a lock, watched, with many more threads than CPUs or with fewer.
fn rounds(lock: &str, threads: usize) -> Vec<Ran> {
    let chosen = Chosen::named(lock).expect("a lock that can be simulated");
    let request = request("throughput", vec![chosen.subject()], threads);
    let stages = plan::stages(&request, &[]);
    let setup = setup("ryzen-7-1700", 1);
    lab::with_watched(&setup, chosen, 8, || {
        let results = run::run(&request, &stages, &mut Silent);
        assert!(results.failures.is_empty(), "{:?}", results.failures);
        assert_eq!(results.series[0].lock, lock);
        lab::take_rounds()
    })
}

fn watched(ran: &Ran) -> &Watched {
    ran.watched.as_ref().expect("it was watched")
}

fn has(ran: &Ran, way: Way) -> bool {
    watched(ran).threads.iter().flat_map(|thread| &thread.waits).any(|wait| wait.way == way)
}

#[test]
fn states_follow_each_other_and_are_what_threads_were_charged() {
    for (lock, threads) in [("ondeck", 40), ("three_state_futex", 40), ("ticket_spinlock", 20)] {
        for ran in rounds(lock, threads) {
            let watched = watched(&ran);
            assert_eq!((watched.threads.len(), watched.full_at), (threads, None));
            for (course, usage) in watched.threads.iter().zip(&ran.usages) {
                let gapless = course.spans.windows(2).all(|two| two[0].to == two[1].from);
                assert!(gapless, "{lock}: {:?}", course.spans);
                assert_eq!(course.spans[0].from, 0);
                let time = |state: State| -> u64 {
                    let its = course.spans.iter().filter(|span| span.state == state);
                    its.map(|span| span.to - span.from).sum()
                };
                assert_eq!(time(State::Asleep), usage.asleep, "{lock}");
                assert_eq!(time(State::Ready), usage.ready, "{lock}");
                assert_eq!(time(State::Running), usage.cpu, "{lock}");
            }
        }
    }
}

#[test]
fn a_cpu_has_one_thread_at_a_time() {
    for ran in rounds("ondeck", 40) {
        let spans = watched(&ran).threads.iter().flat_map(|thread| &thread.spans);
        let mut running: Vec<_> = spans.filter(|span| span.state == State::Running).collect();
        running.sort_by_key(|span| (span.cpu, span.from));
        assert!(running.windows(2).all(|two| two[0].cpu != two[1].cpu || two[0].to <= two[1].from));
    }
}

#[test]
fn one_thread_at_a_time_has_the_lock_and_all_acquisitions_are_there() {
    for ran in rounds("mcs", 6) {
        let threads = &watched(&ran).threads;
        let mut pairs: Vec<_> = threads.iter().flat_map(|thread| &thread.pairs).collect();
        assert!(threads.iter().all(|thread| thread.pairs.len() > 10));
        for pair in &pairs {
            let times = [pair.wanted, pair.acquired, pair.released, pair.freed];
            assert!(times.is_sorted() && pair.lock == pairs[0].lock, "{pair:?}");
            // The section's work is 100 ns.
            assert!(pair.released - pair.acquired >= 100_000, "{pair:?}");
        }
        pairs.sort_by_key(|pair| pair.acquired);
        assert!(pairs.windows(2).all(|two| two[0].released <= two[1].acquired), "two at once");
    }
}

#[test]
fn a_wait_is_between_wanting_and_having() {
    let inside = |course: &Course| {
        course.waits.iter().all(|wait| {
            let next = course.pairs.partition_point(|pair| pair.acquired < wait.to);
            let pair = course.pairs.get(next);
            pair.is_none_or(|pair| pair.wanted <= wait.from && wait.to <= pair.acquired)
        })
    };
    for ran in rounds("ondeck", 40) {
        for course in &watched(&ran).threads {
            assert!(inside(course), "{course:?}");
            assert!(course.waits.windows(2).all(|two| two[0].to <= two[1].from));
        }
    }
}

#[test]
fn each_kind_of_lock_is_waited_for_in_its_way() {
    for (lock, threads, does, does_not) in [
        ("spinlock", 6, &[Way::Polls][..], &[Way::Parked, Way::InFlight, Way::Near][..]),
        ("mcs", 6, &[Way::Polls, Way::Near], &[Way::Parked, Way::InFlight]),
        ("three_state_futex", 6, &[Way::Polls, Way::Parked, Way::InFlight], &[Way::Near]),
        ("ondeck", 12, &[Way::Polls, Way::Near, Way::Parked, Way::InFlight], &[]),
    ] {
        let rounds = rounds(lock, threads);
        for &way in does {
            assert!(rounds.iter().any(|ran| has(ran, way)), "{lock}: never {way:?}");
        }
        for &way in does_not {
            assert!(!rounds.iter().any(|ran| has(ran, way)), "{lock}: {way:?}");
        }
    }
}

#[test]
fn no_more_rounds_are_watched_than_were_asked_for() {
    let chosen = Chosen::named("mcs").expect("it is there");
    let request = request("throughput", vec![chosen.subject()], 2);
    let stages = plan::stages(&request, &[]);
    lab::with_watched(&setup("ryzen-7-1700", 1), chosen, 1, || {
        run::run(&request, &stages, &mut Silent);
        let watched: Vec<bool> =
            lab::take_rounds().iter().map(|ran| ran.watched.is_some()).collect();
        assert_eq!(watched, [true, false]);
    });
    assert!(Chosen::named("parking_lot").is_none(), "it is another library's");
}
