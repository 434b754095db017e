//! What an observed futex is, by the functions that wait there.
//!
//! The recorder sees a word and a stack. The innermost functions of the stack belong to the lock,
//! and the outermost of those names the library whose lock it is.

use std::sync::Arc;

use crate::model::{Frame, Kind, Location};

/// A library of locks: how its functions are called, and where inlined ones come from.
struct Library {
    kind: Kind,
    names: &'static [&'static str],
    sources: &'static [&'static str],
}

const LIBRARIES: [Library; 9] = [
    Library {
        kind: Kind::ParkingLot,
        names: &["parking_lot::", "parking_lot_core::"],
        sources: &["/parking_lot-0.", "/parking_lot_core-0."],
    },
    Library { kind: Kind::Usync, names: &["usync::"], sources: &["/usync-0."] },
    Library { kind: Kind::Saa, names: &["saa::"], sources: &["/saa-"] },
    Library {
        kind: Kind::Std,
        names: &["std::sys::", "std::sync::", "std::thread::"],
        sources: &["/library/std/src/sys/", "/library/std/src/sync/", "/library/std/src/thread/"],
    },
    Library {
        kind: Kind::Abseil,
        names: &[
            "absl::Mutex",
            "absl::CondVar",
            "absl::ReleasableMutexLock",
            "absl::ReaderMutexLock",
            "absl::WriterMutexLock",
            "absl::Notification",
            "absl::BlockingCounter",
            "absl::Barrier",
            "absl::synchronization_internal::",
            "absl::base_internal::",
            "AbslInternal",
            // Without symbols.
            "libabsl_synchronization.",
            "libabsl_base.",
        ],
        sources: &["/absl/synchronization/", "/absl/base/internal/"],
    },
    Library {
        kind: Kind::Tbb,
        names: &["tbb::detail::"],
        sources: &["/oneapi/tbb/detail/", "/oneapi/tbb/mutex.h", "/oneapi/tbb/rw_mutex.h"],
    },
    Library {
        kind: Kind::Go,
        names: &[
            "runtime.",
            "internal/runtime/",
            "internal/sync.",
            "sync.(*",
            "sync.runtime_",
            "syscall.",
        ],
        sources: &[],
    },
    // A C library that is part of the program: see `of_c`.
    Library {
        kind: Kind::Futex,
        names: &[
            "pthread_",
            "__pthread_",
            "___pthread_",
            "__GI___pthread_",
            "sem_wait",
            "sem_timedwait",
            "sem_clockwait",
            "sem_post",
            "__new_sem_",
            "mtx_",
            "cnd_",
            "__lll_lock_",
            "__futex_abstimed_",
            "__futex_lock_pi",
            "__timedwait",
            "__syscall_cp",
            "sccp",
            "__wait",
            "__wake",
            "__lock",
            "__unlock",
            "unlock_requeue",
            "__tl_",
            "syscall",
            "libc.so+",
            "ld-musl-",
        ],
        sources: &[],
    },
    // Of libstdc++: std::atomic::wait, semaphores, latches and barriers.
    Library {
        kind: Kind::Futex,
        names: &["std::__detail::__platform_", "std::__atomic_", "std::this_thread::yield"],
        sources: &["/bits/atomic_wait.h", "/bits/semaphore_base.h"],
    },
];

/// Wrappers that stand in front of a name.
const WRAPPERS: [&str; 5] = [
    "<",
    "core::ptr::drop_in_place<",
    "core::ptr::drop_glue<",
    "drop_in_place<",
    "core::mem::drop<",
];

/// Parts of functions that wait for a notification, and not for a lock.
const NOTICES: [&str; 18] = [
    "ondvar",
    "CondVar",
    "AwaitCommon",
    "std::thread::",
    "thread::park",
    "mpsc",
    "mpmc",
    "Barrier",
    "barrier",
    "Notification",
    "BlockingCounter",
    "semaphore",
    "__platform_wait",
    "__atomic_wait",
    "concurrent_monitor",
    "binary_semaphore",
    "pthread_join",
    "timedjoin",
];

/// Functions of C libraries without underscores in front, and what they wait for.
const OF_C: [(&str, Kind); 8] = [
    ("pthread_mutex_", Kind::Pthread),
    ("mtx_", Kind::Pthread),
    ("pthread_rwlock_", Kind::PthreadRwlock),
    ("pthread_cond_", Kind::Condvar),
    ("cnd_", Kind::Condvar),
    ("sem_", Kind::Semaphore),
    ("new_sem_", Kind::Semaphore),
    ("pthread_barrier_", Kind::Barrier),
];

fn of_c(frame: &Frame) -> Option<Kind> {
    let name = frame.function.trim_start_matches('_').trim_start_matches("GI_");
    let name = name.trim_start_matches('_');
    OF_C.iter().find(|(start, _)| name.starts_with(start)).map(|(_, kind)| *kind)
}

