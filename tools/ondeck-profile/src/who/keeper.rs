//! The thread that keeps what another one waits for, as far as the memory of the lock says it.
//!
//! glibc (2.25 and newer, all 64-bit machines; `struct_mutex.h`, `struct_rwlock.h`):
//!
//! ```text
//! pthread_mutex_t   0 __lock    the word that is waited on; of robust and priority-inheriting ones, the owner's number
//!                   8 __owner   the owner's number
//!                  16 __kind    16: robust, 32: priority-inheriting
//! pthread_rwlock_t  0 __readers from bit 3 on, the number of readers
//!                   8 __wrphase_futex, 12 __writers_futex: the words that are waited on
//!                  24 __cur_writer  the writer's number
//! struct pthread    tid         the word on which a join waits is the thread's number, until it ends
//! ```
//!
//! musl's mutex has its owner in the word at 4, unless it is of the normal kind; its rwlock is one
//! word, which counts readers.

use std::collections::BTreeSet;

use serde::Serialize;

use super::library::Library;
use super::memory::Memory;
use super::wait::{Futex, Kind};

/// The keeper of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Keeper {
    /// A thread of the process.
    Thread {
        /// Its number.
        tid: u32,
    },
    /// A thread that is not one of the process: it has ended without an unlock, or is another
    /// process's.
    Elsewhere {
        /// Its number, as the lock has it.
        tid: u32,
    },
    /// Readers, which the lock counts and does not name.
    Readers {
        /// Their number.
        count: u32,
    },
    /// No thread: the lock is free, and a thread was woken or is about to take it.
    Nobody,
    /// The lock does not say.
    Unknown,
    /// There is none: a notification is waited for.
    None,
}

/// A lock, where it begins, and its keeper.
pub struct Found {
    pub object: u64,
    pub keeper: Keeper,
}

const TID: u32 = 0x3fff_ffff;
/// The value of a locked mutex of musl's normal kind: EBUSY.
const LOCKED: u32 = 16;
/// The value of musl's rwlock while a writer has it.
const WRITTEN: u32 = 0x7fff_ffff;

/// Returns the words of their own on which threads of parking_lot sleep.
pub fn parked<'a>(futexes: impl Iterator<Item = &'a Futex>) -> BTreeSet<u64> {
    let is_parked = |one: &&Futex| matches!(one.kind, Kind::ParkingLot | Kind::ParkingLotCondition);
    futexes.filter(is_parked).map(|one| one.word).collect()
}

/// Returns the lock for which a thread of parking_lot waits. The thread sleeps on a word of its own
/// `ThreadData`, whose other fields are the address of the lock, two tokens that are small numbers,
/// and the `ThreadData` of the next thread in its bucket of the hash table, which may wait for
/// another lock. The compiler orders them.
fn parked_at(memory: &Memory, word: u64, parked: &BTreeSet<u64>) -> Option<u64> {
    /// The size of a `ThreadData`.
    const SIZE: u64 = 40;
    let start = word.checked_sub(SIZE)?.next_multiple_of(8);
    let places = (start..word + SIZE).step_by(8);
    let is_thread = |value: &u64| parked.range(*value..value.saturating_add(SIZE)).next().is_some();
    let pointers: BTreeSet<u64> = places
        .filter_map(|place| memory.word(place))
        .filter(|value| memory.read::<1>(*value).is_some() && !is_thread(value))
        .collect();
    pointers.first().copied().filter(|_| pointers.len() == 1)
}

/// Returns the mutex of ondeck for which a thread waits. The thread sleeps on a word of its node,
/// which has the address twice (`parking/node.rs`): as that of its queue, and as that of the byte
/// that is locked. Around the node are other words of the stack, so two that stand together are
/// preferred.
fn linked_at(memory: &Memory, word: u64) -> Option<u64> {
    /// The size of a node, at most.
    const SIZE: u64 = 160;
    let start = word.checked_sub(SIZE)?.next_multiple_of(8);
    let mut seen = BTreeSet::new();
    let mut last = None;
    let [mut twice, mut together] = [BTreeSet::new(), BTreeSet::new()];
    for place in (start..word + SIZE).step_by(8) {
        let value = memory.word(place).filter(|value| memory.read(*value) == Some([1_u8]));
        if let Some(value) = value {
            if !seen.insert(value) {
                twice.insert(value);
            }
            if last == Some(value) {
                together.insert(value);
            }
        }
        last = value;
    }
    let found = if together.is_empty() { twice } else { together };
    found.first().copied().filter(|_| found.len() == 1)
}

