//! A Rust program with the feature `profile` of `ondeck`: this test starts itself again as that
//! program.

use std::env;
use std::io::Read;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use flate2::read::GzDecoder;
use ondeck::mutex::RawMutex;
use ondeck::platform::{Host, Native};
use ondeck::{Condvar, Mutex};
use ondeck_profile::{Kind, Place, Profile, Role, lines, page, pprof, read, table};

static CROWDED: Mutex<u64> = Mutex::new(0);
static TOLD: Mutex<(bool, bool)> = Mutex::new((false, false));
static CHANGED: Condvar = Condvar::new();
static QUIET: Mutex<u64> = Mutex::new(0);

/// The variable that makes this process the program.
const PROGRAM: &str = "ONDECK_TEST_PROGRAM";
const VICTIMS: u32 = 3;
const ROUNDS: u32 = 20;
/// On a busy machine most of them find the mutex free.
const RELOCKS: u32 = 10;

static WANTING: AtomicU32 = AtomicU32::new(0);
static OVER: AtomicBool = AtomicBool::new(false);

/// Returns when a thread is parked for the mutex.
fn until_parked<T>(mutex: &Mutex<T>) {
    // SAFETY: used for its address only.
    let key = std::ptr::from_ref(unsafe { mutex.raw() }).addr();
    while Native::bucket(key).is_at_rest() {
        thread::yield_now();
    }
}

#[inline(never)]
fn hold_for_long() {
    let mut value = CROWDED.lock();
    // All of them want the lock now, and will park soon.
    while WANTING.load(Ordering::Relaxed) != VICTIMS {
        thread::yield_now();
    }
    until_parked(&CROWDED);
    thread::sleep(Duration::from_millis(3));
    *value += 1;
    drop(value);
    std::hint::black_box(());
}

#[inline(never)]
fn take_shortly() {
    WANTING.fetch_add(1, Ordering::Relaxed);
    *CROWDED.lock() += 1;
    WANTING.fetch_sub(1, Ordering::Relaxed);
    std::hint::black_box(());
}

#[inline(never)]
fn wait_to_be_told() {
    let mut told = TOLD.lock();
    told.0 = true;
    CHANGED.wait_while(&mut told, |told| !told.1);
    *told = (false, false);
    drop(told);
    std::hint::black_box(());
}

/// Notifies a waiter of the condition variable while its mutex is locked, and keeps the mutex
/// locked.
fn tell() {
    loop {
        let mut told = TOLD.lock();
        if *told == (true, false) {
            told.1 = true;
            CHANGED.notify_one();
            until_parked(&TOLD);
            thread::sleep(Duration::from_millis(3));
            return;
        }
        drop(told);
        thread::yield_now();
    }
}

fn program() {
    thread::scope(|scope| {
        scope.spawn(|| (0..RELOCKS).for_each(|_| wait_to_be_told()));
        (0..RELOCKS).for_each(|_| tell());
    });
    thread::scope(|scope| {
        for _ in 0..VICTIMS {
            scope.spawn(|| {
                while !OVER.load(Ordering::Relaxed) {
                    take_shortly();
                    thread::yield_now();
                }
            });
        }
        for _ in 0..ROUNDS {
            hold_for_long();
            *QUIET.lock() += 1;
        }
        OVER.store(true, Ordering::Relaxed);
    });
}

/// Runs a test of this file again, as the program, and reads the recording.
fn profile_of(test: &str) -> Profile {
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", &format!("rust_locks::{test}")])
        .env(PROGRAM, "1")
        .env("ONDECK_PROFILE", folder.path())
        .output()
        .unwrap()
        .status;
    assert!(status.success(), "{status}");
    read(folder.path()).unwrap()
}

static ACCOUNTS: Mutex<u64> = Mutex::from_raw(RawMutex::named(c"accounts"), 0);

/// Keeps a thread waiting until it parks.
fn keep_waiting(lock: &Mutex<u64>) {
    thread::scope(|scope| {
        let held = lock.lock();
        scope.spawn(|| *lock.lock() += 1);
        until_parked(lock);
        drop(held);
    });
}

#[test]
fn a_lock_has_the_name_that_the_program_gave_it() {
    if env::var_os(PROGRAM).is_some() {
        let log = Box::new(Mutex::new(0));
        ondeck::name(&*log, c"log");
        let cut = Box::new(Mutex::new(0));
        ondeck::name(&*cut, c"a name of more than 48 bytes, which is cut off there");
        let locks = [&ACCOUNTS, &*log, &*cut];
        return (0..ROUNDS).for_each(|_| locks.into_iter().for_each(keep_waiting));
    }
    let profile = profile_of("a_lock_has_the_name_that_the_program_gave_it");
    let mut names: Vec<_> = profile.locks().iter().map(|(_, lock)| lock.short_name()).collect();
    names.sort_unstable();
    // Only with a feature that keeps names, such as `stats`, a lock is larger than its byte.
    if size_of_val(&ACCOUNTS) == size_of::<[u64; 2]>() {
        assert!(names.iter().any(|name| name.ends_with("ACCOUNTS")), "{names:?}");
        return;
    }
    assert_eq!(names, ["a name of more than 48 bytes, which is cut off t", "accounts", "log"]);
    let text = table::render(&profile, 10, false);
    assert!(text.contains("\nlog  ") && text.contains("\naccounts  "), "{text}");
    assert!(lines::render(&profile).contains("\"name\":\"log\""));
    assert!(page::render(&profile).contains("accounts"));
}

