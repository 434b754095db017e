//! Several locks at once, without an order among them.

extern crate std;

use core::ptr;
use std::vec::Vec;

use lock_api::{MutexGuard, RawMutex, RawRwLock, RwLockWriteGuard};

use crate::poison::{self, LockResult, TryLockError};

/// A lock that [`lock_all`] can acquire: a reference to a [`Mutex`](crate::Mutex), a
/// [`FairMutex`](crate::FairMutex) or a `PiMutex`, or to a [`RwLock`](crate::RwLock), which it
/// acquires for writing. Of the locks of [`poison`] it returns what their own `lock` does: the
/// guard, or an error with the guard. A [`ReentrantMutex`](crate::ReentrantMutex) is none: its
/// owner would wait for the others with it. Nor is the mutex of `ipc`, whose acquisition may fail.
pub trait Lockable: sealed::Lockable {}

impl<L: sealed::Lockable> Lockable for L {}

/// What [`lock_all`] can acquire at once: a tuple of two to four [`Lockable`]s of any types, or a
/// slice of locks of one type, or of references to such.
pub trait LockAll: sealed::LockAll {}

impl<L: sealed::LockAll> LockAll for L {}

mod sealed {
    pub trait Lockable {
        type Guard;

        fn address(&self) -> usize;

        #[track_caller]
        fn lock(&self) -> Self::Guard;

        #[track_caller]
        fn try_lock(&self) -> Option<Self::Guard>;
    }

    pub trait LockAll {
        type Guards;

        #[track_caller]
        fn lock_all(self) -> Self::Guards;
    }
}

/// Acquires all locks, whatever the order in which other threads acquire them, and returns their
/// guards in the order of the arguments.
///
/// It waits for one lock and attempts the others. If one of them is taken, it unlocks what it has,
/// and begins again with a wait for that one: a thread never waits with one of the locks in its
/// possession, so no other thread's order can close a circle of waits. So does C++'s
/// `std::scoped_lock`.
///
/// How long each wait takes is bounded as the lock's own is. The number of waits is not: while
/// other threads take turns with the locks, an attempt may fail again and again. Guards that are
/// bound to variables, `let (a, b) = …`, are dropped in the reverse order, as all variables are.
///
/// # Panics
///
/// If a lock is given more than once; it has acquired nothing then. Otherwise as the locks' own
/// `lock`, with nothing acquired; a lock of [`poison`] that it had then is poisoned.
///
/// # Memory ordering
///
/// That of each lock: an unlock happens before the next lock.
///
/// # Cost
///
/// That of the locks and unlocks, each of which is uncontended or waits alone. A slice allocates
/// the guards.
///
/// ```
/// use ondeck::{Mutex, lock_all};
///
/// let (mine, yours) = (Mutex::new(10), Mutex::new(0));
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         let (mut mine, mut yours) = lock_all((&mine, &yours));
///         *mine -= 5;
///         *yours += 5;
///     });
///     let (yours, mine) = lock_all((&yours, &mine));
///     assert_eq!(*mine + *yours, 10);
/// });
///
/// let shards = [const { Mutex::new(1) }; 8];
/// let all = lock_all(&shards[..]);
/// assert_eq!(all.iter().map(|shard| **shard).sum::<i32>(), 8);
/// ```
#[inline]
#[track_caller]
pub fn lock_all<L: LockAll>(locks: L) -> L::Guards {
    locks.lock_all()
}

impl<'a, R: RawMutex, T: ?Sized> sealed::Lockable for &'a lock_api::Mutex<R, T> {
    type Guard = MutexGuard<'a, R, T>;

    fn address(&self) -> usize {
        ptr::from_ref(*self).cast::<()>().addr()
    }

    fn lock(&self) -> Self::Guard {
        lock_api::Mutex::lock(self)
    }

    fn try_lock(&self) -> Option<Self::Guard> {
        lock_api::Mutex::try_lock(self)
    }
}

impl<L: sealed::Lockable> sealed::Lockable for &L {
    type Guard = L::Guard;

    fn address(&self) -> usize {
        (**self).address()
    }

