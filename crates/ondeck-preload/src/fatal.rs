//! The only message that the shim prints: why it cannot serve this process.

/// The prefix of each message.
pub(crate) const NAME: &str = "libondeck_preload.so: ";

pub(crate) fn write(text: &str) {
    // SAFETY: the text is live, and write(2) reads no more than its length.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
}

/// Ends the process with a message, before it has used the shim or in the middle of a lock: nothing is
/// allocated and no handler runs.
#[cold]
pub(crate) fn end(parts: &[&str]) -> ! {
    write(NAME);
    for part in parts {
        write(part);
    }
    write("\n");
    exit()
}

/// Ends the process, after a message.
pub(crate) fn exit() -> ! {
    const STATUS: i32 = 2;
    // SAFETY: takes a number, and does not return.
    unsafe { libc::_exit(STATUS) }
}

/// Handles a panic, which only a bug of the shim can cause: `link.sh` substitutes it for the standard
/// library's function.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_panic() -> ! {
    write(NAME);
    write("a bug: an assertion of the shim does not hold\n");
    // SAFETY: abort has no preconditions.
    unsafe { libc::abort() }
}

/// Replaces malloc(3) in the unwinder that `link.sh` links: always out of memory.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_no_memory(_size: usize) -> *mut core::ffi::c_void {
    core::ptr::null_mut()
}

/// Replaces free(3) there: nothing was allocated.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_not_freed(_memory: *mut core::ffi::c_void) {}
