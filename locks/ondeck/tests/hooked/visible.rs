//! The stores of a read of a biased lock.

use std::sync::atomic::{AtomicU64, Ordering};

use ondeck::platform::Host;
use ondeck::rwlock::RawRwLock;

use super::hooked_platform::{Hooked, Hooks, Write, hooks, written};

/// The time of the test of a rest.
static NOW: AtomicU64 = AtomicU64::new(1);

/// A machine of this time, on which a lock may be biased.
macro_rules! machine {
    ($name:ident, $now:expr) => {
        hooks! {
            $name {
                const ROWS: usize = 64;

                fn ticks() -> u64 {
                    $now
                }
                fn ticks_in(nanos: u32) -> usize {
                    nanos as usize
                }
                fn once_in(_count: u32) -> bool {
                    true
                }
                fn may_relax() -> bool {
                    true
                }
            }
        }
    };
}

machine!(Visible, 1);
// Locks of other tests would rest as well: a rest is that of all locks whose addresses share a
// bias.
machine!(Rests, NOW.load(Ordering::Relaxed));

type Machine = Hooked<Visible>;

fn biased<H: Hooks>() -> RawRwLock<Hooked<H>> {
    let lock = RawRwLock::new();
    lock.consider_bias();
    assert!(lock.is_biased(), "it has rested");
    lock
}

fn read(lock: &RawRwLock<Machine>) {
    let held = lock.lock_shared();
    // SAFETY: it was just returned.
    unsafe { lock.unlock_shared(held) };
}

/// Returns the address of the calling thread's row.
fn own_row() -> std::ops::Range<usize> {
    let row = std::ptr::from_ref(Machine::row().expect("this machine has rows"));
    row.addr()..row.addr() + size_of_val(Machine::row().expect("as before"))
}

/// Checks that `work` makes two stores to the row, and writes nothing else.
fn stores_to_its_row(work: impl FnOnce()) {
    let writes = written(work);
    assert_eq!(writes.len(), 2, "{writes:?}");
    for (write, address) in writes {
        assert_eq!(write, Write::Store);
        assert!(own_row().contains(&address));
    }
}

#[test]
fn a_biased_read_is_two_stores_to_the_threads_own_row() {
    let lock = biased::<Visible>();
    stores_to_its_row(|| read(&lock));
}

#[test]
fn rows_of_two_threads_share_no_cache_line() {
    let own = own_row();
    let other = std::thread::spawn(own_row).join().expect("no panic");
    assert_eq!((own.start % 128, other.start % 128), (0, 0));
    assert!(own.end <= other.start || other.end <= own.start);
}

#[test]
fn another_read_of_the_same_lock_is_counted() {
    let lock = biased::<Visible>();
    let outer = lock.lock_shared();
    let writes = written(|| read(&lock));
    assert!(writes.iter().all(|&(write, _)| write == Write::Change), "{writes:?}");
    assert_eq!(writes.len(), 2);
    // SAFETY: it is held.
    unsafe { lock.unlock_shared(outer) };
}

#[test]
fn an_uncontended_write_changes_the_word_twice() {
    let lock = RawRwLock::<Machine>::new();
    let writes = written(|| {
        lock.lock_exclusive();
        // SAFETY: this thread owns it.
        unsafe { lock.unlock_exclusive() };
    });
    let word = std::ptr::from_ref(&lock).addr();
    assert_eq!(writes, [(Write::Change, word); 2]);
}

/// After a write the lock rests for a multiple of the cost of the revocation.
#[test]
fn a_lock_that_was_written_rests() {
    let lock = biased::<Rests>();
    lock.lock_exclusive();
    // SAFETY: this thread owns it.
    unsafe { lock.unlock_exclusive() };
    lock.consider_bias();
    assert!(!lock.is_biased());
    NOW.fetch_add(1 << 40, Ordering::Relaxed);
    lock.consider_bias();
    assert!(lock.is_biased());
}
