//! macOS: facts of sysctl(3).

use std::ffi::{CStr, c_void};

use ondeck::platform::Native;

use crate::clock;
use crate::results::Machine;
use crate::system::{Here, System};

/// Describes the machine that this process runs on.
pub(in crate::machine) fn describe() -> Machine {
    let number = |name| number(name).and_then(|number| usize::try_from(number).ok());
    Machine {
        cpu: text(c"machdep.cpu.brand_string").unwrap_or_default(),
        architecture: std::env::consts::ARCH.to_owned(),
        cpus: number(c"hw.logicalcpu").unwrap_or_else(Native::parallelism),
        cores: number(c"hw.physicalcpu"),
        usable_cpus: Native::parallelism(),
        caches: caches(),
        memory_bytes: number(c"hw.memsize").unwrap_or(0) as u64,
        kernel: format!(
            "macOS {}, Darwin {}",
            text(c"kern.osproductversion").unwrap_or_default(),
            text(c"kern.osrelease").unwrap_or_default()
        ),
        virtualized: (number(c"kern.hv_vmm_present") == Some(1)).then(|| "unknown".to_owned()),
        clock: clock::name().to_owned(),
        clock_source: Here::CLOCK.to_owned(),
        load_average: load_average(),
        ..Machine::default()
    }
}

/// The caches of a core of the fastest kind.
fn caches() -> Vec<String> {
    let levels = [
        ("L1d", c"hw.perflevel0.l1dcachesize", c"hw.l1dcachesize"),
        ("L1i", c"hw.perflevel0.l1icachesize", c"hw.l1icachesize"),
        ("L2", c"hw.perflevel0.l2cachesize", c"hw.l2cachesize"),
        ("L3", c"hw.perflevel0.l3cachesize", c"hw.l3cachesize"),
    ];
    let size = |(level, of_kind, of_all)| {
        let bytes = number(of_kind).or_else(|| number(of_all)).filter(|bytes| *bytes > 0)?;
        Some(format!("{level} {} KiB", bytes / 1024))
    };
    levels.into_iter().filter_map(size).collect()
}

fn load_average() -> Option<f64> {
    let mut load = [0.0_f64; 1];
    // SAFETY: the array has room for the requested number of values.
    let told = unsafe { libc::getloadavg(load.as_mut_ptr(), 1) };
    (told == 1).then_some(load[0])
}

/// Reads a fact of the kernel into memory and returns its number of bytes, if it fits.
fn fact(name: &CStr, into: *mut c_void, room: usize) -> Option<usize> {
    let mut size = room;
    // SAFETY: the name ends with a zero byte; the caller's memory is live and has the given length.
    // Nothing is set.
    let error =
        unsafe { libc::sysctlbyname(name.as_ptr(), into, &raw mut size, std::ptr::null_mut(), 0) };
    (error == 0).then_some(size)
}

/// A number of 4 or of 8 bytes.
fn number(name: &CStr) -> Option<u64> {
    let mut bytes = [0_u8; size_of::<u64>()];
    let size = fact(name, bytes.as_mut_ptr().cast(), bytes.len())?;
    // All Apple processors are little-endian, so the bytes that were not written stay zero.
    matches!(size, 4 | 8).then(|| u64::from_le_bytes(bytes))
}

fn text(name: &CStr) -> Option<String> {
    let mut bytes = [0_u8; 256];
    fact(name, bytes.as_mut_ptr().cast(), bytes.len())?;
    let text = CStr::from_bytes_until_nul(&bytes).ok()?.to_string_lossy().trim().to_owned();
    (!text.is_empty()).then_some(text)
}
