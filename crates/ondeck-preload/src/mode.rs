//! What has to be known before the first lock: one word, which every fast path reads.
//!
//! ```text
//! word   bit 31  nothing is known yet: the first call that finds it decides
//!        bit 30  mutexes are another lock's: see `other.rs`
//!        bit 29  a thread has asked for asynchronous cancellation: see `asynchronous.c`
//!        bit 28  what threads do with locks is recorded: see `bursts.rs`
//!        0       mutexes are ondeck's
//! ```
//!
//! The bits are none of those that a kind has, so that a fast path tests the word and the kind together.
//!
//! The word is in the library's data, not set by its constructor: a constructor of another library may lock
//! before, and then decides.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use crate::{other, real, refuse};

const UNDECIDED: c_int = c_int::MIN;
const OTHER: c_int = 1 << 30;
const ASYNCHRONOUS: c_int = 1 << 29;
const BURSTS: c_int = 1 << 28;

static WORD: AtomicI32 = AtomicI32::new(UNDECIDED);

/// 0, or what a fast path has to leave to the slow one.
#[inline(always)]
pub(crate) fn word() -> c_int {
    // Relaxed: what has been decided is a function of what the process was started with, so that all
    // threads decide the same.
    WORD.load(Ordering::Relaxed)
}

/// Whether the calling thread's cancellation may be asynchronous.
#[inline(always)]
pub(crate) fn may_be_asynchronous() -> bool {
    // A thread sees what it has written itself.
    word() & ASYNCHRONOUS != 0
}

/// Of [`word`], what fast paths of objects other than mutexes have to leave to slow ones.
#[inline(always)]
pub(crate) fn word_of_others() -> c_int {
    word() & (ASYNCHRONOUS | BURSTS)
}

/// Whether what threads do with locks is recorded.
#[inline(always)]
pub(crate) fn has_bursts() -> bool {
    word() & BURSTS != 0
}

/// As [`may_be_asynchronous`], for C.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_may_be_asynchronous() -> c_int {
    may_be_asynchronous().into()
}

/// The calling thread is about to make its cancellation asynchronous: from now on no fast path is taken.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_will_be_asynchronous() {
    WORD.fetch_or(ASYNCHRONOUS, Ordering::Relaxed);
}

/// Decides, if that has not been done.
#[inline]
pub(crate) fn decide() {
    if word() & UNDECIDED != 0 {
        decide_now();
    }
}

#[cold]
fn decide_now() {
    if other::choose() {
        WORD.fetch_or(OTHER, Ordering::Relaxed);
    }
    // Release: a thread that sees that it is decided sees what.
    WORD.fetch_and(!UNDECIDED, Ordering::Release);
}

/// The functions of the lock that serves in the place of ondeck's, if one does. The caller has decided.
#[inline]
pub(crate) fn other() -> Option<&'static other::Functions> {
    // Acquire: pairs with the decision.
    // SAFETY: the bit says that one was chosen.
    (WORD.load(Ordering::Acquire) & OTHER != 0).then(|| unsafe { other::Functions::chosen() })
}

/// Called by the loader, before the constructors of most other libraries: finds the C library's functions, so
/// that no lock has to.
#[used]
#[unsafe(link_section = ".init_array.00102")]
static CONSTRUCTOR: extern "C" fn() = start;

extern "C" fn start() {
    decide();
    real::find_all();
    refuse::unfit_processes();
    ondeck::prepare();
    if ondeck_record::wants_bursts() {
        WORD.fetch_or(BURSTS, Ordering::Relaxed);
    }
}
