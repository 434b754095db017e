//! glibc's reader-writer lock of the default kind: phases of readers and of writers, and a futex
//! for each kind of wait.
//!
//! Source: the GNU C library, `nptl/pthread_rwlock_common.c`, `pthread_rwlock_tryrdlock.c` and
//! `pthread_rwlock_trywrlock.c`, by Torvald Riegel; the algorithm is the same from 2.30 to 2.36.
//! The peer `glibc_rwlock` is the installed library's.
//!
//! Teaches: a reader registers by an addition that cannot fail. In a read phase it thereby has the
//! lock, although a writer waits, so that readers can keep writers out without bound. In a write
//! phase it has to be handed the lock, and a thread that waits for a phase may not poll the state:
//! the handoff is the last change to the lock.
//!
//! ```text
//! state (u32)    bit 0   the phase: of readers, or of writers (WRITES)
//!                bit 1   there is a primary writer, which owns the lock or is the next writer to own it (WRITER)
//!                rest    readers that own the lock or wait for it, in units of READER
//! phase (u32)    a futex: the phase, later than in the state; and MARK, a thread may sleep until it changes
//! primary (u32)  a futex: 1 while writers can wait for the primary writer; and MARK, a writer may sleep
//! owner (u32)    the writer's name, 0 if there is none
//!
//! change of the state         made by                              operation
//! + READER                    a reader that arrives                fetch-add: it owns the lock in a read phase
//! WRITES → 0, no WRITER       such a reader in a write phase       compare-exchange; then phase = 0 and wakes
//! - READER                    a reader that leaves                 compare-exchange
//! READER + WRITER             the last reader, for a writer        the same exchange; then phase = 1 and a wake
//!   → WRITER + WRITES
//! + WRITER                    a writer                             fetch-or: it is primary if the bit was clear, and
//!                                                                  in a write phase it owns the lock
//! 0 → WRITES, no reader       the primary writer in a read phase   compare-exchange; then phase = 1
//! - WRITER                    the writer that leaves               compare-exchange; if no reader waits the phase of
//!                                                                  writers continues
//! WRITER + WRITES → 0         the same, for readers that wait      the same exchange; then phase = 0 and wakes
//! ```
//!
//! A reader in a write phase with a primary writer waits until `phase` is 0, and a primary writer
//! in a read phase with readers until it is 1. Another writer waits until the state has no
//! `WRITER`, by `primary`: the primary writer sets it to 1, and to 0 before it leaves.
//!
//! This port omits the kinds that prefer writers, deadlines, the check for too many readers, and
//! the fields that only these use. The writer's name is 1 for every thread: a thread that arrives
//! reads it, as the source does to find that it already owns the lock, for the time that the line
//! takes.
//!
//! # Memory ordering
//!
//! Changes of the state by which a thread arrives are `Acquire`, and those by which it leaves are
//! `Release`. All of them are read-modify-writes, so that an arrival reads from the release
//! sequence of every earlier departure. The exchanges by which a thread that has arrived begins a
//! phase are `Relaxed`, and `Acquire` in the source: they find a state in which no thread of the
//! other kind has left since, because such a thread would have handed the phase off. The last
//! reader's exchange is also `Acquire`, so that its change of `phase` follows that of the reader
//! that began the phase. The futex words are `Relaxed`: a thread changes them only in a role that
//! it has acquired. A thread that saw its phase in `phase` reads the state with `Acquire`, and then
//! `phase` again: the first value may be that of an earlier phase.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{CondvarKind, LockInfo, Origin, RawRwLock, Waiting};

/// The value of `phase` and the bit of the state in a write phase.
const WRITES: u32 = 1;
/// There is a primary writer.
const WRITER: u32 = 2;
/// One reader. glibc uses bit 2 in the kinds that prefer writers.
const READER: u32 = 8;
/// A thread may sleep on this futex word.
const MARK: u32 = 2;
/// The value of `primary` while writers can wait there.
const PRIMARY: u32 = 1;

