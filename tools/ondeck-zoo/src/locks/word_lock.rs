//! The word lock: one word that contains a list of sleeping threads; parking_lot's lock of a
//! bucket.
//!
//! Source: Amanieu d'Antras, the crate `parking_lot_core` 0.9, `word_lock.rs`, which adopts
//! WebKit's `WTF::WordLock` (Filip Pizlo, "Locking in WebKit", 2016).
//!
//! Teaches: a queue needs no second lock if one bit of the word guards it, and waiters push their
//! nodes without that bit. An unlock that finds the bit set leaves the wake to the thread that set
//! it.
//!
//! ```text
//! word (usize)  bit 0       locked
//!               bit 1       a thread takes a node out of the list
//!               other bits  the newest node; 0 if no thread sleeps
//!
//! word ─► newest node ─older─► node ─older─► oldest node
//!                     ◄─newer─      ◄─newer─
//!
//! change                made by               operation
//! bit 0 is set          a thread that locks   compare-exchange that finds it clear
//! newest ← own node     a waiter              compare-exchange that finds bit 0 set
//! bit 0 is cleared      the owner             fetch-sub
//! bit 1 is set          an unlock             compare-exchange, if a node is there
//! bit 1 is cleared      the same              with bit 0 set: compare-exchange, and no wake;
//!                                             else the oldest node is taken out, and woken
//! ```
//!
//! A waiter spins as long as no thread sleeps: 2, 4, 8 pauses, 7 yields.
//!
//! A waiter links only `older`. The unlock that has bit 1 goes from the newest node to the first
//! one whose `oldest` is set, sets `newer` of each node on the way, and keeps that `oldest` in the
//! newest node: so each node is passed once.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the owner's `Release` fetch-sub. A waiter publishes its
//! node by `Release`. Bit 1 is taken with `Acquire` and cleared with `Release`, so that the next
//! thread that takes it sees the links. Where the word has changed in between, a fence acquires the
//! new nodes.
//!
//! The unlock reads the word after its fetch-sub, when another thread can own the lock. The source
//! has no `try_lock`.

use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::parker::Parker;
use crate::spin_wait::SpinWait;
use crate::{LockInfo, RawLock, Waiting};

const LOCKED: usize = 1;
const QUEUE_LOCKED: usize = 2;
const FLAGS: usize = LOCKED | QUEUE_LOCKED;

/// The word lock: see the [source file](self) for its word.
#[derive(Debug)]
pub struct WordLock<P: Platform> {
    word: P::AtomicUsize,
}

/// A thread's place in the list, aligned so that its address leaves room for flags.
#[derive(Debug)]
#[repr(align(64))]
struct Node<P: Platform> {
    older: P::AtomicPtr<Node<P>>,
    newer: P::AtomicPtr<Node<P>>,
    /// The oldest node of the list, if it was known when this node was the newest.
    oldest: P::AtomicPtr<Node<P>>,
    parker: Parker<P>,
}

impl<P: Platform> Default for Node<P> {
    fn default() -> Self {
        const { assert!(align_of::<Self>() > FLAGS, "the flags need the address's low bits") };
        let none = || AtomicPointer::new(ptr::null_mut());
        Self { older: none(), newer: none(), oldest: none(), parker: Parker::default() }
    }
}

impl<P: Platform> Node<P> {
    /// The newest node of the list, null if no thread sleeps.
    fn newest(word: usize) -> *mut Self {
        ptr::with_exposed_provenance_mut(word & !FLAGS)
    }

    /// # Safety
    ///
    /// `node` was taken out of the list by the caller and not woken since.
    unsafe fn wake(node: *mut Self) {
        // SAFETY: its thread sleeps until it is woken, so the node exists; only this thread, which
        // took it out, wakes it.
        unsafe { Parker::unpark(&raw const (*node).parker) };
    }

    /// Returns the oldest node of the list; sets `newer` of the nodes on the way to it.
    ///
    /// # Safety
    ///
    /// The caller holds `QUEUE_LOCKED`, and has seen the push of `newest`, which is not null.
    unsafe fn find_oldest(newest: *mut Self) -> *mut Self {
        let mut current = newest;
        let oldest = loop {
            // SAFETY: nodes stay in the list while the caller holds `QUEUE_LOCKED`.
            let known = unsafe { &*current }.oldest.load(Ordering::Relaxed);
            if !known.is_null() {
                break known;
            }
            // SAFETY: as above. The first node of a list has `oldest` set, so this one has an older
            // node.
            let older = unsafe { &*current }.older.load(Ordering::Relaxed);
            // SAFETY: as above.
            unsafe { &*older }.newer.store(current, Ordering::Relaxed);
            current = older;
        };
        // SAFETY: as above.
        unsafe { &*newest }.oldest.store(oldest, Ordering::Relaxed);
        oldest
    }
}

