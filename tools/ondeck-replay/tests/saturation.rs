//! Replays of recordings whose saturation is arithmetic.

use ondeck_replay::{
    Action, Anchor, Burst, Lock, Long, Operation, Recording, Saturation, Script, Setup, Shorter,
    Site, Thread, longest_site, outlook, reasons, run,
};
use ondeck_sim::engine::Costs;
use ondeck_sim::lab;
use ondeck_sim::machine::{MachineFile, small};

/// A thread that locks, works, unlocks and works: lock, nanoseconds inside, nanoseconds outside,
/// call site.
fn thread(pairs: &[(usize, f64, f64, usize)]) -> Thread {
    let operation = |action, work, lock, site| Operation {
        action,
        work,
        took: 0.0,
        lock: Some(lock),
        site: Some(site),
    };
    let pair = |&(lock, inside, outside, site): &(usize, f64, f64, usize)| {
        [
            operation(Action::Lock, outside, lock, site),
            operation(Action::Unlock, inside, lock, site),
        ]
    };
    let operations: Vec<Operation> = pairs.iter().cycle().take(60).flat_map(pair).collect();
    Thread {
        acquisitions: 1_000,
        bursts: vec![Burst { first: 0, begun: 0.0, operations }],
        long: Vec::new(),
    }
}

fn recording(threads: Vec<Thread>) -> Recording {
    let mut recording = Recording::new("app".to_owned(), 1.0);
    recording.locks =
        ["hot", "cold"].map(|name| Lock { name: name.to_owned(), at: String::new() }).into();
    recording.sites =
        ["get", "put"].map(|name| Site { function: name.to_owned(), at: String::new() }).into();
    recording.threads = threads;
    recording
}

fn setup<'a>(costs: &'a Costs, lock: &str, threads: usize) -> Setup<'a> {
    let lock = lab::named(lock).expect("a mutex");
    Setup { costs, seed: 1, lock, threads }
}

fn machine() -> Costs {
    MachineFile::find("epyc-9454p").expect("it is bundled").costs().clone()
}

fn saturation(recording: &Recording, shorter: &[Shorter]) -> Option<Saturation> {
    let costs = machine();
    let script = Script::new(recording, shorter);
    outlook(&script, &setup(&costs, "ondeck", 1), &[1, 4, 16, 40]).saturation
}

#[test]
fn a_lock_saturates_where_its_sections_fill_the_time() {
    // 2 µs of 20: nine threads take 90 % of the time, and handoffs some of the rest.
    let cold = (1, 100.0, 0.0, 0);
    let whole = recording(vec![thread(&[(0, 2_000.0, 18_000.0, 0), cold])]);
    let found = saturation(&whole, &[]).expect("40 threads want twice the time that there is");
    assert_eq!(found.lock, 0);
    assert!((7..=11).contains(&found.threads), "{found:?}");
    let halved = saturation(&whole, &[Shorter { site: 0, factor: 0.5 }]);
    let halved = halved.expect("40 threads want all of it");
    assert!((15..=21).contains(&halved.threads), "{halved:?}");
    let cheap = recording(vec![thread(&[(0, 200.0, 19_800.0, 0)])]);
    assert_eq!(saturation(&cheap, &[]), None);
}

#[test]
fn threads_that_share_nothing_scale_and_a_saturated_lock_does_not() {
    let costs = machine();
    let rate = |recording: &Recording, threads| {
        let outcome = run(&Script::new(recording, &[]), &setup(&costs, "glibc_normal", threads));
        assert!(!outcome.is_cut && !outcome.is_stuck);
        outcome.rate
    };
    let apart = recording(vec![thread(&[(0, 500.0, 500.0, 0)]), thread(&[(1, 500.0, 500.0, 0)])]);
    let ratio = rate(&apart, 16) / rate(&apart, 1);
    assert!((15.0..16.5).contains(&ratio), "{ratio}");
    let together =
        recording(vec![thread(&[(0, 5_000.0, 5_000.0, 0)]), thread(&[(0, 5_000.0, 5_000.0, 0)])]);
    let whole = rate(&together, 16);
    // At most, sections of 5 µs follow each other; at worst each needs a wake.
    assert!((50_000.0..200_000.0).contains(&whole), "{whole}");
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let costs = machine();
    let recording = recording(vec![thread(&[(0, 300.0, 700.0, 0), (1, 50.0, 100.0, 1)])]);
    let once = || run(&Script::new(&recording, &[]), &setup(&costs, "ondeck", 8));
    assert_eq!(format!("{:?}", once()), format!("{:?}", once()));
}

