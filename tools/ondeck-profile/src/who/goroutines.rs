//! The locks of Go's package sync for which goroutines wait. Such a goroutine has no thread.
//!
//! ```text
//! runtime.allgs   every g: 0 and 8 bounds of the stack, 56 sched.sp, 64 sched.pc, then its number
//!     │
//! gopark          a goroutine whose pc is there sleeps, and its registers are in sched
//!     │
//! sudog           on its stack: 0 the g, 24 the address of the semaphore, in a Mutex at 4
//! ```
//!
//! The offsets are those of Go 1.20 to 1.26 (`runtime/runtime2.go`).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::memory::{Memory, STACK};
use super::references::{References, functions};
use super::thread::Call;
use super::{unwind, wait};
use crate::model::{Frame, Location, Place};
use crate::names::Names;

/// A goroutine that is not running.
#[derive(Clone, Debug)]
pub struct Goroutine {
    /// Its number, as in Go's own reports.
    pub number: Option<u64>,
    /// Its stack, innermost first.
    pub stack: Vec<Arc<Location>>,
    /// The functions of the program among them.
    pub callers: Vec<Frame>,
}

/// A lock for which goroutines wait.
#[derive(Debug)]
pub struct GoLock {
    /// `sync.Mutex` or `sync.RWMutex`.
    pub kind: &'static str,
    /// Its address.
    pub address: u64,
    /// The place of that address.
    pub place: Place,
    /// The goroutines that wait.
    pub waiters: Vec<Goroutine>,
    /// Goroutines that may keep it: their stacks or functions have its address.
    pub perhaps: Vec<Goroutine>,
}

/// What was seen of the goroutines of a process.
#[derive(Debug)]
pub enum Goroutines {
    /// The process has no Go runtime.
    None,
    /// They cannot be seen, for this reason.
    Unseen(&'static str),
    /// The locks for which some wait, those with the most waiting ones first.
    Seen(Vec<GoLock>),
}

/// Offsets in Go's `g`.
const LOW: u64 = 0;
const HIGH: u64 = 8;
const SP: u64 = 56;
const PC: u64 = 64;
/// Where the number of a goroutine may be in its `g`.
const NUMBER: std::ops::Range<u64> = 120..240;
/// Goroutines that are looked at.
const MOST: u64 = 1 << 20;
/// Bytes of a goroutine's stack in which its `sudog` is searched: those of the runtime's functions.
const SEARCHED: u64 = 8 * 64;

/// Looks at the goroutines of a process.
pub fn look(names: &mut Names<'_>, memory: &Memory) -> Goroutines {
    if !names.is_any_of_go() {
        return Goroutines::None;
    }
    if !cfg!(target_arch = "x86_64") {
        return Goroutines::Unseen("their stacks are read on x86-64 only");
    }
    let Some(all) = names.variable_named("runtime.allgs") else {
        return Goroutines::Unseen("the program was built or stripped without symbols");
    };
    let Some(all) = listed(memory, all) else {
        return Goroutines::Unseen("the runtime's list of them cannot be read");
    };
    let number = number_offset(memory, &all);
    let mut known = HashMap::new();
    let asleep: Vec<Asleep> =
        all.into_iter().filter_map(|g| Asleep::of(g, number, &mut known, names, memory)).collect();
    let mut locks = by_lock(&asleep, names);
    add_perhaps(&mut locks, &asleep, names, memory);
    Goroutines::Seen(locks)
}

/// Returns the elements of a slice.
fn listed(memory: &Memory, slice: u64) -> Option<Vec<u64>> {
    let (first, count) = (memory.word(slice)?, memory.word(slice.checked_add(8)?)?);
    Some(memory.words(first, count.min(MOST) * 8))
}

/// Finds where a `g` has its number: the first one's, which runs `main`, is 1, and all differ.
fn number_offset(memory: &Memory, all: &[u64]) -> Option<u64> {
    let some = &all[..all.len().min(64)];
    NUMBER.step_by(8).find(|offset| {
        let numbers = some.iter().map_while(|g| memory.word(g.wrapping_add(*offset)));
        let numbers: Vec<u64> = numbers.take_while(|one| (1..1 << 40).contains(one)).collect();
        let different: BTreeSet<u64> = numbers.iter().copied().collect();
        numbers.first() == Some(&1) && different.len() == some.len()
    })
}

/// What a stack says, which many goroutines may have.
struct Site {
    callers: Vec<Frame>,
    functions: Vec<u64>,
    /// The kind of the lock for which it waits, and where the semaphore is in that.
    waits: Option<(&'static str, u64)>,
    /// Whether it waits at a condition variable, and has unlocked its mutex.
    is_notified: bool,
}

impl Site {
    fn of(stack: &[Arc<Location>], names: &mut Names<'_>) -> Self {
        let mut frames = stack.iter().flat_map(|location| &location.frames);
        Self {
            callers: wait::callers(stack, names.modules),
            functions: functions(stack, names),
            waits: lock_of(stack),
            is_notified: frames.any(|frame| frame.function.starts_with("sync.(*Cond)")),
        }
    }
}

/// A goroutine that is not running, and what it waits for.
struct Asleep {
    number: Option<u64>,
    stack: Vec<Arc<Location>>,
    sp: u64,
    high: u64,
    site: Arc<Site>,
    waits: Option<(&'static str, u64)>,
}

impl Asleep {
    fn of(
        g: u64,
        number: Option<u64>,
        known: &mut HashMap<Vec<u64>, Arc<Site>>,
        names: &mut Names<'_>,
        memory: &Memory,
    ) -> Option<Self> {
        let field = |offset: u64| memory.word(g.checked_add(offset)?);
        let (low, high, sp, pc) = (field(LOW)?, field(HIGH)?, field(SP)?, field(PC)?);
        // A running goroutine has no stack pointer here, and one that has ended called goexit1.
        if !(low..high).contains(&sp) || !names.is_code(pc) {
            return None;
        }
        let start = names.function_at(pc - 1)?;
        let function = names.function_name(start)?;
        if function == "runtime.goexit1" {
            return None;
        }
        let is_parked = function == "runtime.gopark";
        let call = Call { sp, pc, ..Call::default() };
        let stack = unwind::stack(names, memory, &call).locations;
        let addresses = stack.iter().map(|location| location.address).collect();
        let site = known.entry(addresses).or_insert_with(|| Arc::new(Site::of(&stack, names)));
        let site = Arc::clone(site);
        let waits = site.waits.filter(|_| is_parked).and_then(|(kind, inside)| {
            Some((kind, semaphore_of(g, sp, memory)?.checked_sub(inside)?))
        });
        // It may have run in between.
        if field(SP) != Some(sp) || field(PC) != Some(pc) {
            return None;
        }
        Some(Self { number: number.and_then(field), stack, sp, high, site, waits })
    }

