//! The hooks that locks call if detection [is on](crate::is_on).
//!
//! ```text
//! blocking     begin ──► got it at once ─────────────► Attempt::acquired
//!                 └────► Attempt::waits, then waits ──► Attempt::acquired, or dropped: gave up
//! attempt      acquired
//! unlock       released, before it
//! ```

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::kinds::{Ends, Held, Lock, Want};
use crate::report::ReportKind;
use crate::stack::Stack;
use crate::table::{self, Table};
use crate::tell::Found;
use crate::thread::{self, Thread, enter, ignores};
use crate::{switch, waits};

/// A thread's attempt to acquire a lock. Dropping it without [`acquired`](Self::acquired) means
/// that the thread has given up.
#[must_use = "dropped at once, it says that the thread has given up"]
pub struct Attempt {
    lock: Lock,
    want: Want,
    ends: Ends,
    /// None if the attempt is not checked.
    stack: Option<Stack>,
    waits: bool,
}

/// Records that the calling thread wants a lock and will wait for it if it is locked. Called before
/// its first attempt.
///
/// Reports a read within a read, and a lock-order inversion that the acquisition would make.
pub fn begin(lock: Lock, want: Want, ends: Ends) -> Attempt {
    let mut attempt = Attempt { lock, want, ends, stack: None, waits: false };
    let Some(_inside) = enter() else { return attempt };
    let stack = Stack::of_caller();
    let mut table = table::lock();
    if !is_looked_at(&table, lock) {
        return attempt;
    }
    attempt.stack = Some(stack);
    if ends == Ends::Never && switch::reports() && !ignores() {
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
    /// Returns the report, if any, for wanting the lock in addition to the calling thread's holds
    /// from `place` on.
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
            } else {
                let current = || Thread::current(None);
                if let Some(circle) = self.order.learn(&known.held, *place - 1, wanted, current) {
                    return Some(Found::inversion(&circle));
                }
            }
        }
        None
    }
}

impl Attempt {
    /// Records that the lock is held and that the thread is about to wait for it.
    ///
    /// Unless detection is [on request](crate::Mode::OnRequest), reports the deadlock that this
    /// wait causes. If the wait seems to cause one, sleeps for some milliseconds before it checks
    /// again.
    pub fn waits(&mut self) {
        if self.enter_wait() && switch::reports() {
            let Some(_inside) = enter() else { return };
            waits::look(thread::number());
        }
    }

    /// Records that the thread, which holds the lock's mutex, is about to unlock it and to wait for
    /// a condition. It cannot continue before it has acquired the mutex again.
    pub fn waits_for_condition(&mut self) {
        self.enter_wait();
    }

    fn enter_wait(&mut self) -> bool {
        let (Some(stack), Some(_inside)) = (self.stack, enter()) else { return false };
        // This allocates in a thread that the standard library did not create.
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

    /// Records that the thread has acquired the lock.
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
        if self.ends == Ends::AtADeadline && self.want.writes() && switch::reports() {
            waits::look_at_all();
        }
    }
}

/// Records that the calling thread has acquired a lock by an attempt that could not have waited.
pub fn acquired(lock: Lock, held: Held) {
    let Some(_inside) = enter() else { return };
    let stack = Stack::of_caller();
    let mut table = table::lock();
    if is_looked_at(&table, lock) {
        table.holds(thread::number(), lock, held, &stack);
    }
}

/// Records that the calling thread is about to unlock a lock.
pub fn released(lock: Lock, held: Held) {
    let Some(_inside) = enter() else { return };
    let mut table = table::lock();
    if is_looked_at(&table, lock) {
        table.gives_up(thread::number(), lock, held);
    }
}

/// Records that the calling thread holds a lock in another way from now on.
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

/// Records that a lock is at this address. Its `note` has the address at which it was last, or 0 in
/// a new lock. If that is another one, what is known about the address is about a lock that is
/// gone, and is forgotten.
#[inline]
pub fn meets(address: usize, note: &AtomicUsize) {
    // Relaxed: the note is written under the table's lock, which what follows takes.
    if note.load(Ordering::Relaxed) != address {
        replaces(address, note);
    }
}

#[cold]
fn replaces(address: usize, note: &AtomicUsize) {
    let Some(_inside) = enter() else { return };
    let mut table = table::lock();
    if note.swap(address, Ordering::Relaxed) != address {
        table.forget(address);
    }
}

/// Forgets what is known about the lock at an address.
pub fn forget(address: usize) {
    let Some(_inside) = enter() else { return };
    table::lock().forget(address);
}

/// Excludes the lock at an address, which it [`meets`], from all reports, until [`forget`].
pub fn ignore(address: usize) {
    let Some(_inside) = enter() else { return };
    let mut table = table::lock();
    table.forget(address);
    table.ignored.insert(address);
}
