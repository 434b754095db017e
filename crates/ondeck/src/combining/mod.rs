//! A mutex whose owner runs the sections of the waiting threads, so that the protected data stays in one cache.
//!
//! ```text
//! tail      null: free; else the newest request. The requests are a queue, linked from the oldest on
//!
//! request   on the stack of its thread, which waits for it
//!           run, job    the section and its argument: written before it is in the queue
//!           others      the number of sections of others that its thread runs at most, if it becomes the combiner
//!           next        the next request, once `linked`
//!           linked      0 · AWAITED: the combiner sleeps until it is LINKED · LINKED: `next` is there
//!           state       WAITING ──► DONE: the combiner has run it
//!                               ──► COMBINES: its thread is the combiner from now on
//!                       WAITING ──► PARKED by its own thread, before it sleeps
//! ```
//!
//! ```text
//! a thread        tail := own request ── was null ──► combiner
//!                 else links its request after the older one, and waits for a new state
//! the combiner    runs its own section, then the next ones in the queue, MOST of them; none if it unwinds
//!                 after each: reads the next request, then notifies the request's thread that it is done
//!                 no next request, and tail is still this one? tail := null: free
//!                 its share is done: makes the thread of the next request the combiner
//! ```
//!
//! # Invariants
//!
//! 1. *Exclusion.* One thread is the combiner, from the exchange that found null, or from the state `COMBINES`, until it
//!    makes the tail null, or stores that state for another thread. Only the combiner runs sections.
//! 2. *A request lives while a thread may touch it.* Its own thread waits for a new state. The combiner stores that after
//!    the next request is linked, or the tail is null: so no later thread links to it.
//! 3. *No combiner works for ever.* After `MOST` sections of others it makes the next thread the combiner.
//! 4. *Nothing is touched after the end.* The thread whose section was last may free the mutex: after a combiner has made
//!    the tail null, or has made another thread the combiner, it does not touch the mutex.
//!
//! # Memory ordering
//!
//! The exchange of the tail is `Acquire` for a thread that finds it null, and the change to null is `Release`: they order
//! the protected data from one combiner to the next. The combiner reads a request after it was `LINKED`, `Release` and
//! `Acquire`. The state is `Release` and `Acquire`: for the result, or for the protected data. An exchange that only marks
//! that a thread sleeps is `Relaxed`, and the thread reads the word again.
//!
//! # Sources
//!
//! Danny Hendler, Itai Incze, Nir Shavit and Moran Tzafrir, "Flat Combining and the Synchronization-Parallelism Tradeoff"
//! (SPAA 2010). There a combiner that holds a lock scans a list of publications. Here the queue is from Panagiota Fatourou
//! and Nikolaos Kallimanis, "Revisiting the Combining Synchronization Technique" (CC-Synch, PPoPP 2012), with the nodes of
//! John Mellor-Crummey and Michael Scott's queue lock, which live on stacks: each thread makes one exchange and is served in
//! the order of arrival, and no scan is needed. folly's `DistributedMutex` also has such a queue. David Klaftenegger,
//! Konstantinos Sagonas and Kjell Winblad, "Queue Delegation Locking", and Jean-Pierre Lozi and others, "Remote Core
//! Locking" (USENIX ATC 2012), have other ways to delegate.

mod api;

use core::fmt;
use core::ptr;

use crate::platform::{AtomicInt, AtomicPointer, Host, Ordering};
use crate::spin::Waits;

pub use api::CombiningMutex;

/// The maximum number of others' sections that a combiner runs before another thread combines: enough to be worth the move
/// of the data, and short compared with a time slice.
const MOST: u32 = 64;

const WAITING: u32 = 0;
const PARKED: u32 = 1;
const DONE: u32 = 2;
const COMBINES: u32 = 3;

const AWAITED: u32 = 1;
const LINKED: u32 = 2;

/// A mutex without data whose owner runs the sections of others; see the [module](self) for its protocol.
pub struct RawCombining<P: Host> {
    tail: P::AtomicPtr<Request<P>>,
}

/// A section to run under the lock.
pub struct Request<P: Host> {
    run: unsafe fn(*mut ()),
    job: *mut (),
    others: u32,
    next: P::AtomicPtr<Self>,
    linked: P::AtomicU32,
    state: P::AtomicU32,
}

impl<P: Host> Request<P> {
    /// Creates a request for the section `run(job)`.
    pub fn new(run: unsafe fn(*mut ()), job: *mut ()) -> Self {
        let next = AtomicPointer::new(ptr::null_mut());
        let (linked, state) = (AtomicInt::new(0), AtomicInt::new(WAITING));
        Self { run, job, others: P::spins(MOST), next, linked, state }
    }

    /// The same request, whose thread runs no section of others.
    #[must_use]
    pub fn without_others(self) -> Self {
        Self { others: 0, ..self }
    }

