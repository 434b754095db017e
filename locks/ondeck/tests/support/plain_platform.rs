//! A platform built on the standard library alone: it has no system call, no assembly, and nothing
//! else that an interpreter or a sanitizer does not understand.
//!
//! Both halves of the asymmetric fences are full. A spinlock of this file guards the kernel's list
//! of sleeping threads, not the standard library's mutex, which a sanitizer does not see unless the
//! standard library was built with it.

use std::cell::{Cell, UnsafeCell};
use std::ptr;
use std::sync::atomic::{self, AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use ondeck::parking::{Bias, Bucket, Row, bucket_of};
use ondeck::platform::{
    Estimates, Fences, FutexWait, Host, Ordering, Platform, Threads, Timestamp,
};

/// Runs locks on the threads of the standard library.
#[derive(Debug)]
pub struct Plain;

/// There are few buckets, so that some locks share one.
const BUCKETS: usize = 4;

/// Threads beyond these have no row.
const ROWS: usize = 8;

struct Machine {
    unlock_modes: [AtomicUsize; BUCKETS],
    buckets: [Bucket<Plain>; BUCKETS],
    rows: [Row<Plain>; ROWS],
    /// Whether a row belongs to a thread.
    had: [AtomicBool; ROWS],
    biases: [Bias<Plain>; BUCKETS],
    kernel: Kernel,
    /// The start of its clock.
    start: Instant,
}

/// Returns the machine, which the first thread that needs it creates. It is never freed.
fn machine() -> &'static Machine {
    static MACHINE: AtomicPtr<Machine> = AtomicPtr::new(ptr::null_mut());
    let made = MACHINE.load(Ordering::Acquire);
    if !made.is_null() {
        // SAFETY: it is never freed, and its creation happened before.
        return unsafe { &*made };
    }
    let new = Box::into_raw(Box::new(Machine {
        unlock_modes: [const { AtomicUsize::new(0) }; BUCKETS],
        buckets: [(); BUCKETS].map(|()| Bucket::new()),
        rows: [(); ROWS].map(|()| Row::new()),
        had: [const { AtomicBool::new(false) }; ROWS],
        biases: [(); BUCKETS].map(|()| Bias::new()),
        kernel: Kernel::new(),
        start: Instant::now(),
    }));
    match MACHINE.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: as above; this thread created it.
        Ok(_) => unsafe { &*new },
        Err(other) => {
            // SAFETY: no other thread has seen this machine; the other one is never freed.
            unsafe {
                drop(Box::from_raw(new));
                &*other
            }
        }
    }
}

/// A thread's row, by its index. At the end of the thread it becomes free for another one.
struct Had(Option<usize>);

impl Had {
    fn new() -> Self {
        Self(machine().had.iter().position(|had| !had.swap(true, Ordering::Acquire)))
    }
}

impl Drop for Had {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            machine().had[place].store(false, Ordering::Release);
        }
    }
}

/// A thread that sleeps while it is in the list.
struct Sleeping {
    name: u64,
    address: usize,
    thread: Thread,
}

/// The sleeping threads, in the order of their arrival.
struct Kernel {
    locked: AtomicBool,
    waiters: UnsafeCell<Vec<Sleeping>>,
}

// SAFETY: only the owner of the spinlock accesses the list.
unsafe impl Sync for Kernel {}

impl Kernel {
    fn new() -> Self {
        Self { locked: AtomicBool::new(false), waiters: UnsafeCell::default() }
    }

    /// Makes a system call: no other thread makes one at the same time.
    fn call<R>(&self, call: impl FnOnce(&mut Vec<Sleeping>) -> R) -> R {
        while self.locked.swap(true, Ordering::Acquire) {
            thread::yield_now();
        }
        // SAFETY: the spinlock was just taken, and nothing in `call` takes it again.
        let result = call(unsafe { &mut *self.waiters.get() });
        self.locked.store(false, Ordering::Release);
        result
    }

    /// Removes at most `count` threads that sleep at `address` from the list.
    fn take(&self, address: usize, count: usize) -> Vec<Sleeping> {
        self.call(|waiters| {
            let mut left = count;
            let chosen = |waiter: &mut Sleeping| {
                let chosen = waiter.address == address && left > 0;
                left -= usize::from(chosen);
                chosen
            };
            waiters.extract_if(.., chosen).collect()
        })
    }
}

