//! The heavy fence: membarrier(2), private and expedited.
//!
//! membarrier makes every CPU that runs a thread of this process execute a full fence between the
//! call and its return; a thread that does not run has had one when it was switched out
//! (membarrier(2), "MEMBARRIER_CMD_PRIVATE_EXPEDITED").

use super::quietly;

/// Registers the process; false if the kernel does not have it or a filter refuses.
pub(super) fn register() -> bool {
    call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
}

/// Makes the fence; false if the kernel does not know the process, or a filter refuses.
pub(super) fn fence() -> bool {
    call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
}

fn call(command: libc::c_int) -> bool {
    // SAFETY: membarrier takes a command, flags and a CPU, all integers, and touches no memory.
    quietly(|| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }).0 == 0
}
