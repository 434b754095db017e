//! What programs and other libraries' locks use: the mutex, the condition variable and the parking table. Most
//! tests share the process and its table. A test that needs a process of its own runs itself again as a child
//! (`support/again.rs`).

#[path = "support/again.rs"]
mod again;
#[cfg(unix)]
#[path = "support/fork.rs"]
mod copy;
#[path = "support/hold.rs"]
mod hold;
#[path = "support/keys.rs"]
mod keys;
#[path = "support/line.rs"]
mod line;
#[path = "support/rest.rs"]
mod rest;
#[path = "support/waiting.rs"]
mod waiting;
#[path = "support/watchdog.rs"]
mod watchdog;

#[path = "api/barrier.rs"]
mod barrier;
#[path = "api/biased.rs"]
mod biased;
#[path = "api/bucket_lock.rs"]
mod bucket_lock;
#[path = "api/combining.rs"]
mod combining;
#[path = "api/condvar.rs"]
mod condvar;
#[path = "api/counted.rs"]
mod counted;
#[path = "api/event.rs"]
mod event;
#[path = "api/fair.rs"]
mod fair;
#[path = "api/foreign_unlock.rs"]
mod foreign_unlock;
#[cfg(unix)]
#[path = "api/fork.rs"]
mod fork;
#[path = "api/latch.rs"]
mod latch;
#[cfg(debug_assertions)]
#[path = "api/misuse.rs"]
mod misuse;
#[path = "api/mutex.rs"]
mod mutex;
#[path = "api/once.rs"]
mod once;
#[path = "api/parker.rs"]
mod parker;
#[path = "api/parking.rs"]
mod parking;
#[path = "api/poison.rs"]
mod poison;
#[path = "api/poison_rwlock.rs"]
mod poison_rwlock;
#[path = "api/raw.rs"]
mod raw;
#[path = "api/reentrant.rs"]
mod reentrant;
#[path = "api/rwlock.rs"]
mod rwlock;
#[path = "api/rwlock_forgotten.rs"]
mod rwlock_forgotten;
#[path = "api/same_moment.rs"]
mod same_moment;
#[path = "api/semaphore.rs"]
mod semaphore;
#[path = "api/tokens.rs"]
mod tokens;

// What needs the kernel's calls, or pages of its own.
cfg_select! {
    all(target_os = "linux", not(ondeck_system = "portable")) => {
        #[path = "support/asleep.rs"]
        mod asleep;
        #[path = "support/refuse.rs"]
        mod refuse;
        #[path = "support/seccomp.rs"]
        mod seccomp;
        #[path = "api/handoff.rs"]
        mod handoff;
        #[path = "api/hangs.rs"]
        mod hangs;
        #[cfg(target_pointer_width = "64")]
        #[path = "api/ipc.rs"]
        mod ipc;
        #[cfg(target_arch = "x86_64")]
        #[path = "api/ipc_steps.rs"]
        mod ipc_steps;
        #[path = "api/lifetime.rs"]
        mod lifetime;
        #[path = "api/no_membarrier.rs"]
        mod no_membarrier;
        #[path = "api/one_cpu.rs"]
        mod one_cpu;
        #[path = "api/pi.rs"]
        mod pi;
        #[path = "api/rwlock_counts.rs"]
        mod rwlock_counts;
        #[path = "api/suite.rs"]
        mod suite;
        #[path = "api/two_buckets.rs"]
        mod two_buckets;
    }
    _ => {}
}
