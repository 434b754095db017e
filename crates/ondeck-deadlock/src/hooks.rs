//! What locks call, if detection [is on](crate::is_on).
//!
//! ```text
//! blocking     begin ──► got it at once ─────────────► Attempt::acquired
//!                 └────► Attempt::waits, then waits ──► Attempt::acquired, or dropped: gave up
//! attempt      acquired
//! unlock       released, before it
//! ```

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::kinds::{Ends, Held, Lock, Want};
use crate::report::ReportKind;
use crate::stack::Stack;
use crate::table::{self, Table};
use crate::tell::Found;
use crate::thread::{self, Thread, enter, ignores};
use crate::{switch, waits};

/// A thread that wants a lock. Dropped without [`acquired`](Self::acquired): it has given up.
#[must_use = "dropped at once, it says that the thread has given up"]
pub struct Attempt {
    lock: Lock,
    want: Want,
    ends: Ends,
    /// None if the attempt is not looked at.
    stack: Option<Stack>,
    waits: bool,
}

/// The calling thread wants a lock, and will wait for it if it is taken: before its first attempt.
///
/// Reports a read within a read, and an inversion that the lock would make.
pub fn begin(lock: Lock, want: Want, ends: Ends) -> Attempt {
    let mut attempt = Attempt { lock, want, ends, stack: None, waits: false };
    let Some(_inside) = enter() else { return attempt };
    let stack = Stack::of_caller();
    let mut table = table::lock();
    if !is_looked_at(&table, lock) {
        return attempt;
    }
    attempt.stack = Some(stack);
    if ends == Ends::Never && !ignores() {
        let mut place = 0;
        while let Some(found) = table.next_finding(&mut place, (lock, want, &stack)) {
            if table.is_new(found.digest()) {
                drop(table);
                let digest = found.digest_of_text();
                let is_new = table::lock().is_new(digest);
                if is_new {
                    found.tell();
                }
                table = table::lock();
            }
        }
    }
    attempt
}

fn is_looked_at(table: &Table, lock: Lock) -> bool {
    switch::is_on() && !table.ignored.contains(&lock.address)
}

impl Table {
    /// What is wrong with wanting the lock beside what the calling thread holds, from the hold at `place` on.
    fn next_finding(&mut self, place: &mut usize, wanted: (Lock, Want, &Stack)) -> Option<Found> {
        let (lock, want, _) = wanted;
        let known = self.threads.get(&thread::number())?;
        while let Some(hold) = known.held.get(*place) {
            *place += 1;
            if hold.lock.address == lock.address {
                if want.may_wait_for(hold.held) && !want.waits_for(hold.held) {
                    let mut found = Found::new(ReportKind::RecursiveRead);
                    found.edge(Thread::current(None), Some(hold), wanted);
                    return Some(found);
                }
            } else if let Some(circle) = self.order.learn(&known.held, *place - 1, wanted) {
                return Some(Found::inversion(&circle));
            }
        }
        None
    }
}

impl Attempt {
    /// The lock is taken, and the thread is about to wait for it.
    ///
    /// Reports the deadlock that this makes. It sleeps some milliseconds if it seems to make one.
    pub fn waits(&mut self) {
        if self.enter_wait() {
            let Some(_inside) = enter() else { return };
            waits::look(thread::number());
        }
    }

    /// The thread holds the lock's mutex, and is about to unlock it and to wait for a condition: it will not
    /// go on before it has the mutex again.
    pub fn waits_for_condition(&mut self) {
        self.enter_wait();
    }

    fn enter_wait(&mut self) -> bool {
        let (Some(stack), Some(_inside)) = (self.stack, enter()) else { return false };
        // In a thread that the standard library did not make this allocates.
        let id = std::thread::current().id();
        let thread = Thread::current(Some(id));
        let mut table = table::lock();
        if !switch::is_on() {
            return false;
        }
        let number = table.next();
        let Self { lock, want, ends, .. } = *self;
        let wait = table::Wait { lock, want, ends, number, is_told: false, stack, thread };
        table.known(thread::number()).wait = Some(wait);
        self.waits = true;
        true
    }

    /// The thread has the lock.
    pub fn acquired(mut self) {
        let Some(_inside) = enter() else { return };
        let was_waiting = mem::take(&mut self.waits);
        let mut table = table::lock();
        let number = thread::number();
        if was_waiting && let Some(known) = table.threads.get_mut(&number) {
            known.wait = None;
        }
        if let Some(stack) = self.stack
            && is_looked_at(&table, self.lock)
        {
            table.holds(number, self.lock, self.want.held(), &stack);
        }
    }

    /// The wait is over, and the lock is another thread's or of none: a once that is done.
    pub fn is_over(self) {}
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if !self.waits {
            return;
        }
        let Some(_inside) = enter() else { return };
        if let Some(known) = table::lock().threads.get_mut(&thread::number()) {
            known.wait = None;
        }
        if self.ends == Ends::AtADeadline && self.want.writes() {
            waits::look_at_all();
        }
    }
}

/// The calling thread has acquired a lock by an attempt that could not have waited.
pub fn acquired(lock: Lock, held: Held) {
    let Some(_inside) = enter() else { return };
    let stack = Stack::of_caller();
    let mut table = table::lock();
    if is_looked_at(&table, lock) {
        table.holds(thread::number(), lock, held, &stack);
    }
}

/// The calling thread is about to unlock a lock.
pub fn released(lock: Lock, held: Held) {
    let Some(_inside) = enter() else { return };
    let mut table = table::lock();
    if is_looked_at(&table, lock) {
        table.gives_up(thread::number(), lock, held);
    }
}

/// The calling thread holds a lock in another way from now on.
pub fn changed(lock: Lock, from: Held, to: Held) {
    let Some(_inside) = enter() else { return };
    let stack = Stack::of_caller();
    let mut table = table::lock();
    if is_looked_at(&table, lock) {
        let number = thread::number();
        table.gives_up(number, lock, from);
        table.holds(number, lock, to, &stack);
    }
}

/// The lock at an address is gone, or moves elsewhere: what comes to be there is another one.
///
/// Locks that know their end call this by themselves.
pub fn forget(address: usize) {
    let Some(_inside) = enter() else { return };
    table::lock().forget(address);
}

/// The lock at an address comes to its end: [`forget`], if anything may be known of it.
#[inline]
pub fn ends(address: usize) {
    if switch::is_on() || IS_ANY_IGNORED.load(Ordering::Relaxed) {
        forget(address);
    }
}

/// Relaxed: a lock that was ignored ends after that.
static IS_ANY_IGNORED: AtomicBool = AtomicBool::new(false);

/// Looks no more at the lock at an address: it is in no report, until [`forget`].
pub fn ignore(address: usize) {
    let Some(_inside) = enter() else { return };
    IS_ANY_IGNORED.store(true, Ordering::Relaxed);
    let mut table = table::lock();
    table.forget(address);
    table.ignored.insert(address);
}