/// Only musl has functions of these names that sleep, and a library of these, which may have no
/// symbols.
fn is_musl(frame: &Frame) -> bool {
    let mut starts = ["__timedwait", "libc.so+", "ld-musl-"].iter();
    starts.any(|start| frame.function.starts_with(start)) || frame.function == "__wait"
}

/// A name without what stands in front of it. Debian's abseil has a namespace of its own in its
/// namespace.
fn plain(function: &str) -> String {
    let mut name = function;
    while let Some(rest) = WRAPPERS.iter().find_map(|start| name.strip_prefix(start)) {
        name = rest;
    }
    match name.strip_prefix("absl::").and_then(|rest| rest.split_once("::")) {
        Some((version, rest)) if version.starts_with("debian") || version.starts_with("lts_") => {
            format!("absl::{rest}")
        }
        _ => name.to_owned(),
    }
}

fn library_of(frame: &Frame) -> Option<&'static Library> {
    let name = plain(&frame.function);
    LIBRARIES.iter().find(|library| {
        library.names.iter().any(|start| name.starts_with(start))
            || frame
                .file
                .as_ref()
                .is_some_and(|file| library.sources.iter().any(|part| file.contains(part)))
    })
}

/// Returns whether a function belongs to a lock of another library.
pub(crate) fn is_of_lock(frame: &Frame) -> bool {
    library_of(frame).is_some()
}

/// Returns whether a stack of Go unlocks.
pub(crate) fn unlocks_in_go(stack: &[Arc<Location>]) -> bool {
    let mut frames = stack.iter().flat_map(|location| &location.frames);
    frames.any(|frame| {
        let is_of_go = library_of(frame).is_some_and(|library| library.kind == Kind::Go);
        is_of_go && (frame.function.contains("nlock") || frame.function.contains("Semrelease"))
    })
}

/// What waits at a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nature {
    pub(crate) kind: Kind,
    /// Whether it waits for a notification.
    pub(crate) is_notice: bool,
    /// Whether the word belongs to the waiting thread, and not to the lock.
    pub(crate) is_of_thread: bool,
}

