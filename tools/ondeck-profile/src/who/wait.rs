//! What a sleeping thread waits for: the system call has the word of memory, the functions that
//! made it say what the word belongs to.

use std::sync::Arc;

use serde::Serialize;

use super::library::Library;
use super::memory::Memory;
use super::thread::Call;
use crate::model::{Frame, Location, Module};
use crate::trim;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A `pthread_mutex_t`, also in `std::mutex` of C++ and `mtx_t`.
    PthreadMutex,
    /// A `pthread_rwlock_t`, to read.
    PthreadRead,
    /// A `pthread_rwlock_t`, to write.
    PthreadWrite,
    /// A `pthread_cond_t`.
    PthreadCondition,
    /// A `sem_t`.
    Semaphore,
    /// A `pthread_barrier_t`.
    Barrier,
    /// The end of another thread.
    Join,
    /// An initialization that another thread is carrying out.
    Once,
    /// A lock inside of the C library: of malloc or of a stream.
    CLibrary,
    /// A `Mutex` of Rust's standard library.
    StdMutex,
    /// A `RwLock` of Rust's standard library.
    StdRwlock,
    /// A `Condvar` of Rust's standard library.
    StdCondition,
    /// `std::thread::park`, on which channels and executors are built.
    StdPark,
    /// A lock of parking_lot.
    ParkingLot,
    /// A condition variable of parking_lot.
    ParkingLotCondition,
    /// A lock of usync.
    Usync,
    /// A lock of saa.
    Saa,
    /// A `Mutex` of abseil.
    Abseil,
    /// A condition variable of abseil.
    AbseilCondition,
    /// A lock of oneTBB.
    Tbb,
    /// A lock of nsync.
    Nsync,
    /// A lock of ondeck.
    Ondeck,
    /// A condition variable of ondeck.
    OndeckCondition,
    /// A lock inside of Go's runtime.
    GoRuntime,
    /// Work or a notification, for which a thread of Go's scheduler waits. Goroutines that wait for
    /// locks have no thread.
    GoIdle,
    /// A futex of which no function is known.
    Futex,
}

impl Kind {
    /// Returns words for a reader.
    pub fn words(self) -> &'static str {
        match self {
            Self::PthreadMutex => "pthread mutex",
            Self::PthreadRead | Self::PthreadWrite => "pthread rwlock",
            Self::PthreadCondition => "pthread condition variable",
            Self::Semaphore => "semaphore",
            Self::Barrier => "barrier",
            Self::Join => "end of a thread",
            Self::Once => "initialization",
            Self::CLibrary => "lock of the C library",
            Self::StdMutex => "std Mutex",
            Self::StdRwlock => "std RwLock",
            Self::StdCondition => "std Condvar",
            Self::StdPark => "thread::park",
            Self::ParkingLot => "parking_lot lock",
            Self::ParkingLotCondition => "parking_lot Condvar",
            Self::Usync => "usync lock",
            Self::Saa => "saa lock",
            Self::Abseil => "absl::Mutex",
            Self::AbseilCondition => "absl::CondVar",
            Self::Tbb => "tbb lock",
            Self::Nsync => "nsync lock",
            Self::Ondeck => "ondeck lock",
            Self::OndeckCondition => "ondeck Condvar",
            Self::GoRuntime => "lock of Go's runtime",
            Self::GoIdle => "work for Go's scheduler",
            Self::Futex => "futex",
        }
    }

    /// Whether a thread keeps what is waited for: a lock, not a notification.
    pub fn is_kept(self) -> bool {
        !matches!(
            self,
            Self::PthreadCondition
                | Self::Semaphore
                | Self::Barrier
                | Self::StdCondition
                | Self::StdPark
                | Self::ParkingLotCondition
                | Self::AbseilCondition
                | Self::OndeckCondition
                | Self::GoIdle
        )
    }

    /// Whether each waiting thread sleeps on a word of its own, so that the lock's address is not
    /// known.
    pub fn sleeps_on_own_word(self) -> bool {
        matches!(
            self,
            Self::ParkingLot
                | Self::ParkingLotCondition
                | Self::Usync
                | Self::Abseil
                | Self::AbseilCondition
                | Self::Nsync
                | Self::Ondeck
                | Self::OndeckCondition
                | Self::StdPark
        )
    }
}

