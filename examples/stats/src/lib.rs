//! A program whose threads wait for a lock.

use std::thread;
use std::time::Duration;

use ondeck::Mutex;
use ondeck::mutex::RawMutex;

/// Known by its name in each report.
pub static ACCOUNTS: Mutex<u64> = Mutex::from_raw(RawMutex::named(c"accounts"), 0);

/// Has two threads hold the lock for a millisecond each time, and once for long.
pub fn work() {
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for turn in 0..20 {
                    let mut accounts = ACCOUNTS.lock();
                    *accounts += 1;
                    // Once it writes to a disk, as it should not.
                    thread::sleep(Duration::from_millis(if turn == 10 { 60 } else { 1 }));
                }
            });
        }
    });
}
