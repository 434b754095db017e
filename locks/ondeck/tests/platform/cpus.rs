//! The number of CPUs that waiting threads may use: the number of the thread with the widest mask.
//!
//! Each test runs in a separate process, because the reports of threads are kept for the whole
//! process.

use std::os::unix::process::CommandExt;
use std::thread;

use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use crate::again::{alone, is_child, passes};

/// Returns whether there are several CPUs, so that one differs from all.
fn has_several() -> bool {
    let has = Linux::affinity().len() > 1;
    if !has {
        println!("skipped: needs two CPUs");
    }
    has
}

/// Binds the calling thread to the first of its CPUs.
fn bind() {
    Linux::set_affinity(&Linux::affinity()[..1]).expect("a CPU of our own mask");
}

/// Runs `body` in a thread with this mask.
fn on<R: Send>(mask: &[usize], body: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let bound = || {
            Linux::set_affinity(mask).expect("CPUs of our own mask");
            body()
        };
        scope.spawn(bound).join().expect("no panic")
    })
}

#[test]
fn a_first_thread_that_is_bound_does_not_count_for_the_others() {
    if !has_several() {
        return;
    }
    alone(|| {
        let whole = Linux::affinity();
        // This binds the process's first thread, which is the harness's and never waits for a lock.
        // SAFETY: getpid has no preconditions.
        let first = unsafe { libc::getpid() };
        let mut mask = [0_u64; 16];
        mask[whole[0] / 64] = 1 << (whole[0] % 64);
        // SAFETY: the kernel reads the live mask, by its length.
        let bound = unsafe {
            libc::syscall(libc::SYS_sched_setaffinity, first, size_of_val(&mask), &raw const mask)
        };
        assert_eq!(bound, 0);
        assert_eq!(on(&whole[..1], Linux::cpus), 1, "no other thread has waited");
        assert_eq!(on(&whole, Linux::cpus), whole.len());
        assert_eq!(on(&whole[..1], Linux::cpus), whole.len(), "another thread has more");
        assert_ne!(Polling::current().budget, 0);
    });
}

#[test]
fn threads_that_are_all_bound_have_one_cpu() {
    if !has_several() {
        return;
    }
    if !is_child() {
        let cpu = Linux::affinity()[0];
        passes(|child| {
            // SAFETY: one system call between fork and exec, and nothing is allocated.
            unsafe {
                child.pre_exec(move || {
                    Linux::set_affinity(&[cpu]).map_err(|_| std::io::ErrorKind::Other.into())
                });
            }
        });
        return;
    }
    assert_eq!(Linux::cpus(), 1);
    assert_eq!(thread::scope(|scope| scope.spawn(Linux::cpus).join().expect("no panic")), 1);
    assert_eq!(Polling::current().budget, 0);
}

/// Hangs if a mask that was reported once counts forever.
#[test]
fn threads_that_are_bound_later_have_one_cpu_some_time_later() {
    if !has_several() {
        return;
    }
    alone(|| {
        assert!(Linux::cpus() > 1);
        bind();
        while Linux::cpus() > 1 {
            thread::yield_now();
        }
    });
}
