//! A thread that finds the lock taken: it spins for a short time, then parks until it is handed the lock or
//! told to compete for it.

use core::ptr;

use super::settle::{Mode, OVERDUE_NANOS};
use super::{IN_FLIGHT, MOST_READERS, PARKED, RawRwLock, Want};
use crate::mutex::Slice;
use crate::parking::{Guard, Kind, Node, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};

/// How a turn of waiting ended.
enum Turn {
    /// The thread has what it wants, or `WRITER` is set on its behalf.
    Has,
    /// It is to compete, with this mark: `IN_FLIGHT` or none.
    Compete(u32),
    TimedOut,
}

impl<P: Host> RawRwLock<P> {
    /// Takes what is wanted if that can be had at once, and takes the caller's mark off; says whether it
    /// did. For a writer it means that `WRITER` is set on its behalf.
    #[inline(always)]
    pub(super) fn attempt(&self, want: Want, mark: u32) -> bool {
        // spec: RwLock!Attempt
        self.try_change(|state| want.acquire(state).map(|next| next & !mark))
    }

    /// Waits until the caller has what it wants; for a writer, until `WRITER` is set on its behalf. False
    /// if the deadline passed before.
    #[cold]
    #[inline(never)]
    pub(super) fn wait(&self, want: Want, deadline: Option<Timestamp>) -> bool {
        // Before the thread is linked, or has a mark: a panic would leave them behind.
        assert!(
            want == Want::Write || self.state.load(Ordering::Relaxed) & MOST_READERS == 0,
            "ondeck: a lock has 2^24 read guards, most likely forgotten ones"
        );
        let now = P::ticks() as usize;
        let node = Node::<P>::new(Kind::RwLock, self.address(), ptr::null(), now);
        node.set_wants(want as usize);
        let mut mark = 0;
        loop {
            if self.spin(want, &mut mark) {
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
                Turn::Has => return true,
                Turn::TimedOut => return false,
                Turn::Compete(given) => mark = given,
            }
        }
    }

    /// The caller, which had this mark, has the lock. If it is not a writer, the unlock of which would look,
    /// other parked threads may go on beside it (2).
    fn pass_on(&self, want: Want, mark: u32) {
        // spec: RwLock!Beside
        if mark != 0 && want != Want::Write && self.state.load(Ordering::Relaxed) & PARKED != 0 {
            self.settle(&|state| state, Mode::Beside);
        }
    }

    /// Links the caller's node, unless it can have what it wants after all, and sleeps until it is told
    /// what to do.
    fn park(&self, node: &Node<P>, want: Want, mark: u32, deadline: Option<Timestamp>) -> Turn {
        let guard = P::bucket(self.address()).lock();
        // spec: RwLock!Park
        let mut state = self.state.load(Ordering::Relaxed);
        let has = loop {
            let has = want.acquire(state);
            // The mark stays until the thread is linked: see below.
            let next = has.map_or(state | PARKED, |next| next & !mark);
            match self.state.compare_exchange(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break has.is_some(),
                Err(found) => state = found,
            }
        };
        if has {
            drop(guard);
            self.pass_on(want, mark);
            return Turn::Has;
        }
        self.link(&guard, node);
        if mark == 0 {
            drop(guard);
        } else {
            // What unlocks have left to it, another is to do (2): beside an upgradable reader others may go
            // on that are parked.
            self.settle_locked(guard, &|state| state & !IN_FLIGHT, Mode::Unlock);
        }
        self.sleep(node, want, deadline)
    }

    /// Links the caller's node in its turn.
    fn link(&self, guard: &Guard<'_, P>, node: &Node<P>) {
        node.set_status(status::PARKED);
        let now = P::ticks() as usize;
        let is_first = guard.newest(Kind::RwLock, self.address()).is_none();
        // SAFETY: it is new or was unlinked by the thread that told it; and is unlinked again before `wait`
        // returns, which it outlives.
        unsafe { guard.link_in_turn(Kind::RwLock, node, now) };
        let due = node.since.load(Ordering::Relaxed).wrapping_add(P::ticks_in(OVERDUE_NANOS));
        if is_first {
            node.set_due(due);
        } else if let Some(newest) = guard.newest(Kind::RwLock, self.address()) {
            newest.no_later(due, now);
        }
    }

    /// Sleeps until the caller, whose node is linked, is told what to do.
    fn sleep(&self, node: &Node<P>, want: Want, deadline: Option<Timestamp>) -> Turn {
        let mut slice = Slice::begin::<P>();
        loop {
            let now = node.status();
            match now {
                status::DONE => return Turn::Has,
                status::COMPETE => return Turn::Compete(0),
                status::IN_FLIGHT => {
                    note_wake(node);
                    return Turn::Compete(IN_FLIGHT);
                }
                _ => {}
            }
            let until = deadline.map_or(slice.end, |deadline| deadline.min(slice.end));
            // A thread that was chosen is told in a moment, whatever its deadline. If it looked again and again,
            // it might keep the one that is to tell it from the CPU.
            let until = Some(until).filter(|_| now == status::PARKED);
            // spec: RwLock!Sleep
            if P::futex_wait(node.word(), now, until) != FutexWait::TimedOut {
                continue;
            }
            slice.next::<P>();
            let is_over = deadline.is_some_and(|deadline| P::now() >= deadline);
            if let Some(turn) = self.look(node, want, is_over) {
                return turn;
            }
        }
    }

    /// A slice of the caller's sleep is over, or its deadline has passed. Whether that ends its turn.
    ///
    /// The thread in flight may get no CPU, or be one that the child of a fork does not have. So at the end of
    /// a slice the caller takes what it wants if that can be had; else the next unlock wakes another thread,
    /// and at worst there are two in flight.
    fn look(&self, node: &Node<P>, want: Want, is_over: bool) -> Option<Turn> {
        let guard = P::bucket(self.address()).lock();
        // Only under the lock is it certain that no thread is about to choose this node.
        if node.status() != status::PARKED {
            return None;
        }
        let mut state = self.state.load(Ordering::Relaxed);
        let has = loop {
            let has = want.acquire(state);
            let next = has.unwrap_or(state) & !IN_FLIGHT;
            match self.state.compare_exchange(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break has.is_some(),
                Err(found) => state = found,
            }
        };
        if !has && !is_over {
            return None;
        }
        // SAFETY: a node that was not told otherwise is linked.
        unsafe { guard.unlink(Kind::RwLock, node) };
        if guard.newest(Kind::RwLock, self.address()).is_none() {
            self.state.fetch_and(!PARKED, Ordering::Relaxed);
        }
        drop(guard);
        if has {
            self.pass_on(want, IN_FLIGHT);
            return Some(Turn::Has);
        }
        Some(Turn::TimedOut)
    }
}

/// Notes how long the caller's wake took, unless it was woken on the waker's own CPU.
fn note_wake<P: Host>(node: &Node<P>) {
    if node.place.load(Ordering::Relaxed) != P::cpu() {
        let woken = node.woken.load(Ordering::Relaxed);
        P::note_wake((P::ticks() as usize).wrapping_sub(woken));
    }
}

/// Waits until `ticks` after `start`.
pub(super) fn pause_for<P: Host>(start: usize, ticks: usize) {
    loop {
        P::pause();
        if (P::ticks() as usize).wrapping_sub(start) >= ticks {
            return;
        }
    }
}
