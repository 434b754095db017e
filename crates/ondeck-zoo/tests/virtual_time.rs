//! Every portable lock on a machine in virtual time, with more cores than any desk has.

#[path = "support/virtual_time.rs"]
mod virtual_time;

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;

use ondeck::platform::{AtomicInt, Ordering, Platform};
use ondeck_zoo::locks::OndeckSliced;
use ondeck_zoo::locks::ondeck_sliced::SlicedContext;
use ondeck_zoo::{
    CondvarKind, Fairness, LockInfo, Origin, RawCondvar, RawLock, SequenceCondvar, Visitor,
    Waiting, locks,
};
use virtual_time::Virtual;

const SECTION: u64 = 50;
const ROUNDS: u64 = 10;

/// `threads` virtual threads count under the lock; returns the count and the virtual time it took.
fn count_under<L: RawLock<Virtual>>(threads: usize) -> (u64, u64) {
    let lock = Rc::new(L::new());
    let count = Rc::new(Cell::new(0));
    let time = {
        let (lock, count) = (Rc::clone(&lock), Rc::clone(&count));
        virtual_time::run(threads, move |_| {
            let context = L::Context::default();
            for _ in 0..ROUNDS {
                // SAFETY: the context stays here and serves this acquisition alone.
                unsafe { lock.lock(&context) };
                let before = count.get();
                // Other threads run here: without exclusion their increments are lost.
                virtual_time::work(SECTION);
                count.set(before + 1);
                // SAFETY: acquired above with this context.
                unsafe { lock.unlock(&context) };
            }
        })
    };
    let mut lock = Rc::into_inner(lock).expect("every thread has ended");
    assert!(lock.is_idle(), "{}: a mark was left behind", L::INFO.name);
    (count.get(), time)
}

#[test]
fn every_portable_lock_excludes_and_repeats_exactly() {
    struct Check;
    impl Visitor<Virtual> for Check {
        fn visit<L: RawLock<Virtual>>(&mut self) {
            let name = L::INFO.name;
            for threads in [1, 2, 7, 32] {
                let (count, time) = count_under::<L>(threads);
                assert_eq!(count, threads as u64 * ROUNDS, "{name} with {threads} threads");
                let sections = threads as u64 * ROUNDS * SECTION;
                assert!(
                    time >= sections,
                    "{name}: {time} ns is less than its {sections} ns of sections"
                );
                // The same addresses are not given out again, but no cost depends on an address.
                assert_eq!(time, count_under::<L>(threads).1, "{name} with {threads} threads");
            }
        }
    }
    locks::for_each_hosted::<Virtual>(&mut Check);
    locks::for_each_pi::<Virtual>(&mut Check);
}

/// `threads` virtual threads meet again and again; the last to arrive lets the others go on. Returns
/// how often they met, and the virtual time it took.
fn meet_with<L: RawLock<Virtual>>(threads: usize) -> (u64, u64) {
    let lock = Rc::new(L::new());
    let arrivals = Rc::new(Cell::new(0));
    let time = {
        let (lock, arrivals) = (Rc::clone(&lock), Rc::clone(&arrivals));
        let all_here = L::Condvar::new();
        virtual_time::run(threads, move |_| {
            let context = L::Context::default();
            for round in 1..=ROUNDS {
                // SAFETY: the context stays here and serves one acquisition at a time.
                unsafe { lock.lock(&context) };
                arrivals.set(arrivals.get() + 1);
                let everybody = round * threads as u64;
                if arrivals.get() == everybody {
                    all_here.notify_all();
                }
                while arrivals.get() < everybody {
                    // SAFETY: acquired above with this context; there is no other lock.
                    unsafe { all_here.wait(&lock, &context) };
                }
                // SAFETY: acquired above or by the last wait, with this context.
                unsafe { lock.unlock(&context) };
            }
        })
    };
    let mut lock = Rc::into_inner(lock).expect("every thread has ended");
    assert!(lock.is_idle(), "{}: a mark was left behind", L::INFO.name);
    (arrivals.get() / threads as u64, time)
}

#[test]
fn every_portable_condvar_lets_all_go_and_repeats_exactly() {
    struct Check;
    impl Visitor<Virtual> for Check {
        fn visit<L: RawLock<Virtual>>(&mut self) {
            let name = L::INFO.name;
            for threads in [1, 2, 7, 32] {
                let (meetings, time) = meet_with::<L>(threads);
                assert_eq!(meetings, ROUNDS, "{name} with {threads} threads");
                assert_eq!(time, meet_with::<L>(threads).1, "{name} with {threads} threads");
            }
        }
    }
    locks::for_each_hosted::<Virtual>(&mut Check);
    locks::for_each_pi::<Virtual>(&mut Check);
}

