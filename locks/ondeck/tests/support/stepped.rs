//! A thread of a child process that runs one instruction at a time, by ptrace(2).
//!
//! A *stop* is an instruction that changes what other threads or the kernel may find of it: the
//! shared memory, the head of its list of locks, and both ends of a system call. A thread that is
//! killed anywhere between two stops leaves the same behind, so the tests kill it at each stop.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use ondeck::platform::Linux;

use crate::again::alone;
use crate::asleep;
use crate::shared::Child;

/// The signal by which a child stops itself, at the beginning and at the end.
const MARK: i32 = libc::SIGUSR1;

/// The instruction that makes a system call.
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// Where a child is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// It is stopped.
    Stop,
    /// It sleeps in a system call.
    Asleep,
    /// Its body has ended.
    End,
}

/// The thread. Only the thread that has started its process may use it.
pub struct Stepped {
    child: Option<Child>,
    number: i32,
    memory: Vec<&'static [AtomicU32]>,
    /// The address of the head of its list, if it is where the thread that forked has its own.
    head: usize,
    at: Cell<At>,
}

/// Makes the parent of this process the tracer of the calling thread, calls `traced`, and runs
/// `body` step by step.
pub fn be_stepped(traced: impl FnOnce(), body: impl FnOnce()) {
    // SAFETY: this makes the parent the tracer.
    assert_eq!(unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) }, 0);
    traced();
    // SAFETY: stops.
    unsafe { libc::raise(MARK) };
    body();
    // SAFETY: stops.
    unsafe { libc::raise(MARK) };
}

impl Stepped {
    /// Starts a child that runs `before`, and then executes `body` step by step.
    pub fn start<T>(
        memory: &[&'static [AtomicU32]],
        before: impl FnOnce() -> T,
        body: impl FnOnce(T),
    ) -> Self {
        let child = Child::start(|| {
            let begun = before();
            be_stepped(|| (), || body(begun));
        });
        let number = child.0;
        Self::follow(child, number, memory)
    }

    /// Traces the thread of this number, which [is stepped](be_stepped).
    pub fn follow(child: Child, number: i32, memory: &[&'static [AtomicU32]]) -> Self {
        let (memory, at) = (memory.to_vec(), Cell::new(At::Stop));
        let stepped = Self { child: Some(child), number, memory, head: head_of_caller(), at };
        assert_eq!(stepped.signal_of(stepped.status(true).expect("it stops")), MARK);
        // The child must not survive a test that is killed from outside.
        let option = libc::PTRACE_O_EXITKILL;
        // SAFETY: the thread is stopped.
        let set = unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, number, 0, option) };
        assert_eq!(set, 0);
        stepped
    }

    pub fn at(&self) -> At {
        self.at.get()
    }

    pub fn number(&self) -> i32 {
        self.number
    }

    fn signal_of(&self, status: i32) -> i32 {
        assert!(libc::WIFSTOPPED(status), "{} has ended: {status:#x}", self.number);
        libc::WSTOPSIG(status)
    }

    /// Returns what the thread has reported, if it has. With `waits`, waits for that.
    fn status(&self, waits: bool) -> Option<i32> {
        let mut status = 0;
        let how = libc::__WALL | if waits { 0 } else { libc::WNOHANG };
        // SAFETY: asks for the thread, into a live integer.
        let number = unsafe { libc::waitpid(self.number, &raw mut status, how) };
        assert!(number == self.number || number == 0 && !waits);
        (number != 0).then_some(status)
    }

    /// Lets the child go on, and waits until it is stopped or asleep.
    fn run(&self, how: libc::c_uint, may_sleep: bool) -> At {
        let mut goes_on = self.at() == At::Asleep;
        let at = loop {
            if !goes_on {
                // SAFETY: the child is stopped, and continues without a signal.
                assert_eq!(unsafe { libc::ptrace(how, self.number, 0, 0) }, 0);
            }
            let Some(status) = self.stopped(may_sleep) else { break At::Asleep };
            match self.signal_of(status) {
                libc::SIGTRAP => break At::Stop,
                MARK => break At::End,
                // Another process may stop this one and its children for a while.
                libc::SIGSTOP | libc::SIGCONT => goes_on = false,
                signal => panic!("signal {signal}"),
            }
        };
        self.at.set(at);
        at
    }

