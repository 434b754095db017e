//! The event loop, and the coroutines of the threads.

use std::cell::RefCell;
use std::collections::VecDeque;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::Longer;
use super::queue::Event;
use super::world::{STEPS_BETWEEN_LOOKS, Shown, World, settle, world as my_world};
use crate::time::{NEVER, Time};

/// The size of a simulated thread's stack. Locks need some kilobytes; the rest is address space
/// only.
const STACK: usize = 256 << 10;

pub(crate) type Body = Box<dyn FnOnce()>;

type Thread = Coroutine<(), (), (), DefaultStack>;

/// The threads that have not ended.
///
/// A thread that remains when a run ends waits for ever, or for a thread that panicked. Unwinding
/// it would run unlocks that were never due, and freeing its stack would leave dangling pointers to
/// its nodes. So the stack is leaked.
struct Threads(Vec<Option<Thread>>);

impl Drop for Threads {
    fn drop(&mut self) {
        for thread in self.0.drain(..).flatten() {
            std::mem::forget(thread);
        }
    }
}

/// A call from outside of the threads, at a moment of virtual time.
pub struct Call {
    /// The moment.
    pub at: Time,
    /// The call. It may read and change state that threads share with it.
    pub call: Box<dyn FnOnce()>,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// All threads are done.
    Done,
    /// Threads are left and nothing will ever happen: all sleep.
    Deadlock,
    /// The run exceeded its limit.
    TooLong,
    /// It was cancelled from outside.
    Cancelled,
}

thread_local! {
    /// Stacks of threads that have ended, for reuse by the next machine.
    static STACKS: RefCell<VecDeque<DefaultStack>> = const { RefCell::new(VecDeque::new()) };
}

fn stack() -> DefaultStack {
    let kept = STACKS.with_borrow_mut(VecDeque::pop_front);
    kept.unwrap_or_else(|| DefaultStack::new(STACK).expect("address space for a stack"))
}

/// Runs the machine until its threads are done, with the body of each.
///
/// # Panics
///
/// If a body panics; the other threads then stay where they are.
pub(super) fn run(
    world: &mut World,
    bodies: Vec<Body>,
    calls: Vec<Call>,
    (limit, longer): (Time, Option<&Longer<'_>>),
    cancelled: &dyn Fn() -> bool,
) -> End {
    let coroutine = |(index, body): (usize, Body)| {
        Some(Coroutine::with_stack(stack(), move |yielder: &Yielder<(), ()>, ()| {
            my_world().threads[index].yielder = yielder;
            body();
            // Charges the time of its last steps.
            settle();
            super::access::drain();
        }))
    };
    let mut threads = Threads(bodies.into_iter().enumerate().map(coroutine).collect());
    if limit != NEVER {
        world.queue.push(limit, Event::Limit);
    }
    for (index, call) in calls.iter().enumerate() {
        world.queue.push(call.at, Event::Call { index: index as u32 });
    }
    let mut calls: Vec<_> = calls.into_iter().map(|call| Some(call.call)).collect();
    let mut left = threads.0.len();
    let mut turns: u64 = 0;
    let mut looked_at = 0;
    let shown = Shown::new(world);
    let world = shown.0;
    loop {
        if left == 0 {
            break End::Done;
        }
        // SAFETY: no coroutine runs, so this is the only reference; it is not used after `resume`.
        let machine = unsafe { &mut *world };
        turns += 1;
        if looked_at + STEPS_BETWEEN_LOOKS <= turns + machine.events {
            looked_at = turns + machine.events;
            if cancelled() {
                break End::Cancelled;
            }
        }
        let Some((at, event)) = machine.queue.pop() else { break End::Deadlock };
        match event {
            // Without the limit no event would remain.
            Event::Limit if machine.queue.first() == NEVER => break End::Deadlock,
            Event::Limit => match longer.and_then(|longer| longer(at)) {
                Some(later) => {
                    machine.queue.push(later, Event::Limit);
                    continue;
                }
                None => break End::TooLong,
            },
            _ => machine.now = at,
        }
        match event {
            Event::Resume { cpu, epoch } => {
                let cpu = cpu as usize;
                if machine.cpus[cpu].epoch != epoch {
                    continue;
                }
                let number = machine.cpus[cpu].current.expect("a CPU with a thread");
                machine.current = Some(number);
                let thread = threads.0[number].as_mut().expect("a thread that is not done");
                let returned = thread.resume(());
                // SAFETY: as above; the coroutine's references are on its stack, and not used now.
                let machine = unsafe { &mut *world };
                machine.current = None;
                if let CoroutineResult::Return(()) = returned {
                    let done = threads.0[number].take().expect("it has just run");
                    STACKS.with_borrow_mut(|stacks| stacks.push_back(done.into_stack()));
                    left -= 1;
                    machine.end_thread(number);
                }
            }
            Event::Call { index } => {
                if let Some(call) = calls[index as usize].take() {
                    call();
                }
            }
            other => machine.happen(other),
        }
    }
}
