//! The one trait that every lock here implements.

use ondeck::platform::Platform;

use crate::LockInfo;

/// A mutual-exclusion lock without data.
///
/// It differs from `lock_api::RawMutex` in one thing: an acquisition brings a
/// [`Context`](Self::Context), because queue locks need memory that belongs to the waiting thread.
/// Other locks take `()`, and the parameter vanishes.
///
/// [`Mutex`](crate::Mutex) is its safe interface.
///
/// # Safety
///
/// Between a `lock` (or a successful `try_lock`) and the matching `unlock` no other thread may
/// return from `lock` or succeed in `try_lock`, and everything done before an `unlock` happens
/// before what follows the next acquisition. The same holds for the thread itself, which waits for
/// ever or panics, unless the lock [is reentrant](Self::IS_REENTRANT).
pub unsafe trait RawLock<P: Platform>: Sized + Send + Sync + 'static {
    /// The facts of this lock.
    const INFO: LockInfo;

    /// Whether its owner may lock it again. Then it guards data only where sections do not nest.
    const IS_REENTRANT: bool = false;

    /// A thread's context for an acquisition: the node of a queue lock, `()` for most.
    ///
    /// Made once by each thread and used for any number of acquisitions, one at a time. It may keep
    /// more than it needs between acquisitions, so that making it is not on the fast path.
    type Context: Default + 'static;

    /// The condition variable for this lock: [`SequenceCondvar`](crate::SequenceCondvar) unless the
    /// lock has its own.
    type Condvar: RawCondvar<P, Self>;

    /// An unlocked lock.
    ///
    /// Not `const`: see [`Platform`] on why construction cannot be.
    fn new() -> Self;

    /// Waits until this thread has acquired the lock.
    ///
    /// # Safety
    ///
    /// `context` serves no other acquisition and stays where it is until the matching
    /// [`unlock`](Self::unlock) has returned.
    unsafe fn lock(&self, context: &Self::Context);

    /// Acquires the lock if it need not wait; returns whether it did.
    ///
    /// May fail although the lock is free, if another thread is locking or unlocking it at the same
    /// time.
    ///
    /// # Safety
    ///
    /// As for [`lock`](Self::lock); after a failure the context is free for another use.
    unsafe fn try_lock(&self, context: &Self::Context) -> bool;

    /// Unlocks.
    ///
    /// # Safety
    ///
    /// The calling thread holds the lock, and acquired it with this very `context`.
    unsafe fn unlock(&self, context: &Self::Context);

    /// Whether the lock is in its initial state: without owner, waiter or mark.
    ///
    /// Meaningful only while no thread uses the lock; `&mut self` ensures that.
    fn is_idle(&mut self) -> bool;
}

/// A condition variable for the lock `L`: an owner waits at it until another thread has changed the
/// guarded data.
///
/// A waiter checks its condition under the lock, before and after the wait: a wait may end without
/// a notification, and another thread may have consumed what the notifier made true. A notifier has
/// changed the condition under the lock; it may still hold the lock or have unlocked it.
///
/// # Safety
///
/// `wait` unlocks the lock and has locked it again when it returns, as [`RawLock::unlock`] and
/// [`RawLock::lock`] do.
///
/// No signal is lost. If threads have unlocked the lock in `wait` before a notifier locked it,
/// `notify_one` ends the wait of at least one of them, and `notify_all` of all.
pub unsafe trait RawCondvar<P: Platform, L: RawLock<P>>:
    Sized + Send + Sync + 'static
{
    /// A condition variable that no thread waits on.
    fn new() -> Self;

    /// Unlocks `lock`, sleeps until notified (or spuriously), locks it again.
    ///
    /// # Safety
    ///
    /// The calling thread holds `lock` and acquired it with this very `context`, which also holds
    /// it again afterwards. While a thread is in `wait`, every other waiting thread brings the same
    /// lock.
    unsafe fn wait(&self, lock: &L, context: &L::Context);

    /// Ends the wait of at least one thread, if any waits.
    fn notify_one(&self);

    /// Ends the wait of every thread that waits.
    fn notify_all(&self);
}

/// An operation on every lock type: the argument of
/// [`for_each_portable`](crate::locks::for_each_portable) and
/// [`for_each_hosted`](crate::locks::for_each_hosted).
///
/// Locks are types, not values, so that their fast paths are compiled into the loops that measure
/// them. A visitor lets a program iterate over types.
pub trait Visitor<P: Platform> {
    /// Called once for each lock.
    fn visit<L: RawLock<P>>(&mut self);
}
