//! The parking table of a machine, and the rows of its visible readers.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;

use ondeck::parking::{BIASES, BUCKETS, Bias, Bucket, Row, bias_of, bucket_of};
use ondeck::platform::AtomicInt;

use super::Sim;
use super::atomics::SimInt;
use super::world::any_world;

/// Threads that can be visible readers.
const ROWS: usize = 512;

/// All state that locks of ondeck keep outside of themselves.
#[repr(C, align(4096))]
pub(crate) struct Table {
    unlock_modes: [SimInt<usize>; BUCKETS],
    buckets: [Bucket<Sim>; BUCKETS],
    rows: [Row<Sim>; ROWS],
    biases: [Bias<Sim>; BIASES],
}

impl Table {
    /// A table in which no thread has waited yet.
    pub(super) fn new() -> Box<Self> {
        let mut table = Box::<Self>::new_uninit();
        let place = table.as_mut_ptr();
        // SAFETY: each field of the allocation is written exactly once, and none is read before.
        unsafe {
            for index in 0..BUCKETS {
                (&raw mut (*place).unlock_modes[index]).write(AtomicInt::new(0));
                (&raw mut (*place).buckets[index]).write(Bucket::new());
            }
            for index in 0..ROWS {
                (&raw mut (*place).rows[index]).write(Row::new());
            }
            for index in 0..BIASES {
                (&raw mut (*place).biases[index]).write(Bias::new());
            }
            table.assume_init()
        }
    }
}

thread_local! {
    /// The table of the current machine of this OS thread.
    static TABLE: Cell<*const Table> = const { Cell::new(ptr::null()) };
}

/// Selects a table for the locks of this OS thread until this is dropped.
pub(super) struct Used<'a>(*const Table, PhantomData<&'a Table>);

impl<'a> Used<'a> {
    pub(super) fn new(table: &'a Table) -> Self {
        Self(TABLE.replace(table), PhantomData)
    }
}

impl Drop for Used<'_> {
    fn drop(&mut self) {
        TABLE.set(self.0);
    }
}

/// The table of the machine whose lock the caller uses.
///
/// # Panics
///
/// If no machine runs.
fn table() -> &'static Table {
    // SAFETY: the table lives for as long as its machine runs, and locks keep references no longer
    // than that: only its threads use them.
    let table = unsafe { TABLE.get().as_ref() };
    table.expect("a lock of ondeck was used where no simulated machine runs")
}

fn name(address: usize) -> usize {
    any_world().expect("a simulated machine runs").memory.name(address)
}

pub(super) fn unlock_mode(address: usize) -> &'static SimInt<usize> {
    &table().unlock_modes[bucket_of(name(address))]
}

pub(super) fn bucket(address: usize) -> &'static Bucket<Sim> {
    &table().buckets[bucket_of(name(address))]
}

pub(super) fn bias(address: usize) -> &'static Bias<Sim> {
    &table().biases[bias_of(name(address))]
}

/// The row of the thread with that number.
pub(super) fn row(thread: usize) -> Option<&'static Row<Sim>> {
    table().rows.get(thread)
}

/// The rows of this number of threads.
pub(super) fn rows(threads: usize) -> &'static [Row<Sim>] {
    &table().rows[..threads.min(ROWS)]
}
