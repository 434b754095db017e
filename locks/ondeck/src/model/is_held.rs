//! Whether the calling thread holds a lock, which a model always knows.

use super::{Mutex, ReentrantMutex, RwLock};
use crate::poison;

pub trait IsHeld: sealed::Asked {
    fn is_held_by_current_thread(&self) -> Option<bool> {
        Some(self.is_held_here())
    }

    #[track_caller]
    fn assert_held(&self) {
        assert!(self.is_held_here(), "this thread does not hold the lock");
    }
}

impl<L: sealed::Asked + ?Sized> IsHeld for L {}

mod sealed {
    pub trait Asked {
        fn is_held_here(&self) -> bool;
    }
}

macro_rules! asked {
    ($($Lock:ty: |$lock:ident| $answer:expr;)*) => {$(
        impl<T: ?Sized> sealed::Asked for $Lock {
            fn is_held_here(&self) -> bool {
                let $lock = self;
                $answer
            }
        }
    )*};
}
asked! {
    // SAFETY: the lock is only asked.
    Mutex<T>: |lock| unsafe { lock.raw() }.is_held_here();
    // SAFETY: as above.
    RwLock<T>: |lock| unsafe { lock.raw() }.is_held_here();
    ReentrantMutex<T>: |lock| lock.is_owned_by_current_thread();
    poison::Mutex<T>: |lock| lock.without_poison().is_held_here();
    poison::RwLock<T>: |lock| lock.without_poison().is_held_here();
}