    /// Waits until the state changes. Returns the new state.
    fn wait(&self) -> u32 {
        let waits = Waits::now::<P>();
        let begin = P::ticks() as usize;
        loop {
            // step: wait
            let told = self.state.load(Ordering::Acquire);
            if told != WAITING {
                return told;
            }
            if (P::ticks() as usize).wrapping_sub(begin) >= waits.polling {
                break;
            }
            P::pause();
        }
        // step: park
        let (success, failure) = (Ordering::Relaxed, Ordering::Acquire);
        if let Err(told) = self.state.compare_exchange(WAITING, PARKED, success, failure) {
            return told;
        }
        loop {
            let _ = P::futex_wait(&self.state, PARKED, None);
            // step: wake up
            let told = self.state.load(Ordering::Acquire);
            if told != PARKED {
                return told;
            }
        }
    }

    /// Links `own` after the request `before`. That is the last access: its combiner may then notify its thread.
    ///
    /// It takes a pointer: an argument that is a reference promises that the request lives until the return.
    ///
    /// # Safety
    ///
    /// No other request was linked after it.
    unsafe fn link(before: *const Self, own: *mut Self) {
        // SAFETY: it lives until this thread has linked its own request after it (2).
        let (next, linked) = unsafe { (&(*before).next, &(*before).linked) };
        let word = &raw const *linked;
        next.store(own, Ordering::Relaxed);
        // step: link
        if linked.swap(LINKED, Ordering::Release) == AWAITED {
            P::futex_wake(word, 1);
        }
    }

    /// Waits until a request is linked after this one: a thread is between its exchange and the link.
    fn linked(&self) -> *mut Self {
        let waits = Waits::now::<P>();
        let begin = P::ticks() as usize;
        // step: read the link
        while self.linked.load(Ordering::Acquire) != LINKED {
            if (P::ticks() as usize).wrapping_sub(begin) < waits.polling {
                P::pause();
                continue;
            }
            // step: await the link
            // A thread of a real-time class must not keep the other from its CPU.
            let relaxed = Ordering::Relaxed;
            let _ = self.linked.compare_exchange(0, AWAITED, relaxed, relaxed);
            let _ = P::futex_wait(&self.linked, AWAITED, None);
        }
        self.next.load(Ordering::Relaxed)
    }
}

impl<P: Host> RawCombining<P> {
    /// Creates a free lock.
    pub fn new() -> Self {
        Self { tail: AtomicPointer::new(ptr::null_mut()) }
    }

    /// Runs the section of the request, on this thread or another, and returns when it is done.
    ///
    /// # Safety
    ///
    /// The request is new. Its `run` may be called with its `job` once, by any thread, while this function runs, and does
    /// not unwind.
    #[inline]
    pub unsafe fn perform(&self, request: &Request<P>) {
        let own = ptr::from_ref(request).cast_mut();
        // step: enqueue
        // Acquire: for a thread that finds null. Release: the next thread links to this request.
        let before = self.tail.swap(own, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: the exchange returned it to this thread alone.
            unsafe { Request::link(before, own) };
            if request.wait() == DONE {
                return;
            }
        }
        self.combine(own, request.others);
    }

    /// Runs the section of the calling thread, which is the combiner and owns the oldest request, and at most `others` more.
    fn combine(&self, own: *mut Request<P>, others: u32) {
        let mut left = 1 + others;
        let mut oldest = own;
        loop {
            // SAFETY: a request in the queue lives until its thread is notified.
            let request = unsafe { &*oldest };
            // SAFETY: as the caller of `perform` promises; each request is run once, by the combiner.
            unsafe { (request.run)(request.job) };
            let next = self.next(oldest);
            if !ptr::eq(oldest, own) {
                // SAFETY: its thread has not been notified yet.
                unsafe { tell(oldest, DONE) };
            }
            if next.is_null() {
                return;
            }
            left -= 1;
            if left == 0 {
                // SAFETY: its thread has not been notified yet.
                return unsafe { tell(next, COMBINES) };
            }
            oldest = next;
        }
    }

    /// Returns the request after the oldest, or null if there was none: then the lock is free.
    fn next(&self, oldest: *mut Request<P>) -> *mut Request<P> {
        // SAFETY: a request in the queue lives until its thread is notified.
        let request = unsafe { &*oldest };
        if request.linked.load(Ordering::Relaxed) != LINKED {
            // step: free
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            let free = self.tail.compare_exchange(oldest, ptr::null_mut(), success, failure);
            if free.is_ok() {
                return ptr::null_mut();
            }
        }
        request.linked()
    }

    /// Returns whether a section runs, for assertions and tests.
    pub fn is_busy(&self) -> bool {
        !self.tail.load(Ordering::Relaxed).is_null()
    }
}

/// Stores the new state of a request, and wakes its thread. The request may be gone at once, so it is a pointer, as for
/// [`Request::link`].
///
/// # Safety
///
/// The request is in the queue, and its thread has not been notified yet.
unsafe fn tell<P: Host>(request: *const Request<P>, what: u32) {
    // SAFETY: it lives until its thread is notified.
    let state = unsafe { &(*request).state };
    let word = &raw const *state;
    // step: tell
    if state.swap(what, Ordering::Release) == PARKED {
        P::futex_wake(word, 1);
    }
}

impl<P: Host> fmt::Debug for RawCombining<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawCombining").field("busy", &self.is_busy()).finish()
    }
}

impl<P: Host> fmt::Debug for Request<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Request")
    }
}

impl<P: Host> Default for RawCombining<P> {
    fn default() -> Self {
        Self::new()
    }
}
