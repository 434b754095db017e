//! The locks that the shim can put behind `pthread_mutex_t`.

/// No lock of the shim: the program runs without it.
pub(crate) const GLIBC: &str = "glibc";

/// The names that the shim takes in `ONDECK_LOCK`, in its order: those whose state fits into what a mutex has
/// left. `ci/package.sh` compares them with the shim's own.
const SHIM: [&str; 22] = [
    "ondeck",
    "terrible_spinlock",
    "spinlock_amd",
    "spinlock",
    "ticket_spinlock",
    "ticket_mutex",
    "three_state_futex",
    "lockless_three_state",
    "lockless_four_state",
    "spin_to_futex",
    "adaptive_futex",
    "semaphore_mutex",
    "go_three_state",
    "go_spinbit",
    "ttas_backoff",
    "swift_optimal_v1",
    "swift_optimal_v2",
    "rust_std",
    "word_lock",
    "folly_microspin",
    "folly_picospin",
    "folly_microlock",
];

/// Refuses a name that the shim does not know, which would run another lock than the one asked for.
pub(crate) fn check(name: &str) -> Result<(), String> {
    if name == GLIBC || SHIM.contains(&name) {
        return Ok(());
    }
    Err(format!(
        "the shim has no lock `{name}`; there are {}; and {GLIBC}, which is none of its own",
        SHIM.join(", ")
    ))
}
