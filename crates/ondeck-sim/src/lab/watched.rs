//! A lock whose acquisitions are told to the machine: what a trace is made of.
//!
//! Workloads are compiled for types of locks. This type is any of them, chosen for the OS thread: so each workload is
//! compiled once more, and not once more for each lock. The lock and the contexts of threads lie on cache lines of
//! their own, as a workload would have them.

use std::any::Any;
use std::cell::Cell;
use std::ops::Range;

use ondeck_lab::workload::Subject;
use ondeck_zoo::{
    CondvarKind, Fairness, LockInfo, Origin, RawCondvar, RawLock, Visitor, Waiting, locks,
};

use crate::engine::{Sim, watch};

/// A lock that can be watched.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    info: LockInfo,
    sizes: (usize, usize),
    lock: fn() -> Box<dyn Lock>,
    context: fn() -> Box<dyn Any>,
    condvar: fn() -> Box<dyn Condvar>,
}

impl Chosen {
    /// The mutex of that name; none if no mutex that can be simulated has it.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Collect(Vec::new());
        locks::for_each_hosted::<Sim>(&mut all);
        locks::for_each_pi::<Sim>(&mut all);
        all.0.into_iter().find(|chosen| chosen.info.name == name)
    }

    /// The lock as workloads take it, within [`with_watched`](super::with_watched).
    pub fn subject(&self) -> Subject {
        let mut subject = Subject::of::<Sim, Watched>();
        subject.info = self.info;
        (subject.size, subject.context_size) = self.sizes;
        subject
    }

    /// A new lock, on cache lines of its own.
    pub fn lock(&self) -> Box<dyn Lock> {
        (self.lock)()
    }

    /// What a thread brings to acquisitions of such a lock, one at a time.
    pub fn context(&self) -> Box<dyn Any> {
        (self.context)()
    }

    fn of<L: RawLock<Sim>>() -> Self {
        Self {
            info: L::INFO,
            sizes: (size_of::<L>(), size_of::<L::Context>()),
            lock: || Box::new(Apart(L::new())),
            context: || Box::new(Apart(L::Context::default())),
            condvar: || Box::new(Condition::<L>(L::Condvar::new())),
        }
    }
}

struct Collect(Vec<Chosen>);

impl Visitor<Sim> for Collect {
    fn visit<L: RawLock<Sim>>(&mut self) {
        self.0.push(Chosen::of::<L>());
    }
}

thread_local! {
    /// What locks of this OS thread are, while they are watched.
    static CHOSEN: Cell<Option<Chosen>> = const { Cell::new(None) };
}

/// Until it is dropped, watched locks of this OS thread are of that kind.
pub(super) struct Choosing;

impl Choosing {
    pub(super) fn begin(chosen: Chosen) -> Self {
        CHOSEN.set(Some(chosen));
        Self
    }
}

impl Drop for Choosing {
    fn drop(&mut self) {
        CHOSEN.set(None);
    }
}

fn chosen() -> Chosen {
    CHOSEN.get().expect("a watched lock is made within `lab::with_watched`")
}

/// On lines of its own, as workloads keep locks and stacks keep contexts.
#[repr(align(128))]
struct Apart<T>(T);

/// A [`RawLock`] of whatever type.
pub trait Lock: Any + Send + Sync {
    /// Where it is.
    fn range(&self) -> Range<usize>;
    /// [`RawLock::lock`].
    ///
    /// # Safety
    ///
    /// As for [`RawLock::lock`]; the context is of the same kind.
    unsafe fn lock(&self, context: &dyn Any);
    /// [`RawLock::try_lock`].
    ///
    /// # Safety
    ///
    /// As for [`RawLock::try_lock`]; the context is of the same kind.
    unsafe fn try_lock(&self, context: &dyn Any) -> bool;
    /// [`RawLock::unlock`].
    ///
    /// # Safety
    ///
    /// As for [`RawLock::unlock`].
    unsafe fn unlock(&self, context: &dyn Any);
    /// As [`RawLock::is_idle`].
    fn is_idle(&mut self) -> bool;
    /// The lock as what it is.
    fn as_any(&self) -> &dyn Any;
}

const OF_ONE_KIND: &str = "all watched locks of a run are of one kind";

fn own<L: RawLock<Sim>>(context: &dyn Any) -> &L::Context {
    &context.downcast_ref::<Apart<L::Context>>().expect(OF_ONE_KIND).0
}

