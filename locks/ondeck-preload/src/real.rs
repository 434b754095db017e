//! The C library's own functions, for the objects that the shim does not serve.
//!
//! They are looked up in the C library itself, by name and version, without the loader's help:
//! dlvsym(3) takes the loader's lock, and the constructor of a library that another thread loads
//! may hold that lock while it waits for a mutex. Our own constructor finds all of them. An earlier
//! call finds the function that it needs in the same way, so the order does not matter.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};
use core::{mem, ptr};

use libc::timespec;
use ondeck_record::elf;

use crate::fatal;
use crate::object::{Barrier, Cond, Mutex, RwLock};

/// A function of the C library, and its address once it was found. Relaxed: the address is constant
/// in a process, and the code at it was there before the process had threads.
struct Real {
    name: &'static str,
    version: &'static str,
    found: AtomicPtr<c_void>,
}

impl Real {
    const fn new(name: &'static str, version: &'static str) -> Self {
        Self { name, version, found: AtomicPtr::new(ptr::null_mut()) }
    }

    #[inline]
    fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    #[cold]
    #[inline(never)]
    fn find(&self) -> *mut c_void {
        let Some(found) =
            elf::Library::libc().and_then(|libc| libc.function(self.name, self.version))
        else {
            fatal::end(&[
                "the C library has no ",
                self.name,
                "@",
                self.version,
                "; glibc 2.34 or newer is needed",
            ]);
        };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

macro_rules! functions {
    ($($field:ident: $name:literal $version:literal ($($parameter:ident: $argument:ty),*);)*) => {
        /// The indexes in [`ALL`].
        #[allow(non_camel_case_types, reason = "the names of functions")]
        enum Place { $($field,)* Count }

        static ALL: [Real; Place::Count as usize] = [$(Real::new($name, $version)),*];

        $(
            #[doc = concat!("The C library's `", $name, "`.")]
            ///
            /// # Safety
            ///
            /// As for that function.
            pub(crate) unsafe fn $field($($parameter: $argument),*) -> c_int {
                let found = ALL[Place::$field as usize].get();
                // SAFETY: the C library's function of this name and version has this type.
                let function = unsafe {
                    mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> c_int>(found)
                };
                // SAFETY: as the caller promises.
                unsafe { function($($parameter),*) }
            }
        )*
    };
}

functions! {
    mutex_init: "pthread_mutex_init" "GLIBC_2.2.5" (mutex: *mut Mutex, attributes: *const c_void);
    mutex_destroy: "pthread_mutex_destroy" "GLIBC_2.2.5" (mutex: &Mutex);
    mutex_lock: "pthread_mutex_lock" "GLIBC_2.2.5" (mutex: &Mutex);
    mutex_trylock: "pthread_mutex_trylock" "GLIBC_2.34" (mutex: &Mutex);
    mutex_clocklock: "pthread_mutex_clocklock" "GLIBC_2.34"
        (mutex: &Mutex, clock: c_int, deadline: Option<&timespec>);
    mutex_unlock: "pthread_mutex_unlock" "GLIBC_2.2.5" (mutex: &Mutex);
    cond_init: "pthread_cond_init" "GLIBC_2.3.2" (cond: *mut Cond, attributes: *const c_void);
    cond_destroy: "pthread_cond_destroy" "GLIBC_2.3.2" (cond: &Cond);
    cond_signal: "pthread_cond_signal" "GLIBC_2.3.2" (cond: &Cond);
    cond_broadcast: "pthread_cond_broadcast" "GLIBC_2.3.2" (cond: &Cond);
    rwlock_init: "pthread_rwlock_init" "GLIBC_2.34" (rwlock: *mut RwLock, attributes: *const c_void);
    rwlock_destroy: "pthread_rwlock_destroy" "GLIBC_2.34" (rwlock: &RwLock);
    rwlock_rdlock: "pthread_rwlock_rdlock" "GLIBC_2.34" (rwlock: &RwLock);
    rwlock_tryrdlock: "pthread_rwlock_tryrdlock" "GLIBC_2.34" (rwlock: &RwLock);
    rwlock_clockrdlock: "pthread_rwlock_clockrdlock" "GLIBC_2.34"
        (rwlock: &RwLock, clock: c_int, deadline: &timespec);
    rwlock_wrlock: "pthread_rwlock_wrlock" "GLIBC_2.34" (rwlock: &RwLock);
    rwlock_trywrlock: "pthread_rwlock_trywrlock" "GLIBC_2.34" (rwlock: &RwLock);
    rwlock_clockwrlock: "pthread_rwlock_clockwrlock" "GLIBC_2.34"
        (rwlock: &RwLock, clock: c_int, deadline: &timespec);
    rwlock_unlock: "pthread_rwlock_unlock" "GLIBC_2.34" (rwlock: &RwLock);
    barrier_init: "pthread_barrier_init" "GLIBC_2.34"
        (barrier: *mut Barrier, attributes: *const c_void, count: u32);
    barrier_destroy: "pthread_barrier_destroy" "GLIBC_2.34" (barrier: &Barrier);
    clock_gettime: "clock_gettime" "GLIBC_2.17" (clock: c_int, time: *mut timespec);
}

/// Replaces clock_gettime(3) in this library: another one may show the program a time that is not
/// the kernel's.
///
/// # Safety
///
/// As for that function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_clock_gettime(clock: c_int, time: *mut timespec) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { clock_gettime(clock, time) }
}

/// Finds all of them, so that no call has to.
pub(crate) fn find_all() {
    for real in ALL.iter().chain(&CALLED_FROM_C) {
        real.get();
    }
}

/// Functions of the C library that C code calls: no frame of Rust may be on the stack when a thread
/// is cancelled in them, and dlopen goes by its caller.
static CALLED_FROM_C: [Real; 10] = [
    Real::new("pthread_cond_wait", "GLIBC_2.3.2"),
    Real::new("pthread_cond_timedwait", "GLIBC_2.3.2"),
    Real::new("pthread_cond_clockwait", "GLIBC_2.34"),
    Real::new("pthread_cond_wait", "GLIBC_2.2.5"),
    Real::new("pthread_cond_timedwait", "GLIBC_2.2.5"),
    Real::new("pthread_setcanceltype", "GLIBC_2.2.5"),
    Real::new("pthread_barrier_wait", "GLIBC_2.34"),
    Real::new("sem_wait", "GLIBC_2.34"),
    Real::new("sem_clockwait", "GLIBC_2.34"),
    Real::new("dlopen", "GLIBC_2.34"),
];

/// Returns the address of one of them, by its index in `CALLED_FROM_C`.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_real(which: usize) -> *mut c_void {
    CALLED_FROM_C[which].get()
}
