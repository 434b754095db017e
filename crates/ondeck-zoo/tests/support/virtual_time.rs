//! A small machine in virtual time: one core and one coroutine for each thread. Every atomic access
//! is an event, and its cost depends on where the cache line is.
//!
//! It shows that [`Platform`] is complete: whatever a lock needs must go through the trait, and
//! nothing may assume that a thread of the language is a thread of the machine. Everything runs on
//! one OS thread, the coroutine with the smallest virtual time first, so that a run repeats
//! exactly.

#[path = "virtual_pi.rs"]
mod pi;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult, Yielder};
use ondeck::parking::Bucket;
use ondeck::platform::{
    AtomicInt, AtomicPointer, Estimates, Fences, FutexWait, Host, Ordering, Platform, Threads,
    Timestamp,
};

/// Costs in virtual nanoseconds, of the order of a server's.
const HIT: u64 = 1;
const TRANSFER: u64 = 60;
const READ_MODIFY_WRITE: u64 = 5;
const PAUSE: u64 = 10;
const SYSTEM_CALL: u64 = 100;
const WAKE_UP: u64 = 2_000;
/// Without the CPU that a thread gives up, because its time slice was extended.
const GIVEN_UP: u64 = 10_000;

/// The platform with virtual time; usable only inside [`run`].
#[derive(Debug)]
pub struct Virtual;

#[derive(Default)]
struct Machine {
    threads: Vec<ThreadState>,
    running: usize,
    sleeping: HashMap<usize, Vec<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct ThreadState {
    time: u64,
    waiting: Waiting,
    yielder: *const Yielder<(), ()>,
    asks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// Ready to run at its time.
    No,
    /// Asleep on the word at this address, until the deadline if there is one.
    Asleep(usize, Option<u64>),
    /// Woken by its deadline and not by another thread.
    TimedOut,
    /// Its body has returned.
    Done,
}

thread_local! {
    static MACHINE: RefCell<Machine> = RefCell::default();
}

/// Lets `cost` pass for the running thread, and every other thread that is due before it go first.
/// Before and after a run there is no thread, and accesses are free.
fn pass(cost: u64) {
    let yielder = MACHINE.with_borrow_mut(|machine| {
        let running = machine.running;
        machine.threads.get_mut(running).map(|thread| {
            thread.time += cost;
            thread.yielder
        })
    });
    let Some(yielder) = yielder else { return };
    // SAFETY: set when the running coroutine's body began; this call is on its stack.
    unsafe { &*yielder }.suspend(());
}

fn running() -> usize {
    MACHINE.with_borrow(|machine| machine.running)
}

/// Lets work of `nanos` pass for the calling virtual thread.
pub fn work(nanos: u64) {
    pass(nanos);
}

/// The virtual threads that ask for a longer time slice.
pub fn asking() -> Vec<usize> {
    MACHINE.with_borrow(|machine| {
        (0..machine.threads.len()).filter(|&thread| machine.threads[thread].asks).collect()
    })
}

/// Runs `threads` virtual threads to their end; returns the virtual time of the last to finish.
///
/// Panics when all that are left sleep without a deadline: a deadlock or a lost wake.
pub fn run(threads: usize, body: impl Fn(usize) + 'static) -> u64 {
    let body = Rc::new(body);
    let mut coroutines: Vec<_> = (0..threads)
        .map(|index| {
            let body = Rc::clone(&body);
            Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
                MACHINE.with_borrow_mut(|machine| machine.threads[index].yielder = yielder);
                body(index);
            })
        })
        .collect();
    let fresh =
        ThreadState { time: 0, waiting: Waiting::No, yielder: std::ptr::null(), asks: false };
    TABLE.set(Table::fresh());
    CALLS.set(0);
    MACHINE.set(Machine { threads: vec![fresh; threads], ..Machine::default() });
    while let Some(next) = MACHINE.with_borrow_mut(Machine::next) {
        if let CoroutineResult::Return(()) = coroutines[next].resume(()) {
            MACHINE.with_borrow_mut(|machine| machine.threads[next].waiting = Waiting::Done);
        }
    }
    let ended = MACHINE.take().threads;
    let stuck = ended.iter().filter(|thread| thread.waiting != Waiting::Done).count();
    if stuck != 0 {
        // Their stacks hold borrows of a lock that waits for ever; unwinding them would run
        // unlocks that were never due.
        std::mem::forget(coroutines);
        panic!("{stuck} threads sleep for ever");
    }
    ended.iter().map(|thread| thread.time).max().unwrap_or(0)
}

