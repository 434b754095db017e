//! The locks that the shim can put behind `pthread_mutex_t`.

/// No lock of the shim: the program runs without it.
pub(crate) const GLIBC: &str = "glibc";

/// The names that the shim takes in `ONDECK_LOCK`: those whose state fits into the bytes of a mutex and
/// that need no memory of each thread's.
const SHIM: [&str; 3] = ["ondeck", "go_spinbit", "three_state_futex"];

/// Refuses a name that the shim does not know, which would run another lock than the one asked for.
pub(crate) fn check(name: &str) -> Result<(), String> {
    if name == GLIBC || SHIM.contains(&name) {
        return Ok(());
    }
    Err(format!(
        "the shim has no lock `{name}`; there is {}, and {GLIBC} for none",
        SHIM.join(", ")
    ))
}
