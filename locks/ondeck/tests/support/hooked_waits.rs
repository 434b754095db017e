//! The waits of a test's threads for each other, and the moment at which none of them can end.
//!
//! A thread that waits says for what. So a test in which every thread waits ends at once, and names
//! each wait, instead of a minute later.

use std::fs;
use std::io::{self, Write};
use std::panic::Location;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::watchdog;

/// The waits of a thread.
struct Waits {
    name: String,
    /// The thread's number in the kernel.
    number: i32,
    now: Mutex<Option<(String, &'static Location<'static>)>>,
    /// The number of times that the thread has checked whether its wait is over.
    checks: AtomicU64,
    /// The number of waits that have begun or ended, and of changes of a clock that may end one.
    changes: AtomicU64,
}

static ALL: Mutex<Vec<Weak<Waits>>> = Mutex::new(Vec::new());

std::thread_local! {
    static OWN: Arc<Waits> = {
        let name = thread::current().name().unwrap_or("a thread").to_owned();
        // SAFETY: it has no preconditions.
        let number = unsafe { libc::gettid() };
        let (now, checks, changes) = (Mutex::new(None), AtomicU64::new(0), AtomicU64::new(0));
        let own = Arc::new(Waits { name, number, now, checks, changes });
        ALL.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&own));
        own
    };
}

/// Whether a wait is over.
pub enum Turn<T> {
    Ends(T),
    /// Not yet, but a clock has advanced that may end it.
    Passes,
    Waits,
}

/// Takes turns until the wait is over. `what` the thread awaits, a report says if no thread can end
/// it.
#[track_caller]
pub fn until_ended<T>(what: impl FnOnce() -> String, mut turn: impl FnMut() -> Turn<T>) -> T {
    if let Turn::Ends(value) = turn() {
        return value;
    }
    let (own, place) = (OWN.with(Arc::clone), Location::caller());
    let set = |now| {
        *own.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
        own.changes.fetch_add(1, Ordering::SeqCst);
    };
    set(Some((what(), place)));
    loop {
        let turn = turn();
        own.checks.fetch_add(1, Ordering::SeqCst);
        match turn {
            Turn::Ends(value) => {
                set(None);
                return value;
            }
            Turn::Passes => _ = own.changes.fetch_add(1, Ordering::SeqCst),
            Turn::Waits => (),
        }
    }
}

/// Waits until another thread has made the condition true.
#[track_caller]
pub fn until(mut condition: impl FnMut() -> bool) {
    let turn = || {
        if condition() {
            return Turn::Ends(());
        }
        thread::yield_now();
        Turn::Waits
    };
    until_ended(|| "another thread".to_owned(), turn);
}

/// A thread as a sample finds it.
struct Sampled {
    number: i32,
    /// Of a thread that says for what it waits.
    waits: Option<Arc<Waits>>,
    checks: u64,
    /// Changes whenever the thread has done something else than to wait.
    changes: u64,
}

/// Returns all threads but the caller and those that watch tests, if none of them runs and there is
/// a test.
fn sample() -> Option<Vec<Sampled>> {
    let known: Vec<Arc<Waits>> = {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|waits| waits.strong_count() != 0);
        all.iter().filter_map(Weak::upgrade).collect()
    };
    // SAFETY: it has no preconditions.
    let own = unsafe { libc::gettid() };
    let (mut sampled, mut is_test) = (Vec::new(), false);
    for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
        let number = thread.file_name().to_str()?.parse().ok()?;
        let read = |file| fs::read_to_string(thread.path().join(file));
        let watches = read("comm").ok()?.trim() == watchdog::NAME;
        is_test |= watches;
        if watches || number == own {
            continue;
        }
        let waits = known.iter().find(|waits| waits.number == number);
        let is_waiting = |waits: &&Arc<Waits>| {
            waits.now.lock().unwrap_or_else(PoisonError::into_inner).is_some()
        };
        if let Some(waits) = waits.filter(is_waiting) {
            let [checks, changes] =
                [&waits.checks, &waits.changes].map(|count| count.load(Ordering::SeqCst));
            sampled.push(Sampled { number, waits: Some(Arc::clone(waits)), checks, changes });
            continue;
        }
        if !read("stat").ok()?.contains(") S ") {
            return None;
        }
        // The number of times that it was given a CPU.
        let changes = read("schedstat").ok()?.split_whitespace().nth(2)?.parse().ok()?;
        sampled.push(Sampled { number, waits: None, checks: 0, changes });
    }
    is_test.then_some(sampled)
}

/// Returns whether no thread has done anything between the two samples but to check again, twice at
/// least, whether its wait is over.
fn nothing_happened(before: &[Sampled], after: &[Sampled]) -> bool {
    before.len() == after.len()
        && before.iter().zip(after).all(|(before, after)| {
            (before.number, before.changes) == (after.number, after.changes)
                && before.waits.is_some() == after.waits.is_some()
                && (after.waits.is_none() || after.checks >= before.checks + 2)
        })
}

/// Ends the process as soon as each of its threads waits for another.
pub fn watch() {
    /// Longer than any test sleeps by the clock.
    const PAUSE: Duration = Duration::from_secs(2);
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        _ = thread::spawn(|| {
            let mut before = sample();
            loop {
                thread::sleep(PAUSE);
                let after = sample();
                if let (Some(before), Some(after)) = (&before, &after)
                    && nothing_happened(before, after)
                {
                    report(after);
                    watchdog::end("hung: every thread waits for another");
                }
                before = after;
            }
        });
    });
}

/// Writes what each thread awaits.
fn report(threads: &[Sampled]) {
    for thread in threads {
        let Some(waits) = &thread.waits else { continue };
        let now = waits.now.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((what, place)) = &*now else { continue };
        // Paths are relative to the workspace.
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(place.file());
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().nth(place.line() as usize - 1).unwrap_or_default().trim();
        let _ = writeln!(io::stderr(), "{} awaits {what} at {place}: {line}", waits.name);
    }
}
