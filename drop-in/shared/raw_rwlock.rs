//! The reader-writer lock without data and without the traits of `lock_api`, which differ between its
//! versions.
//!
//! Guards of `parking_lot` say nothing of how a read lock was taken. Without the feature `send_guard` a
//! guard stays with its thread, and crate `ondeck` asks that thread's own row whether the read is there. With
//! it, any thread may unlock, and so each read is counted in the lock's word.

use ondeck::lock_api::RawRwLock as _;
use ondeck::platform::{Native, Timestamp};

use crate::deadlock::{self, Ends, Held, Want};

type Inner = ondeck::rwlock::RawRwLock<Native>;

/// The reader-writer lock of crate `ondeck`, four bytes, with what detection of deadlocks is told.
#[repr(transparent)]
pub(crate) struct ReadWrite(Inner);

/// How a reader comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// It waits for writers that wait.
    Usual,
    /// It may have a read lock already, and waits for no writer that waits.
    Recursive,
}

impl Reader {
    fn want(self) -> Want {
        match self {
            Self::Usual => Want::Read,
            Self::Recursive => Want::Recursive,
        }
    }
}

/// Taking the lock.
impl ReadWrite {
    #[allow(clippy::declare_interior_mutable_const, reason = "what constructors begin with")]
    pub(crate) const NEW: Self = Self(Inner::INIT);

    fn key(&self) -> usize {
        (&raw const *self).addr()
    }

    #[inline]
    fn attempt_read(&self, reader: Reader) -> bool {
        match reader {
            Reader::Recursive => self.0.try_lock_shared_recursive().is_some(),
            Reader::Usual if cfg!(feature = "send_guard") => self.0.try_lock_shared_counted(),
            Reader::Usual => self.0.try_lock_shared().is_some(),
        }
    }

    #[inline]
    pub(crate) fn read(&self, reader: Reader) {
        let wait = || {
            or_abort(|| match reader {
                Reader::Recursive => drop_token(self.0.lock_shared_recursive()),
                Reader::Usual if cfg!(feature = "send_guard") => self.0.lock_shared_counted(),
                Reader::Usual => drop_token(self.0.lock_shared()),
            });
            true
        };
        deadlock::acquire(
            self.key(),
            reader.want(),
            Ends::Never,
            || self.attempt_read(reader),
            wait,
        );
    }

    #[inline]
    pub(crate) fn try_read(&self, reader: Reader) -> bool {
        deadlock::try_acquire(self.key(), reader.want(), || self.attempt_read(reader))
    }

    /// Reads the clock only if the lock is not free.
    #[inline]
    pub(crate) fn read_until(&self, reader: Reader, deadline: impl FnOnce() -> Timestamp) -> bool {
        self.try_read(reader) || {
            let wait = || match reader {
                Reader::Recursive => self.0.try_lock_shared_recursive_until(deadline()).is_some(),
                Reader::Usual if cfg!(feature = "send_guard") => {
                    self.0.try_lock_shared_counted_until(deadline())
                }
                Reader::Usual => self.0.try_lock_shared_until(deadline()).is_some(),
            };
            deadlock::acquire(self.key(), reader.want(), Ends::AtADeadline, || false, wait)
        }
    }

    #[inline]
    pub(crate) fn write(&self) {
        let wait = || {
            self.0.lock_exclusive();
            true
        };
        let attempt = || self.0.try_lock_exclusive();
        deadlock::acquire(self.key(), Want::Alone, Ends::Never, attempt, wait);
    }

    #[inline]
    pub(crate) fn try_write(&self) -> bool {
        deadlock::try_acquire(self.key(), Want::Alone, || self.0.try_lock_exclusive())
    }