impl<P: Platform> WordLock<P> {
    #[cold]
    fn lock_slow(&self) {
        let mut spin = SpinWait::new();
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & LOCKED == 0 {
                match self.replace(word, word | LOCKED, Ordering::Acquire) {
                    Ok(_) => return,
                    Err(found) => word = found,
                }
            } else if word & !FLAGS == 0 && spin.spin::<P>() {
                word = self.word.load(Ordering::Relaxed);
            } else if let Err(found) = self.sleep(word) {
                word = found;
            } else {
                spin = SpinWait::new();
                word = self.word.load(Ordering::Relaxed);
            }
        }
    }

    /// Links a node of this thread at the front of the list, and sleeps until it is taken out.
    /// Returns the word instead if it has changed.
    fn sleep(&self, word: usize) -> Result<(), usize> {
        let node = Node::<P>::default();
        node.parker.prepare();
        let newest = Node::<P>::newest(word);
        // Relaxed: the exchange below publishes the node.
        if newest.is_null() {
            node.oldest.store(ptr::from_ref(&node).cast_mut(), Ordering::Relaxed);
        } else {
            node.older.store(newest, Ordering::Relaxed);
        }
        let own = ptr::from_ref(&node).expose_provenance();
        self.replace(word, own | word & FLAGS, Ordering::AcqRel)?;
        node.parker.park();
        Ok(())
    }

    #[inline]
    fn replace(&self, from: usize, to: usize, order: Ordering) -> Result<usize, usize> {
        self.word.compare_exchange_weak(from, to, order, Ordering::Relaxed)
    }

    #[cold]
    fn unlock_slow(&self) {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            // Another thread takes nodes out, or none remains.
            if word & QUEUE_LOCKED != 0 || word & !FLAGS == 0 {
                return;
            }
            match self.replace(word, word | QUEUE_LOCKED, Ordering::Acquire) {
                Ok(_) => break,
                Err(found) => word = found,
            }
        }
        word |= QUEUE_LOCKED;
        loop {
            let newest = Node::<P>::newest(word);
            // SAFETY: this thread has bit 1, and no other takes nodes out: the list has one.
            let oldest = unsafe { Node::find_oldest(newest) };
            if word & LOCKED != 0 {
                // The unlock of the next owner wakes a thread.
                match self.replace(word, word & !QUEUE_LOCKED, Ordering::Release) {
                    Ok(_) => return,
                    Err(found) => word = found,
                }
                P::fence(Ordering::Acquire);
                continue;
            }
            // SAFETY: the list's threads sleep until this one takes them out.
            let newer = unsafe { &*oldest }.newer.load(Ordering::Relaxed);
            if newer.is_null() {
                if let Err(found) = self.take_last(word) {
                    word = found;
                    P::fence(Ordering::Acquire);
                    continue;
                }
            } else {
                // SAFETY: as above.
                unsafe { &*newest }.oldest.store(newer, Ordering::Relaxed);
                self.word.fetch_and(!QUEUE_LOCKED, Ordering::Release);
            }
            // SAFETY: it is out of the list, so no other thread wakes it.
            unsafe { Node::wake(oldest) };
            return;
        }
    }

    /// Empties the list, and clears bit 1. Fails with the word if a node was added.
    fn take_last(&self, mut word: usize) -> Result<(), usize> {
        let only = word & !FLAGS;
        while let Err(found) = self.replace(word, word & LOCKED, Ordering::Release) {
            word = found;
            if word & !FLAGS != only {
                return Err(word);
            }
        }
        Ok(())
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after an exchange that found bit 0 clear and
// set it, and only the owner clears it.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for WordLock<P> {
        INFO: LockInfo {
            name: "word_lock",
            waiting: Waiting::SpinsThenSleeps,
            touches_after_release: true,
            source: "Amanieu d'Antras, parking_lot_core 0.9, WordLock; Filip Pizlo, WTF::WordLock",
            teaches: "One bit of the word guards the queue, and threads join it without that bit",
            ..LockInfo::USUAL
        },
        new: Self { word: AtomicInt::new(0) },
        lock: |this, ()| if this.replace(0, LOCKED, Ordering::Acquire).is_err() {
            this.lock_slow();
        },
        try_lock: |this, ()| {
            let word = this.word.load(Ordering::Relaxed);
            word & LOCKED == 0 && this.replace(word, word | LOCKED, Ordering::Acquire).is_ok()
        },
        unlock: |this, ()| {
            let found = this.word.fetch_sub(LOCKED, Ordering::Release);
            if found & QUEUE_LOCKED == 0 && found & !FLAGS != 0 {
                this.unlock_slow();
            }
        },
        is_idle: |this| this.word.load(Ordering::Relaxed) == 0,
    }
}
