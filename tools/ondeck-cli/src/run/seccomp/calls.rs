//! From calls of futex(2) to waits: which thread sleeps at which word, and which wake ends that.
//!
//! The return from a call is not seen. A wait has ended if the thread makes another call, and it
//! ended with the first wake at its word that no other thread's wait has ended with. The order in
//! which threads began to wait would not tell: they race from the answer to the kernel's queue. A
//! thread whose next call comes before any wake has not slept, because the word had changed, or its
//! time was over. How long the woken thread took to run is computed from what the scheduler counts.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ondeck_profile::who::Stopped;
use ondeck_record::layout::DEPTH;
use ondeck_record::observed::remote::{End, Recording, Task, nanos_in, ticks, ticks_in};

use super::futex::{Futex, deadline};

/// The stacks that are remembered for each thread.
const STACKS: usize = 4;
/// All that is known of a program and its children.
pub(super) struct Calls {
    folder: Vec<u8>,
    /// `None` for a process that cannot be recorded.
    processes: HashMap<u32, Option<Process>>,
    threads: HashMap<u32, Thread>,
    /// The number of threads at which killed threads and processes are looked for.
    many: usize,
    /// The number of processes that cannot be recorded.
    pub(super) unrecorded: usize,
}

struct Process {
    recording: Recording,
    stopped: Stopped,
    /// The words at which threads wait.
    words: HashMap<u64, Word>,
    /// What the kernel gave to the image. It has addresses that are random.
    image: Vec<u8>,
    /// Whether a thread has called execve(2).
    may_be_new: bool,
}

/// A word at which threads wait.
#[derive(Default)]
struct Word {
    /// The threads that have not called since, in the order in which they came.
    sleepers: VecDeque<u32>,
    /// The times of wakes, each of one of these threads.
    wakes: VecDeque<u64>,
}

struct Thread {
    process: u32,
    task: Task,
    sleep: Option<Sleep>,
    known: [Known; STACKS],
}

#[derive(Clone, Copy)]
struct Sleep {
    word: u64,
    arrived: u64,
    stack: u32,
    deadline: Option<u64>,
    before: Scheduled,
}

/// What the scheduler counts for a thread, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Scheduled {
    /// For how long it has run, and for how long it has been ready to.
    ran: u64,
    ready: u64,
    /// How often it was put on a CPU.
    times: u64,
}

impl Scheduled {
    /// Returns zeros for a kernel that does not count.
    fn of(tid: u32) -> Self {
        let text = fs::read_to_string(format!("/proc/{tid}/schedstat")).unwrap_or_default();
        let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().unwrap_or(0));
        let [ran, ready, times] = [(); 3].map(|()| numbers.next().unwrap_or(0));
        Self { ran, ready, times }
    }

    /// Returns for how many nanoseconds after its wake a thread has not run yet, which has been
    /// awake for `awake` until its next call.
    ///
    /// Between two calls, a thread that sleeps once is put on a CPU twice: after the answer to the
    /// first call, and after the wake. If that is all, it has run ever since. Otherwise the delay
    /// is the mean of all.
    fn delay(self, after: Self, awake: u64) -> u64 {
        let times = after.times.saturating_sub(self.times);
        let delay = match times {
            2 => awake.saturating_sub(after.ran.saturating_sub(self.ran)),
            _ => after.ready.saturating_sub(self.ready) / times.max(1),
        };
        delay.min(awake)
    }
}

/// A stack that the thread had before.
#[derive(Default)]
struct Known {
    pc: u64,
    sp: u64,
    places: Vec<(u64, u64)>,
    stack: u32,
}

impl Calls {
    pub(super) fn new(folder: &Path) -> Self {
        let folder = folder.as_os_str().as_bytes().to_vec();
        Self { folder, processes: HashMap::new(), threads: HashMap::new(), many: 64, unrecorded: 0 }
    }

    /// Takes a call of the thread with this number, which is stopped.
    pub(super) fn see(&mut self, tid: u32, call: &libc::seccomp_data) {
        let now = ticks();
        match libc::c_long::from(call.nr) {
            libc::SYS_execve | libc::SYS_execveat => {
                let process = self.threads.get(&tid).map_or(tid, |thread| thread.process);
                if let Some(Some(process)) = self.processes.get_mut(&process) {
                    process.may_be_new = true;
                }
            }
            libc::SYS_exit => {
                self.awake(tid, None, now);
                self.threads.remove(&tid);
            }
            libc::SYS_exit_group => {
                // Of the program's children, only those that have called futex(2) are recorded.
                let process = self.threads.get(&tid).map(|thread| thread.process);
                let process = process.or_else(|| number(tid, "Tgid:"));
                let is_known = process.is_some_and(|process| self.processes.contains_key(&process));
                if (is_known || self.processes.is_empty())
                    && let Some(process) = self.process_of(tid)
                {
                    let threads = self.threads.iter().filter(|thread| thread.1.process == process);
                    let threads: Vec<u32> = threads.map(|(tid, _)| *tid).collect();
                    for tid in threads {
                        self.awake(tid, None, now);
                    }
                    if let Some(ended) = self.remove(process) {
                        ended.recording.finish();
                    }
                    // Its other threads make calls until they are killed.
                    self.processes.insert(process, None);
                }
            }
            libc::SYS_futex => {
                if let Some(futex) = Futex::of(&call.args)
                    && let Some(process) = self.process_of(tid)
                {
                    self.futex(process, tid, futex, call, now);
                }
            }
            _ => {}
        }
    }

