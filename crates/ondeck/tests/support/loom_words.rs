//! Which words of the parking table loom explores as atomics.
//!
//! An execution takes longer the more atomics there are, and there are more executions the more accesses
//! could come in another order. Most words of a node do not need that:
//!
//! * A word that the lock of a bucket guards is a cell: if the lock does not order two accesses, loom
//!   reports a race. That is stricter than an atomic.
//! * A word that only tells how long to wait, or which thread to wake first, is plain. Each value that it
//!   can have is right.
//!
//! A word is known by the name of its field, at the place where it is made.

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
    // Of a bucket.
    "series",
    // Words of a node.
    "kind",
    "since",
    "cpu",
    "has_asked",
    "heir",
    "woken_last",
    "newer",
    "older",
    "next_queue",
    "reserved",
];
const HINTS: [&str; 6] = ["due", "priority", "queues", "rests_until", "vain", "woken"];

/// The files whose words are known by their names.
const SOURCES: [(&str, &str); 3] = [
    ("parking/bucket.rs", include_str!("../../src/parking/bucket.rs")),
    ("parking/node.rs", include_str!("../../src/parking/node.rs")),
    ("parking/watches.rs", include_str!("../../src/parking/watches.rs")),
];

thread_local! {
    /// The models that are already known, by the places' addresses.
    static KNOWN: RefCell<HashMap<usize, Model>> = RefCell::default();
}

/// How the word that is made at this place is modelled.
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