/// glibc's default reader-writer lock: see the [source file](self) for its words.
#[derive(Debug)]
pub struct GlibcNormalRwLock<P: Platform> {
    state: P::AtomicU32,
    phase: P::AtomicU32,
    primary: P::AtomicU32,
    owner: P::AtomicU32,
    /// glibc's lock has 56 bytes, which decides which line the data after it is on.
    _unused: [u32; 10],
}

impl<P: Platform> GlibcNormalRwLock<P> {
    /// Makes one attempt to change the state. If it fails, `state` is the present one.
    fn change(&self, state: &mut u32, next: impl Fn(u32) -> u32, order: Ordering) -> bool {
        let done = self.state.compare_exchange_weak(*state, next(*state), order, Ordering::Relaxed);
        done.inspect_err(|&now| *state = now).is_ok()
    }

    /// Lets the threads in that wait for this phase. They may free the lock, which this does not
    /// touch afterwards.
    fn hand_off(&self, phase: u32) {
        let address = &raw const self.phase;
        if self.phase.swap(phase, Ordering::Relaxed) & MARK != 0 {
            P::futex_wake(address, u32::MAX);
        }
    }

    /// Sleeps until a thread hands this phase off.
    #[cold]
    fn wait_for(&self, phase: u32) {
        let other = phase ^ WRITES;
        let mut is_now = false;
        loop {
            let mut seen = self.phase.load(Ordering::Relaxed);
            while seen & !MARK == other {
                let relaxed = Ordering::Relaxed;
                if seen & MARK != 0
                    || self.phase.compare_exchange(seen, seen | MARK, relaxed, relaxed).is_ok()
                {
                    // Every result means the same: the word may have changed, reread it.
                    let _ = P::futex_wait(&self.phase, other | MARK, None);
                }
                seen = self.phase.load(Ordering::Relaxed);
            }
            if is_now {
                return;
            }
            is_now = self.state.load(Ordering::Acquire) & WRITES == phase;
            P::spin_again();
        }
    }

    /// Begins a read phase if there is no primary writer, or waits for one.
    #[cold]
    fn read_slow(&self, mut state: u32) {
        while state & (WRITES | WRITER) == WRITES {
            if self.change(&mut state, |it| it ^ WRITES, Ordering::Relaxed) {
                return self.hand_off(0);
            }
        }
        self.wait_for(0);
    }

    /// Waits until this thread is the primary writer. Returns the state then, and `MARK` if another
    /// may sleep.
    #[cold]
    fn become_primary(&self, mut state: u32) -> (u32, u32) {
        let mut mark = 0;
        loop {
            while state & WRITER == 0 {
                if self.change(&mut state, |it| it | WRITER, Ordering::Acquire) {
                    return (state, mark);
                }
            }
            let (asleep, relaxed) = (PRIMARY | MARK, Ordering::Relaxed);
            let seen = self.primary.load(Ordering::Relaxed);
            if seen == asleep
                || seen == PRIMARY
                    && self.primary.compare_exchange(seen, asleep, relaxed, relaxed).is_ok()
            {
                // A wake takes one thread and the mark: it stays set for the others.
                mark = MARK;
                // Every result means the same: the state may have changed, reread it.
                let _ = P::futex_wait(&self.primary, asleep, None);
            } else {
                P::spin_again();
            }
            state = self.state.load(Ordering::Relaxed);
        }
    }

    /// Begins a write phase if there are no readers, or waits for the last one's handoff.
    #[cold]
    fn begin_to_write(&self, mut state: u32) {
        while state & WRITES == 0 && state < READER {
            if self.change(&mut state, |it| it | WRITES, Ordering::Relaxed) {
                // Only the primary writer marks the other phase, and that is this thread.
                return self.phase.store(WRITES, Ordering::Relaxed);
            }
        }
        self.wait_for(WRITES);
    }
}