/// Returns the address of a lock, or of a word in it; `None` if threads sleep on words of their own
/// that do not lead to it.
pub fn object(
    memory: &Memory,
    futex: &Futex,
    library: Library,
    found: &Found,
    function: &str,
    parked: &BTreeSet<u64>,
) -> Option<u64> {
    match (futex.kind, library) {
        (Kind::ParkingLot | Kind::ParkingLotCondition, _) => {
            let lock = parked_at(memory, futex.word, parked)?;
            // Writers of a reader-writer lock, of 8 bytes, park at the byte after its first.
            Some(if function.contains("RwLock") { lock & !7 } else { lock })
        }
        (Kind::Ondeck, _) | (Kind::PthreadMutex, Library::Ondeck) => linked_at(memory, futex.word),
        (Kind::Semaphore | Kind::Join, Library::Ondeck) => Some(found.object),
        // Writers sleep on the second word of two.
        (Kind::StdRwlock, _) if function.contains("write") => Some(found.object.wrapping_sub(4)),
        (_, Library::Ondeck) => None,
        (kind, _) if kind.sleeps_on_own_word() => None,
        _ => Some(found.object),
    }
}

/// Reads the keeper. `threads` has, for each thread, its number inside and outside of the process's
/// namespace.
pub fn of(memory: &Memory, futex: &Futex, library: Library, threads: &[(u32, u32)]) -> Found {
    let thread = |inner: u32| match threads.iter().find(|(own, _)| *own == inner) {
        Some((_, tid)) => Keeper::Thread { tid: *tid },
        None => Keeper::Elsewhere { tid: inner },
    };
    let half = |address: u64| memory.half(address);
    let word = futex.word;
    let unknown = |object| Found { object, keeper: Keeper::Unknown };
    match (futex.kind, library) {
        (Kind::Join, _) => {
            let keeper = match half(word) {
                Some(0) => Keeper::Nobody,
                Some(tid) => thread(tid),
                None => Keeper::Unknown,
            };
            Found { object: word, keeper }
        }
        (Kind::PthreadMutex, Library::Glibc) => {
            let keeper = (|| {
                let (lock, owner, kind) = (half(word)?, half(word + 8)?, half(word + 16)?);
                let owner = if kind & (16 | 32) == 0 { owner } else { lock & TID };
                Some(if lock == 0 || owner == 0 { Keeper::Nobody } else { thread(owner) })
            })();
            Found { object: word, keeper: keeper.unwrap_or(Keeper::Unknown) }
        }
        (Kind::PthreadMutex, Library::Musl) => {
            let object = word.wrapping_sub(4);
            let keeper = match half(word).map(|lock| lock & TID) {
                Some(0) => Keeper::Nobody,
                Some(LOCKED) | None => Keeper::Unknown,
                Some(owner) => thread(owner),
            };
            Found { object, keeper }
        }
        (Kind::PthreadRead | Kind::PthreadWrite, Library::Glibc) => {
            // The object is aligned to 8 bytes, so the word says which of the two it is.
            let object = word.wrapping_sub(if word.is_multiple_of(8) { 8 } else { 12 });
            let keeper = (|| {
                let (readers, writer) = (half(object)?, half(object + 24)?);
                Some(match (writer, readers >> 3) {
                    (0, 0) => Keeper::Nobody,
                    (0, count) => Keeper::Readers { count },
                    (writer, _) => thread(writer),
                })
            })();
            Found { object, keeper: keeper.unwrap_or(Keeper::Unknown) }
        }
        (Kind::PthreadRead | Kind::PthreadWrite, Library::Musl) => {
            let keeper = match half(word).map(|lock| lock & WRITTEN) {
                Some(0) => Keeper::Nobody,
                Some(WRITTEN) | None => Keeper::Unknown,
                Some(count) => Keeper::Readers { count },
            };
            Found { object: word, keeper }
        }
        (kind, _) if !kind.is_kept() => Found { object: word, keeper: Keeper::None },
        _ => unknown(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mutex_of_a_node_is_told_from_what_is_around_it() {
        let memory = Memory::open(std::process::id()).expect("this process");
        let bytes = [1_u8, 1, 0];
        let [lock, other, free] = [0, 1, 2].map(|at| (&raw const bytes[at]).addr() as u64);
        let at_node = |fields: &[(usize, u64)]| {
            let mut words = [0_u64; 41];
            for (at, value) in fields {
                words[*at] = *value;
            }
            linked_at(&memory, (&raw const words[20]).addr() as u64)
        };
        assert_eq!(at_node(&[(14, lock), (15, lock)]), Some(lock));
        assert_eq!(at_node(&[(5, lock), (25, lock), (30, other)]), Some(lock));
        let around = [(5, other), (6, lock), (7, lock), (23, other)];
        assert_eq!(at_node(&around), Some(lock));
        assert_eq!(at_node(&[(5, lock), (7, other), (12, lock), (25, other)]), None);
        assert_eq!(at_node(&[(5, lock), (6, free), (7, free)]), None);
    }
}
