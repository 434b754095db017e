//! Samples the threads of a program: which of them sleep in futex(2), and where.
//!
//! `/proc/PID/task/TID/syscall` has the current system call of a sleeping thread, its arguments,
//! its stack pointer and the instruction after the call. The parent of a process may read it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use ondeck_profile::futexes::{Seen, Sleep};

use super::library::Library;
use super::watched::Watched;

/// The interval between samples: short at first, because a program may be short.
const FIRST: Duration = Duration::from_millis(5);
const LAST: Duration = Duration::from_millis(100);
/// The most threads of one sample, so that it takes a millisecond or two.
const THREADS: usize = 256;
/// Bytes of a stack that are read.
const STACK: usize = 4096;
/// Words of a stack that are kept.
const WORDS: usize = 48;

/// Samples a program and its children.
pub(crate) struct Looks {
    pid: u32,
    pause: Duration,
    seen: Seen,
    pub(super) watched: Watched,
}

impl Looks {
    /// Samples the program of this process, into which a library is loaded.
    pub(crate) fn new(pid: u32, library: Library) -> Self {
        Self { pid, pause: FIRST, seen: Seen::default(), watched: Watched::new(library) }
    }

    /// Takes a sample; returns the time until the next.
    pub(crate) fn look(&mut self) -> Duration {
        self.seen.looks += 1;
        let mut left = THREADS;
        let mut processes = vec![self.pid];
        while let Some(pid) = processes.pop() {
            self.look_at(pid, &mut left, &mut processes);
        }
        self.pause = (self.pause * 2).min(LAST);
        self.pause
    }

    /// Returns the samples.
    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
    }

    fn look_at(&mut self, pid: u32, left: &mut usize, children: &mut Vec<u32>) {
        let process = Path::new("/proc").join(pid.to_string());
        // A process or thread that has ended since has nothing to sample.
        let Ok(threads) = fs::read_dir(process.join("task")) else { return };
        self.watched.look_at(pid, &process);
        let mut now: HashMap<u64, u32> = HashMap::new();
        for thread in threads.flatten() {
            let path = thread.path();
            let listed = fs::read_to_string(path.join("children")).unwrap_or_default();
            children
                .extend(listed.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            if *left == 0 {
                continue;
            }
            *left -= 1;
            match fs::read_to_string(path.join("syscall")) {
                Ok(line) => {
                    if let Some(asleep) = asleep(&line) {
                        *now.entry(asleep.address).or_default() += 1;
                        self.keep(pid, &process, &asleep);
                    }
                }
                Err(error)
                    if error.kind() == std::io::ErrorKind::NotFound
                        || error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(_) => self.seen.refused += 1,
            }
        }
        if let Some(sleeps) = self.seen.processes.get_mut(&pid) {
            for (address, threads) in now {
                let most = sleeps.most.entry(address).or_default();
                *most = threads.max(*most);
            }
        }
    }

    fn keep(&mut self, pid: u32, process: &Path, asleep: &Asleep) {
        let sleeps = self.seen.processes.entry(pid).or_default();
        let is_new = !sleeps.maps.contains(" r-x") || !is_code(&sleeps.maps, asleep.pc);
        if is_new && let Ok(maps) = fs::read_to_string(process.join("maps")) {
            sleeps.maps = maps;
        }
        let mut words = vec![asleep.pc];
        let mut stack = [0; STACK];
        if let Ok(memory) = File::open(process.join("mem"))
            && let Ok(length) = memory.read_at(&mut stack, asleep.sp)
        {
            let (all, _) = stack[..length].as_chunks();
            let all = all.iter().map(|word| u64::from_ne_bytes(*word));
            words.extend(all.filter(|word| is_code(&sleeps.maps, *word)).take(WORDS));
            for word in &words[1..] {
                sleeps.called.entry(*word).or_insert_with(|| called_before(&memory, *word));
            }
        }
        *sleeps.waits.entry(Sleep { address: asleep.address, words }).or_default() += 1;
    }
}

