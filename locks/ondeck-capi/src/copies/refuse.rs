//! The error message with which a process that has two parking tables ends.

use core::ffi::CStr;

use super::objects::Object;

/// The length to which the program's path is cut in the message.
const PATH: usize = 1024;

/// The number of parts of a message.
const PARTS: u8 = 5;

/// Ends the process with a message that names both objects and the remedy.
///
/// Neither allocates nor locks, because the loader is in the middle of its work.
#[cold]
pub(super) fn two_tables(own: Option<&Object>, other: &Object) -> ! {
    let mut path = [0_u8; PATH];
    let program = program(&mut path);
    let name = |object: Option<&Object>| match object.map(|object| object.name) {
        None => c"this object".to_bytes(),
        Some(name) if CStr::is_empty(name) => program,
        Some(name) => name.to_bytes(),
    };
    let parts: [&[u8]; PARTS as usize] = [
        b"ondeck: two copies of libondeck that do not share their parking table and fences are \
loaded into this process: ",
        name(Some(other)),
        b" and ",
        name(own),
        b". A lock that both use would lose wake-ups. Link all objects with libondeck.so \
(-londeck) instead of libondeck.a; or export the program's own copy: link it with -rdynamic, or \
with -Wl,--export-dynamic-symbol='ondeck_*'.\n",
    ];
    let parts = parts
        .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    // SAFETY: each pointer and length is of one live slice; writev(2) only reads them.
    unsafe { libc::writev(libc::STDERR_FILENO, parts.as_ptr(), PARTS.into()) };
    // SAFETY: no preconditions.
    unsafe { libc::abort() }
}

/// Returns the path of the program.
fn program(path: &mut [u8; PATH]) -> &[u8] {
    // SAFETY: readlink(2) writes at most the given length.
    let length =
        unsafe { libc::readlink(c"/proc/self/exe".as_ptr(), path.as_mut_ptr().cast(), PATH) };
    match usize::try_from(length) {
        Ok(length) => &path[..length],
        Err(_) => b"the program",
    }
}
