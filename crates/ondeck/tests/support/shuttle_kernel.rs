//! The kernel of shuttle's machine: its clock, the queues of its futexes, and which bucket an address has.

use std::collections::HashMap;
use std::time::Duration;

use ondeck::platform::{AtomicInt, FutexWait, Ordering, Platform, Timestamp};
use shuttle::sync::mpsc;

use super::atomics::AtomicU32;
use super::{MACHINE, Shuttle, below, one_in};

pub struct Sleeping {
    name: u64,
    wake: mpsc::Sender<()>,
}

/// The kernel. What it does is one step to the threads, because no other thread runs meanwhile.
#[derive(Default)]
pub struct Kernel {
    pub queues: HashMap<usize, Vec<Sleeping>>,
    sleeps: u64,
    /// The time, in ticks.
    pub now: u64,
    /// The buckets of the addresses seen so far; each is drawn.
    places: HashMap<usize, usize>,
}

pub fn kernel<R>(call: impl FnOnce(&mut Kernel) -> R) -> R {
    call(&mut MACHINE.kernel.lock().expect("no panic while it is held"))
}

/// Lets time pass: mostly a tick or none, now and then so much that a thread is overdue.
pub fn pass_time() -> u64 {
    let ticks = match below(64) {
        0 => 40,
        n => n % 2,
    };
    kernel(|kernel| {
        kernel.now += ticks as u64;
        kernel.now
    })
}

pub fn place(address: usize) -> usize {
    kernel(|kernel| *kernel.places.entry(address).or_insert_with(|| below(MACHINE.setting.buckets)))
}

/// Takes at most `count` sleeping threads off the queue of `address`.
pub fn take(address: usize, count: usize) -> Vec<Sleeping> {
    kernel(|kernel| match kernel.queues.get_mut(&address) {
        Some(queue) => queue.drain(..count.min(queue.len())).collect(),
        None => Vec::new(),
    })
}

pub fn wake(waiters: Vec<Sleeping>) -> usize {
    let count = waiters.len();
    for waiter in waiters {
        // A thread that was taken off its queue but is gone counts as woken.
        let _ = waiter.wake.send(());
    }
    count
}

/// The shortest slice of a parked thread's sleep is longer, the deadlines of these tests are shorter.
const SLICE: Duration = Duration::from_millis(15);

pub fn sleep(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
    let interrupted = one_in(8);
    // No other thread runs between this load and the end of the queueing.
    if word.load(Ordering::Relaxed) != expected {
        return FutexWait::Mismatch;
    }
    if interrupted {
        return FutexWait::Interrupted;
    }
    let address = std::ptr::from_ref(word).addr();
    let (wake, woken) = mpsc::channel();
    let name = kernel(|kernel| {
        kernel.sleeps += 1;
        let name = kernel.sleeps;
        kernel.queues.entry(address).or_default().push(Sleeping { name, wake });
        name
    });
    let is_kept = |end: &Timestamp| MACHINE.setting.slices || end.since(Shuttle::now()) <= SLICE;
    let Some(deadline) = deadline.filter(is_kept) else {
        woken.recv().expect("the queue's end is kept until it has sent");
        return FutexWait::Woken;
    };
    while woken.try_recv().is_err() {
        pass_time();
        if Shuttle::now() >= deadline {
            let queued = kernel(|kernel| {
                let queues = kernel.queues.values_mut();
                let mut queues = queues.map(|queue| (queue.len(), queue));
                queues.any(|(before, queue)| {
                    queue.retain(|other| other.name != name);
                    queue.len() != before
                })
            });
            return if queued { FutexWait::TimedOut } else { FutexWait::Woken };
        }
        shuttle::thread::yield_now();
    }
    FutexWait::Woken
}
