//! Disturbances of waiting threads: signals, one CPU for all, and a real-time policy.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::Duration;
use std::{io, mem, ptr, thread};

use fastrand::Rng;
use ondeck::platform::Linux;

/// The kernel's numbers of the threads that may be sent signals; 0 is a free place.
static ROSTER: [AtomicI32; 128] = [const { AtomicI32::new(0) }; 128];

/// The number of runs of the handler, and of those on a thread that waited for a lock.
pub static HANDLED: AtomicU64 = AtomicU64::new(0);
pub static HANDLED_WAITING: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// It is constant and has no destructor, so that a handler may read it.
    static WAITING: Cell<bool> = const { Cell::new(false) };
}

/// Marks the calling thread as waiting while `wait` runs.
pub fn waiting<R>(wait: impl FnOnce() -> R) -> R {
    WAITING.set(true);
    let result = wait();
    WAITING.set(false);
    result
}

/// A thread that may be sent signals, until this is dropped.
pub struct Place(usize);

impl Place {
    pub fn take() -> Self {
        // SAFETY: gettid has no preconditions.
        let thread = unsafe { libc::gettid() };
        let take = |place: &AtomicI32| {
            place.compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        // The search starts at different places, because a signal goes to the next occupied place.
        let from = thread as usize * 37;
        let taken = (from..from + ROSTER.len()).map(|index| index % ROSTER.len());
        let place = taken.into_iter().find(|&index| take(&ROSTER[index]));
        Self(place.expect("fewer threads than places"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        ROSTER[self.0].store(0, Ordering::Relaxed);
    }
}

extern "C" fn handle(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    if WAITING.get() {
        HANDLED_WAITING.fetch_add(1, Ordering::Relaxed);
    }
}

/// Installs the signal's handler, without a restart of the system calls that it interrupts.
pub fn handle_signals() {
    // SAFETY: zero is a valid `sigaction`: no flags, SA_RESTART among them, and no signal blocked.
    // The handler only uses atomics and a thread-local word without a destructor.
    let result = unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handle as extern "C" fn(libc::c_int) as usize;
        libc::sigaction(libc::SIGUSR1, &raw const action, ptr::null_mut())
    };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

/// Sends signals to random threads of the roster until the time is over.
pub fn send_signals(seed: u64, over: &AtomicBool) {
    let mut rng = Rng::with_seed(seed);
    while !over.load(Ordering::Relaxed) {
        for _ in 0..rng.u32(1..6) {
            let from = rng.usize(..ROSTER.len());
            let mut threads = ROSTER[from..].iter().map(|place| place.load(Ordering::Relaxed));
            if let Some(thread) = threads.find(|&thread| thread != 0) {
                // SAFETY: unlike a pthread_t, a thread's number may be used after its end: the call then
                // fails, or finds another thread of this process.
                unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGUSR1) };
            }
        }
        thread::sleep(Duration::from_micros(rng.u64(1..200)));
    }
}

/// Binds the calling thread, and the threads that it starts, to the last of its CPUs.
pub fn pin() {
    let cpus = Linux::affinity();
    let last = *cpus.last().expect("a thread runs somewhere");
    Linux::set_affinity(&[last]).expect("it may run there already");
}

/// Gives the calling thread a priority of SCHED_FIFO, on one CPU. That must not be the only CPU, because the
/// watchdog needs another. Returns the reason if the kernel refuses.
pub fn fifo(priority: i32) -> Result<(), String> {
    if Linux::affinity().len() == 1 {
        return Err("there is one CPU only".to_owned());
    }
    pin();
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: thread 0 is the caller, and the parameters are live.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) } != 0 {
        return Err(format!("SCHED_FIFO: {}", io::Error::last_os_error()));
    }
    Ok(())
}
