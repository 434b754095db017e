//! Names and statistics of mutexes, reader-writer locks and semaphores: crate `ondeck` counts, and
//! this file converts.

use core::ffi::{c_char, c_int, c_void};
use core::fmt::Write;
use core::mem::ManuallyDrop;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use core::time::Duration;
use std::cell::Cell;

use ondeck::stats::hooks::{self, Ended, Wait};
use ondeck::stats::{self, Lock, LockKind, Site};

use crate::mutex::Mutex;
use crate::names;
use crate::rwlock::RwLock;
use crate::sem::Sem;

/// Names the mutex in statistics and warnings, or takes its name away if `name` is null. Returns 0,
/// or ENOMEM if the table of 1,024 names has no room.
///
/// The string is not copied: it stays as long as the process. `ondeck_mutex_init` and
/// `ondeck_mutex_destroy` take the name away; a mutex that ends without ondeck_mutex_destroy leaves
/// its name to the next one in the same memory.
///
/// # Safety
///
/// `name` is null or points to a string that is never changed or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_name(mutex: *const Mutex, name: *const c_char) -> c_int {
    if names::set(mutex.addr(), name) { 0 } else { libc::ENOMEM }
}

/// As `ondeck_mutex_name`, for a reader-writer lock.
///
/// # Safety
///
/// As for `ondeck_mutex_name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_rwlock_name(lock: *const RwLock, name: *const c_char) -> c_int {
    if names::set(lock.addr(), name) { 0 } else { libc::ENOMEM }
}

/// As `ondeck_mutex_name`, for a semaphore, whose name only `ondeck_sem_init` takes away.
///
/// # Safety
///
/// As for `ondeck_mutex_name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_sem_name(sem: *const Sem, name: *const c_char) -> c_int {
    if names::set(sem.addr(), name) { 0 } else { libc::ENOMEM }
}

/// What a thread has, in calls of programs compiled with `ONDECK_STATS`: a mutex.
pub const ONDECK_STATS_MUTEX: c_int = 0;

/// The same: a read lock, or the upgradable one.
pub const ONDECK_STATS_READ: c_int = 1;

/// The same: a write lock.
pub const ONDECK_STATS_WRITE: c_int = 2;

/// The same: a permit, which is not held.
pub const ONDECK_STATS_PERMIT: c_int = 3;

fn lock_of(lock: *const c_void, what: c_int) -> Lock {
    let kind = if what == ONDECK_STATS_MUTEX { LockKind::Mutex } else { LockKind::RwLock };
    names::lock_of(lock.addr(), kind)
}

std::thread_local! {
    /// Between `ondeck_stats_unlocks` and `ondeck_stats_unlocked`.
    static ENDED: Cell<Option<Ended>> = const { Cell::new(None) };
}

/// For programs compiled with `ONDECK_STATS`: the thread is about to acquire, at the instruction
/// `site`, and to call `ondeck_stats_acquired`.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_acquires(site: *const c_void) {
    if stats::is_on() {
        names::SITE.set(site.addr());
    }
}

/// For programs compiled with `ONDECK_STATS`: the thread has acquired, unless `error` is not 0.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_acquired(
    lock: *const c_void,
    what: c_int,
    site: *const c_void,
    error: c_int,
) {
    names::SITE.set(0);
    let wait = names::WAITED.take().map(ManuallyDrop::into_inner);
    if what == ONDECK_STATS_PERMIT || !stats::is_on() {
        wait.into_iter().for_each(Wait::ends);
    } else if error == 0 {
        let is_alone = what != ONDECK_STATS_READ;
        hooks::acquired(lock_of(lock, what), is_alone, Site::code(site.addr()), wait);
    }
}

/// For programs compiled with `ONDECK_STATS`: the thread is about to unlock.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_unlocks(lock: *const c_void, what: c_int) {
    if stats::is_on() {
        ENDED.set(hooks::unlocks(lock_of(lock, what), what != ONDECK_STATS_READ));
    }
}

/// For programs compiled with `ONDECK_STATS`: the thread has unlocked, and `goes_on` unless it
/// waits now.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_unlocked(goes_on: c_int) {
    if let Some(ended) = ENDED.take() {
        hooks::unlocked(ended, goes_on != 0);
    }
}

/// Counts the waits for locks from now on. See docs/stats.md.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_enable() {
    stats::enable();
}

/// Stops counting. The numbers stay.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_disable() {
    stats::disable();
}

/// The numbers of a lock. Times are in nanoseconds. A site is the address of an instruction, or
/// null if that is not known.
#[repr(C)]
pub struct LockStats {
    /// Its name; empty if it has none.
    pub name: *const c_char,
    /// Its address.
    pub lock: *const c_void,
    /// Where a thread had to wait first.
    pub site: *const c_void,
    /// Acquisitions that had to wait.
    pub waits: u64,
    /// Waits that ended at a deadline without the lock.
    pub gave_up: u64,
    /// The sum of all waits.
    pub waited: u64,
    /// The median of the waits, or up to an eighth more.
    pub p50: u64,
    /// The wait that one in a hundred exceeds, or up to an eighth more.
    pub p99: u64,
    /// The longest wait.
    pub longest_wait: u64,
    /// The longest hold; 0 if the program is not compiled with `ONDECK_STATS`.
    pub longest_hold: u64,
    /// Where that hold began.
    pub longest_hold_site: *const c_void,
    /// The thread that holds it now, by `pthread_self` of Linux; 0 if that is not known.
    pub holder: usize,
    /// How long it has held it.
    pub held_for: u64,
    /// Threads that wait now.
    pub waiting: u32,
    /// "Mutex", "RwLock" or "Semaphore".
    pub kind: *const c_char,
}

