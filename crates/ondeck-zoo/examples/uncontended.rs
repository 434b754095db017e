//! What each lock of `ondeck` costs beside its peers while no thread waits: nanoseconds for the pair of an
//! acquisition and its release, or for the one call there is.
//!
//! ```sh
//! cargo run --release -p ondeck-zoo --example uncontended
//! ```
//!
//! Rounds of all are taken in turns, so that what disturbs the machine disturbs all alike. A second thread exists
//! meanwhile: without one glibc leaves out its atomic instructions. The time of an empty loop is taken off.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::{Once as StdOnce, mpsc};
use std::time::Instant;

const ROUNDS: usize = 41;
const PAIRS: u32 = 50_000;

/// One lock of one kind: makes so many pairs.
type Pairs = Box<dyn Fn(u32)>;

struct Row {
    kind: &'static str,
    /// The first one is `ondeck`'s.
    locks: Vec<(&'static str, Pairs)>,
}

/// A loop over one expression, compiled by itself.
macro_rules! pairs {
    ($name:literal, $lock:expr, |$it:ident| $pair:expr) => {{
        let lock = Box::new($lock);
        let pairs: Pairs = Box::new(move |count| {
            let $it = black_box(&*lock);
            for _ in 0..count {
                black_box($pair);
            }
        });
        ($name, pairs)
    }};
}

/// An object of the C library, made by one of its functions.
struct C<T>(Box<T>);

impl<T> C<T> {
    fn new(make: impl FnOnce(*mut T) -> i32) -> Self {
        let mut object = Box::new(MaybeUninit::<T>::zeroed());
        assert_eq!(make(object.as_mut_ptr()), 0, "the C library makes it");
        // SAFETY: it was just made.
        Self(unsafe { object.assume_init() })
    }

    fn get(&self) -> *mut T {
        (&raw const *self.0).cast_mut()
    }
}

fn pthread_mutex(set: impl Fn(*mut libc::pthread_mutexattr_t)) -> C<libc::pthread_mutex_t> {
    let attributes = C::<libc::pthread_mutexattr_t>::new(|made| {
        // SAFETY: it is memory for one.
        unsafe { libc::pthread_mutexattr_init(made) }
    });
    set(attributes.get());
    // SAFETY: memory for one, and attributes.
    C::new(|made| unsafe { libc::pthread_mutex_init(made, attributes.get()) })
}

/// Locks and unlocks a mutex of the C library.
fn pthread_pair(mutex: &C<libc::pthread_mutex_t>) {
    // SAFETY: it is one; this thread unlocks what it has locked.
    unsafe {
        libc::pthread_mutex_lock(mutex.get());
        libc::pthread_mutex_unlock(mutex.get());
    }
}

fn of_one_owner() -> Vec<Row> {
    let inheriting = pthread_mutex(|attributes| {
        // SAFETY: attributes.
        unsafe { libc::pthread_mutexattr_setprotocol(attributes, libc::PTHREAD_PRIO_INHERIT) };
    });
    let robust = pthread_mutex(|attributes| {
        // SAFETY: attributes.
        unsafe {
            libc::pthread_mutexattr_setpshared(attributes, libc::PTHREAD_PROCESS_SHARED);
            libc::pthread_mutexattr_setrobust(attributes, libc::PTHREAD_MUTEX_ROBUST);
        }
    });
    let plain = pthread_mutex(|_| ());
    // SAFETY: it stays where it is, in the box that `pairs!` makes.
    let shared = unsafe { ondeck::ipc::Mutex::new(0) };
    vec![
        Row {
            kind: "Mutex",
            locks: vec![
                pairs!("ondeck", ondeck::Mutex::new(0), |lock| *lock.lock() += 1),
                pairs!("std", std::sync::Mutex::new(0), |lock| *lock.lock().unwrap() += 1),
                pairs!("parking_lot", parking_lot::Mutex::new(0), |lock| *lock.lock() += 1),
                pairs!("usync", usync::Mutex::new(0), |lock| *lock.lock() += 1),
                pairs!("spin", spin::Mutex::<_>::new(0), |lock| *lock.lock() += 1),
                pairs!("glibc", plain, |lock| pthread_pair(lock)),
            ],
        },
        Row {
            kind: "FairMutex",
            locks: vec![
                pairs!("ondeck", ondeck::FairMutex::new(0), |lock| *lock.lock() += 1),
                pairs!("parking_lot", parking_lot::FairMutex::new(0), |lock| *lock.lock() += 1),
            ],
        },
        Row {
            kind: "ReentrantMutex",
            locks: vec![
                pairs!("ondeck", ondeck::ReentrantMutex::new(0), |lock| *lock.lock()),
                pairs!("parking_lot", parking_lot::ReentrantMutex::new(0), |lock| *lock.lock()),
            ],
        },
        Row {
            kind: "PiMutex",
            locks: vec![
                pairs!("ondeck", ondeck::PiMutex::new(0), |lock| *lock.lock() += 1),
                pairs!("glibc", inheriting, |lock| pthread_pair(lock)),
            ],
        },
        Row {
            kind: "ipc::Mutex",
            locks: vec![
                pairs!("ondeck", shared, |lock| *lock.lock().unwrap() += 1),
                pairs!("glibc", robust, |lock| pthread_pair(lock)),
            ],
        },
    ]
}

fn of_readers() -> Vec<Row> {
    vec![
        Row {
            kind: "RwLock, read",
            locks: vec![
                pairs!("ondeck", ondeck::RwLock::new(0), |lock| *lock.read()),
                pairs!("std", std::sync::RwLock::new(0), |lock| *lock.read().unwrap()),
                pairs!("parking_lot", parking_lot::RwLock::new(0), |lock| *lock.read()),
                pairs!("usync", usync::RwLock::new(0), |lock| *lock.read()),
                pairs!("spin", spin::RwLock::<_>::new(0), |lock| *lock.read()),
            ],
        },
        Row {
            kind: "RwLock, write",
            locks: vec![
                pairs!("ondeck", ondeck::RwLock::new(0), |lock| *lock.write() += 1),
                pairs!("std", std::sync::RwLock::new(0), |lock| *lock.write().unwrap() += 1),
                pairs!("parking_lot", parking_lot::RwLock::new(0), |lock| *lock.write() += 1),
                pairs!("usync", usync::RwLock::new(0), |lock| *lock.write() += 1),
                pairs!("spin", spin::RwLock::<_>::new(0), |lock| *lock.write() += 1),
            ],
        },
    ]
}

fn of_waits() -> Vec<Row> {
    // SAFETY: memory for one.
    let semaphore = C::<libc::sem_t>::new(|made| unsafe { libc::sem_init(made, 0, 1) });
    let once = (ondeck::Once::new(), StdOnce::new(), parking_lot::Once::new());
    once.0.call_once(|| ());
    once.1.call_once(|| ());
    once.2.call_once(|| ());
    let parker = ondeck::Parker::new();
    vec![
        Row {
            kind: "Once, done",
            locks: vec![
                pairs!("ondeck", once.0, |once| once.call_once(|| ())),
                pairs!("std", once.1, |once| once.call_once(|| ())),
                pairs!("parking_lot", once.2, |once| once.call_once(|| ())),
            ],
        },
        Row {
            kind: "Condvar, notify none",
            locks: vec![
                pairs!("ondeck", ondeck::Condvar::new(), |condvar| condvar.notify_one()),
                pairs!("std", std::sync::Condvar::new(), |condvar| condvar.notify_one()),
                pairs!("parking_lot", parking_lot::Condvar::new(), |condvar| condvar.notify_one()),
            ],
        },
        Row {
            kind: "Semaphore",
            locks: vec![
                pairs!("ondeck", ondeck::Semaphore::new(1), |semaphore| {
                    semaphore.acquire();
                    semaphore.release(1);
                }),
                pairs!("glibc", semaphore, |semaphore| {
                    // SAFETY: it is a semaphore.
                    unsafe {
                        libc::sem_wait(semaphore.get());
                        libc::sem_post(semaphore.get());
                    }
                }),
            ],
        },
        Row {
            kind: "Parker, with a token",
            locks: vec![
                pairs!("ondeck", parker, |parker| {
                    parker.unparker().unpark();
                    parker.park();
                }),
                pairs!("std", std::thread::current(), |thread| {
                    thread.unpark();
                    std::thread::park();
                }),
            ],
        },
    ]
}

/// Nanoseconds a pair.
fn measure(pairs: &dyn Fn(u32)) -> f64 {
    let begin = Instant::now();
    pairs(PAIRS);
    begin.elapsed().as_nanos() as f64 / f64::from(PAIRS)
}

fn quartiles(mut rounds: Vec<f64>) -> [f64; 3] {
    rounds.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| rounds[rounds.len() * quarter / 4])
}

