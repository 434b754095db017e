//! A filter on system calls, for the calling thread and until its end.

/// From now on the kernel refuses the system call of this number with `errno`, to the calling thread and to
/// no other.
pub fn refuse(call: libc::c_long, errno: i32) {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jf, k| libc::sock_filter { code, jt: 0, jf, k };
    let mut filter = [
        // The number is the first word that a filter sees.
        step(LOAD, 0, 0),
        step(EQUAL, 1, call as u32),
        step(RETURN, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: two system calls with live arguments.
    let result = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
    };
    assert_eq!(result, 0, "filters are allowed: {}", std::io::Error::last_os_error());
}