impl Machine {
    /// Makes the thread with the next event the running one, and returns it.
    fn next(&mut self) -> Option<usize> {
        let due = |thread: &ThreadState| match thread.waiting {
            Waiting::No | Waiting::TimedOut => Some(thread.time),
            Waiting::Asleep(_, deadline) => deadline,
            Waiting::Done => None,
        };
        let (time, next) = (0..self.threads.len())
            .filter_map(|index| due(&self.threads[index]).map(|time| (time, index)))
            .min()?;
        if let Waiting::Asleep(address, _) = self.threads[next].waiting {
            self.sleeping.entry(address).or_default().retain(|&thread| thread != next);
            self.threads[next].waiting = Waiting::TimedOut;
            self.threads[next].time = time;
        }
        self.running = next;
        Some(next)
    }

    fn wake(&mut self, address: usize, count: usize) -> usize {
        let now = self.threads[self.running].time;
        let Some(queue) = self.sleeping.get_mut(&address) else { return 0 };
        let woken: Vec<_> = queue.drain(..count.min(queue.len())).collect();
        for &thread in &woken {
            self.threads[thread].waiting = Waiting::No;
            self.threads[thread].time = self.threads[thread].time.max(now) + WAKE_UP;
        }
        woken.len()
    }
}

/// A cache line of its own: which core wrote it last, and which have read it since.
#[derive(Debug)]
struct Line<V: Copy> {
    value: Cell<V>,
    owner: Cell<usize>,
    sharers: Cell<u128>,
}

// SAFETY: all coroutines run on one OS thread; a line never leaves it.
unsafe impl<V: Copy> Send for Line<V> {}
// SAFETY: as above.
unsafe impl<V: Copy> Sync for Line<V> {}

impl<V: Copy> Line<V> {
    fn new(value: V) -> Self {
        Self { value: Cell::new(value), owner: Cell::new(usize::MAX), sharers: Cell::new(0) }
    }

    fn read(&self) -> V {
        let core = running();
        let cached = self.owner.get() == core || self.sharers.get() >> core & 1 == 1;
        pass(if cached { HIT } else { TRANSFER });
        self.sharers.set(self.sharers.get() | 1 << core);
        self.value.get()
    }

    /// Replaces the value by what `change` makes of it, if anything; returns the old one.
    fn write(&self, extra: u64, change: impl FnOnce(V) -> Option<V>) -> V {
        let core = running();
        let exclusive = self.owner.get() == core && self.sharers.get() & !(1 << core) == 0;
        pass(extra + if exclusive { HIT } else { TRANSFER });
        self.owner.set(core);
        self.sharers.set(0);
        let old = self.value.get();
        if let Some(new) = change(old) {
            self.value.set(new);
        }
        old
    }

    fn compare_exchange(&self, current: V, new: V) -> Result<V, V>
    where
        V: PartialEq,
    {
        let old = self.write(READ_MODIFY_WRITE, |old| (old == current).then_some(new));
        if old == current { Ok(old) } else { Err(old) }
    }
}

/// An integer in virtual memory.
#[derive(Debug)]
pub struct VirtualInt<V: Copy>(Line<V>);

