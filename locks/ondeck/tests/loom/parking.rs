//! Parking at keys: `park`, `unpark`, `requeue`, and the bucket's lock under them.

use ondeck::parking::Parked;
use ondeck::platform::{AtomicInt, Ordering, Platform, Timestamp};

use crate::guarded::Guarded;
use crate::keys;
use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{ONE_BUCKET, SLEEPS, SOON, explored};

/// Another library's lock, as seen by the table: the number of times that it was opened, and the
/// number of closures that ran. A thread that finds it open does not park. All accesses to the word
/// are relaxed, to check that the bucket's lock orders them. Loom reports a race if two closures
/// ran without the bucket's lock.
pub type Gate = Guarded<<Loom as Platform>::AtomicU32>;

/// How a [`Gate::park`] ended.
struct Outcome {
    parked: Parked,
    /// The number of its check among all checks of the gate.
    order: u32,
    /// The number of times that the gate had been opened when it ended.
    seen: u32,
}

impl Gate {
    fn new() -> &'static Self {
        Self::of(AtomicInt::new(0))
    }

    fn opened(&self) -> u32 {
        self.raw().load(Ordering::Relaxed)
    }

    /// Parks unless it is open. A woken thread sees the writes before the wake.
    fn park(&self, deadline: Option<Timestamp>) -> Outcome {
        let (mut order, mut linked) = (0, false);
        let closed = || {
            order = self.count();
            self.opened() == 0
        };
        let parked = keys::park::<Loom>(self.address(), closed, || linked = true, deadline);
        assert_eq!(
            linked,
            parked != Parked::Invalid,
            "the closure ran if and only if the thread parked"
        );
        let seen = self.opened();
        assert!(
            parked != Parked::Woken || seen != 0,
            "a woken thread does not see that the gate was opened"
        );
        Outcome { parked, order, seen }
    }

    fn open(&self) {
        self.raw().store(self.opened() + 1, Ordering::Relaxed);
    }

    /// Returns the number of woken threads, and whether others remained.
    fn unpark(&self, most: usize) -> (usize, bool) {
        let mut told = (0, false);
        let then = |count, more| {
            self.count();
            told = (count, more);
        };
        let woken = keys::unpark::<Loom>(self.address(), most, then);
        assert_eq!(woken, told.0, "as many are woken as was told");
        told
    }

    pub fn requeue(&self, to: &Self, wake: usize, move_most: usize) -> (usize, usize) {
        let look = || {
            self.count();
            to.count();
            true
        };
        keys::requeue::<Loom>(self.address(), to.address(), look, wake, move_most)
    }
}

/// The one of two gates that is created first, and therefore has the lower bucket.
#[derive(Clone, Copy)]
pub enum Lower {
    From,
    To,
}

pub fn gates(lower: Lower) -> (&'static Gate, &'static Gate) {
    let (first, second) = (Gate::new(), Gate::new());
    match lower {
        Lower::From => (first, second),
        Lower::To => (second, first),
    }
}

type Thread = loom::thread::JoinHandle<Outcome>;

fn parker(gate: &'static Gate, deadline: Option<Timestamp>) -> Thread {
    spawn(move || gate.park(deadline))
}

/// Joins the threads. Returns the number of woken ones.
fn woken(threads: impl IntoIterator<Item = Thread>) -> usize {
    threads.into_iter().map(join).filter(|end| end.parked == Parked::Woken).count()
}

/// Some threads arrive to park while the gate opens: each is found, or finds it open.
fn open_for(parkers: usize) {
    let gate = Gate::new();
    let threads: Vec<_> = (0..parkers).map(|_| parker(gate, None)).collect();
    gate.open();
    let (told, more) = gate.unpark(usize::MAX);
    assert!(!more);
    assert_eq!(woken(threads), told);
}

/// Joins two threads, of which the given number were woken. If both were woken, the one that parked
/// last was woken last: `how` describes that order in the message.
fn in_order(threads: [Thread; 2], count: usize, how: &str) {
    let ends = threads.map(join);
    let woken: Vec<_> = ends.iter().filter(|end| end.parked == Parked::Woken).collect();
    assert_eq!(woken.len(), count);
    if count == 2 {
        let last = woken.iter().max_by_key(|end| end.order).expect("there are two");
        assert_eq!(last.seen, 2, "the second was {how}");
    }
}

fn woken_in_order() {
    let gate = Gate::new();
    let threads = [0; 2].map(|_| parker(gate, None));
    gate.open();
    let (first, more) = gate.unpark(1);
    gate.open();
    let (second, _) = gate.unpark(1);
    if more {
        in_order(threads, first + second, "woken by the second call");
    } else {
        assert_eq!(woken(threads), first + second);
    }
}

fn other_keys() {
    let (gate, other) = gates(Lower::From);
    let (at_gate, at_other) = (parker(gate, None), parker(other, None));
    gate.open();
    let told = gate.unpark(usize::MAX);
    other.open();
    let told_other = other.unpark(usize::MAX);
    assert_eq!((woken([at_gate]), woken([at_other])), (told.0, told_other.0));
    assert!(!told.1 && !told_other.1);
}

/// A deadline passes at any time: the woken threads were counted, and no others.
fn deadline_and_unpark(deadlines: &'static [Option<Timestamp>]) {
    let gate = Gate::new();
    let threads: Vec<_> = deadlines.iter().map(|&deadline| parker(gate, deadline)).collect();
    let clock = spawn(|| pass_time(1));
    gate.open();
    let (told, _) = gate.unpark(usize::MAX);
    assert_eq!(woken(threads), told, "the woken threads know it, and no others");
    join(clock);
}

