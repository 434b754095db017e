//! A thread that finds the lock taken, or that another reader changes the word at the same moment: it waits awake for as long
//! as a wake takes, then parks until it is handed the lock or woken to compete for it.
//!
//! # How long it pauses
//!
//! Readers of one lock take its cache line from each other, 25 to 300 ns each time. Where sections are shorter
//! than that, two readers that take turns at each read do less than one of them alone. So a thread that
//! comes right after one that has waited has come again and again itself: it has lost the line, and pauses
//! for long, while the other has the line to itself. Else it pauses for as long as a transfer takes, and
//! for twice as long each time it fails.
//!
//! | finds | has lost, if another thread took the lock after a pause so shortly before |
//! |---|---|
//! | a writer, and wants to write | 0.1 µs and two transfers of a line, as with the [mutex](crate::mutex) |
//! | a writer, and wants to read | never: if it pauses for long, it misses what it could read beside others |
//! | another reader that changes the word | two transfers of a line: its section and what is outside take less than those |
//!
//! # Sources
//!
//! To back off after a compare-exchange that failed: Dave Dice, Danny Hendler and Ilya Mirsky, "Lightweight
//! Contention Management for Efficient Compare-and-Swap Operations" (Euro-Par 2013). The pauses are
//! those of this crate's [mutex](crate::mutex).

use core::ptr;

use super::settle::Mode;
use super::{IN_FLIGHT, PARKED, RawRwLock, WRITER, Want};
use crate::parking::{Kind, Node, Slice, status};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};
use crate::spin::{Waits, poll};

impl<P: Host> RawRwLock<P> {
    /// Takes what is wanted if that can be had at once, and takes the caller's mark off; says whether it
    /// did. For a writer it means that `WRITER` is set on its behalf.
    #[inline(always)]
    pub(super) fn attempt(&self, want: Want, mark: u32) -> bool {
        // spec: RwLock!Attempt
        self.try_change(|state| want.acquire(state).map(|next| next & !mark))
    }

    /// The same. If it cannot be had, changes the word by `otherwise`, in the same step.
    fn attempt_or(&self, want: Want, mark: u32, otherwise: impl Fn(u32) -> u32) -> bool {
        let mut has = false;
        self.try_change(|state| {
            let acquired = want.acquire(state);
            has = acquired.is_some();
            Some(acquired.map_or_else(|| otherwise(state), |next| next & !mark))
        });
        has
    }

    /// Waits until the caller has what it wants; for a writer, until `WRITER` is set on its behalf. False
    /// if the deadline passed before.
    #[cold]
    #[inline(never)]
    pub(super) fn wait(&self, want: Want, deadline: Option<Timestamp>) -> bool {
        // Before the thread is linked, or has a mark: a panic would leave them behind.
        assert!(
            want == Want::Write || !self.has_most_readers(),
            "ondeck: a lock has 2^24 read guards, most likely forgotten ones"
        );
        let now = P::ticks() as usize;
        let node = Node::<P>::new(Kind::RwLock, self.address(), ptr::null(), now);
        node.set_wants(want as usize);
        node.set_due(now);
        let mut mark = 0;
        loop {
            if self.wait_awake(want, mark) {
                self.pass_on(want, mark);
                return true;
            }
            if deadline.is_some_and(|deadline| P::now() >= deadline) {
                if mark != 0 {
                    // What unlocks have left to it, another is to do (2).
                    self.settle(&|state| state & !IN_FLIGHT, Mode::Unlock);
                }
                return false;
            }
            match self.park(&node, want, mark, deadline) {
                Ok(has) => return has,
                Err(given) => mark = given,
            }
        }
    }

    /// Tries for as long as a wake takes; says whether the caller has what it wants, or `WRITER` is set on its
    /// behalf.
    fn wait_awake(&self, want: Want, mark: u32) -> bool {
        let waits = Waits::now::<P>();
        let reads = want <= Want::Recursive;
        let collides = reads && self.state.load(Ordering::Relaxed) & WRITER == 0;
        let lost = match (reads, collides) {
            (false, _) => waits.lost,
            (true, true) => waits.collision,
            (true, false) => 0,
        };
        // Nothing depends on it if both pauses are the same.
        let bias = P::bias(self.address()).filter(|_| waits.short != waits.long);
        let has_lost = bias.is_some_and(|bias| bias.was_taken(P::ticks() as usize, lost));
        let pause = if has_lost { waits.long } else { waits.short };
        let has = poll::<P>(&waits, pause, || self.attempt(want, mark));
        if has && let Some(bias) = bias {
            bias.set_taken_at(P::ticks() as usize);
        }
        has
    }

    /// The caller, which had this mark, has the lock. If it is not a writer, the unlock of which would look,
    /// other parked threads may go on beside it (2).
    fn pass_on(&self, want: Want, mark: u32) {
        // spec: RwLock!Beside
        if mark != 0 && want != Want::Write && self.state.load(Ordering::Relaxed) & PARKED != 0 {
            self.settle(&|state| state, Mode::Beside);
        }
    }

    /// Links the caller's node, unless it can have what it wants after all, and sleeps. Returns whether it has what it wants;
    /// as the error, if it is to compete, its mark: `IN_FLIGHT` or none.
    fn park(
        &self,
        node: &Node<P>,
        want: Want,
        mark: u32,
        deadline: Option<Timestamp>,
    ) -> Result<bool, u32> {
        let guard = P::bucket(self.address()).lock();
        // spec: RwLock!Park
        // The mark stays until the thread is linked: see below.
        if self.attempt_or(want, mark, |state| state | PARKED) {
            drop(guard);
            self.pass_on(want, mark);
            return Ok(true);
        }
        node.set_status(status::PARKED);
        // SAFETY: it is new or was unlinked by the thread that told it; and is unlinked again before `wait`
        // returns, which it outlives.
        unsafe { guard.link_in_turn(Kind::RwLock, node, P::ticks() as usize) };
        if mark == 0 {
            drop(guard);
        } else {
            // What unlocks have left to it, another is to do (2): beside an upgradable reader others may go
            // on that are parked.
            self.settle_locked(guard, &|state| state & !IN_FLIGHT, Mode::Unlock);
        }
        // spec: RwLock!Sleep
        let mut has = false;
        let slept = node.sleep(Kind::RwLock, deadline, Some(Slice::begin::<P>()), |is_over| {
            // The thread in flight may get no CPU, or be one that the child of a fork does not have. So at the end
            // of a slice the caller takes what it wants if that can be had; else the next unlock wakes another
            // thread, and at worst there are two in flight.
            has = self.attempt_or(want, IN_FLIGHT, |state| state & !IN_FLIGHT);
            has || is_over
        });
        match slept {
            Ok(status::DONE) => Ok(true),
            Ok(status::COMPETE) => Err(0),
            Ok(_) => {
                node.note_wake(P::ticks() as usize);
                Err(IN_FLIGHT)
            }
            Err(guard) => {
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
