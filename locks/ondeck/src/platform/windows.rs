//! Windows: `WaitOnAddress`, `WakeByAddressSingle` and `WakeByAddressAll`, since Windows 8; the
//! heavy fence `FlushProcessWriteBuffers`, since Windows Vista.
//!
//! `WaitOnAddress` compares the word and begins to sleep in one step. The wakes use the address as
//! a name: their documentation allows that the memory is gone. They do not report how many threads
//! they woke.
//!
//! # The heavy fence
//!
//! `FlushProcessWriteBuffers` interrupts every processor that runs a thread of the process, and
//! "guarantees the visibility of write operations performed on one processor to the other
//! processors". On x86 only a store and a later load can be reordered, so that is a full fence;
//! folly's `asymmetricHeavyBarrier` and .NET's garbage collector rely on it. For other processors
//! the documentation does not guarantee enough about loads: there all fences are full ones.
//!
//! Under Wine it had no effect for many years, without any sign of that. There also, all fences are
//! full ones.
//!
//! # Time
//!
//! Waits end at a tick of the system's timer, 1 to 16 ms after their deadline.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use windows_sys::Win32::Foundation::{ERROR_TIMEOUT, GetLastError, SetLastError};
use windows_sys::Win32::System::Environment::GetEnvironmentVariableA;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::Threading::{
    FlushProcessWriteBuffers, GetCurrentProcessorNumber, GetCurrentThreadId, INFINITE,
    WaitOnAddress, WakeByAddressAll, WakeByAddressSingle,
};

use super::system::System;
use super::{FutexWait, Native, Timestamp};

const NANOS_PER_MILLI: u128 = 1_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

// SAFETY: the top of this file states what each call guarantees. Processes do not fork.
unsafe impl System for Native {
    const MAY_HAVE_HEAVY_FENCE: bool = cfg!(any(target_arch = "x86_64", target_arch = "x86"));

    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        let millis = deadline.map_or(INFINITE, |deadline| {
            // Rounded up. A wait of 49 days ends early, and the caller treats that as a spurious
            // wake.
            let left = deadline.since(Self::now()).as_nanos().div_ceil(NANOS_PER_MILLI);
            u32::try_from(left).unwrap_or(INFINITE).min(INFINITE - 1)
        });
        // SAFETY: reads and restores a number of the calling thread.
        let before = unsafe { GetLastError() };
        // SAFETY: two live words of 4 bytes, which the system only reads.
        let woken = unsafe {
            WaitOnAddress(
                word.as_ptr().cast(),
                (&raw const expected).cast(),
                size_of::<u32>(),
                millis,
            )
        };
        // SAFETY: as above. A program that locks between its own call and `GetLastError` finds its
        // own error.
        let error = unsafe { GetLastError() };
        // SAFETY: as above.
        unsafe { SetLastError(before) };
        let passed = || deadline.is_some_and(|deadline| Self::now() >= deadline);
        if woken == 0 && error == ERROR_TIMEOUT && passed() {
            FutexWait::TimedOut
        } else {
            FutexWait::Woken
        }
    }

    fn futex_wake(address: *const AtomicU32, count: u32) -> usize {
        match count {
            0 => {}
            // SAFETY: the address is a name, which is not read.
            1 => unsafe { WakeByAddressSingle(address.cast()) },
            // Not all, because many may sleep and only a few must wake.
            // SAFETY: as above.
            2..=4 => (0..count).for_each(|_| unsafe { WakeByAddressSingle(address.cast()) }),
            // SAFETY: as above.
            _ => unsafe { WakeByAddressAll(address.cast()) },
        }
        0
    }

    #[inline]
    fn thread_pointer() -> core::num::NonZeroUsize {
        // SAFETY: it has no precondition.
        let name = unsafe { GetCurrentThreadId() } as usize;
        core::num::NonZeroUsize::new(name).unwrap_or(core::num::NonZeroUsize::MAX)
    }

    fn now() -> Timestamp {
        /// Counts in a second; 0 while no thread has asked. Relaxed: it never changes.
        static RATE: AtomicU64 = AtomicU64::new(0);
        let rate = match RATE.load(Ordering::Relaxed) {
            0 => {
                let mut rate = 0;
                // SAFETY: writes a live number. It never fails since Windows XP.
                unsafe { QueryPerformanceFrequency(&raw mut rate) };
                RATE.store(rate.cast_unsigned(), Ordering::Relaxed);
                rate.cast_unsigned()
            }
            rate => rate,
        };
        let mut count = 0;
        // SAFETY: as above.
        unsafe { QueryPerformanceCounter(&raw mut count) };
        let count = count.cast_unsigned();
        // In two parts, because the product of the whole would wrap around.
        let (seconds, rest) = (count / rate, count % rate);
        Timestamp::from_nanos(seconds * NANOS_PER_SECOND + rest * NANOS_PER_SECOND / rate)
    }

    fn register_heavy_fence() -> bool {
        Self::MAY_HAVE_HEAVY_FENCE && !is_wine()
    }

    fn heavy_fence() -> bool {
        // SAFETY: takes nothing and returns nothing.
        unsafe { FlushProcessWriteBuffers() };
        true
    }

    fn with_variable(name: &CStr, use_it: impl FnOnce(&[u8])) {
        let mut value = [0_u8; 256];
        let (start, size) = (value.as_mut_ptr(), value.len() as u32);
        // SAFETY: the name ends with a zero byte; the system writes at most the size of the live
        // array.
        let length = unsafe { GetEnvironmentVariableA(name.as_ptr().cast(), start, size) } as usize;
        // 0 if there is none; the required size if the value is too long.
        if (1..value.len()).contains(&length) {
            use_it(&value[..length]);
        }
    }

    #[inline]
    fn cpu() -> u32 {
        // SAFETY: takes nothing.
        unsafe { GetCurrentProcessorNumber() }
    }
}

/// Returns whether the system is Wine, which has a special function.
fn is_wine() -> bool {
    // SAFETY: the names end with zero bytes; the library is part of every process.
    unsafe {
        let system = GetModuleHandleA(c"ntdll.dll".as_ptr().cast());
        !system.is_null() && GetProcAddress(system, c"wine_get_version".as_ptr().cast()).is_some()
    }
}
