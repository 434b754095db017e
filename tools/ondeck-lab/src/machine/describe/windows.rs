//! Windows: its registry, and its account of memory.

use std::ffi::{CStr, c_char};

use ondeck::platform::Native;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

use crate::clock;
use crate::results::Machine;
use crate::system::{Here, System};

/// Describes the machine that this process runs on.
pub(in crate::machine) fn describe() -> Machine {
    const PROCESSOR: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0";
    const VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
    let build = registry(VERSION, "CurrentBuildNumber").unwrap_or_default();
    let kernel = match wine() {
        Some(version) => format!("Wine {version} as Windows {build}"),
        None => format!("Windows {build}"),
    };
    Machine {
        cpu: registry(PROCESSOR, "ProcessorNameString").unwrap_or_default(),
        architecture: std::env::consts::ARCH.to_owned(),
        cpus: Here::usable_cpus().len(),
        usable_cpus: Native::parallelism(),
        memory_bytes: memory(),
        virtualized: hypervisor(),
        kernel: kernel.trim_end().to_owned(),
        clock: clock::name().to_owned(),
        clock_source: Here::CLOCK.to_owned(),
        ..Machine::default()
    }
}

/// The version of Wine, if the system is Wine: a measurement there is not one of Windows.
fn wine() -> Option<String> {
    // SAFETY: the name ends with a zero byte; the library is part of every process.
    let system = unsafe { GetModuleHandleA(c"ntdll.dll".as_ptr().cast()) };
    if system.is_null() {
        return None;
    }
    // SAFETY: the library stays loaded as long as the process runs, and the name ends with a zero
    // byte.
    let function = unsafe { GetProcAddress(system, c"wine_get_version".as_ptr().cast()) }?;
    // SAFETY: only Wine exports this name, and its signature in C is `const char *(void)`.
    let version: extern "C" fn() -> *const c_char = unsafe { std::mem::transmute(function) };
    // SAFETY: Wine's version is a constant text that ends with a zero byte.
    Some(unsafe { CStr::from_ptr(version()) }.to_string_lossy().into_owned())
}

/// Whether the CPU reports a hypervisor; its name is not queried.
fn hypervisor() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        const FEATURES: u32 = 1;
        const HYPERVISOR: u32 = 1 << 31;
        let flagged = core::arch::x86_64::__cpuid(FEATURES).ecx & HYPERVISOR != 0;
        flagged.then(|| "unknown".to_owned())
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

fn memory() -> u64 {
    let mut status =
        MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..Default::default() };
    // SAFETY: the structure is live and contains its own size.
    if unsafe { GlobalMemoryStatusEx(&raw mut status) } == 0 { 0 } else { status.ullTotalPhys }
}

/// Reads a text from the registry, of at most the length that names of CPUs and versions have.
fn registry(key: &str, name: &str) -> Option<String> {
    let zero_ended = |text: &str| text.encode_utf16().chain([0]).collect::<Vec<u16>>();
    let (key, name) = (zero_ended(key), zero_ended(name));
    let mut text = [0_u16; 256];
    let mut bytes = size_of_val(&text) as u32;
    // SAFETY: the names end with zeros, the array has the given length, and the other results are
    // not requested.
    let error = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            RRF_RT_REG_SZ,
            std::ptr::null_mut(),
            text.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    let letters = text.split(|letter| *letter == 0).next()?;
    let text = String::from_utf16_lossy(letters).trim().to_owned();
    (error == 0 && !text.is_empty()).then_some(text)
}
