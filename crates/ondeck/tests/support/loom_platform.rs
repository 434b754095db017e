//! The model checker as a platform: loom's atomics, and a futex built of its mutex and park.

#[path = "loom_fence.rs"]
mod fence;
#[path = "loom_readers.rs"]
mod readers;
#[path = "loom_watch.rs"]
pub mod watch;

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use std::time::{Duration, Instant};

use loom::sync::{Mutex, MutexGuard, atomic};
use ondeck::parking::Bucket;
use ondeck::platform::{AtomicInt, AtomicPointer, FutexWait, Ordering, Platform, Timestamp};
use ondeck::spin::Polling;

/// Runs locks inside `loom::model`.
///
/// A release store is an exchange here. Loom does not see that a store which follows a
/// read-modify-write of the same thread comes after whatever another thread's read-modify-write
/// put between the two, and lets a later one read the older value: the three-state futex, whose
/// waiters exchange while the owner stores, then deadlocks in the model though never on a machine.
/// The exchange is stronger than the store in one respect, it continues a release sequence; that
/// is written in `docs/limits.md`. Relaxed stores stay stores.
///
/// An atomic that is dropped must not be accessed at the same time, nor afterwards: every access of
/// another thread has to happen before, and each asks [`watch::Life`].
#[derive(Debug)]
pub struct Loom;

macro_rules! loom_integer {
    ($($name:ident $value:ident $changed:path, $read:path;)*) => {$(
        #[derive(Debug)]
        pub struct $name(atomic::$name, watch::Life);

        impl $name {
            /// Before every access.
            #[track_caller]
            fn get(&self) -> &atomic::$name {
                self.1.check();
                fence::before_access();
                &self.0
            }

            /// Before every access but a load.
            #[track_caller]
            fn get_to_write(&self) -> &atomic::$name {
                readers::before_write(std::ptr::from_ref(self).addr());
                self.get()
            }

            /// After a read-modify-write that found `old`.
            fn changed(&self, old: $value, new: $value) -> $value {
                $changed(std::ptr::from_ref(self).addr(), old, new);
                old
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if !std::thread::panicking() {
                    // Says so if another thread's access does not happen before.
                    self.0.with_mut(|_| ());
                }
            }
        }

        impl AtomicInt for $name {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self(atomic::$name::new(value), watch::Life::new())
            }
            #[track_caller]
            fn load(&self, order: Ordering) -> $value {
                readers::before_load(std::ptr::from_ref(self).addr());
                let value = self.get().load(order);
                $read(std::ptr::from_ref(self).addr(), value);
                value
            }
            #[track_caller]
            fn store(&self, value: $value, order: Ordering) {
                if order == Ordering::Relaxed {
                    self.get_to_write().store(value, order);
                } else {
                    // See `Loom` on why.
                    self.swap(value, order);
                }
            }
            #[track_caller]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                let old = self.get_to_write().swap(value, order);
                self.changed(old, value)
            }
            #[track_caller]
            fn compare_exchange(
                &self, current: $value, new: $value, success: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                let exchanged = self.get_to_write().compare_exchange(current, new, success, failure);
                exchanged.map(|old| self.changed(old, new))
            }
            #[track_caller]
            fn compare_exchange_weak(
                &self, current: $value, new: $value, success: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }
            #[track_caller]
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.get_to_write().fetch_add(value, order)
            }
            #[track_caller]
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.get_to_write().fetch_sub(value, order)
            }
            #[track_caller]
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.get_to_write().fetch_or(value, order)
            }
            #[track_caller]
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.get_to_write().fetch_and(value, order)
            }
        }
    )*};
}

loom_integer! {
    AtomicU8 u8 watch::byte, watch::nothing;
    AtomicU32 u32 watch::word, watch::status;
    AtomicUsize usize watch::number, watch::nothing;
}

#[derive(Debug)]
pub struct AtomicPtr<T>(atomic::AtomicPtr<T>, watch::Life);

// SAFETY: as for the standard library's: the pointer is shared, what it points to is the user's.
unsafe impl<T> Send for AtomicPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    /// Before every access.
    #[track_caller]
    fn get(&self) -> &atomic::AtomicPtr<T> {
        self.1.check();
        fence::before_access();
        &self.0
    }
}

