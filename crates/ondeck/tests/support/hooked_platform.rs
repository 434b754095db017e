//! The real machine with a table of a test's own, of one bucket. It calls the test's hooks, in which the
//! test may stop a thread, count, or do something else.
//!
//! The default of each hook is [`Linux`]'s own function. Each test has hooks of its own, and so a table.
//! Fences count as asymmetric, whatever the kernel has: both halves are full ones.

#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

#[path = "hooked_word.rs"]
mod hooked_word;

use ondeck::parking::{Bias, Bucket};
use ondeck::platform::{AtomicInt, AtomicPointer, FutexWait, Host, Linux, Platform, Timestamp};
use ondeck::spin::Polling;

use hooked_word::Word;

/// What a test does instead of the machine, or in addition.
pub trait Hooks: Copy + fmt::Debug + Send + Sync + 'static {
    /// Where the table is kept.
    fn place() -> &'static OnceLock<Place<Self>>;

    /// A mutex or a condition variable is written.
    fn store(byte: &AtomicU8, value: u8, order: Ordering) {
        byte.store(value, order);
    }
    /// A machine word of the table or of a node is read.
    fn load_number(number: &AtomicUsize, order: Ordering) -> usize {
        number.load(order)
    }
    /// A machine word of the table or of a node is written.
    fn store_number(number: &AtomicUsize, value: usize, order: Ordering) {
        number.store(value, order);
    }
    /// Before an unlock asks how much it has to look.
    fn unlock_mode() {}
    /// In an unlock, behind its store.
    fn presumed_light_fence() {
        fence(Ordering::SeqCst);
    }
    fn fence(order: Ordering) {
        fence(order);
    }
    fn heavy_fence() {
        fence(Ordering::SeqCst);
    }
    fn fences_are_asymmetric() -> bool {
        true
    }
    fn heavy_fences_are_refused() -> bool {
        false
    }
    fn may_relax() -> bool {
        true
    }
    /// If a sleep until then ends at once: how it ends. Not called for a bucket's lock.
    fn sleep(_until: Option<Timestamp>) -> Option<FutexWait> {
        None
    }
    /// Before a thread is woken. Not called for a bucket's lock.
    fn wakes() {}
    /// After a thread was woken. Not called for a bucket's lock.
    fn woke() {}
    fn pause() {
        Linux::pause();
    }
    fn spins(count: u32) -> u32 {
        count
    }
    fn now() -> Timestamp {
        Linux::now()
    }
    fn ticks() -> u64 {
        Linux::ticks()
    }
    fn ticks_in(nanos: u32) -> usize {
        Linux::ticks_in(nanos)
    }
    fn polling() -> Polling {
        Polling::default()
    }
    fn cpus() -> usize {
        2
    }
    fn once_in(count: u32) -> bool {
        Linux::once_in(count)
    }
    fn cpu() -> u32 {
        0
    }
    fn priority() -> u32 {
        0
    }
    fn has_real_time_threads() -> bool {
        false
    }
    /// 0: a thread that finds a lock locked does not read it before it polls or parks, so that its pauses
    /// tell a test whether it polls.
    fn transfer_ticks() -> usize {
        0
    }
    fn note_wake(_ticks: usize) {}
    fn wake_ticks() -> usize {
        Self::ticks_in(20_000)
    }
}

/// The machine with these hooks.
#[derive(Clone, Copy, Debug)]
pub struct Hooked<H>(PhantomData<H>);

/// The table.
#[derive(Debug)]
pub struct Place<H: Hooks> {
    unlock_mode: Number<H>,
    bucket: Bucket<Hooked<H>>,
    bias: Bias<Hooked<H>>,
    sleeps: AtomicU32,
    sleeps_when_told: AtomicU32,
}

