//! Names and statistics of `ondeck_mutex_t`: crate `ondeck` counts, and this file converts.

use core::ffi::{c_char, c_int, c_void};
use core::fmt::Write;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use core::time::Duration;
use std::cell::Cell;

use ondeck::stats::hooks::{self, Ended, Wait};
use ondeck::stats::{self, Site};

use crate::deadline;
use crate::mutex::{Mutex, raw};
use crate::names;

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

std::thread_local! {
    /// Between `ondeck_stats_unlocks` and `ondeck_stats_unlocked`.
    static ENDED: Cell<Option<Ended>> = const { Cell::new(None) };
}

/// For programs compiled with `ONDECK_STATS`: `ondeck_mutex_clocklock`, or `ondeck_mutex_lock` if
/// `deadline` is null, called at the instruction `site`.
///
/// # Safety
///
/// As for the two.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_stats_lock(
    mutex: *mut Mutex,
    clock: c_int,
    deadline: *const libc::timespec,
    site: *const c_void,
) -> c_int {
    // SAFETY: as the caller promises.
    let raw = unsafe { raw(mutex) };
    let mut wait = None;
    let error = if deadline.is_null() {
        if !raw.try_lock() {
            wait = names::waits(mutex.addr(), site);
            raw.lock_after_attempt(None);
        }
        0
    } else {
        let until = |until| {
            // Once, although the wait may be in parts.
            wait = wait.take().or_else(|| names::waits(mutex.addr(), site));
            raw.lock_after_attempt(Some(until))
        };
        // SAFETY: as the caller promises.
        unsafe { deadline::acquire(clock, deadline, || raw.try_lock(), until) }
    };
    if error == 0 {
        acquired(mutex, site, wait);
    } else if let Some(wait) = wait {
        wait.gave_up();
    }
    error
}

fn acquired(mutex: *const Mutex, site: *const c_void, wait: Option<Wait>) {
    if stats::is_on() {
        hooks::acquired(names::lock_of(mutex.addr()), true, Site::code(site.addr()), wait);
    }
}

/// For programs compiled with `ONDECK_STATS`: the thread has locked the mutex without waiting for
/// it.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_acquired(mutex: *const Mutex, site: *const c_void) {
    acquired(mutex, site, None);
}

/// For programs compiled with `ONDECK_STATS`: the thread is about to unlock the mutex.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_unlocks(mutex: *const Mutex) {
    if stats::is_on() {
        ENDED.set(hooks::unlocks(names::lock_of(mutex.addr()), true));
    }
}

/// For programs compiled with `ONDECK_STATS`: the thread has unlocked the mutex, and `goes_on`
/// unless it waits now.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_unlocked(goes_on: c_int) {
    if let Some(ended) = ENDED.take() {
        hooks::unlocked(ended, goes_on != 0);
    }
}

/// Counts the waits for mutexes from now on. See docs/stats.md.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_enable() {
    stats::enable();
}

/// Stops counting. The numbers stay.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_stats_disable() {
    stats::disable();
}

/// The numbers of a mutex. Times are in nanoseconds. A site is the address of an instruction, or
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
}

fn pointer(site: Option<Site>) -> *const c_void {
    ptr::without_provenance(site.and_then(Site::address).unwrap_or(0))
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Calls `seen` for each mutex that a thread has waited for, with `argument`.
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

/// Writes a line for each mutex that a thread has waited for, as snprintf writes: at most `size`
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

/// A long hold of a mutex, or a long wait for it.
#[repr(C)]
pub struct Event {
    /// The mutex's name; empty if it has none.
    pub name: *const c_char,
    /// The address at which the mutex was.
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

/// Enables statistics, and has `handler` called after a thread has held a mutex for `nanoseconds`
/// or longer, when it holds no mutex any more. Null ends that. Only in programs compiled with
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