    /// Reads the clock only if the lock is not free.
    #[inline]
    pub(crate) fn write_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
        self.try_write() || {
            let wait = || self.0.try_lock_exclusive_until(deadline());
            deadlock::acquire(self.key(), Want::Alone, Ends::AtADeadline, || false, wait)
        }
    }

    #[inline]
    pub(crate) fn upgradable_read(&self) {
        let wait = || {
            or_abort(|| self.0.lock_upgradable());
            true
        };
        let attempt = || self.0.try_lock_upgradable();
        deadlock::acquire(self.key(), Want::Upgradable, Ends::Never, attempt, wait);
    }

    #[inline]
    pub(crate) fn try_upgradable_read(&self) -> bool {
        deadlock::try_acquire(self.key(), Want::Upgradable, || self.0.try_lock_upgradable())
    }

    /// Reads the clock only if the lock is not free.
    #[inline]
    pub(crate) fn upgradable_read_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
        self.try_upgradable_read() || {
            let wait = || self.0.try_lock_upgradable_until(deadline());
            deadlock::acquire(self.key(), Want::Upgradable, Ends::AtADeadline, || false, wait)
        }
    }

    #[inline]
    pub(crate) fn is_taken(&self) -> bool {
        self.0.is_locked()
    }

    #[inline]
    pub(crate) fn is_written(&self) -> bool {
        self.0.is_locked_exclusive()
    }
}

/// Giving the lock up, or holding it in another way. The caller of each function holds it as the function's
/// name says.
impl ReadWrite {
    /// # Safety
    ///
    /// The caller has a read lock; without the feature `send_guard`, the calling thread took it.
    #[inline]
    pub(crate) unsafe fn end_read(&self) {
        deadlock::releases(self.key(), Held::Read);
        if cfg!(feature = "send_guard") {
            // SAFETY: all reads are counted then, and the caller has one.
            unsafe { self.0.unlock_shared_counted() };
        } else {
            // SAFETY: the calling thread has a read lock, which is unlocked here only.
            unsafe { self.0.unlock_shared(self.0.forgotten()) };
        }
    }

    /// # Safety
    ///
    /// As for [`end_read`](Self::end_read).
    #[inline]
    pub(crate) unsafe fn yield_read(&self, reader: Reader) {
        if cfg!(feature = "send_guard") || reader == Reader::Recursive {
            // SAFETY: as the caller promises.
            unsafe { self.end_read() };
            self.read(reader);
        } else {
            deadlock::releases(self.key(), Held::Read);
            let mut held = self.0.forgotten();
            // SAFETY: the calling thread has a read lock, and has one again after it.
            unsafe { self.0.bump_shared(&mut held) };
            deadlock::acquired(self.key(), Want::Read);
        }
    }

    /// # Safety
    ///
    /// The caller is the writer.
    #[inline]
    pub(crate) unsafe fn end_write(&self) {
        deadlock::releases(self.key(), Held::Alone);
        // SAFETY: as the caller promises.
        unsafe { self.0.unlock_exclusive() };
    }

    /// # Safety
    ///
    /// The caller is the writer.
    #[inline]
    pub(crate) unsafe fn end_write_fair(&self) {
        deadlock::releases(self.key(), Held::Alone);
        // SAFETY: as the caller promises.
        unsafe { self.0.unlock_exclusive_fair() };
    }

    /// # Safety
    ///
    /// The caller is the writer.
    #[inline]
    pub(crate) unsafe fn yield_write(&self) {
        deadlock::releases(self.key(), Held::Alone);
        // SAFETY: as the caller promises.
        unsafe { self.0.bump_exclusive() };
        deadlock::acquired(self.key(), Want::Alone);
    }

    /// # Safety
    ///
    /// The caller is the writer.
    #[inline]
    pub(crate) unsafe fn write_to_read(&self) {
        deadlock::changes(self.key(), Held::Alone, Held::Read);
        // SAFETY: as the caller promises.
        drop_token(unsafe { self.0.downgrade() });
    }

    /// # Safety
    ///
    /// The caller is the writer.
    #[inline]
    pub(crate) unsafe fn write_to_upgradable(&self) {
        deadlock::changes(self.key(), Held::Alone, Held::Upgradable);
        // SAFETY: as the caller promises.
        unsafe { self.0.downgrade_to_upgradable() };
    }

