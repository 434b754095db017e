//! The public interfaces, for programs and for other libraries' locks: the locks, the condition
//! variable and the parking table. Most tests share the process and its table. A test that needs a
//! separate process runs itself again as a child (`support/again.rs`).

#[path = "../support/again.rs"]
mod again;
#[cfg(unix)]
#[path = "../support/fork.rs"]
mod copy;
#[path = "../support/dekker.rs"]
mod dekker;
#[path = "../support/hold.rs"]
mod hold;
#[path = "../support/keys.rs"]
mod keys;
#[path = "../support/line.rs"]
mod line;
#[path = "../support/rest.rs"]
mod rest;
#[path = "../support/until.rs"]
mod until;
#[path = "../support/watchdog.rs"]
mod watchdog;

mod alike;
mod barrier;
mod condvar;
mod condvar_locks;
mod every_type;
mod fair;
#[cfg(unix)]
mod fork;
mod is_held;
mod latch;
mod lock_all;
#[cfg(debug_assertions)]
mod misuse;
mod mutex;
mod once;
#[cfg(feature = "arc_lock")]
mod owned;
mod parking;
mod poison;
mod reentrant;
mod rwlock;
mod rwlock_forgotten;
mod semaphore;
mod system;
mod tokens;

// Tests that need system calls, or separate pages.
cfg_select! {
    all(target_os = "linux", not(ondeck_system = "portable"), not(miri)) => {
        #[path = "../support/asleep.rs"]
        mod asleep;
        #[path = "../support/seccomp.rs"]
        mod seccomp;
        mod hangs;
        #[cfg(target_pointer_width = "64")]
        mod ipc;
        #[cfg(target_arch = "x86_64")]
        mod ipc_steps;
        mod lifetime;
        mod no_membarrier;
        mod one_cpu;
        mod pi;
        #[cfg(target_arch = "x86_64")]
        mod pi_steps;
        mod rwlock_counts;
        #[cfg(target_pointer_width = "64")]
        #[path = "../support/shared.rs"]
        mod shared;
        #[cfg(target_arch = "x86_64")]
        #[path = "../support/stepped.rs"]
        mod stepped;
        mod suite;
        mod two_buckets;
    }
    _ => {}
}
