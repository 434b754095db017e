//! Functions that create locks in constants. Today `new` can also do that.

use crate::{FairMutex, Mutex, RawThreadId, ReentrantMutex, RwLock};
use crate::{RawFairMutex, RawMutex, RawRwLock};

/// As [`Mutex::new`](lock_api::Mutex::new).
pub const fn const_mutex<T>(value: T) -> Mutex<T> {
    Mutex::const_new(<RawMutex as lock_api::RawMutex>::INIT, value)
}

/// As [`FairMutex::new`](lock_api::Mutex::new).
pub const fn const_fair_mutex<T>(value: T) -> FairMutex<T> {
    FairMutex::const_new(<RawFairMutex as lock_api::RawMutex>::INIT, value)
}

/// As [`ReentrantMutex::new`](lock_api::ReentrantMutex::new).
pub const fn const_reentrant_mutex<T>(value: T) -> ReentrantMutex<T> {
    let raw = <RawMutex as lock_api::RawMutex>::INIT;
    ReentrantMutex::const_new(raw, <RawThreadId as lock_api::GetThreadId>::INIT, value)
}

/// As [`RwLock::new`](lock_api::RwLock::new).
pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::const_new(<RawRwLock as lock_api::RawRwLock>::INIT, value)
}
