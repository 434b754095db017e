//! `real`: four small programs over the lock under test, because loops around nothing mislead.
//!
//! Each does what it would do in a program: the section touches memory that other threads have
//! written, and is as long as the data makes it. Every thread draws its inputs from a generator of
//! its own with a fixed seed, so that every lock has the same. What the program computed is checked
//! afterwards. The data is indices into arrays and never pointers: a lock that lets two threads in
//! spoils numbers, which the check finds, and not memory.

mod allocator;
mod hash_map;
mod lru;
mod work_queue;

use ondeck::platform::Linux;
use ondeck_zoo::RawLock;

use super::{EmptyLock, Situation, Workload, WorkloadInfo};
use crate::sample::Sample;
use crate::team::TeamError;

pub(super) struct Real;

impl Workload for Real {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "real",
        about: "A cache, a hash map, a work queue, an allocator",
        source: "the programs that locks are in; the allocator's list as in tcmalloc's design",
        counted: false,
        empty: EmptyLock::OneThread,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        match situation.variant {
            "hash_map" => hash_map::round::<L>(situation),
            "work_queue" => work_queue::round::<L>(situation),
            "allocator" => allocator::round::<L>(situation),
            _ => lru::round::<L>(situation),
        }
    }
}

/// The programs, as reports name them.
pub(crate) const APPS: [&str; 4] = ["lru", "hash_map", "work_queue", "allocator"];

/// A number that looks like nothing in particular, of another: what programs compute here.
#[inline]
fn mixed(number: u64) -> u64 {
    // The finalizer of MurmurHash3.
    let number = (number ^ (number >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let number = (number ^ (number >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    number ^ (number >> 33)
}
