//! Locking: the attempt, and, if the lock is taken, polling for it, waiting near, parking, waking.

use super::pause::{Pause, has_lost};
use super::slice::Slice;
use super::unlock::tend;
use super::{RawMutex, handoff_due};
use crate::parking::{Bucket, Kind, Node, Record, has_come, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::{Waits, wait_for};

/// Attempts in one poll, back to back. An attempt reaches the owner's core most often just behind the
/// owner's own exchange, and so fails; but the line then comes back right behind the owner's clearing
/// store. One attempt a poll won 56 million pairs a second between two threads, 24 won 80. They take
/// less than one transfer of a line on every machine measured.
const ATTEMPTS: u32 = 24;

/// What a thread is while it wants the lock.
pub(super) enum Stage {
    /// The lock is its own.
    Owner,
    /// The lock's poller, for as long as it may poll.
    Poller,
    /// Neither. It has had a mark since it last parked, and may owe a look (3).
    Landed,
    /// Neither, and has had no mark.
    Arrived,
    /// Its deadline has passed, and it is not linked.
    TimedOut,
}

/// Why a thread finds the lock taken.
#[derive(Clone, Copy)]
enum Coming {
    /// It has just begun to want the lock, or was woken for it.
    Anew,
    /// It was notified by a thread that most likely owns the lock, or will again in a moment.
    Notified,
}

impl<P: Host> RawMutex<P> {
    /// Waits until the lock is the calling thread's.
    #[inline]
    pub fn lock(&self) {
        if !self.try_lock() {
            let owner = self.lock_slow(None);
            debug_assert!(owner, "without a deadline a wait ends with the lock");
        }
    }

    /// Acquires the lock if it is free; says whether it did.
    #[inline]
    pub fn try_lock(&self) -> bool {
        if P::single_threaded() {
            // There is no other thread, so plain accesses will do. A signal handler in between gives
            // back what it takes.
            let free = self.locked.load(Ordering::Relaxed) == 0;
            self.locked.store(1, Ordering::Relaxed);
            return free;
        }
        // spec: Mutex!TryLock
        !P::test_and_set(&self.locked, Ordering::Acquire)
    }

    /// As [`lock`](Self::lock), but gives up at the deadline; says whether it has the lock.
    #[inline]
    pub fn try_lock_until(&self, deadline: Timestamp) -> bool {
        self.try_lock() || self.lock_slow(Some(deadline))
    }

    /// Waits for the lock; false if the deadline passed before.
    #[cold]
    #[inline(never)]
    pub(super) fn lock_slow(&self, deadline: Option<Timestamp>) -> bool {
        let bucket = P::bucket(self.address());
        let (now, waits) = (P::ticks() as usize, Waits::now::<P>());
        if self.is_free_soon(bucket, now, &waits) {
            return true;
        }
        let node = Node::new(Kind::Lock, self.address(), self.byte(), now);
        let stage = self.arrive(bucket, &node, now, &waits, Coming::Anew);
        self.wait(bucket, &node, stage, deadline)
    }

    /// Found the lock taken at the moment `now`: reads it for as long as a short critical section and the
    /// line's way take. Says whether the caller is the owner.
    ///
    /// It has no mark meanwhile, and no other thread relies on it. A thread that lost the lock to a
    /// poller does not: it would take the line back at once.
    fn is_free_soon(&self, bucket: &Bucket<P>, now: usize, waits: &Waits) -> bool {
        let has_lost =
            || bucket.own_record(self.address()).is_some_and(|record| has_lost(record, now, waits));
        if waits.polling == 0 || has_lost() {
            return false;
        }
        let mut at = now;
        while at.wrapping_sub(now) < waits.section {
            P::pause();
            if !self.is_locked() && self.try_lock() {
                return true;
            }
            at = P::ticks() as usize;
        }
        false
    }

    /// Goes on from `stage` until the lock is the caller's; false if the deadline passed before. The
    /// caller's node is not linked, before and after.
    pub(super) fn wait(
        &self,
        bucket: &Bucket<P>,
        node: &Node<P>,
        mut stage: Stage,
        deadline: Option<Timestamp>,
    ) -> bool {
        loop {
            match stage {
                Stage::Owner => return true,
                Stage::TimedOut => return false,
                // spec: Mutex!PassedAwake
                Stage::Poller | Stage::Landed | Stage::Arrived
                    if deadline.is_some_and(|deadline| P::now() >= deadline) =>
                {
                    if !matches!(stage, Stage::Arrived) {
                        self.give_up(bucket, node);
                    }
                    return false;
                }
                Stage::Poller | Stage::Landed | Stage::Arrived => {
                    stage = self.park(bucket, node, deadline);
                }
            }
        }
    }

    /// Found the lock taken at the moment `now`: polls for it, unless another running thread does.
    fn arrive(
        &self,
        bucket: &Bucket<P>,
        node: &Node<P>,
        now: usize,
        waits: &Waits,
        coming: Coming,
    ) -> Stage {
        if waits.polling == 0 {
            return Stage::Arrived;
        }
        let address = self.address();
        // spec: Mutex!ArriveClaim
        let claim = || bucket.lock().claim_contended(address);
        // spec: Mutex!ArriveFind
        let record = bucket.own_record(address).unwrap_or_else(claim);
        if record.is_shared() {
            return Stage::Arrived;
        }
        // The owner calls after it has unlocked, so after the caller failed: a call is not missed while
        // the caller becomes the poller.
        let mut calls = record.calls();
        let (mut at, mut gap) = (now, waits.short);
        let mut staying = false;
        let end = loop {
            // spec: Mutex!Arrive
            let seen = record.awake();
            // The marks first: if they are of an older tenancy than the address, taking the poll fails.
            // spec: Mutex!ArriveOf
            if !record.is_of(address) {
                break Stage::Arrived;
            }
            let is_stale = || has_come(at, record.polled_at().wrapping_add(waits.stale));
            if (!seen.has_poller() || is_stale())
                && let Some(turn) = record.take_poll(seen, at)
            {
                node.set_turn(turn);
                break Stage::Poller;
            }
            let is_over = at.wrapping_sub(now) >= record.wait_after_vain(waits.near);
            if is_over || !staying && !record.stay(waits.most_staying) {
                break Stage::Arrived;
            }
            staying = true;
            at = wait_for::<P>(at, gap);
            gap = (gap * 2).min(waits.long);
            calls = record.calls();
            // spec: Mutex!ArriveTry
            if !self.is_locked() && self.try_lock() {
                record.forget_vain();
                break Stage::Owner;
            }
        };
        if staying {
            record.go();
        }
        if !matches!(end, Stage::Poller) {
            return end;
        }
        let ticks = match coming {
            Coming::Anew if has_lost(record, at, waits) => waits.long,
            Coming::Anew => waits.short,
            Coming::Notified => waits.notified,
        };
        self.poll(bucket, record, node, waits, Pause { start: at, ticks, calls })
    }

    /// The poller: polls after the `first` pause, and again and again.
    ///
    /// What it needs of the record it reads before its attempts: the lines are other threads' most of the time,
    /// and what the owner waits for, all others wait for.
    fn poll(
        &self,
        bucket: &Bucket<P>,
        record: &Record<P>,
        node: &Node<P>,
        waits: &Waits,
        first: Pause,
    ) -> Stage {
        let mut pause = first;
        loop {
            record.set_polled_at(pause.start);
            let now = pause.end(record);
            let calls = record.calls();
            let in_vain = record.vain();
            let may_be_due = record.has_parked() && record.may_be_due(now);
            // spec: Mutex!Poll
            let mut owner = self.try_lock();
            let was_free = owner;
            if !owner {
                // The line was another CPU's. Not measured of an attempt that succeeds: others wait for
                // the new owner.
                P::note_transfer((P::ticks_ordered() as usize).wrapping_sub(now));
                owner = (1..P::spins(ATTEMPTS)).any(|_| self.try_lock());
            }
            if owner {
                if in_vain != 0 {
                    record.forget_vain();
                }
                // It took the lock from a thread that acquires it again and again: sections are so short that one ended
                // between two attempts, and pauses did not help.
                let is_busy =
                    !was_free && (pause.ticks != first.ticks || first.ticks == waits.long);
                leave(record, node, waits, is_busy, now);
                // Where each poller succeeds at once, none would look after the others below, and each
                // unlock would leave that to the poller.
                if may_be_due {
                    tend(bucket, record, self.address(), now);
                }
                return Stage::Owner;
            }
            // spec: Mutex!PollerReplaced
            if !record.awake().is_poller(node.turn()) {
                // Its mark may have gone before another took its place, and the record with it (7).
                node.end_turn();
                return Stage::Landed;
            }
            if now.wrapping_sub(first.start) >= record.wait_after_vain(waits.polling) {
                record.note_vain();
                return Stage::Poller;
            }
            tend(bucket, record, self.address(), now);
            let ticks = (pause.ticks * 2).clamp(waits.short, waits.long);
            pause = Pause { start: now, ticks, calls };
        }
    }

    /// Links the caller's node, takes its mark away if it has one, and sleeps until it is told what it
    /// is.
    fn park(&self, bucket: &Bucket<P>, node: &Node<P>, deadline: Option<Timestamp>) -> Stage {
        P::parks(self.address());
        let waits = Waits::now::<P>();
        node.cpu.store(P::cpu(), Ordering::Relaxed);
        node.priority.store(P::priority(), Ordering::Relaxed);
        // spec: Mutex!ParkLock
        let guard = bucket.lock();
        // spec: Mutex!ParkLink
        let record = guard.claim_contended(self.address());
        let is_near = waits.polling != 0 && (record.parked() as usize) < waits.most_near;
        node.set_status(if is_near { status::NEAR } else { status::PARKED });
        // SAFETY: it is new or was unlinked by the thread that told it; and is unlinked again before
        // `wait` returns, which it outlives.
        unsafe {
            let now = P::ticks() as usize;
            if node.tried.load(Ordering::Relaxed) != 0 {
                guard.link_as_oldest(Kind::Lock, node);
            } else if !node.was_linked() || has_come(now, handoff_due(node)) {
                guard.link_in_turn(Kind::Lock, node, now);
            } else {
                guard.link(Kind::Lock, node);
            }
        }
        guard.count(record, node, handoff_due(node));
        if node.tried.load(Ordering::Relaxed) != 0 {
            // It was overdue, and has competed in vain: it is to be handed the lock now, not at the next
            // time for such.
            record.set_due(P::ticks() as usize);
        }
        // spec: Mutex!ParkLeave
        // Between the count and the last look (3).
        record.leave(node.turn());
        let publication = guard.publish(record, self.address());
        drop(guard);
        // spec: Mutex!LeaveNear
        if is_near && (stay_near(node, waits.near) || !node.leave_near(status::PARKED)) {
            return self.told(bucket, node, node.status());
        }
        publication.complete(record);
        // spec: Mutex!LastLook
        // spec: Mutex!LastTry
        if !self.is_locked() && self.try_lock() {
            self.withdraw(bucket, node);
            return Stage::Owner;
        }
        self.sleep(bucket, node, deadline)
    }

    /// Sleeps until the caller, whose node is linked, is told what it is, or until the deadline.
    pub(super) fn sleep(
        &self,
        bucket: &Bucket<P>,
        node: &Node<P>,
        deadline: Option<Timestamp>,
    ) -> Stage {
        let mut slice = Slice::begin::<P>();
        loop {
            // spec: Mutex!Sleep
            let status = node.status();
            if status != status::PARKED {
                return self.told(bucket, node, status);
            }
            let until = deadline.map_or(slice.end, |deadline| deadline.min(slice.end));
            // spec: Mutex!Asleep
            if P::futex_wait(node.word(), status::PARKED, Some(until)) != FutexWait::TimedOut {
                continue;
            }
            slice.next::<P>();
            if deadline.is_some_and(|deadline| P::now() >= deadline) {
                // spec: Mutex!PassedLock
                if self.unlink_if_parked(bucket, node) {
                    return Stage::TimedOut;
                }
            } else if self.is_left_alone(bucket) && self.unlink_if_parked(bucket, node) {
                // spec: Mutex!Rescue
                // It takes the place of the thread in flight, with its obligation (3). If that one stayed
                // marked, unlocks would wake no other, and each parked thread would compete at the end of
                // each of its slices. Its own CPU has woken it: that was no wake to measure.
                node.cpu.store(P::cpu(), Ordering::Relaxed);
                // spec: Mutex!Rescued
                return self.told(bucket, node, status::IN_FLIGHT);
            } else if P::heavy_fences_are_refused() || bucket.own_record(self.address()).is_none() {
                // An unlock may have missed this thread: see `parking/publish.rs`. Or the lock shares its
                // record: without marks nothing tells whether the thread that was woken last gets a CPU.
                // spec: Mutex!LookAgain
                if !self.is_locked() && self.try_lock() {
                    self.withdraw(bucket, node);
                    return Stage::Owner;
                }
            }
        }
    }

    /// The caller's node was unlinked, and it was told `status`.
    pub(super) fn told(&self, bucket: &Bucket<P>, node: &Node<P>, status: u32) -> Stage {
        let now = P::ticks() as usize;
        let waits = Waits::now::<P>();
        let record = bucket.own_record(self.address());
        match (status, record) {
            (status::DONE, _) => return Stage::Owner,
            (status::POLLER, Some(record)) => {
                return self.poll(bucket, record, node, &waits, Pause::none(now));
            }
            (status::IN_FLIGHT, Some(record)) => {
                // A thread that was woken on the waker's own CPU took its place: that tells how long a
                // switch takes, not a wake.
                if node.cpu.load(Ordering::Relaxed) != P::cpu() {
                    P::note_wake(now.wrapping_sub(node.woken.load(Ordering::Relaxed)));
                }
                // spec: Mutex!Land
                if let Some(turn) = record.land(self.address(), waits.polling != 0) {
                    node.set_turn(turn);
                    return self.poll(bucket, record, node, &waits, Pause::none(now));
                }
                // spec: Mutex!LandTry
                if self.try_lock() {
                    return Stage::Owner;
                }
                return match self.arrive(bucket, node, now, &waits, Coming::Anew) {
                    Stage::Arrived => Stage::Landed,
                    stage => stage,
                };
            }
            _ => {}
        }
        // spec: Mutex!CompeteTry
        if self.try_lock() {
            Stage::Owner
        } else {
            self.arrive(bucket, node, now, &waits, Coming::Notified)
        }
    }
}

/// The caller, the poller, has become the owner, after `now`. If it had to take the lock from a thread that is
/// busy with it, it waits for a moment until that one polls: else its own unlock would wake a
/// parked thread, and the other, which still runs, would park in its place.
fn leave<P: Host>(record: &Record<P>, node: &Node<P>, waits: &Waits, was_busy: bool, now: usize) {
    record.set_taken_at(now);
    // spec: Mutex!Leave
    // Without a fence: what unlocks have left to the poller, its own will do (3).
    record.leave_as_owner(node.turn());
    if was_busy && record.has_parked() {
        while (P::ticks() as usize).wrapping_sub(now) < waits.offer && !record.awake().has_poller()
        {
            P::pause();
        }
    }
}

/// Reads the caller's own status until it is told what it is, which is true, or for `ticks`. Its own
/// cache line, which no other thread reads: unlike a poll of a lock this disturbs none.
pub(crate) fn stay_near<P: Host>(node: &Node<P>, ticks: usize) -> bool {
    let start = P::ticks() as usize;
    // spec: Mutex!StayNear
    while node.status() == status::NEAR {
        if (P::ticks() as usize).wrapping_sub(start) >= ticks {
            return false;
        }
        P::pause();
    }
    true
}
