//! Workloads without a section of their own: their metrics over threads, and tables; single times
//! where they were taken.

use maud::{Markup, html};

use crate::results::Report;

use super::theme::Palette;
use super::{data, latency, tables, throughput};

/// What a workload is called on the page.
pub fn title(workload: &str) -> String {
    match workload {
        "wait" => "Longest wait".to_owned(),
        "idle" => "Longest idle".to_owned(),
        "starve" => "Starvation".to_owned(),
        "condvar" => "Condition variable".to_owned(),
        "producer_consumer" => "Producers and consumers".to_owned(),
        "chan" => "Channel".to_owned(),
        "collision" => "Beside a crowded lock".to_owned(),
        "recovery" => "After a sleep".to_owned(),
        "mixed_priority" => "Priority inversion".to_owned(),
        "real" => "Programs".to_owned(),
        other => throughput::capitalized(&other.replace('_', " ")),
    }
}

/// What a workload is, for those that this program has.
fn lead(workload: &str) -> Option<&'static str> {
    Some(match workload {
        "handoff" => {
            "The time from just before one thread's unlock to just after another's lock. Solo: one \
             thread hands the lock to itself, which is what measuring costs. Fast: the giver unlocks \
             at once. Slow: the giver holds the lock for 50 µs, in which a waiter that can sleep has \
             gone to sleep."
        }
        "capture" => {
            "All threads lock and unlock without a pause. Streaks are acquisitions of one thread in \
             a row: long ones make throughput. What they cost is seen by those who wait: how many \
             acquisitions of others passed before they got in."
        }
        "starve" => {
            "Eight threads want the lock all the time, each for sections of 100 ns. The longest time \
             that any of them went without it while others had it, and how many windows of 50 ms \
             went by without one acquisition of a thread."
        }
        "oversubscribed" => {
            "Throughput with 4 to 32 times as many threads as CPUs. The owner, or the waiter that is \
             next, is mostly off its CPU."
        }
        "condvar" => {
            "One server sets a number of jobs and signals so many times, or broadcasts; the other \
             threads are workers that wait for jobs. Operations are jobs that workers took: wakeups, \
             as glibc's test tst-cond18 counts them. The server signals inside the critical section \
             unless a heading says after the unlock."
        }
        "producer_consumer" => {
            "Half of the threads put numbers into a bounded queue, the others take them out; a lock \
             and two condition variables, notified inside the critical section unless a heading says \
             after the unlock. Operations are numbers that were taken out."
        }
        "recovery" => {
            "The bounded queue after a moment in which all of its threads slept, against the same \
             threads before it. A ratio far from 1 is a lock that has two speeds, of which the \
             threads' past decides."
        }
        "collision" => {
            "One thread times pairs at a lock that no other thread wants, while the other threads are \
             parked at another lock of the same kind. In ondeck's parking table both locks fall into \
             one bucket."
        }
        "chan" => {
            "One buffered channel that nobody ever finds full or empty: each thread sends 100 \
             numbers, then receives 100. Go's benchmark ChanContended; its 200 operations are one \
             there."
        }
        "bystander" => {
            "One thread multiplies matrices while the others fight for the lock, with which it has \
             nothing to do. Slowdown is its time for a product beside them by that alone."
        }
        "background" => {
            "Work of low priority beside the lock, which should fill the gaps that waiters leave: how \
             much of it gets done, and what the lock keeps of its throughput."
        }
        "many_locks" => {
            "An array of locks, of which each thread locks a random one. Nobody waits for long; what \
             shows is the memory that the locks take, and the cache lines that they share."
        }
        "mixed_priority" => {
            "Priority inversion on one CPU: an owner of low priority, a waiter of high priority, and a \
             hog between them that never wants the lock."
        }
        "real" => "Small programs over the lock: what it is worth where it is not all there is.",
        _ => return None,
    })
}

/// The section of a workload.
pub fn section(report: &Report, palette: &Palette, workload: &str) -> Markup {
    let series = data::of_workload(report, workload);
    let groups = data::grouped(series.iter().copied(), |series| series.params.clone());
    html! {
        @if let Some(lead) = lead(workload) { p.lead { (lead) } }
        @for (params, group) in &groups {
            @let words = data::params_in_words(params);
            @if !words.is_empty() { h3 { (throughput::capitalized(&words)) } }
            (throughput::metrics(report, palette, workload, &words, group))
            @if group.iter().any(|series| series.distribution.is_some()) {
                @let place = if words.is_empty() { workload } else { &*words };
                (latency::ridges(report, palette, workload, place, group))
                (latency::times(workload, place, group))
            }
        }
        (tables::partial_note(&series))
    }
}
