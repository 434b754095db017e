//! The one trait that every lock here implements.

use ondeck::platform::Platform;

use crate::LockInfo;

/// A mutual-exclusion lock without data.
///
/// It differs from `lock_api::RawMutex` in one thing: an acquisition brings a
/// [`Context`](Self::Context), because queue locks need memory of the waiting thread's. Locks
/// without such a need take `()`, and the parameter vanishes.
///
/// [`Mutex`](crate::Mutex) is the safe face of it.
///
/// # Safety
///
/// Between a `lock` (or a successful `try_lock`) and the matching `unlock` no other thread may
/// return from `lock` or succeed in `try_lock`, and everything done before an `unlock` happens
/// before what follows the next acquisition.
pub unsafe trait RawLock<P: Platform>: Sized + Send + Sync + 'static {
    /// What is known of this lock.
    const INFO: LockInfo;

    /// What a thread brings to an acquisition: the node of a queue lock, `()` for most.
    ///
    /// Made once by each thread and used for any number of acquisitions, one at a time. It may be
    /// larger than what is needed between acquisitions, so that making it is not on the fast path.
    type Context: Default + 'static;

    /// What threads that hold this lock wait with for something to become true:
    /// [`SequenceCondvar`](crate::SequenceCondvar) unless the lock has its own.
    type Condvar: RawCondvar<P, Self>;

    /// An unlocked lock.
    ///
    /// Not `const`: see [`Platform`] on why construction cannot be.
    fn new() -> Self;

    /// Waits until the lock is this thread's.
    ///
    /// # Safety
    ///
    /// `context` serves no other acquisition and stays where it is until the matching
    /// [`unlock`](Self::unlock) has returned. The calling thread does not hold the lock.
    unsafe fn lock(&self, context: &Self::Context);

    /// Acquires the lock if that needs no waiting; says whether it did.
    ///
    /// May fail although the lock is free if another thread is just acquiring or releasing it.
    /// Always fails where [`LockInfo::has_try_lock`] is false.
    ///
    /// # Safety
    ///
    /// As for [`lock`](Self::lock); after a failure the context is free for another use.
    unsafe fn try_lock(&self, context: &Self::Context) -> bool;

    /// Releases the lock.
    ///
    /// # Safety
    ///
    /// The calling thread holds the lock, and acquired it with this very `context`.
    unsafe fn unlock(&self, context: &Self::Context);

    /// Whether the lock is back to the state of rest: no owner, no waiter, no mark left behind.
    ///
    /// Meaningful only while no thread uses the lock. Takes `&mut self` to make sure of that.
    fn is_idle(&mut self) -> bool;
}

/// A condition variable for the lock `L`: where its owner waits until another thread has changed
/// what the lock guards.
///
/// Whoever waits looks at the condition under the lock, before and after: a wait may end without a
/// notification, and another thread may have been faster. Whoever notifies has changed the
/// condition under the lock; it may still hold the lock or have released it.
///
/// # Safety
///
/// `wait` releases the lock and has acquired it again when it returns, as by
/// [`RawLock::unlock`] and [`RawLock::lock`].
///
/// No signal is lost: of the threads that have released the lock in `wait` before a notifier
/// acquired it, `notify_one` ends the wait of at least one, if there are any, and `notify_all` of
/// every one.
pub unsafe trait RawCondvar<P: Platform, L: RawLock<P>>:
    Sized + Send + Sync + 'static
{
    /// A condition variable on which nobody waits.
    fn new() -> Self;

    /// Releases `lock`, sleeps until notified (or spuriously), acquires `lock` again.
    ///
    /// # Safety
    ///
    /// The calling thread holds `lock` and acquired it with this very `context`, with which it
    /// holds it again afterwards. While a thread is in `wait`, every other brings the same lock.
    unsafe fn wait(&self, lock: &L, context: &L::Context);

    /// Ends the wait of at least one thread if any waits.
    fn notify_one(&self);

    /// Ends the wait of every thread that waits.
    fn notify_all(&self);
}

/// Something to be done with every lock type: the other half of
/// [`for_each_portable`](crate::locks::for_each_portable) and
/// [`for_each_hosted`](crate::locks::for_each_hosted).
///
/// Locks are types, not values, so that their fast paths are compiled into the loops that measure
/// them; a visitor is how a list of types is walked.
pub trait Visitor<P: Platform> {
    /// Called once for each lock.
    fn visit<L: RawLock<P>>(&mut self);
}
