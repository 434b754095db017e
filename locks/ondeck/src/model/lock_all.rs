//! Several locks at once under loom: in the order of their first use in the execution, because loom
//! has attempts wait ([`RawRwLock`](super::rwlock::RawRwLock)).

use std::vec::Vec;

use super::{Mutex, MutexGuard, RwLock, RwLockWriteGuard, std};
use crate::poison::{self, LockResult};

pub trait Lockable: sealed::Lockable {}

impl<L: sealed::Lockable> Lockable for L {}

pub trait LockAll: sealed::LockAll {}

impl<L: sealed::LockAll> LockAll for L {}

mod sealed {
    pub trait Lockable {
        type Guard;

        fn number(&self) -> usize;

        #[track_caller]
        fn lock(&self) -> Self::Guard;
    }

    pub trait LockAll {
        type Guards;

        #[track_caller]
        fn lock_all(self) -> Self::Guards;
    }
}

#[track_caller]
pub fn lock_all<L: LockAll>(locks: L) -> L::Guards {
    locks.lock_all()
}

impl<'a, T: ?Sized> sealed::Lockable for &'a Mutex<T> {
    type Guard = MutexGuard<'a, T>;

    fn number(&self) -> usize {
        // SAFETY: it is not unlocked.
        unsafe { self.raw() }.number()
    }

    fn lock(&self) -> Self::Guard {
        Mutex::lock(self)
    }
}

impl<'a, T: ?Sized> sealed::Lockable for &'a RwLock<T> {
    type Guard = RwLockWriteGuard<'a, T>;

    fn number(&self) -> usize {
        // SAFETY: it is not unlocked.
        unsafe { self.raw() }.number()
    }

    fn lock(&self) -> Self::Guard {
        self.write()
    }
}

impl<L: sealed::Lockable> sealed::Lockable for &L {
    type Guard = L::Guard;

    fn number(&self) -> usize {
        (**self).number()
    }

    fn lock(&self) -> Self::Guard {
        (**self).lock()
    }
}

macro_rules! poisoning {
    ($($Lock:ident $Guard:ident $lock:ident)*) => {$(
        impl<'a, T: ?Sized> sealed::Lockable for &'a poison::$Lock<T> {
            type Guard = LockResult<poison::$Guard<'a, T>>;

            fn number(&self) -> usize {
                sealed::Lockable::number(&self.without_poison())
            }

            fn lock(&self) -> Self::Guard {
                poison::$Lock::$lock(self)
            }
        }
    )*};
}
poisoning! {
    Mutex MutexGuard lock
    RwLock RwLockWriteGuard write
}

/// Returns the indices of the numbers, in the order of the numbers.
#[track_caller]
fn in_order(numbers: &[usize]) -> Vec<usize> {
    let mut order: Vec<_> = (0..numbers.len()).collect();
    order.sort_unstable_by_key(|index| numbers[*index]);
    for pair in order.windows(2) {
        assert!(
            numbers[pair[0]] != numbers[pair[1]],
            "deadlock: this thread wants a lock twice at once"
        );
    }
    order
}

macro_rules! tuples {
    ($(($($L:ident $guard:ident $number:tt),+))+) => {$(
        impl<$($L: sealed::Lockable),+> sealed::LockAll for ($($L,)+) {
            type Guards = ($($L::Guard,)+);

            fn lock_all(self) -> Self::Guards {
                $(let mut $guard = None;)+
                for index in in_order(&[$(self.$number.number()),+]) {
                    match index {
                        $($number => $guard = Some(self.$number.lock()),)+
                        _ => unreachable!("an index of the tuple"),
                    }
                }
                ($($guard.expect("each was locked"),)+)
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
        let numbers: Vec<_> = self.iter().map(|lock| sealed::Lockable::number(&lock)).collect();
        let mut guards: Vec<_> = self.iter().map(|_| None).collect();
        for index in in_order(&numbers) {
            guards[index] = Some(sealed::Lockable::lock(&&self[index]));
        }
        guards.into_iter().flatten().collect()
    }
}
