//! Other work on the machine while locks are measured: threads that are always busy and use no
//! lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Other work on the machine, for as long as it lives.
#[derive(Debug)]
pub struct OtherWork {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl OtherWork {
    /// Starts `count` busy threads.
    ///
    /// # Errors
    ///
    /// An error if the system refuses to create a thread.
    pub fn begin(count: usize) -> std::io::Result<Self> {
        let mut work = Self { stop: Arc::default(), threads: Vec::new() };
        for _ in 0..count {
            let stop = Arc::clone(&work.stop);
            let busy = move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            work.threads.push(std::thread::Builder::new().spawn(busy)?);
        }
        Ok(work)
    }
}

impl Drop for OtherWork {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The thread runs nothing that could panic.
            _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_work_ends_with_its_guard() {
        let work = OtherWork::begin(2).expect("two threads");
        let stop = Arc::clone(&work.stop);
        assert_eq!(work.threads.len(), 2);
        drop(work);
        assert!(stop.load(Ordering::Relaxed));
        assert_eq!(Arc::strong_count(&stop), 1, "the threads are gone");
    }
}
