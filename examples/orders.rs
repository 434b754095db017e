//! Three threads book orders in a map; a fourth one reports all of them, with the map locked.
//!
//! `rustc -g -O examples/orders.rs`, then `ondeck run --profile report.html -- ./orders`.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

static ORDERS: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

#[inline(never)]
fn book(order: u64) {
    *ORDERS.lock().unwrap().entry(order % 10_000).or_default() += 1;
}

#[inline(never)]
fn report() -> String {
    let orders = ORDERS.lock().unwrap();
    orders.iter().map(|(order, count)| format!("{order}: {count}\n")).collect()
}

/// What a clerk does without the map: some microseconds.
fn receive(seed: u64) -> u64 {
    (0..2_000).fold(seed, |order, _| order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1))
}

fn main() {
    let end = Instant::now() + Duration::from_secs(2);
    thread::scope(|scope| {
        for clerk in 0..3 {
            scope.spawn(move || {
                let mut order = clerk;
                while Instant::now() < end {
                    order = receive(order);
                    book(order >> 32);
                }
            });
        }
        while Instant::now() < end {
            report();
            thread::sleep(Duration::from_millis(5));
        }
    });
    print!("{}", report().lines().next().unwrap_or_default());
}