impl<H: Hooks> Hooked<H> {
    fn table() -> &'static Place<H> {
        H::place().get_or_init(|| Place {
            unlock_mode: AtomicInt::new(0),
            bucket: Bucket::new(),
            bias: Bias::new(),
            sleeps: AtomicU32::new(0),
            sleeps_when_told: AtomicU32::new(0),
        })
    }

    /// The word that unlocks read.
    pub fn mode() -> usize {
        Self::table().unlock_mode.load(Ordering::Relaxed)
    }

    /// How often threads have begun to sleep, without those that sleep for a bucket's lock.
    pub fn sleeps() -> u32 {
        Self::table().sleeps.load(Ordering::SeqCst)
    }

    /// How often a near thread has begun to sleep after another thread has changed its status.
    pub fn sleeps_when_told() -> u32 {
        Self::table().sleeps_when_told.load(Ordering::SeqCst)
    }

    /// Waits until threads have begun to sleep so often.
    pub fn until_sleeps(count: u32) {
        until(|| Self::sleeps() >= count);
    }

    fn is_of_table(address: usize) -> bool {
        let table = std::ptr::from_ref(Self::table()).addr();
        (table..table + size_of::<Place<H>>()).contains(&address)
    }

    /// Waits until nothing is left in the table.
    pub fn until_at_rest() {
        let start = Instant::now();
        while !Self::table().bucket.is_at_rest() {
            assert!(start.elapsed() < Duration::from_secs(10), "the table is not at rest");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Hooks with a table, and what they do.
macro_rules! hooks {
    ($(#[$about:meta])* $name:ident { $($hook:item)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        struct $name;

        impl crate::hooked_platform::Hooks for $name {
            fn place() -> &'static std::sync::OnceLock<crate::hooked_platform::Place<Self>> {
                static PLACE: std::sync::OnceLock<crate::hooked_platform::Place<$name>> =
                    std::sync::OnceLock::new();
                &PLACE
            }

            $($hook)*
        }
    };
}
pub(crate) use hooks;

/// A place at which a thread that has called `stop_me` stops until it is let go.
#[derive(Debug)]
pub struct Gate {
    reached: AtomicBool,
    open: AtomicBool,
}

std::thread_local! {
    /// The gate at which this thread will stop.
    static STOPS_AT: Cell<*const Gate> = const { Cell::new(std::ptr::null()) };
}

impl Gate {
    pub const fn new() -> Self {
        Self { reached: AtomicBool::new(false), open: AtomicBool::new(false) }
    }

    /// The calling thread will stop here once.
    pub fn stop_me(&self) {
        STOPS_AT.set(self);
    }

    /// The calling thread has come to the place.
    pub fn pass(&self) {
        if std::ptr::eq(STOPS_AT.get(), self) {
            STOPS_AT.set(std::ptr::null());
            self.reached.store(true, Ordering::Release);
            until(|| self.open.load(Ordering::Acquire));
            // The gate is ready for the next thread.
            self.reached.store(false, Ordering::Release);
            self.open.store(false, Ordering::Release);
        }
    }

    /// Whether the thread has come to the gate.
    pub fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Acquire)
    }

    /// Waits until the thread has come to the gate.
    pub fn until_reached(&self) {
        until(|| self.is_reached());
    }

    /// Lets the thread go.
    pub fn open(&self) {
        self.open.store(true, Ordering::Release);
    }
}

/// The store buffer of a CPU. It holds an unlock's store until a fence, or until a test drains it.
#[derive(Debug)]
pub struct Buffer {
    /// The address of the byte whose store of 0 is not visible yet; 0 if there is none.
    byte: AtomicUsize,
}

std::thread_local! {
    /// Whether this thread's unlocks stay in its store buffer.
    static BUFFERS: Cell<bool> = const { Cell::new(false) };
}

impl Buffer {
    pub const fn new() -> Self {
        Self { byte: AtomicUsize::new(0) }
    }

    /// From now on the unlocks of the calling thread are buffered.
    pub fn begin(&self) {
        assert_eq!(self.byte.load(Ordering::SeqCst), 0, "one unlock at a time");
        BUFFERS.set(true);
    }

    pub fn store(&self, byte: &AtomicU8, value: u8, order: Ordering) {
        if BUFFERS.get() {
            assert_eq!(value, 0, "an unlock");
            self.byte.store(std::ptr::from_ref(byte).expose_provenance(), Ordering::SeqCst);
        } else {
            byte.store(value, order);
        }
    }

