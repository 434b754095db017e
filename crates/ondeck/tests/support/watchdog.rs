//! Turns a hang into a failure: these tests are about wakes that must not be lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Ends the process if it is not dropped in time.
pub struct Watchdog {
    done: Arc<AtomicBool>,
}

impl Watchdog {
    /// `patience` is no bound on speed: long enough that only a lost wake exceeds it.
    pub fn start(what: &str, patience: Duration) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let (watched, what, start) = (Arc::clone(&done), what.to_owned(), Instant::now());
        thread::spawn(move || {
            while !watched.load(Ordering::Relaxed) {
                if start.elapsed() > patience {
                    eprintln!("hung: {what} did not end in {patience:?}");
                    std::process::abort();
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        Self { done }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
    }
}