impl<T> Drop for AtomicPtr<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.with_mut(|_| ());
        }
    }
}

impl<T: 'static> AtomicPointer<T> for AtomicPtr<T> {
    fn new(pointer: *mut T) -> Self {
        Self(atomic::AtomicPtr::new(pointer), watch::Life::new())
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> *mut T {
        self.get().load(order)
    }
    #[track_caller]
    fn store(&self, pointer: *mut T, order: Ordering) {
        self.get().store(pointer, order);
    }
    #[track_caller]
    fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        self.get().swap(pointer, order)
    }
    #[track_caller]
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.get().compare_exchange(current, new, success, failure)
    }
}

/// A sleeping thread. Its flag is guarded by the kernel's mutex; parking may end spuriously. Loom
/// runs all threads of a model on one of the machine's, so a plain `Rc` will do.
struct Sleeper {
    thread: loom::thread::Thread,
    woken: loom::cell::Cell<bool>,
    deadline: Option<Timestamp>,
}

impl Sleeper {
    fn is_over(&self, now: u64) -> bool {
        self.deadline.is_some_and(|deadline| deadline.as_nanos() <= now)
    }
}

#[derive(Default)]
struct Kernel {
    queues: HashMap<usize, Vec<Rc<Sleeper>>>,
    /// The time.
    now: u64,
}

loom::lazy_static! {
    static ref KERNEL: Mutex<Kernel> = Mutex::new(Kernel::default());
}

/// What a model can choose of the machine; see [`set`].
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Buckets of the parking table, at most [`MOST_BUCKETS`]. With 1 every two addresses collide.
    pub buckets: usize,
    /// Whether every sleeper has waited for so long that it is handed its lock, or none.
    pub overdue: bool,
    /// Whether a waiter on deck polls, and one of a condition variable watches, once, before it
    /// sleeps.
    pub polls: bool,
    pub fences: Fences,
    pub relaxes: Relaxes,
    /// Whether the loads that loom forgets are remembered, see [`readers`]; many more executions.
    pub remembers: bool,
    /// How many CPUs the threads started by [`spawn`] run on in turn, from the second on; the first
    /// has the model's own thread.
    pub cpus: u32,
}

/// What the two halves of an asymmetric pair of fences are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the tests of the zoo choose none")]
pub enum Fences {
    /// Both full: stronger than any machine, and the quickest to explore.
    Full,
    /// The light half nothing, the heavy one a fence of all threads, which must then be started by
    /// [`spawn`].
    Asymmetric,
    /// A kernel refuses membarrier: both full, but for a light half that is only presumed.
    Refused,
}

/// How far attention may be relaxed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the tests of the zoo choose none")]
pub enum Relaxes {
    /// As many releases as it takes, at once.
    ToSkip,
    /// Never as many as it takes until releases skip, but for the first time.
    ToLight,
    /// There were too many heavy fences, all the time.
    Never,
}

impl Setting {
    pub const DEFAULT: Self = Self {
        buckets: MOST_BUCKETS,
        overdue: false,
        polls: true,
        fences: Fences::Full,
        relaxes: Relaxes::ToSkip,
        remembers: false,
        cpus: 1,
    };
}

/// As many as there are different objects in the largest model.
pub const MOST_BUCKETS: usize = 2;

thread_local! {
    static SETTING: Cell<Setting> = const { Cell::new(Setting::DEFAULT) };
}

/// Chooses the machine of the models that the calling test runs from now on.
#[allow(dead_code, reason = "not every test that has this platform changes it")]
pub fn set(setting: Setting) {
    SETTING.set(setting);
}

fn is_asymmetric() -> bool {
    SETTING.get().fences == Fences::Asymmetric
}

thread_local! {
    /// How many threads [`spawn`] has started in this execution.
    static STARTED: Cell<u32> = const { Cell::new(0) };
}

loom::thread_local! {
    /// The number of a thread of the model, in the order in which they are started.
    static NUMBER: Cell<u32> = Cell::new(0);
}

struct Table {
    /// The addresses seen so far: an address's bucket is its place here, because an execution is
    /// repeated with other addresses.
    addresses: std::sync::Mutex<Vec<usize>>,
    attention: [AtomicU8; MOST_BUCKETS],
    buckets: [Bucket<Loom>; MOST_BUCKETS],
}

