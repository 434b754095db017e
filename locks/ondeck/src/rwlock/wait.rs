//! The wait of a thread that finds the lock taken, or that finds another reader changing the word
//! at the same moment: it waits awake for the time of a wake, then parks until it is woken to
//! compete for it.
//!
//! # The length of the pauses
//!
//! Readers of one lock take its cache line from each other, 25 to 300 ns each time. Where sections
//! are shorter than that, two readers that alternate do less than one of them alone. So if a thread
//! comes soon after a thread that has waited, it has itself been locking over and over: it has lost
//! the line, and makes long pauses while the other has the line to itself. Otherwise its first
//! pause is the time of a transfer, and each failure doubles the pause.
//!
//! | finds | has lost, if another thread acquired the lock after a pause at most this long ago |
//! |---|---|
//! | a writer, and wants to write | 0.1 µs and two transfers of a line, as with the [mutex](crate::mutex) |
//! | a writer, and wants to read | never: a long pause would miss reads beside others |
//! | another reader that changes the word | a long pause: the other thread has had the line for one, and now this one gets it |
//!
//! The last was two transfers. With 36, about a long pause, the throughput of 60 points (2, 4 and
//! 16 threads, five lengths of sections, 0.1 to 50 % writes; two CPUs of a Xeon) is 1.14 instead of
//! 1.01 times the best of std's lock, parking_lot's and usync's, by the geometric mean. It gains
//! most where sections are empty.
//!
//! # Behind a writer that sleeps
//!
//! A writer that waits for readers, and has polled for the time of a wake, sleeps. The lock then
//! changes hands after the wake of that writer at the earliest, so a thread that comes later parks
//! at once. With 16 threads on two CPUs, sections of 1 µs and one write in a thousand, 2,600 of
//! 2,700 polls that failed came behind such a writer: a reader had lost its CPU.
//!
//! # No yields
//!
//! A thread that also yields in its longer pauses gives time slices to threads that have nothing to
//! do with the lock, and parks late, although only a parked thread is served in its turn. A writer
//! whose owner sleeps for 2 ms in each section then waits 4.2 ms beside four busy threads on two
//! CPUs of a Xeon, and 21 ms if the lost slices do not count as polling; it waits 1.2 ms without
//! yields, and 11.6 ms with parking_lot, which yields. Six mixes with 2, 4 and 16 threads gain
//! 1.01, 0.99 and 1.07.
//!
//! # Sources
//!
//! The back-off after a failed compare-exchange: Dave Dice, Danny Hendler and Ilya Mirsky,
//! "Lightweight Contention Management for Efficient Compare-and-Swap Operations" (Euro-Par 2013).
//! The pauses are those of this crate's [mutex](crate::mutex).

use core::ptr;

use super::{ASLEEP, IN_FLIGHT, MARKS, PARKED, RESERVED, RawRwLock, WRITER, Want};
use crate::parking::{Guard, Kind, Node, Slice, status};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};
use crate::spin::{Waits, poll};

impl<P: Host> RawRwLock<P> {
    /// Acquires the lock as `want` if the word allows that to a thread with these marks, and clears
    /// them. Returns whether it did. For a writer, success means that `WRITER` is set on its
    /// behalf.
    #[inline(always)]
    pub(super) fn attempt(&self, want: Want, mark: u32) -> bool {
        // spec: RwLock!Attempt
        self.try_change(|state| want.acquire(state & !mark))
    }

    /// As [`attempt`](Self::attempt). If that fails, changes the word by `otherwise`, in the same
    /// step.
    fn attempt_or(
        &self,
        want: Want,
        marks: impl Fn(u32) -> u32,
        otherwise: impl Fn(u32) -> u32,
    ) -> bool {
        let mut has = false;
        self.try_change(|state| {
            let acquired = want.acquire(state & !marks(state));
            has = acquired.is_some();
            Some(acquired.unwrap_or_else(|| otherwise(state)))
        });
        has
    }

    /// Waits until the caller has what it wants; for a writer, until `WRITER` is set on its behalf.
    /// Returns false if the deadline passes first.
    #[cold]
    #[inline(never)]
    pub(super) fn wait(&self, want: Want, deadline: Option<Timestamp>) -> bool {
        // Before the thread is linked, or has a mark: a panic would leave both behind.
        assert!(
            want == Want::Write || !self.has_most_readers(),
            "ondeck: a lock has 2^23 read guards"
        );
        let now = P::ticks() as usize;
        let node = Node::<P>::new(Kind::RwLock, self.address(), ptr::null(), now);
        node.set_wants(want as usize);
        node.set_due(now);
        let mut mark = 0;
        loop {
            if self.wait_awake(want, mark) {
                if node.waits_for(Kind::Turn, self.address()) {
                    self.end_turn(&P::bucket(self.address()).lock(), &node);
                }
                self.pass_on(want, mark);
                return true;
            }
            if deadline.is_some_and(|deadline| P::now() >= deadline) {
                // spec: RwLock!GiveUp
                if mark != 0 {
                    let guard = P::bucket(self.address()).lock();
                    self.end_turn(&guard, &node);
                    // Unlocks relied on this thread; another must take over (2).
                    self.settle_locked(guard, &|state| state & !mark, false);
                }
                return false;
            }
            match self.park(&node, want, mark, deadline) {
                Ok(has) => return has,
                Err(given) => mark = given,
            }
        }
    }