    fn lock(&self) -> Self::Guard {
        (**self).lock()
    }

    fn try_lock(&self) -> Option<Self::Guard> {
        (**self).try_lock()
    }
}

impl<'a, R: RawRwLock, T: ?Sized> sealed::Lockable for &'a lock_api::RwLock<R, T> {
    type Guard = RwLockWriteGuard<'a, R, T>;

    fn address(&self) -> usize {
        ptr::from_ref(*self).cast::<()>().addr()
    }

    fn lock(&self) -> Self::Guard {
        self.write()
    }

    fn try_lock(&self) -> Option<Self::Guard> {
        self.try_write()
    }
}

macro_rules! poisoning {
    ($($Lock:ident $Guard:ident $lock:ident $try_lock:ident)*) => {$(
        impl<'a, T: ?Sized> sealed::Lockable for &'a poison::$Lock<T> {
            type Guard = LockResult<poison::$Guard<'a, T>>;

            fn address(&self) -> usize {
                ptr::from_ref(*self).cast::<()>().addr()
            }

            fn lock(&self) -> Self::Guard {
                poison::$Lock::$lock(self)
            }

            fn try_lock(&self) -> Option<Self::Guard> {
                match poison::$Lock::$try_lock(self) {
                    Ok(guard) => Some(Ok(guard)),
                    Err(TryLockError::Poisoned(poisoned)) => Some(Err(poisoned)),
                    Err(TryLockError::WouldBlock) => None,
                }
            }
        }
    )*};
}
poisoning! {
    Mutex MutexGuard lock try_lock
    RwLock RwLockWriteGuard write try_write
}

#[track_caller]
fn assert_different(addresses: &mut [usize]) {
    addresses.sort_unstable();
    if let Some([twice, ..]) = addresses.windows(2).find(|pair| pair[0] == pair[1]) {
        panic!("deadlock: this thread wants a lock twice at once, {twice:#x}");
    }
}

macro_rules! tuples {
    ($(($($L:ident $guard:ident $number:tt),+))+) => {$(
        impl<$($L: sealed::Lockable),+> sealed::LockAll for ($($L,)+) {
            type Guards = ($($L::Guard,)+);

            fn lock_all(self) -> Self::Guards {
                assert_different(&mut [$(self.$number.address()),+]);
                let mut first = 0;
                loop {
                    // No closures: the locks are to have the caller's place.
                    $(let mut $guard =
                        if first == $number { Some(self.$number.lock()) } else { None };)+
                    first = 'taken: {
                        // step: attempt the others
                        $(
                            if $guard.is_none() {
                                $guard = self.$number.try_lock();
                            }
                            if $guard.is_none() {
                                break 'taken $number;
                            }
                        )+
                        if let ($(Some($guard),)+) = ($($guard,)+) {
                            return ($($guard,)+);
                        }
                        unreachable!("each was acquired")
                    };
                }
            }
        }
    )+};
}
tuples! {
    (A a 0, B b 1)
    (A a 0, B b 1, C c 2)
    (A a 0, B b 1, C c 2, D d 3)
}

impl<'a, L> sealed::LockAll for &'a [L]
where
    &'a L: sealed::Lockable,
{
    type Guards = Vec<<&'a L as sealed::Lockable>::Guard>;

    fn lock_all(self) -> Self::Guards {
        assert_different(
            &mut self.iter().map(|lock| sealed::Lockable::address(&lock)).collect::<Vec<_>>(),
        );
        let mut guards: Vec<_> = self.iter().map(|_| None).collect();
        let mut first = 0;
        loop {
            if let Some(lock) = self.get(first) {
                guards[first] = Some(sealed::Lockable::lock(&lock));
            }
            first = self.len();
            for (index, lock) in self.iter().enumerate() {
                if guards[index].is_none() {
                    guards[index] = sealed::Lockable::try_lock(&lock);
                }
                if guards[index].is_none() {
                    first = index;
                    break;
                }
            }
            if first == self.len() {
                return guards.into_iter().flatten().collect();
            }
            guards.fill_with(|| None);
        }
    }
}
