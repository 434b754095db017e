//! The store of an unlock without a fence is still in the store buffer of its CPU when the unlock is over.
//! A thread that parks then sees the lock locked, and the unlock has not seen that thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::platform::{Linux, Platform, Timestamp};
use ondeck::spin::Polling;

use super::hooked_platform::{Buffer, Gate, Hooked, Hooks, calls_of, hooks, until};
use super::{no_polling, unlock, watched};

#[path = "fences/asked_after_the_store.rs"]
mod asked_after_the_store;
#[path = "fences/evicted.rs"]
mod evicted;
#[path = "fences/gave_up.rs"]
mod gave_up;
#[path = "fences/landed.rs"]
mod landed;
#[path = "fences/refused.rs"]
mod refused;