loom::lazy_static! {
    static ref TABLE: Table = Table {
        addresses: std::sync::Mutex::default(),
        attention: [AtomicU8::new(0), AtomicU8::new(0)],
        buckets: [Bucket::new(), Bucket::new()],
    };
}

fn place(address: usize) -> usize {
    let mut addresses = TABLE.addresses.lock().expect("no panic while it is held");
    let place = addresses.iter().position(|&other| other == address).unwrap_or_else(|| {
        addresses.push(address);
        addresses.len() - 1
    });
    place % SETTING.get().buckets
}

fn kernel() -> MutexGuard<'static, Kernel> {
    KERNEL.lock().expect("no panic while the kernel's mutex is held")
}

fn wake_first(kernel: &mut Kernel, address: usize, count: usize) -> usize {
    let Some(queue) = kernel.queues.get_mut(&address) else { return 0 };
    let woken = queue.drain(..count.min(queue.len())).map(|sleeper| {
        sleeper.woken.set(true);
        sleeper.thread.unpark();
    });
    woken.count()
}

fn sleep(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
    let mut kernel = kernel();
    // The kernel's mutex orders this load after every store that came before a wake.
    if word.load(Ordering::Relaxed) != expected {
        return FutexWait::Mismatch;
    }
    let address = std::ptr::from_ref(word).addr();
    let sleeper = Rc::new(Sleeper {
        thread: loom::thread::current(),
        woken: loom::cell::Cell::new(false),
        deadline,
    });
    kernel.queues.entry(address).or_default().push(sleeper.clone());
    while !sleeper.woken.get() {
        if sleeper.is_over(kernel.now) {
            let queue = kernel.queues.get_mut(&address).expect("still queued");
            queue.retain(|other| !Rc::ptr_eq(other, &sleeper));
            return FutexWait::TimedOut;
        }
        drop(kernel);
        blocked(loom::thread::park);
        kernel = self::kernel();
    }
    FutexWait::Woken
}

/// Lets the time pass to `now`: every deadline until then is over.
#[allow(dead_code, reason = "not every test that has this platform has deadlines")]
pub fn pass_time(now: u64) {
    let mut kernel = kernel();
    kernel.now = now;
    let sleepers = kernel.queues.values().flatten();
    for sleeper in sleepers.filter(|sleeper| sleeper.is_over(now)) {
        sleeper.thread.unpark();
    }
}

impl Platform for Loom {
    type AtomicU8 = AtomicU8;
    type AtomicU32 = AtomicU32;
    type AtomicUsize = AtomicUsize;
    type AtomicPtr<T: 'static> = AtomicPtr<T>;

    fn test_and_set(flag: &AtomicU8, order: Ordering) -> bool {
        flag.compare_exchange(0, 1, order, Ordering::Relaxed).is_err()
    }

    fn fence(order: Ordering) {
        atomic::fence(order);
    }

    fn light_fence() {
        if !is_asymmetric() {
            atomic::fence(Ordering::SeqCst);
        }
    }

    fn heavy_fence() {
        if is_asymmetric() {
            fence::heavy();
        } else {
            atomic::fence(Ordering::SeqCst);
        }
    }

    fn pause() {
        loom::thread::yield_now();
    }

    // One turn of a waiting loop is as good as a hundred for a model checker.
    fn pause_times(_count: u32) {
        loom::thread::yield_now();
    }

    fn spin_again() {
        loom::thread::yield_now();
    }

    // Nor do a thousand releases differ from one: only those that it takes until releases skip may
    // be too many.
    fn spins(count: u32) -> u32 {
        if count >= 20_000 && SETTING.get().relaxes == Relaxes::ToLight { count } else { 1 }
    }

    fn yield_now() {
        loom::thread::yield_now();
    }

    fn now() -> Timestamp {
        Timestamp::from_nanos(kernel().now)
    }

    fn ticks() -> u64 {
        0
    }

