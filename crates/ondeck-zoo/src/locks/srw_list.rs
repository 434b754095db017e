//! A list of nodes on the waiters' stacks, in the manner of Windows' slim reader-writer lock.
//!
//! Source: Malte Skarupke, in the comments under "Measuring Mutexes, Spinlocks and how Bad the
//! Linux Scheduler Really is" (2020): "It builds a linked list on the stacks of the sleeping
//! threads where each thread writes their thread ID and can be directly woken up. But it's not a
//! fair mutex". The search for the oldest node follows the queues in Rust's standard library
//! (`sys/sync/rwlock/queue.rs`), which have the same origin.
//!
//! Teaches: with nodes on the waiters' stacks, an unlock can wake exactly the oldest waiter, with
//! one word and without the kernel's queue. The waiter that is woken first still need not acquire
//! the lock.
//!
//! ```text
//!  usize bits:  63 ............... 6 5 ... 2      1           0
//!              [ newest node              ·  QUEUE_LOCKED  LOCKED ]
//!                        │
//!                        ▼
//!               [newest] ─older─► [node] ─older─► [oldest]
//!                   │     ◄─newer─        ◄─newer─    ▲
//!                   └──────────────oldest─────────────┘
//!
//! bit           set by                          cleared by
//! LOCKED        an acquisition                  the owner's unlock
//! QUEUE_LOCKED  an unlock that finds a node,    that unlock
//!               if both bits are clear
//! newest node   a push, while LOCKED is set     the unlock that holds QUEUE_LOCKED, if the node
//!                                               is the only one
//! ```
//!
//! * `LOCKED`: the lock has an owner. A thread that finds it set pushes a node and sleeps. When it
//!   is woken it retries.
//! * `QUEUE_LOCKED`: a try-lock among unlocks. Only the thread that holds it takes nodes out and
//!   follows their links. A thread that finds it held leaves: the holder ends with an operation on
//!   the whole word, and so sees that the lock is free. If the lock has an owner again, the holder
//!   wakes no thread, because that owner's unlock will check.
//! * The newest node: nodes are aligned, so their addresses leave the flags' bits free.
//!
//! A push sets `older`, and, if it is the first, `oldest` to the node itself. The holder of
//! `QUEUE_LOCKED` fills in the rest. It goes from the newest node to the first one with `oldest`
//! set, and sets `newer` of each node on the way. Then it keeps that `oldest` in the newest node.
//! So each node is passed once. No `oldest` but the newest on the way is read, so the others may be
//! out of date.
//!
//! # Differences from the source
//!
//! Windows' lock also serves readers, and spins for a while before it sleeps; both are left out. It
//! wakes by thread ID, which is a futex word in the node here. A lock that is only exclusive could
//! take a node out *before* it unlocks. Then it would need no `QUEUE_LOCKED` and would not touch
//! the word afterwards, but it would be held for the length of that work.
//!
//! # Memory ordering
//!
//! The word changes by read-modify-writes only, so data published by it stays visible to every
//! later `Acquire`. Acquisitions are `Acquire` and an unlock is `Release`. A push is `Release`,
//! because it publishes the node. `QUEUE_LOCKED` is taken with `Acquire` and cleared with
//! `Release`, and the links are therefore `Relaxed`. The wake is a `Release` store to the node's
//! word. Its thread reads the word with `Acquire` before it reuses the node. After that store the
//! waker uses only the address.

use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::parker::Parker;
use crate::{LockInfo, Origin, RawLock, Waiting};

pub(super) const LOCKED: usize = 1;
pub(super) const QUEUE_LOCKED: usize = 2;
pub(super) const FLAGS: usize = LOCKED | QUEUE_LOCKED;

/// A word and a list of waiters: see the [source file](self).
#[derive(Debug)]
pub struct SrwList<P: Platform> {
    word: P::AtomicUsize,
}