macro_rules! virtual_integer {
    ($($value:ident)*) => {$(
        // SAFETY: a method lets its time pass first, in which others may run, and then accesses the
        // value in one step.
        unsafe impl AtomicInt for VirtualInt<$value> {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self(Line::new(value))
            }
            fn load(&self, _: Ordering) -> $value {
                self.0.read()
            }
            fn store(&self, value: $value, _: Ordering) {
                self.0.write(0, |_| Some(value));
            }
            fn swap(&self, value: $value, _: Ordering) -> $value {
                self.0.write(READ_MODIFY_WRITE, |_| Some(value))
            }
            fn compare_exchange(
                &self, current: $value, new: $value, _: Ordering, _: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new)
            }
            fn compare_exchange_weak(
                &self, current: $value, new: $value, _: Ordering, _: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new)
            }
            fn fetch_add(&self, value: $value, _: Ordering) -> $value {
                self.0.write(READ_MODIFY_WRITE, |old| Some(old.wrapping_add(value)))
            }
            fn fetch_sub(&self, value: $value, _: Ordering) -> $value {
                self.0.write(READ_MODIFY_WRITE, |old| Some(old.wrapping_sub(value)))
            }
            fn fetch_or(&self, value: $value, _: Ordering) -> $value {
                self.0.write(READ_MODIFY_WRITE, |old| Some(old | value))
            }
            fn fetch_and(&self, value: $value, _: Ordering) -> $value {
                self.0.write(READ_MODIFY_WRITE, |old| Some(old & value))
            }
        }
    )*};
}

virtual_integer! { u8 u32 usize }

/// A pointer in virtual memory.
#[derive(Debug)]
pub struct VirtualPtr<T>(Line<*mut T>);

// SAFETY: as for the integers.
unsafe impl<T: 'static> AtomicPointer<T> for VirtualPtr<T> {
    fn new(pointer: *mut T) -> Self {
        Self(Line::new(pointer))
    }
    fn load(&self, _: Ordering) -> *mut T {
        self.0.read()
    }
    fn store(&self, pointer: *mut T, _: Ordering) {
        self.0.write(0, |_| Some(pointer));
    }
    fn swap(&self, pointer: *mut T, _: Ordering) -> *mut T {
        self.0.write(READ_MODIFY_WRITE, |_| Some(pointer))
    }
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        _: Ordering,
        _: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.0.compare_exchange(current, new)
    }
}

/// The parking table, one bucket: every two locks collide.
struct Table {
    unlock_mode: VirtualInt<usize>,
    bucket: Bucket<Virtual>,
}

impl Table {
    /// Never freed, as the platform's functions promise; some tables of a hundred bytes in a test.
    fn fresh() -> &'static Self {
        Box::leak(Box::new(Self { unlock_mode: VirtualInt::new(0), bucket: Bucket::new() }))
    }
}

