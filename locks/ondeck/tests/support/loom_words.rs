//! Selects the words of the parking table that loom explores as atomics.
//!
//! More atomics make an execution longer, and more accesses that could be reordered make more
//! executions. Most words of a node need not be atomics:
//!
//! * A word that the lock of a bucket guards is a cell: if the lock does not order two accesses,
//!   loom reports a race. That is stricter than an atomic.
//! * A word that only determines how long to wait, or which thread to wake first, is plain. Any of
//!   its values is correct.
//!
//! A word is identified by the name of its field, at the place where it is created.

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;

/// How a word is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// An atomic of loom's.
    Atomic,
    /// A cell of loom's.
    Guarded,
    /// A plain value: every access sees the last.
    Hint,
}

const GUARDED: [&str; 11] = [
    // Words of a bucket.
    "series",
    // Words of a node.
    "kind",
    "since",
    "cpu",
    "request",
    "heir",
    "woken_last",
    "newer",
    "older",
    "next_queue",
    "reserved",
];
const HINTS: [&str; 6] = ["due", "priority", "queues", "rests_until", "vain", "woken"];

/// The files whose words are identified by their names.
const SOURCES: [(&str, &str); 3] = [
    ("parking/bucket.rs", include_str!("../../src/parking/bucket.rs")),
    ("parking/node.rs", include_str!("../../src/parking/node.rs")),
    ("parking/watches.rs", include_str!("../../src/parking/watches.rs")),
];

thread_local! {
    /// The models that are already determined, by the addresses of the places.
    static KNOWN: RefCell<HashMap<usize, Model>> = RefCell::default();
}

/// Returns the model of the word that is created at this place.
pub fn model(place: &'static Location<'static>) -> Model {
    let key = std::ptr::from_ref(place).addr();
    KNOWN.with_borrow_mut(|known| *known.entry(key).or_insert_with(|| find(place)))
}

fn find(place: &Location<'_>) -> Model {
    if place.file().ends_with("parking/history.rs") {
        return Model::Hint;
    }
    let Some((_, text)) = SOURCES.iter().find(|(file, _)| place.file().ends_with(file)) else {
        return Model::Atomic;
    };
    let line = text.lines().nth(place.line() as usize - 1).expect("the source of this build");
    // `name: AtomicInt::new(0)`
    let before = line[..place.column() as usize - 1].trim_end().strip_suffix(':');
    let name = before.expect("a field").rsplit([' ', '{']).next().expect("its name");
    if GUARDED.contains(&name) {
        Model::Guarded
    } else if HINTS.contains(&name) {
        Model::Hint
    } else {
        Model::Atomic
    }
}
