//! All operations of a Rust program with the feature `profile` of `ondeck`, on locks of `ondeck`
//! and on those that replace parking_lot's: this test starts itself again as that program.

use std::env;
use std::process::Command;
use std::time::Duration;

use ondeck::poison::Mutex as PoisonMutex;
use ondeck::rwlock::ReadRecursive;
use ondeck::{Condvar, Mutex, RwLock};
use ondeck_profile::tracks::{Operation, read};
use ondeck_record::layout::Action;

static OUTER: Mutex<u64> = Mutex::new(0);
static NEVER: Condvar = Condvar::new();
static TABLE: RwLock<u64> = RwLock::new(0);
static INNER: PoisonMutex<u64> = PoisonMutex::new(0);
static REPLACED: parking_lot::Mutex<u64> = parking_lot::Mutex::new(0);
static REPLACED_NEVER: parking_lot::Condvar = parking_lot::Condvar::new();
static REPLACED_TABLE: parking_lot::RwLock<u64> = parking_lot::RwLock::new(0);

/// The variable that makes this process the program.
const PROGRAM: &str = "ONDECK_TEST_PROGRAM";
const ROUNDS: u64 = 400;

#[inline(never)]
fn lock_both() {
    let mut outer = OUTER.lock();
    *INNER.lock().unwrap() += 1;
    NEVER.wait_for(&mut outer, Duration::from_micros(1));
    *outer += 1;
    drop(outer);
    std::hint::black_box(());
}

#[inline(never)]
fn use_table() {
    let mut table = TABLE.write();
    *table += 1;
    let table = ondeck::RwLockWriteGuard::downgrade(table);
    std::hint::black_box(*table);
    drop(table);
    assert!(INNER.try_lock().is_ok());
    std::hint::black_box(*TABLE.read());
}

#[inline(never)]
fn hold_upgradable() {
    std::hint::black_box(*TABLE.upgradable_read());
}

/// Its calls are as deep in the stack as those of `hold_upgradable`.
#[inline(never)]
fn hold_upgradable_too() {
    std::hint::black_box(*TABLE.upgradable_read());
}

#[inline(never)]
fn read_again() {
    std::hint::black_box(*TABLE.read_recursive());
}

/// Its calls are as deep in the stack as those of `read_again`.
#[inline(never)]
fn read_again_too() {
    std::hint::black_box(*TABLE.read_recursive());
}

#[inline(never)]
fn lock_replaced() {
    let mut guard = REPLACED.lock();
    REPLACED_NEVER.wait_for(&mut guard, Duration::from_micros(1));
    drop(guard);
    std::hint::black_box(());
}

#[inline(never)]
fn lock_once() {
    *REPLACED.lock() += 1;
    std::hint::black_box(());
}

/// Its calls are as deep in the stack as those of `lock_once`.
#[inline(never)]
fn lock_once_too() {
    *REPLACED.lock() += 1;
    std::hint::black_box(());
}

#[inline(never)]
fn use_replaced_table() {
    drop(parking_lot::RwLockWriteGuard::downgrade(REPLACED_TABLE.write()));
    std::hint::black_box(*REPLACED_TABLE.read_recursive());
}

#[inline(never)]
fn upgrade_replaced() {
    let table = REPLACED_TABLE.upgradable_read();
    *parking_lot::RwLockUpgradableReadGuard::upgrade(table) += 1;
}

