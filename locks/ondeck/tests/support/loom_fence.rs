//! Asymmetric fences in loom, modelled after membarrier(2).
//!
//! A fence of loom affects only the calling thread. So a heavy fence here asks every other thread
//! for a full fence, and waits until each has made it before its next access. A thread makes a
//! fence before it blocks and, if a heavy fence came while it was blocked, another one when it
//! continues: on a machine a context switch does the same.
//!
//! This is plain state, which loom's search does not see. It sees each thread's gate: a heavy fence
//! writes the gate, and the thread reads it before every access, so that loom tries the fence
//! before and after each access. One gate for all threads would not be enough: loom compares a
//! write with the last access only, which would be the writer's own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use loom::sync::atomic;
use loom::thread::{self, Thread, ThreadId};
use ondeck::platform::Ordering;

#[derive(Default)]
struct Fences {
    threads: Vec<Member>,
    /// The gates of the threads, in the order in which they begin. The first thread creates all of
    /// them, because loom treats the creation as an access.
    gates: Vec<Rc<atomic::AtomicUsize>>,
    /// The number of heavy fences so far.
    heavy: usize,
}

struct Member {
    thread: Thread,
    gate: Rc<atomic::AtomicUsize>,
    /// Whether the thread is blocked, with a fence after its last access.
    quiet: bool,
    /// The threads whose heavy fences wait for this one.
    asked_by: Vec<ThreadId>,
    /// The number of threads for which its own heavy fence waits.
    missing: usize,
    /// The number of heavy fences when it last made a fence for one.
    seen: usize,
}

thread_local! {
    static FENCES: RefCell<Fences> = RefCell::default();
    /// Whether there are asymmetric fences in this execution.
    static ON: Cell<bool> = const { Cell::new(false) };
    /// Whether any thread is asked for a fence, which every access checks.
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

impl Fences {
    fn member(&mut self, id: ThreadId) -> &mut Member {
        self.threads
            .iter_mut()
            .find(|member| member.thread.id() == id)
            .expect("a thread of the model, started by `spawn`")
    }

    /// Notifies the threads that wait for the caller's fence, which it has made.
    fn answer(&mut self, id: ThreadId) {
        let heavy = self.heavy;
        let own = self.member(id);
        own.seen = heavy;
        for asker in std::mem::take(&mut own.asked_by) {
            let asker = self.member(asker);
            asker.missing -= 1;
            if asker.missing == 0 {
                asker.thread.unpark();
            }
        }
        ASKED.set(self.threads.iter().any(|member| !member.asked_by.is_empty()));
    }
}

/// Called when an execution begins, on its first thread.
pub fn begin(asymmetric: bool) {
    FENCES.take();
    ON.set(asymmetric);
    ASKED.set(false);
    if asymmetric {
        let gates = (0..loom::MAX_THREADS).map(|_| Rc::new(atomic::AtomicUsize::new(0))).collect();
        FENCES.with_borrow_mut(|fences| fences.gates = gates);
        join_in();
    }
}

/// Called when a thread begins.
pub fn join_in() {
    let missed = FENCES.with_borrow_mut(|fences| {
        let seen = fences.heavy;
        fences.threads.push(Member {
            thread: thread::current(),
            gate: Rc::clone(&fences.gates[fences.threads.len()]),
            quiet: false,
            asked_by: Vec::new(),
            missing: 0,
            seen,
        });
        seen != 0
    });
    if missed {
        atomic::fence(Ordering::SeqCst);
    }
}

/// Called when the thread is about to make an access.
pub fn before_access() {
    if !ON.get() {
        return;
    }
    let id = thread::current().id();
    let gate = FENCES.with_borrow_mut(|fences| Rc::clone(&fences.member(id).gate));
    gate.load(Ordering::Relaxed);
    if ASKED.get() && FENCES.with_borrow_mut(|fences| !fences.member(id).asked_by.is_empty()) {
        atomic::fence(Ordering::SeqCst);
        FENCES.with_borrow_mut(|fences| fences.answer(id));
    }
}

/// Called when the thread is about to block, or to end.
pub fn fall_quiet() {
    atomic::fence(Ordering::SeqCst);
    let id = thread::current().id();
    FENCES.with_borrow_mut(|fences| {
        fences.answer(id);
        fences.member(id).quiet = true;
    });
}

/// Called when the thread continues after it was blocked.
pub fn go_on() {
    let id = thread::current().id();
    let missed = FENCES.with_borrow_mut(|fences| {
        let heavy = fences.heavy;
        let own = fences.member(id);
        own.quiet = false;
        std::mem::replace(&mut own.seen, heavy) != heavy
    });
    if missed {
        atomic::fence(Ordering::SeqCst);
    }
}

/// A full fence of every thread of the model.
pub fn heavy() {
    let id = thread::current().id();
    let (heavy, gates) = FENCES.with_borrow_mut(|fences| {
        let others = fences.threads.iter().filter(|other| other.thread.id() != id);
        let gates: Vec<_> = others.map(|other| Rc::clone(&other.gate)).collect();
        (fences.heavy + 1, gates)
    });
    for gate in gates {
        gate.store(heavy, Ordering::Relaxed);
    }
    fall_quiet();
    FENCES.with_borrow_mut(|fences| {
        fences.heavy += 1;
        let mut missing = 0;
        for other in &mut fences.threads {
            if other.thread.id() != id && !other.quiet {
                other.asked_by.push(id);
                missing += 1;
            }
        }
        fences.member(id).missing = missing;
        ASKED.set(ASKED.get() || missing != 0);
    });
    while FENCES.with_borrow_mut(|fences| fences.member(id).missing != 0) {
        thread::park();
    }
    FENCES.with_borrow_mut(|fences| {
        let heavy = fences.heavy;
        let own = fences.member(id);
        own.quiet = false;
        own.seen = heavy;
    });
    atomic::fence(Ordering::SeqCst);
}
