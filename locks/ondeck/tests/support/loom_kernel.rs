//! A futex built of loom's mutex and park, and the time.

use std::collections::HashMap;
use std::rc::Rc;

use loom::sync::{Mutex, MutexGuard, atomic};
use ondeck::platform::{AtomicInt, FutexWait, Ordering, Timestamp};

use super::atomics::AtomicU32;
use super::fence;
use super::setting::{self, Fences};
use super::threads::blocked;

/// A sleeping thread. Its flag is guarded by the kernel's mutex; parking may end spuriously. Loom
/// runs all threads of a model on one thread of the machine, so a plain `Rc` is enough.
struct Sleeping {
    thread: loom::thread::Thread,
    woken: loom::cell::Cell<bool>,
    deadline: Option<Timestamp>,
}

impl Sleeping {
    fn is_over(&self, now: u64) -> bool {
        self.deadline.is_some_and(|deadline| deadline.as_nanos() <= now)
    }
}

#[derive(Default)]
struct Kernel {
    queues: HashMap<usize, Vec<Rc<Sleeping>>>,
    /// The time.
    now: u64,
}

loom::lazy_static! {
    static ref KERNEL: Mutex<Kernel> = Mutex::new(Kernel::default());
    /// Whether heavy fences are refused.
    static ref REFUSED: atomic::AtomicBool = atomic::AtomicBool::new(false);
}

/// A tick of the platform's counter, in nanoseconds.
const TICK: u64 = 1_000_000_000;

const MILLISECOND: u64 = 1_000_000;

/// No store stays in a buffer for this number of nanoseconds.
const SETTLES: u64 = 50_000_000;

/// Refuses heavy fences from now on: see [`Fences::RefusedLater`].
#[allow(dead_code, reason = "not every test with this platform does")]
pub fn refuse() {
    REFUSED.store(true, Ordering::Relaxed);
}

/// Returns whether heavy fences were granted and are now refused.
pub fn is_refused() -> bool {
    setting::get().fences == Fences::RefusedLater && REFUSED.load(Ordering::Relaxed)
}

fn kernel() -> MutexGuard<'static, Kernel> {
    KERNEL.lock().expect("no panic while the kernel's mutex is held")
}

fn wake_first(kernel: &mut Kernel, address: usize, count: usize) -> usize {
    let Some(queue) = kernel.queues.get_mut(&address) else { return 0 };
    let woken = queue.drain(..count.min(queue.len())).map(|waiter| {
        waiter.woken.set(true);
        waiter.thread.unpark();
    });
    woken.count()
}

/// Sleeps while the word is as expected.
pub fn sleep(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
    let mut kernel = kernel();
    // The kernel's mutex orders this load after every store that came before a wake.
    if word.load(Ordering::Relaxed) != expected {
        return FutexWait::Mismatch;
    }
    let address = std::ptr::from_ref(word).addr();
    let waiter = Rc::new(Sleeping {
        thread: loom::thread::current(),
        woken: loom::cell::Cell::new(false),
        deadline,
    });
    kernel.queues.entry(address).or_default().push(waiter.clone());
    // A nap, or the first sleep of an heir, lasts for a tick, and the heir's second sleep for a
    // millisecond: each may end at any time. All slices in a model are shorter or longer.
    let is_short = deadline.is_some_and(|end| {
        // The clock may have advanced after the waiter read it and before this call.
        [TICK, MILLISECOND].iter().any(|&it| (it..=kernel.now + it).contains(&end.as_nanos()))
    });
    let passes = is_short || deadline.is_some() && is_refused();
    if passes {
        let is_long = deadline.is_some_and(|end| end.as_nanos() >= kernel.now + SETTLES);
        // Whatever other threads do in between, the time is over after that.
        drop(kernel);
        if is_long && is_refused() {
            fence::heavy();
        }
        blocked(loom::thread::yield_now);
        kernel = self::kernel();
    }
    while !waiter.woken.get() {
        if passes || waiter.is_over(kernel.now) {
            let queue = kernel.queues.get_mut(&address).expect("still queued");
            queue.retain(|other| !Rc::ptr_eq(other, &waiter));
            return FutexWait::TimedOut;
        }
        drop(kernel);
        blocked(loom::thread::park);
        kernel = self::kernel();
    }
    FutexWait::Woken
}

/// FUTEX_CMP_REQUEUE: see [`Platform::futex_requeue`](ondeck::platform::Platform::futex_requeue).
pub fn requeue(
    from: &AtomicU32,
    expected: u32,
    wake: u32,
    to: *const AtomicU32,
    move_: u32,
) -> Option<usize> {
    let mut kernel = kernel();
    if from.load(Ordering::Relaxed) != expected {
        return None;
    }
    let address = std::ptr::from_ref(from).addr();
    let woken = wake_first(&mut kernel, address, wake as usize);
    let queue = kernel.queues.entry(address).or_default();
    let others: Vec<_> = queue.drain(..(move_ as usize).min(queue.len())).collect();
    let count = others.len();
    kernel.queues.entry(to.addr()).or_default().extend(others);
    Some(woken + count)
}

/// Returns the time of the model.
pub fn now() -> Timestamp {
    Timestamp::from_nanos(kernel().now)
}

/// Wakes the first sleeping threads, `count` at most.
pub fn wake(address: *const AtomicU32, count: u32) -> usize {
    wake_first(&mut kernel(), address.addr(), count as usize)
}

/// Lets the time pass to `now`, with every deadline until then.
#[allow(dead_code, reason = "not every test with this platform has deadlines")]
pub fn pass_time(now: u64) {
    let mut kernel = kernel();
    kernel.now = now;
    let waiters = kernel.queues.values().flatten();
    for waiter in waiters.filter(|waiter| waiter.is_over(now)) {
        waiter.thread.unpark();
    }
}

/// Returns the number of threads that sleep on a futex.
#[allow(dead_code, reason = "not every test with this platform asks")]
pub fn asleep() -> usize {
    // While a thread waits for others to sleep, it does not hold up their heavy fences.
    fence::before_access();
    kernel().queues.values().map(Vec::len).sum()
}
