//! The state of recording in this process: the flag, the mapped file, the beginning, a child of a
//! fork.
//!
//! The flag and the pointer to the file lie in pages that the kernel fills with zeros in the child
//! of a fork (madvise(2), `MADV_WIPEONFORK`), as the parking table does. Zero is "not decided": the
//! child decides anew when it first finds a lock held, and opens its own file. That also works for
//! forks that the C library does not see. If the kernel refuses, a handler of pthread_atfork(3)
//! clears them.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering};

use crate::control::{self, Control, wanted};
use crate::layout::{File, SIZE, TRACKED_SIZE};
use crate::sys::{self, Descriptor, Text};
use crate::{begin, end};

/// Not decided.
const UNKNOWN: u32 = 0;
/// A thread is deciding.
const DECIDING: u32 = 1;
const OFF: u32 = 2;
const ON: u32 = 3;
/// Recording cannot begin: there is no room, no file, no memory.
const REFUSED: u32 = 4;

/// Aligned to the largest page size of any kernel, because the kernel wipes whole pages.
#[repr(C, align(65536))]
struct Wiped {
    flag: AtomicU32,
    /// The word of the control page for which the flag was decided; 0 without a page.
    answered: AtomicU32,
    /// The number of the switch for which the file was created; 0 stands for the environment.
    made_for: AtomicU32,
    file: AtomicPtr<File>,
    /// A buffer of the deciding thread, whose stack may have no room for a path.
    path: UnsafeCell<Path>,
}

// SAFETY: the only field that is not atomic is used only by the thread that has written `DECIDING`.
unsafe impl Sync for Wiped {}

pub type Path = Text<4160>;

static STATE: Wiped = Wiped {
    flag: AtomicU32::new(UNKNOWN),
    answered: AtomicU32::new(0),
    made_for: AtomicU32::new(0),
    file: AtomicPtr::new(ptr::null_mut()),
    path: UnsafeCell::new(Path::new()),
};

/// Whether this process image, or a process that it was forked from, has created a file before. Not
/// wiped.
static COUNTED: AtomicBool = AtomicBool::new(false);

/// The folder that the environment names, ended by a zero; empty if recording is not wanted. Not
/// wiped.
static FOLDER: [AtomicU8; 4080] = [const { AtomicU8::new(0) }; 4080];

/// Whether `ONDECK_RECORD` is set. Not wiped.
static BURSTS: AtomicBool = AtomicBool::new(false);

/// The page of `ONDECK_CONTROL`. Not wiped: a child of a fork also has the mapping.
static CONTROL: AtomicPtr<Control> = AtomicPtr::new(ptr::null_mut());

/// The program or library that contains the recorder; 0 before the constructor has run.
static READY: AtomicU32 = AtomicU32::new(0);

/// Called by the loader, before `main` and before other constructors that use locks. The number is
/// the priority; numbers up to 100 are reserved for the C library. Recording is off before it runs.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static CONSTRUCTOR: extern "C" fn() = start;

/// Called by the loader when the program ends by `exit` or by returning from `main`.
#[used]
#[unsafe(link_section = ".fini_array.00101")]
static DESTRUCTOR: extern "C" fn() = end;

extern "C" fn end() {
    if is_on()
        && let Some(file) = file()
    {
        sys::with_errno_kept(|| end::finish(file));
    }
}

extern "C" fn start() {
    sys::with_errno_kept(|| {
        if let Some(path) = variable(c"ONDECK_CONTROL") {
            map_control(path);
        }
        if let Some(folder) = variable(c"ONDECK_PROFILE") {
            for (to, from) in FOLDER[..FOLDER.len() - 1].iter().zip(folder.to_bytes()) {
                to.store(*from, Ordering::Relaxed);
            }
        }
        BURSTS.store(variable(c"ONDECK_RECORD").is_some(), Ordering::Relaxed);
        wipe_in_children();
        READY.store(1, Ordering::Release);
        file();
    });
}

/// Returns a variable of the environment. A program with more rights than its user ignores it.
fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: getauxval(3) only reads what the kernel gave the process.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return None;
    }
    // SAFETY: the name ends with a zero byte; constructors run before any thread could change the
    // environment.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: getenv returns null or a string that ends with a zero byte, which the caller no
    // longer uses when a thread could change it.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }).filter(|value| !value.is_empty())
}

fn map_control(path: &CStr) {
    let Ok(file) = Descriptor::open(path, libc::O_RDONLY) else { return };
    let Some(page) = file.map(control::SIZE, false) else { return };
    let page = page.cast::<Control>().as_ptr();
    // Accessing the mapping of a file that is too short would raise SIGBUS.
    let mut magic = [0; 8];
    if file.read(&mut magic) == magic.len() && u64::from_ne_bytes(magic) == control::MAGIC {
        CONTROL.store(page, Ordering::Release);
    }
}

fn wipe_in_children() {
    let start = (&raw const STATE).cast_mut().cast();
    // SAFETY: the pages belong to this static alone, and the advice changes nothing in this
    // process.
    let refused = unsafe { libc::madvise(start, size_of::<Wiped>(), libc::MADV_WIPEONFORK) } != 0;
    if refused {
        // SAFETY: the handler is a function of this library.
        unsafe { libc::pthread_atfork(None, None, Some(wipe)) };
    }
}

/// Runs in the child, whose only thread this is.
extern "C" fn wipe() {
    STATE.file.store(ptr::null_mut(), Ordering::Relaxed);
    STATE.flag.store(UNKNOWN, Ordering::Relaxed);
}

