//! Waiting: from the owner of the mutex to a sleeping thread, and back.

use core::cell::Cell;
use core::ptr;

use super::{OVERDUE_NANOS, RawCondvar};
use crate::mutex::RawMutex;
use crate::observe::FoundTaken;
use crate::parking::{Bucket, Guard, Kind, Node, Slice, end_of_sleep, place, sleep_while, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::Waits;

/// One wait at a condition variable, taken step by step by a caller that makes the futex waits
/// itself. [`RawCondvar::wait`] is such a caller.
///
/// It is for waits that cannot be a call of [`RawCondvar::wait`]: those ended by thread
/// cancellation, whose unwinding may not go through a frame of Rust, and those for a lock that is
/// not of this crate. Call [`begin`](Self::begin), then [`step`](Self::step) until it returns
/// [`Step::Done`]; or, instead of any step, [`cancel`](Self::cancel).
///
/// ```
/// use core::mem::MaybeUninit;
/// use ondeck::condvar::{RawCondvar, Step, Waiter};
/// use ondeck::mutex::RawMutex;
/// use ondeck::platform::{FutexWait, Native, Platform};
///
/// let (mutex, condvar) = (RawMutex::<Native>::new(), RawCondvar::<Native>::new());
/// let deadline = Native::now();
/// mutex.lock();
/// let waiter = Waiter::new(&condvar, Some(&mutex), Some(deadline));
/// // SAFETY: locked above; the waiter stays here until the wait is over.
/// let notified = unsafe {
///     waiter.begin();
///     let mut slept = FutexWait::Woken;
///     loop {
///         match waiter.step(slept) {
///             Step::Sleep { word, expected, until } => {
///                 slept = Native::futex_wait(&*word, expected, until);
///             }
///             Step::Done { notified } => break notified,
///         }
///     }
/// };
/// assert!(!notified && mutex.is_locked());
/// ```
pub struct Waiter<P: Host> {
    pub(super) node: Node<P>,
    /// The byte of the condition variable. It is live while a waiter of this one's series is
    /// linked.
    pub(super) waited: *const P::AtomicU8,
    /// Null: the caller wants a lock that is not of this crate.
    mutex: *const RawMutex<P>,
    /// The number of its series. The node has it only while it is at the condition variable.
    pub(super) series: Cell<usize>,
    /// None once the waiter waits for something without a deadline.
    pub(super) deadline: Cell<Option<Timestamp>>,
    /// None before the thread has parked.
    slice: Cell<Option<Slice>>,
    /// Whether the mutex was found taken since the wait for the condition variable ended.
    found_taken: FoundTaken,
}

/// The next step of the thread of a [`Waiter`].
#[derive(Debug)]
pub enum Step<P: Host> {
    /// Sleep while the word holds this value, until a wake or until `until`, as
    /// [`Platform::futex_wait`](crate::platform::Platform::futex_wait) does. The sleep may end at
    /// any time.
    Sleep {
        /// A word of the waiter, aligned, for a private futex.
        word: *const P::AtomicU32,
        /// The word's value while there is nothing else to do.
        expected: u32,
        /// The end of this sleep, on the platform's clock; it may be before the wait's deadline.
        until: Option<Timestamp>,
    },
    /// The wait is over, and its mutex is locked again if it has one.
    Done {
        /// Whether the waiter was notified. If not, its deadline has passed.
        notified: bool,
    },
}

impl<P: Host> RawCondvar<P> {
    /// Unlocks the mutex, sleeps until notified or until the deadline, and locks the mutex again.
    /// Returns whether it was notified.
    ///
    /// It does not return spuriously, unless another wait there was [cancelled](Waiter::cancel).
    /// But the caller's condition may have changed again before the caller owns the mutex.
    ///
    /// # Safety
    ///
    /// The calling thread owns the mutex.
    pub unsafe fn wait(&self, mutex: &RawMutex<P>, deadline: Option<Timestamp>) -> bool {
        let waiter = Waiter::new(self, Some(mutex), deadline);
        // SAFETY: the caller owns the mutex. The waiter stays here until the wait is over.
        unsafe {
            waiter.begin();
            waiter.sleep()
        }
    }

    /// Waits with a lock that is not a [`RawMutex`]: `unlocked` unlocks it, calls the function that
    /// it receives, and locks it again. Returns the result of `unlocked`.
    ///
    /// That function sleeps until notified or until the deadline, and returns whether it was
    /// notified. If `unlocked` returns or unwinds without a call of it, no notification is lost: it
    /// goes to another waiter, whose wait [may](Waiter::cancel) then end spuriously.
    ///
    /// The waiter is linked before `unlocked` is called, so each thread that acquires the lock
    /// after its unlock finds the waiter.
    ///
    /// # Panics
    ///
    /// If `unlocked` calls the function twice.
    pub fn wait_with<R>(
        &self,
        deadline: Option<Timestamp>,
        unlocked: impl FnOnce(&dyn Fn() -> bool) -> R,
    ) -> R {
        /// Ends the wait if its thread has not slept. It borrows the waiter, because a drop has
        /// what it drops to itself, while other threads access a linked waiter.
        struct Linked<'a, P: Host>(&'a Waiter<P>, Cell<bool>);

        impl<P: Host> Drop for Linked<'_, P> {
            fn drop(&mut self) {
                if !self.1.get() {
                    // SAFETY: it has begun, and no step was taken.
                    unsafe { self.0.cancel() };
                }
            }
        }

        let waiter = Waiter::new(self, None, deadline);
        // SAFETY: the waiter stays here until the wait is over, in the borrow of the condition
        // variable.
        unsafe { waiter.begin() };
        let linked = Linked(&waiter, Cell::new(false));
        unlocked(&|| {
            assert!(!linked.1.replace(true), "a wait is over");
            // SAFETY: it has begun, and this is the first step.
            unsafe { linked.0.sleep() }
        })
    }
}

