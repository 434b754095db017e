//! Turns a hang into a failure: these tests are about wakes that must not be lost. Before the
//! process ends, it prints the panics so far and the stack of each thread.

use std::io::{self, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

/// Ends the process if it is not dropped in time, counted from its start or from the last progress.
pub struct Watchdog {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    done: AtomicBool,
    /// The time is nearly over.
    hurries: AtomicBool,
    progress: AtomicU64,
}

/// A time that is counted in polls does not pass while the process, or its machine, is stopped.
const POLL: Duration = Duration::from_millis(20);

/// The name of the threads that only watch others.
pub const NAME: &str = "watchdog";

/// The panics of this process. The test harness keeps what a test prints to itself until the test
/// has ended.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Watchdog {
    /// `limit` is not a bound on speed: it is long enough that only a lost wake exceeds it.
    pub fn start(what: &str, limit: Duration) -> Self {
        note_panics();
        let shared = Arc::new(Shared::default());
        // Miri itself reports that every thread waits, and reports a thread that outlives the main
        // one as a mistake.
        if cfg!(miri) {
            return Self { shared };
        }
        let (watched, what) = (Arc::clone(&shared), what.to_owned());
        let watch = move || {
            let (mut waited, mut before) = (Duration::ZERO, 0);
            while !watched.done.load(Ordering::Relaxed) {
                let progress = watched.progress.load(Ordering::Relaxed);
                if progress != before {
                    (waited, before) = (Duration::ZERO, progress);
                }
                let limit = if watched.hurries.load(Ordering::Relaxed) { limit / 8 } else { limit };
                if waited > limit {
                    end(&format!("hung: {what} did not end in {limit:?}"));
                }
                thread::sleep(POLL);
                waited += POLL;
            }
        };
        thread::Builder::new().name(NAME.to_owned()).spawn(watch).expect("there are threads");
        Self { shared }
    }

    /// Records a step of progress.
    #[allow(dead_code, reason = "most tests are over in a moment")]
    pub fn progress(&self) {
        self.shared.progress.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.done.store(true, Ordering::Relaxed);
    }
}

/// As [`thread::scope`], which waits for its threads even if they wait for one that has panicked.
/// This function ends the process in that case.
#[allow(dead_code, reason = "not every program of tests has scopes that may hang")]
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope thread::Scope<'scope, 'env>) -> T,
{
    scope_within(Duration::from_mins(2), body)
}

/// As [`scope`], with a limit as for [`Watchdog::start`].
#[allow(dead_code, reason = "the same")]
pub fn scope_within<'env, F, T>(limit: Duration, body: F) -> T
where
    F: for<'scope> FnOnce(&'scope thread::Scope<'scope, 'env>) -> T,
{
    struct Hurry<'a>(&'a Shared);
    impl Drop for Hurry<'_> {
        fn drop(&mut self) {
            self.0.hurries.store(thread::panicking(), Ordering::Relaxed);
        }
    }
    let name = thread::current().name().unwrap_or("a thread").to_owned();
    let watchdog = Watchdog::start(&format!("a scope of {name}"), limit);
    thread::scope(|scope| {
        let _hurry = Hurry(&watchdog.shared);
        body(scope)
    })
}

/// Records all panics from now on, including expected ones.
fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let name = thread::current().name().unwrap_or("a thread").to_owned();
            let mut panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
            panics.push(format!("{name}: {panic}"));
            drop(panics);
            others(panic);
        }));
    });
}

/// Ends the process.
pub fn end(why: &str) -> ! {
    // Not by `eprintln!`: the harness would capture the text, and end.
    let _ = writeln!(io::stderr(), "{why}");
    let panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    for panic in panics.iter().rev().take(8) {
        let _ = writeln!(io::stderr(), "a panic before that: {panic}");
    }
    #[cfg(target_os = "linux")]
    positions::print();
    std::process::abort();
}

#[cfg(target_os = "linux")]
mod positions {
    //! The stack of each thread, which prints it on a signal.

    use std::backtrace::Backtrace;
    use std::fs;
    use std::io::{self, Write};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;
    use std::time::Duration;

    static SAID: AtomicU32 = AtomicU32::new(0);

    /// Not async-signal-safe: the thread may be in the allocator. In that case it prints nothing,
    /// and the process still ends.
    extern "C" fn say(_signal: libc::c_int) {
        let trace = Backtrace::force_capture().to_string();
        let lines: Vec<&str> = trace.lines().map(str::trim).collect();
        let frames = lines.windows(2).filter(|pair| {
            let name =
                pair[0].split_once(": ").map_or("", |(_, name)| name.trim_start_matches('<'));
            let others = [
                "std::",
                "core::",
                "alloc::",
                "test::",
                "_",
                "clone",
                "start_thread",
                "syscall",
                "unknown",
            ];
            !name.is_empty() && !others.iter().any(|other| name.starts_with(other))
        });
        let frames: Vec<String> = frames
            .filter(|pair| !pair[0].contains("say") && !pair[1].starts_with("at /rustc/"))
            .map(|pair| match pair[1].strip_prefix("at ") {
                Some(place) => format!("  {} at {place}\n", pair[0]),
                None => format!("  {}\n", pair[0]),
            })
            .collect();
        let thread = thread::current();
        let name = thread.name().unwrap_or("a thread");
        let _ = writeln!(io::stderr(), "{name} is at\n{}", frames.concat());
        SAID.fetch_add(1, Ordering::SeqCst);
    }

    /// Prints them, one thread after the other.
    pub fn print() {
        let handler: extern "C" fn(libc::c_int) = say;
        // SAFETY: see `say`.
        unsafe { libc::signal(libc::SIGUSR2, handler as libc::sighandler_t) };
        let Ok(threads) = fs::read_dir("/proc/self/task") else { return };
        // SAFETY: it has no preconditions.
        let own = unsafe { libc::gettid() };
        let numbers =
            threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse().ok());
        for number in numbers.filter(|&number: &libc::pid_t| number != own) {
            let before = SAID.load(Ordering::SeqCst);
            // SAFETY: a signal to a thread of this process, or to none.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), number, libc::SIGUSR2) };
            // The first one reads the program's debugging information. A thread inside the
            // allocator does not answer.
            for _ in 0..2_000 {
                if SAID.load(Ordering::SeqCst) != before {
                    break;
                }
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
}
