//! The file in which a process notes its locks: `tools/ondeck-observe/src/order.h` says what is in
//! it, and `order.c` has its layout.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use ondeck_deadlock::{Holding, Lock, LockKind, Stack, Thread, Want};

const MAGIC: &[u8] = b"ondeckO1";
const HEADER: usize = 32;
const HELD: usize = 32;
const THREADS: usize = 1_024;
const EDGES: usize = 16_384;
const DEPTH: usize = 24;
const OTHERS: usize = HELD - 1;
const HOLD: usize = 24;
const THREAD: usize = 16 + HOLD + HELD * HOLD;
const EDGE: usize = 24 + 2 * HOLD + OTHERS * 8;
const STACK: usize = 16 + DEPTH * 8;

/// The notes of a process image.
pub(super) struct Notes {
    pub(super) path: PathBuf,
    file: File,
    pub(super) pid: u32,
    /// The namespace of `pid`.
    pub(super) namespace: u64,
    /// The orders that were read.
    read: usize,
    /// The order that was not whole at the last look.
    unfinished: usize,
    /// Of locks, by their numbers.
    pub(super) addresses: HashMap<usize, u64>,
}

/// A thread that holds locks, and wants one or waits for it.
pub(super) struct Seen {
    pub(super) tid: u32,
    /// The number of its wait; 0 if it does not wait.
    pub(super) wait: u32,
    pub(super) name: [u8; 16],
    pub(super) held: Vec<Holding>,
    pub(super) wanted: (Lock, Want, Stack),
}

impl Seen {
    pub(super) fn thread(&self) -> Thread {
        Thread::of(self.tid, self.name)
    }
}

impl Notes {
    /// Opens the file, if it is whole.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let mut head = [0; HEADER];
        file.read_exact_at(&mut head, 0).ok()?;
        head.starts_with(MAGIC).then(|| Self {
            path: path.to_owned(),
            file,
            pid: word(&head, 16),
            namespace: long(&head, 8),
            read: 0,
            unfinished: usize::MAX,
            addresses: HashMap::new(),
        })
    }

    /// Returns what had no room in the file.
    pub(super) fn dropped(&self) -> u32 {
        word(&self.bytes(28, 4), 0)
    }

    /// Returns the threads.
    pub(super) fn threads(&mut self) -> Vec<Seen> {
        let count = (word(&self.bytes(20, 4), 0) as usize).min(THREADS);
        let bytes = self.bytes(HEADER, count * THREAD);
        let threads = bytes.chunks_exact(THREAD).filter(|thread| word(thread, 0) != 0);
        threads
            .map(|thread| {
                let holds = thread[16 + HOLD..].chunks_exact(HOLD);
                let held = holds.take(word(thread, 12) as usize).filter(|hold| word(hold, 8) != 0);
                Seen {
                    tid: word(thread, 0),
                    wait: word(thread, 4),
                    name: [0; 16],
                    held: held.map(|hold| self.held(hold)).collect(),
                    wanted: self.wanted(&thread[16..]),
                }
            })
            .collect()
    }

    /// Returns the orders that are new since the last call: the first of the locks that the thread
    /// held was held before the wanted one.
    pub(super) fn orders(&mut self) -> Vec<Seen> {
        let count = (word(&self.bytes(24, 4), 0) as usize).min(EDGES);
        let start = HEADER + THREADS * THREAD + self.read * EDGE;
        let bytes = self.bytes(start, count.saturating_sub(self.read) * EDGE);
        let is_whole = |edge: &[u8]| word(edge, 0) != 0;
        let mut edges = Vec::new();
        for edge in bytes.chunks_exact(EDGE) {
            // One that is not whole yet is waited for once: a signal handler may have left its
            // function.
            if is_whole(edge) {
                edges.push(edge);
            } else if self.unfinished != self.read {
                self.unfinished = self.read;
                break;
            }
            self.read += 1;
        }
        let seen = edges.into_iter().map(|edge| {
            let mut held = vec![self.held(&edge[24..])];
            let others = edge[24 + 2 * HOLD..].chunks_exact(8);
            let others = others.take_while(|other| word(other, 0) != 0);
            held.extend(others.map(|other| Holding {
                lock: Lock { address: word(other, 0) as usize, kind: LockKind::Mutex, name: c"" },
                held: want(word(other, 4)).held(),
                stack: Stack::of([]),
            }));
            let name = edge[8..].first_chunk().copied().unwrap_or_default();
            let wanted = self.wanted(&edge[24 + HOLD..]);
            Seen { tid: word(edge, 4), wait: 0, name, held, wanted }
        });
        seen.collect()
    }

    fn held(&mut self, hold: &[u8]) -> Holding {
        let (lock, want, stack) = self.wanted(hold);
        Holding { lock, held: want.held(), stack }
    }

    fn wanted(&mut self, hold: &[u8]) -> (Lock, Want, Stack) {
        const IS_RWLOCK: u32 = 4;
        let (number, way) = (word(hold, 8) as usize, word(hold, 16));
        self.addresses.insert(number, long(hold, 0));
        let kind = if way & IS_RWLOCK == 0 { LockKind::Mutex } else { LockKind::RwLock };
        // An address may be used again, the number of a lock is not.
        (Lock { address: number, kind, name: c"" }, want(way), self.stack(word(hold, 12)))
    }

    fn stack(&self, number: u32) -> Stack {
        let Some(place) = (number as usize).checked_sub(1) else { return Stack::of([]) };
        let start = HEADER + THREADS * THREAD + EDGES * EDGE;
        let bytes = self.bytes(start + place * STACK, STACK);
        let addresses = bytes[16..].chunks_exact(8).map(|address| long(address, 0) as usize);
        Stack::of(addresses.take(word(&bytes, 8) as usize))
    }

    /// Returns bytes of the file; zeros after its end.
    fn bytes(&self, start: usize, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        // A file that a process has cut has no more notes.
        _ = self.file.read_exact_at(&mut bytes, start as u64);
        bytes
    }
}

fn want(way: u32) -> Want {
    const READ: u32 = 1;
    const PATIENT: u32 = 2;
    match (way & READ, way & PATIENT) {
        (0, _) => Want::Alone,
        (_, 0) => Want::Recursive,
        _ => Want::Read,
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |word| u32::from_ne_bytes(*word))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |long| u64::from_ne_bytes(*long))
}
