//! What was seen of a process.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ondeck_text::functions::short;

use super::goroutines::Goroutines;
use super::keeper::Keeper;
use super::thread::State;
use super::wait::Kind;
use crate::model::{Frame, Location, Module, Place};

/// A process, its threads, and the locks for which they wait.
#[derive(Debug)]
pub struct Who {
    /// Its number.
    pub pid: u32,
    /// Its file.
    pub program: PathBuf,
    /// Its arguments, the name first.
    pub arguments: Vec<String>,
    /// Its threads, by their numbers.
    pub threads: Vec<Thread>,
    /// The locks for which threads wait, those with the most waiting threads first.
    pub locks: Vec<Lock>,
    /// The locks for which goroutines wait.
    pub goroutines: Goroutines,
    /// What of the program's own kinds of lock is not seen here, with what shows it.
    pub unseen: Vec<String>,
    /// Threads that wait for each other in a circle; a thread that waits for itself is a circle of
    /// one.
    pub deadlocks: Vec<Vec<u32>>,
    /// The files without names, with the reason.
    pub missing: Vec<String>,
    /// The files that it has mapped.
    pub modules: Vec<Module>,
}

impl Who {
    /// Returns the thread with a number.
    pub fn thread(&self, tid: u32) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.tid == tid)
    }
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    /// Its number.
    pub tid: u32,
    /// Its number in the process's own namespace.
    pub inner_tid: u32,
    /// Its name.
    pub name: String,
    /// What it does.
    pub state: State,
    /// The number of the system call in which it sleeps.
    pub call: Option<i64>,
    /// The function of the kernel in which it sleeps; empty if that is not shown.
    pub kernel: String,
    /// How long it has not run.
    pub since: Option<Duration>,
    /// Its stack, innermost first; empty if it runs.
    pub stack: Vec<Arc<Location>>,
    /// The functions of the program among them: the call site and its callers.
    pub callers: Vec<Frame>,
    /// Whether a return address had to be searched on the stack: a frame may be wrong or missing.
    pub is_searched: bool,
    /// What it waits for in futex(2).
    pub wait: Option<Wait>,
}

impl Thread {
    pub(super) fn without_stack(tid: u32, inner_tid: u32, name: String, state: State) -> Self {
        Self {
            tid,
            inner_tid,
            name,
            state,
            call: None,
            kernel: String::new(),
            since: None,
            stack: Vec::new(),
            callers: Vec::new(),
            is_searched: false,
            wait: None,
        }
    }
}

/// What a thread waits for.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Its kind.
    pub kind: Kind,
    /// The address of the word on which the thread sleeps.
    pub word: u64,
    /// The address of the lock, or of the word in it; `None` if threads sleep on words of their
    /// own.
    pub object: Option<u64>,
    /// The place of that address.
    pub place: Place,
    /// The function of the lock that the program called.
    pub function: Option<String>,
    /// Whether it ends at a deadline.
    pub is_timed: bool,
    /// The thread that keeps it.
    pub keeper: Keeper,
}

/// A lock for which threads wait.
#[derive(Clone, Debug)]
pub struct Lock {
    /// What is known of it, as its first waiting thread sees it.
    pub wait: Wait,
    /// The waiting threads, those that wait the longest first.
    pub waiters: Vec<u32>,
    /// Threads that may keep it, if it does not say which thread does: their stacks or functions
    /// have its address.
    pub perhaps: Vec<u32>,
}

impl Lock {
    /// Returns its name: the variable, or the function that waits and the address.
    pub fn name(&self) -> String {
        self.wait.name()
    }
}

impl Wait {
    /// Returns a name of what is waited for: the variable, or the address.
    pub fn name(&self) -> String {
        // The word that is waited on is somewhere in these.
        let is_inside = matches!(self.kind, Kind::PthreadCondition | Kind::Barrier);
        match (&self.place, self.place.symbol()) {
            (Place::Static { symbol, .. }, Some(_)) if is_inside => short(symbol),
            (_, Some(symbol)) => short(&symbol),
            (_, None) => match self.object {
                Some(object) => format!("{object:#x}"),
                None => "at an unknown address".to_owned(),
            },
        }
    }

    /// Returns where the variable is declared, or in which memory the lock is.
    pub fn origin(&self) -> Option<String> {
        match &self.place {
            Place::Static { .. } => self.place.origin(),
            _ => self.object.and_then(|_| self.place.origin()),
        }
    }
}

/// What makes two waits those for the same lock.
#[derive(PartialEq)]
enum Key<'a> {
    Object(u64),
    /// Of a lock whose address is not known: its kind, and where it is called.
    Site(Kind, Option<&'a Frame>),
}

/// Returns the locks that threads keep, most waiting threads first.
pub fn locks(threads: &[Thread]) -> Vec<Lock> {
    let mut locks: Vec<(Key<'_>, Lock, Option<Duration>)> = Vec::new();
    let mut waiting: Vec<&Thread> = threads.iter().collect();
    waiting.sort_by_key(|thread| (std::cmp::Reverse(thread.since), thread.tid));
    for thread in waiting {
        let Some(wait) = thread.wait.as_ref() else { continue };
        if !wait.kind.is_kept() || wait.kind == Kind::Join {
            continue;
        }
        let key = match wait.object {
            None => Key::Site(wait.kind, thread.callers.first()),
            Some(object) => Key::Object(object),
        };
        if let Some((_, lock, _)) = locks.iter_mut().find(|(known, ..)| *known == key) {
            lock.waiters.push(thread.tid);
        } else {
            let lock = Lock { wait: wait.clone(), waiters: vec![thread.tid], perhaps: Vec::new() };
            locks.push((key, lock, thread.since));
        }
    }
    locks.sort_by_key(|(_, lock, since)| std::cmp::Reverse((lock.waiters.len(), *since)));
    locks.into_iter().map(|(_, lock, _)| lock).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn waiting(tid: u32, keeper: Keeper) -> Thread {
        let wait = Wait {
            kind: Kind::PthreadMutex,
            word: 0x1000,
            object: Some(0x1000),
            place: Place::Heap,
            function: None,
            is_timed: false,
            keeper,
        };
        let thread = Thread::without_stack(tid, tid, "worker".to_owned(), State::Asleep);
        Thread { wait: Some(wait), ..thread }
    }

    #[test]
    fn threads_that_wait_for_the_same_lock_are_together_longest_first() {
        let mut threads = [1, 2, 3].map(|tid| waiting(tid, Keeper::Unknown));
        threads[1].since = Some(Duration::from_secs(2));
        threads[2].wait.as_mut().expect("it waits").object = Some(0x2000);
        let waiters: Vec<_> = locks(&threads).into_iter().map(|lock| lock.waiters).collect();
        assert_eq!(waiters, [vec![2, 1], vec![3]]);
    }
}