/// A parked thread is moved and then woken at its new key, while its deadline passes.
fn requeue_and_deadline(lower: Lower) {
    let (from, to) = gates(lower);
    let waiter = parker(from, Some(SOON));
    let clock = spawn(|| pass_time(1));
    from.open();
    let (none, moved) = from.requeue(to, 0, 1);
    let (told, _) = to.unpark(usize::MAX);
    // A thread that parked before the gate was opened, and was not moved, timed out.
    assert!(none == 0 && told <= moved);
    assert_eq!(woken([waiter]), told);
    join(clock);
}

/// A parked thread is moved by one thread, and woken at the old key or at the new one by another.
fn requeue_and_unpark(lower: Lower, at_new: bool) {
    let (from, to) = gates(lower);
    let waiter = parker(from, None);
    let waker = spawn(move || {
        from.open();
        let gate = if at_new { to } else { from };
        gate.unpark(1).0
    });
    from.requeue(to, 0, 1);
    // The first unpark may have missed it; this one finds it.
    let told = join(waker) + from.unpark(1).0 + to.unpark(1).0;
    assert_eq!(woken([waiter]), told);
}

/// The first of two parked threads is woken, and the second is moved.
fn requeue_wakes_and_moves() {
    let (from, to) = gates(Lower::From);
    let threads = [0; 2].map(|_| parker(from, None));
    from.open();
    let (woken, moved) = from.requeue(to, 1, 1);
    from.open();
    let (told, more) = to.unpark(usize::MAX);
    assert!(told == moved && !more);
    assert!(moved == 0 || woken == 1, "the first is woken");
    in_order(threads, woken + moved, "moved");
}

fn first_moved_and_second_stays() {
    let (from, to) = gates(Lower::From);
    let threads = [0; 2].map(|_| parker(from, None));
    from.open();
    let moved = from.requeue(to, 0, 1).1;
    let told = (to.unpark(usize::MAX).0, from.unpark(usize::MAX).0);
    assert!(told.0 == moved && (told.1 == 0 || moved == 1));
    assert_eq!(woken(threads), told.0 + told.1);
}

/// Two threads move parked threads in opposite directions.
fn opposite_requeues(waiters: usize) {
    let (a, b) = gates(Lower::From);
    let threads: Vec<_> = [a, b].into_iter().take(waiters).map(|gate| parker(gate, None)).collect();
    let other = spawn(move || {
        b.requeue(a, 0, usize::MAX);
    });
    a.open();
    b.open();
    a.requeue(b, 0, usize::MAX);
    join(other);
    let told = a.unpark(usize::MAX).0 + b.unpark(usize::MAX).0;
    assert_eq!(woken(threads), told);
}

/// The bucket's lock, for which the given number of threads compete at once.
fn all_at_once(threads: usize) {
    let gate = Gate::new();
    let others: Vec<_> = (1..threads).map(|_| spawn(|| gate.unpark(1))).collect();
    gate.unpark(1);
    for other in others {
        assert_eq!(join(other), (0, false));
    }
    assert_eq!(gate.count() as usize, threads + 1);
}

explored! {
    fn a_thread_that_opens_finds_the_parked_thread_or_is_seen on SLEEPS, 8 => || open_for(1);
    fn a_thread_that_opens_finds_both_parked_threads_or_is_seen on SLEEPS, 3 => || open_for(2);
    /// Two threads are parked, and each is woken by a separate call: the one that arrived first is
    /// woken first.
    fn wakes_in_the_order_of_parking on SLEEPS, 3 => woken_in_order;
    /// A thread parked at another key of the bucket is neither counted nor woken.
    fn other_keys_of_the_bucket_sleep_on on ONE_BUCKET, 3 => other_keys;
    fn a_deadline_passes_at_any_time on SLEEPS, 5 => || deadline_and_unpark(&[Some(SOON)]);
    fn a_deadline_passes_beside_a_parked_thread on SLEEPS, 2 => || deadline_and_unpark(&[Some(SOON), None]);
    fn a_deadline_passes_while_its_thread_is_moved_up on SLEEPS, 3 => || requeue_and_deadline(Lower::From);
    fn a_deadline_passes_while_its_thread_is_moved_down on SLEEPS, 3 => || requeue_and_deadline(Lower::To);
    fn a_deadline_passes_while_its_thread_is_moved_within_a_bucket on ONE_BUCKET, 3 =>
        || requeue_and_deadline(Lower::From);
    fn a_parked_thread_is_woken_where_it_was_while_it_is_moved on SLEEPS, 3 =>
        || requeue_and_unpark(Lower::From, false);
    fn a_parked_thread_is_woken_where_it_will_be_while_it_is_moved on SLEEPS, 3 =>
        || requeue_and_unpark(Lower::To, true);
    fn a_parked_thread_is_woken_while_it_is_moved_within_a_bucket on ONE_BUCKET, 3 =>
        || requeue_and_unpark(Lower::From, true);
    fn the_first_is_woken_and_the_second_moved on SLEEPS, 2 => requeue_wakes_and_moves;
    fn the_first_is_woken_and_the_second_moved_within_a_bucket on ONE_BUCKET, 2 => requeue_wakes_and_moves;
    /// The first of two parked threads is moved, and the second stays at its key.
    fn the_first_is_moved_and_the_second_stays on SLEEPS, 2 => first_moved_and_second_stays;
    fn two_threads_move_opposite_ways on SLEEPS, 8 => || opposite_requeues(0);
    fn two_threads_move_a_parked_thread_opposite_ways on SLEEPS, 2 => || opposite_requeues(1);
    fn two_threads_move_two_parked_threads_opposite_ways on SLEEPS, 2 => || opposite_requeues(2);
    fn two_threads_want_a_bucket on SLEEPS, 10 => || all_at_once(2);
    fn three_threads_want_a_bucket on SLEEPS, 4 => || all_at_once(3);
}