    /// Waits until the thread is stopped, and returns its status; or returns `None` if it sleeps.
    fn stopped(&self, may_sleep: bool) -> Option<i32> {
        loop {
            let status = self.status(!may_sleep);
            if status.is_some() {
                return status;
            }
            if asleep::is_asleep(self.number.cast_unsigned()) {
                return None;
            }
            thread::yield_now();
        }
    }

    /// Returns whether the next instruction is a system call.
    fn is_before_call(&self) -> bool {
        /// The place of `rip` among the registers.
        const RIP: usize = 16 * 8;
        // SAFETY: reads a register of the child, which is stopped.
        let place = unsafe { libc::ptrace(libc::PTRACE_PEEKUSER, self.number, RIP, 0) } as usize;
        // SAFETY: the child runs the code of this process, which is at the same place here.
        unsafe { ptr::with_exposed_provenance::<[u8; 2]>(place).read() == SYSCALL }
    }

    /// Reads a word of the child's memory.
    fn peek(&self, place: usize) -> usize {
        // SAFETY: the child is stopped. If the place does not exist, the result is -1.
        unsafe { libc::ptrace(libc::PTRACE_PEEKDATA, self.number, place, 0) as usize }
    }

    /// Returns what others may find of the child.
    fn visible(&self) -> Vec<usize> {
        let shared = self.memory.iter().copied().flatten();
        let head = [self.peek(self.head), self.pending()];
        shared.map(|word| word.load(Ordering::Relaxed) as usize).chain(head).collect()
    }

    /// Executes one instruction.
    pub fn instruction(&self) -> At {
        self.run(libc::PTRACE_SINGLESTEP, self.is_before_call())
    }

    /// Lets the child go on to its next stop.
    pub fn step(&self) -> At {
        let mut calls = self.at() == At::Asleep || self.is_before_call();
        let before = (!calls).then(|| self.visible());
        loop {
            let at = self.run(libc::PTRACE_SINGLESTEP, calls);
            if at != At::Stop || calls {
                return at;
            }
            calls = self.is_before_call();
            if calls || before.as_ref() != Some(&self.visible()) {
                return at;
            }
        }
    }

    /// Goes on to the stop of this number. When the child first sleeps, `wake` is called, which
    /// counts as a stop. Returns false if the child ends or sleeps on before that stop.
    pub fn to(&self, stop: usize, wake: impl FnOnce()) -> bool {
        /// How often it is checked whether the child sleeps on.
        const CHECKS: usize = 10;
        let mut wake = Some(wake);
        (0..stop).all(|_| {
            let was_asleep = self.at() == At::Asleep;
            if was_asleep && let Some(wake) = wake.take() {
                wake();
                return true;
            }
            let checks = if was_asleep { CHECKS } else { 1 };
            self.at() != At::End && (0..checks).any(|_| self.step() != At::Asleep || !was_asleep)
        })
    }

    /// Runs the rest of the body. When the child first sleeps, `wake` is called.
    pub fn finish(&self, wake: impl FnOnce()) {
        let mut wake = Some(wake);
        while self.at() != At::End {
            if self.run(libc::PTRACE_CONT, wake.is_some()) == At::Asleep {
                wake.take().into_iter().for_each(|wake| wake());
            }
        }
    }

    /// Ends the thread where it is stopped, as if it had made the system call itself.
    pub fn end(&self) {
        // SAFETY: all fields are numbers.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        // SAFETY: reads and writes the registers of the thread, which is stopped.
        unsafe {
            let got = libc::ptrace(libc::PTRACE_GETREGS, self.number, 0, &raw mut registers);
            assert_eq!(got, 0);
            registers.rip = system_call() as u64;
            (registers.rax, registers.rdi) = (libc::SYS_exit as u64, 0);
            // It is in no system call that would begin again.
            registers.orig_rax = u64::MAX;
            let set = libc::ptrace(libc::PTRACE_SETREGS, self.number, 0, &raw const registers);
            assert_eq!(set, 0);
        }
        loop {
            // SAFETY: the thread is stopped, and continues without a signal.
            assert_eq!(unsafe { libc::ptrace(libc::PTRACE_CONT, self.number, 0, 0) }, 0);
            let status = self.status(true).expect("it ends");
            if libc::WIFEXITED(status) {
                break;
            }
            assert_eq!(self.signal_of(status), MARK, "the mark of the end may be pending");
        }
    }