    /// Tries for the time of a wake, unless a writer sleeps that waits for readers. Returns whether
    /// the caller has what it wants; for a writer, whether `WRITER` is set on its behalf.
    fn wait_awake(&self, want: Want, mark: u32) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        if state & ASLEEP != 0 {
            return false;
        }
        let waits = Waits::now::<P>();
        let reads = want <= Want::Recursive;
        let collides = reads && state & WRITER == 0;
        let lost = match (reads, collides) {
            // A transfer and a half, and 0.1 µs for some instructions.
            (false, _) => P::ticks_in(100) + 3 * P::transfer_ticks() / 2,
            (true, true) => waits.long,
            (true, false) => 0,
        };
        // If both pauses are the same, the answer makes no difference.
        let bias = P::bias(self.address()).filter(|_| waits.short != waits.long);
        let has_lost = bias.is_some_and(|bias| bias.was_taken(P::ticks() as usize, lost));
        let pause = if has_lost { waits.long } else { waits.short };
        let has = poll::<P>(&waits, pause, || self.attempt(want, mark));
        if has && let Some(bias) = bias {
            bias.set_taken_at(P::ticks() as usize);
        }
        has
    }

    /// Unlinks the caller's node, if its turn is reserved: the caller has the lock, or gives its
    /// turn up.
    fn end_turn(&self, guard: &Guard<'_, P>, node: &Node<P>) {
        // spec: RwLock!EndTurn
        if node.waits_for(Kind::Turn, self.address()) {
            // SAFETY: a node of this kind is linked until its own thread unlinks it here.
            unsafe { guard.unlink(Kind::Turn, node) };
            node.set_kind(Kind::RwLock);
        }
    }

    /// Lets other parked threads continue beside the caller, which had this mark and has the lock
    /// (2). If the caller is a writer, its unlock will do so.
    pub(super) fn pass_on(&self, want: Want, mark: u32) {
        // spec: RwLock!PassOn
        if mark != 0 && want != Want::Write && self.state.load(Ordering::Relaxed) & PARKED != 0 {
            // spec: RwLock!Beside
            self.settle(&|state| state, false);
        }
    }

    /// Links the caller's node, unless the caller can have what it wants after all, and sleeps.
    /// Returns whether the caller has what it wants; if it must compete, returns its marks as the
    /// error.
    fn park(
        &self,
        node: &Node<P>,
        want: Want,
        mark: u32,
        deadline: Option<Timestamp>,
    ) -> Result<bool, u32> {
        let guard = P::bucket(self.address()).lock();
        self.end_turn(&guard, node);
        let mark = mark | self.marks_of_an_ended_turn(&guard);
        // spec: RwLock!Park
        // The mark stays until the thread is linked: see below.
        if self.attempt_or(want, |_| mark, |state| state | PARKED) {
            drop(guard);
            self.pass_on(want, mark);
            return Ok(true);
        }
        node.set_status(status::PARKED);
        // SAFETY: it is new, or was unlinked by the thread that notified it. It is unlinked again
        // before `wait` returns, and outlives that call.
        unsafe { guard.link_in_turn(Kind::RwLock, node, P::ticks() as usize) };
        if mark == 0 {
            drop(guard);
        } else {
            // spec: RwLock!GiveMark
            // Unlocks relied on this thread; another must take over (2): other parked threads may
            // continue beside an upgradable reader.
            self.settle_locked(guard, &|state| state & !mark, false);
        }
        // spec: RwLock!Sleep
        let mut has = false;
        let slice = Some(Slice::begin::<P>());
        let slept = node.sleep(Kind::RwLock, deadline, slice, |guard, is_over| {
            // spec: RwLock!LookItself
            // The thread in flight may get no CPU, or may not exist in the child of a fork. So at
            // the end of a slice the caller acquires what it wants if it can. If it cannot, the
            // next unlock wakes another thread, and at worst two are in flight. A turn that is not
            // over stays reserved.
            let ended = self.marks_of_an_ended_turn(guard);
            let marks = |state| if state & RESERVED == 0 { IN_FLIGHT } else { ended };
            has = self.attempt_or(want, marks, |state| state & !marks(state));
            has || is_over
        });
        match slept {
            Ok(status::COMPETE) => Err(0),
            Ok(_) => {
                node.note_wake(P::ticks() as usize);
                Err(if node.waits_for(Kind::Turn, self.address()) { MARKS } else { IN_FLIGHT })
            }
            Err(guard) => {
                // spec: RwLock!Unlink
                if guard.newest(Kind::RwLock, self.address()).is_none() {
                    self.state.fetch_and(!PARKED, Ordering::Relaxed);
                }
                drop(guard);
                if has {
                    self.pass_on(want, IN_FLIGHT);
                }
                Ok(has)
            }
        }
    }
}
