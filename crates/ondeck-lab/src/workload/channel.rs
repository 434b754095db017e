//! A bounded channel over the lock under test and its condition variable: what the workloads
//! `producer_consumer` and `chan` send through.
//!
//! Notifications are given while the lock is held, as in most programs and textbooks; a condition
//! variable that wakes threads into a locked mutex pays for it.

use std::cell::UnsafeCell;
use std::collections::VecDeque;

use ondeck::platform::Linux;
use ondeck_zoo::{RawCondvar, RawLock};

use super::Apart;

pub(super) struct Channel<L: RawLock<Linux>> {
    lock: Apart<L>,
    not_empty: Apart<L::Condvar>,
    not_full: Apart<L::Condvar>,
    state: UnsafeCell<State>,
}

// SAFETY: the state is only touched by the owner of the lock.
unsafe impl<L: RawLock<Linux>> Sync for Channel<L> {}
// SAFETY: it holds numbers, and locks and condition variables, which are `Send`.
unsafe impl<L: RawLock<Linux>> Send for Channel<L> {}

struct State {
    items: VecDeque<u64>,
    capacity: usize,
    closed: bool,
}

/// The channel is closed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Closed;

impl<L: RawLock<Linux>> Channel<L> {
    pub(super) fn new(capacity: usize) -> Self {
        let condvar = || Apart(<L::Condvar as RawCondvar<Linux, L>>::new());
        Self {
            lock: Apart(L::new()),
            not_empty: condvar(),
            not_full: condvar(),
            state: UnsafeCell::new(State {
                items: VecDeque::with_capacity(capacity),
                capacity,
                closed: false,
            }),
        }
    }

    /// Waits for room, then sends.
    ///
    /// # Safety
    ///
    /// `context` is this thread's, and serves nothing else meanwhile.
    #[inline]
    pub(super) unsafe fn send(&self, context: &L::Context, item: u64) -> Result<(), Closed> {
        let ready = |state: &mut State| {
            if state.closed {
                Some(Err(Closed))
            } else if state.items.len() < state.capacity {
                state.items.push_back(item);
                Some(Ok(()))
            } else {
                None
            }
        };
        // SAFETY: as the caller promises.
        unsafe { self.when(context, ready, &self.not_full.0, &self.not_empty.0) }
    }

    /// Waits for an item, then receives it.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    #[inline]
    pub(super) unsafe fn receive(&self, context: &L::Context) -> Result<u64, Closed> {
        let ready = |state: &mut State| match state.items.pop_front() {
            Some(item) => Some(Ok(item)),
            None => state.closed.then_some(Err(Closed)),
        };
        // SAFETY: as the caller promises.
        unsafe { self.when(context, ready, &self.not_empty.0, &self.not_full.0) }
    }

    /// Tells everybody that no more is sent. What is inside can still be received.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    pub(super) unsafe fn close(&self, context: &L::Context) {
        // SAFETY: the context is free, and stays; the state is the owner's.
        unsafe {
            self.lock.0.lock(context);
            (*self.state.get()).closed = true;
            self.not_empty.0.notify_all();
            self.not_full.0.notify_all();
            self.lock.0.unlock(context);
        }
    }

    /// Waits for `condvar` until `ready` has an answer; if that is not an error, notifies one that
    /// waits for `other`.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    #[inline(always)]
    unsafe fn when<T>(
        &self,
        context: &L::Context,
        mut ready: impl FnMut(&mut State) -> Option<Result<T, Closed>>,
        condvar: &L::Condvar,
        other: &L::Condvar,
    ) -> Result<T, Closed> {
        // SAFETY: the context is free, and stays; the state is touched by the owner only, and no
        // reference to it lives across a wait.
        unsafe {
            self.lock.0.lock(context);
            let answer = loop {
                if let Some(answer) = ready(&mut *self.state.get()) {
                    break answer;
                }
                condvar.wait(&self.lock.0, context);
            };
            if answer.is_ok() {
                other.notify_one();
            }
            self.lock.0.unlock(context);
            answer
        }
    }
}

#[cfg(test)]
mod tests {
    use ondeck_zoo::locks::{OndeckMutex, TicketMutex};
    use ondeck_zoo::peers::StdMutex;

    use super::*;

    fn everything_sent_is_received<L: RawLock<Linux>>() {
        const ITEMS: u64 = 2_000;
        let channel = Channel::<L>::new(2);
        let received: u64 = std::thread::scope(|scope| {
            let receivers: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let context = L::Context::default();
                        // SAFETY: the context is this thread's alone.
                        let next = || unsafe { channel.receive(&context) }.ok();
                        std::iter::from_fn(next).sum::<u64>()
                    })
                })
                .collect();
            let senders: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let context = L::Context::default();
                        for item in 1..=ITEMS {
                            // SAFETY: the context is this thread's alone.
                            assert_eq!(unsafe { channel.send(&context, item) }, Ok(()));
                        }
                    })
                })
                .collect();
            for sender in senders {
                sender.join().expect("no panic");
            }
            // SAFETY: a context of its own.
            unsafe { channel.close(&L::Context::default()) };
            receivers.into_iter().map(|receiver| receiver.join().expect("no panic")).sum()
        });
        assert_eq!(received, 3 * ITEMS * (ITEMS + 1) / 2);
        let context = L::Context::default();
        // SAFETY: a context of its own.
        assert_eq!(unsafe { channel.send(&context, 1) }, Err(Closed));
    }

    #[test]
    fn everything_sent_is_received_once() {
        everything_sent_is_received::<OndeckMutex<Linux>>();
        everything_sent_is_received::<TicketMutex<Linux>>();
        everything_sent_is_received::<StdMutex>();
    }
}
