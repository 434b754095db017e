//! Turns a hang into a failure: these tests are about wakes that must not be lost.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Ends the process if it is not dropped in time, counted from its start or from the last progress.
pub struct Watchdog {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    done: AtomicBool,
    progress: AtomicU64,
}

impl Watchdog {
    /// `limit` is no bound on speed: it is so long that only a lost wake exceeds it.
    pub fn start(what: &str, limit: Duration) -> Self {
        let shared = Arc::new(Shared::default());
        let (watched, what) = (Arc::clone(&shared), what.to_owned());
        thread::spawn(move || {
            let (mut start, mut before) = (Instant::now(), 0);
            while !watched.done.load(Ordering::Relaxed) {
                let progress = watched.progress.load(Ordering::Relaxed);
                if progress != before {
                    (start, before) = (Instant::now(), progress);
                }
                if start.elapsed() > limit {
                    // Not by `eprintln!`: the harness would keep that to itself, and end.
                    let _ = writeln!(io::stderr(), "hung: {what} did not end in {limit:?}");
                    std::process::abort();
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        Self { shared }
    }

    /// Notes a step of progress.
    #[allow(dead_code, reason = "most tests are over in a moment")]
    pub fn progress(&self) {
        self.shared.progress.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.done.store(true, Ordering::Relaxed);
    }
}
