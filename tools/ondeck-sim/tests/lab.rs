//! The laboratory's workloads on a simulated machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ondeck_lab::plan::{self, Extent, Request, Stage};
use ondeck_lab::results::Failure;
use ondeck_lab::run::{self, Observer};
use ondeck_lab::workload::{Subject, WORKLOADS};
use ondeck_sim::lab::{self, Setup};
use ondeck_sim::machine::MachineFile;
use ondeck_zoo::Origin;

struct Silent;

impl Observer for Silent {
    fn turn(&mut self, _: &Stage, _: &str, _: Duration) {}
    fn failed(&mut self, _: &Failure) {}
}

fn setup(machine: &str, seed: u64) -> Setup {
    let file = MachineFile::find(machine).expect("it is bundled");
    Setup { costs: file.costs().clone(), seed }
}

fn request(workload: &str, locks: Vec<Subject>, threads: usize) -> Request {
    Request {
        cpus: 16,
        simulated: true,
        locks: Some(locks),
        workloads: WORKLOADS.iter().filter(|info| info.name == workload).copied().collect(),
        threads: Some(vec![threads]),
        round: Some(Duration::from_micros(300)),
        rounds: Some(2),
        work: Some((100, 500)),
        stall_limit: Duration::from_millis(50),
        ..Request::of(Extent::Quick)
    }
}

fn own_locks() -> Vec<Subject> {
    lab::subjects().into_iter().filter(|subject| subject.info.origin == Origin::Own).collect()
}

/// With this project's locks, and with the lock that does nothing: a loop in which nothing took
/// time would never end.
#[test]
fn every_workload_that_may_ends_in_virtual_time() {
    let setup = setup("ryzen-7-1700", 1);
    for workload in WORKLOADS.iter().filter(|workload| workload.only_real.is_none()) {
        let name = workload.name;
        let request = request(name, own_locks(), 4);
        let stages = plan::stages(&request, &lab::subjects());
        let baselines = plan::baselines(&stages, request.extent);
        let [locks, nothing] = [stages, baselines]
            .map(|stages| lab::with(&setup, || run::run(&request, &stages, &mut Silent)));
        assert!(locks.failures.is_empty(), "{name}: {:?}", locks.failures);
        assert!(nothing.failures.is_empty(), "{name}: {:?}", nothing.failures);
        assert!(!locks.series.is_empty(), "{name}");
    }
}

#[test]
fn every_lock_excludes_and_ends_its_round() {
    let setup = setup("ryzen-7-1700", 1);
    let request = request("chan", lab::subjects(), 6);
    let stages = plan::stages(&request, &lab::subjects());
    let results = lab::with(&setup, || run::run(&request, &stages, &mut Silent));
    assert!(results.failures.is_empty(), "{:?}", results.failures);
    assert!(results.series.len() > 10, "{}", results.series.len());
}

/// The system's allocator. Memory for which any multiple of 16 is right begins at [`BEHIND`] bytes
/// behind a cache line.
struct Behind;

static BEHIND: AtomicUsize = AtomicUsize::new(0);

impl Behind {
    const LINE: usize = 64;

    /// The layout of the memory and of the bytes before it.
    fn whole(layout: Layout) -> Layout {
        // SAFETY: the size is far from the largest, and the alignment is a power of two.
        unsafe { Layout::from_size_align_unchecked(layout.size() + Self::LINE, Self::LINE) }
    }

    fn is_anywhere(layout: Layout) -> bool {
        layout.align() <= 16
    }
}

// SAFETY: all calls go to the system's allocator. What is added to the start is a multiple of 16
// below `LINE`, by which the memory is larger, and the line's address gives the start again.
unsafe impl GlobalAlloc for Behind {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises; the sum is within the memory.
        unsafe {
            if !Self::is_anywhere(layout) {
                return System.alloc(layout);
            }
            let start = System.alloc(Self::whole(layout));
            if start.is_null() { start } else { start.add(BEHIND.load(Ordering::Relaxed)) }
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe {
            if !Self::is_anywhere(layout) {
                return System.dealloc(memory, layout);
            }
            System.dealloc(memory.map_addr(|place| place & !(Self::LINE - 1)), Self::whole(layout));
        }
    }
}

#[global_allocator]
static ALLOCATOR: Behind = Behind;

/// Where the allocator has room must not matter: it decides what shares a cache line.
#[test]
fn where_memory_begins_changes_no_number() {
    let setup = setup("ryzen-7-1700", 1);
    for workload in WORKLOADS.iter().filter(|workload| workload.only_real.is_none()) {
        let request = request(workload.name, own_locks(), 4);
        let stages = plan::stages(&request, &lab::subjects());
        let [first, other] = [0, 48].map(|bytes| {
            BEHIND.store(bytes, Ordering::Relaxed);
            let results = lab::with(&setup, || run::run(&request, &stages, &mut Silent));
            format!("{:?}", results.series)
        });
        assert!(other == first, "{}", workload.name);
    }
}
