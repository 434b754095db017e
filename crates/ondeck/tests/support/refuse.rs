//! A filter on system calls, for the calling thread and until its end.

#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// futex(2); on 32 bits there is a second call, with times of 64 bits.
const FUTEXES: &[libc::c_long] =
    if usize::BITS == 32 { &[libc::SYS_futex, 422] } else { &[libc::SYS_futex] };

/// From now on the kernel refuses the system call of this number with `errno`, to the calling thread and to
/// no other.
pub fn refuse(call: libc::c_long, errno: i32) {
    let mut filter = [
        // The number is the first word that a filter sees.
        step(LOAD, 0, 0),
        step(EQUAL, 1, call as u32),
        step(RETURN, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
    ];
    install(&mut filter);
}

/// From now on the kernel says to the calling thread that it has no futexes.
pub fn refuse_futexes() {
    for &call in FUTEXES {
        refuse(call, libc::ENOSYS);
    }
}

/// From now on the kernel refuses the calling thread's waits for private futexes as the locks ask for them. The thread
/// wakes others as before: with musl a thread that ends wakes itself the one that joins it.
pub fn refuse_waits() {
    refuse_futex_operation(libc::FUTEX_WAIT_BITSET, libc::ENOSYS);
}

/// As `refuse`, for this operation on private futexes.
pub fn refuse_futex_operation(operation: i32, errno: i32) {
    /// Where a filter sees the low half of the second argument.
    const SECOND: u32 = 16 + 8 + if cfg!(target_endian = "big") { 4 } else { 0 };
    let operation = (operation | libc::FUTEX_PRIVATE_FLAG) as u32;
    for &call in FUTEXES {
        let mut filter = [
            step(LOAD, 0, 0),
            step(EQUAL, 3, call as u32),
            step(LOAD, 0, SECOND),
            step(EQUAL, 1, operation),
            step(RETURN, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
            step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        ];
        install(&mut filter);
    }
}

/// A step that goes on to the next one, or leaves out so many if a comparison fails.
fn step(code: u16, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt: 0, jf, k }
}

fn install(filter: &mut [libc::sock_filter]) {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: two system calls with live arguments.
    let result = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
    };
    assert_eq!(result, 0, "filters are allowed: {}", std::io::Error::last_os_error());
}
