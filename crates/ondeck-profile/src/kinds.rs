//! What an observed futex is, by the functions that wait there.
//!
//! The recorder sees a word and a stack. The innermost functions of the stack belong to the lock, and the outermost of
//! those names the library whose lock it is.

use std::sync::Arc;

use crate::model::{Frame, Kind, Location};

/// A library of locks: how its functions are called, and where inlined ones come from.
struct Library {
    kind: Kind,
    names: &'static [&'static str],
    sources: &'static [&'static str],
}

const LIBRARIES: [Library; 7] = [
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
        ],
        sources: &["/absl/synchronization/", "/absl/base/internal/"],
    },
    Library {
        kind: Kind::Tbb,
        names: &["tbb::detail::"],
        sources: &["/oneapi/tbb/detail/", "/oneapi/tbb/mutex.h", "/oneapi/tbb/rw_mutex.h"],
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
const NOTICES: [&str; 16] = [
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
];

/// A name without what stands in front of it. Debian's abseil has a namespace of its own in its namespace.
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

/// What waits at a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nature {
    pub(crate) kind: Kind,
    /// Whether it waits for a notification.
    pub(crate) is_notice: bool,
    /// Whether the word belongs to the waiting thread, and not to the lock.
    pub(crate) is_of_thread: bool,
}

/// Returns what waits, of the kind that was seen, with this stack, whose part without the lock's functions is `user`.
pub(crate) fn nature(seen: Kind, stack: &[Arc<Location>], user: &[Arc<Location>]) -> Nature {
    let frames = |stack: &[Arc<Location>]| -> Vec<Frame> {
        stack.iter().flat_map(|location| location.frames.iter().cloned()).collect()
    };
    let all = frames(stack);
    let own = &all[..all.len().saturating_sub(frames(user).len())];
    let library = own.iter().rev().find_map(library_of).map(|library| library.kind);
    let kind = library.filter(|kind| *kind != Kind::Futex).unwrap_or(seen);
    let has = |part: &str| own.iter().any(|frame| frame.function.contains(part));
    let is_parked = kind == Kind::Std && (has("thread::park") || has("std::thread::"));
    let is_of_thread = seen == Kind::Yield
        || matches!(kind, Kind::ParkingLot | Kind::Abseil | Kind::Usync | Kind::Saa)
        || is_parked;
    let is_notice = match kind {
        Kind::Yield => true,
        // Their mutexes park threads as the standard library's functions do.
        Kind::Usync | Kind::Saa => has("ondvar") || has("barrier") || has("Barrier"),
        // Its name has the word.
        Kind::ParkingLot => has("ondvar"),
        _ => NOTICES.iter().any(|part| has(part)),
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
            (&["absl::lts_20230125::CondVar::Wait(absl::Mutex*)"], notice(Kind::Abseil, true)),
            (&["tbb::detail::r1::wait_on_address(void*)"], lock(Kind::Tbb, false)),
            (&["std::__detail::__platform_wait<int>"], notice(Kind::Futex, false)),
            (&[], lock(Kind::Futex, false)),
        ] {
            assert_eq!(of(functions), expected, "{functions:?}");
        }
    }
}