    fn goroutine(&self) -> Goroutine {
        let callers = self.site.callers.clone();
        Goroutine { number: self.number, stack: self.stack.clone(), callers }
    }
}

/// Returns the kind of the lock for which a parked goroutine waits, and where its semaphore is.
fn lock_of(stack: &[Arc<Location>]) -> Option<(&'static str, u64)> {
    // Mutex: state at 0, semaphore at 4. RWMutex: a Mutex for writers at 0, the semaphore of the
    // writer that waits for readers at 8, that of readers at 12.
    let mut names = stack.iter().flat_map(|location| &location.frames).map(|one| &*one.function);
    let inside = names.find_map(|name| match name {
        "sync.runtime_SemacquireMutex" | "internal/sync.runtime_SemacquireMutex" => Some(4),
        "sync.runtime_SemacquireRWMutex" => Some(8),
        "sync.runtime_SemacquireRWMutexR" => Some(12),
        _ => None,
    })?;
    let is_rwmutex = inside != 4 || names.any(|name| name.starts_with("sync.(*RWMutex)."));
    Some((if is_rwmutex { "sync.RWMutex" } else { "sync.Mutex" }, inside))
}

/// Returns the semaphore at which a goroutine is parked.
fn semaphore_of(g: u64, sp: u64, memory: &Memory) -> Option<u64> {
    memory.words(sp, SEARCHED).into_iter().find_map(|sudog| {
        let element = |offset: u64| memory.word(sudog.checked_add(offset)?).filter(|one| *one != 0);
        // The collector may look for goroutines that wait for ever, and hides the first.
        (memory.word(sudog)? == g).then(|| element(24).or_else(|| element(32)))?
    })
}

fn by_lock(asleep: &[Asleep], names: &mut Names<'_>) -> Vec<GoLock> {
    let mut locks: HashMap<u64, GoLock> = HashMap::new();
    for one in asleep {
        let Some((kind, address)) = one.waits else { continue };
        let new = || {
            let place = names.place(address);
            GoLock { kind, address, place, waiters: Vec::new(), perhaps: Vec::new() }
        };
        locks.entry(address).or_insert_with(new).waiters.push(one.goroutine());
    }
    let mut locks: Vec<GoLock> = locks.into_values().collect();
    locks.sort_by_key(|lock| (std::cmp::Reverse(lock.waiters.len()), lock.address));
    locks
}

fn add_perhaps(locks: &mut [GoLock], asleep: &[Asleep], names: &mut Names<'_>, memory: &Memory) {
    if locks.is_empty() {
        return;
    }
    let addresses: Vec<u64> = locks.iter().map(|lock| lock.address).collect();
    let numbers: HashMap<u64, usize> = (0..).zip(&addresses).map(|(at, it)| (*it, at)).collect();
    let mut references = References::default();
    // The locks that the functions of a stack have in their instructions.
    let mut known: HashMap<*const Site, Vec<usize>> = HashMap::new();
    for one in asleep.iter().filter(|one| !one.site.is_notified) {
        let in_code = known.entry(Arc::as_ptr(&one.site)).or_insert_with(|| {
            let mut has =
                |address| references.are_in(&[], &one.site.functions, address, names, memory);
            (0..addresses.len()).filter(|at| has(addresses[*at])).collect()
        });
        let words = memory.words(one.sp, STACK.min(one.high - one.sp));
        let on_stack = words.iter().filter_map(|word| numbers.get(word));
        let found: BTreeSet<usize> = on_stack.chain(&*in_code).copied().collect();
        let waits = one.waits.map(|(_, address)| address);
        for at in found.into_iter().filter(|at| waits != Some(addresses[*at])) {
            locks[at].perhaps.push(one.goroutine());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_goroutines_are_read_than_a_program_has() {
        let memory = Memory::open(std::process::id()).expect("own memory");
        let elements = vec![7_u64; MOST as usize + 1];
        for (count, read) in [(3, 3), (u64::MAX, MOST)] {
            let slice = [elements.as_ptr().addr() as u64, count];
            let listed = listed(&memory, slice.as_ptr().addr() as u64).expect("own memory");
            assert_eq!((listed.len() as u64, listed[0]), (read, 7));
        }
    }
}
