//! `real`: small programs that use the lock under test, because loops without work mislead.
//!
//! Each does its usual work: the section touches memory that other threads have written, and its
//! length depends on the data. Every thread draws its inputs from its own generator with a fixed
//! seed, so that every lock receives the same. The results of the program are checked afterwards.
//! The data is indices into arrays and never pointers: a lock that lets two threads in corrupts
//! numbers, which the check finds, and not memory.

mod allocator;
mod hash_map;
mod lru;
mod work_queue;

use std::collections::BTreeMap;

use super::face::Across;
use super::prelude::*;

pub(super) struct Real;

/// Why it is measured on the real machine only.
const WHY: &str = "its programs compute, and their time is that of the real CPU";

impl Called for Real {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "real",
        title: "Programs",
        about: "A cache, a hash map, a work queue, an allocator",
        shares_data: true,
        quantities: &[OPERATION_GAP],
        table: Table::Situations(&[
            Across {
                heading: "million operations/s by program; {} threads",
                quantity: (THROUGHPUT, 1e-6),
                label,
            },
            Across { heading: "share (least/most) by program", quantity: (SHARE, 1.0), label },
            Across {
                heading: "ms of the longest gap by program",
                quantity: (OPERATION_GAP, 1.0),
                label,
            },
        ]),
        only_real: Some(WHY),
        ..WorkloadInfo::USUAL
    };

    type Own = App;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<App>>) {
        let rounds = Rounds::of(asked, Shares::FromSuite, [(20, 1), (60, 2), (1_000, 11)]);
        let few = 2 * asked.cpus;
        let counts = counts(asked, &[few], &[few], &[1, 2, 4, 8, 16, 32]);
        let of = |(app, word): (App, &str), threads| {
            Situation::plain(threads).with(app, [(param::APP, word.to_owned())])
        };
        (rounds, product(&APPS, &counts, of))
    }

    fn round<M: Machine>(given: &Round, own: &App, lock: AnyMutex<M>) -> Sampled {
        let lock = on_native(lock, WHY)?;
        match own {
            App::Lru => lru::round(given, lock),
            App::HashMap => hash_map::round::<16>(given, lock),
            App::HashMapOfOne => hash_map::round::<1>(given, lock),
            App::WorkQueue => work_queue::round(given, lock),
            App::Allocator => allocator::round(given, lock),
        }
    }
}

/// The programs.
#[derive(Clone, Copy)]
pub(super) enum App {
    Lru,
    HashMap,
    /// The same with one lock for the whole map.
    HashMapOfOne,
    WorkQueue,
    Allocator,
}

/// The programs, and their names in reports.
const APPS: [(App, &str); 5] = [
    (App::Lru, "lru"),
    (App::HashMap, "hash_map"),
    (App::HashMapOfOne, "hash_map_1"),
    (App::WorkQueue, "work_queue"),
    (App::Allocator, "allocator"),
];

/// The heading of a program's column.
fn label(params: &BTreeMap<String, String>) -> String {
    params.get(param::APP).cloned().unwrap_or_default()
}

/// A hash of a number: the work of these programs.
#[inline]
fn mixed(number: u64) -> u64 {
    // The finalizer of MurmurHash3.
    let number = (number ^ (number >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let number = (number ^ (number >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    number ^ (number >> 33)
}