    fn ticks_per_second() -> u64 {
        1
    }

    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        sleep(word, expected, deadline)
    }

    fn futex_wake(address: *const AtomicU32, count: u32) -> usize {
        wake_first(&mut kernel(), address.addr(), count as usize)
    }

    fn futex_requeue(
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

    // Time does not pass: a duration is nothing, but for the patience of sleepers.
    fn ticks_in(nanos: u32) -> usize {
        usize::from(nanos >= 500_000 && !SETTING.get().overdue)
    }

    fn fences_are_asymmetric() -> bool {
        SETTING.get().fences != Fences::Refused
    }

    fn presumed_light_fence() {
        if SETTING.get().fences == Fences::Full {
            atomic::fence(Ordering::SeqCst);
        }
    }

    fn may_relax() -> bool {
        Self::fences_are_asymmetric() && SETTING.get().relaxes != Relaxes::Never
    }

    fn once_in(_count: u32) -> bool {
        true
    }

    fn attention(address: usize) -> &'static AtomicU8 {
        &TABLE.attention[place(address)]
    }

    fn bucket(address: usize) -> &'static Bucket<Self> {
        let table = std::ptr::from_ref(&TABLE.buckets).addr();
        watch::table(table..table + size_of_val(&TABLE.buckets));
        &TABLE.buckets[place(address)]
    }

    fn polling() -> Polling {
        let mut polling = Polling::default();
        polling.budget = u32::from(SETTING.get().polls);
        polling.watch = polling.budget;
        polling
    }

    // From 100 on: the watch takes a 1 for the status of a node.
    fn cpu() -> u32 {
        100 + NUMBER.with(Cell::get) % SETTING.get().cpus
    }

    fn cpus() -> usize {
        2
    }
}

/// The bound of involuntary switches, or as many more as the environment's `ONDECK_LOOM_DEEPER` says.
#[allow(dead_code, reason = "broken locks need no more")]
pub fn deeper(preemptions: usize) -> usize {
    preemptions + number("ONDECK_LOOM_DEEPER").unwrap_or(0)
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Explores `scenario` with at most `preemptions` involuntary switches in each execution, and says how
/// many executions there were.
///
/// Until the environment's `ONDECK_LOOM_SECONDS` are over, if there are any: it then says that it was
/// cut.
pub fn model(what: &str, preemptions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    let most = number("ONDECK_LOOM_SECONDS").map(|seconds| Duration::from_secs(seconds as u64));
    builder.max_duration = most;
    // How often it looks at the clock.
    builder.checkpoint_interval = 1_000;
    let executions = Arc::new(Count::new(0));
    let count = Arc::clone(&executions);
    let start = Instant::now();
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        watch::begin();
        fence::begin(is_asymmetric());
        readers::begin(SETTING.get().remembers);
        STARTED.set(0);
        scenario();
    });
    let (time, executions) = (start.elapsed(), executions.load(Ordering::Relaxed));
    let cut = if most.is_some_and(|most| time >= most) { ", cut" } else { "" };
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let space = if what.is_empty() { "" } else { " " };
    println!(
        "{test}{space}{what}: {preemptions} switches, {executions} executions, {time:.1?}{cut}"
    );
}

/// What only blocks the calling thread.
fn blocked<R>(block: impl FnOnce() -> R) -> R {
    if !is_asymmetric() {
        return block();
    }
    fence::fall_quiet();
    let result = block();
    fence::go_on();
    result
}

/// Starts a thread of the model.
#[allow(dead_code, reason = "not every test that has this platform needs it")]
pub fn spawn<R: 'static>(body: impl FnOnce() -> R + 'static) -> loom::thread::JoinHandle<R> {
    let number = STARTED.get() + 1;
    STARTED.set(number);
    loom::thread::spawn(move || {
        NUMBER.with(|own| own.set(number));
        if !is_asymmetric() {
            return body();
        }
        fence::join_in();
        let result = body();
        fence::fall_quiet();
        result
    })
}

/// Waits for the end of a thread.
#[allow(dead_code, reason = "not every test that has this platform needs it")]
pub fn join<R>(thread: loom::thread::JoinHandle<R>) -> R {
    blocked(|| thread.join()).expect("the other thread ends")
}

/// How many threads sleep on a futex.
#[allow(dead_code, reason = "not every test that has this platform asks")]
pub fn asleep() -> usize {
    kernel().queues.values().map(Vec::len).sum()
}

/// Whether nothing is left in the parking table.
#[allow(dead_code, reason = "not every test that has this platform asks")]
pub fn is_at_rest() -> bool {
    TABLE.buckets.iter().all(Bucket::is_at_rest)
}
