//! The polling time of threads that wait in C: see `spin.c` and `semaphore.c`.

use ondeck::platform::Linux;
use ondeck::spin;

/// Returns ticks of the processor's counter: the duration of a wake, or the value of `ONDECK_SPIN`.
/// 0 if the awaited thread could not run during the polling.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_polling_ticks() -> u64 {
    spin::polling_ticks::<Linux>() as u64
}
