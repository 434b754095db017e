//! Reciprocating locks: arriving threads push themselves on a stack, and are served one detached stack at a time.
//!
//! Source: Dave Dice and Alex Kogan, "Reciprocating Locks" (PPoPP 2025), listing 1.
//!
//! Teaches: a queue lock needs no links that other threads read. A waiter learns its successor from its own
//! exchange, and keeps it in a register. The price is the order: last in, first out within a segment, so a waiter
//! may be passed over, but at most once by each thread while it is in its segment.
//!
//! ```text
//! arrivals ─► [D] ─► [C] ─► 1        the arrival segment: D found C, C found LOCKED_EMPTY
//!
//! entry segment, already detached:   owner B, whose successor is A, whose successor is the end
//!                                    served in the order B, A; then C and D are detached: D, C
//!
//! arrivals  null                     unlocked
//!           1 (LOCKED_EMPTY)         locked, no thread has arrived since the last segment was detached
//!           element                  locked; the newest arrival, or the element of an owner that found null
//!
//! change               made by               operation
//! null → element       a thread that locks   swap: it owns the lock
//! 1 → element          a thread that locks   swap: it waits, and is the last of its segment
//! element → element    a thread that locks   swap: it waits; its successor is the element that it found
//! end → null           the owner             compare-exchange, if its segment ends and no thread has
//!                                            arrived
//! element → 1          the owner             swap, if its segment ends: it detaches the arrivals
//! gate  null           a thread that locks   store, before its swap
//!       null → end     the predecessor       store: the handoff, with the end of the segment
//! ```
//!
//! The end of a segment is an address that is only compared. For the threads that arrive after an owner that
//! found null, it is that owner's element: the first of them found it and takes it for its successor, but its
//! owner has then left. For later segments it is `LOCKED_EMPTY`. An element of a thread that left may be pushed
//! again while its address is the end of an older segment. That does no harm: only the last of the older segment
//! has it as its successor, because the arrivals were exchanged for `LOCKED_EMPTY` before it came again.
//!
//! # Memory ordering
//!
//! The swap by which a thread arrives is `AcqRel`. By `Release` it publishes that the gate is null, to the thread
//! that will open it. By `Acquire` it sees the last section if the lock was free, and the gate of its successor.
//! The store of the gate is `Release` and the poll `Acquire`: this pair is the handoff. The compare-exchange that
//! frees the lock is `Release` and pairs with the next swap. The swap that detaches is `Acquire`, so that it sees
//! the newest arrival's gate as its thread left it. It need not be `Release`: it publishes nothing, and the next
//! owner sees the section through its gate.

use std::cell::Cell;
use std::ptr;

use ondeck::platform::{AtomicPointer, Ordering, Platform};

use crate::{Fairness, LockInfo, RawLock};

/// One word for a lock, one element for a thread: see the [source file](self).
#[derive(Debug)]
pub struct Reciprocating<P: Platform> {
    arrivals: P::AtomicPtr<Element<P>>,
}

/// The word at which a thread waits, on its own cache line because its thread polls it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Element<P: Platform> {
    gate: P::AtomicPtr<Element<P>>,
    /// For the owner only: the element that is served next, or null if the segment ends.
    successor: Cell<*mut Element<P>>,
    /// For the owner only: the end of its segment.
    end: Cell<*mut Element<P>>,
}

impl<P: Platform> Default for Element<P> {
    fn default() -> Self {
        Self {
            gate: AtomicPointer::new(ptr::null_mut()),
            successor: Cell::new(ptr::null_mut()),
            end: Cell::new(ptr::null_mut()),
        }
    }
}

/// No element has this address, because elements are aligned and it is not.
const fn locked_empty<P: Platform>() -> *mut Element<P> {
    ptr::without_provenance_mut(1)
}

// SAFETY, as a lock: a thread returns from `lock` when it found null, or when its gate was opened. Each owner
// opens one gate: its successor's, or the newest arrival's after it detached the arrivals.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for Reciprocating<P> {
        INFO: LockInfo {
            name: "reciprocating",
            fairness: Fairness::Bounded,
            source: "Dice and Kogan, Reciprocating Locks (2025)",
            teaches: "Arrivals are detached in one exchange and served newest first: a queue without links",
            ..LockInfo::USUAL
        },
        Context: Element<P>,
        new: Self { arrivals: AtomicPointer::new(ptr::null_mut()) },
        lock: |this, element| {
            element.gate.store(ptr::null_mut(), Ordering::Relaxed);
            let own = ptr::from_ref(element).cast_mut();
            let found = this.arrivals.swap(own, Ordering::AcqRel);
            if found.is_null() {
                element.successor.set(ptr::null_mut());
                element.end.set(own);
                return;
            }
            let end = loop {
                let end = element.gate.load(Ordering::Acquire);
                if !end.is_null() {
                    break end;
                }
                P::pause();
            };
            // The last of a segment found its end, or nothing.
            let is_last = found == end || found == locked_empty();
            element.successor.set(if is_last { ptr::null_mut() } else { found });
            element.end.set(if is_last { locked_empty() } else { end });
        },
        try_lock: |this, element| {
            let own = ptr::from_ref(element).cast_mut();
            element.gate.store(ptr::null_mut(), Ordering::Relaxed);
            element.successor.set(ptr::null_mut());
            element.end.set(own);
            this.arrivals
                .compare_exchange(ptr::null_mut(), own, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        },
        unlock: |this, element| {
            let end = element.end.get();
            let mut next = element.successor.get();
            if next.is_null() {
                if this
                    .arrivals
                    .compare_exchange(end, ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
                    .is_ok()
                {
                    return;
                }
                next = this.arrivals.swap(locked_empty(), Ordering::Acquire);
            }
            // SAFETY: its thread waits for this store, so the element is still there. It may be gone right
            // after, and is not touched again.
            unsafe { &*next }.gate.store(end, Ordering::Release);
        },
        is_idle: |this| this.arrivals.load(Ordering::Relaxed).is_null(),
    }
}
