//! Cuts the frames of the locks themselves off the top of stacks, because a reader wants to see the
//! code that locked.

use std::sync::Arc;

use crate::kinds;
use crate::model::{Frame, Location, Module};

mod cpp;

/// The libraries whose frames are all cut off, by the names inside them (`DT_SONAME`).
const LIBRARIES: [&str; 3] = ["libondeck_preload.so", "libondeck.so", "libondeck_observe.so"];

/// Prefixes of functions that are cut off while they are innermost.
const FUNCTIONS: [&str; 14] = [
    "ondeck::",
    "ondeck_record::",
    "<ondeck::",
    "<ondeck_record::",
    "lock_api::",
    "<lock_api::",
    "parking_lot::",
    "<parking_lot::",
    "_Unwind_Backtrace",
    "pthread_mutex_",
    "pthread_rwlock_",
    "pthread_cond_",
    "__pthread_mutex_",
    "ondeck_preload_",
];

/// Without the type that it drops, which symbols do not always have. Only a lock's guard calls the
/// recorder from it.
const DROP: &str = "core::mem::drop";

/// Generic functions of other crates around them.
const GENERIC: [&str; 8] = [
    "core::ptr::drop_in_place<lock_api::",
    "core::ptr::drop_glue<lock_api::",
    "core::mem::drop<lock_api::",
    "drop_in_place<lock_api::",
    "drop_glue<lock_api::",
    "drop<lock_api::",
    "core::ops::function::FnOnce::call_once<ondeck_record::",
    "call_once<ondeck_record::",
];

/// Parts of the paths of source files, for inlined functions that have lost the names of their
/// modules. Names of packages end at the folder, or have a version.
const SOURCES: [&str; 15] = [
    "/ondeck-record/src/",
    "/ondeck-record-0.",
    "/ondeck/src/condvar/",
    "/ondeck/src/fair/",
    "/ondeck/src/mutex/",
    "/ondeck/src/observe/",
    "/ondeck/src/parking/",
    "/ondeck/src/pi/",
    "/ondeck/src/poison/",
    "/ondeck/src/rwlock/",
    "/ondeck-0.",
    "/lock_api-0.",
    "/drop-in/shared/",
    "/drop-in/parking_lot-",
    // The headers for C and C++.
    "/ondeck.h",
];

/// Returns whether a function is a lock's own.
pub fn is_ours(frame: &Frame) -> bool {
    let starts = |words: &[&str]| words.iter().any(|word| frame.function.starts_with(word));
    let is_of = |file: &String| SOURCES.iter().any(|part| file.contains(part));
    starts(&FUNCTIONS)
        || starts(&GENERIC)
        || frame.function == DROP
        || cpp::is_of_lock(&frame.function)
        || kinds::is_of_lock(frame)
        || frame.file.as_ref().is_some_and(is_of)
}

/// Returns the stack from the caller of the lock's outermost function on.
pub fn trim(mut stack: Vec<Arc<Location>>, modules: &[Module]) -> Vec<Arc<Location>> {
    let is_library = |location: &Location| {
        location.module.is_some_and(|module| {
            LIBRARIES.iter().any(|library| modules[module].soname.starts_with(library))
        })
    };
    // After the last frame of a library: the unwinder may be between two of its frames.
    let last = stack.iter().rposition(|location| is_library(location));
    let mut first = last.map_or(0, |last| last + 1);
    while let Some(location) = stack.get(first) {
        let own = location.frames.iter().take_while(|frame| is_ours(frame)).count();
        if own < location.frames.len() {
            if own != 0 {
                // Inlined into the caller, which is kept.
                stack[first] = Arc::new(Location {
                    address: location.address,
                    module: location.module,
                    frames: location.frames[own..].to_vec(),
                });
            }
            break;
        }
        first += 1;
    }
    if first >= stack.len() {
        // No frame of the program is left: keep all rather than none.
        return stack;
    }
    stack.split_off(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(module: usize, functions: &[&str]) -> Arc<Location> {
        let frame = |name: &&str| Frame { function: (*name).to_owned(), file: None, line: None };
        let frames = functions.iter().map(frame).collect();
        Arc::new(Location { address: 1, module: Some(module), frames })
    }

    #[test]
    fn what_belongs_to_the_lock_is_cut_off() {
        let modules = [
            Module::named("/bin/prog", ""),
            Module::named("/tmp/renamed", "libondeck_preload.so"),
            Module::named("/lib/libgcc_s.so.1", "libgcc_s.so.1"),
        ];
        let names = |stack: Vec<Arc<Location>>| -> Vec<String> {
            let trimmed = trim(stack, &modules);
            trimmed.iter().flat_map(|l| &l.frames).map(|frame| frame.function.clone()).collect()
        };
        let preloaded = vec![
            location(1, &["ondeck_record::stack::take"]),
            location(2, &["_Unwind_Backtrace"]),
            location(1, &["unknown"]),
            location(0, &["std::mutex::unlock()", "work()"]),
            location(0, &["ondeck::like"]),
        ];
        assert_eq!(names(preloaded), ["work()", "ondeck::like"]);
        let linked = vec![
            location(0, &["ondeck_record::stack::take"]),
            location(
                0,
                &["ondeck::mutex::RawMutex::unlock", "lock_api::mutex::MutexGuard::drop", "work"],
            ),
            location(0, &["main"]),
        ];
        assert_eq!(names(linked), ["work", "main"]);
        let dropped = ["lock_api::mutex::MutexGuard::drop", "core::mem::drop", "work"];
        assert_eq!(names(dropped.map(|name| location(0, &[name])).into()), ["work"]);
        assert_eq!(names(vec![location(0, &["ondeck::only"])]), ["ondeck::only"]);
    }
}