/// Returns whether locks are recorded. One load; for fast paths.
#[inline(always)]
pub fn is_on() -> bool {
    STATE.flag.load(Ordering::Relaxed) == ON
}

/// Returns whether locks that support [bursts](crate::burst) should record them. Known after the
/// constructors of priority 101 have run. One load; for fast paths.
#[inline(always)]
pub fn wants_bursts() -> bool {
    BURSTS.load(Ordering::Relaxed)
}

/// Returns the file, while locks are recorded. For slow paths: if the decision to record is open,
/// or if another process has requested a change, it decides.
#[inline]
pub fn file() -> Option<&'static File> {
    let flag = STATE.flag.load(Ordering::Acquire);
    let control = CONTROL.load(Ordering::Acquire);
    if control.is_null() && flag == OFF {
        return None;
    }
    // SAFETY: a mapping of that type which is never unmapped, or null.
    let asked = unsafe { control.as_ref() }
        .map_or(wanted::ENVIRONMENT, |control| control.wanted.load(Ordering::Acquire));
    let answered = STATE.answered.load(Ordering::Acquire) == asked;
    match flag {
        // SAFETY: a mapping of that type which is never unmapped. It was stored before the flag and
        // the answer, which were read with acquire.
        ON if answered => unsafe { STATE.file.load(Ordering::Relaxed).as_ref() },
        OFF | REFUSED if answered => None,
        DECIDING => None,
        _ => decide(flag, asked),
    }
}

#[cold]
#[inline(never)]
fn decide(flag: u32, asked: u32) -> Option<&'static File> {
    if READY.load(Ordering::Acquire) == 0
        || STATE.flag.compare_exchange(flag, DECIDING, Ordering::AcqRel, Ordering::Relaxed).is_err()
    {
        return None;
    }
    let (what, number) = (wanted::what(asked), wanted::number(asked));
    let is_on =
        what == wanted::ON || what == wanted::ENVIRONMENT && FOLDER[0].load(Ordering::Relaxed) != 0;
    let known = STATE.file.load(Ordering::Acquire);
    let decision = if !is_on {
        OFF
    } else if !known.is_null() && STATE.made_for.load(Ordering::Relaxed) == number {
        ON
    } else if let Some(new) = sys::with_errno_kept(open) {
        // The previous file stays mapped: a thread may still write to it.
        STATE.file.store(new, Ordering::Release);
        STATE.made_for.store(number, Ordering::Relaxed);
        ON
    } else {
        REFUSED
    };
    // Release: publishes the file to which both refer.
    STATE.answered.store(asked, Ordering::Release);
    STATE.flag.store(decision, Ordering::Release);
    // SAFETY: as in `file`.
    if decision == ON { unsafe { STATE.file.load(Ordering::Relaxed).as_ref() } } else { None }
}

/// Creates the file of this process image, and maps it.
fn open() -> Option<*mut File> {
    // SAFETY: as in `file`.
    let control = unsafe { CONTROL.load(Ordering::Acquire).as_ref() };
    let folder = control
        .map(|control| &control.folder)
        .filter(|folder| folder[0].load(Ordering::Relaxed) != 0)
        .unwrap_or(&FOLDER);
    let folder = folder.iter().map(|byte| byte.load(Ordering::Relaxed));
    let folder = folder.take_while(|byte| *byte != 0);
    // SAFETY: no other thread decides at the same time, and this one calls nothing that does.
    let path = unsafe { &mut *STATE.path.get() };
    let size = if wants_bursts() { TRACKED_SIZE } else { SIZE };
    let file = create(path, &folder, sys::process(), size)?;
    // SAFETY: a mapping of a file of that size; all fields are atomics, for which zeros are valid.
    let mapped = unsafe { file.as_ref() };
    let process = [sys::process(), sys::parent()];
    begin::fill(mapped, size, process, COUNTED.swap(true, Ordering::Relaxed));
    Some(file.as_ptr())
}

/// Creates and maps a file of `size` bytes for a process.
pub fn create(
    path: &mut Path,
    folder: &(impl Iterator<Item = u8> + Clone),
    process: u32,
    size: usize,
) -> Option<NonNull<File>> {
    // An image that called `exec` had the same process id.
    for number in 0..1024 {
        path.clear();
        folder.clone().for_each(|byte| path.push(byte));
        path.push(b'/');
        path.push_number(process);
        path.push(b'.');
        path.push_number(number);
        path.push(b'.');
        path.push_all(crate::layout::EXTENSION.as_bytes());
        let path = path.as_c_str()?;
        match Descriptor::open(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL) {
            Err(libc::EEXIST) => {}
            Err(_) => return None,
            Ok(file) => {
                let mapping = (file.has_room(size) && file.resize(size))
                    .then(|| file.map(size, true))
                    .flatten();
                let Some(mapping) = mapping else {
                    sys::remove(path);
                    return None;
                };
                let mapping = mapping.cast::<File>();
                // For the tracks after it.
                mapping.as_ptr().expose_provenance();
                // SAFETY: a mapping of a file of that size; all fields are atomics, for which zeros
                // are valid.
                let mapped = unsafe { mapping.as_ref() };
                // The head and the bits of pages that have room: all other pages are requested one
                // by one.
                let starts = [(&raw const mapped.room).cast(), (&raw const mapped.header).cast()];
                if !starts.into_iter().all(sys::can_write) {
                    sys::remove(path);
                    return None;
                }
                return Some(mapping);
            }
        }
    }
    None
}
