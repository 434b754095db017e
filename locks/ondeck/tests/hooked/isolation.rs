//! The cost of a lock depends only on its own waiters. However many other threads are in the same
//! bucket, the lock's unlocks do not take the bucket's lock for them, and do not traverse their
//! queues. And no thread is woken while the bucket's lock is held.

use std::ptr;
use std::sync::atomic::AtomicU32;
use std::thread;

use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::parking::{self, Choice, Parked, Requeue};
use ondeck::platform::Host;
use ondeck::rwlock::RawRwLock;

use super::hooked_platform::{Hooked, calls_of, hooks};
use super::steered::*;
use super::{keys, watched};

/// Does `work` while the bucket's lock is held: a thread that wants that lock would hang.
fn with_the_bucket_locked<P: Host>(work: impl FnOnce()) {
    let state = AtomicU32::new(0);
    let validate = || {
        work();
        false
    };
    let parked = keys::park::<P>((&raw const state).addr(), validate, || (), None);
    assert_eq!(parked, Parked::Invalid);
}

/// An heir of another lock sleeps with a request. Then that lock's owner has a debt.
#[test]
fn an_unlock_that_no_thread_waits_for_takes_no_lock_of_the_bucket() {
    let _alone = alone();
    let [mutex, other] = [(); 2].map(|()| new_lock());
    let [heir, parked] = Actor::some();
    let unlocks = || {
        with_the_bucket_locked::<Machine>(|| {
            for _ in 0..1_000 {
                lock(mutex);
                let calls = calls_of(|| assert_eq!(unlock(mutex), 0));
                assert_eq!(calls.heavy_fences, 0);
            }
        });
    };
    unlocks();
    lock(other);
    heir.sleeps_for(other);
    parked.sleeps_for(other);
    unlocks();
    assert_eq!(unlock(other), 1);
    assert_eq!(heir.ends(), 1);
    unlocks();
    assert_eq!(heir.unlocks(other), 1);
    assert_eq!(parked.unlocks(other), 0);
}

/// Threads are parked for the lock, and one polls.
#[test]
fn an_unlock_that_a_heir_polls_for_takes_no_lock_of_the_bucket() {
    let (_alone, mutex, [heir, parked]) = owned();
    heir.polls_for(mutex);
    parked.sleeps_for(mutex);
    with_the_bucket_locked::<Machine>(|| {
        for _ in 0..1_000 {
            assert_eq!(unlock(mutex), 0);
            lock(mutex);
        }
    });
    assert_eq!(unlock(mutex), 0);
    poll();
    assert_eq!(heir.unlocks(mutex), 1);
    assert_eq!(parked.unlocks(mutex), 0);
}

/// Many threads are parked, for the lock itself or in another queue of its bucket.
#[test]
fn an_unlock_and_a_notification_go_through_no_queue() {
    /// Far fewer than the threads in a queue, and more than a wake reads.
    const FEW: u32 = 40;
    const MANY: usize = 100;
    let _alone = alone();
    let (mutex, condvar) = (new_lock(), &*Box::leak(Box::new(RawCondvar::<Machine>::new())));
    let key = (&raw const *Box::leak(Box::new(0_u8))).addr();
    lock(mutex);
    let parked: [_; MANY] = Actor::some();
    let others: [_; MANY] = Actor::some();
    for (parked, other) in parked.iter().zip(&others) {
        parked.sleeps_for(mutex);
        let end = after(SLICE);
        other.sleeps_in(move || {
            let parked = keys::park::<Machine>(key, || true, || (), Some(end));
            u32::from(parked == Parked::Woken)
        });
    }
    let (waiter, own) = (Actor::new(), new_lock());
    waiter.sleeps_in(|| {
        own.lock();
        // SAFETY: locked above.
        unsafe { condvar.wait(own, None) }.into()
    });
    let calls = calls_of(|| assert_eq!(condvar.notify_one(), 1));
    assert!(calls.wakes == 1 && calls.pointers < FEW, "{calls:?}");
    assert_eq!(waiter.unlocks(own), 0);
    let calls = calls_of(|| super::unlock(mutex));
    assert!(calls.wakes == 1 && calls.pointers < FEW, "{calls:?}");
    assert_eq!(keys::unpark::<Machine>(key, usize::MAX, |_, _| ()), MANY);
    for thread in &parked {
        thread.unlocks(mutex);
    }
}

hooks! {
    Outside {
        /// If the waking thread had the bucket's lock, it would wait for itself.
        fn wakes() {
            with_the_bucket_locked::<Hooked<Self>>(|| ());
        }
    }
}

#[test]
fn no_thread_is_woken_under_the_lock_of_a_bucket() {
    type Machine = Hooked<Outside>;
    /// `work` wakes the thread that sleeps in `sleep`.
    fn wakes(sleep: impl FnOnce() + Send, work: impl FnOnce()) {
        let before = Machine::sleeps();
        thread::scope(|scope| {
            scope.spawn(sleep);
            Machine::until_sleeps(before + 1);
            assert_eq!(calls_of(work).wakes, 1);
        });
    }
    let (_watchdog, words) = (watched(), [0_u8; 2]);
    let [from, to] = words.each_ref().map(|word| ptr::from_ref(word).addr());
    let (mutex, rwlock) = (RawMutex::<Machine>::new(), RawRwLock::<Machine>::new());
    let (mutex, rwlock, condvar) = (&mutex, &rwlock, &RawCondvar::<Machine>::new());
    let park = || assert_eq!(keys::park::<Machine>(from, || true, || (), None), Parked::Woken);
    wakes(park, || assert_eq!(keys::unpark::<Machine>(from, 1, |_, _| ()), 1));
    let one = (1, 0);
    wakes(park, || assert_eq!(keys::requeue::<Machine>(from, to, || true, 1, 0), one));
    // SAFETY: the keys are parts of a variable of this test, and its threads are unparked.
    wakes(park, || unsafe {
        assert_eq!(parking::unpark::<Machine>(from, |_| Choice::Unpark, |_| 0).woken, 1);
    });
    // SAFETY: as above.
    wakes(park, || unsafe {
        let most = || Some(Requeue { wake: 1, move_most: 0 });
        assert_eq!(parking::requeue::<Machine>(from, to, most, |_| 0).woken, 1);
    });
    let section = || {
        mutex.lock();
        super::unlock(mutex);
    };
    mutex.lock();
    wakes(section, || super::unlock(mutex));
    let wait = || {
        mutex.lock();
        // SAFETY: locked above.
        assert!(unsafe { condvar.wait(mutex, None) });
        super::unlock(mutex);
    };
    wakes(wait, || assert_eq!(condvar.notify_one(), 1));
    rwlock.lock_exclusive();
    // SAFETY: it unlocks what it has locked.
    let read = || unsafe {
        rwlock.lock_shared_counted();
        rwlock.unlock_shared_counted();
    };
    // SAFETY: locked above.
    wakes(read, || unsafe { rwlock.unlock_exclusive() });
}
