//! One row of the matrix, in a separate process: first its settings, then crowds, rounds, conditions, rounds of the
//! other locks and the table for other locks in turn, while the row's disturbances continue. At the end it prints its
//! counts.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use ondeck::platform::{Estimates, Fences, Host, Linux, Platform};

use super::crowd::{self, Crowd};
use super::few_buckets::{Few, INTERRUPTED, One, Two, Unmasked};
use super::settings::{Cpus, Membarrier, Settings, Table};
use super::watchdog::Watchdog;
use super::{children, disturb, rounds, table, tokens};

/// The sums over a row.
#[derive(Debug, Default)]
struct Sums {
    bouts: u64,
    sections: u64,
    signals: u64,
    rounds: u64,
    tokens: u64,
    woken: u64,
    moved: u64,
    forks: u64,
}

/// Runs a row. Panics if a promise was broken, and ends the process if the row hangs.
pub fn run(settings: &Settings) {
    let limit = Duration::from_secs_f64(60.0 + 10.0 * settings.seconds);
    let _watchdog = Watchdog::start(&format!("{settings:?}"), limit);
    expect_settings(settings);
    match settings.table {
        Table::Linux => run_on::<Linux>(settings),
        Table::One => run_on::<Few<One>>(settings),
        Table::Two => run_on::<Few<Two>>(settings),
        Table::Unmasked => run_on::<Few<Unmasked>>(settings),
    }
}

/// Checks that the settings with which the process was started are in force.
fn expect_settings(settings: &Settings) {
    if settings.membarrier != Membarrier::Allowed {
        assert!(!Linux::fences_are_asymmetric(), "membarrier is refused");
    }
    if settings.unwiped {
        // SAFETY: the length is 0, so no memory is affected.
        let advised = unsafe { libc::madvise(ptr::null_mut(), 0, libc::MADV_WIPEONFORK) };
        assert_ne!(advised, 0, "the advice to wipe is refused");
    }
    let cpus = Linux::cpus();
    match settings.cpus {
        Cpus::Pinned => assert_eq!(cpus, 1, "the process was bound to one CPU"),
        Cpus::PinnedLate => disturb::pin(),
        Cpus::Free | Cpus::Fifo => {}
    }
    let polls = Linux::polling().budget != 0;
    assert_eq!(polls, !settings.unpolled, "the polling that was set");
}

fn run_on<P: Host>(settings: &Settings) {
    let mut rng = Rng::with_seed(settings.seed);
    if settings.cpus == Cpus::Fifo
        && let Err(reason) =
            thread::scope(|scope| scope.spawn(|| disturb::fifo(1)).join().expect("asks"))
    {
        println!("\nrefused: {reason}");
    }
    let over = AtomicBool::new(false);
    let forks = AtomicU64::new(0);
    let mut sums = Sums::default();
    thread::scope(|scope| {
        if settings.signals {
            disturb::handle_signals();
            let seed = rng.u64(..);
            scope.spawn({
                let over = &over;
                move || disturb::send_signals(seed, over)
            });
        }
        if settings.forks {
            let seed = rng.u64(..);
            let (over, forks) = (&over, &forks);
            scope.spawn(move || {
                forks.store(children::fork_on::<P>(seed, over), Ordering::Relaxed);
            });
        }
        let start = Instant::now();
        // On a busy machine the time of a short row may be over before a section or a signal. The row then continues.
        while start.elapsed().as_secs_f64() < settings.seconds
            || sums.sections == 0
            || !has_been_disturbed(settings)
        {
            let length = Duration::from_secs_f64((settings.seconds / 7.0).clamp(0.02, 1.0));
            let seed = rng.u64(..);
            match sums.bouts % 7 {
                0 | 3 => crowd_of::<P>(settings, length, &mut rng, &mut sums),
                1 | 4 | 5 => {
                    sums.rounds +=
                        rounds::run::<P>(length, seed, |number| prepare(settings, number));
                }
                2 => sums.tokens += tokens::run::<P>(length, seed),
                _ => {
                    let (woken, moved) = table::run::<P>(length, seed);
                    sums.woken += woken;
                    sums.moved += moved;
                }
            }
            sums.bouts += 1;
        }
        over.store(true, Ordering::Relaxed);
    });
    sums.forks = forks.into_inner();
    sums.signals = disturb::HANDLED_WAITING.load(Ordering::Relaxed);
    assert_eq!(settings.forks, sums.forks > 0, "forks happen where they were asked for");
    say(&sums);
}

/// Returns whether signals have arrived, if the row has any. The watchdog ends a row in which none arrive.
fn has_been_disturbed(settings: &Settings) -> bool {
    let interrupted = INTERRUPTED.load(Ordering::Relaxed) > 0 || settings.table == Table::Linux;
    !settings.signals || (interrupted && disturb::HANDLED_WAITING.load(Ordering::Relaxed) > 0)
}

/// Gives the row's scheduling policy to the calling thread, which takes part in a bout, and to the threads that it
/// starts.
fn prepare(settings: &Settings, number: usize) {
    if settings.cpus == Cpus::Fifo {
        // A refusal was printed at the beginning of the row.
        let _ = disturb::fifo([1, 2, 3, 4][number % 4]);
    }
}

fn crowd_of<P: Host>(settings: &Settings, duration: Duration, rng: &mut Rng, sums: &mut Sums) {
    let (threads, locks, life) = (1 << rng.u32(1..6), rng.usize(1..4), 1 << rng.u32(0..12));
    let crowd = Crowd { threads, locks, life, duration, seed: rng.u64(..) };
    sums.sections += crowd::run::<P>(&crowd, |number| prepare(settings, number));
}

fn say(sums: &Sums) {
    println!(
        "\nseen: {} bouts, {} sections, {} rounds, {} tokens, {} woken, {} moved, {} signals to waiters, {} waits \
         interrupted, {} forks",
        sums.bouts,
        sums.sections,
        sums.rounds,
        sums.tokens,
        sums.woken,
        sums.moved,
        sums.signals,
        INTERRUPTED.load(Ordering::Relaxed),
        sums.forks,
    );
}
