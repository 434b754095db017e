//! The services that a lock may use of the machine it runs on.
//!
//! [`Platform`] is a parameter of every lock. It has no values, only associated types and
//! functions, so a lock that is generic over it costs nothing once it is compiled for one machine.
//! The other traits add to it: [`Fences`] asymmetric pairs of fences, [`Estimates`] the measured
//! times of waiting threads, [`Threads`] the scheduler's knowledge of a thread, [`PiFutex`] the
//! futexes that inherit priorities. A machine with these and a [`parking`](crate::parking) table is
//! a [`Host`](crate::parking::Host).
//!
//! The same locks run on three machines: Linux, the loom model checker, and coroutines in virtual
//! time. The trait reflects these lessons:
//!
//! * **Construction is not `const`.** A model checker's atomics register themselves when they are
//!   created, so [`AtomicInt::new`] cannot be `const`. A type that needs a constant initializer
//!   provides one for the concrete [`Native`](crate::platform::Native).
//! * **A wake takes an address, not a reference.** Once a lock is unlocked its memory may be gone,
//!   while a wake may still be on its way. [`Platform::futex_wake`] therefore takes a raw pointer
//!   and never reads through it.
//! * **A failed attempt must not write.** If a failing attempt writes (an exchange of 1 over 1), a
//!   model checker explores its loop for ever, because every turn looks like progress.
//!   [`Platform::test_and_set`] is an exchange on a machine and a compare-exchange under a checker.
//! * **Every turn of a waiting loop passes through the platform.** [`Platform::pause`] is a hint on
//!   a machine, but a model checker must run another thread there, or the loop never ends.
//! * **Time is a number.** A deadline is absolute, in nanoseconds of the platform's monotonic clock
//!   ([`Timestamp`]), so that a platform can control time altogether.

mod atomic;
mod estimates;
mod fences;
mod pi;
mod polling;
mod threads;
mod time;

pub use atomic::{AtomicInt, AtomicPointer};
pub use core::sync::atomic::Ordering;
pub use estimates::{Estimate, Estimates};
pub use estimates::{averaged_cost, relax_interval};
pub use fences::Fences;
pub use pi::{PiFutex, PiLock, PiUnlock};
pub use polling::{MEASURED, Polling};
pub use threads::{Threads, UNKNOWN_CPU};
pub use time::Timestamp;

/// Why [`Platform::futex_wait`] returned.
///
/// Every outcome but [`TimedOut`](FutexWait::TimedOut) only means that the caller must check again:
/// it reads its word and waits once more if it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a wait that timed out must not be mistaken for a wake"]
pub enum FutexWait {
    /// A wake chose this thread, or the wait ended spuriously.
    Woken,
    /// The word did not hold the expected value when the wait began.
    Mismatch,
    /// A signal handler ran on this thread.
    Interrupted,
    /// The deadline passed.
    TimedOut,
}

