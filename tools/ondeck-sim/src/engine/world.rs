//! A running machine: its threads, CPUs, memory and time.
//!
//! Every simulated thread is a coroutine, and all threads of a machine run on one OS thread. A
//! thread has its own clock. Before an access it waits until the machine has reached that clock
//! ([`settle`]): if no earlier event is due, it continues; otherwise it suspends itself, and the
//! loop ([`run`](super::run)) handles the events that are due. So accesses happen in the order of
//! virtual time, and most of them without a switch of coroutines.
//!
//! # References to the machine
//!
//! [`world`] returns [a reference](Here) to each caller, and other callers obtain one while a
//! coroutine is suspended. So no reference is used across [`settle`], and no function that settles
//! takes one as an argument: the compiler may assume that nothing else changes the referent of a
//! mutable argument for as long as the call lasts.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

use fastrand::Rng;
use rustc_hash::FxHashMap;

use super::account::{Doing, Spent};
use super::bits::Set;
use super::buckets::Futexes;
use super::estimates::Estimates;
use super::memory::Memory;
use super::queue::{Event, EventQueue};
use super::store_buffer::{Hidden, StoreBuffer};
use super::thread::{State, Thread, Usage};
use super::unrest::{Unrest, Whim};
use crate::machine::{Class, Costs, Place};
use crate::time::{NEVER, Time};

/// How far a thread's clock may run ahead by pauses alone.
const MOST_AHEAD: Time = 1_000_000;

/// After at most this number of steps a thread returns to the loop, so that a run with only one
/// thread can be cancelled.
pub(super) const STEPS_BETWEEN_LOOKS: u64 = 1 << 16;

/// A CPU: a core, or one of its two hyper-threads.
#[derive(Default)]
pub(crate) struct Cpu {
    pub(super) current: Option<usize>,
    pub(super) ready: Vec<usize>,
    /// Changes with everything that makes an event of this CPU void.
    pub(super) epoch: u32,
    pub(super) idle_since: Time,
    /// Woken from idleness, and not running yet.
    pub(super) arriving: bool,
    pub(super) slice_from: Time,
    /// When it last sent a thread to an idle CPU.
    pub(super) balanced_at: Time,
    /// When its slice ends, if that event is queued.
    pub(super) armed: Time,
    pub(super) least_virtual_run_time: Time,
    pub(super) stores: StoreBuffer,
    pub(super) idle_time: Time,
}

/// A running machine.
pub(crate) struct World {
    pub(super) now: Time,
    pub(super) queue: EventQueue,
    pub(super) threads: Vec<Thread>,
    pub(super) cpus: Vec<Cpu>,
    pub(super) idle: Set,
    pub(super) clusters: Vec<Set>,
    pub(super) sockets: Vec<Set>,
    pub(super) memory: Memory,
    pub(super) futexes: Futexes,
    pub(super) estimates: Estimates,
    pub(super) costs: Costs,
    pub(super) rng: Rng,
    pub(super) unrest: Unrest,
    /// The random numbers of unrest.
    pub(super) whims: Rng,
    pub(super) membarrier_free: Time,
    pub(super) events: u64,
    /// CPUs with stores under way.
    pub(super) storing: Set,
    /// Atomics with stores under way, by their addresses.
    pub(super) hidden: FxHashMap<usize, Hidden>,
    /// The thread whose coroutine runs.
    pub(super) current: Option<usize>,
}

thread_local! {
    static WORLD: Cell<*mut World> = const { Cell::new(ptr::null_mut()) };
}

const ONLY_THREADS: &str = "only a simulated thread waits, locks or takes its time";

/// The current machine of this OS thread, for its running coroutine or for the loop.
///
/// A reference to the machine lasts no longer than the borrow of this value, and this value is
/// never used across a switch of coroutines.
pub(super) struct Here(NonNull<World>);

impl Deref for Here {
    type Target = World;

