//! `ipc::Mutex`: two processes count in memory that they share. If one ended in its section, the
//! other would get the guard as an error, and repair the data. 64-bit Linux.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn main() {
    use ondeck::ipc::Mutex;

    // SAFETY: a new mapping, large enough and never unmapped; the mutex is written before anyone
    // uses it.
    let count: &Mutex<u64> = unsafe {
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        let memory = libc::mmap(std::ptr::null_mut(), size_of::<Mutex<u64>>(), access, kind, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        let place = memory.cast::<Mutex<u64>>();
        place.write(Mutex::new(0));
        &*place
    };
    // SAFETY: this process has one thread, so its child may call any function.
    let child = unsafe { libc::fork() };
    for _ in 0..1_000 {
        *count.lock().expect("no process ended in its section") += 1;
    }
    if child > 0 {
        // SAFETY: the process is this one's child.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
        println!("both counted to {}", *count.lock().expect("as above"));
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn main() {
    println!("its protocol is that of 64-bit Linux");
}