    /// Returns the process of a thread, if it is recorded.
    fn process_of(&mut self, tid: u32) -> Option<u32> {
        let process = match self.threads.get(&tid) {
            Some(thread) => thread.process,
            None => number(tid, "Tgid:")?,
        };
        if self.threads.len() >= self.many {
            let lives = |number: &u32| Path::new("/proc").join(number.to_string()).exists();
            self.threads.retain(|tid, _| lives(tid));
            self.processes.retain(|pid, _| lives(pid));
            self.many = 2 * self.threads.len().max(32);
        }
        let known = self.processes.get(&process);
        let is_new = known.is_none_or(|known| {
            known.as_ref().is_some_and(|known| known.may_be_new && known.image != image(process))
        });
        if is_new {
            self.remove(process);
            let opened = Process::open(&self.folder, process);
            self.unrecorded += usize::from(opened.is_none());
            self.processes.insert(process, opened);
        }
        let known = self.processes.get_mut(&process)?.as_mut()?;
        known.may_be_new = false;
        self.threads.entry(tid).or_insert_with(|| Thread {
            process,
            task: Task::new(&known.recording),
            sleep: None,
            known: Default::default(),
        });
        Some(process)
    }

    fn remove(&mut self, process: u32) -> Option<Process> {
        self.threads.retain(|_, thread| thread.process != process);
        self.processes.remove(&process)?
    }

    fn futex(
        &mut self,
        process: u32,
        tid: u32,
        futex: Futex,
        call: &libc::seccomp_data,
        now: u64,
    ) -> Option<()> {
        let [word, operation, _, timeout, second, _] = call.args;
        // A lock with priority inheritance may have been acquired in the call, without a sleep.
        let waits_at = matches!(futex, Futex::Wait(Some(_))).then_some(word);
        if self.awake(tid, waits_at, now) {
            return None;
        }
        let known = self.processes.get_mut(&process)?.as_mut()?;
        let thread = self.threads.get_mut(&tid)?;
        match futex {
            Futex::Wait(expected) => {
                if expected.is_some() && known.stopped.half(word) != expected {
                    return None;
                }
                let stack = thread.stack(known, tid, call.instruction_pointer, now);
                let deadline = deadline(&known.stopped, operation as i32, timeout, now);
                let before = Scheduled::of(tid);
                thread.sleep = Some(Sleep { word, arrived: now, stack, deadline, before });
                known.words.entry(word).or_default().sleepers.push_back(tid);
            }
            Futex::Wake(first, other) => {
                let words = [(word, first), (second, other)];
                let words =
                    words.iter().filter(|(word, count)| *count != 0 && known.asleep(*word) != 0);
                let words: Vec<(u64, u64)> = words.copied().collect();
                for (word, count) in words {
                    self.wake(process, tid, word, count, call.instruction_pointer);
                }
            }
            Futex::Requeue(woken, moved) => {
                if woken != 0 && known.asleep(word) != 0 {
                    self.wake(process, tid, word, woken, call.instruction_pointer);
                }
                self.requeue(process, word, second, moved);
            }
        }
        Some(())
    }

    /// Records that a thread wakes others, of which there is one at least.
    fn wake(&mut self, process: u32, tid: u32, word: u64, count: u64, pc: u64) -> Option<()> {
        let known = self.processes.get_mut(&process)?.as_mut()?;
        let thread = self.threads.get_mut(&tid)?;
        let stack = thread.stack(known, tid, pc, ticks());
        // Close to the wake, which follows this.
        let now = ticks();
        thread.task.wakes(&known.recording, word, now, stack);
        let woken = known.asleep(word).min(count as usize);
        known.words.get_mut(&word)?.wakes.extend((0..woken).map(|_| now));
        Some(())
    }

    fn requeue(&mut self, process: u32, from: u64, to: u64, count: u64) -> Option<()> {
        let known = self.processes.get_mut(&process)?.as_mut()?;
        let asleep = known.asleep(from);
        let moved = asleep.min(count as usize);
        let word = known.words.get_mut(&from)?;
        // The first ones are awake.
        let first = word.sleepers.len() - asleep;
        let moved: Vec<u32> = word.sleepers.drain(first..first + moved).collect();
        for tid in &moved {
            if let Some(sleep) = self.threads.get_mut(tid).and_then(|thread| thread.sleep.as_mut())
            {
                sleep.word = to;
            }
        }
        known.words.entry(to).or_default().sleepers.extend(moved);
        Some(())
    }

