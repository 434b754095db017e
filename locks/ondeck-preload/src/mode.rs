//! The mode in which fast paths have to defer to slow paths: one word, which each fast path reads.
//!
//! ```text
//! word   bit 29  a thread has asked for asynchronous cancellation: see `asynchronous.c`
//!        bit 28  what threads do with locks is recorded: see `bursts.rs`
//! ```
//!
//! The bits are disjoint from the bits of a kind, so that a fast path tests the word and the kind
//! together.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use crate::{real, refuse, thread};

const ASYNCHRONOUS: c_int = 1 << 29;
const BURSTS: c_int = 1 << 28;

static WORD: AtomicI32 = AtomicI32::new(0);

/// 0, or the reasons for which a fast path has to defer to the slow path.
#[inline(always)]
pub(crate) fn word() -> c_int {
    // Relaxed: a thread that asks for asynchronous cancellation sees its own bit, and a recording
    // may begin late.
    WORD.load(Ordering::Relaxed)
}

/// Returns whether the calling thread's cancellation may be asynchronous.
#[inline(always)]
pub(crate) fn may_be_asynchronous() -> bool {
    // A thread sees its own store.
    word() & ASYNCHRONOUS != 0
}

/// Returns whether the lock operations of threads are recorded.
#[inline(always)]
pub(crate) fn has_bursts() -> bool {
    word() & BURSTS != 0
}

/// As [`may_be_asynchronous`], for C.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_may_be_asynchronous() -> c_int {
    may_be_asynchronous().into()
}

/// Called when the thread is about to make its cancellation asynchronous: from now on no fast path
/// is taken.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_will_be_asynchronous() {
    WORD.fetch_or(ASYNCHRONOUS, Ordering::Relaxed);
}

/// Called by the loader, before the constructors of most other libraries: finds the C library's
/// functions, so that no lock has to.
#[used]
#[unsafe(link_section = ".init_array.00102")]
static CONSTRUCTOR: extern "C" fn() = start;

extern "C" fn start() {
    real::find_all();
    refuse::unfit_processes();
    thread::renumber_children();
    ondeck::prepare();
    if ondeck_record::wants_bursts() {
        WORD.fetch_or(BURSTS, Ordering::Relaxed);
    }
}
