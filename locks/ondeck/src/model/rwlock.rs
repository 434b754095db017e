//! The reader-writer lock.

use core::ffi::CStr;
use core::time::Duration;
use std::sync::{PoisonError, TryLockError, TryLockResult};
use std::time::Instant;
use std::vec::Vec;

use super::{Kept, Made, Owner, checker, std, unpoisoned};

pub use locks::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};

pub struct RawRwLock {
    objects: Made<Objects>,
    readers: std::sync::Mutex<Vec<Reader>>,
    writer: Owner,
}

#[derive(Default)]
struct Objects {
    lock: checker::RwLock<()>,
    /// Of a writer and of an upgradable reader, so that no writer comes between a read and the
    /// write that it becomes. It is locked first, also by attempts: loom has a thread that attempts
    /// wait while another has the lock.
    alone: checker::Mutex<()>,
}

/// A thread that reads, once or more: shuttle refuses the second read of a thread.
struct Reader {
    thread: usize,
    reads: usize,
    guard: Kept<checker::RwLockReadGuard<'static, ()>>,
}

// SAFETY: the threads of an execution run on one thread of the system.
unsafe impl Send for Reader {}

/// A read of a thread, and in an upgradable one the right to become a writer.
pub struct Shared<A = ()> {
    thread: usize,
    alone: A,
}

type Upgradable = Shared<Kept<Alone>>;

pub struct Exclusive {
    write: Kept<Write>,
    alone: Kept<Alone>,
}

type Write = checker::RwLockWriteGuard<'static, ()>;
type Alone = checker::MutexGuard<'static, ()>;