/// Beginnings of functions' names, without underscores in front, and what they wait for. The
/// innermost decides.
const RULES: [(&str, Kind); 48] = [
    ("pthread_mutex_", Kind::PthreadMutex),
    ("mtx_", Kind::PthreadMutex),
    ("pthread_rwlock_rd", Kind::PthreadRead),
    ("pthread_rwlock_tryrd", Kind::PthreadRead),
    ("pthread_rwlock_timedrd", Kind::PthreadRead),
    ("pthread_rwlock_clockrd", Kind::PthreadRead),
    ("pthread_rwlock_", Kind::PthreadWrite),
    ("pthread_cond_", Kind::PthreadCondition),
    ("cnd_", Kind::PthreadCondition),
    ("std::condition_variable", Kind::PthreadCondition),
    ("std::_V2::condition_variable", Kind::PthreadCondition),
    ("std::__1::condition_variable", Kind::PthreadCondition),
    ("sem_", Kind::Semaphore),
    ("new_sem_", Kind::Semaphore),
    ("pthread_barrier_", Kind::Barrier),
    ("pthread_join", Kind::Join),
    ("pthread_timedjoin", Kind::Join),
    ("pthread_clockjoin", Kind::Join),
    ("thrd_join", Kind::Join),
    ("pthread_once", Kind::Once),
    ("std::sys::sync::mutex::", Kind::StdMutex),
    ("std::sys::sync::rwlock::", Kind::StdRwlock),
    ("std::sys::sync::condvar::", Kind::StdCondition),
    ("std::sys::sync::once::", Kind::Once),
    ("std::sys::sync::thread_parking::", Kind::StdPark),
    ("parking_lot::condvar::", Kind::ParkingLotCondition),
    ("parking_lot::raw_condvar::", Kind::ParkingLotCondition),
    ("parking_lot::", Kind::ParkingLot),
    ("usync::", Kind::Usync),
    ("saa::", Kind::Saa),
    ("absl::CondVar", Kind::AbseilCondition),
    ("absl::Mutex::Lock", Kind::Abseil),
    ("absl::Mutex::ReaderLock", Kind::Abseil),
    ("absl::Mutex::Await", Kind::Abseil),
    ("tbb::", Kind::Tbb),
    ("nsync_", Kind::Nsync),
    ("nsync::", Kind::Nsync),
    ("ondeck::condvar::", Kind::OndeckCondition),
    ("ondeck::mutex::", Kind::Ondeck),
    ("ondeck::rwlock::", Kind::Ondeck),
    ("ondeck::fair::", Kind::Ondeck),
    ("ondeck::pi::", Kind::Ondeck),
    ("runtime.lock", Kind::GoRuntime),
    ("runtime.note", Kind::GoIdle),
    ("runtime.mPark", Kind::GoIdle),
    ("runtime.stopm", Kind::GoIdle),
    ("runtime.sysmon", Kind::GoIdle),
    ("runtime.usleep", Kind::GoIdle),
];

/// Parts of the paths of sources, for inlined functions that have lost the names of their modules.
const RULES_OF_SOURCES: [(&str, &str, Kind); 5] = [
    ("/ondeck/src/condvar/", ".rs", Kind::OndeckCondition),
    ("/ondeck/src/mutex/", ".rs", Kind::Ondeck),
    ("/ondeck/src/rwlock/", ".rs", Kind::Ondeck),
    ("/parking_lot-", "condvar.rs", Kind::ParkingLotCondition),
    ("/parking_lot-", ".rs", Kind::ParkingLot),
];

/// A function's name without what differs between builds: underscores and the marks of glibc's
/// internal names, the inline namespace of an abseil release, the brackets of a Rust
/// implementation, the shim's own names.
fn plain(function: &str) -> String {
    let name = function.trim_start_matches('<').trim_start_matches("__GI_").trim_start_matches('_');
    if let Some((release, rest)) =
        name.strip_prefix("absl::").and_then(|inside| inside.split_once("::"))
        && release.ends_with(|last: char| last.is_ascii_digit())
    {
        return format!("absl::{rest}");
    }
    match name.strip_prefix("ondeck_preload_") {
        Some(own) if ["sem_", "mtx_", "cnd_"].iter().any(|start| own.starts_with(start)) => {
            own.to_owned()
        }
        Some(own) => format!("pthread_{own}"),
        None => name.to_owned(),
    }
}