    /// A full fence of the thread with the buffer, or a heavy fence of another thread.
    pub fn drain(&self) {
        let byte = self.byte.swap(0, Ordering::SeqCst);
        if byte != 0 {
            let byte = std::ptr::with_exposed_provenance::<AtomicU8>(byte);
            // SAFETY: the test keeps the byte until its end.
            unsafe { (*byte).store(0, Ordering::SeqCst) };
        }
    }

    /// A full fence drains only the caller's own buffer.
    pub fn fence(&self) {
        if BUFFERS.get() {
            self.drain();
        }
        fence(Ordering::SeqCst);
    }
}

/// Waits until another thread has made the condition true.
pub fn until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

macro_rules! hooked_integers {
    ($($(#[$about:meta])* $name:ident $atomic:ident $value:ident $load:path, $store:path;)*) => {$(
        $(#[$about])*
        #[repr(transparent)]
        pub struct $name<H>($atomic, PhantomData<H>);

        impl<H> fmt::Debug for $name<H> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        // SAFETY: the atomic of `core`; a hook that stores later emulates a store buffer.
        unsafe impl<H: Hooks> AtomicInt for $name<H> {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self($atomic::new(value), PhantomData)
            }
            fn load(&self, order: Ordering) -> $value {
                $load(&self.0, order)
            }
            fn store(&self, value: $value, order: Ordering) {
                $store(&self.0, value, order);
            }
            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, order)
            }
            fn compare_exchange(
                &self,
                now: $value,
                new: $value,
                to: Ordering,
                or: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(now, new, to, or)
            }
            fn compare_exchange_weak(
                &self,
                now: $value,
                new: $value,
                to: Ordering,
                or: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange_weak(now, new, to, or)
            }
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_add(value, order)
            }
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_sub(value, order)
            }
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_or(value, order)
            }
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_and(value, order)
            }
        }
    )*};
}

hooked_integers! {
    /// The byte of a lock.
    Byte AtomicU8 u8 AtomicU8::load, H::store;
    /// A machine word of the table or of a node.
    Number AtomicUsize usize H::load_number, H::store_number;
}

/// What a thread has called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// System calls that wake a thread.
    pub wakes: u32,
    pub heavy_fences: u32,
    /// Pointers of the table that were read, which is the length of the queues that the thread has gone
    /// through.
    pub pointers: u32,
}

std::thread_local! {
    static CALLS: Cell<Calls> = const { Cell::new(Calls { wakes: 0, heavy_fences: 0, pointers: 0 }) };
}

fn count_call(count: impl FnOnce(&mut Calls)) {
    let mut calls = CALLS.get();
    count(&mut calls);
    CALLS.set(calls);
}

/// What the calling thread calls in `work`.
pub fn calls_of(work: impl FnOnce()) -> Calls {
    let before = CALLS.replace(Calls::default());
    work();
    CALLS.replace(before)
}

/// A pointer of the table.
pub struct Pointer<T>(AtomicPtr<T>);

impl<T> fmt::Debug for Pointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// SAFETY: the atomic of `core`.
unsafe impl<T: 'static> AtomicPointer<T> for Pointer<T> {
    fn new(pointer: *mut T) -> Self {
        Self(AtomicPtr::new(pointer))
    }
    fn load(&self, order: Ordering) -> *mut T {
        count_call(|calls| calls.pointers += 1);
        self.0.load(order)
    }
    fn store(&self, pointer: *mut T, order: Ordering) {
        self.0.store(pointer, order);
    }
    fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        self.0.swap(pointer, order)
    }
    fn compare_exchange(
        &self,
        now: *mut T,
        new: *mut T,
        to: Ordering,
        or: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.0.compare_exchange(now, new, to, or)
    }
}

// SAFETY: `Linux` does everything, or a test does it that stops threads, counts, or emulates a machine that
// would be allowed to do the same.
unsafe impl<H: Hooks> Platform for Hooked<H> {
    type AtomicU8 = Byte<H>;
    type AtomicU32 = Word;
    type AtomicUsize = Number<H>;
    type AtomicPtr<T: 'static> = Pointer<T>;

