//! The memory of a forked child may say that the process is registered with membarrier(2) though
//! the kernel has no such registration: another thread registered while the fork copied first the
//! kernel's state and then the memory. The child's first heavy fence is then refused, and the child
//! registers anew.
//!
//! Here a filter refuses once, in a separate process.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use libc::{
    MEMBARRIER_CMD_PRIVATE_EXPEDITED as FENCE,
    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED as REGISTER,
};
use ondeck::platform::{Fences, Linux};

use crate::again::{is_child, passes};
use crate::seccomp::Filter;
use crate::watchdog::Watchdog;

/// The output of a child if nothing can be tested on this machine.
const NOT_HERE: &str = "not on this machine:";

/// The body of a child.
fn child() {
    let _watchdog = Watchdog::start("a refused fence", Duration::from_mins(1));
    if !Linux::fences_are_asymmetric() {
        println!("{NOT_HERE} membarrier was never granted");
        return;
    }
    let listener = match Filter::asking(libc::SYS_membarrier).listen() {
        Ok(listener) => listener,
        Err(error) => {
            println!("{NOT_HERE} system calls cannot be listened to: {error}");
            return;
        }
    };
    let (heard, calls) = mpsc::channel();
    thread::spawn(move || {
        let mut first = true;
        loop {
            let answered = listener.answer(|command| {
                heard.send(command).expect("the process lives");
                std::mem::take(&mut first).then_some(libc::EPERM)
            });
            answered.expect("the kernel takes the answer");
        }
    });
    for _ in 0..2 {
        Linux::heavy_fence();
    }
    let calls: Vec<_> = calls.try_iter().collect();
    // The fence is refused, the process registers anew, and the fence is made. The next one is made
    // at once.
    assert_eq!(calls, [FENCE, REGISTER, FENCE, FENCE].map(|command| command as u64));
}

#[test]
fn a_process_that_the_kernel_does_not_know_to_be_registered_registers_anew() {
    if is_child() {
        return child();
    }
    let told = passes(|_| ());
    if told.contains(NOT_HERE) {
        println!("{told}");
    }
}
