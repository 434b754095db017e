//! Holds the lock of a bucket for as long as a test wants, in the closure `validate`, which runs
//! under it.

use std::sync::atomic::{AtomicBool, Ordering};

use ondeck::parking::{self, Parked};
use ondeck::platform::Native;

use crate::until::until;

/// The state that a holder and a test share.
#[derive(Default)]
pub struct Hold {
    held: AtomicBool,
    over: AtomicBool,
}

impl Hold {
    /// Holds the lock of the bucket of `key` until `let_go`.
    pub fn hold(&self, key: usize) {
        let validate = || {
            self.held.store(true, Ordering::Release);
            until(|| self.over.load(Ordering::Acquire));
            false
        };
        // SAFETY: no thread parks at this key.
        let (parked, _) =
            unsafe { parking::park::<Native>(key, 0, validate, || (), |_, _| (), None) };
        assert_eq!(parked, Parked::Invalid);
    }

    /// Waits until the lock is held.
    pub fn wait(&self) {
        until(|| self.held.load(Ordering::Acquire));
    }

    /// Makes the holder unlock.
    pub fn let_go(&self) {
        self.over.store(true, Ordering::Release);
    }
}