thread_local! {
    /// Made anew for each run, with cache lines that no core has touched yet.
    static TABLE: Cell<&'static Table> = Cell::new(Table::fresh());
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

// SAFETY: one event at a time, on one OS thread; sleeping threads are listed by address. A panic
// ends the run, and its coroutines are not resumed.
unsafe impl Platform for Virtual {
    type AtomicU8 = VirtualInt<u8>;
    type AtomicU32 = VirtualInt<u32>;
    type AtomicUsize = VirtualInt<usize>;
    type AtomicPtr<T: 'static> = VirtualPtr<T>;

    // Events happen one at a time in the order of virtual time: the machine is sequentially
    // consistent, and fences only cost.
    fn fence(_: Ordering) {
        pass(READ_MODIFY_WRITE);
    }

    fn pause() {
        pass(PAUSE);
    }

    fn pause_times(count: u32) {
        pass(PAUSE * u64::from(count));
    }

    fn yield_now() {
        pass(SYSTEM_CALL);
    }

    fn now() -> Timestamp {
        Timestamp::from_nanos(Self::ticks())
    }

    fn ticks() -> u64 {
        MACHINE.with_borrow(|machine| machine.threads[machine.running].time)
    }

    fn ticks_per_second() -> u64 {
        1_000_000_000
    }

    fn futex_wait(word: &VirtualInt<u32>, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        pass(SYSTEM_CALL);
        if word.0.value.get() != expected {
            return FutexWait::Mismatch;
        }
        let address = std::ptr::from_ref(word).addr();
        MACHINE.with_borrow_mut(|machine| {
            let running = machine.running;
            machine.sleeping.entry(address).or_default().push(running);
            machine.threads[running].waiting =
                Waiting::Asleep(address, deadline.map(Timestamp::as_nanos));
        });
        pass(0);
        MACHINE.with_borrow_mut(|machine| {
            let running = machine.running;
            match std::mem::replace(&mut machine.threads[running].waiting, Waiting::No) {
                Waiting::TimedOut => FutexWait::TimedOut,
                _ => FutexWait::Woken,
            }
        })
    }

    fn futex_wake(address: *const VirtualInt<u32>, count: u32) -> usize {
        pass(SYSTEM_CALL);
        MACHINE.with_borrow_mut(|machine| machine.wake(address.addr(), count as usize))
    }

    fn futex_requeue(
        from: &VirtualInt<u32>,
        expected: u32,
        wake: u32,
        to: *const VirtualInt<u32>,
        move_: u32,
    ) -> Option<usize> {
        pass(SYSTEM_CALL);
        if from.0.value.get() != expected {
            return None;
        }
        let address = std::ptr::from_ref(from).addr();
        MACHINE.with_borrow_mut(|machine| {
            let woken = machine.wake(address, wake as usize);
            let queue = machine.sleeping.entry(address).or_default();
            let others: Vec<_> = queue.drain(..(move_ as usize).min(queue.len())).collect();
            for &thread in &others {
                if let Waiting::Asleep(on, _) = &mut machine.threads[thread].waiting {
                    *on = to.addr();
                }
            }
            let count = others.len();
            machine.sleeping.entry(to.addr()).or_default().extend(others);
            Some(woken + count)
        })
    }

    fn ticks_in(nanos: u32) -> usize {
        nanos as usize
    }

    fn cpus() -> usize {
        MACHINE.with_borrow(|machine| machine.threads.len())
    }

    fn node() -> usize {
        running() % Self::nodes()
    }

    fn nodes() -> usize {
        4
    }
}

// SAFETY: one bucket and one word for all addresses, made anew only between runs.
unsafe impl Host for Virtual {
    fn unlock_mode(_: usize) -> &'static VirtualInt<usize> {
        &TABLE.get().unlock_mode
    }

    fn bucket(_: usize) -> &'static Bucket<Self> {
        &TABLE.get().bucket
    }
}

// SAFETY: there is one CPU, on which coroutines take turns.
unsafe impl Fences for Virtual {
    fn light_fence() {}

    fn heavy_fence() {
        pass(SYSTEM_CALL);
    }

    fn fences_are_asymmetric() -> bool {
        true
    }

    fn presumed_light_fence() {}

    fn may_relax() -> bool {
        true
    }
}

impl Estimates for Virtual {}

impl Threads for Virtual {
    fn extend_slice() -> bool {
        MACHINE.with_borrow_mut(|machine| {
            let running = machine.running;
            machine
                .threads
                .get_mut(running)
                .is_some_and(|thread| !std::mem::replace(&mut thread.asks, true))
        })
    }

    // Each slice was extended.
    fn give_back_slice() {
        MACHINE.with_borrow_mut(|machine| {
            let running = machine.running;
            let asked = std::mem::take(&mut machine.threads[running].asks);
            assert!(asked, "what is given back was not asked for");
        });
        pass(GIVEN_UP);
    }

    fn once_in(count: u32) -> bool {
        CALLS.set(CALLS.get().wrapping_add(1));
        CALLS.get().is_multiple_of(count)
    }

    fn cpu() -> u32 {
        running() as u32
    }
}