    /// Waits until the process has ended successfully, after the thread has ended.
    pub fn ends(mut self) {
        assert_eq!(self.child.take().map_or(0, Child::status), 0);
    }

    fn pending(&self) -> usize {
        self.peek(self.head + 2 * size_of::<usize>())
    }

    /// Returns the addresses of the words in its list, from the newest, and the one that is
    /// pending.
    pub fn listed(&self) -> (Vec<usize>, Option<usize>) {
        let pending = self.pending();
        (listed(self.head, |place| self.peek(place)), (pending != 0).then(|| pending - 32))
    }
}

impl Drop for Stepped {
    fn drop(&mut self) {
        if let Some(child) = self.child.take_if(|child| child.0 != self.number) {
            child.signal(libc::SIGKILL);
            // The process is not gone before its tracer has seen that each traced thread is.
            // SAFETY: waits for the thread, unless it has been waited for.
            unsafe { libc::waitpid(self.number, ptr::null_mut(), libc::__WALL) };
        }
    }
}

/// Runs a test in a process of its own with one CPU, if this machine lets a process trace its
/// child. On one CPU a thread does not poll a word before it sleeps, so the body of a test has few
/// instructions to step through.
pub fn step_by_step(test: impl FnOnce()) {
    alone(|| {
        Linux::set_affinity(&Linux::affinity()[..1]).expect("one of its own");
        if may_trace() {
            test();
        }
    });
}

fn may_trace() -> bool {
    let child = Child::start(|| {
        // SAFETY: makes the parent the tracer, or fails.
        let refused = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } != 0;
        assert!(!refused);
    });
    let status = child.status();
    if status != 0 {
        eprintln!("skipped: ptrace is refused");
    }
    status == 0
}

/// Returns the address of an instruction that makes a system call.
fn system_call() -> usize {
    const LENGTH: usize = 64;
    let function = libc::syscall as *const [u8; 2];
    // SAFETY: the function is longer, and makes a system call.
    let is_call = |place: &usize| unsafe { function.byte_add(*place).read_unaligned() == SYSCALL };
    function.addr() + (0..LENGTH).find(is_call).expect("it makes a system call")
}

/// Returns the words of shared memory.
pub fn words<T>(shared: &T) -> &[AtomicU32] {
    let size = size_of::<T>() / size_of::<AtomicU32>();
    // SAFETY: the tests have only words of 32 bits there, or of two times that.
    unsafe { std::slice::from_raw_parts(ptr::from_ref(shared).cast(), size) }
}

/// Returns the address of the head of the calling thread's list.
fn head_of_caller() -> usize {
    let (mut head, mut length) = (0_usize, 0_usize);
    // SAFETY: writes two live values.
    let asked =
        unsafe { libc::syscall(libc::SYS_get_robust_list, 0, &raw mut head, &raw mut length) };
    assert_eq!(asked, 0);
    head
}

/// Returns the addresses of the words in the calling thread's list, after checking its links in
/// both directions.
pub fn listed_by_caller() -> Vec<usize> {
    // SAFETY: the words of the list, which are in the memory of live locks or in the thread's
    // block.
    let peek = |place| unsafe { ptr::with_exposed_provenance::<usize>(place).read_volatile() };
    let (head, mut before) = (head_of_caller(), head_of_caller());
    assert_eq!(peek(head + 2 * size_of::<usize>()), 0, "pending");
    let listed = listed(head, peek);
    for word in &listed {
        assert_eq!(peek(word + 24), before, "the link backwards");
        before = word + 32;
    }
    assert_eq!(peek(head - 8), before, "the head's link backwards");
    listed
}

/// Follows a list.
fn listed(head: usize, peek: impl Fn(usize) -> usize) -> Vec<usize> {
    let nodes = std::iter::successors(Some(peek(head)), |&node| Some(peek(node)));
    let nodes: Vec<usize> = nodes.take_while(|&node| node != head).take(8).collect();
    assert!(nodes.len() < 8, "the list has no end");
    nodes.into_iter().map(|node| node - 32).collect()
}
