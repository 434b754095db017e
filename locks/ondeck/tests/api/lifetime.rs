//! The lock's memory is unmapped right after its last user's unlock: a thread that still accesses
//! it faults.

use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::{Condvar, Mutex, MutexGuard, RwLock};

use crate::until::until;
use crate::watchdog::{self, Watchdog};

/// Rounds of each test: `ONDECK_TEST_ROUNDS`, or enough for a second or two.
fn round_count() -> u32 {
    std::env::var("ONDECK_TEST_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

/// The time after which no round begins: on a busy machine a thread that yields is without a CPU
/// for a time slice, and each round has several yields.
const LONGEST: Duration = Duration::from_secs(20);

/// The locks and data, alone on a page.
struct Page {
    mutex: Mutex<u32>,
    condvar: Condvar,
    rwlock: RwLock<AtomicU32>,
}

fn map() -> &'static Page {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new anonymous mapping; zeros and the values written below are valid.
    unsafe {
        let page = libc::mmap(ptr::null_mut(), size_of::<Page>(), access, kind, -1, 0);
        assert_ne!(page, libc::MAP_FAILED);
        let page = page.cast::<Page>();
        page.write(Page {
            mutex: Mutex::new(0),
            condvar: Condvar::new(),
            rwlock: RwLock::new(AtomicU32::new(0)),
        });
        &*page
    }
}

/// # Safety
///
/// No thread uses the page any more, which must follow from the contract of the lock on it, not
/// from a join of the other threads.
unsafe fn unmap(page: &'static Page) {
    let page = ptr::from_ref(page).cast_mut().cast();
    // SAFETY: mapped by `map` with this size.
    assert_eq!(unsafe { libc::munmap(page, size_of::<Page>()) }, 0);
}

/// Runs `first` and `last` on two threads with a new page in every round; one of them unmaps it. A
/// round that does not end within a minute counts as hung.
fn rounds(
    what: &str,
    first: impl Fn(u32, &'static Page) + Sync,
    last: impl Fn(u32, &'static Page) + Sync,
) {
    let watchdog = Watchdog::start(what, Duration::from_mins(1));
    let page = AtomicUsize::new(0);
    let round = AtomicU32::new(0);
    let until = |number| {
        until(|| round.load(Ordering::Acquire) == number);
    };
    let start = Instant::now();
    watchdog::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=round_count() {
                let fresh = (start.elapsed() < LONGEST).then(map);
                page.store(fresh.map_or(0, |page| ptr::from_ref(page).addr()), Ordering::Relaxed);
                // If `first` locks immediately, the other thread begins while this one owns the
                // lock.
                round.store(2 * number, Ordering::Release);
                let Some(fresh) = fresh else { break };
                first(number, fresh);
                until(2 * number + 1);
            }
        });
        for number in 1..=round_count() {
            until(2 * number);
            let fresh = ptr::with_exposed_provenance::<Page>(page.load(Ordering::Relaxed));
            if fresh.is_null() {
                break;
            }
            // SAFETY: mapped for this round.
            last(number, unsafe { &*fresh });
            round.store(2 * number + 1, Ordering::Release);
            watchdog.progress();
        }
    });
}

/// As one of two users, counts itself and unlocks. The last of them then unmaps the page at once.
fn leave(page: &'static Page, mut users: MutexGuard<'_, u32>) {
    *users += 1;
    let last = *users == 2;
    drop(users);
    if last {
        // SAFETY: the other thread counted itself before this one locked, so it has unlocked the
        // mutex for the last time.
        unsafe { unmap(page) };
    }
}

/// A moment that differs from round to round: during a short one the other thread polls, during a
/// long one it parks.
fn moment(number: u32) {
    match number % 64 {
        0 => thread::sleep(Duration::from_micros(100)),
        turns => (0..turns * 20).for_each(|_| std::hint::spin_loop()),
    }
}

fn unmapped_by_the_last_owner(
    what: &str,
    lock: fn(u32, &'static Page) -> MutexGuard<'static, u32>,
) {
    rounds(
        what,
        |number, page| {
            let users = page.mutex.lock();
            moment(number);
            leave(page, users);
        },
        |number, page| leave(page, lock(number, page)),
    );
}

#[test]
fn the_page_is_unmapped_after_the_last_unlock() {
    unmapped_by_the_last_owner("unmapping", |_, page| page.mutex.lock());
}

#[test]
fn the_page_is_unmapped_after_an_attempt_with_a_deadline() {
    unmapped_by_the_last_owner("unmapping after an attempt", |number, page| {
        let limit = Duration::from_micros(u64::from(number % 40));
        page.mutex.try_lock_for(limit).unwrap_or_else(|| page.mutex.lock())
    });
}

#[test]
fn the_page_is_unmapped_by_the_waiter_that_was_notified() {
    rounds(
        "unmapping by a waiter",
        |number, page| {
            // Sleeps until the waiter waits, because it must not be notified before.
            let mut state = page.mutex.lock();
            while *state == 0 {
                drop(state);
                thread::yield_now();
                state = page.mutex.lock();
            }
            moment(number);
            *state = 2;
            if number.is_multiple_of(2) {
                page.condvar.notify_one();
                drop(state);
            } else {
                // The waiter leaves only after it is notified, so the page is still mapped.
                drop(state);
                page.condvar.notify_all();
            }
        },
        |_, page| {
            let mut state = page.mutex.lock();
            *state = 1;
            page.condvar.wait(&mut state);
            assert_eq!(*state, 2);
            drop(state);
            // SAFETY: the notifier no longer uses the page. It has notified and unlocked, in either
            // order, and the last access of each was before this thread could continue.
            unsafe { unmap(page) };
        },
    );
}

/// Runs a section under a lock of `rwlock`. Returns whether the thread is the last of two.
fn is_last(number: u32, users: &AtomicU32) -> bool {
    moment(number);
    users.fetch_add(1, Ordering::AcqRel) == 1
}

/// `last` waits for `first` to leave, because it takes the write lock. Then it unmaps the page, and
/// `first` may still be in its unlock.
fn unmapped_by_a_writer(what: &str, first: impl Fn(u32, &'static Page) -> bool + Sync) {
    rounds(
        what,
        |number, page| {
            if first(number, page) {
                // SAFETY: see below.
                unsafe { unmap(page) };
            }
        },
        |_, page| {
            if is_last(1, &page.rwlock.write()) {
                // SAFETY: the other thread counted itself under a lock that it had unlocked before
                // this one was acquired.
                unsafe { unmap(page) };
            }
        },
    );
}

#[test]
fn the_page_is_unmapped_after_the_last_reader_has_left() {
    unmapped_by_a_writer("unmapping after a reader", |number, page| {
        is_last(number, &page.rwlock.read())
    });
}

#[test]
fn the_page_is_unmapped_after_the_last_visible_reader_has_left() {
    unmapped_by_a_writer("unmapping after a visible reader", |number, page| {
        (0..64).for_each(|_| drop(page.rwlock.read()));
        is_last(number, &page.rwlock.read())
    });
}

#[test]
fn the_page_is_unmapped_after_the_last_writer_has_left() {
    unmapped_by_a_writer("unmapping after a writer", |number, page| {
        is_last(number, &page.rwlock.write())
    });
}