impl<P: Host> Waiter<P> {
    /// Creates a wait at a condition variable until the deadline, if there is one. It has not
    /// begun.
    ///
    /// If `mutex` is `None`, the caller has another lock: it unlocks that between
    /// [`begin`](Self::begin) and the first [`step`](Self::step), and locks it again after the last
    /// one. A notification then wakes the thread instead of moving it to the mutex.
    #[inline]
    pub fn new(
        condvar: &RawCondvar<P>,
        mutex: Option<&RawMutex<P>>,
        deadline: Option<Timestamp>,
    ) -> Self {
        let byte = mutex.map_or(ptr::null(), RawMutex::byte);
        let now = P::ticks() as usize;
        let node = Node::new(Kind::Condvar, condvar.address(), byte, now);
        node.set_status(status::NEAR);
        node.set_due(now.wrapping_add(P::ticks_in(OVERDUE_NANOS)));
        Self {
            node,
            waited: &raw const condvar.waited,
            mutex: mutex.map_or(ptr::null(), ptr::from_ref),
            series: Cell::new(0),
            deadline: Cell::new(deadline),
            slice: Cell::new(None),
            found_taken: FoundTaken::default(),
        }
    }

    /// Begins the wait: from now on notifications find the waiter. Unlocks the mutex, if it has
    /// one.
    ///
    /// # Safety
    ///
    /// The wait has not begun before. The condition variable is live until the waiter was notified
    /// or the wait is over. The mutex is live until the wait is over, and the calling thread owns
    /// it. The waiter is neither moved nor freed before the wait is over: before
    /// [`step`](Self::step) has returned [`Step::Done`], or [`cancel`](Self::cancel) has returned.
    #[inline]
    pub unsafe fn begin(&self) {
        // spec: Condvar!Link
        let guard = self.bucket().lock();
        // SAFETY: it is new, and unlinked before the wait is over.
        self.series.set(unsafe { guard.link_in_series(&self.node) });
        // SAFETY: as the caller promises.
        unsafe { &*self.waited }.store(1, Ordering::Relaxed);
        drop(guard);
        if let Some(mutex) = self.mutex() {
            mutex.is_left();
            // SAFETY: the caller owns it.
            unsafe { mutex.unlock() };
        }
    }