#[test]
fn reads_and_writes_go_by_the_origin_of_the_mutex() {
    let costs = machine();
    let mut reads = recording(vec![thread(&[(0, 300.0, 300.0, 0)])]);
    for operation in &mut reads.threads[0].bursts[0].operations {
        if operation.action == Action::Lock {
            operation.action = Action::Read;
        }
    }
    let with = |lock| format!("{:?}", run(&Script::new(&reads, &[]), &setup(&costs, lock, 8)));
    assert_eq!(with("glibc_normal"), with("mcs"));
    assert_ne!(with("glibc_normal"), with("ondeck"));
}

/// The classic culprit is rare: its sections are 5 ms of each 10, once in thousands of
/// acquisitions.
#[test]
fn a_thread_that_locks_rarely_and_holds_long_is_not_acquitted() {
    let worker = || Thread { acquisitions: 600_000, ..thread(&[(0, 200.0, 800.0, 0)]) };
    let mut janitor = Thread { acquisitions: 100, ..thread(&[(0, 5e6, 0.0, 1)]) };
    let sleep = Operation { took: 5e6, ..janitor.bursts[0].operations[0] };
    let sleep = Operation { action: Action::Blocked, lock: None, site: None, ..sleep };
    let operations = &mut janitor.bursts[0].operations;
    *operations = operations.chunks(2).flat_map(|pair| [sleep, pair[0], pair[1]]).collect();
    let mut idle = thread(&[(0, 1.0, 0.0, 0)]);
    idle.acquisitions = 50;
    let recording = recording(vec![worker(), worker(), janitor, idle]);
    let script = Script::new(&recording, &[]);
    assert_eq!((script.threads, script.left_out), (3, vec![3]));
    assert_eq!(longest_site(&recording, 0), Some(1));

    let costs = machine();
    let rate =
        |shorter| run(&Script::new(&recording, shorter), &setup(&costs, "glibc_normal", 3)).rate;
    let without = rate(&[Shorter { site: 1, factor: 0.0 }]) / rate(&[]);
    assert!(without > 1.4, "{without} times as fast without the janitor's sections");
}

#[test]
fn a_replay_that_is_far_from_its_recording_gives_the_reasons_that_are_known() {
    let costs = machine();
    let threads = vec![thread(&[(0, 1_000.0, 9_000.0, 0)]), thread(&[(0, 1_000.0, 9_000.0, 0)])];
    let mut recording = recording(threads);
    let anchor = |recording: &Recording| Anchor::new(recording, &setup(&costs, "ondeck", 1)).0;
    // Each thread acquires a thousand times, once in 10 µs.
    recording.seconds = 0.01;
    let near = anchor(&recording);
    assert!(near.is_believed(), "{near:?}");
    recording.seconds = 0.04;
    let far = anchor(&recording);
    assert!(!far.is_believed() && (0.2..0.3).contains(&far.ratio()), "{far:?}");

    let alone = small([1, 1, 1, 1]);
    let of = |recording: &Recording, costs: &Costs| {
        let (anchor, outcome) = Anchor::new(recording, &setup(costs, "ondeck", 1));
        let script = Script::new(recording, &[]);
        reasons((&anchor, &outcome), recording, &script, costs).join("; ")
    };
    assert!(of(&recording, &costs).contains("long once"), "{}", of(&recording, &costs));
    recording.transfer = Some(400.0);
    assert!(of(&recording, &costs).contains("moved in 400 ns"), "{}", of(&recording, &costs));
    recording.seconds = 0.001;
    assert!(of(&recording, &costs).contains("loops that poll"), "{}", of(&recording, &costs));
    assert!(of(&recording, &alone).contains("1 CPUs"), "{}", of(&recording, &alone));
    recording.seconds = 0.01;
    assert_eq!(of(&recording, &costs), "");
}

