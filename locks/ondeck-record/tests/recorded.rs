//! Waits whose nanoseconds the recorder is told, read back from the file: a process records itself.

use std::fs;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use ondeck_record::burst::{self, Action, Caller};
use ondeck_record::layout::{
    Burst, File, Header, Lock, Long, OPERATIONS, Operation, SITES, Site, Track, Tracked,
};
use ondeck_record::relocked;

const FOLDER: &str = "ONDECK_PROFILE";
const NAME: &str = "times_that_are_told_are_nanoseconds";
const MILLI: u64 = 1_000_000;

#[test]
fn times_that_are_told_are_nanoseconds() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return records(folder.as_ref());
    }
    let folder = std::env::temp_dir().join(format!("ondeck-record-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args(["--exact", NAME, "--nocapture"]).env("ONDECK_RECORD", "1").env(FOLDER, &folder);
    let status = child.status().expect("it starts");
    fs::remove_dir_all(&folder).expect("it is there");
    assert!(status.success());
}

/// A section of a lock, in which the thread sleeps for as long.
fn lock_for(time: Duration) {
    burst::begin().end(Action::Lock, 0x8000, Caller::default());
    if !time.is_zero() {
        thread::sleep(time);
    }
    burst::begin().end(Action::Unlock, 0x8000, Caller::default());
}

/// As in a recursion. The second thread has the second track.
fn calls_from_new_frames(file: &fs::File) {
    const CALLS: usize = 20_000;
    let sites = || {
        let mut bytes = [0; SITES * size_of::<Site>()];
        let place = offset_of!(Tracked, tracks) + size_of::<Track>() + offset_of!(Track, sites);
        file.read_exact_at(&mut bytes, place as u64).expect("the whole file");
        bytes
    };
    let mut before = sites();
    let calls = (1..=CALLS).filter(|call| {
        burst::begin().end(Action::Lock, 0x9000, Caller { address: 0, frame: call << 16 });
        burst::begin().end(Action::Unlock, 0x9000, Caller::default());
        core::mem::replace(&mut before, sites()) != before
    });
    let taken = calls.count();
    assert!((1..CALLS).contains(&taken), "{taken} stacks outside of bursts and in them");
}

fn records(folder: &std::path::Path) {
    const WAITS: u64 = 5;
    const TOLD: u64 = 15 * MILLI;
    const LONG_ONES: u64 = 20;
    for _ in 0..WAITS {
        relocked(0x4000, 1, c"told", None, TOLD);
    }
    // The thread sleeps between two operations.
    burst::begin().end(Action::Notify, 0x6000, Caller::default());
    thread::sleep(Duration::from_nanos(2 * TOLD));
    burst::begin().end(Action::Notify, 0x7000, Caller::default());
    // The thread has waited at a condition variable, and then for the mutex.
    let before = Instant::now();
    let waits = burst::begin();
    thread::sleep(Duration::from_nanos(TOLD + 5 * MILLI));
    waits.end_of_wait(0x5000, TOLD);
    let all = before.elapsed().as_nanos() as u64;

    let path = fs::read_dir(folder).expect("the folder").flatten().next().expect("a file").path();
    let file = fs::File::open(path).expect("the recording");
    let word = |offset: usize| {
        let mut bytes = [0; 8];
        file.read_exact_at(&mut bytes, offset as u64).expect("the whole file");
        u64::from_ne_bytes(bytes)
    };
    let rate = word(offset_of!(File, header) + offset_of!(Header, rate));
    let nanos = |ticks: u64| (u128::from(ticks) * 1_000_000_000 / u128::from(rate)) as u64;
    // The rate is rounded to whole ticks a microsecond.
    let is_told = |ticks| nanos(ticks).abs_diff(TOLD) < TOLD / 100;
    let lock = |field: usize| word(offset_of!(File, locks) + field);
    assert_eq!(lock(offset_of!(Lock, address)), 0x4000);
    assert_eq!(lock(offset_of!(Lock, name)), u64::from_ne_bytes(*b"told\0\0\0\0"));
    assert_eq!(lock(offset_of!(Lock, waits)), WAITS);
    assert!(is_told(lock(offset_of!(Lock, wait_ticks)) / WAITS));
    assert!(is_told(lock(offset_of!(Lock, wait_longest))));

    let burst = offset_of!(Tracked, tracks) + offset_of!(Track, bursts);
    let operations = burst + offset_of!(Burst, operations);
    let find = |action: Action| {
        (0..word(burst + offset_of!(Burst, used)) as usize)
            .map(|number| operations + number * size_of::<Operation>())
            .find(|place| word(place + offset_of!(Operation, action)) as u32 == action as u32)
            .expect("there was one")
    };
    let blocked = find(Action::Blocked);
    assert!(nanos(word(blocked + offset_of!(Operation, took))) > TOLD, "it slept twice as long");
    assert!(nanos(word(blocked + offset_of!(Operation, before))) < TOLD, "it did not work");
    let operation = find(Action::Wait);
    assert_eq!(word(operation + offset_of!(Operation, object)), 0x5000);
    let took = nanos(word(operation + offset_of!(Operation, took)));
    assert!(took >= 5 * MILLI - TOLD / 100, "{took} ns without the mutex");
    assert!(took + TOLD <= all + TOLD / 100, "{took} ns without the mutex, of {all}");

    // Short sections, which are recorded in bursts with long pauses between them, and some long
    // ones. They come last: their bursts replace earlier ones.
    for _ in 0..LONG_ONES {
        for _ in 0..16 * OPERATIONS {
            lock_for(Duration::ZERO);
        }
        lock_for(Duration::from_nanos(TOLD / 5));
    }
    let long = offset_of!(Tracked, tracks) + offset_of!(Track, long);
    let long = |field: usize| word(long + field);
    assert_eq!(long(offset_of!(Long, object)), 0x8000);
    assert_eq!(long(offset_of!(Long, action)), Action::Lock as u64);
    // Not one in which the thread may have lost its CPU instead.
    let count = long(offset_of!(Long, count));
    assert!((LONG_ONES / 2..=2 * LONG_ONES).contains(&count), "{count} long sections");
    let [worked, blocked] = [offset_of!(Long, worked), offset_of!(Long, blocked)].map(long);
    assert!(nanos(blocked) > LONG_ONES / 2 * TOLD / 5, "{worked} {blocked}");
    thread::scope(|scope| scope.spawn(|| calls_from_new_frames(&file)).join().expect("it ends"));
}