/// The function that the call right before `address` calls: by an offset, or through a pointer at
/// an offset.
///
/// Code that is not optimized loads the pointer into a register first.
#[cfg(target_arch = "x86_64")]
fn called_before(memory: &File, address: u64) -> Option<u64> {
    let mut call = [0; 6];
    memory.read_exact_at(&mut call, address.checked_sub(6)?).ok()?;
    let distance = i32::from_le_bytes(call[2..].try_into().ok()?);
    let there = address.checked_add_signed(distance.into())?;
    match call {
        [_, 0xe8, ..] => behind_stub(memory, there).or(Some(there)),
        [0xff, 0x15, ..] => pointer(memory, there),
        [.., 0xff, register @ 0xd0..=0xd7] => through_register(memory, address, register & 7),
        _ => None,
    }
}

/// The pointer that the last load before `address` put into a register, by the register's number in
/// an instruction.
#[cfg(target_arch = "x86_64")]
fn through_register(memory: &File, address: u64, register: u8) -> Option<u64> {
    // The arguments of the call are between the two.
    let mut code = [0; 64];
    let start = address.checked_sub(code.len() as u64)?;
    memory.read_exact_at(&mut code, start).ok()?;
    let load = [0x48, 0x8b, 0x05 | register << 3];
    let at = code.windows(7).rposition(|bytes| bytes.starts_with(&load))?;
    let distance = i32::from_le_bytes(code[at + 3..at + 7].try_into().ok()?);
    pointer(memory, (start + at as u64 + 7).checked_add_signed(distance.into())?)
}

/// The function that a stub of the procedure linkage table jumps to; `None` if there is no stub at
/// `address`.
#[cfg(target_arch = "x86_64")]
fn behind_stub(memory: &File, address: u64) -> Option<u64> {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const BND: u8 = 0xf2;
    let mut code = [0; 11];
    memory.read_exact_at(&mut code, address).ok()?;
    let jump = code.strip_prefix(&ENDBR64).unwrap_or(&code);
    let jump = jump.strip_prefix(&[BND]).unwrap_or(jump);
    let (&[0xff, 0x25, a, b, c, d], rest) = jump.split_first_chunk()? else { return None };
    let next = address + (code.len() - rest.len()) as u64;
    pointer(memory, next.checked_add_signed(i32::from_le_bytes([a, b, c, d]).into())?)
}

#[cfg(target_arch = "x86_64")]
fn pointer(memory: &File, address: u64) -> Option<u64> {
    let mut pointer = [0; 8];
    memory.read_exact_at(&mut pointer, address).ok()?;
    Some(u64::from_le_bytes(pointer))
}

/// Unknown for other machines: there a stack has its innermost frame only.
#[cfg(not(target_arch = "x86_64"))]
fn called_before(_memory: &File, _address: u64) -> Option<u64> {
    None
}

/// Whether a mapping of code has this address.
fn is_code(maps: &str, address: u64) -> bool {
    maps.lines().any(|line| {
        let Some((range, rest)) = line.split_once(' ') else { return false };
        let Some((from, to)) = range.split_once('-') else { return false };
        let number = |text| u64::from_str_radix(text, 16).unwrap_or(0);
        rest.starts_with("r-x") && (number(from)..number(to)).contains(&address)
    })
}

/// A thread that sleeps at a futex.
#[derive(Debug, PartialEq, Eq)]
struct Asleep {
    address: u64,
    sp: u64,
    pc: u64,
}