// SAFETY, as a lock: `WRITER` is set by one thread at a time. It returns from `write` only in a
// write phase, that begins while there are no readers and ends when that thread clears the bit. A
// reader returns from `read` only in a read phase that counts it, and such a phase ends when it
// counts none.
raw_rwlock! {
    unsafe impl [P: Platform] RawRwLock<P> for GlibcNormalRwLock<P> {
        INFO: LockInfo {
            name: "glibc_normal_rwlock",
            origin: Origin::Literature,
            waiting: Waiting::Sleeps,
            condvar: CondvarKind::Without,
            source: "The GNU C library, pthread_rwlock_t of the default kind, PTHREAD_RWLOCK_PREFER_READER_NP",
            teaches: "Readers that register by an addition enter beside others although a writer waits",
            ..LockInfo::USUAL
        },
        new: {
            let zero = || AtomicInt::new(0);
            Self { state: zero(), phase: zero(), primary: zero(), owner: zero(), _unused: [0; 10] }
        },
        read: |this, ()| {
            this.owner.load(Ordering::Relaxed);
            let before = this.state.fetch_add(READER, Ordering::Acquire);
            if before & WRITES != 0 {
                this.read_slow(before + READER);
            }
        },
        try_read: |this, ()| {
            let mut state = this.state.load(Ordering::Relaxed);
            while state & (WRITES | WRITER) != WRITES | WRITER {
                let is_first = state & WRITES != 0;
                if this.change(&mut state, |it| (it & !WRITES) + READER, Ordering::Acquire) {
                    if is_first {
                        this.hand_off(0);
                    }
                    return true;
                }
            }
            false
        },
        unlock_read: |this, ()| {
            let mut state = this.state.load(Ordering::Relaxed);
            let is_last = |state| state == READER + WRITER;
            let left = |state| if is_last(state) { WRITER | WRITES } else { state - READER };
            while !this.change(&mut state, left, Ordering::AcqRel) {}
            if is_last(state) {
                this.hand_off(WRITES);
            }
        },
        write: |this, ()| {
            this.owner.load(Ordering::Relaxed);
            let (mut state, mut mark) = (this.state.fetch_or(WRITER, Ordering::Acquire), 0);
            if state & WRITER != 0 {
                (state, mark) = this.become_primary(state);
            }
            this.primary.store(PRIMARY | mark, Ordering::Relaxed);
            if state & WRITES == 0 {
                this.begin_to_write(state | WRITER);
            }
            this.owner.store(1, Ordering::Relaxed);
        },
        try_write: |this, ()| {
            let mut state = this.state.load(Ordering::Relaxed);
            while state & !WRITES == 0 {
                let is_first = state & WRITES == 0;
                if this.change(&mut state, |_| WRITER | WRITES, Ordering::Acquire) {
                    this.primary.store(PRIMARY, Ordering::Relaxed);
                    if is_first {
                        this.phase.store(WRITES, Ordering::Relaxed);
                    }
                    this.owner.store(1, Ordering::Relaxed);
                    return true;
                }
            }
            false
        },
        unlock_write: |this, ()| {
            this.owner.store(0, Ordering::Relaxed);
            let address = &raw const this.primary;
            let is_marked = this.primary.swap(0, Ordering::Relaxed) & MARK != 0;
            let mut state = this.state.load(Ordering::Relaxed);
            let left = |state| state & if state < READER { !WRITER } else { !(WRITER | WRITES) };
            while !this.change(&mut state, left, Ordering::Release) {}
            if state >= READER {
                this.hand_off(0);
            }
            if is_marked {
                P::futex_wake(address, 1);
            }
        },
        is_idle: |this| {
            let state = this.state.load(Ordering::Relaxed);
            state & !WRITES == 0
                && this.phase.load(Ordering::Relaxed) == state
                && this.primary.load(Ordering::Relaxed) == 0
                && this.owner.load(Ordering::Relaxed) == 0
        },
    }
}