    /// Ends the sleep of a thread that makes a call or ends. Returns whether it goes on instead: a
    /// signal has interrupted it, or it was moved to another word, and it waits again.
    fn awake(&mut self, tid: u32, waits_at: Option<u64>, now: u64) -> bool {
        let Some(thread) = self.threads.get_mut(&tid) else { return false };
        let Some(sleep) = thread.sleep else { return false };
        let Some(Some(process)) = self.processes.get_mut(&thread.process) else { return false };
        let deadline = sleep.deadline.filter(|deadline| *deadline <= now);
        let Some(word) = process.words.get_mut(&sleep.word) else { return false };
        let woken = word.wakes.iter().position(|at| *at > sleep.arrived);
        let end = match (woken.and_then(|number| word.wakes.remove(number)), deadline) {
            (Some(at), _) => {
                let awake = nanos_in(now.saturating_sub(at));
                let delay = sleep.before.delay(Scheduled::of(tid), awake);
                Some((End::Woken, at + ticks_in(delay)))
            }
            (None, Some(at)) => Some((End::GaveUp, at)),
            (None, None) if waits_at == Some(sleep.word) => return true,
            (None, None) => None,
        };
        word.sleepers.retain(|other| *other != tid);
        if word.sleepers.is_empty() {
            process.words.remove(&sleep.word);
        }
        thread.sleep = None;
        if let Some((how, at)) = end {
            let wait = (sleep.word, sleep.arrived, sleep.stack);
            thread.task.waited(&process.recording, wait, how, at);
        }
        false
    }
}

impl Process {
    fn open(folder: &[u8], pid: u32) -> Option<Self> {
        Some(Self {
            stopped: Stopped::open(pid).ok()?,
            recording: Recording::create(folder, pid, number(pid, "PPid:")?)?,
            words: HashMap::new(),
            image: image(pid),
            may_be_new: false,
        })
    }

    /// Returns the number of threads at a word that no wake has reached.
    fn asleep(&self, word: u64) -> usize {
        let word = self.words.get(&word);
        word.map_or(0, |word| word.sleepers.len().saturating_sub(word.wakes.len()))
    }
}

impl Thread {
    /// Returns the number of its stack plus 1; 0 if it is not known, and too expensive now.
    fn stack(&mut self, process: &mut Process, tid: u32, pc: u64, now: u64) -> u32 {
        let Some(sp) = process.stopped.stack_pointer(tid) else { return 0 };
        // Innermost first: while the words are equal, the next one is at the same place.
        let is_same = |known: &&Known| {
            let mut places = known.places.iter();
            (known.pc, known.sp) == (pc, sp)
                && places.all(|(place, word)| process.stopped.word(*place) == Some(*word))
        };
        if let Some(known) = self.known.iter().find(is_same) {
            return known.stack;
        }
        if !self.task.may_unwind(now) {
            return 0;
        }
        let begun = ticks();
        let found = process.stopped.stack(pc, sp, DEPTH);
        let stack = process.recording.stack(found.addresses.iter().copied()).unwrap_or(0);
        self.task.unwound(&process.recording, begun);
        self.known.rotate_right(1);
        self.known[0] = Known { pc, sp, places: found.places, stack };
        stack
    }
}

/// Returns a number that the kernel says of a process or thread.
fn number(tid: u32, field: &str) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(field))?.trim().parse().ok()
}

fn image(pid: u32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/auxv")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_runs_on_after_the_end_of_its_process_begins_no_other_recording() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut calls = Calls::new(folder.path());
        let word = 0_u32;
        let args = [(&raw const word).addr() as u64, libc::FUTEX_WAKE as u64, 1, 0, 0, 0];
        for number in [libc::SYS_futex, libc::SYS_exit_group, libc::SYS_futex] {
            let nr = number as libc::c_int;
            let call = libc::seccomp_data { nr, arch: 0, instruction_pointer: 0, args };
            calls.see(std::process::id(), &call);
        }
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }

    #[test]
    fn a_woken_thread_has_waited_until_it_ran() {
        let before = Scheduled { ran: 1_000, ready: 5_000, times: 10 };
        let after = |ran, ready, times| Scheduled { ran, ready, times };
        // It ran for 30 of the 100 after the wake, and for nothing before.
        assert_eq!(before.delay(after(1_030, 5_070, 12), 100), 70);
        // It was put on a CPU four times.
        assert_eq!(before.delay(after(1_030, 5_080, 14), 1_000), 20);
        assert_eq!(before.delay(after(1_030, 9_000, 14), 100), 100, "no longer than until then");
        assert_eq!(Scheduled::default().delay(Scheduled::default(), 100), 0, "not counted");
    }
}