/// A table that grows: 4 ms in every 16,384th acquisition, which is half of each thread's time, and
/// in no burst.
#[test]
fn a_rare_rehash_that_no_burst_has_is_replayed_by_its_count() {
    let costs = machine();
    let kind =
        Long { lock: 0, action: Action::Lock, site: Some(1), count: 100, work: 4e8, blocked: 0.0 };
    let grows =
        || Thread { acquisitions: 1_638_400, long: vec![kind], ..thread(&[(0, 44.0, 200.0, 0)]) };
    let mut recording = recording(vec![grows(), grows()]);
    recording.seconds = 1.3;
    assert_eq!(longest_site(&recording, 0), Some(1));
    let anchor = Anchor::new(&recording, &setup(&costs, "ondeck", 1)).0;
    assert!(anchor.is_believed(), "{anchor:?}");
    let found = saturation(&recording, &[]).expect("each thread has it for half of the time");
    assert!(found.lock == 0 && found.threads <= 3, "{found:?}");
    let without = Shorter { site: 1, factor: 0.0 };
    let rate = |shorter: &[Shorter]| {
        run(&Script::new(&recording, shorter), &setup(&costs, "glibc_normal", 2)).rate
    };
    let faster = rate(&[without]) / rate(&[]);
    assert!((1.5..5.0).contains(&faster), "{faster} times as fast without growing");
    // A burst that happens to have one of the hundred does not stand for more.
    let operations = &mut recording.threads[0].bursts[0].operations;
    (operations[2].site, operations[3].work) = (Some(1), 4e6);
    let same = Anchor::new(&recording, &setup(&costs, "ondeck", 1)).0;
    assert!((0.8..1.25).contains(&(same.replayed / anchor.replayed)), "{same:?} {anchor:?}");
}

/// Two threads that always meet at the lock, so that each section ends with a wake. Wakes take as
/// long as it happens, and part them.
#[test]
fn a_convoy_of_two_threads_ends() {
    let costs = MachineFile::find("amd-epyc-2").expect("it is bundled").costs().clone();
    let recording = recording(vec![thread(&[(0, 1_000.0, 5_000.0, 0)])]);
    for seed in 1..8 {
        let setup = Setup { seed, ..setup(&costs, "glibc_normal", 2) };
        let rate = run(&Script::new(&recording, &[]), &setup).rate;
        // Three times that of a convoy; 0.33 M/s if they never meet.
        assert!((250_000.0..334_000.0).contains(&rate), "{rate} with seed {seed}");
    }
}

/// Threads that look for work and yield: with another lock or more threads they would yield more or
/// less often.
#[test]
fn a_program_that_yields_is_not_predicted() {
    let costs = machine();
    let mut yields = thread(&[(0, 200.0, 300.0, 0)]);
    let first = yields.bursts[0].operations[0];
    let pause = Operation { action: Action::Yield, took: 5_000.0, lock: None, site: None, ..first };
    let operations = &mut yields.bursts[0].operations;
    *operations = operations.chunks(2).flat_map(|pair| [pause, pair[0], pair[1]]).collect();
    let mut recording = recording(vec![yields.clone(), yields]);
    recording.seconds = 0.0055;
    let (anchor, outcome) = Anchor::new(&recording, &setup(&costs, "ondeck", 1));
    // The yields are replayed as such, and take no CPU from others.
    assert!((0.8..1.25).contains(&anchor.ratio()), "{anchor:?}");
    assert!(!anchor.is_believed(), "{anchor:?}");
    let script = Script::new(&recording, &[]);
    let reasons = reasons((&anchor, &outcome), &recording, &script, &costs).join("; ");
    assert!(reasons.contains("sched_yield"), "{reasons}");
}
