//! Waits in the kernel: hash buckets, each with a lock and a queue, as in Linux (kernel/futex).
//!
//! A call pays for its way into the kernel, waits for the bucket's lock in the order of arrival,
//! and holds it for the length of an operation on the queue. A wait compares the word under that
//! lock. A wake that finds no thread in the bucket's queue, and none on its way there, does not
//! take it (kernel/futex/waitwake.c: futex_wait_setup, futex_wake).

use ondeck::platform::FutexWait;

use super::access;
use super::account::Doing;
use super::memory::LINE;
use super::queue::Event;
use super::scheduler;
use super::thread::State;
use super::world::{World, come, settle, world};
use crate::time::Time;

/// Lines that come from a woken thread's CPU: those of the thread, and of that CPU's run queue. An
/// estimate.
const WAKE_LINES: Time = 6;

/// Lines of a bucket that an operation needs: its lock, and the end of its queue.
const BUCKET_LINES: Time = 2;

/// Sleeps while the word at the address has the expected value; `read` reads it in memory.
pub(super) fn wait(
    address: usize,
    expected: u32,
    deadline: Option<Time>,
    read: impl Fn() -> u32,
) -> FutexWait {
    enter();
    // The check under the bucket's lock reads a line that has arrived.
    access::drain();
    access::load(address);
    let name = world().memory.name(address);
    let bucket = world().futexes.of(name);
    world().futexes.buckets[bucket].arriving += 1;
    lock_bucket(name);
    world().futexes.buckets[bucket].arriving -= 1;
    if read() != expected {
        return FutexWait::Mismatch;
    }
    wait_in(bucket, name, deadline);
    if world().me().timed_out { FutexWait::TimedOut } else { FutexWait::Woken }
}

/// A lock that leaves its owner alone for a moment sleeps for less than this millisecond. Waits
/// that would hide a lost wake are longer.
pub(super) const LONGEST_NAP: Time = 1_000_000_000;

/// Sleeps in the queue of a bucket, under that name.
pub(super) fn wait_in(bucket: usize, name: usize, deadline: Option<Time>) {
    let mut here = world();
    let (number, now) = (here.my_number(), here.now);
    here.futexes.buckets[bucket].queue.push(number);
    let me = here.me();
    me.sleeps_on = name;
    me.wait += 1;
    me.timed_out = false;
    me.naps = deadline.is_some_and(|deadline| deadline < now.saturating_add(LONGEST_NAP));
    let wait = me.wait;
    if let Some(deadline) = deadline {
        let at = deadline.max(here.now).saturating_add(here.costs.futex.timer_slack);
        here.queue.push(at, Event::Timeout { thread: number as u32, wait });
    }
    scheduler::sleep();
    let leave = world().costs.futex.entry / 2;
    world().charge(leave, Doing::Kernel);
}

/// Wakes threads that sleep on the word at the address.
pub(super) fn wake(address: usize, count: usize) -> usize {
    enter();
    access::drain();
    let name = world().memory.name(address);
    let bucket = world().futexes.of(name);
    if world().futexes.buckets[bucket].is_unused() {
        return 0;
    }
    lock_bucket(name);
    let woken = world().take_waiters(name, count);
    wake_all(&woken);
    woken.len()
}

/// Wakes some threads that sleep on one word, and lets others sleep on another.
pub(super) fn requeue(
    from: usize,
    expected: u32,
    to: usize,
    (count, most_moved): (usize, usize),
    read: impl Fn() -> u32,
) -> Option<usize> {
    enter();
    access::drain();
    access::load(from);
    if read() != expected {
        return None;
    }
    let (name, target) = (world().memory.name(from), world().memory.name(to));
    let other = lock_bucket(target);
    lock_bucket(name);
    if read() != expected {
        return None;
    }
    let mut here = world();
    let woken = here.take_waiters(name, count);
    // Their deadlines stay in force.
    let others = here.unlink_waiters(name, most_moved);
    for &thread in &others {
        here.threads[thread].sleeps_on = target;
    }
    here.futexes.buckets[other].queue.extend_from_slice(&others);
    wake_all(&woken);
    Some(woken.len() + others.len())
}

