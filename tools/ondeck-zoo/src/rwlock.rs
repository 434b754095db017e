//! The trait of reader-writer locks.

use ondeck::platform::Platform;

use crate::LockInfo;

/// A lock that one writer or any number of readers hold, without data.
///
/// An acquisition brings a context, as with a [`RawLock`](crate::RawLock): one type for reads and
/// one for writes, because a library's guards are of two types. Most locks take `()`, and the
/// parameter vanishes.
///
/// [`INFO`](Self::INFO) has the same facts as for other locks. Here `fairness` covers
/// writers and readers, and `condvar` is [`CondvarKind::Without`](crate::CondvarKind::Without).
///
/// # Safety
///
/// While a thread holds the lock for writing, no other thread holds it. Everything done before an
/// unlock of a writer happens before what follows the next acquisition of any thread, and
/// everything done before an unlock of a reader happens before what follows the next acquisition of
/// a writer.
pub unsafe trait RawRwLock<P: Platform>: Sized + Send + Sync + 'static {
    /// The facts of this lock.
    const INFO: LockInfo;

    /// Whether two readers can hold the lock at the same time.
    const SHARES: bool = true;

    /// A thread's context for a read: made once by each thread, used for any number of reads, one
    /// at a time.
    type Read: Default + 'static;

    /// A thread's context for a write, used in the same way.
    type Write: Default + 'static;

    /// An unlocked lock.
    ///
    /// Not `const`: see [`Platform`] on why construction cannot be.
    fn new() -> Self;

    /// Waits until this thread is one of the readers.
    ///
    /// # Safety
    ///
    /// `context` serves no other acquisition and stays where it is until the matching
    /// [`unlock_read`](Self::unlock_read) has returned. The calling thread does not hold the lock.
    unsafe fn read(&self, context: &Self::Read);

    /// Becomes a reader if it need not wait; returns whether it did.
    ///
    /// May fail although no writer holds the lock or waits for it, if another thread is locking or
    /// unlocking it at the same time.
    ///
    /// # Safety
    ///
    /// As for [`read`](Self::read); after a failure the context is free for another use.
    unsafe fn try_read(&self, context: &Self::Read) -> bool;

    /// Ends a read.
    ///
    /// # Safety
    ///
    /// The calling thread is a reader, and became one with this very `context`.
    unsafe fn unlock_read(&self, context: &Self::Read);

    /// Waits until this thread is the writer.
    ///
    /// # Safety
    ///
    /// As for [`read`](Self::read), until the matching [`unlock_write`](Self::unlock_write).
    unsafe fn write(&self, context: &Self::Write);

    /// Becomes the writer if it need not wait; returns whether it did.
    ///
    /// May fail as [`try_read`](Self::try_read) may.
    ///
    /// # Safety
    ///
    /// As for [`write`](Self::write); after a failure the context is free for another use.
    unsafe fn try_write(&self, context: &Self::Write) -> bool;

    /// Ends a write.
    ///
    /// # Safety
    ///
    /// The calling thread is the writer, and became it with this very `context`.
    unsafe fn unlock_write(&self, context: &Self::Write);

    /// Whether the lock is in its initial state: without reader, writer, waiter or mark.
    ///
    /// Meaningful only while no thread uses the lock; `&mut self` ensures that.
    fn is_idle(&mut self) -> bool;
}

/// An operation on every type of reader-writer lock; see [`Visitor`](crate::Visitor).
pub trait RwVisitor<P: Platform> {
    /// Called once for each lock.
    fn visit<L: RawRwLock<P>>(&mut self);
}