impl<L: RawLock<Sim>> Lock for Apart<L> {
    fn range(&self) -> Range<usize> {
        let start = std::ptr::from_ref(&self.0).addr();
        start..start + size_of::<L>().max(1)
    }

    unsafe fn lock(&self, context: &dyn Any) {
        // SAFETY: what the caller promises is what this lock asks for.
        unsafe { self.0.lock(own::<L>(context)) }
    }

    unsafe fn try_lock(&self, context: &dyn Any) -> bool {
        // SAFETY: as above.
        unsafe { self.0.try_lock(own::<L>(context)) }
    }

    unsafe fn unlock(&self, context: &dyn Any) {
        // SAFETY: as above.
        unsafe { self.0.unlock(own::<L>(context)) }
    }

    fn is_idle(&mut self) -> bool {
        self.0.is_idle()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A [`RawCondvar`] of whatever type.
trait Condvar: Send + Sync {
    /// # Safety
    ///
    /// As for [`RawCondvar::wait`]; lock and context are of the same kind.
    unsafe fn wait(&self, lock: &dyn Lock, context: &dyn Any);
    fn notify_one(&self);
    fn notify_all(&self);
}

struct Condition<L: RawLock<Sim>>(L::Condvar);

impl<L: RawLock<Sim>> Condvar for Condition<L> {
    unsafe fn wait(&self, lock: &dyn Lock, context: &dyn Any) {
        let lock = &lock.as_any().downcast_ref::<Apart<L>>().expect(OF_ONE_KIND).0;
        // SAFETY: what the caller promises is what this condition variable asks for.
        unsafe { self.0.wait(lock, own::<L>(context)) }
    }

    fn notify_one(&self) {
        self.0.notify_one();
    }

    fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// The lock that was chosen, which tells the machine what threads do with it.
pub(super) struct Watched(Box<dyn Lock>);

/// Its context.
pub(super) struct WatchedContext(Box<dyn Any>);

/// Its condition variable.
pub(super) struct WatchedCondvar(Box<dyn Condvar>);

impl Default for WatchedContext {
    fn default() -> Self {
        Self((chosen().context)())
    }
}

// SAFETY: it is the lock that it has, which promises the same.
unsafe impl RawLock<Sim> for Watched {
    // What a reader is told is of the lock that was chosen.
    const INFO: LockInfo = LockInfo {
        name: "watched",
        origin: Origin::Own,
        waiting: Waiting::Spins,
        fairness: Fairness::Barging,
        has_try_lock: false,
        touches_after_release: true,
        condvar: CondvarKind::Own,
        source: "this project",
        teaches: "what threads do while they wait",
    };

    type Context = WatchedContext;
    type Condvar = WatchedCondvar;

    fn new() -> Self {
        Self((chosen().lock)())
    }

    unsafe fn lock(&self, context: &WatchedContext) {
        watch::wants(self.0.range());
        // SAFETY: what the caller promises is what the lock asks for, and both are of the kind that was chosen.
        unsafe { self.0.lock(&*context.0) };
        watch::acquired();
    }

    unsafe fn try_lock(&self, context: &WatchedContext) -> bool {
        watch::wants(self.0.range());
        // SAFETY: as above.
        let has_it = unsafe { self.0.try_lock(&*context.0) };
        // One that does not have it waits no longer, and leaves no acquisition behind.
        watch::acquired();
        has_it
    }

    unsafe fn unlock(&self, context: &WatchedContext) {
        watch::releases();
        // SAFETY: as above.
        unsafe { self.0.unlock(&*context.0) };
        watch::freed();
    }

    fn is_idle(&mut self) -> bool {
        self.0.is_idle()
    }
}

// SAFETY: it is the condition variable of the lock that was chosen, which promises the same.
unsafe impl RawCondvar<Sim, Watched> for WatchedCondvar {
    fn new() -> Self {
        Self((chosen().condvar)())
    }

    unsafe fn wait(&self, lock: &Watched, context: &WatchedContext) {
        watch::releases();
        watch::freed();
        // SAFETY: what the caller promises is what the condition variable asks for.
        unsafe { self.0.wait(&*lock.0, &*context.0) };
        watch::reacquired(lock.0.range());
    }

    fn notify_one(&self) {
        self.0.notify_one();
    }

    fn notify_all(&self) {
        self.0.notify_all();
    }
}