/// What a round does: the action, the lock, and the function that acquires it where it is known.
const ROUND: [(Action, &str, Option<&str>); 36] = [
    (Action::Lock, "OUTER", Some("lock_both")),
    (Action::Lock, "INNER", Some("lock_both")),
    (Action::Unlock, "INNER", None),
    (Action::Wait, "OUTER", None),
    (Action::Unlock, "OUTER", None),
    (Action::Write, "TABLE", Some("use_table")),
    (Action::Unlock, "TABLE", None),
    (Action::Read, "TABLE", None),
    (Action::Unlock, "TABLE", None),
    (Action::Lock, "INNER", None),
    (Action::Unlock, "INNER", None),
    (Action::Read, "TABLE", Some("use_table")),
    (Action::Unlock, "TABLE", None),
    (Action::Write, "TABLE", Some("hold_upgradable")),
    (Action::Unlock, "TABLE", None),
    (Action::Write, "TABLE", Some("hold_upgradable_too")),
    (Action::Unlock, "TABLE", None),
    (Action::Read, "TABLE", Some("read_again")),
    (Action::Unlock, "TABLE", None),
    (Action::Read, "TABLE", Some("read_again_too")),
    (Action::Unlock, "TABLE", None),
    (Action::Lock, "REPLACED", Some("lock_replaced")),
    (Action::Wait, "REPLACED", None),
    (Action::Unlock, "REPLACED", None),
    (Action::Lock, "REPLACED", Some("lock_once")),
    (Action::Unlock, "REPLACED", None),
    (Action::Lock, "REPLACED", Some("lock_once_too")),
    (Action::Unlock, "REPLACED", None),
    (Action::Write, "REPLACED_TABLE", Some("use_replaced_table")),
    (Action::Unlock, "REPLACED_TABLE", None),
    (Action::Read, "REPLACED_TABLE", None),
    (Action::Unlock, "REPLACED_TABLE", None),
    (Action::Read, "REPLACED_TABLE", Some("use_replaced_table")),
    (Action::Unlock, "REPLACED_TABLE", None),
    (Action::Write, "REPLACED_TABLE", Some("upgrade_replaced")),
    (Action::Unlock, "REPLACED_TABLE", None),
];

#[test]
fn every_operation_of_rust_locks_is_recorded_in_order() {
    if env::var_os(PROGRAM).is_some() {
        for _ in 0..ROUNDS {
            lock_both();
            use_table();
            hold_upgradable();
            hold_upgradable_too();
            read_again();
            read_again_too();
            lock_replaced();
            lock_once();
            lock_once_too();
            use_replaced_table();
            upgrade_replaced();
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", "rust_operations::every_operation_of_rust_locks_is_recorded_in_order"])
        .env(PROGRAM, "1")
        .env("ONDECK_PROFILE", folder.path())
        .env("ONDECK_RECORD", "1")
        .output()
        .unwrap()
        .status;
    assert!(status.success(), "{status}");

    let processes = read(folder.path()).unwrap();
    let [process] = processes.as_slice() else { panic!("{} processes", processes.len()) };
    let [thread] = process.threads.as_slice() else { panic!("{} threads", process.threads.len()) };
    let acquires = |action| matches!(action, Action::Lock | Action::Read | Action::Write);
    let each = ROUND.iter().filter(|(action, ..)| acquires(*action)).count() as u64;
    assert_eq!(thread.acquisitions, ROUNDS * each);
    let mut sites = [None; ROUND.len()];
    for (number, burst) in thread.bursts.iter().enumerate() {
        let done = |it: &&Operation| it.action != Action::Blocked;
        let operations: Vec<&Operation> = burst.operations.iter().filter(done).collect();
        // The program may end during the last burst.
        let may_be_short = number > 0 && number + 1 == thread.bursts.len();
        assert!(may_be_short || operations.len() > 2 * ROUND.len(), "{}", operations.len());
        // The recorder counts an acquisition, and then begins the burst.
        let passed = (burst.first % each) as usize;
        let mut places = (0..ROUND.len()).filter(|&place| acquires(ROUND[place].0));
        let start = match passed {
            0 if burst.first == 0 => 0,
            0 => places.next_back().expect("it acquires") + 1,
            _ => places.nth(passed - 1).expect("it acquires") + 1,
        };
        for (index, operation) in operations.iter().enumerate() {
            let place = (start + index) % ROUND.len();
            let (action, lock, function) = ROUND[place];
            let name = process.objects[&operation.object].symbol().unwrap_or_default();
            assert_eq!(operation.action, action, "operation {index} from {start} on, {name}");
            // A lock is a field of its variable.
            let variable = name.split('+').next().unwrap_or_default();
            assert!(variable.ends_with(lock), "operation {index} from {start} on: {name}");
            if let (Some(function), Some(site)) = (function, operation.site) {
                let found = &process.sites[site].function;
                assert!(found.ends_with(function), "operation {index} from {start} on: {found}");
                sites[place] = Some(site);
            }
        }
    }
    let known = ROUND.iter().zip(sites).filter(|((.., function), _)| function.is_some());
    assert!(known.clone().all(|(_, site)| site.is_some()), "{sites:?}");
    // Both locks of one function.
    assert_ne!(sites[0], sites[1]);
}