fn main() {
    let (over, stays) = mpsc::channel::<()>();
    let other = std::thread::spawn(move || stays.recv().is_err());
    let rows: Vec<Row> = [of_one_owner(), of_readers(), of_waits()].into_iter().flatten().collect();
    let empty = pairs!("nothing", 0, |number| *number).1;
    let mut rounds: Vec<Vec<Vec<f64>>> =
        rows.iter().map(|row| vec![Vec::new(); row.locks.len()]).collect();
    for _ in 0..ROUNDS {
        let nothing = measure(&empty);
        for (row, rounds) in rows.iter().zip(&mut rounds) {
            for ((_, pairs), rounds) in row.locks.iter().zip(rounds) {
                rounds.push((measure(pairs) - nothing).max(0.0));
            }
        }
    }
    println!("| | `ondeck`, ns | best peer, ns | ratio | others, ns |");
    println!("|---|---|---|---|---|");
    for (row, rounds) in rows.iter().zip(rounds) {
        let mut costs =
            row.locks.iter().map(|(name, _)| *name).zip(rounds.into_iter().map(quartiles));
        let (_, own) = costs.next().expect("the first is ondeck's");
        let mut peers: Vec<_> = costs.collect();
        peers.sort_by(|(_, one), (_, other)| one[1].total_cmp(&other[1]));
        let (best, cost) = peers.remove(0);
        let others: Vec<_> =
            peers.iter().map(|(name, cost)| format!("{name} {:.2}", cost[1])).collect();
        // Calls that cost no more than to read a number have no ratio.
        let ratio = if cost[1] < 0.1 { "–".into() } else { format!("{:.2}", own[1] / cost[1]) };
        println!(
            "| {} | {:.2} ({:.2} to {:.2}) | {best} {:.2} ({:.2} to {:.2}) | {ratio} | {} |",
            row.kind,
            own[1],
            own[0],
            own[2],
            cost[1],
            cost[0],
            cost[2],
            others.join(", "),
        );
    }
    drop(over);
    assert!(other.join().expect("no panic"), "the other thread waited for the end");
}
