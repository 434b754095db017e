//! A platform that runs a path of one thread and records each access: its location, its value, its ordering, and its
//! source line.
//!
//! Nothing runs at the same time. A thread sees only effects of others that happened before the path began, in the same
//! memory: see `shape.rs`.

use std::cell::{Cell, RefCell};
use std::panic::{self, Location};
use std::ptr;
use std::sync::atomic::{self, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize};
use std::sync::mpsc::{self, Sender};
use std::thread;

use ondeck::parking::{Bias, Bucket, Row};
use ondeck::platform::{
    AtomicInt, AtomicPointer, Estimates, Fences, FutexWait, Host, Ordering, Platform, Threads,
    Timestamp,
};
use ondeck_litmus::Access;

use crate::memory::Memory;

/// Records the accesses of one thread.
#[derive(Debug)]
pub struct Machine;

/// One recorded access.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub access: Access,
    /// The width of the location in bytes.
    pub width: usize,
    pub place: &'static Location<'static>,
}

/// The configuration of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Heavy fences carry the cost.
    pub asymmetric: bool,
    /// The number of the thread, which selects its row.
    pub thread: usize,
}

/// The environment of a path.
#[derive(Clone, Copy)]
struct Context {
    memory: &'static Memory,
    setting: Setting,
    ticks: u64,
}

/// The clock at the beginning, far from any time that a lock has noted, which is 0.
const START: u64 = 1 << 40;

type Told = (Context, Vec<Step>, bool);

thread_local! {
    static CONTEXT: Cell<Context> = Cell::new(Context {
        memory: Memory::leak(),
        setting: Setting { asymmetric: true, thread: 0 },
        ticks: START,
    });
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
    /// The channel to which a path sends its accesses.
    static TELL: RefCell<Option<Sender<Told>>> = const { RefCell::new(None) };
}

/// Gives the paths of the calling thread new memory from now on.
pub fn renew() -> &'static Memory {
    let memory = Memory::leak();
    CONTEXT.set(Context { memory, ticks: START, ..CONTEXT.get() });
    memory
}