fn kind_of(frame: &Frame) -> Option<Kind> {
    let name = plain(&frame.function);
    let by_name = RULES.iter().find(|(start, _)| name.starts_with(start)).map(|(_, kind)| *kind);
    by_name.or_else(|| {
        let file = frame.file.as_ref()?;
        let of_source =
            |(part, end, _): &&(&str, &str, Kind)| file.contains(part) && file.ends_with(end);
        RULES_OF_SOURCES.iter().find(of_source).map(|(.., kind)| *kind)
    })
}

/// The operations of futex(2), without their flags (linux/futex.h).
mod operation {
    pub const WAIT: u64 = 0;
    pub const LOCK_PI: u64 = 6;
    pub const WAIT_BITSET: u64 = 9;
    pub const WAIT_REQUEUE_PI: u64 = 11;
    pub const LOCK_PI2: u64 = 13;
    pub const COMMAND: u64 = 0x7f;
    pub const PRIVATE: u64 = 0x80;
}

/// A wait in futex(2).
#[derive(Clone, Copy, Debug)]
pub struct Futex {
    pub word: u64,
    pub kind: Kind,
    /// Whether it ends at a deadline.
    pub is_timed: bool,
}

/// Returns whether a word is the number in glibc's `struct pthread`, which begins with its own
/// address. The words of locks of several processes are not private either.
fn is_of_thread(memory: &Memory, word: u64) -> bool {
    /// On x86-64 (`nptl/descr.h`).
    const TID: u64 = 720;
    let start = word.checked_sub(TID);
    !cfg!(target_arch = "x86_64") || start.is_some_and(|start| memory.word(start) == Some(start))
}

/// Returns the futex at which a thread waits; `None` if it sleeps in another call.
pub fn futex(
    memory: &Memory,
    call: &Call,
    stack: &[Arc<Location>],
    modules: &[Module],
    library: Library,
) -> Option<Futex> {
    if call.number != Some(libc::SYS_futex) {
        return None;
    }
    let [word, flags, expected, timeout, ..] = call.arguments;
    let command = flags & operation::COMMAND;
    let is_wait = matches!(
        command,
        operation::WAIT
            | operation::WAIT_BITSET
            | operation::LOCK_PI
            | operation::LOCK_PI2
            | operation::WAIT_REQUEUE_PI
    );
    if !is_wait {
        return None;
    }
    let own = &stack[..site(stack, modules).unwrap_or(stack.len())];
    let frames = || own.iter().flat_map(|location| &location.frames);
    // The value with which glibc's low-level locks are waited for: locked, with waiters.
    let is_low_level = library == Library::Glibc && command == operation::WAIT && expected == 2;
    let mut kinds = frames().filter_map(kind_of);
    // The shim's functions are made of ondeck's.
    let kind = if library == Library::Ondeck { kinds.next_back() } else { kinds.next() };
    let kind = match kind {
        // After its notification, a thread locks the mutex again.
        Some(Kind::PthreadCondition) if is_low_level => Kind::PthreadMutex,
        None if matches!(command, operation::LOCK_PI | operation::LOCK_PI2) => Kind::PthreadMutex,
        // The kernel wakes at the end of a thread, and knows nothing of private words.
        None if flags & operation::PRIVATE == 0 && is_of_thread(memory, word) => Kind::Join,
        None if is_low_level && own.iter().all(|one| is_of_system(one, modules)) => Kind::CLibrary,
        None => Kind::Futex,
        Some(kind) => kind,
    };
    Some(Futex { word, kind, is_timed: timeout != 0 })
}

/// Returns the outermost function of a lock's own: the one that the program called.
pub fn entry(stack: &[Arc<Location>], modules: &[Module]) -> Option<String> {
    let own = &stack[..site(stack, modules)?];
    let frames = own.iter().flat_map(|location| &location.frames);
    let mut named = frames.filter(|frame| !frame.is_offset());
    named.next_back().map(|frame| frame.function.clone())
}

