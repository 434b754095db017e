//! How a thread sleeps, whatever it waits for.

use crate::machine::{AtomicInt, FutexWait, Ordering, Platform, Timestamp};

/// Sleeps while `word` holds `value`, until the time `until` at the latest. Returns the word's new
/// value, or `None` if that time has passed.
///
/// A signal, or a wake for an earlier word at this address, ends no sleep.
pub(crate) fn sleep_while<P: Platform>(
    word: &P::AtomicU32,
    value: u32,
    until: Option<Timestamp>,
) -> Option<u32> {
    loop {
        let slept = P::futex_wait(word, value, until);
        // step: end sleep
        // Acquire: the caller sees what the thread that has changed the word did before.
        let now = word.load(Ordering::Acquire);
        if now != value || slept == FutexWait::TimedOut {
            return (now != value).then_some(now);
        }
    }
}
