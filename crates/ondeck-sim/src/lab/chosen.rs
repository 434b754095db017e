//! A lock that is chosen by its name, for simulated threads that are not compiled for each type of lock.
//!
//! The lock and the contexts of threads lie on cache lines of their own, as a workload would have them.

use std::any::Any;

use ondeck_zoo::{RawLock, Visitor, locks};

use crate::engine::Sim;

/// A mutex that can be simulated.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    name: &'static str,
    lock: fn() -> Box<dyn Lock>,
    context: fn() -> Box<dyn Any>,
}

impl Chosen {
    /// The mutex of that name; none if no mutex that can be simulated has it.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Collect(Vec::new());
        locks::for_each_hosted::<Sim>(&mut all);
        locks::for_each_pi::<Sim>(&mut all);
        all.0.into_iter().find(|chosen| chosen.name == name)
    }

    /// A new lock, on cache lines of its own.
    pub fn lock(&self) -> Box<dyn Lock> {
        (self.lock)()
    }

    /// What a thread brings to acquisitions of such a lock, one at a time.
    pub fn context(&self) -> Box<dyn Any> {
        (self.context)()
    }
}

struct Collect(Vec<Chosen>);

impl Visitor<Sim> for Collect {
    fn visit<L: RawLock<Sim>>(&mut self) {
        self.0.push(Chosen {
            name: L::INFO.name,
            lock: || Box::new(Apart(L::new())),
            context: || Box::new(Apart(L::Context::default())),
        });
    }
}

/// On lines of its own, as workloads keep locks and stacks keep contexts.
#[repr(align(128))]
struct Apart<T>(T);

/// A [`RawLock`] of whatever type.
pub trait Lock {
    /// [`RawLock::lock`].
    ///
    /// # Safety
    ///
    /// As for [`RawLock::lock`]; the context is of the same kind.
    unsafe fn lock(&self, context: &dyn Any);
    /// [`RawLock::unlock`].
    ///
    /// # Safety
    ///
    /// As for [`RawLock::unlock`].
    unsafe fn unlock(&self, context: &dyn Any);
}

fn own<L: RawLock<Sim>>(context: &dyn Any) -> &L::Context {
    &context.downcast_ref::<Apart<L::Context>>().expect("a context of the same kind of lock").0
}

impl<L: RawLock<Sim>> Lock for Apart<L> {
    unsafe fn lock(&self, context: &dyn Any) {
        // SAFETY: what the caller promises is what this lock asks for.
        unsafe { self.0.lock(own::<L>(context)) }
    }

    unsafe fn unlock(&self, context: &dyn Any) {
        // SAFETY: as above.
        unsafe { self.0.unlock(own::<L>(context)) }
    }
}