fn pointer(site: Option<Site>) -> *const c_void {
    ptr::without_provenance(site.and_then(Site::address).unwrap_or(0))
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Calls `seen` for each lock that a thread has waited for, with `argument`.
///
/// # Safety
///
/// `seen` may be called with `argument`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_stats_each(
    seen: extern "C" fn(stats: *const LockStats, argument: *mut c_void),
    argument: *mut c_void,
) {
    for lock in stats::snapshot() {
        let kind = match lock.kind {
            LockKind::RwLock => c"RwLock",
            LockKind::Semaphore => c"Semaphore",
            _ => c"Mutex",
        };
        let numbers = LockStats {
            name: lock.name.as_ptr(),
            lock: ptr::without_provenance(lock.address),
            site: pointer(lock.site),
            waits: lock.waits,
            gave_up: lock.gave_up,
            waited: nanos(lock.waited),
            p50: nanos(lock.p50()),
            p99: nanos(lock.p99()),
            longest_wait: nanos(lock.longest_wait),
            longest_hold: nanos(lock.longest_hold),
            longest_hold_site: pointer(lock.longest_hold_site),
            holder: lock.holder.map_or(0, |holder| holder.thread),
            held_for: lock.holder.map_or(0, |holder| nanos(holder.time)),
            waiting: lock.waiting,
            kind: kind.as_ptr(),
        };
        seen(&raw const numbers, argument);
    }
}

/// Copies as much of a text as fits, and a zero byte. Returns its length.
///
/// # Safety
///
/// `buffer` has `size` bytes.
unsafe fn copy(text: &str, buffer: *mut c_char, size: usize) -> usize {
    if let Some(most) = size.checked_sub(1) {
        let length = text.len().min(most);
        // SAFETY: the text has that many bytes, and the buffer one more.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, length);
            buffer.add(length).write(0);
        }
    }
    text.len()
}

/// Writes a line for each lock that a thread has waited for, as snprintf writes: at most `size`
/// bytes with the zero byte. Returns the length of the whole text.
///
/// # Safety
///
/// `buffer` points to `size` bytes; it may be null if that is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_stats_text(buffer: *mut c_char, size: usize) -> usize {
    let mut text = String::new();
    for lock in stats::snapshot() {
        // A String takes all.
        _ = writeln!(text, "{lock}");
    }
    // SAFETY: as the caller promises.
    unsafe { copy(&text, buffer, size) }
}

/// As `ondeck_stats_text`, in the text format of Prometheus.
///
/// # Safety
///
/// As for `ondeck_stats_text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_stats_prometheus(buffer: *mut c_char, size: usize) -> usize {
    let mut text = String::new();
    // A String takes all.
    _ = stats::write_prometheus(&mut text);
    // SAFETY: as the caller promises.
    unsafe { copy(&text, buffer, size) }
}

/// Writes a place of these statistics as snprintf writes: the name of the file that has the
/// instruction and its offset there, for addr2line, or its address if that is not known; "??" for
/// null. Returns the length of the whole text.
///
/// # Safety
///
/// As for `ondeck_stats_text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_stats_site(
    place: *const c_void,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    let text = Site::code(place.addr()).map_or_else(|| "??".to_owned(), |site| site.to_string());
    // SAFETY: as the caller promises.
    unsafe { copy(&text, buffer, size) }
}

/// A long hold of a lock, or a long wait for it.
#[repr(C)]
pub struct Event {
    /// The lock's name; empty if it has none.
    pub name: *const c_char,
    /// The address at which the lock was.
    pub lock: *const c_void,
    /// Where the thread locked it, or waited for it.
    pub site: *const c_void,
    /// After a hold, where a thread waits for it; after a wait, where the thread had locked it that
    /// held it at the beginning. Null if that is not known.
    pub other: *const c_void,
    /// Nanoseconds.
    pub duration: u64,
    /// The warnings of this kind that were not given since the last one.
    pub suppressed: u64,
}

/// A program's function for warnings.
pub type Warned = Option<extern "C" fn(event: *const Event)>;

static HANDLERS: [AtomicPtr<()>; 2] = [const { AtomicPtr::new(ptr::null_mut()) }; 2];

fn tell(of: usize, event: &stats::Event) {
    let handler = HANDLERS[of].load(Ordering::Acquire);
    // SAFETY: null, or a function of this type: see `on_long`.
    let handler = unsafe { core::mem::transmute::<*mut (), Warned>(handler) };
    if let Some(handler) = handler {
        let event = Event {
            name: event.name.as_ptr(),
            lock: ptr::without_provenance(event.address),
            site: pointer(event.site),
            other: pointer(event.other),
            duration: nanos(event.duration),
            suppressed: event.suppressed,
        };
        handler(&raw const event);
    }
}

fn keep(of: usize, nanoseconds: u64, handler: Warned) -> Duration {
    let Some(handler) = handler else { return Duration::MAX };
    HANDLERS[of].store(handler as *mut (), Ordering::Release);
    Duration::from_nanos(nanoseconds)
}

/// Enables statistics, and has `handler` called after a thread has held a lock for `nanoseconds`
/// or longer, when it holds no lock any more. Null ends that. Only in programs compiled with
/// `ONDECK_STATS`; docs/stats.md says when it is not called.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_on_long_hold(nanoseconds: u64, handler: Warned) {
    stats::on_long_hold(keep(0, nanoseconds, handler), |event| tell(0, event));
}

/// As `ondeck_on_long_hold`, for waits of `nanoseconds` or longer.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_on_long_wait(nanoseconds: u64, handler: Warned) {
    stats::on_long_wait(keep(1, nanoseconds, handler), |event| tell(1, event));
}
