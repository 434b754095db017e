//! How long threads poll that wait in C: see `spin.c` and `semaphore.c`.

use ondeck::platform::Linux;
use ondeck::spin;

/// Ticks of the processor's counter: as long as a wake takes, or what `ONDECK_SPIN` says. 0 where the thread that is
/// waited for could not run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_polling_ticks() -> u64 {
    spin::polling_ticks::<Linux>() as u64
}
