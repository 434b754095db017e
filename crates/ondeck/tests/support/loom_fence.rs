//! Asymmetric fences in loom, as membarrier(2) makes them.
//!
//! Loom has only fences of the thread that asks for them. So a heavy fence here asks every other
//! thread for a full one, and waits until each has made it before its next access. A thread that
//! is blocked makes one before it blocks and, if a heavy fence came meanwhile, one when it goes on:
//! a context switch does the same on a machine.
//!
//! This is plain state, which loom's search does not see. What it sees is the gate: a heavy fence
//! writes it, and every access reads it first, so that loom tries the fence before and after each.

use std::cell::{Cell, RefCell};

use loom::sync::atomic;
use loom::thread::{self, Thread, ThreadId};
use ondeck::platform::Ordering;

#[derive(Default)]
struct Fences {
    threads: Vec<Member>,
    /// How many heavy fences there were.
    heavy: usize,
}

struct Member {
    thread: Thread,
    /// Blocked, with a fence behind its last access.
    quiet: bool,
    /// The threads whose heavy fences wait for this one.
    asked_by: Vec<ThreadId>,
    /// How many threads its own heavy fence waits for.
    missing: usize,
    /// How many heavy fences there were when it last made a fence for one.
    seen: usize,
}

loom::lazy_static! {
    static ref GATE: atomic::AtomicUsize = atomic::AtomicUsize::new(0);
}

thread_local! {
    static FENCES: RefCell<Fences> = RefCell::default();
    /// Whether there are asymmetric fences in this execution.
    static ON: Cell<bool> = const { Cell::new(false) };
    /// Whether anybody is asked for a fence: what every access looks at.
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

impl Fences {
    fn member(&mut self, id: ThreadId) -> &mut Member {
        self.threads
            .iter_mut()
            .find(|member| member.thread.id() == id)
            .expect("a thread of the model, started by `spawn`")
    }

    /// The caller has made its fence: tells those who wait for it.
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

/// An execution begins, on its first thread.
pub fn begin(asymmetric: bool) {
    FENCES.take();
    ON.set(asymmetric);
    ASKED.set(false);
    join_in();
}

/// A thread begins.
pub fn join_in() {
    let missed = FENCES.with_borrow_mut(|fences| {
        let seen = fences.heavy;
        fences.threads.push(Member {
            thread: thread::current(),
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

/// The calling thread is about to make an access.
pub fn before_access() {
    if !ON.get() {
        return;
    }
    GATE.load(Ordering::Relaxed);
    if ASKED.get() {
        let id = thread::current().id();
        if FENCES.with_borrow_mut(|fences| !fences.member(id).asked_by.is_empty()) {
            atomic::fence(Ordering::SeqCst);
            FENCES.with_borrow_mut(|fences| fences.answer(id));
        }
    }
}

/// The calling thread is about to block, or to end.
pub fn fall_quiet() {
    atomic::fence(Ordering::SeqCst);
    let id = thread::current().id();
    FENCES.with_borrow_mut(|fences| {
        fences.answer(id);
        fences.member(id).quiet = true;
    });
}

/// The calling thread goes on after it was blocked.
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
    GATE.store(FENCES.with_borrow(|fences| fences.heavy + 1), Ordering::Relaxed);
    fall_quiet();
    let id = thread::current().id();
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
