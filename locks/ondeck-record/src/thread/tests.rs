extern crate std;

use std::boxed::Box;

use super::*;

fn new() -> Box<Local> {
    clock::rate();
    // SAFETY: zeros are valid for integers, null pointers and false.
    let mut local: Box<Local> = unsafe { Box::new_zeroed().assume_init() };
    (local.skip, local.period, local.weight) = (1, 1, 1);
    (local.random, local.mean) = (0x9E37_79B9_7F4A_7C15, clock::ticks_in(MEAN));
    local
}

/// Returns the number of acquisitions, the sum of what the records among them count for, and the
/// number of records.
fn recorded(nanos_apart: u64) -> (u64, u64, u64) {
    const COUNT: u64 = 1_000_000;
    let (mut local, apart) = (new(), clock::ticks_in(nanos_apart));
    let weights = (1..=COUNT).map(|number| u64::from(local.next(number * apart)));
    let (sum, records) =
        weights.fold((0, 0), |(sum, count), it| (sum + it, count + u64::from(it != 0)));
    (COUNT, sum, records)
}

fn are_close(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= one / 20
}

#[test]
fn records_stand_for_all_acquisitions_and_come_far_enough_apart() {
    let (all, sum, records) = recorded(100);
    assert!(are_close(all, sum), "{sum}");
    assert!(records * CLOSE < 2 * all * 100, "{records}");
    assert_eq!(recorded(100_000), (1_000_000, 1_000_000, 1_000_000), "each that is rare");
}

#[test]
fn acquisitions_with_known_times_are_kept_apart() {
    for (lock, turn, time) in [(64, 1, 10), (128, 2, 20), (192, 3, 30)] {
        stamp(lock, turn, Some(time));
    }
    assert_eq!(take_stamp(64, 1), Some(10));
    assert_eq!(take_stamp(192, 9), None, "of another acquisition");
    assert_eq!([take_stamp(128, 2), take_stamp(192, 3), take_stamp(64, 1)], [Some(20), None, None]);
    stamp(64, 4, Some(40));
    stamp(64, 5, Some(50));
    assert_eq!(take_stamp(64, 5), Some(50), "the last one");
}

#[test]
fn stacks_stand_for_all_ticks_of_all_records() {
    let mut local = new();
    let mean = local.mean;
    for ticks in [mean / 50, mean / 3, mean, 7 * mean] {
        let sum = (0..200_000).filter_map(|_| local.stack_for(ticks)).sum::<u64>();
        assert!(are_close(200_000 * ticks, sum), "{ticks}: {sum}");
    }
    assert_eq!(local.stack_for(0), None);
}

#[test]
fn stacks_that_take_more_than_their_share_become_rarer() {
    let mut local = new();
    let (least, cost) = (local.mean, 1_000);
    let mut now = 1 << 40;
    let mut take = |local: &mut Local, apart| {
        now += apart;
        local.took_stack(now, now + cost);
        now += cost;
        local.mean
    };
    take(&mut local, 0);
    assert_eq!(take(&mut local, SHARE * cost - 1), 2 * least);
    assert_eq!(take(&mut local, SHARE * cost), 2 * least);
    assert_eq!(take(&mut local, SHARE * 4 * cost + 1), least);
    assert_eq!(take(&mut local, SHARE * 4 * cost + 1), least);
}

#[test]
fn recorded_unlocks_stand_for_all_unlocks_of_a_run() {
    const LOCK: usize = 64;
    const COUNT: u64 = 1_000_000;
    let mut local = new();
    let (apart, mut counted, mut records) = (clock::ticks_in(100), 0, 0);
    for number in 1..=COUNT {
        if local.ran == LOCK && local.run_left != 0 {
            local.run_left -= 1;
            local.run_passed += 1;
            continue;
        }
        counted += 1 + local.run(LOCK, number * apart, true).unlocks;
        records += 1;
    }
    assert_eq!(counted + u64::from(local.run_passed), COUNT);
    assert!(records * CLOSE < 4 * COUNT * 100, "{records}");
    // Another lock, or long holds: each is recorded.
    assert_eq!(local.run(LOCK + 1, 0, true).unlocks, 0);
    let far = clock::ticks_in(1_000_000);
    for number in 1..100 {
        assert_eq!(local.run(LOCK + 1, number * far, false).unlocks, 0);
        assert_eq!((local.run_left, local.run_length), (0, 1));
    }
}
