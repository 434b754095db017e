//! The real machine with atomics that tell what is written to them, and with a time that passes when a test says
//! so.

use std::cell::{Cell, RefCell};
use std::sync::OnceLock;
use std::sync::atomic::{self, AtomicU64, AtomicUsize};

use ondeck::parking::{BIASES, Bias, Bucket, Row, bias_of};
use ondeck::platform::{
    AtomicInt, AtomicPointer, Estimates, Fences, FutexWait, Host, Linux, Ordering, Platform,
    Threads, Timestamp,
};

/// Runs locks whose writes are counted.
#[derive(Debug)]
pub struct Counting;

/// How a word was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Store,
    /// A read-modify-write.
    Change,
}

thread_local! {
    static WRITTEN: RefCell<Vec<(Write, usize)>> = const { RefCell::new(Vec::new()) };
    /// Of each thread, so that a test is not disturbed by another.
    static NOW: Cell<u64> = const { Cell::new(1) };
    static ROW: Cell<Option<usize>> = const { Cell::new(None) };
}

/// What the calling thread writes while it does `what`, in order.
pub fn written(what: impl FnOnce()) -> Vec<(Write, usize)> {
    WRITTEN.take();
    what();
    WRITTEN.take()
}

/// Longer than a lock rests.
pub fn pass_time() {
    NOW.set(NOW.get() + (1 << 40));
}

/// An atomic that tells what is written to it.
#[derive(Debug)]
#[repr(transparent)]
pub struct Counted<A>(A);

impl<A> Counted<A> {
    fn change(&self) -> &A {
        self.note(Write::Change)
    }

    fn note(&self, write: Write) -> &A {
        WRITTEN.with_borrow_mut(|written| written.push((write, std::ptr::from_ref(self).addr())));
        &self.0
    }
}

// SAFETY: each method is that of the real machine's atomic.
unsafe impl<A: AtomicInt> AtomicInt for Counted<A> {
    type Value = A::Value;

    fn new(value: A::Value) -> Self {
        Self(A::new(value))
    }
    fn load(&self, order: Ordering) -> A::Value {
        self.0.load(order)
    }
    fn store(&self, value: A::Value, order: Ordering) {
        self.note(Write::Store).store(value, order);
    }
    forwarded! {
        Self::change =>
        fn swap(value: A::Value, order: Ordering) -> A::Value;
        fn compare_exchange(now: A::Value, new: A::Value, to: Ordering, or: Ordering) -> Result<A::Value, A::Value>;
        fn compare_exchange_weak(now: A::Value, new: A::Value, to: Ordering, or: Ordering) -> Result<A::Value, A::Value>;
        fn fetch_add(value: A::Value, order: Ordering) -> A::Value;
        fn fetch_sub(value: A::Value, order: Ordering) -> A::Value;
        fn fetch_or(value: A::Value, order: Ordering) -> A::Value;
        fn fetch_and(value: A::Value, order: Ordering) -> A::Value;
    }
}

/// A pointer that tells the same.
pub struct CountedPointer<T>(Counted<atomic::AtomicPtr<T>>);

// SAFETY: as above.
unsafe impl<T: 'static> AtomicPointer<T> for CountedPointer<T> {
    fn new(pointer: *mut T) -> Self {
        Self(Counted(atomic::AtomicPtr::new(pointer)))
    }
    fn load(&self, order: Ordering) -> *mut T {
        self.0.0.load(order)
    }
    fn store(&self, pointer: *mut T, order: Ordering) {
        self.0.note(Write::Store).store(pointer, order);
    }
    fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        self.0.note(Write::Change).swap(pointer, order)
    }
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.0.note(Write::Change).compare_exchange(current, new, success, failure)
    }
}

// SAFETY: `Linux` does everything, and keeps the same promises.
unsafe impl Platform for Counting {
    type AtomicU8 = Counted<atomic::AtomicU8>;
    type AtomicU32 = Counted<atomic::AtomicU32>;
    type AtomicUsize = Counted<atomic::AtomicUsize>;
    type AtomicPtr<T: 'static> = CountedPointer<T>;

    delegated! {
        Linux:
        fn fence(order: Ordering);
        fn pause();
        fn yield_now();
        fn now() -> Timestamp;
    }

    fn ticks() -> u64 {
        NOW.get()
    }

    fn ticks_per_second() -> u64 {
        1_000_000_000
    }

    fn futex_wait(word: &Self::AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        Linux::futex_wait(&word.0, expected, deadline)
    }

    fn futex_wake(address: *const Self::AtomicU32, count: u32) -> usize {
        Linux::futex_wake(address.cast(), count)
    }

    fn futex_requeue(
        from: &Self::AtomicU32,
        expected: u32,
        wake: u32,
        to: *const Self::AtomicU32,
        move_: u32,
    ) -> Option<usize> {
        Linux::futex_requeue(&from.0, expected, wake, to.cast(), move_)
    }

    fn ticks_in(nanos: u32) -> usize {
        nanos as usize
    }

    delegated! {
        Linux:
        fn cpus() -> usize;
    }
}

/// All addresses are in one bucket.
struct Table {
    unlock_mode: Counted<AtomicUsize>,
    bucket: Bucket<Counting>,
    biases: [Bias<Counting>; BIASES],
    rows: [Row<Counting>; 16],
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table {
        unlock_mode: Counted(AtomicUsize::new(0)),
        bucket: Bucket::new(),
        biases: std::array::from_fn(|_| Bias::new()),
        rows: std::array::from_fn(|_| Row::new()),
    })
}

// SAFETY: there is one table, and the number of a row is given to one thread.
unsafe impl Host for Counting {
    fn unlock_mode(_address: usize) -> &'static Self::AtomicUsize {
        &table().unlock_mode
    }

    fn bucket(_address: usize) -> &'static Bucket<Self> {
        &table().bucket
    }

    fn row() -> Option<&'static Row<Self>> {
        static ROWS: AtomicU64 = AtomicU64::new(0);
        let row = ROW.get().unwrap_or_else(|| {
            let row = ROWS.fetch_add(1, Ordering::Relaxed) as usize;
            ROW.set(Some(row));
            row
        });
        table().rows.get(row)
    }

    fn rows() -> &'static [Row<Self>] {
        &table().rows
    }

    fn bias(address: usize) -> Option<&'static Bias<Self>> {
        Some(&table().biases[bias_of(address)])
    }
}

// SAFETY: they are those of `Linux`.
unsafe impl Fences for Counting {
    delegated! {
        Linux:
        fn light_fence();
        fn heavy_fence();
    }

    // Light fences are full ones here, so that a heavy one may be as well.
    fn fences_are_asymmetric() -> bool {
        true
    }

    fn may_relax() -> bool {
        true
    }
}

impl Estimates for Counting {}

impl Threads for Counting {
    fn once_in(_count: u32) -> bool {
        true
    }
}