    /// # Safety
    ///
    /// The caller has the upgradable read lock.
    #[inline]
    pub(crate) unsafe fn end_upgradable(&self) {
        deadlock::releases(self.key(), Held::Upgradable);
        // SAFETY: as the caller promises.
        unsafe { self.0.unlock_upgradable() };
    }

    /// # Safety
    ///
    /// The caller has the upgradable read lock.
    #[inline]
    pub(crate) unsafe fn end_upgradable_fair(&self) {
        deadlock::releases(self.key(), Held::Upgradable);
        // SAFETY: as the caller promises.
        unsafe { self.0.unlock_upgradable_fair() };
    }

    /// # Safety
    ///
    /// The caller has the upgradable read lock.
    #[inline]
    pub(crate) unsafe fn yield_upgradable(&self) {
        deadlock::releases(self.key(), Held::Upgradable);
        // SAFETY: as the caller promises.
        unsafe { self.0.bump_upgradable() };
        deadlock::acquired(self.key(), Want::Upgradable);
    }

    /// # Safety
    ///
    /// The caller has the upgradable read lock.
    #[inline]
    pub(crate) unsafe fn upgradable_to_read(&self) {
        deadlock::changes(self.key(), Held::Upgradable, Held::Read);
        // SAFETY: as the caller promises.
        drop_token(unsafe { self.0.downgrade_upgradable() });
    }

    /// # Safety
    ///
    /// The caller has the upgradable read lock.
    #[inline]
    pub(crate) unsafe fn upgrade(&self) {
        let wait = || {
            // SAFETY: as the caller promises.
            unsafe { self.0.upgrade() };
            true
        };
        // SAFETY: as the caller promises.
        let attempt = || unsafe { self.0.try_upgrade() };
        deadlock::acquire(self.key(), Want::Upgrade, Ends::Never, attempt, wait);
        deadlock::releases(self.key(), Held::Upgradable);
    }

    /// # Safety
    ///
    /// The caller has the upgradable read lock, and keeps it if this says no.
    #[inline]
    pub(crate) unsafe fn try_upgrade(&self) -> bool {
        // SAFETY: as the caller promises.
        let has = unsafe { self.0.try_upgrade() };
        if has {
            deadlock::changes(self.key(), Held::Upgradable, Held::Alone);
        }
        has
    }

    /// Reads the clock only if there are readers.
    ///
    /// # Safety
    ///
    /// As for [`try_upgrade`](Self::try_upgrade).
    #[inline]
    pub(crate) unsafe fn upgrade_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
        // SAFETY: as the caller promises.
        if unsafe { self.try_upgrade() } {
            return true;
        }
        // SAFETY: as the caller promises.
        let wait = || unsafe { self.0.try_upgrade_until(deadline()) };
        let has = deadlock::acquire(self.key(), Want::Upgrade, Ends::AtADeadline, || false, wait);
        if has {
            deadlock::releases(self.key(), Held::Upgradable);
        }
        has
    }
}

/// What says how a read lock was taken is not kept: see the top of this file.
#[inline(always)]
#[allow(clippy::needless_pass_by_value, reason = "what it says is lost here")]
fn drop_token(held: ondeck::rwlock::Shared<Native>) {
    let _ = held;
}

/// Ends the process if `lock` unwinds, as it does if a lock has 2^24 read guards, most of them forgotten.
///
/// `lock_api` 0.4 has a guard that is given up for a closure locked again, and drops that guard if the lock
/// unwinds: a read would be unlocked that is not there, and a writer let in beside another reader.
#[inline(always)]
fn or_abort(lock: impl FnOnce()) {
    struct Unwinds;
    impl Drop for Unwinds {
        fn drop(&mut self) {
            std::process::abort();
        }
    }
    let unwinds = Unwinds;
    lock();
    std::mem::forget(unwinds);
}