/// Parses a line of `syscall`: the number, six arguments, the stack pointer, the instruction; or
/// `running`.
///
/// Accepts private futexes only: threads wait for the end of a thread at one that the kernel wakes,
/// which is not private.
fn asleep(line: &str) -> Option<Asleep> {
    const COMMAND: u64 = 0x7f;
    const WAITS: [i32; 4] = [
        libc::FUTEX_WAIT,
        libc::FUTEX_WAIT_BITSET,
        libc::FUTEX_LOCK_PI,
        libc::FUTEX_WAIT_REQUEUE_PI,
    ];
    let mut words = line.split_ascii_whitespace();
    if words.next()?.parse() != Ok(libc::SYS_futex) {
        return None;
    }
    let numbers: Vec<u64> = words
        .map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok())
        .collect::<Option<_>>()?;
    let &[address, operation, _, _, _, _, sp, pc] = &numbers[..] else { return None };
    let is_private = operation & libc::FUTEX_PRIVATE_FLAG as u64 != 0;
    let is_wait = WAITS.iter().any(|wait| operation & COMMAND == *wait as u64);
    (is_private && is_wait).then_some(Asleep { address, sp, pc })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread;
    use std::time::Instant;

    use ondeck_profile::Reader;

    use super::*;

    static HOT: Mutex<u32> = Mutex::new(0);

    #[inline(never)]
    fn take_hot() {
        *HOT.lock().expect("no thread panics") += 1;
    }

    #[test]
    fn a_thread_that_waits_for_a_mutex_of_the_standard_library_is_found_with_its_function() {
        const LIMIT: Duration = Duration::from_mins(2);
        let start = Instant::now();
        let place = (&raw const HOT).addr() as u64;
        let range = place..place + size_of_val(&HOT) as u64;
        let mut looks = Looks::new(std::process::id(), Library::Shim);
        thread::scope(|scope| {
            let held = HOT.lock().expect("no thread panics");
            scope.spawn(take_hot);
            let is_hot = |asleep: &Sleep| range.contains(&asleep.address);
            loop {
                looks.look();
                let mut asleep = looks.seen.processes.values().flat_map(|one| one.waits.keys());
                if asleep.any(is_hot) {
                    break;
                }
                assert!(start.elapsed() < LIMIT, "the waiting thread was never found");
                thread::yield_now();
            }
            drop(held);
        });
        let futexes = Reader::new(Path::new("")).futexes(looks.seen());
        let found = futexes.found.iter().find(|futex| range.contains(&futex.address));
        let found = found.expect("it was seen");
        assert!(found.name().contains("HOT"), "{}", found.name());
        let functions: Vec<&str> = found.frames().iter().map(|frame| &*frame.function).collect();
        assert!(functions[0].ends_with("take_hot"), "{functions:?}");
    }

    #[test]
    fn a_sleeping_thread_is_told_from_others() {
        let number = libc::SYS_futex;
        let line = |operation: i32| {
            format!("{number} 0x55d0 {operation:#x} 0x2 0x0 0x0 0xffffffff 0x7ffc10 0x7f1234\n")
        };
        let private = libc::FUTEX_PRIVATE_FLAG;
        let found = Some(Asleep { address: 0x55d0, sp: 0x7f_fc10, pc: 0x7f_1234 });
        assert_eq!(asleep(&line(libc::FUTEX_WAIT | private)), found);
        assert_eq!(asleep(&line(libc::FUTEX_WAIT_BITSET | private)), found);
        assert_eq!(asleep(&line(libc::FUTEX_WAIT_BITSET | libc::FUTEX_CLOCK_REALTIME)), None);
        assert_eq!(asleep(&line(libc::FUTEX_WAKE | private)), None);
        assert_eq!(asleep("running\n"), None);
        assert_eq!(asleep("-1 0x7ffc10 0x7f1234\n"), None);
        assert_eq!(asleep("0 0x0 0x80 0x0 0x0 0x0 0x0 0x7ffc10 0x7f1234\n"), None);
    }

    #[test]
    fn code_is_told_from_data() {
        let maps = "1000-2000 r--p 0 0:0 1 /a\n2000-3000 r-xp 0 0:0 1 /a\n";
        assert!(is_code(maps, 0x2fff) && !is_code(maps, 0x3000) && !is_code(maps, 0x1000));
    }
}
