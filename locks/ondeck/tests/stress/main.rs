//! Real threads use the locks in every way: no section overlaps another, no wake is lost, and
//! nothing is left behind.
//!
//! A run takes some eight seconds, or `ONDECK_STRESS_SECONDS`. Every run draws other seeds, unless
//! `ONDECK_STRESS_SEED` gives one.

#[macro_use]
#[path = "../support/delegated.rs"]
mod delegated;
#[path = "../support/few_buckets.rs"]
mod few_buckets;
#[path = "../support/watchdog.rs"]
mod watchdog;

mod crowd;
mod rounds;
mod tokens;

use std::io;
use std::time::{Duration, Instant};

use crowd::Crowd;
use fastrand::Rng;
use few_buckets::{Few, One, Two, Unmasked};
use ondeck::platform::{Host, Linux};
use watchdog::Watchdog;

/// Returns a number from the environment.
fn number<T: std::str::FromStr>(variable: &str) -> Option<T> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text}: not a number")))
}

/// Gives the calling thread, and those that it starts, one of four priorities of SCHED_FIFO on one
/// CPU: there a thread that polls for ever lets no other run. The watchdog needs another CPU.
fn fifo(number: usize) -> io::Result<()> {
    let cpus = Linux::affinity();
    if cpus.len() == 1 {
        return Err(io::Error::other("there is one CPU only"));
    }
    Linux::set_affinity(&cpus[cpus.len() - 1..]).map_err(|_| io::Error::last_os_error())?;
    let parameters = libc::sched_param { sched_priority: [1, 2, 3, 4][number % 4] };
    // SAFETY: thread 0 is the caller, and the parameters are live.
    let set = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Runs a crowd, rounds and tokens on a machine. Each of the first threads of a crowd and of rounds
/// calls `begin` with its number.
fn bout<P: Host>(length: Duration, rng: &mut Rng, begin: impl Fn(usize) + Sync) {
    let (threads, locks, life) = (1 << rng.u32(1..6), rng.usize(1..4), 1 << rng.u32(0..12));
    let crowd = Crowd { threads, locks, life, duration: length, seed: rng.u64(..) };
    let sections = crowd::run::<P>(&crowd, &begin);
    let rounds = rounds::run::<P>(length, rng.u64(..), &begin);
    let tokens = tokens::run::<P>(length, rng.u64(..));
    println!("{sections} sections, {rounds} rounds, {tokens} tokens");
}

/// All locks in one bucket, where no later unlock and no slice replaces a lost wake.
#[test]
fn no_wake_is_lost_where_no_slice_ends() {
    let _watchdog = Watchdog::start("a round", Duration::from_mins(1));
    let length = Duration::from_millis(600);
    for seed in 0..3 {
        rounds::run::<Few<Unmasked>>(length, seed, |_| ());
    }
}

#[test]
fn the_locks_keep_their_promises_on_every_machine() {
    let seconds = number("ONDECK_STRESS_SECONDS").unwrap_or(8.0_f64);
    let seed = number("ONDECK_STRESS_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("ONDECK_STRESS_SEED={seed}");
    let mut rng = Rng::with_seed(seed);
    let start = Instant::now();
    // Five bouts of three parts.
    let length = Duration::from_secs_f64((seconds / 15.0).min(2.0));
    let watchdog = Watchdog::start("a bout", Duration::from_mins(1));
    while start.elapsed().as_secs_f64() + length.as_secs_f64() * 14.0 <= seconds {
        bout::<Linux>(length, &mut rng, |_| ());
        bout::<Linux>(length, &mut rng, |number| {
            if let (0, Err(refused)) = (number, fifo(number)) {
                println!("SCHED_FIFO: {refused}");
            }
        });
        bout::<Few<One>>(length, &mut rng, |_| ());
        bout::<Few<Two>>(length, &mut rng, |_| ());
        bout::<Few<Unmasked>>(length, &mut rng, |_| ());
        watchdog.progress();
    }
}
