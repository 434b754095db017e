//! The one thing that the shim prints: why it cannot serve this process.

/// Ends the process with a message, before it has used the shim or in the middle of a lock: nothing is
/// allocated and no handler runs.
#[cold]
pub(crate) fn end(parts: &[&str]) -> ! {
    const STATUS: i32 = 2;
    let write = |text: &str| {
        // SAFETY: the text is live, and write(2) reads no more than its length.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
    };
    write("libondeck_preload.so: ");
    for part in parts {
        write(part);
    }
    write("\n");
    // SAFETY: takes a number, and does not return.
    unsafe { libc::_exit(STATUS) }
}