    /// Takes all steps, and sleeps between them. Returns whether the waiter was notified.
    ///
    /// # Safety
    ///
    /// As for [`step`](Self::step).
    #[inline]
    pub(crate) unsafe fn sleep(&self) -> bool {
        let mut slept = FutexWait::Woken;
        loop {
            // SAFETY: as the caller promises; it is not over yet.
            match unsafe { self.step(slept) } {
                Step::Sleep { word, expected, until } => {
                    // SAFETY: a word of the waiter.
                    let woken = sleep_while::<P>(unsafe { &*word }, expected, until).is_some();
                    slept = if woken { FutexWait::Woken } else { FutexWait::TimedOut };
                }
                Step::Done { notified } => return notified,
            }
        }
    }

    /// Takes the next step. `slept` is the result of the sleep that the previous step asked for; at
    /// the first step, any value.
    ///
    /// The first step reads the waiter's own node for a while. The last one locks the mutex, if
    /// there is one, and may sleep for it.
    ///
    /// # Safety
    ///
    /// The wait has [begun](Self::begin), by the calling thread, and is not over.
    #[inline]
    pub unsafe fn step(&self, slept: FutexWait) -> Step<P> {
        let Some(slice) = self.slice.get() else { return self.first_step() };
        if slept == FutexWait::TimedOut
            && let Some(done) = self.time_out(slice)
        {
            return done;
        }
        // spec: Condvar!EndSleep
        self.look()
    }

    /// Waits near for a while, then parks.
    #[inline]
    fn first_step(&self) -> Step<P> {
        if self.watch() || !self.park() {
            return self.notified();
        }
        self.slice.set(Some(Slice::begin_idle::<P>()));
        self.look()
    }

    /// Sleeps again, unless the waiter was notified.
    fn look(&self) -> Step<P> {
        // spec: Condvar!Wait
        if self.node.status() != status::PARKED {
            return self.notified();
        }
        // A waiter without a mutex is never moved, and so has nothing to check between its sleeps.
        let slice = self.slice.get().filter(|_| !self.mutex.is_null());
        let until = end_of_sleep(self.deadline.get(), slice);
        Step::Sleep { word: ptr::from_ref(self.node.word()), expected: status::PARKED, until }
    }

    /// Handles the end of a sleep that timed out.
    fn time_out(&self, mut slice: Slice) -> Option<Step<P>> {
        if self.deadline.get().is_none_or(|deadline| P::now() < deadline) {
            let mutex = self.mutex()?;
            slice.next::<P>();
            self.slice.set(Some(slice));
            if self.was_moved(mutex) {
                // As a thread that is parked for the mutex, it also checks on the responsible
                // thread.
                self.found_taken.note(|| true);
                self.relock(mutex);
                return Some(Step::Done { notified: true });
            }
            return None;
        }
        // spec: Condvar!TimeOut
        if self.withdraw() {
            self.lock_again();
            return Some(Step::Done { notified: false });
        }
        // Notified at the last moment: its wait for the mutex has no deadline.
        self.deadline.set(None);
        None
    }