    fn fence(order: Ordering) {
        H::fence(order);
    }
    fn light_fence() {
        Linux::light_fence();
    }
    fn heavy_fence() {
        count_call(|calls| calls.heavy_fences += 1);
        H::heavy_fence();
    }
    fn pause() {
        H::pause();
    }
    fn spins(count: u32) -> u32 {
        H::spins(count)
    }
    fn yield_now() {
        Linux::yield_now();
    }
    fn now() -> Timestamp {
        H::now()
    }
    fn ticks() -> u64 {
        H::ticks()
    }
    fn ticks_per_second() -> u64 {
        Linux::ticks_per_second()
    }
    fn futex_wait(word: &Self::AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        if Self::is_of_table(std::ptr::from_ref(word).addr()) {
            return Linux::futex_wait(word.value(), expected, deadline);
        }
        if let Some(outcome) = H::sleep(deadline) {
            return outcome;
        }
        std::thread_local! {
            /// The word that this thread's last sleep timed out at.
            static TIMED_OUT: Cell<usize> = const { Cell::new(0) };
        }
        /// The shortest slice of a parked thread's sleep is longer, a deadline of these tests shorter.
        const SLICE: std::time::Duration = std::time::Duration::from_millis(15);
        // On a busy machine threads would look after themselves by chance. Where heavy fences are refused
        // they have to.
        let is_slice = deadline.is_some_and(|end| end.since(Linux::now()) > SLICE);
        let deadline = deadline.filter(|_| !is_slice || Self::heavy_fences_are_refused());
        let address = std::ptr::from_ref(word).addr();
        // The next slice of a sleep is not counted as another sleep.
        if TIMED_OUT.replace(0) != address {
            Self::table().sleeps.fetch_add(1, Ordering::SeqCst);
            if word.take_told() {
                Self::table().sleeps_when_told.fetch_add(1, Ordering::SeqCst);
            }
        }
        loop {
            let outcome = Linux::futex_wait(word.value(), expected, deadline);
            if outcome == FutexWait::TimedOut {
                TIMED_OUT.set(address);
                return outcome;
            }
            // After a wake that was meant for an earlier node at this address, the thread goes on with the
            // same sleep.
            if word.load(Ordering::Relaxed) != expected {
                H::woke();
                return outcome;
            }
        }
    }
    fn futex_wake(address: *const Self::AtomicU32, count: u32) -> usize {
        if !Self::is_of_table(address.addr()) {
            count_call(|calls| calls.wakes += 1);
            H::wakes();
        }
        Linux::futex_wake(address.cast(), count)
    }
    fn futex_requeue(
        from: &Self::AtomicU32,
        expected: u32,
        wake: u32,
        to: *const Self::AtomicU32,
        move_: u32,
    ) -> Option<usize> {
        Linux::futex_requeue(from.value(), expected, wake, to.cast(), move_)
    }
    fn ticks_in(nanos: u32) -> usize {
        H::ticks_in(nanos)
    }
    fn cpus() -> usize {
        H::cpus()
    }
}

// SAFETY: there is one word, one bucket and one bias, made once. No test forks. The fences are those of `Linux`, or
// of a test that emulates others.
unsafe impl<H: Hooks> Host for Hooked<H> {
    fn unlock_mode(_: usize) -> &'static Number<H> {
        H::unlock_mode();
        &Self::table().unlock_mode
    }
    fn bucket(_: usize) -> &'static Bucket<Self> {
        &Self::table().bucket
    }
    fn bias(_: usize) -> Option<&'static Bias<Self>> {
        Some(&Self::table().bias)
    }
    fn polling() -> Polling {
        H::polling()
    }
    fn transfer_ticks() -> usize {
        H::transfer_ticks()
    }
    fn fences_are_asymmetric() -> bool {
        H::fences_are_asymmetric()
    }
    fn presumed_light_fence() {
        H::presumed_light_fence();
    }
    fn heavy_fences_are_refused() -> bool {
        H::heavy_fences_are_refused()
    }
    fn may_relax() -> bool {
        H::may_relax()
    }
    fn once_in(count: u32) -> bool {
        H::once_in(count)
    }
    fn cpu() -> u32 {
        H::cpu()
    }
    fn priority() -> u32 {
        H::priority()
    }
    fn has_real_time_threads() -> bool {
        H::has_real_time_threads()
    }
    fn note_wake(ticks: usize) {
        H::note_wake(ticks);
    }
    fn wake_ticks() -> usize {
        H::wake_ticks()
    }
}
