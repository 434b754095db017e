//! Timelines made by hand, one for each cause. In all of them thread 0 unlocks at 100, and thread
//! 1, which has wanted the lock since 10, acquires it at 1,000.

use super::super::timeline::{Cpu, Pair, Thread};
use super::*;

const RELEASED: Nanos = 100;
const ACQUIRED: Nanos = 1_000;
const END: Nanos = 2_000;

fn span(from: Nanos, to: Nanos, state: State, cpu: u32) -> Span {
    Span { from, to, state, cpu: Some(cpu) }
}

fn pair(wanted: Nanos, acquired: Nanos, released: Nanos, freed: Nanos) -> Pair {
    Pair { wanted, acquired, released, freed, cpu: 0 }
}

/// These pairs, with these states of both threads.
fn timeline(first: &[Span], second: &[Span]) -> Timeline {
    let thread = |pairs: Vec<Pair>, spans: &[Span]| Thread { pairs, spans: spans.to_vec() };
    Timeline {
        threads: vec![
            thread(vec![pair(0, 5, RELEASED, RELEASED + 10)], first),
            thread(vec![pair(10, ACQUIRED, 1_010, 1_020)], second),
        ],
        cpus: Vec::new(),
        seen_until: END,
    }
}

fn cpu(number: u32, ran: Ran) -> Cpu {
    Cpu { number, slices: vec![Slice { from: 0, to: END, ran }] }
}

fn runs() -> Vec<Span> {
    vec![span(0, END, State::Running, 0)]
}

/// The states of thread 1 before it runs at 900.
fn then_runs(state: State) -> Vec<Span> {
    vec![span(0, 900, state, 1), span(900, END, State::Running, 1)]
}

fn idle(timeline: &Timeline) -> Vec<(Cause, Nanos)> {
    let turns = timeline.turns();
    let pieces = of_idle(timeline, &turns[0], &turns[1]);
    assert_gapless(&pieces, RELEASED, ACQUIRED);
    shares(&pieces)
}

fn wait(timeline: &Timeline) -> Vec<(Cause, Nanos)> {
    let turns = timeline.turns();
    let mine = turns.iter().find(|turn| turn.thread == 1).expect("thread 1 has a turn");
    let pieces = of_wait(timeline, &turns, mine);
    assert_gapless(&pieces, mine.pair.wanted, mine.pair.acquired);
    shares(&pieces)
}

fn assert_gapless(pieces: &[Piece], from: Nanos, to: Nanos) {
    assert_eq!(pieces.first().map(|piece| piece.from), Some(from));
    assert_eq!(pieces.last().map(|piece| piece.to), Some(to));
    assert!(pieces.windows(2).all(|pair| pair[0].to == pair[1].from), "{pieces:?}");
}

#[test]
fn a_sleeper_on_its_way_is_wake_up_latency() {
    let slept = timeline(&runs(), &then_runs(State::Asleep));
    assert_eq!(
        idle(&slept),
        [(Cause::WakeUp, 790), (Cause::Acquiring, 100), (Cause::Releasing, 10)]
    );
}

#[test]
fn a_ready_thread_whose_cpu_is_idle_is_on_its_way_too() {
    let mut ready = timeline(&runs(), &then_runs(State::Queued));
    ready.cpus = vec![cpu(0, Ran::Thread(0)), cpu(1, Ran::Nothing)];
    assert_eq!(idle(&ready)[0], (Cause::WakeUp, 790));
}

#[test]
fn a_ready_thread_beside_an_idle_cpu_is_told_from_one_on_a_full_machine() {
    let mut ready = timeline(&runs(), &then_runs(State::Queued));
    let other = || Ran::Other("cc1".to_owned());
    ready.cpus = vec![cpu(0, Ran::Nothing), cpu(1, other())];
    assert_eq!(idle(&ready)[0], (Cause::QueuedCpuIdle, 790));
    ready.cpus = vec![cpu(0, Ran::Thread(0)), cpu(1, other())];
    assert_eq!(idle(&ready)[0], (Cause::QueuedCpuBusy, 790));
    ready.cpus.clear();
    assert_eq!(idle(&ready)[0], (Cause::QueuedCpuBusy, 790), "CPUs are not known");
}