fn attempt<G>(result: TryLockResult<G>) -> Option<G> {
    match result {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl RawRwLock {
    const fn new() -> Self {
        Self {
            objects: Made::new(),
            readers: std::sync::Mutex::new(Vec::new()),
            writer: Owner::none(),
        }
    }

    pub const fn named(_: &'static CStr) -> Self {
        Self::new()
    }

    pub(super) fn is_held_here(&self) -> bool {
        self.writer.is_this_thread()
    }

    #[allow(dead_code, reason = "it is for `lock_all` under loom")]
    pub(super) fn number(&self) -> usize {
        self.objects.made().number
    }

    /// No thread switches while these are locked.
    fn readers(&self) -> std::sync::MutexGuard<'_, Vec<Reader>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a read of a thread that reads already. Returns whether it does.
    fn reads_again(&self, thread: usize) -> bool {
        let mut readers = self.readers();
        let reader = readers.iter_mut().find(|reader| reader.thread == thread);
        reader.map(|reader| reader.reads += 1).is_some()
    }

    #[track_caller]
    fn try_read(&self) -> Option<Shared> {
        let (_, thread) = checker::here();
        if !self.reads_again(thread) {
            let guard = attempt(self.objects.get().lock.try_read())?;
            self.readers().push(Reader { thread, reads: 1, guard: Kept::of(guard) });
        }
        Some(Shared { thread, alone: () })
    }

    #[track_caller]
    fn read(&self) -> Shared {
        let (_, thread) = checker::here();
        if !self.reads_again(thread) {
            let guard = unpoisoned(self.objects.get().lock.read());
            self.readers().push(Reader { thread, reads: 1, guard: Kept::of(guard) });
        }
        Shared { thread, alone: () }
    }

    fn exclusive(&self, write: Write, alone: Kept<Alone>) -> Exclusive {
        self.writer.enters();
        Exclusive { write: Kept::of(write), alone }
    }

    /// Ends a write. The thread is still alone.
    ///
    /// # Safety
    ///
    /// The guard is of this lock.
    unsafe fn end_write(&self, guard: Exclusive) -> Kept<Alone> {
        self.writer.leaves();
        // SAFETY: as the caller promises.
        drop(unsafe { guard.write.guard() });
        guard.alone
    }

    /// # Safety
    ///
    /// As for [`end_write`](Self::end_write).
    unsafe fn unlock_write(&self, guard: Exclusive) {
        // SAFETY: as the caller promises.
        drop(unsafe { self.end_write(guard).guard() });
    }

    /// # Safety
    ///
    /// As for [`end_write`](Self::end_write).
    unsafe fn unlock_upgradable_read(&self, guard: Upgradable) {
        self.end_read(guard.thread);
        // SAFETY: as the caller promises.
        drop(unsafe { guard.alone.guard() });
    }

    fn end_read(&self, thread: usize) {
        let mut readers = self.readers();
        let index = readers.iter().position(|reader| reader.thread == thread);
        let index = index.expect("it reads");
        readers[index].reads -= 1;
        let ended = (readers[index].reads == 0).then(|| readers.swap_remove(index));
        // Other threads may run in the drop.
        drop(readers);
        // SAFETY: it was among the readers of this lock.
        drop(ended.map(|reader| unsafe { reader.guard.guard() }));
    }
}

// SAFETY: it is locked as the checker's lock is, which excludes and orders.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: Self = Self::new();

    type SharedGuard = Shared;
    type ExclusiveGuard = Exclusive;

    #[track_caller]
    fn lock_shared(&self) -> Shared {
        let (_, thread) = checker::here();
        assert!(
            self.readers().iter().all(|reader| reader.thread != thread),
            "deadlock if a writer waits in between: a thread that reads reads again; `read_recursive` is for such threads"
        );
        self.read()
    }

    #[track_caller]
    fn try_lock_shared(&self) -> Option<Shared> {
        self.try_read()
    }

    unsafe fn unlock_shared(&self, guard: Shared) {
        self.end_read(guard.thread);
    }

    #[track_caller]
    fn lock_exclusive(&self) -> Exclusive {
        let objects = self.objects.get();
        let alone = unpoisoned(objects.alone.lock());
        self.exclusive(unpoisoned(objects.lock.write()), Kept::of(alone))
    }

    /// It may also fail because another attempt fails at the same time.
    #[track_caller]
    fn try_lock_exclusive(&self) -> Option<Exclusive> {
        let objects = self.objects.get();
        let alone = attempt(objects.alone.try_lock())?;
        Some(self.exclusive(attempt(objects.lock.try_write())?, Kept::of(alone)))
    }

    unsafe fn unlock_exclusive(&self, guard: Exclusive) {
        // SAFETY: as the caller promises.
        unsafe { self.unlock_write(guard) };
    }

    fn is_locked(&self) -> bool {
        // SAFETY: the guard is of this lock.
        self.try_lock_exclusive().map(|guard| unsafe { self.unlock_write(guard) }).is_none()
    }

    fn is_locked_exclusive(&self) -> bool {
        let Some(guard) = self.try_read() else { return true };
        self.end_read(guard.thread);
        false
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockFair for RawRwLock {
    unsafe fn unlock_shared_fair(&self, guard: Shared) {
        self.end_read(guard.thread);
    }

    unsafe fn unlock_exclusive_fair(&self, guard: Exclusive) {
        // SAFETY: as the caller promises.
        unsafe { self.unlock_write(guard) };
    }
}

// SAFETY: as for `RawRwLock`; no writer comes in between, because the thread is alone until it
// reads.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    #[track_caller]
    unsafe fn downgrade(&self, guard: Exclusive) -> Shared {
        // SAFETY: as the caller promises.
        let _alone = unsafe { self.end_write(guard).guard() };
        self.read()
    }
}

// SAFETY: as for `RawRwLock`; no writer comes between a read and its write, because both are alone.
unsafe impl lock_api::RawRwLockUpgrade for RawRwLock {
    type UpgradableGuard = Upgradable;

    #[track_caller]
    fn lock_upgradable(&self) -> Upgradable {
        let alone = unpoisoned(self.objects.get().alone.lock());
        Shared { thread: self.read().thread, alone: Kept::of(alone) }
    }

    #[track_caller]
    fn try_lock_upgradable(&self) -> Option<Upgradable> {
        let alone = attempt(self.objects.get().alone.try_lock())?;
        Some(Shared { thread: self.try_read()?.thread, alone: Kept::of(alone) })
    }

    unsafe fn unlock_upgradable(&self, guard: Upgradable) {
        // SAFETY: as the caller promises.
        unsafe { self.unlock_upgradable_read(guard) };
    }

    #[track_caller]
    unsafe fn upgrade(&self, guard: Upgradable) -> Exclusive {
        self.end_read(guard.thread);
        self.exclusive(unpoisoned(self.objects.get().lock.write()), guard.alone)
    }

    #[track_caller]
    unsafe fn try_upgrade(&self, guard: Upgradable) -> Result<Exclusive, Upgradable> {
        self.end_read(guard.thread);
        match attempt(self.objects.get().lock.try_write()) {
            Some(write) => Ok(self.exclusive(write, guard.alone)),
            None => Err(Shared { thread: self.read().thread, alone: guard.alone }),
        }
    }
}

// SAFETY: as for `RawRwLockUpgrade`.
unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock {
    unsafe fn unlock_upgradable_fair(&self, guard: Upgradable) {
        // SAFETY: as the caller promises.
        unsafe { self.unlock_upgradable_read(guard) };
    }
}

// SAFETY: as for `RawRwLockDowngrade`.
unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock {
    unsafe fn downgrade_upgradable(&self, guard: Upgradable) -> Shared {
        // SAFETY: as the caller promises.
        drop(unsafe { guard.alone.guard() });
        Shared { thread: guard.thread, alone: () }
    }

    #[track_caller]
    unsafe fn downgrade_to_upgradable(&self, guard: Exclusive) -> Upgradable {
        // SAFETY: as the caller promises.
        let alone = unsafe { self.end_write(guard) };
        Shared { thread: self.read().thread, alone }
    }
}

// SAFETY: as for `RawRwLock`.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_shared_for(&self, _: Duration) -> Option<Shared> {
        Some(lock_api::RawRwLock::lock_shared(self))
    }

    #[track_caller]
    fn try_lock_shared_until(&self, _: Instant) -> Option<Shared> {
        Some(lock_api::RawRwLock::lock_shared(self))
    }

    #[track_caller]
    fn try_lock_exclusive_for(&self, _: Duration) -> Option<Exclusive> {
        Some(lock_api::RawRwLock::lock_exclusive(self))
    }

    #[track_caller]
    fn try_lock_exclusive_until(&self, _: Instant) -> Option<Exclusive> {
        Some(lock_api::RawRwLock::lock_exclusive(self))
    }
}

