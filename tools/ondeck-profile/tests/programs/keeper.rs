//! A mutex of the standard library: one thread holds it for long, two others wait for it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{scope, sleep};
use std::time::Duration;

static HOT: Mutex<u64> = Mutex::new(0);
static OVER: AtomicBool = AtomicBool::new(false);
const ROUNDS: u32 = 200;

#[inline(never)]
fn keeper() {
    let mut value = HOT.lock().unwrap();
    sleep(Duration::from_millis(3));
    *value += 1;
}

#[inline(never)]
fn victim() {
    *HOT.lock().unwrap() += 1;
    std::hint::black_box(());
}

fn main() {
    scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !OVER.load(Relaxed) {
                    victim();
                    sleep(Duration::from_micros(200));
                }
            });
        }
        for _ in 0..ROUNDS {
            keeper();
            sleep(Duration::from_millis(1));
        }
        OVER.store(true, Relaxed);
    });
}
