//! Stops a thread for good.

use std::os::unix::thread::JoinHandleExt;
use std::sync::Once;
use std::thread::JoinHandle;

use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// A signal that nothing else in this process uses.
const FREEZE: Signal = Signal::SIGUSR2;

extern "C" fn sleep_for_ever(_signal: libc::c_int) {
    loop {
        // Async-signal-safe; returns after every other signal.
        nix::unistd::pause();
    }
}

/// Makes the thread sleep until the process ends: it uses no CPU.
///
/// A single thread cannot be killed. It can receive a signal whose handler never returns: then it
/// sleeps, and its stack, with whatever the lock keeps on it, stays valid.
pub(crate) fn freeze<T>(handle: &JoinHandle<T>) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let action =
            SigAction::new(SigHandler::Handler(sleep_for_ever), SaFlags::empty(), SigSet::all());
        // SAFETY: the handler only calls pause(2), which is async-signal-safe.
        let installed = unsafe { sigaction(FREEZE, &action) };
        debug_assert!(installed.is_ok(), "SIGUSR2 can always be caught");
    });
    // A thread that has just ended cannot receive the signal, and does not need it.
    let _ = pthread_kill(handle.as_pthread_t(), FREEZE);
}