    #[inline]
    fn deref(&self) -> &World {
        // SAFETY: the machine lives until `Shown` is dropped, which outlasts the loop and its
        // coroutines. All of them run on this OS thread, and only the running one has a reference.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for Here {
    #[inline]
    fn deref_mut(&mut self) -> &mut World {
        // SAFETY: as in `deref`.
        unsafe { self.0.as_mut() }
    }
}

/// The machine of the calling simulated thread; `None` outside of simulated threads.
#[inline]
pub(super) fn on_thread() -> Option<Here> {
    any_world().filter(|world| world.current.is_some())
}

/// Like [`on_thread`], for code that only simulated threads reach.
#[inline]
pub(super) fn world() -> Here {
    on_thread().expect(ONLY_THREADS)
}

/// Like [`on_thread`], but also between events, where no thread runs.
#[inline]
pub(super) fn any_world() -> Option<Here> {
    NonNull::new(WORLD.get()).map(Here)
}

/// Lets the machine reach the calling thread's clock: all earlier events happen now.
pub(super) fn settle() {
    let mut world = world();
    world.events += 1;
    if world.unrest.is_on() {
        world.disturb();
    }
    come();
}

/// Like [`settle`], in the middle of an access: the machine reaches the moment at which the access
/// happens.
pub(super) fn come() {
    let mut world = world();
    let clock = world.me().clock;
    if clock < world.queue.first() && !world.events.is_multiple_of(STEPS_BETWEEN_LOOKS) {
        world.now = clock;
    } else {
        world.push_resume();
        suspend();
    }
}

/// Returns to the loop until the calling thread is resumed.
///
/// A panicking thread is not suspended: the run is over, and others would run in the middle of its
/// unwinding.
pub(super) fn suspend() {
    if std::thread::panicking() {
        return;
    }
    let yielder = world().me().yielder;
    // SAFETY: set when the running coroutine's body began; this call is on its stack.
    unsafe { &*yielder }.suspend(());
}

/// A pause of the calling thread: it advances only its own clock, unless that has run far ahead.
pub(super) fn pause(time: Time) {
    let mut world = world();
    world.charge(time, Doing::Pausing);
    if world.me().clock > world.now + MOST_AHEAD {
        settle();
    }
}

impl World {
    pub(super) fn new(costs: &Costs, seed: u64, unrest: Unrest) -> Self {
        let groups = |of: fn(&Place) -> usize| {
            let count = costs.places.iter().map(|place| of(place) + 1).max().unwrap_or(0);
            (0..count)
                .map(|group| {
                    let member = |cpu: &usize| of(&costs.places[*cpu]) == group;
                    (0..costs.places.len()).filter(member).collect()
                })
                .collect()
        };
        let cpu = |_| Cpu { armed: NEVER, ..Cpu::default() };
        Self {
            now: 0,
            queue: EventQueue::default(),
            threads: Vec::new(),
            cpus: (0..costs.places.len()).map(cpu).collect(),
            idle: (0..costs.places.len()).collect(),
            clusters: groups(|place| place.cluster),
            sockets: groups(|place| place.socket),
            memory: Memory::default(),
            futexes: Futexes::new(costs.futex_buckets),
            estimates: Estimates::default(),
            costs: costs.clone(),
            rng: Rng::with_seed(seed),
            whims: Rng::with_seed(unrest.seed),
            unrest,
            membarrier_free: 0,
            events: 0,
            storing: Set::EMPTY,
            hidden: FxHashMap::default(),
            current: None,
        }
    }

    /// The running thread's number.
    #[inline]
    pub(super) fn my_number(&self) -> usize {
        self.current.expect(ONLY_THREADS)
    }

    #[inline]
    pub(super) fn me(&mut self) -> &mut Thread {
        let current = self.my_number();
        &mut self.threads[current]
    }

    /// The number of the running thread's CPU.
    #[inline]
    pub(super) fn my_cpu_number(&self) -> usize {
        self.threads[self.my_number()].cpu
    }

    #[inline]
    pub(super) fn my_cpu(&mut self) -> &mut Cpu {
        let cpu = self.my_cpu_number();
        &mut self.cpus[cpu]
    }

    #[inline]
    pub(super) fn my_place(&self) -> Place {
        self.costs.places[self.my_cpu_number()]
    }

    #[inline]
    pub(super) fn my_class(&self) -> &Class {
        &self.costs.classes[self.my_place().class]
    }

    /// Advances the running thread's clock.
    pub(super) fn charge(&mut self, time: Time, doing: Doing) {
        let me = self.me();
        me.clock += time;
        me.doing = doing;
        me.spent.add(doing, time);
    }