    /// Returns the bucket of the condition variable.
    fn bucket(&self) -> &'static Bucket<P> {
        P::bucket(self.waited.addr())
    }

    pub(super) fn mutex(&self) -> Option<&RawMutex<P>> {
        // SAFETY: the mutex is live until the wait is over.
        unsafe { self.mutex.as_ref() }
    }

    /// Returns whether a notifier has linked the waiter for its mutex.
    fn was_moved(&self, mutex: &RawMutex<P>) -> bool {
        let address = mutex.byte().addr();
        // spec: Condvar!WasMoved
        let _guard = P::bucket(address).lock();
        self.node.waits_for(Kind::Lock, address)
    }

    /// Returns whether no notifier has taken the waiter. If one has, the queue has ended, or is of
    /// a later series; a node that was taken alone is of none.
    fn is_linked(&self, guard: &Guard<'_, P>) -> bool {
        let newest = guard.newest(Kind::Condvar, self.waited.addr());
        newest.is_some_and(|newest| newest.series() == self.node.series())
    }

    /// Unlinks the waiter, whose time is over. Returns false if it was notified first.
    pub(super) fn withdraw(&self) -> bool {
        // spec: Condvar!Withdraw
        let guard = self.bucket().lock();
        if !self.is_linked(&guard) {
            return false;
        }
        // SAFETY: it is linked here.
        unsafe { guard.unlink(Kind::Condvar, &self.node) };
        if guard.newest(Kind::Condvar, self.waited.addr()).is_none() {
            // SAFETY: the condition variable is live until the wait is over.
            unsafe { &*self.waited }.store(0, Ordering::Relaxed);
        }
        true
    }

    /// Locks the mutex, if there is one, of a waiter that has withdrawn.
    pub(super) fn lock_again(&self) {
        if let Some(mutex) = self.mutex() {
            self.found_taken.note(|| {
                self.node.since.store(P::ticks() as usize, Ordering::Relaxed);
                mutex.is_locked()
            });
            mutex.lock();
        }
    }

    /// Returns, for a recorder of contention, once the wait is over, how many nanoseconds the
    /// thread has waited for its mutex since its notification or its deadline. Returns `None` if
    /// the mutex was free, and without the feature `profile`.
    ///
    /// A thread that sleeps while the mutex is free has not waited for the mutex, but for its CPU.
    /// Such a thread is recognized by a wake that came with the notification.
    pub fn waited_for_mutex(&self) -> Option<u64> {
        /// The time of a notification that moves a few waiters and wakes one.
        const ONE_NOTIFICATION: u32 = 2_000;
        let found_taken = self.found_taken.get()?;
        let since = self.node.since.load(Ordering::Relaxed);
        let queued = self.node.woken.load(Ordering::Relaxed).wrapping_sub(since);
        // If there was no wake since the notification, the recorded time of the wake is an earlier
        // one.
        let was_queued = queued.cast_signed() > P::ticks_in(ONE_NOTIFICATION).cast_signed();
        (found_taken || was_queued).then(|| {
            let ticks = (P::ticks() as usize).wrapping_sub(since) as u128;
            (ticks * 1_000_000_000 / u128::from(P::ticks_per_second().max(1))) as u64
        })
    }

    /// Continues a notified waiter until it owns the mutex.
    fn notified(&self) -> Step<P> {
        if let Some(mutex) = self.mutex() {
            self.found_taken.note(|| mutex.is_locked());
            self.relock(mutex);
        }
        Step::Done { notified: true }
    }

    /// Locks the mutex of a waiter that was notified.
    fn relock(&self, mutex: &RawMutex<P>) {
        // spec: Condvar!Notified
        if self.node.status() == status::COMPETE {
            // It was near, and is not linked.
            mutex.lock();
        } else {
            mutex.wait_moved(&self.node);
        }
    }

    /// Reads the caller's own status for a while. Returns true if it was notified in that time. If
    /// not, it is still `NEAR`.
    fn watch(&self) -> bool {
        let ticks = Waits::now::<P>().watch;
        let watches = &self.bucket().watches;
        if ticks == 0 || !watches.is_worth_it() {
            return false;
        }
        let notified = stay_near(&self.node, ticks);
        watches.note(notified);
        notified
    }

    /// Parks, unless the waiter was notified first. Returns whether it parked. If a notifier has
    /// taken it by then, and has yet to notify it, the notifier finds it parked.
    ///
    /// A real-time thread goes before all others.
    fn park(&self) -> bool {
        self.node.place.store(place::<P>(), Ordering::Relaxed);
        let priority = P::priority();
        if priority == 0 {
            // spec: Condvar!LeaveNear
            return self.node.leave_near(status::PARKED);
        }
        let guard = self.bucket().lock();
        self.node.priority.store(priority, Ordering::Relaxed);
        let parks = self.node.leave_near(status::PARKED);
        if parks && self.is_linked(&guard) {
            // SAFETY: it is linked here.
            unsafe { guard.move_by_priority(Kind::Condvar, &self.node) };
        }
        parks
    }
}

/// Returns whether the caller is notified within this number of ticks.
fn stay_near<P: Host>(node: &Node<P>, ticks: usize) -> bool {
    // spec: Condvar!Watch
    node.is_told_within(ticks)
}
