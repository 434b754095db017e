//! What a watched run keeps of its threads: where the scheduler had each of them, its acquisitions, and how it waited for
//! each. Other runs look at one flag of their OS thread for each access.
//!
//! A thread that wants a lock is put down by what it does: it polls if the last thing that it read or tried is the lock
//! itself, and waits near if that is a word elsewhere, such as its own node. Accesses to the parking table count for
//! neither: both a poller and a thread that is near read there.

use std::ops::Range;

use super::thread::State;
use super::time::Time;
use super::world::{World, any_world, on_thread, settle};

/// More records than this take a gigabyte. A run that has more is kept until there.
const MOST: usize = 16 << 20;

/// A time in which a thread's state was the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its beginning.
    pub from: Time,
    /// Its end.
    pub to: Time,
    /// Where the scheduler had the thread.
    pub state: State,
    /// The CPU that the thread ran on, waited for, or ran on last.
    pub cpu: usize,
}

/// How a thread waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Reads or tries the lock itself.
    Polls,
    /// Reads a word elsewhere, until another thread writes it.
    Near,
    /// Sleeps.
    Parked,
    /// Was woken, and has not come to the lock yet.
    InFlight,
}

/// A time in which a thread waited in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Its beginning.
    pub from: Time,
    /// Its end.
    pub to: Time,
    /// The way.
    pub way: Way,
    /// The address of the lock.
    pub lock: usize,
}

/// One acquisition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The address of the lock.
    pub lock: usize,
    /// Before the call that locks.
    pub wanted: Time,
    /// After it.
    pub acquired: Time,
    /// Before the call that unlocks.
    pub released: Time,
    /// After it.
    pub freed: Time,
    /// The CPU on which the thread acquired the lock.
    pub cpu: usize,
}

/// What is kept of a thread.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// Its states, without gaps.
    pub spans: Vec<Span>,
    /// How it waited, in order.
    pub waits: Vec<Wait>,
    /// Its acquisitions, in order.
    pub pairs: Vec<Pair>,
}

/// What is kept of a run.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The threads by their numbers.
    pub threads: Vec<Course>,
    /// If there was no room for all of the run: until when there was.
    pub full_at: Option<Time>,
}

/// A thread that is being watched.
#[derive(Debug)]
struct Walker {
    course: Course,
    /// Its state, since when, and on which CPU.
    now: (State, Time, usize),
    /// The addresses of the lock that it wants or has.
    lock: Range<usize>,
    /// How it waits since when, if it does.
    way: Option<(Way, Time)>,
    wanted: Time,
    acquired: Time,
    released: Time,
    /// The CPU on which it acquired the lock.
    cpu: usize,
}

/// The watch over a run.
#[derive(Debug)]
pub(super) struct Watch {
    walkers: Vec<Walker>,
    table: Range<usize>,
    kept: usize,
    full_at: Option<Time>,
}

impl Watch {
    pub(super) fn new(table: Range<usize>) -> Self {
        Self { walkers: Vec::new(), table, kept: 0, full_at: None }
    }

    /// A thread begins, ready on that CPU.
    pub(super) fn add(&mut self, cpu: usize) {
        self.walkers.push(Walker {
            course: Course::default(),
            now: (State::Ready, 0, cpu),
            lock: 0..0,
            way: None,
            wanted: 0,
            acquired: 0,
            released: 0,
            cpu,
        });
    }

    fn keeps(&mut self, at: Time) -> bool {
        self.kept += 1;
        if self.kept > MOST {
            self.full_at.get_or_insert(at);
        }
        self.full_at.is_none()
    }

    /// From now on the thread is in that state.
    fn becomes(&mut self, thread: usize, at: Time, state: State, cpu: usize) {
        let (before, from, its) = self.walkers[thread].now;
        if (before, its) == (state, cpu) {
            return;
        }
        if from < at && self.keeps(at) {
            let span = Span { from, to: at, state: before, cpu: its };
            self.walkers[thread].course.spans.push(span);
        }
        self.walkers[thread].now = (state, at, cpu);
        if state == State::Asleep {
            self.waits_by(thread, at, Way::Parked);
        }
    }

    /// If the thread waits for a lock, it does so in that way from now on.
    fn waits_by(&mut self, thread: usize, at: Time, way: Way) {
        if self.walkers[thread].way.is_some_and(|(now, _)| now != way) {
            self.end_way(thread, at);
            self.walkers[thread].way = Some((way, at));
        }
    }