    /// Whether the other CPU of the running thread's core competes for execution resources. A
    /// thread that pauses, or waits for a line, does not.
    pub(super) fn sibling_works(&self) -> bool {
        let Some(sibling) = self.my_place().sibling else { return false };
        self.cpus[sibling].current.is_some_and(|thread| {
            let doing = self.threads[thread].doing;
            !matches!(doing, Doing::Pausing | Doing::Queueing | Doing::Moving | Doing::Draining)
        })
    }

    /// The running thread waits until `then`, unless that is past.
    pub(super) fn charge_until(&mut self, then: Time, doing: Doing) {
        let clock = self.me().clock;
        self.charge(then.saturating_sub(clock), doing);
    }

    /// Queues the event that resumes the running thread, which is about to suspend itself, at its
    /// clock.
    fn push_resume(&mut self) {
        let number = self.my_cpu_number();
        let me = self.me();
        me.resume_at = me.clock;
        let at = me.clock;
        let epoch = self.cpus[number].epoch;
        self.queue.push(at, Event::Resume { cpu: number as u32, epoch });
    }

    /// Applies a test's disturbance to the running thread before its access.
    #[cold]
    fn disturb(&mut self) {
        let Some(whim) = self.unrest.whim(&mut self.whims) else { return };
        match whim {
            Whim::Stall(time) => self.charge(time, Doing::Disturbed),
            Whim::Preempt => {
                let (cpu, thread) = (self.my_cpu_number(), self.my_number());
                // A thread that is ready has the earlier turn.
                let ready = self.cpus[cpu].ready.iter();
                let least = ready.map(|&other| self.threads[other].virtual_run_time).min();
                let me = self.me();
                me.virtual_run_time = me.virtual_run_time.max(least.map_or(0, |least| least + 1));
                let at = self.me().clock.max(self.now);
                self.queue.push(at, Event::Preempt { cpu: cpu as u32, thread: thread as u32 });
            }
        }
    }

    /// Adds a thread that becomes ready now, on a CPU with few others.
    pub(super) fn add_thread(&mut self, cpu: usize, allowed: Option<Set>, seed: u64) -> usize {
        self.threads.push(Thread {
            state: State::Ready,
            cpu,
            clock: 0,
            resume_at: 0,
            remaining: 0,
            in_access: false,
            virtual_run_time: 0,
            allowed,
            since: 0,
            visible_at: 0,
            wait: 0,
            timed_out: false,
            only_sleeps: false,
            naps: false,
            sleeps_on: 0,
            random: Rng::with_seed(seed),
            usage: Usage::default(),
            spent: Spent::default(),
            doing: Doing::Working,
            yielder: ptr::null(),
        });
        self.threads.len() - 1
    }

    /// The body of the running thread has returned.
    pub(super) fn end_thread(&mut self, number: usize) {
        let cpu = self.threads[number].cpu;
        self.leave(cpu);
        self.threads[number].state = State::Done;
        self.schedule(cpu);
    }

    /// Charges all threads and CPUs for the time until now.
    pub(super) fn close_accounts(&mut self) {
        let now = self.now;
        for thread in &mut self.threads {
            let time = now.saturating_sub(std::mem::replace(&mut thread.since, now));
            match thread.state {
                State::Running => thread.usage.cpu += time,
                State::Ready => thread.usage.ready += time,
                State::Asleep => thread.usage.asleep += time,
                State::Done => {}
            }
        }
        for cpu in self.idle.iter() {
            let cpu = &mut self.cpus[cpu];
            cpu.idle_time += now.saturating_sub(std::mem::replace(&mut cpu.idle_since, now));
        }
    }
}

/// Makes a world the current one of simulated threads until this is dropped. Worlds nest: in an
/// outer one, on which no thread runs, rounds are prepared.
pub(super) struct Shown(pub(super) *mut World, *mut World);

impl Shown {
    pub(super) fn new(world: &mut World) -> Self {
        assert!(on_thread().is_none(), "a machine runs within another");
        let world = ptr::from_mut(world);
        Self(world, WORLD.replace(world))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        WORLD.set(self.1);
    }
}