/// A thread's place in the list, aligned so that its address leaves room for flags.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    pub(super) older: P::AtomicPtr<Node<P>>,
    pub(super) newer: P::AtomicPtr<Node<P>>,
    /// The oldest node of the list, if it was known when this node was the newest.
    pub(super) oldest: P::AtomicPtr<Node<P>>,
    pub(super) parker: Parker<P>,
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
    pub(super) fn newest(word: usize) -> *mut Self {
        ptr::with_exposed_provenance_mut(word & !FLAGS)
    }

    /// # Safety
    ///
    /// `node` was taken out of the list by the caller and not woken since.
    pub(super) unsafe fn wake(node: *mut Self) {
        // SAFETY: its thread sleeps until it is woken, so the node exists; only this thread, which
        // took it out, wakes it.
        unsafe { Parker::unpark(&raw const (*node).parker) };
    }

    /// Returns the oldest node of the list; sets `newer` of the nodes on the way to it.
    ///
    /// # Safety
    ///
    /// The caller holds `QUEUE_LOCKED`, and has seen the push of `newest`, which is not null.
    pub(super) unsafe fn find_oldest(newest: *mut Self) -> *mut Self {
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

impl<P: Platform> SrwList<P> {
    /// Makes `node` the newest if the word is still `word`.
    fn push(&self, node: &Node<P>, word: usize) -> bool {
        let own = ptr::from_ref(node).cast_mut();
        let older = Node::newest(word);
        // Relaxed: no other thread can reach the node yet; the exchange publishes all of it.
        node.older.store(older, Ordering::Relaxed);
        node.newer.store(ptr::null_mut(), Ordering::Relaxed);
        node.oldest.store(if older.is_null() { own } else { ptr::null_mut() }, Ordering::Relaxed);
        node.parker.prepare();
        let next = own.expose_provenance() | (word & FLAGS);
        self.word.compare_exchange(word, next, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_slow(&self, node: &Node<P>) {
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & LOCKED == 0 {
                if self
                    .word
                    .compare_exchange(word, word | LOCKED, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
                {
                    return;
                }
            } else if self.push(node, word) {
                node.parker.park();
            }
        }
    }

    /// Runs after an unlock that left `word`: wakes the oldest waiter if the lock stays free.
    #[cold]
    fn unlock_slow(&self, mut word: usize) {
        loop {
            if word & FLAGS != 0 || Node::<P>::newest(word).is_null() {
                return;
            }
            match self.word.compare_exchange(
                word,
                word | QUEUE_LOCKED,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        word |= QUEUE_LOCKED;
        loop {
            let newest = Node::<P>::newest(word);
            let mut next = word & !QUEUE_LOCKED;
            let mut chosen = ptr::null_mut();
            if word & LOCKED == 0 {
                // SAFETY: this thread holds `QUEUE_LOCKED` and read `newest` with `Acquire`. No
                // other thread takes nodes out, so the list still has one.
                chosen = unsafe { Node::find_oldest(newest) };
                if chosen == newest {
                    next &= FLAGS;
                } else {
                    // SAFETY: as above; `find_oldest` has linked `newer` of all nodes but the
                    // newest.
                    let second = unsafe { &*chosen }.newer.load(Ordering::Relaxed);
                    // SAFETY: as above.
                    unsafe { &*newest }.oldest.store(second, Ordering::Relaxed);
                    // The node is out, whatever the word has become: an exchange must not fail
                    // here.
                    self.word.fetch_and(!QUEUE_LOCKED, Ordering::Release);
                    // SAFETY: taken out by this thread.
                    return unsafe { Node::wake(chosen) };
                }
            }
            match self.word.compare_exchange(word, next, Ordering::Release, Ordering::Acquire) {
                Ok(_) => {
                    if !chosen.is_null() {
                        // SAFETY: the exchange took the node out.
                        unsafe { Node::wake(chosen) };
                    }
                    return;
                }
                Err(now) => word = now,
            }
        }
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after a read-modify-write that found
// `LOCKED` clear and set it, and only the owner clears it.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for SrwList<P> {
        INFO: LockInfo {
            name: "srw_list",
            origin: Origin::Sources,
            waiting: Waiting::Sleeps,
            touches_after_release: true,
            source: "Malte Skarupke, Measuring Mutexes, comments on Windows' SRW lock",
            teaches: "Nodes on the waiters' stacks let one word wake exactly the oldest waiter",
            ..LockInfo::USUAL
        },
        Context: Node<P>,
        new: Self { word: AtomicInt::new(0) },
        lock: |this, node| if this.word.fetch_or(LOCKED, Ordering::Acquire) & LOCKED != 0 {
            this.lock_slow(node);
        },
        try_lock: |this, _| this.word.fetch_or(LOCKED, Ordering::Acquire) & LOCKED == 0,
        unlock: |this, _| {
            let before = this.word.fetch_and(!LOCKED, Ordering::Release);
            if before & QUEUE_LOCKED == 0 && !Node::<P>::newest(before).is_null() {
                this.unlock_slow(before & !LOCKED);
            }
        },
        is_idle: |this| this.word.load(Ordering::Relaxed) == 0,
    }
}
