//! The only message that the shim prints: why it cannot serve this process.

/// The prefix of each message.
const NAME: &str = "libondeck_preload.so: ";

fn write(text: &str) {
    // SAFETY: the text is live, and write(2) reads no more than its length.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
}

/// Ends the process with a message, before it has used the shim or in the middle of a lock: nothing
/// is allocated and no handler runs.
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