/// The beginnings of the names of libraries that no reader means by "the program".
const SYSTEM: [&str; 11] = [
    "libc.so",
    "libc-2",
    "libpthread",
    "ld-linux",
    "ld-musl",
    "libstdc++",
    "libc++",
    "libtbb",
    "libabsl",
    "libnsync",
    "libondeck",
];

fn is_of_system(location: &Location, modules: &[Module]) -> bool {
    location.module.is_some_and(|module| {
        let module = &modules[module];
        let name = module.path.file_name().unwrap_or_default().to_string_lossy();
        SYSTEM.iter().any(|start| name.starts_with(start) || module.soname.starts_with(start))
    })
}

/// Beginnings of functions, in programs that contain their libraries.
const LIBRARY: [&str; 19] = [
    "parking_lot_core::",
    "usync::",
    "saa::",
    "absl::",
    "AbslInternal",
    "tbb::",
    "nsync",
    "runtime.",
    "sync.(*",
    "sync.runtime_",
    "internal/",
    "syscall",
    "futex",
    "lll_",
    "timedwait",
    "clock_nanosleep",
    "nanosleep",
    "start_thread",
    "libc_start",
];

/// The whole names of functions that start a program or a thread.
const STARTS: [&str; 3] = ["start", "start_c", "clone"];

/// Parts of the paths of libraries' sources.
const SOURCES: [&str; 5] =
    ["/ondeck/src/", "/parking_lot-", "/parking_lot_core-", "/lock_api-", "/usync-"];

fn is_of_library(frame: &Frame) -> bool {
    let name = plain(&frame.function);
    kind_of(frame).is_some()
        || frame.is_of_language()
        || trim::is_ours(frame)
        || STARTS.contains(&&*name)
        || LIBRARY.iter().any(|start| name.starts_with(start))
        || frame.file.as_ref().is_some_and(|file| SOURCES.iter().any(|part| file.contains(part)))
}

/// Returns the first location of a stack that is the program's: the call of a lock, or of a
/// library's function. Prefers one whose line is known, because the functions of a C library that
/// is part of the program have no lines. A function with a scope in its name is none of these.
pub fn site(stack: &[Arc<Location>], modules: &[Module]) -> Option<usize> {
    let is_own = |location: &Arc<Location>| {
        !is_of_system(location, modules) && !location.frames.iter().all(is_of_library)
    };
    let with_line = |location: &Arc<Location>| {
        is_own(location)
            && location.frames.iter().any(|one| one.file.is_some() && !is_of_library(one))
    };
    let has_scope = |location: &Arc<Location>| {
        is_own(location) && location.frames.iter().any(|one| one.function.contains("::"))
    };
    let first = stack.iter().position(is_own)?;
    let line = stack.iter().position(with_line);
    let line = line.filter(|line| !stack[first..*line].iter().any(has_scope));
    Some(line.unwrap_or(first))
}

/// Returns the functions of the program, innermost first: the call site and its callers. Of a stack
/// that has none, all.
pub fn callers(stack: &[Arc<Location>], modules: &[Module]) -> Vec<Frame> {
    let all = || stack.iter().flat_map(|location| location.frames.clone()).collect();
    site(stack, modules).map_or_else(all, |site| {
        let own = stack[site..].iter().filter(|location| !is_of_system(location, modules));
        let frames = own.flat_map(|location| &location.frames);
        frames.filter(|frame| !is_of_library(frame)).cloned().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_is_the_first_with_a_line_behind_functions_of_c_only() {
        let location = |name: &str| {
            let (function, file) = name.split_once('@').unwrap_or((name, ""));
            let file = (!file.is_empty()).then(|| file.to_owned());
            let line = file.is_some().then_some(1);
            let frame = Frame { function: function.to_owned(), file, line };
            Arc::new(Location { address: 1, module: None, frames: vec![frame] })
        };
        let first = |names: &[&str]| {
            let stack: Vec<_> = names.iter().copied().map(location).collect();
            callers(&stack, &[])[0].function.clone()
        };
        // Of a static program, whose C library has no lines.
        assert_eq!(first(&["__libc_read", "take@app.c", "main@app.c"]), "take");
        // Of a program that is built without lines, around a library that has them.
        assert_eq!(first(&["__lll_lock_wait", "v8::Wake", "uv_run@core.c"]), "v8::Wake");
        assert_eq!(first(&["take", "main"]), "take");
    }
}