/// A system call begins.
pub(super) fn enter() {
    settle();
    let entry = world().costs.futex.entry;
    world().charge(entry, Doing::Kernel);
    settle();
}

/// Waits for the lock of the bucket of that name, and holds it for an operation. The caller makes
/// the operation when this returns, in one step, just before the lock is free again. The thread
/// keeps its CPU, as with the kernel's spinlocks.
pub(super) fn lock_bucket(name: usize) -> usize {
    let mut world = world();
    let number = world.futexes.of(name);
    let place = world.my_place();
    let hold = world.costs.futex.bucket_hold;
    let transfer = match world.futexes.buckets[number].core {
        Some(core) if core == place.core => 0,
        Some(core) => {
            let other = world.costs.places[world.costs.cpu_of_core[core]];
            world.costs.distance(&place, &other)
        }
        None => world.costs.transfer.memory,
    };
    let now = world.now;
    let bucket = &mut world.futexes.buckets[number];
    let start = now.max(bucket.busy_until) + transfer * BUCKET_LINES;
    bucket.queued += start - now;
    bucket.operations += 1;
    bucket.busy_until = start + hold;
    bucket.core = Some(place.core);
    world.charge_until(start, Doing::BucketWait);
    world.charge(hold, Doing::Kernel);
    world.me().in_access = true;
    come();
    self::world().me().in_access = false;
    number
}

/// Wakes threads that are no longer in a queue, one after the other.
pub(super) fn wake_all(woken: &[usize]) {
    for &thread in woken {
        let mut here = world();
        let (from, to) = (here.my_place(), here.costs.places[here.threads[thread].cpu]);
        let lines = WAKE_LINES * here.costs.distance(&from, &to);
        let wake = here.costs.futex.wake;
        here.charge(wake + lines, Doing::Kernel);
        settle();
        world().wake(thread);
    }
}

impl World {
    /// Wakes threads that sleep on the word at the address, from outside of the machine.
    pub(super) fn wake_at_once(&mut self, address: usize, count: usize) -> usize {
        let name = self.memory.name(address);
        let woken = self.take_waiters(name, count);
        for &thread in &woken {
            self.wake(thread);
        }
        woken.len()
    }

    /// Takes the threads to wake out of the queue of their word.
    pub(super) fn take_waiters(&mut self, name: usize, count: usize) -> Vec<usize> {
        let woken = self.unlink_waiters(name, count);
        for &thread in &woken {
            // Its deadline is void from here on.
            self.threads[thread].wait += 1;
        }
        woken
    }

    /// Takes threads that sleep on a word out of their queue, in the order in which they came.
    fn unlink_waiters(&mut self, name: usize, count: usize) -> Vec<usize> {
        let bucket = self.futexes.of(name);
        let threads = &self.threads;
        let mut woken = Vec::new();
        self.futexes.buckets[bucket].queue.retain(|&thread| {
            let taken = woken.len() < count && threads[thread].sleeps_on == name;
            if taken {
                woken.push(thread);
            }
            !taken
        });
        woken
    }

    /// The deadline of a thread's wait passes.
    pub(super) fn time_out(&mut self, number: usize, wait: u32) {
        let thread = &mut self.threads[number];
        if thread.state != State::Asleep || thread.wait != wait {
            return;
        }
        thread.timed_out = true;
        thread.wait += 1;
        let bucket = self.futexes.of(thread.sleeps_on);
        self.futexes.buckets[bucket].queue.retain(|&other| other != number);
        self.wake(number);
    }

    /// The name of the word that a thread sleeps on, as line and offset.
    pub(super) fn sleeps_on(&self, number: usize) -> (usize, usize) {
        let name = self.threads[number].sleeps_on;
        (name / LINE, name % LINE)
    }
}
