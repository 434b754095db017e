//! The trait of reader-writer locks, beside that of mutexes.

use ondeck::platform::Platform;

use crate::LockInfo;

/// A lock that one writer or any number of readers hold, without data.
///
/// An acquisition brings a context, as with a [`RawLock`](crate::RawLock): one type for reads and one for
/// writes, because a library's guards are of two types. Most locks take `()`, and the parameter
/// vanishes.
///
/// [`INFO`](Self::INFO) has the facts that all locks have. There `has_try_lock` is about attempts to
/// read and to write together, `fairness` is about writers and readers together, and `condvar` is
/// [`CondvarKind::Without`](crate::CondvarKind::Without).
///
/// # Safety
///
/// While a thread holds the lock for writing, no other thread holds it. Everything done before an
/// unlock of a writer happens before what follows the next acquisition of any thread, and everything
/// done before an unlock of a reader happens before what follows the next acquisition of a writer.
pub unsafe trait RawRwLock<P: Platform>: Sized + Send + Sync + 'static {
    /// The facts of this lock.
    const INFO: LockInfo;

    /// Whether two readers can hold the lock at the same time.
    const SHARES: bool = true;

    /// What a thread brings to a read: made once by each thread, used for any number of reads, one
    /// at a time.
    type Read: Default + 'static;

    /// What a thread brings to a write, in the same way.
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

    /// Becomes a reader if that needs no waiting; says whether it did.
    ///
    /// May fail although no writer holds the lock or waits for it, if another thread is just locking
    /// or unlocking it. Always fails where [`LockInfo::has_try_lock`] is false.
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

    /// Becomes the writer if that needs no waiting; says whether it did.
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

    /// Whether the lock is as it was when it was new: without reader, writer, waiter or mark.
    ///
    /// Meaningful only while no thread uses the lock. Takes `&mut self` to make sure of that.
    fn is_idle(&mut self) -> bool;
}

/// What is to be done with every type of reader-writer lock; see [`Visitor`](crate::Visitor).
pub trait RwVisitor<P: Platform> {
    /// Called once for each lock.
    fn visit<L: RawRwLock<P>>(&mut self);
}