/// Returns what waits, of the kind that was seen, with this stack, whose part without the lock's
/// functions is `user`.
pub(crate) fn nature(seen: Kind, stack: &[Arc<Location>], user: &[Arc<Location>]) -> Nature {
    let frames = |stack: &[Arc<Location>]| -> Vec<Frame> {
        stack.iter().flat_map(|location| location.frames.iter().cloned()).collect()
    };
    let all = frames(stack);
    let mut own = &all[..all.len().saturating_sub(frames(user).len())];
    if own.is_empty() && all.first().is_some_and(is_of_lock) {
        // A thread of a library, with nothing of the program on its stack.
        own = &all;
    }
    let library = own.iter().rev().find_map(library_of).map(|library| library.kind);
    let in_c = own.iter().find_map(of_c);
    let kind = match library {
        Some(kind) if kind != Kind::Futex => kind,
        _ if seen != Kind::Futex => seen,
        _ if own.iter().any(is_musl) => Kind::Musl,
        _ => in_c.unwrap_or(seen),
    };
    let has = |part: &str| own.iter().any(|frame| frame.function.contains(part));
    let is_parked = kind == Kind::Std && (has("thread::park") || has("std::thread::"));
    let is_of_thread = seen == Kind::Yield
        || matches!(kind, Kind::ParkingLot | Kind::Abseil | Kind::Usync | Kind::Saa | Kind::Tbb)
        || kind == Kind::Go && !has("runtime.lock")
        || is_parked;
    let is_notice = match kind {
        Kind::Yield => true,
        // Their mutexes park threads as the standard library's functions do.
        Kind::Usync | Kind::Saa => has("ondvar") || has("barrier") || has("Barrier"),
        // A thread without work; or it has left a goroutine that waits for a lock, and is woken for
        // that.
        Kind::Go => !["sync.(*Mutex)", "sync.(*RWMutex)", "runtime.lock"].into_iter().any(has),
        // Its name has the word.
        Kind::ParkingLot => has("ondvar"),
        _ => in_c.is_some_and(Kind::is_notice) || NOTICES.iter().any(|part| has(part)),
    };
    Nature { kind, is_notice, is_of_thread }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(functions: &[&str]) -> Nature {
        let frame = |name: &str| Frame { function: name.to_owned(), file: None, line: None };
        let location = |name: &&str| {
            Arc::new(Location { address: 1, module: None, frames: vec![frame(name)] })
        };
        let stack: Vec<_> = functions.iter().chain(&["work", "main"]).map(location).collect();
        nature(Kind::Futex, &stack, &stack[functions.len()..])
    }

    #[test]
    fn a_thread_without_the_program_on_its_stack_is_of_its_library() {
        let location = |name: &str| {
            let frame = Frame { function: name.to_owned(), file: None, line: None };
            Arc::new(Location { address: 1, module: None, frames: vec![frame] })
        };
        let stack = ["runtime.futex", "runtime.findRunnable", "runtime.mstart"].map(location);
        let found = nature(Kind::Futex, &stack, &stack);
        assert_eq!(found, Nature { kind: Kind::Go, is_notice: true, is_of_thread: true });
    }

    #[test]
    fn the_outermost_function_of_a_lock_names_its_library() {
        let lock = |kind, is_of_thread| Nature { kind, is_notice: false, is_of_thread };
        let notice = |kind, is_of_thread| Nature { kind, is_notice: true, is_of_thread };
        for (functions, expected) in [
            (
                &[
                    "std::sys::pal::unix::futex::futex_wait",
                    "<std::sys::sync::mutex::futex::Mutex>::lock_contended",
                ][..],
                lock(Kind::Std, false),
            ),
            (
                &[
                    "std::sys::pal::unix::futex::futex_wait",
                    "std::sync::poison::condvar::Condvar::wait",
                ],
                notice(Kind::Std, false),
            ),
            (
                &["std::sys::pal::unix::futex::futex_wait", "std::thread::park"],
                notice(Kind::Std, true),
            ),
            (
                &[
                    "parking_lot_core::parking_lot::park",
                    "parking_lot::raw_mutex::RawMutex::lock_slow",
                ],
                lock(Kind::ParkingLot, true),
            ),
            (
                &["parking_lot::condvar::Condvar::wait_until_internal"],
                notice(Kind::ParkingLot, true),
            ),
            (
                &[
                    "std::sys::pal::unix::futex::futex_wait",
                    "std::thread::park",
                    "usync::mutex::Mutex::lock",
                ],
                lock(Kind::Usync, true),
            ),
            (
                &[
                    "absl::debian3::synchronization_internal::Waiter::Wait(absl::debian3::KernelTimeout)",
                    "AbslInternalPerThreadSemWait_debian3",
                    "absl::debian3::Mutex::LockSlow(absl::debian3::MuHowS const*)",
                ],
                lock(Kind::Abseil, true),
            ),
            (
                &[
                    "libabsl_base.so.20220623.0.0+0x1",
                    "libabsl_synchronization.so.20220623.0.0+0x2",
                ],
                lock(Kind::Abseil, true),
            ),
            (&["absl::lts_20230125::CondVar::Wait(absl::Mutex*)"], notice(Kind::Abseil, true)),
            (&["tbb::detail::r1::wait_on_address(void*)"], lock(Kind::Tbb, true)),
            (&["std::__detail::__platform_wait<int>"], notice(Kind::Futex, false)),
            (
                &[
                    "runtime.futex.abi0",
                    "runtime.notesleep",
                    "runtime.mcall",
                    "runtime.gopark",
                    "internal/sync.(*Mutex).lockSlow",
                    "sync.(*Mutex).Lock",
                ],
                lock(Kind::Go, true),
            ),
            (&["runtime.futex", "runtime.mcall", "runtime.chanrecv1"], notice(Kind::Go, true)),
            (&["runtime.futex", "runtime.futexsleep", "runtime.lock2"], lock(Kind::Go, false)),
            (&["__lll_lock_wait", "___pthread_mutex_lock"], lock(Kind::Pthread, false)),
            (
                &["__lll_lock_wait", "__pthread_mutex_cond_lock", "___pthread_cond_wait"],
                lock(Kind::Pthread, false),
            ),
            (
                &["__futex_abstimed_wait_common64", "___pthread_cond_wait"],
                notice(Kind::Condvar, false),
            ),
            (
                &["__syscall_cp_c", "__timedwait_cp", "__pthread_mutex_timedlock"],
                lock(Kind::Musl, false),
            ),
            (
                &["__syscall_cp_c", "__timedwait_cp", "__pthread_timedjoin_np"],
                notice(Kind::Musl, false),
            ),
            (&["syscall", "std::sys::pal::unix::futex::futex_wait"], lock(Kind::Std, false)),
            (&["libc.so+0x777e", "pthread_mutex_lock"], lock(Kind::Musl, false)),
            (&["libc.so+0x777e", "pthread_join"], notice(Kind::Musl, false)),
            (&["runtime.exitsyscall", "syscall.Syscall6"], notice(Kind::Go, true)),
            (&["syscall"], lock(Kind::Futex, false)),
            (&[], lock(Kind::Futex, false)),
        ] {
            assert_eq!(of(functions), expected, "{functions:?}");
        }
    }
}