// SAFETY: as for `RawRwLockUpgrade`.
unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock {
    #[track_caller]
    fn try_lock_upgradable_for(&self, _: Duration) -> Option<Upgradable> {
        Some(lock_api::RawRwLockUpgrade::lock_upgradable(self))
    }

    #[track_caller]
    fn try_lock_upgradable_until(&self, _: Instant) -> Option<Upgradable> {
        Some(lock_api::RawRwLockUpgrade::lock_upgradable(self))
    }

    #[track_caller]
    unsafe fn try_upgrade_for(
        &self,
        guard: Upgradable,
        _: Duration,
    ) -> Result<Exclusive, Upgradable> {
        // SAFETY: as the caller promises.
        Ok(unsafe { lock_api::RawRwLockUpgrade::upgrade(self, guard) })
    }

    #[track_caller]
    unsafe fn try_upgrade_until(
        &self,
        guard: Upgradable,
        _: Instant,
    ) -> Result<Exclusive, Upgradable> {
        // SAFETY: as the caller promises.
        Ok(unsafe { lock_api::RawRwLockUpgrade::upgrade(self, guard) })
    }
}

pub trait ReadRecursive {
    type Data: ?Sized;
    fn read_recursive(&self) -> RwLockReadGuard<'_, Self::Data>;
    fn try_read_recursive(&self) -> Option<RwLockReadGuard<'_, Self::Data>>;
    fn try_read_recursive_for(&self, timeout: Duration) -> Option<RwLockReadGuard<'_, Self::Data>>;
    fn try_read_recursive_until(&self, timeout: Instant)
    -> Option<RwLockReadGuard<'_, Self::Data>>;
}

impl<T: ?Sized> ReadRecursive for RwLock<T> {
    type Data = T;

    #[track_caller]
    fn read_recursive(&self) -> RwLockReadGuard<'_, T> {
        // SAFETY: the read belongs to the guard.
        unsafe { self.make_read_guard_unchecked(self.raw().read()) }
    }

    #[track_caller]
    fn try_read_recursive(&self) -> Option<RwLockReadGuard<'_, T>> {
        self.try_read()
    }

    #[track_caller]
    fn try_read_recursive_for(&self, _: Duration) -> Option<RwLockReadGuard<'_, T>> {
        Some(self.read_recursive())
    }

    #[track_caller]
    fn try_read_recursive_until(&self, _: Instant) -> Option<RwLockReadGuard<'_, T>> {
        Some(self.read_recursive())
    }
}

pub mod locks {
    use super::RawRwLock as Raw;

    pub type RwLock<T> = lock_api::RwLock<Raw, T>;
    pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, Raw, T>;
    pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, Raw, T>;
    pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, Raw, T>;
    pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, Raw, T>;
    pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, Raw, T>;
    #[cfg(feature = "arc_lock")]
    pub type ArcRwLockReadGuard<T> = lock_api::ArcRwLockReadGuard<Raw, T>;
    #[cfg(feature = "arc_lock")]
    pub type ArcRwLockWriteGuard<T> = lock_api::ArcRwLockWriteGuard<Raw, T>;
    #[cfg(feature = "arc_lock")]
    pub type ArcRwLockUpgradableReadGuard<T> = lock_api::ArcRwLockUpgradableReadGuard<Raw, T>;
}
