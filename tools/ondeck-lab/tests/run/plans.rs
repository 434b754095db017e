//! Plans stay as they are.

use std::fmt::Write;
use std::time::Duration;

use ondeck_lab::alone::Helper;
use ondeck_lab::environment::{Placement, Policy};
use ondeck_lab::plan::{self, Extent, Request, Stage};
use ondeck_lab::select;
use ondeck_lab::workload::{Notify, Subject};

use crate::golden::{assert_golden, digest};

/// For a fixed number of CPUs, because numbers of threads and lengths depend on it.
#[test]
fn the_same_is_planned_for_two_cpus() {
    let mut text = String::new();
    let subjects = Subject::of_every_kind();
    for (name, request) in requests() {
        let stages = plan::stages(&request, &subjects);
        for stage in plan::baselines(&stages, request.extent).iter().chain(&stages) {
            _ = writeln!(text, "{name}: {}", words(stage, &subjects));
        }
    }
    assert_golden("golden-plan.txt", &text);
}

fn requests() -> Vec<(&'static str, Request)> {
    let base = Request {
        cpus: 2,
        helper: Some(Helper { program: "ondeck".into(), arguments: Vec::new() }),
        ..Request::of(Extent::Suite)
    };
    let batch = Placement { policy: Policy::Batch, ..Placement::default() };
    let asked = Request {
        extent: Extent::Quick,
        locks: Some(Subject::all().into_iter().take(9).collect()),
        threads: Some(vec![1, 2, 40]),
        round: Some(Duration::from_millis(7)),
        rounds: Some(4),
        work: Some((30, 70)),
        data: Some(vec![0, 3]),
        capacities: Some(vec![3]),
        notify: Some(vec![Notify::After]),
        placements: vec![Placement::default(), batch],
        helper: None,
        ..base.clone()
    };
    vec![
        ("quick", Request { extent: Extent::Quick, ..base.clone() }),
        ("suite", base.clone()),
        ("full", Request { extent: Extent::Full, ..base }),
        ("asked", asked),
    ]
}

/// A stage's words in reports, and how it is measured.
fn words(stage: &Stage, subjects: &[Subject]) -> String {
    let names = locks(stage, subjects);
    let params: Vec<String> = (0..stage.conditions.len())
        .map(|condition| format!("{:?}", stage.params_under(condition)))
        .collect();
    format!(
        "{} {} threads, {names}, {}, turn {:?} x {}, most {}, longest {:?}, work {:?}, alone {}, \
         baseline {}",
        stage.workload.name,
        stage.threads,
        params.join(" "),
        stage.turn,
        stage.turns,
        stage.counted.map_or(usize::MAX, |counted| counted.most),
        stage.counted.and_then(|counted| counted.longest).unwrap_or(Duration::MAX),
        stage.work,
        stage.alone,
        stage.baseline
    )
}

/// The locks of a stage. If it has most locks of its kind, these are the locks that it lacks, so
/// that a new lock changes no line.
fn locks(stage: &Stage, subjects: &[Subject]) -> String {
    // Locks of C++ exist in some builds only.
    let missing = [select::CPP_MUTEXES, select::CPP_RWLOCKS].concat();
    let names = |subjects: &[Subject]| -> Vec<&str> {
        let kind = subjects.iter().filter(|subject| subject.kind == stage.workload.kind);
        let names = kind.map(|subject| subject.info.name);
        names.filter(|name| !missing.contains(name)).collect()
    };
    let (here, all) = (names(&stage.subjects), names(subjects));
    let lacks: Vec<_> = all.iter().filter(|name| !here.contains(name)).copied().collect();
    let others: Vec<_> = here.iter().filter(|name| !all.contains(name)).collect();
    if lacks.len() < here.len() {
        return format!("all but {} locks {} {others:?}", lacks.len(), digest(&lacks.join(" ")));
    }
    format!("{} locks {}", here.len(), digest(&here.join(" ")))
}