fn sleep(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
    static NAMES: AtomicUsize = AtomicUsize::new(0);
    let kernel = &machine().kernel;
    let name = NAMES.fetch_add(1, Ordering::Relaxed) as u64;
    let queued = kernel.call(|waiters| {
        let queued = word.load(Ordering::Relaxed) == expected;
        if queued {
            let address = ptr::from_ref(word).addr();
            waiters.push(Sleeping { name, address, thread: thread::current() });
        }
        queued
    });
    if !queued {
        return FutexWait::Mismatch;
    }
    loop {
        match deadline {
            Some(deadline) => thread::park_timeout(deadline.since(Plain::now())),
            None => thread::park(),
        }
        let over = deadline.is_some_and(|deadline| Plain::now() >= deadline);
        let end = kernel.call(|waiters| {
            let Some(place) = waiters.iter().position(|waiter| waiter.name == name) else {
                return Some(FutexWait::Woken);
            };
            over.then(|| {
                waiters.remove(place);
                FutexWait::TimedOut
            })
        });
        if let Some(end) = end {
            return end;
        }
    }
}

// SAFETY: atomics and fences are the standard library's. The list of sleeping threads compares
// addresses. A panic of this file ends its test.
unsafe impl Platform for Plain {
    type AtomicU8 = AtomicU8;
    type AtomicU32 = AtomicU32;
    type AtomicUsize = AtomicUsize;
    type AtomicPtr<T: 'static> = AtomicPtr<T>;

    fn fence(order: Ordering) {
        atomic::fence(order);
    }

    fn pause() {
        // An interpreter runs one thread at a time.
        if cfg!(miri) {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }

    fn spins(count: u32) -> u32 {
        count.min(if cfg!(miri) { 2 } else { 50 })
    }

    fn yield_now() {
        YIELDS.set(YIELDS.get() + 1);
        thread::yield_now();
    }

    fn now() -> Timestamp {
        Timestamp::from_nanos(Self::ticks())
    }

    fn ticks() -> u64 {
        machine().start.elapsed().as_nanos() as u64
    }

    fn ticks_per_second() -> u64 {
        1_000_000_000
    }

    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        sleep(word, expected, deadline)
    }

    fn futex_wake(address: *const AtomicU32, count: u32) -> usize {
        let woken = machine().kernel.take(address.addr(), count as usize);
        for waiter in &woken {
            waiter.thread.unpark();
        }
        woken.len()
    }

    fn futex_requeue(
        _from: &AtomicU32,
        _expected: u32,
        _wake: u32,
        _to: *const AtomicU32,
        _move: u32,
    ) -> Option<usize> {
        unreachable!("this crate's own locks move waiters in the table");
    }

    fn ticks_in(nanos: u32) -> usize {
        nanos as usize
    }

    fn cpus() -> usize {
        2
    }
}

// SAFETY: the table is created once, and its places are a function of the address. No test forks.
unsafe impl Host for Plain {
    fn unlock_mode(address: usize) -> &'static AtomicUsize {
        &machine().unlock_modes[bucket_of(address) % BUCKETS]
    }

    fn bucket(address: usize) -> &'static Bucket<Self> {
        &machine().buckets[bucket_of(address) % BUCKETS]
    }

    fn row() -> Option<&'static Row<Self>> {
        thread_local!(static HAD: Had = Had::new());
        let place = HAD.try_with(|had| had.0).ok().flatten();
        place.map(|place| &machine().rows[place])
    }

    fn rows() -> &'static [Row<Self>] {
        &machine().rows
    }

    fn bias(address: usize) -> Option<&'static Bias<Self>> {
        Some(&machine().biases[bucket_of(address) % BUCKETS])
    }
}

// SAFETY: both halves of the pair are full.
unsafe impl Fences for Plain {
    fn light_fence() {
        atomic::fence(Ordering::SeqCst);
    }

    fn heavy_fence() {
        atomic::fence(Ordering::SeqCst);
    }

    fn fences_are_asymmetric() -> bool {
        true
    }

    fn may_relax() -> bool {
        true
    }
}

impl Estimates for Plain {}

impl Threads for Plain {
    fn thread() -> usize {
        thread_local!(static HERE: u8 = const { 0 });
        HERE.with(|here| std::ptr::from_ref(here).addr())
    }

    fn priority() -> u32 {
        PRIORITY.get()
    }

    fn once_in(count: u32) -> bool {
        thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });
        CALLS.set(CALLS.get().wrapping_add(1));
        CALLS.get().is_multiple_of(count.min(4))
    }
}

thread_local! {
    static YIELDS: Cell<u32> = const { Cell::new(0) };
    static PRIORITY: Cell<u32> = const { Cell::new(0) };
}

/// Makes the calling thread a real-time thread, as far as locks can see.
pub fn become_real_time() {
    PRIORITY.set(1);
}

/// Returns the number of times that the calling thread has offered its CPU.
pub fn yields() -> u32 {
    YIELDS.get()
}

/// Returns the moment this number of microseconds from now.
pub fn soon(micros: u64) -> Timestamp {
    Plain::now().after(Duration::from_micros(micros))
}

/// Returns whether nothing is left in the parking table, and no thread sleeps.
pub fn is_at_rest() -> bool {
    let machine = machine();
    machine.kernel.call(|waiters| waiters.is_empty())
        && machine.buckets.iter().all(Bucket::is_at_rest)
}
