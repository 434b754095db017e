//! `RwLock`: settings that many threads read, and one sometimes replaces. An upgradable read writes only if it has to.

use std::thread;

use ondeck::{RwLock, RwLockUpgradableReadGuard};

static LIMIT: RwLock<u32> = RwLock::new(10);

/// Raises the limit. Other readers continue until it has to be written.
fn raise(least: u32) {
    let limit = LIMIT.upgradable_read();
    if *limit < least {
        *RwLockUpgradableReadGuard::upgrade(limit) = least;
    }
}

fn main() {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| println!("a reader sees {}", LIMIT.read()));
        }
        scope.spawn(|| raise(20));
    });
    println!("at the end {}", LIMIT.read());
}
