//! The reports in this process.

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use lock_api::{RawMutex, RawRwLock};
use ondeck::Mutex;
use ondeck::deadlock::{self, Mode, Report, ReportKind};

use crate::again::{is_child, passes};

/// The reports of this process.
pub struct Told(Receiver<Report>);

impl Told {
    /// Returns the only report so far, or waits for it.
    pub fn one(&self, kind: ReportKind) -> Report {
        // Long enough that only a lost report exceeds it.
        let report = self.0.recv_timeout(Duration::from_mins(1)).expect("a report");
        assert_eq!(report.kind, kind, "{report}");
        self.none();
        report
    }

    /// Checks that nothing was reported since.
    pub fn none(&self) {
        if let Ok(report) = self.0.try_recv() {
            panic!("nothing is wrong: {report}");
        }
    }

    /// Checks that nothing is reported in a time that is long enough for an actual deadlock.
    pub fn none_for_a_while(&self) {
        thread::sleep(Duration::from_millis(100));
        assert!(deadlock::check().is_empty());
        self.none();
    }
}

/// The reports of the calling test, which has a process of its own, with detection. `None` in the
/// process that has started that one and seen it pass.
pub fn detected() -> Option<&'static Told> {
    if !is_child() {
        passes(|_| ());
        return None;
    }
    let (sender, receiver) = mpsc::channel();
    deadlock::on_report(move |report| sender.send(report.clone()).expect("the test waits"));
    deadlock::enable(Mode::Report);
    Some(leaked(Told(receiver)))
}

/// Returns the address of a mutex, for reports.
pub fn place<R: RawMutex, T>(mutex: &lock_api::Mutex<R, T>) -> usize {
    // SAFETY: used for its address only.
    std::ptr::from_ref(unsafe { mutex.raw() }).addr()
}

/// Returns the address of a reader-writer lock, for reports.
pub fn rw_place<R: RawRwLock, T>(lock: &lock_api::RwLock<R, T>) -> usize {
    // SAFETY: used for its address only.
    std::ptr::from_ref(unsafe { lock.raw() }).addr()
}

/// Returns for each edge the held lock and the wanted lock.
pub fn edges(report: &Report) -> Vec<(Option<usize>, usize)> {
    let of = |edge: &deadlock::Edge| (edge.holds.map(|it| it.lock.address), edge.wants.address);
    report.edges.iter().map(of).collect()
}

pub fn mutexes<const COUNT: usize>() -> [Mutex<()>; COUNT] {
    [(); COUNT].map(|()| Mutex::new(()))
}

/// Acquires the locks one after the other, holding all of them.
pub fn take(locks: &[&Mutex<()>]) {
    let _guards: Vec<_> = locks.iter().map(|lock| lock.lock()).collect();
}

/// Leaks a value, such as a lock.
pub fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}