#[test]
fn a_rust_lock_is_named_with_its_holder() {
    if env::var_os(PROGRAM).is_some() {
        return program();
    }
    let profile = profile_of("a_rust_lock_is_named_with_its_holder");
    let locks = profile.locks();
    let (process, lock) = locks.first().expect("a lock was contended");
    assert!(process.ended);
    assert!(lock.name().ends_with("CROWDED"), "{}", lock.name());
    // Tests are built without debugging information of variables; ci/profile.sh checks the line.
    let Place::Static { offset, .. } = &lock.place else { panic!("{:?}", lock.place) };
    assert!(*offset < size_of_val(&CROWDED) as u64, "{offset}");
    assert_eq!(lock.kind, Kind::Ondeck);
    assert_eq!((lock.acquisitions, lock.threads), (None, VICTIMS + 1));
    // On a busy machine one wait may outlast several rounds.
    assert!(lock.wait.count >= u64::from(VICTIMS), "{} waits", lock.wait.count);
    assert!(lock.hold.count > 0);
    for (role, function) in [(Role::Holder, "hold_for_long"), (Role::Waiter, "take_shortly")] {
        let worst = lock.samples(role).first().expect("a stack was taken");
        let first = &worst.frames().next().unwrap().function;
        assert!(first.ends_with(function), "{role:?}: {first}");
    }
    // Each victim holds the lock for nanoseconds.
    let blame = |function: &str| -> f64 {
        let is_it = |sample: &&ondeck_profile::Sample| {
            sample.frames().next().is_some_and(|frame| frame.function.ends_with(function))
        };
        lock.holders.iter().filter(is_it).map(|sample| sample.nanos).sum()
    };
    let (keeper, victims) = (blame("hold_for_long"), blame("take_shortly"));
    assert!(keeper > 9.0 * victims, "{keeper} against {victims}");
    assert!(lock.free > 0.0, "a thread has to be woken");
    let (_, told) =
        locks.iter().find(|(_, lock)| lock.name().ends_with("TOLD")).expect("contended");
    let stacks: Vec<_> = told.waiters.iter().filter_map(|sample| sample.frames().next()).collect();
    assert!(
        stacks.iter().any(|frame| frame.function.ends_with("wait_to_be_told")),
        "a waiter that was told has waited for its mutex: {stacks:?}"
    );
    assert!(
        locks.iter().all(|(_, lock)| !lock.name().ends_with("QUIET")),
        "no thread waited for it"
    );

    let text = table::render(&profile, 10, false);
    assert!(text.contains("CROWDED") && text.contains("hold_for_long"), "{text}");
    assert!(text.contains("acquisitions are not known"), "{text}");
    assert!(text.contains("waited while it was free"), "{text}");
    let (nanos, part) = told.unexplained();
    assert!(nanos > 0.0, "the notifier kept the mutex");
    assert_eq!(part > 0.1, text.contains("waited after a notification"), "{part} {text}");
    let page = page::render(&profile);
    assert!(page.contains("Threads waited while it was free for "));
    assert!(page.contains("hold_for_long") && !page.contains("<script"));
    let graph = page.split("<svg class=\"flame\"").nth(1).expect("a flame graph");
    assert!(graph.contains("hold_for_long ("), "a frame and its time: {graph}");
    let lines = lines::render(&profile);
    assert!(lines.lines().count() > 3 && lines.contains("\"free\":"), "{lines}");
    let packed = pprof::encode(&profile, Role::Holder).unwrap();
    let mut message = Vec::new();
    GzDecoder::new(&*packed).read_to_end(&mut message).unwrap();
    assert!(String::from_utf8_lossy(&message).contains("hold_for_long"));
    let fields = fields(&message);
    // Kinds of samples, samples, modules, places, functions, texts.
    assert!((1..=6).all(|field| fields.contains(&field)), "{fields:?}");
}

/// The fields of a message of `profile.proto`, which are numbers or have a length.
fn fields(mut message: &[u8]) -> Vec<u64> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let number = varint(&mut message);
        match tag & 7 {
            0 => {}
            2 => message = &message[number as usize..],
            other => panic!("a field of the type {other}"),
        }
        fields.push(tag >> 3);
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let length = 1 + bytes.iter().position(|byte| byte & 0x80 == 0).expect("its last byte");
    let (all, rest) = bytes.split_at(length);
    *bytes = rest;
    all.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
}
