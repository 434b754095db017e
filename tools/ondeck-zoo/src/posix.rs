//! Objects of the C library, and checks of its functions' results.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::io;
use std::mem::MaybeUninit;

/// Calls a function of the C library, and gives its result and its name to [`check`] or
/// [`acquired`].
macro_rules! posix {
    ($check:ident: $function:ident($($argument:expr),*)) => {
        $check(libc::$function($($argument),*), stringify!($function))
    };
}

/// A type of the C library whose objects a function destroys.
pub(crate) trait Destroy {
    /// The function.
    const DESTROY: unsafe extern "C" fn(*mut Self) -> c_int;
}

macro_rules! destroyed_by {
    ($($Object:ident: $destroy:ident,)*) => {$(
        impl Destroy for libc::$Object {
            const DESTROY: unsafe extern "C" fn(*mut Self) -> c_int = libc::$destroy;
        }
    )*};
}

destroyed_by! {
    pthread_mutex_t: pthread_mutex_destroy,
    pthread_cond_t: pthread_cond_destroy,
    pthread_rwlock_t: pthread_rwlock_destroy,
    pthread_spinlock_t: pthread_spin_destroy,
    pthread_barrier_t: pthread_barrier_destroy,
    sem_t: sem_destroy,
}

/// An object that threads share, and that only the C library's functions read and write.
#[derive(Debug)]
pub(crate) struct Object<T: Destroy>(UnsafeCell<T>);

// SAFETY: such objects are made to be used from many threads.
unsafe impl<T: Destroy> Send for Object<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Destroy> Sync for Object<T> {}

/// EBUSY means that the object is held: a bug, but not one that should turn a panic into an abort.
impl<T: Destroy> Drop for Object<T> {
    fn drop(&mut self) {
        // SAFETY: no other thread has the object any more.
        let code = unsafe { T::DESTROY(self.get()) };
        debug_assert!(code == 0 || std::thread::panicking(), "a destruction returned {code}");
    }
}

impl<T: Destroy> Object<T> {
    /// Makes an object that `initialize` has initialized.
    ///
    /// # Safety
    ///
    /// `initialize` either initializes the object that its argument points to, or panics. The
    /// object may be moved until it is used.
    pub(crate) unsafe fn new(initialize: impl FnOnce(*mut T)) -> Self {
        let mut object = MaybeUninit::uninit();
        initialize(object.as_mut_ptr());
        // SAFETY: it is initialized, as the caller promises.
        Self(UnsafeCell::new(unsafe { object.assume_init() }))
    }

    /// A pointer to it for the library's functions.
    #[inline(always)]
    pub(crate) fn get(&self) -> *mut T {
        self.0.get()
    }
}

/// Panics unless a pthread function returned 0.
///
/// Anything else from a correctly used lock is a bug, of this program or of the machine. A careful
/// C program also pays for the check: a test, and a branch that is never taken.
#[inline(always)]
pub(crate) fn check(code: c_int, function: &'static str) {
    if code != 0 {
        failed(code, function);
    }
}

#[cold]
#[inline(never)]
fn failed(code: c_int, function: &'static str) -> ! {
    panic!("{function} returned {code}: {}", io::Error::from_raw_os_error(code));
}

/// Whether a `trylock` function acquired; any failure but "held" is a bug, as in [`check`].
#[inline(always)]
pub(crate) fn acquired(code: c_int, function: &'static str) -> bool {
    if code != libc::EBUSY {
        check(code, function);
    }
    code == 0
}