#[test]
fn a_lock_that_is_kept_for_a_ready_thread_while_another_spins_is_told() {
    let mut kept = timeline(&runs(), &then_runs(State::Queued));
    let spins = Thread { pairs: vec![pair(20, 1_500, 1_510, 1_520)], spans: runs() };
    kept.threads.push(spins);
    assert_eq!(idle(&kept)[0], (Cause::KeptForQueued, 790));
    kept.threads[2].pairs[0].wanted = 950;
    assert_eq!(idle(&kept)[0], (Cause::QueuedCpuBusy, 790), "no other thread wanted it");
}

#[test]
fn an_unlock_that_loses_its_cpu_is_the_owner_s() {
    let mut preempted = timeline(
        &[
            span(0, 150, State::Running, 0),
            span(150, 700, State::Queued, 0),
            span(700, END, State::Running, 0),
        ],
        &runs(),
    );
    preempted.threads[0].pairs[0].freed = 800;
    assert_eq!(
        idle(&preempted),
        [(Cause::OwnerPreempted, 550), (Cause::Acquiring, 200), (Cause::Releasing, 150)]
    );
}

#[test]
fn a_lock_that_no_thread_wants_is_not_the_scheduler_s_fault() {
    let mut unwanted = timeline(&runs(), &runs());
    unwanted.threads[1].pairs[0].wanted = 960;
    assert_eq!(
        idle(&unwanted),
        [(Cause::Unwanted, 850), (Cause::Acquiring, 40), (Cause::Releasing, 10)]
    );
}

#[test]
fn what_the_kernel_does_not_tell_is_unknown() {
    let mut blind = timeline(&[], &[]);
    assert_eq!(idle(&blind), [(Cause::Unknown, 900)]);
    assert_eq!(wait(&blind), [(Cause::Unknown, 990)]);
    // The kernel's events end before the idle does.
    blind = timeline(&runs(), &then_runs(State::Asleep));
    blind.seen_until = 300;
    assert_eq!(idle(&blind)[0], (Cause::Unknown, 700));
}

#[test]
fn an_owner_that_stands_still_is_seen_by_its_stamps_alone() {
    let mut stalled = timeline(&[], &[]);
    stalled.threads[0].pairs[0] = pair(0, 5, 50_005, 50_010);
    stalled.threads[1].pairs[0] = pair(5, 50_100, 50_110, 50_120);
    assert_eq!(wait(&stalled)[0], (Cause::OwnerStalled, 50_000));
    stalled.threads[0].pairs[0] = pair(0, 5, 100, 50_000);
    let turns = stalled.turns();
    let pieces = of_idle(&stalled, &turns[0], &turns[1]);
    assert_eq!(shares(&pieces)[0], (Cause::OwnerStalled, 49_900));
}

#[test]
fn a_wait_for_a_preempted_owner_is_the_owner_s_whatever_the_waiter_does() {
    for state in [State::Running, State::Asleep, State::Queued] {
        let mut preempted = timeline(
            &[
                span(0, 20, State::Running, 0),
                span(20, 800, State::Queued, 0),
                span(800, END, State::Running, 0),
            ],
            &then_runs(state),
        );
        preempted.threads[0].pairs[0] = pair(0, 5, 900, 910);
        assert_eq!(wait(&preempted)[0], (Cause::OwnerPreempted, 780), "{state:?}");
        preempted.threads[0].spans[1].state = State::Asleep;
        assert_eq!(wait(&preempted)[0], (Cause::OwnerAsleep, 780), "{state:?}");
    }
}

#[test]
fn a_wait_while_others_have_the_lock_is_by_what_the_waiter_did() {
    for (state, cause) in [
        (State::Running, Cause::Contended),
        (State::Asleep, Cause::AsleepInLine),
        (State::Queued, Cause::QueuedCpuBusy),
    ] {
        let mut busy = timeline(&runs(), &then_runs(state));
        busy.threads[0].pairs[0] = pair(0, 5, 900, 910);
        assert_eq!(wait(&busy)[0], (cause, 890), "{state:?}");
    }
}

#[test]
fn a_sleeping_thread_waits_for_its_wake_up_unless_another_takes_the_free_lock() {
    let mut slept = timeline(&runs(), &then_runs(State::Asleep));
    assert_eq!(wait(&slept)[0], (Cause::WakeUp, 800));
    slept.threads[0].pairs.push(pair(700, 700, 880, 890));
    assert_eq!(wait(&slept)[0], (Cause::AsleepInLine, 870));
}
