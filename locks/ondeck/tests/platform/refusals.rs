//! The platform's behaviour if the kernel refuses a system call that it can do without.

use std::thread;

use ondeck::platform::{AffinityError, Fences, Linux, Platform};

use crate::again::{alone, alone_with};
use crate::alone_with_membarrier;
use crate::seccomp::refuse;

#[test]
fn fences_do_without_the_kernel_where_the_environment_refuses_membarrier() {
    alone_with(&[("ONDECK_NO_MEMBARRIER", "1")], || {
        assert!(!Linux::fences_are_asymmetric());
        assert!(!Linux::may_relax());
        // Asking the kernel would end the process.
        refuse(libc::SYS_membarrier, libc::EPERM);
        Linux::light_fence();
        Linux::heavy_fence();
        assert!(!Linux::heavy_fences_are_refused());
    });
}

#[test]
fn a_process_that_is_refused_membarrier_later_goes_on_with_full_fences() {
    alone_with_membarrier(&[], || {
        assert!(Linux::fences_are_asymmetric());
        Linux::heavy_fence();
        assert!(!Linux::heavy_fences_are_refused());
        // The refusal is for one thread only, but its conclusion holds for all threads.
        let refused = thread::spawn(|| {
            refuse(libc::SYS_membarrier, libc::EPERM);
            Linux::heavy_fence();
            Linux::heavy_fences_are_refused()
        });
        assert!(refused.join().expect("no panic"), "the thread that was refused knows it at once");
        assert!(Linux::heavy_fences_are_refused());
        assert!(!Linux::fences_are_asymmetric());
        assert!(!Linux::may_relax());
        // A fence that would be granted does not change that.
        Linux::heavy_fence();
        assert!(Linux::heavy_fences_are_refused());
        assert!(!Linux::fences_are_asymmetric());
    });
}

#[test]
fn a_process_that_never_had_membarrier_was_not_refused_it_later() {
    alone(|| {
        refuse(libc::SYS_membarrier, libc::EPERM);
        Linux::heavy_fence();
        assert!(!Linux::fences_are_asymmetric());
        assert!(!Linux::heavy_fences_are_refused());
    });
}

#[test]
fn the_environment_may_say_that_membarrier_is_wanted() {
    alone_with_membarrier(&[("ONDECK_NO_MEMBARRIER", "0")], || {
        assert!(Linux::fences_are_asymmetric());
    });
}

#[test]
fn a_mask_that_cannot_be_read_is_empty_and_counts_as_one_cpu() {
    alone(|| {
        thread::spawn(|| {
            refuse(libc::SYS_sched_getaffinity, libc::EPERM);
            assert_eq!(Linux::affinity(), []);
            assert_eq!(Linux::cpus(), 1);
        })
        .join()
        .expect("no panic");
    });
}

#[test]
fn a_mask_that_cannot_be_set_is_an_error_with_the_reason() {
    thread::spawn(|| {
        refuse(libc::SYS_sched_setaffinity, libc::EPERM);
        let error = Linux::set_affinity(&[0]).expect_err("refused");
        assert_eq!(error, AffinityError::Refused(libc::EPERM));
        assert!(error.to_string().contains("errno 1"), "{error}");
    })
    .join()
    .expect("no panic");
    assert!(AffinityError::Empty.to_string().contains("empty"));
}
