//! Collects the reports of a run's threads.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::engine::Sim;

#[derive(Default)]
struct Told {
    wrong: RefCell<Option<String>>,
    owners: Cell<u32>,
    readers: Cell<u32>,
    sections: Cell<u64>,
    #[expect(clippy::type_complexity, reason = "what is looked at when all threads have ended")]
    at_the_end: RefCell<Vec<Box<dyn FnOnce(&Judge) -> Option<String>>>>,
}

/// Runs the closure and lets the machine catch up, so that the thread's actions are also over in virtual time when
/// it reports.
fn stay(inside: impl FnOnce()) {
    inside();
    let _ = Sim::usage();
}

/// Receives reports from the threads of one run, and detects forbidden states. Costs no virtual time.
#[derive(Clone, Default)]
pub struct Judge(Rc<Told>);

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Judge").field(&self.0.wrong).finish()
    }
}

impl Judge {
    /// Reports an error; the first one counts.
    pub fn wrong(&self, what: impl Into<String>) {
        self.0.wrong.borrow_mut().get_or_insert_with(|| what.into());
    }

    /// Reports an error unless the condition holds.
    pub fn holds(&self, holds: bool, what: &str) {
        if !holds {
            self.wrong(what);
        }
    }

    /// Runs the closure while the calling thread must be the only one inside.
    pub fn alone(&self, inside: impl FnOnce()) {
        let told = &self.0;
        told.owners.set(told.owners.get() + 1);
        self.holds(told.owners.get() == 1, "two threads are inside at the same time");
        self.holds(told.readers.get() == 0, "a writer is inside with a reader");
        stay(inside);
        self.holds(told.owners.get() == 1, "two threads are inside at the same time");
        told.owners.set(told.owners.get() - 1);
        told.sections.set(told.sections.get() + 1);
    }

    /// Runs the closure while the calling thread may be inside with readers only.
    pub fn among_readers(&self, inside: impl FnOnce()) {
        let told = &self.0;
        told.readers.set(told.readers.get() + 1);
        self.holds(told.owners.get() == 0, "a reader is inside with a writer");
        stay(inside);
        self.holds(told.owners.get() == 0, "a reader is inside with a writer");
        told.readers.set(told.readers.get() - 1);
        told.sections.set(told.sections.get() + 1);
    }

    /// Runs the closure while at most this number of threads may be inside, including the calling one.
    pub fn among(&self, most: u32, inside: impl FnOnce()) {
        let told = &self.0;
        told.owners.set(told.owners.get() + 1);
        self.holds(told.owners.get() <= most, "more threads are inside than there are permits");
        stay(inside);
        told.owners.set(told.owners.get() - 1);
        told.sections.set(told.sections.get() + 1);
    }

    /// The number of sections so far.
    pub fn sections(&self) -> u64 {
        self.0.sections.get()
    }

    /// Sets the check for the time when all threads have ended; it returns an error, if any.
    pub fn at_the_end(&self, look: impl FnOnce(&Judge) -> Option<String> + 'static) {
        self.0.at_the_end.borrow_mut().push(Box::new(look));
    }

    pub(super) fn verdict(&self) -> Option<String> {
        self.0.wrong.borrow().clone()
    }

    /// When all threads have ended, they must have made this number of sections.
    pub fn expect_sections(&self, expected: u64) {
        self.at_the_end(move |judge| {
            let made = judge.sections();
            (made != expected).then(|| format!("{made} sections instead of {expected}"))
        });
    }

    pub(super) fn final_verdict(&self) -> Option<String> {
        let looks = std::mem::take(&mut *self.0.at_the_end.borrow_mut());
        looks.into_iter().find_map(|look| look(self))
    }
}