/// Runs a path until it ends or reaches a sleep. Returns its accesses, and whether it reached a sleep.
///
/// The path runs in a new thread. A thread that sleeps does so forever: its nodes are linked, and stay there.
pub fn record(setting: Setting, path: fn(&'static Memory)) -> (Vec<Step>, bool) {
    let (sender, receiver) = mpsc::channel();
    let context = Context { setting, ..CONTEXT.get() };
    let thread = thread::spawn(move || {
        CONTEXT.set(context);
        TELL.set(Some(sender));
        path(context.memory);
        tell(false);
    });
    let Ok((context, steps, slept)) = receiver.recv() else {
        let reason = thread.join().expect_err("a path that told nothing has panicked");
        panic::resume_unwind(reason);
    };
    CONTEXT.set(context);
    (steps, slept)
}

fn tell(slept: bool) {
    let sender = TELL.take().expect("a path tells once");
    // The other side waits for it.
    let _ = sender.send((CONTEXT.get(), STEPS.take(), slept));
}

fn advance(ticks: u64) -> u64 {
    let mut context = CONTEXT.get();
    context.ticks += ticks;
    CONTEXT.set(context);
    context.ticks
}

fn note(width: usize, access: Access, place: &'static Location<'static>) {
    STEPS.with_borrow_mut(|steps| steps.push(Step { access, width, place }));
}

/// Returns the name of a location: its offset in the memory that a path may share; none for a location on a stack.
fn location<T>(at: *const T) -> Option<usize> {
    CONTEXT.get().memory.offset(at.addr())
}

/// Returns a value; an address in the shared memory becomes its offset.
fn plain(value: usize) -> u64 {
    CONTEXT.get().memory.offset(value).map_or(value as u64, |offset| 1 << 63 | offset as u64)
}

macro_rules! recorded {
    ($name:ident $atomic:ident $value:ident) => {
        /// An atomic whose accesses are recorded.
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name(atomic::$atomic);

        impl $name {
            fn load_noted(&self, order: Ordering, place: &'static Location<'static>) -> $value {
                let value = self.0.load(Ordering::Relaxed);
                if let Some(location) = location(self) {
                    let access = Access::Load { location, value: plain(value as usize), order };
                    note(size_of::<Self>(), access, place);
                }
                value
            }

            fn change(
                &self,
                order: Ordering,
                place: &'static Location<'static>,
                change: impl FnOnce($value) -> $value,
            ) -> $value {
                let read = self.0.load(Ordering::Relaxed);
                let written = change(read);
                self.0.store(written, Ordering::Relaxed);
                if let Some(location) = location(self) {
                    let (read, written) = (plain(read as usize), plain(written as usize));
                    note(
                        size_of::<Self>(),
                        Access::Modify { location, read, written, order },
                        place,
                    );
                }
                read
            }
        }

        // SAFETY: the values are those of an atomic of `core`, and only one thread uses the memory.
        unsafe impl AtomicInt for $name {
            type Value = $value;
            fn new(value: $value) -> Self {
                Self(atomic::$atomic::new(value))
            }
            #[track_caller]
            fn load(&self, order: Ordering) -> $value {
                self.load_noted(order, Location::caller())
            }
            #[track_caller]
            fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, Ordering::Relaxed);
                if let Some(location) = location(self) {
                    let access = Access::Store { location, value: plain(value as usize), order };
                    note(size_of::<Self>(), access, Location::caller());
                }
            }
            #[track_caller]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.change(order, Location::caller(), |_| value)
            }
            #[track_caller]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let place = Location::caller();
                if self.0.load(Ordering::Relaxed) == current {
                    Ok(self.change(success, place, |_| new))
                } else {
                    Err(self.load_noted(failure, place))
                }
            }
            #[track_caller]
            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }
            #[track_caller]
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.change(order, Location::caller(), |before| before.wrapping_add(value))
            }
            #[track_caller]
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.change(order, Location::caller(), |before| before.wrapping_sub(value))
            }
            #[track_caller]
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.change(order, Location::caller(), |before| before | value)
            }
            #[track_caller]
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.change(order, Location::caller(), |before| before & value)
            }
        }
    };
}

recorded!(Byte AtomicU8 u8);
recorded!(Half AtomicU32 u32);
recorded!(Word AtomicUsize usize);

/// A pointer. Queues are guarded by the lock of their bucket: their accesses are not recorded.
#[derive(Debug)]
pub struct Pointer<T>(AtomicPtr<T>);

// SAFETY: as for the integers.
unsafe impl<T: 'static> AtomicPointer<T> for Pointer<T> {
    fn new(pointer: *mut T) -> Self {
        Self(AtomicPtr::new(pointer))
    }
    fn load(&self, _: Ordering) -> *mut T {
        self.0.load(Ordering::Relaxed)
    }
    fn store(&self, pointer: *mut T, _: Ordering) {
        self.0.store(pointer, Ordering::Relaxed);
    }
    fn swap(&self, pointer: *mut T, _: Ordering) -> *mut T {
        self.0.swap(pointer, Ordering::Relaxed)
    }
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        _: Ordering,
        _: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.0.compare_exchange(current, new, Ordering::Relaxed, Ordering::Relaxed)
    }
}

// SAFETY: only one thread runs at a time, and passes the memory on by a channel, so nothing has to be ordered or
// excluded. A sleeping thread never ends.
unsafe impl Platform for Machine {
    type AtomicU8 = Byte;
    type AtomicU32 = Half;
    type AtomicUsize = Word;
    type AtomicPtr<T: 'static> = Pointer<T>;