/// What happens to two threads, of which the second waits for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Locked(usize),
    Unlocked(usize),
}

#[test]
fn a_longer_slice_is_asked_for_by_the_owner_and_given_back_after_the_unlock() {
    let steps = Rc::new(RefCell::new(Vec::new()));
    let told = Rc::clone(&steps);
    let lock = Rc::new(OndeckSliced::<Virtual>::new());
    virtual_time::run(2, move |thread| {
        let context = SlicedContext::default();
        // The second comes in the middle of the first one's section.
        virtual_time::work(thread as u64 * 5 * SECTION);
        assert_eq!(virtual_time::asking(), if thread == 0 { vec![] } else { vec![0] });
        // SAFETY: the context stays here and serves this acquisition alone.
        unsafe { lock.lock(&context) };
        told.borrow_mut().push(Step::Locked(thread));
        for _ in 0..10 {
            virtual_time::work(SECTION);
            let asking = virtual_time::asking();
            assert!(asking.contains(&thread), "the owner asks");
            assert!(thread == 1 || asking == [0], "the waiter does not: {asking:?}");
        }
        // SAFETY: acquired above with this context.
        unsafe { lock.unlock(&context) };
        told.borrow_mut().push(Step::Unlocked(thread));
        // SAFETY: unlocked above.
        let locked = unsafe { lock.try_lock(&context) };
        assert_eq!(locked, virtual_time::asking().contains(&thread));
        if locked {
            // SAFETY: acquired above with this context.
            unsafe { lock.unlock(&context) };
        }
        assert!(!virtual_time::asking().contains(&thread));
    });
    // The second has the lock while the first, which has not returned, is without its CPU.
    let expected = [Step::Locked(0), Step::Locked(1), Step::Unlocked(0), Step::Unlocked(1)];
    assert_eq!(*steps.borrow(), expected);
}

#[test]
fn a_section_within_a_section_is_the_outer_ones_to_give_back() {
    let locks = [OndeckSliced::<Virtual>::new(), OndeckSliced::<Virtual>::new()];
    virtual_time::run(1, move |_| {
        let contexts: [_; 2] = Default::default();
        for (lock, context) in locks.iter().zip(&contexts) {
            // SAFETY: each context stays here and serves this acquisition alone.
            unsafe { lock.lock(context) };
        }
        // SAFETY: acquired above with this context.
        unsafe { locks[1].unlock(&contexts[1]) };
        assert_eq!(virtual_time::asking(), [0]);
        // SAFETY: as above.
        unsafe { locks[0].unlock(&contexts[0]) };
        assert_eq!(virtual_time::asking(), []);
    });
}

/// A lock that forgets to lock: what the check above must notice.
struct Open<P>(PhantomData<P>);

// SAFETY: untrue on purpose; used only to see the check fail.
unsafe impl<P: Platform> RawLock<P> for Open<P> {
    const INFO: LockInfo = LockInfo {
        name: "open",
        origin: Origin::Literature,
        waiting: Waiting::Spins,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "",
        teaches: "",
    };
    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self(PhantomData)
    }
    unsafe fn lock(&self, (): &()) {}
    unsafe fn try_lock(&self, (): &()) -> bool {
        true
    }
    unsafe fn unlock(&self, (): &()) {}
    fn is_idle(&mut self) -> bool {
        true
    }
}

#[test]
fn a_lock_that_does_not_lock_is_noticed() {
    assert!(count_under::<Open<Virtual>>(2).0 < 2 * ROUNDS);
}

#[test]
#[should_panic(expected = "1 threads sleep for ever")]
fn a_lost_wake_is_noticed() {
    let word = <Virtual as Platform>::AtomicU32::new(0);
    virtual_time::run(2, move |thread| {
        if thread == 0 {
            let _ = Virtual::futex_wait(&word, 0, None);
        } else {
            virtual_time::work(1_000);
            word.store(1, Ordering::Release);
        }
    });
}

#[test]
fn a_deadline_passes_in_virtual_time() {
    use ondeck::platform::{FutexWait, Timestamp};

    let word = <Virtual as Platform>::AtomicU32::new(0);
    let time = virtual_time::run(1, move |_| {
        let deadline = Timestamp::from_nanos(5_000_000);
        assert_eq!(Virtual::futex_wait(&word, 0, Some(deadline)), FutexWait::TimedOut);
        assert!(Virtual::now() >= deadline);
    });
    assert!((5_000_000..5_001_000).contains(&time));
}