    fn end_way(&mut self, thread: usize, at: Time) {
        let Some((way, from)) = self.walkers[thread].way.take() else { return };
        if from < at && self.keeps(at) {
            let walker = &mut self.walkers[thread];
            walker.course.waits.push(Wait { from, to: at, way, lock: walker.lock.start });
        }
    }

    fn accesses(&mut self, thread: usize, at: Time, address: usize) {
        let Walker { lock, way, .. } = &self.walkers[thread];
        let Some((now, _)) = *way else { return };
        if lock.contains(&address) {
            self.waits_by(thread, at, Way::Polls);
        } else if now != Way::InFlight && !self.table.contains(&address) {
            self.waits_by(thread, at, Way::Near);
        }
    }

    /// All threads have ended, or nothing happens any more.
    pub(super) fn end(mut self, at: Time) -> Watched {
        for thread in 0..self.walkers.len() {
            self.end_way(thread, at);
            let (state, from, cpu) = self.walkers[thread].now;
            if from < at && state != State::Done && self.keeps(at) {
                self.walkers[thread].course.spans.push(Span { from, to: at, state, cpu });
            }
        }
        let threads = self.walkers.into_iter().map(|walker| walker.course).collect();
        Watched { threads, full_at: self.full_at }
    }
}

impl World {
    /// The scheduler has put that thread into that state.
    #[inline]
    pub(super) fn watch_state(&mut self, thread: usize, state: State, cpu: usize) {
        if let Some(watch) = &mut self.watch {
            watch.becomes(thread, self.now, state, cpu);
        }
    }

    /// That thread is woken: by another, or at the end of its own deadline.
    pub(super) fn watch_wake(&mut self, thread: usize) {
        let way = if self.threads[thread].timed_out { Way::Near } else { Way::InFlight };
        if let Some(watch) = &mut self.watch {
            watch.waits_by(thread, self.now, way);
        }
    }

    /// The running thread has accessed that address.
    pub(super) fn watch_access(&mut self, thread: usize, address: usize) {
        let at = self.threads[thread].clock;
        if let Some(watch) = &mut self.watch {
            watch.accesses(thread, at, address);
        }
    }
}

/// The watch over the machine of the calling thread, with the thread and its clock; none if that is not watched.
fn mine<'a>() -> Option<(&'a mut Watch, usize, Time)> {
    let world = on_thread()?;
    let (thread, at) = (world.my_number(), world.me().clock);
    Some((world.watch.as_mut()?, thread, at))
}

fn is_watched() -> bool {
    on_thread().is_some() && any_world().is_some_and(|world| world.watch.is_some())
}

/// The calling thread is about to lock the lock at those addresses.
pub(crate) fn wants(lock: Range<usize>) {
    if !is_watched() {
        return;
    }
    // What the thread did before has its time now, and may be interrupted there.
    settle();
    if let Some((watch, thread, at)) = mine() {
        let walker = &mut watch.walkers[thread];
        (walker.lock, walker.wanted, walker.way) = (lock, at, Some((Way::Polls, at)));
    }
}

/// The calling thread has it.
pub(crate) fn acquired() {
    if let Some((watch, thread, at)) = mine() {
        watch.end_way(thread, at);
        let walker = &mut watch.walkers[thread];
        (walker.acquired, walker.cpu) = (at, walker.now.2);
    }
}

/// The calling thread is about to unlock it.
pub(crate) fn releases() {
    if !is_watched() {
        return;
    }
    settle();
    if let Some((watch, thread, at)) = mine() {
        watch.walkers[thread].released = at;
    }
}

/// The calling thread has unlocked it.
pub(crate) fn freed() {
    if let Some((watch, thread, at)) = mine()
        && watch.keeps(at)
    {
        let Walker { course, lock, wanted, acquired, released, cpu, .. } =
            &mut watch.walkers[thread];
        course.pairs.push(Pair {
            lock: lock.start,
            wanted: *wanted,
            acquired: *acquired,
            released: *released,
            freed: at,
            cpu: *cpu,
        });
    }
}

/// The calling thread, which unlocked at `released` to sleep at a condition, has the lock again: what it waited for the
/// lock is not told from what it waited for the notification.
pub(crate) fn reacquired(lock: Range<usize>) {
    if let Some((watch, thread, at)) = mine() {
        watch.walkers[thread].lock = lock;
        watch.walkers[thread].wanted = at;
    }
    acquired();
}