    /// A failed attempt is recorded as a load, which orders less than the exchange on a machine.
    #[track_caller]
    fn test_and_set(flag: &Byte, order: Ordering) -> bool {
        flag.compare_exchange(0, 1, order, Ordering::Relaxed).is_err()
    }
    #[track_caller]
    fn fence(order: Ordering) {
        note(0, Access::Fence { order }, Location::caller());
    }
    /// One attempt shows the same as several.
    fn spins(_: u32) -> u32 {
        1
    }
    fn pause() {
        advance(1_000);
    }
    fn yield_now() {}
    fn now() -> Timestamp {
        Timestamp::from_nanos(Self::ticks())
    }
    fn ticks() -> u64 {
        advance(1)
    }
    fn ticks_per_second() -> u64 {
        1_000_000_000
    }
    fn futex_wait(_: &Half, _: u32, deadline: Option<Timestamp>) -> FutexWait {
        /// A wait shorter than this ends before anything else happens.
        const SHORT: u64 = 1_000_000;
        let end = deadline.map_or(u64::MAX, Timestamp::as_nanos);
        let ticks = end.saturating_sub(CONTEXT.get().ticks);
        if ticks > SHORT {
            tell(true);
            loop {
                thread::park();
            }
        }
        advance(ticks);
        FutexWait::TimedOut
    }
    fn futex_wake(_: *const Half, _: u32) -> usize {
        0
    }
    fn futex_requeue(_: &Half, _: u32, _: u32, _: *const Half, _: u32) -> Option<usize> {
        unreachable!("this crate's own locks move waiters in the table");
    }
    fn ticks_in(nanos: u32) -> usize {
        nanos as usize
    }
    /// No thread polls before it parks.
    fn cpus() -> usize {
        1
    }
}

fn full() -> Access {
    Access::Fence { order: Ordering::SeqCst }
}

// SAFETY: all addresses have one bucket. Rows are distinct while the numbers of threads are.
unsafe impl Host for Machine {
    fn unlock_mode(_: usize) -> &'static Word {
        &CONTEXT.get().memory.mode
    }
    fn bucket(_: usize) -> &'static Bucket<Self> {
        &CONTEXT.get().memory.bucket
    }
    fn name_of(address: usize) -> usize {
        CONTEXT.get().memory.offset(address).unwrap_or(address)
    }
    fn row() -> Option<&'static Row<Self>> {
        Some(&CONTEXT.get().memory.rows[CONTEXT.get().setting.thread])
    }
    fn rows() -> &'static [Row<Self>] {
        &CONTEXT.get().memory.rows
    }
    fn bias(_: usize) -> Option<&'static Bias<Self>> {
        Some(&CONTEXT.get().memory.bias)
    }
}

// SAFETY: the checker models both fences as separate accesses, and orders them.
unsafe impl Fences for Machine {
    #[track_caller]
    fn light_fence() {
        let access = if CONTEXT.get().setting.asymmetric { Access::Light } else { full() };
        note(0, access, Location::caller());
    }
    #[track_caller]
    fn heavy_fence() {
        let access = if CONTEXT.get().setting.asymmetric { Access::Heavy } else { full() };
        note(0, access, Location::caller());
    }
    fn fences_are_asymmetric() -> bool {
        CONTEXT.get().setting.asymmetric
    }
    /// As on Linux: nothing, whether or not heavy fences are available.
    #[track_caller]
    fn presumed_light_fence() {
        note(0, Access::Light, Location::caller());
    }
    fn may_relax() -> bool {
        CONTEXT.get().setting.asymmetric
    }
}

impl Estimates for Machine {}

impl Threads for Machine {
    fn once_in(_: u32) -> bool {
        false
    }
}

/// Returns the value at an offset of the memory.
pub fn value_at(memory: &'static Memory, offset: usize, width: usize) -> u64 {
    let memory_at = ptr::from_ref(memory);
    // SAFETY: a recorded location of this width in the memory, which is of the same type each time.
    let value = unsafe {
        match width {
            1 => usize::from(
                (*memory_at.cast::<AtomicU8>().byte_add(offset)).load(Ordering::Relaxed),
            ),
            4 => (*memory_at.cast::<AtomicU32>().byte_add(offset)).load(Ordering::Relaxed) as usize,
            _ => (*memory_at.cast::<AtomicUsize>().byte_add(offset)).load(Ordering::Relaxed),
        }
    };
    memory.offset(value).map_or(value as u64, |offset| 1 << 63 | offset as u64)
}
