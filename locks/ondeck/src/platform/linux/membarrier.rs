//! The heavy fence: membarrier(2), private and expedited.
//!
//! membarrier makes every CPU that runs a thread of this process execute a full fence between the
//! call and its return; a thread that does not run executed one when it was switched out
//! (membarrier(2), "MEMBARRIER_CMD_PRIVATE_EXPEDITED").

use super::quietly;

/// Registers the process. Returns false if the kernel does not have the call or a filter refuses
/// it.
pub(super) fn register() -> bool {
    may_be_tried() && call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
}

/// Makes the fence. Returns false if the process is not registered, or if a filter refuses the
/// call.
pub(super) fn fence() -> bool {
    call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
}

fn call(command: libc::c_int) -> bool {
    // SAFETY: membarrier takes a command, flags and a CPU, all integers, and touches no memory.
    quietly(|| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }).0 == 0
}

#[cfg(not(target_os = "android"))]
fn may_be_tried() -> bool {
    true
}

/// Android's filter does not refuse a call that its C library does not make; it ends the process.
/// On Android 8 and 9 that was seen for membarrier (dotnet/runtime issue 92196; .NET calls it from
/// API level 29 on). Level 29 was not tried here, so this requires the next level.
#[cfg(target_os = "android")]
fn may_be_tried() -> bool {
    let mut text = [0_u8; libc::PROP_VALUE_MAX as usize];
    // SAFETY: the name ends with a zero byte, and the value has the length that the call requires.
    // It reads memory that the system shares with each process.
    let (length, _) = quietly(|| unsafe {
        libc::__system_property_get(c"ro.build.version.sdk".as_ptr(), text.as_mut_ptr().cast())
    });
    let length = usize::try_from(length).unwrap_or(0);
    text.get(..length).is_some_and(level_has_it)
}

/// Returns whether Android of this API level lets programs call membarrier; false if the level is
/// not known.
#[cfg(any(target_os = "android", test))]
fn level_has_it(level: &[u8]) -> bool {
    const ANDROID_11: u32 = 30;
    core::str::from_utf8(level)
        .is_ok_and(|level| level.parse().is_ok_and(|level: u32| level >= ANDROID_11))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn android_has_it_from_its_eleventh_on() {
        let levels: [&[u8]; 7] = [b"30", b"36", b"29", b"21", b"", b"R", b"\xff"];
        assert_eq!(levels.map(level_has_it), [true, true, false, false, false, false, false]);
    }
}
