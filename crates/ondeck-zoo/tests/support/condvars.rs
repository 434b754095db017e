//! The promises of every lock's condition variable, as checks.
//!
//! A lost signal shows as a hang: in each of these checks every thread depends on another's
//! notification to continue. Notifiers alternate between notifying with the lock held and after the
//! unlock.

use ondeck::platform::Native;
use ondeck_zoo::{RawCondvar, RawLock};

use super::{Limits, Plain, Stage, at_rest, hogs, rounds};

/// Waits until `condition` holds, changes the guarded data, and notifies.
fn change<L: RawLock<Native>, T>(
    stage: &Stage<L, T>,
    context: &L::Context,
    wait_on: &L::Condvar,
    condition: impl Fn(&T) -> bool,
    section: impl FnOnce(&T),
    notify: impl Fn(),
    notify_with_the_lock: bool,
) {
    // SAFETY: the callers' contexts are their own and stay where they are.
    unsafe { stage.lock.lock(context) };
    while !condition(&stage.guarded) {
        // SAFETY: locked above with this context; each condition variable belongs to one stage.
        unsafe { wait_on.wait(&stage.lock, context) };
    }
    section(&stage.guarded);
    if notify_with_the_lock {
        notify();
    }
    // SAFETY: locked above with this context, by the last wait if there was any.
    unsafe { stage.lock.unlock(context) };
    if !notify_with_the_lock {
        notify();
    }
    stage.got_on();
}

/// Two threads take turns, each woken by the other.
pub(super) fn signal<L: RawLock<Native>>(threads: usize, limits: Limits) -> Result<(), String> {
    const TURNS: u64 = 10_000;
    struct Turns<L: RawLock<Native>> {
        turn: Plain<u64>,
        changed: L::Condvar,
    }
    let turns = Turns::<L> { turn: Plain::new(0), changed: L::Condvar::new() };
    let stage = Stage::<L, _>::new(turns);
    stage.run(threads, limits, |stage, thread, _| {
        let (context, changed) = (L::Context::default(), &stage.guarded.changed);
        for turn in (thread as u64..TURNS).step_by(2) {
            change(
                stage,
                &context,
                changed,
                |turns| turns.turn.get() == turn,
                |turns| turns.turn.set(turn + 1),
                || changed.notify_one(),
                turn % 4 < 2,
            );
        }
        Ok(())
    })?;
    at_rest(stage)
}

/// Half of the threads put numbers into a queue with room for two, half take them out.
pub(super) fn queue<L: RawLock<Native>>(threads: usize, limits: Limits) -> Result<(), String> {
    const ROOM: usize = 2;
    struct Queue<L: RawLock<Native>> {
        items: [Plain<u64>; ROOM],
        put: Plain<usize>,
        taken: Plain<usize>,
        sum: Plain<u64>,
        /// A section met a queue of an impossible length.
        broken: Plain<bool>,
        not_full: L::Condvar,
        not_empty: L::Condvar,
        each: u64,
    }
    impl<L: RawLock<Native>> Queue<L> {
        fn len(&self) -> usize {
            self.put.get().wrapping_sub(self.taken.get())
        }
    }
    let (pairs, each) = (threads as u64 / 2, rounds::<L>(threads) / 2);
    let stage = Stage::<L, _>::new(Queue::<L> {
        items: [0; ROOM].map(Plain::new),
        put: Plain::new(0),
        taken: Plain::new(0),
        sum: Plain::new(0),
        broken: Plain::new(false),
        not_full: L::Condvar::new(),
        not_empty: L::Condvar::new(),
        each,
    });
    stage.run(threads, limits, |stage, thread, _| {
        let context = L::Context::default();
        let Queue { not_full, not_empty, each, .. } = &stage.guarded;
        let check = |queue: &Queue<L>| {
            if queue.len() > ROOM {
                queue.broken.set(true);
            }
        };
        for round in 0..*each {
            if thread % 2 == 0 {
                change(
                    stage,
                    &context,
                    not_full,
                    |queue| queue.len() != ROOM,
                    |queue| {
                        let put = queue.put.get();
                        queue.items[put % ROOM].set(round);
                        queue.put.set(put + 1);
                        check(queue);
                    },
                    || not_empty.notify_one(),
                    round % 2 == 0,
                );
            } else {
                change(
                    stage,
                    &context,
                    not_empty,
                    |queue| queue.len() != 0,
                    |queue| {
                        let taken = queue.taken.get();
                        queue.sum.set(queue.sum.get() + queue.items[taken % ROOM].get());
                        queue.taken.set(taken + 1);
                        check(queue);
                    },
                    || not_full.notify_one(),
                    round % 2 == 0,
                );
            }
        }
        Ok(())
    })?;
    let queue = &stage.guarded;
    let (expected, sum) = (pairs * (0..each).sum::<u64>(), queue.sum.get());
    if queue.broken.get() || queue.len() != 0 || sum != expected {
        return Err(format!("numbers were lost or read twice: their sum is {sum}, not {expected}"));
    }
    at_rest(stage)
}

/// All threads meet repeatedly; the last to arrive lets the others continue.
pub(super) fn broadcast<L: RawLock<Native>>(threads: usize, limits: Limits) -> Result<(), String> {
    struct Meeting<L: RawLock<Native>> {
        here: Plain<usize>,
        held: Plain<u64>,
        over: L::Condvar,
        threads: usize,
    }
    let stage = Stage::<L, _>::new(Meeting::<L> {
        here: Plain::new(0),
        held: Plain::new(0),
        over: L::Condvar::new(),
        threads,
    });
    stage.run(threads, limits, |stage, _, _| {
        let context = L::Context::default();
        let Meeting { here, held, over, threads } = &stage.guarded;
        // All notified threads want the lock at once, and most of them are not running.
        let meetings = rounds::<L>(*threads) / if hogs::<L>() { 64 } else { 2 };
        for meeting in 0..meetings.max(2) {
            // SAFETY: the context is this thread's own and stays where it is.
            unsafe { stage.lock.lock(&context) };
            here.set(here.get() + 1);
            let last = here.get() == *threads;
            if last {
                here.set(0);
                held.set(meeting + 1);
            }
            while held.get() <= meeting {
                // SAFETY: locked above with this context; the condition variable is of this stage.
                unsafe { over.wait(&stage.lock, &context) };
            }
            let notify_with_the_lock = meeting % 2 == 0;
            if last && notify_with_the_lock {
                over.notify_all();
            }
            // SAFETY: locked above with this context, by the last wait if there was any.
            unsafe { stage.lock.unlock(&context) };
            if last && !notify_with_the_lock {
                over.notify_all();
            }
            stage.got_on();
        }
        Ok(())
    })?;
    at_rest(stage)
}
