//! Prints how often a second threads get through a workload, in thousands: `contended.c` in Rust, to
//! compare with. `contended.sh` runs both.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::{Condvar, Mutex};

#[derive(Default)]
struct Shared {
    value: usize,
    over: bool,
}

#[repr(align(128))]
struct Apart<T>(T);

static LOCK: Apart<Mutex<Shared>> = Apart(Mutex::new(Shared { value: 0, over: false }));
static ONE: Apart<Condvar> = Apart(Condvar::new());
static OTHER: Apart<Condvar> = Apart(Condvar::new());
static OVER: AtomicBool = AtomicBool::new(false);

fn hammer() -> u64 {
    let mut count = 0;
    while !OVER.load(Ordering::Relaxed) {
        LOCK.0.lock().value += 1;
        count += 1;
    }
    count
}

fn tell(jobs: usize) {
    for _ in 0..jobs {
        ONE.0.notify_one();
    }
}

fn serve(threads: usize, after: bool) -> u64 {
    let mut random = 18_u64;
    while !OVER.load(Ordering::Relaxed) {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let jobs = (random >> 33) as usize % threads;
        let mut shared = LOCK.0.lock();
        shared.value = jobs;
        if !after {
            tell(jobs);
        }
        drop(shared);
        if after {
            tell(jobs);
        }
    }
    0
}

fn work() -> u64 {
    let mut count = 0;
    loop {
        let mut shared = LOCK.0.lock();
        ONE.0.wait_while(&mut shared, |shared| shared.value == 0 && !shared.over);
        if shared.over {
            return count;
        }
        shared.value -= 1;
        drop(shared);
        count += 1;
    }
}

fn produce_or_consume(produces: bool, capacity: usize, after: bool) -> u64 {
    let mut count = 0;
    loop {
        let mut shared = LOCK.0.lock();
        if produces {
            ONE.0.wait_while(&mut shared, |shared| shared.value == capacity && !shared.over);
        } else {
            OTHER.0.wait_while(&mut shared, |shared| shared.value == 0 && !shared.over);
        }
        if shared.over {
            return count;
        }
        let next = if produces {
            shared.value += 1;
            &OTHER.0
        } else {
            shared.value -= 1;
            count += 1;
            &ONE.0
        };
        if !after {
            next.notify_one();
        }
        drop(shared);
        if after {
            next.notify_one();
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().collect();
    let number = |index: usize| arguments.get(index).and_then(|text| text.parse().ok());
    let (Some(workload), Some(threads @ 1..)) = (arguments.get(1), number(2)) else {
        eprintln!("usage: contended WORKLOAD THREADS [CAPACITY]");
        return ExitCode::from(2);
    };
    let capacity = number(3).unwrap_or(0);
    let after = workload.contains("after");
    let begin = Instant::now();
    let threads: Vec<_> = (0..threads)
        .map(|index| {
            let workload = workload.clone();
            thread::spawn(move || match (&workload[..3], index) {
                ("buf", _) => produce_or_consume(index % 2 == 0, capacity, after),
                ("job", 0) => serve(threads, after),
                ("job", _) => work(),
                _ => hammer(),
            })
        })
        .collect();
    thread::sleep(Duration::from_millis(100));
    OVER.store(true, Ordering::Relaxed);
    LOCK.0.lock().over = true;
    ONE.0.notify_all();
    OTHER.0.notify_all();
    let sum: u64 = threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum();
    println!("{:.1}", sum as f64 / begin.elapsed().as_secs_f64() / 1e3);
    ExitCode::SUCCESS
}