/// A machine that locks can run on: the real one, a model checker's, or a simulated one.
///
/// All functions are associated, and none takes `self`: a platform is a type, never a value. On
/// [`Native`](crate::platform::Native) none of them allocates, and none panics, with two exceptions
/// that `docs/systems.md` names.
///
/// # Memory ordering
///
/// Atomic operations take the [`Ordering`] of the C++20 model. A futex wake happens after
/// everything that its caller did before it. A wait that a wake ended happens after that wake only
/// if the word is then read with `Acquire`: the futex itself is not a synchronization operation of
/// the memory model, and no lock may rely on it as one.
///
/// # Safety
///
/// Locks rely on a platform for mutual exclusion, and so for the memory safety of the data that
/// they protect.
///
/// * Between two stores of 0 to the flag, only one call of [`test_and_set`](Self::test_and_set)
///   returns false. It has at least the ordering that it is given.
/// * [`fence`](Self::fence) is the fence of the memory model.
/// * [`futex_wake`](Self::futex_wake) never accesses memory at its address, nor does
///   [`futex_requeue`](Self::futex_requeue) at `to`. Words that are passed by reference are only
///   read.
/// * While [`single_threaded`](Self::single_threaded) is true, no other thread uses locks of the
///   platform.
/// * No function unwinds while other threads of the platform continue: nodes on the unwinding stack
///   may be linked where those threads find them.
///
/// Clocks, pauses and missing wakes only delay a thread, at worst for ever. No memory safety
/// depends on them.
pub unsafe trait Platform: Sized + Send + Sync + 'static {
    /// A byte shared between threads.
    type AtomicU8: AtomicInt<Value = u8>;
    /// The 32-bit word that a futex works on.
    type AtomicU32: AtomicInt<Value = u32>;
    /// A machine word.
    type AtomicUsize: AtomicInt<Value = usize>;
    /// A pointer shared between threads.
    type AtomicPtr<T: 'static>: AtomicPointer<T>;

    /// Sets `flag` to 1 and returns whether it was set before.
    ///
    /// One atomic read-modify-write. A platform may leave an already set flag unwritten, which no
    /// other thread can distinguish; model checkers need that to see that a retry made no progress.
    #[inline(always)]
    fn test_and_set(flag: &Self::AtomicU8, order: Ordering) -> bool {
        flag.swap(1, order) != 0
    }

    /// A fence of the memory model, as [`core::sync::atomic::fence`].
    fn fence(order: Ordering);

    /// Hints to the CPU that this is a turn of a waiting loop.
    ///
    /// PAUSE on x86-64, ISB on aarch64. Its length differs by a factor of more than a hundred
    /// between machines: a lock that needs a specific time must measure it with
    /// [`ticks`](Self::ticks).
    fn pause();

    /// [`pause`](Self::pause), `count` times in a row.
    #[inline]
    fn pause_times(count: u32) {
        for _ in 0..count {
            Self::pause();
        }
    }

    /// A turn of a waiting loop without even a hint to the CPU: nothing at all on a machine.
    ///
    /// For locks that poll without [`pause`](Self::pause) by design. A model checker runs another
    /// thread here; otherwise the loop would never end.
    #[inline(always)]
    fn spin_again() {}

    /// Returns how many turns a bounded spin of `count` turns, or another repetition that ends by
    /// count, really makes: `count`.
    ///
    /// A model checker reduces it to 1. If a spin that fails continues with another way of waiting,
    /// one turn shows every interleaving that a hundred turns show, and a hundred would take for
    /// ever to explore.
    #[inline(always)]
    fn spins(count: u32) -> u32 {
        count
    }

    /// Offers the CPU to another runnable thread: sched_yield(2).
    ///
    /// The scheduler is free to return at once. It is here for locks of the literature that use it,
    /// between the polls of a thread that waits for a [`Once`](crate::Once), and for threads of a
    /// [`Barrier`](crate::Barrier) that wait for others without a CPU.
    fn yield_now();

    /// Returns the time on the monotonic clock, the clock of deadlines.
    fn now() -> Timestamp;

    /// Returns the time of the cheapest clock that advances at a constant rate on every CPU, in the
    /// clock's unit.
    ///
    /// TSC or CNTVCT if it is invariant, else the monotonic clock. Not serializing: the CPU may
    /// read it some instructions early or late.
    fn ticks() -> u64;

    /// Returns the number of [`ticks`](Self::ticks) in a second.
    ///
    /// The first call may take a millisecond where the hardware does not report the rate; later
    /// ones are a load.
    fn ticks_per_second() -> u64;

    /// Sleeps while `word` holds `expected`, until a wake or the deadline.
    ///
    /// The check of the word and the sleep are one step with respect to
    /// [`futex_wake`](Self::futex_wake) on the same address: no wake that follows a change of the
    /// word is lost. May return spuriously.
    fn futex_wait(word: &Self::AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait;

    /// Wakes at most `count` threads that sleep on the word at `address`. Returns the number woken,
    /// or 0 where the system does not report it. If the system can wake only one thread or all of
    /// them, a `count` of more than 1 wakes all.
    ///
    /// The address is only a name: it is never read, and may point to memory that is long gone, or
    /// that is already used for something else.
    fn futex_wake(address: *const Self::AtomicU32, count: u32) -> usize;

    /// Sleeps for `nanos` nanoseconds, and somewhat longer, by nanosleep(2); no thread wakes this
    /// one.
    ///
    /// It is a futex wait on a word that no other thread knows. A model checker, which has no time,
    /// runs another thread here.
    fn sleep_nanos(nanos: u32) {
        let word = AtomicInt::new(0);
        let deadline = Self::now().after(core::time::Duration::from_nanos(nanos.into()));
        // A wake for an earlier word at this address, or a signal, may end a wait early.
        while Self::futex_wait(&word, 0, Some(deadline)) != FutexWait::TimedOut {}
    }

    /// If `from` holds `expected`, wakes at most `wake` of the threads that sleep on it, and moves
    /// at most `move_` of the others to sleep on the word at `to`. Returns the number woken and
    /// moved together, as far as the system counts them, or `None` if the word held another value.
    /// All systems except Linux cannot move threads, and wake them instead.
    fn futex_requeue(
        from: &Self::AtomicU32,
        expected: u32,
        wake: u32,
        to: *const Self::AtomicU32,
        move_: u32,
    ) -> Option<usize>;

    /// Converts `nanos` nanoseconds to [`ticks`](Self::ticks), for a lock's own short times.
    fn ticks_in(nanos: u32) -> usize;

    /// Returns whether the process is known to have only one thread: memory shared between threads
    /// then needs no atomic instructions.
    #[inline(always)]
    fn single_threaded() -> bool {
        false
    }

    /// Returns the number of CPUs that the waiting threads of this process may run on, at least 1.
    ///
    /// If it is 1, spinning for another thread only delays that thread. On Linux it is the size of
    /// the largest affinity mask among the threads that have called this in the last second or two,
    /// including the caller. It is cheap, except for a system call in each thread about once a
    /// second.
    fn cpus() -> usize;

    /// Returns the NUMA node, or socket, of the CPU that the caller runs on, for locks that keep
    /// their data on one node for a while.
    ///
    /// A hint: the thread may already be on another node when it uses the result. On Linux it costs
    /// two loads, and a system call once for each CPU.
    #[inline]
    fn node() -> usize {
        0
    }
}
