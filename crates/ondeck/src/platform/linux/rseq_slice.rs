//! A little more time for an owner whose time slice ends inside its section.
//!
//! Source: Thomas Gleixner, "rseq: Implement time slice extension mechanism", Linux 7.0; the interface is in the
//! kernel's `Documentation/userspace-api/rseq.rst`, "Scheduler time slice extensions".
//!
//! Each thread shares an area of memory with the kernel (rseq(2)), which the C library registers. A thread asks by a
//! byte there, and the kernel looks at it when an interrupt would take the thread's CPU:
//!
//! ```text
//! request granted
//!    0       0     nothing is asked for
//!    1       0     the thread asks: its slice may be extended
//!    0       1     the kernel has extended it, by 5 µs unless it was told otherwise
//!
//! change     made by
//! 00 → 10    the thread, in `ask`
//! 10 → 01    the kernel: it leaves the thread its CPU for so long
//! 01 → 00    the kernel: the time is over, or the thread made a system call; either takes its CPU
//! 10 → 00    the thread, in `give_back`; the kernel, if the thread has lost its CPU all the same
//! ```
//!
//! If the kernel has extended the slice, the thread owes it the CPU, and gives it up by rseq_slice_yield(2) as soon
//! as its section is over. The kernel ends a thread that writes `granted`.
//!
//! # Where there is no such thing
//!
//! The C library says how much of the area is registered (`__rseq_size`). The field lies in the first 32 bytes, but 32
//! is what older C libraries say of an area of 20 bytes, and the kernel extends no slice of a thread with such an area
//! (Mathieu Desnoyers, "rseq: slice ext: Ensure rseq feature size differs from original rseq size"; Linux 7.0 has 33).
//! Then the area says whether the kernel has the extension, and a prctl(2) of each thread turns it on. If any of that
//! fails, no thread of the process asks again: one load. That is so on all CPUs but x86-64, too, for which alone the
//! symbols are referred to here.
//!
//! # Memory ordering
//!
//! The other party is the kernel on the thread's own CPU, like a signal handler: the CPU interrupts between two
//! instructions, and the compiler is kept in order by fences of its own.

use core::mem::offset_of;
use core::sync::atomic::{AtomicIsize, AtomicU8, AtomicU16, AtomicU32, Ordering, compiler_fence};

use super::{quietly, thread};

/// `struct rseq` of `include/uapi/linux/rseq.h`, as far as it is used here. All of it is atomic, because the kernel
/// writes there at any time.
#[repr(C, align(32))]
struct Area {
    _cpu_ids_and_sequence: [AtomicU32; 4],
    flags: AtomicU32,
    _node_and_concurrency_ids: [AtomicU32; 2],
    request: AtomicU8,
    granted: AtomicU8,
    _reserved: AtomicU16,
}

const _: () = {
    assert!(offset_of!(Area, flags) == 16);
    assert!(offset_of!(Area, request) == 28);
    assert!(offset_of!(Area, granted) == 29);
    assert!(size_of::<Area>() == 32);
};

/// `RSEQ_CS_FLAG_SLICE_EXT_AVAILABLE`: the kernel has the extension. It ends a thread that calls prctl without it.
const AVAILABLE: u32 = 1 << 4;
/// `RSEQ_CS_FLAG_SLICE_EXT_ENABLED`: it is on for this thread.
const ENABLED: u32 = 1 << 5;

const PR_RSEQ_SLICE_EXTENSION: libc::c_int = 79;
const PR_RSEQ_SLICE_EXTENSION_SET: libc::c_ulong = 2;
const PR_RSEQ_SLICE_EXT_ENABLE: libc::c_ulong = 1;
const SYS_RSEQ_SLICE_YIELD: libc::c_long = 471;

/// What becomes of a question for more time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// The thread asks, and is to give back.
    Asked,
    /// An outer section of the thread asks already.
    Nested,
    /// The kernel does not have it.
    Refused,
}

impl Area {
    /// Asks for more time, after `enable` if that was not done in this thread.
    #[inline]
    fn ask(&self, enable: impl FnOnce() -> bool) -> Answer {
        // Relaxed here and below: see the file's comment.
        if self.flags.load(Ordering::Relaxed) & ENABLED == 0 && !self.turn_on(enable) {
            return Answer::Refused;
        }
        let asks = self.request.load(Ordering::Relaxed) != 0;
        // In an extension that an outer section got the time is not extended again, and the outer section is to yield.
        if asks || self.granted.load(Ordering::Relaxed) != 0 {
            return Answer::Nested;
        }
        self.request.store(1, Ordering::Relaxed);
        // What the section does stays behind the request.
        compiler_fence(Ordering::SeqCst);
        Answer::Asked
    }

    #[cold]
    fn turn_on(&self, enable: impl FnOnce() -> bool) -> bool {
        self.flags.load(Ordering::Relaxed) & AVAILABLE != 0 && enable()
    }

    /// Takes the request back; whether the thread owes the kernel its CPU.
    #[inline]
    fn give_back(&self) -> bool {
        // What the section did stays before.
        compiler_fence(Ordering::SeqCst);
        self.request.store(0, Ordering::Relaxed);
        // In this order: after the store nothing is granted any more. It may be revoked behind the load, and the call
        // of rseq_slice_yield is then for nothing.
        compiler_fence(Ordering::SeqCst);
        self.granted.load(Ordering::Relaxed) != 0
    }
}

/// Whether threads of this process ask. Relaxed but where said: a question more or less is no harm.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const ABSENT: u8 = 1;
const PRESENT: u8 = 2;

/// Where a thread's area is, from its thread pointer: 0 until it is found, then always the same. It is found before
/// `STATE` becomes `PRESENT`. No area is at 0, where a thread's block begins.
static OFFSET: AtomicIsize = AtomicIsize::new(0);

/// See [`Threads::extend_slice`](crate::machine::Threads::extend_slice).
#[inline(always)]
pub(super) fn extend() -> bool {
    STATE.load(Ordering::Relaxed) != ABSENT && try_to_extend()
}

#[inline(never)]
fn try_to_extend() -> bool {
    // Acquire: pairs with the store in `find`, for the offset.
    if STATE.load(Ordering::Acquire) == UNKNOWN && !find() {
        return false;
    }
    let answer = own_area().ask(enable);
    if answer == Answer::Refused {
        STATE.store(ABSENT, Ordering::Relaxed);
    }
    answer == Answer::Asked
}

/// See [`Platform::give_back_slice`](crate::platform::Platform::give_back_slice).
#[inline]
pub(super) fn give_back() {
    // A thread that has asked finds the offset, even if another thread was refused since.
    if OFFSET.load(Ordering::Relaxed) != 0 && own_area().give_back() {
        yield_now();
    }
}

#[cold]
fn find() -> bool {
    let Some(offset) = registered().as_ref().and_then(usable) else {
        STATE.store(ABSENT, Ordering::Relaxed);
        return false;
    };
    OFFSET.store(offset, Ordering::Relaxed);
    // Release: pairs with the load in `try_to_extend`.
    STATE.store(PRESENT, Ordering::Release);
    true
}

/// What the C library says of its threads' areas: how many bytes are in use, and the offset.
struct Registered {
    size: u32,
    offset: isize,
}

/// The offset, if areas have the byte of the request.
fn usable(registered: &Registered) -> Option<isize> {
    /// What older C libraries say of areas with less in them.
    const LEGACY: u32 = 32;
    (registered.size > LEGACY).then_some(registered.offset)
}

/// The C library's symbols, since glibc 2.35. Referred to weakly, for the reason that `single.rs` has.
#[cfg(all(target_env = "gnu", target_arch = "x86_64", not(miri)))]
fn registered() -> Option<Registered> {
    let (size, offset): (*const u32, *const isize);
    // SAFETY: loads two entries of the global offset table: the address of a symbol each, or null if no library
    // defines it.
    unsafe {
        core::arch::asm!(
            ".weak __rseq_size",
            ".weak __rseq_offset",
            "mov {}, qword ptr [rip + __rseq_size@GOTPCREL]",
            "mov {}, qword ptr [rip + __rseq_offset@GOTPCREL]",
            out(reg) size,
            out(reg) offset,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    if size.is_null() || offset.is_null() {
        return None;
    }
    // SAFETY: `const unsigned int` and `const ptrdiff_t` (glibc's `sys/rseq.h`), written before the program began.
    Some(unsafe { Registered { size: *size, offset: *offset } })
}

#[cfg(not(all(target_env = "gnu", target_arch = "x86_64", not(miri))))]
fn registered() -> Option<Registered> {
    None
}

/// The calling thread's area. The offset has been found.
#[inline(always)]
fn own_area() -> &'static Area {
    area_at(OFFSET.load(Ordering::Relaxed))
}

#[inline(always)]
fn area_at(offset: isize) -> &'static Area {
    let address = thread::pointer().get().wrapping_add_signed(offset);
    // SAFETY: the C library puts the area there in each thread that it makes, aligned as the kernel wants it, and with
    // the bytes of `Area` registered: see `usable`. No reference outlives the call, and so the thread.
    unsafe { &*core::ptr::with_exposed_provenance::<Area>(address) }
}

/// Turns it on for the calling thread; whether the kernel did.
fn enable() -> bool {
    let nothing: libc::c_ulong = 0;
    // SAFETY: takes integers, and writes to the thread's registered area.
    let call = || unsafe {
        libc::prctl(
            PR_RSEQ_SLICE_EXTENSION,
            PR_RSEQ_SLICE_EXTENSION_SET,
            PR_RSEQ_SLICE_EXT_ENABLE,
            nothing,
            nothing,
        )
    };
    quietly(call).0 == 0
}

#[cold]
fn yield_now() {
    // SAFETY: takes no arguments. A kernel that has granted time has the call.
    quietly(|| unsafe { libc::syscall(SYS_RSEQ_SLICE_YIELD) });
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    /// A thread's area, and the kernel's part in it.
    struct Kernel {
        area: Area,
        enabled: Cell<u32>,
        has_prctl: bool,
    }

    impl Kernel {
        fn new(flags: u32, has_prctl: bool) -> Self {
            let area = Area {
                _cpu_ids_and_sequence: Default::default(),
                flags: AtomicU32::new(flags),
                _node_and_concurrency_ids: Default::default(),
                request: AtomicU8::new(0),
                granted: AtomicU8::new(0),
                _reserved: AtomicU16::new(0),
            };
            Self { area, enabled: Cell::new(0), has_prctl }
        }

        fn ask(&self) -> Answer {
            self.area.ask(|| {
                self.enabled.set(self.enabled.get() + 1);
                if self.has_prctl {
                    self.area.flags.fetch_or(ENABLED, Ordering::Relaxed);
                }
                self.has_prctl
            })
        }

        /// An interrupt that wants the CPU for another thread; whether this one keeps it.
        fn interrupts(&self) -> bool {
            let enabled = self.area.flags.load(Ordering::Relaxed) & ENABLED != 0;
            let asks = self.area.request.swap(0, Ordering::Relaxed) != 0;
            let had = self.area.granted.swap(0, Ordering::Relaxed) != 0;
            let grants = enabled && asks && !had;
            self.area.granted.store(u8::from(grants), Ordering::Relaxed);
            grants
        }

        fn control(&self) -> (u8, u8) {
            let load = |byte: &AtomicU8| byte.load(Ordering::Relaxed);
            (load(&self.area.request), load(&self.area.granted))
        }
    }

    #[test]
    fn a_section_that_is_not_interrupted_owes_nothing() {
        let kernel = Kernel::new(AVAILABLE, true);
        for _ in 0..3 {
            assert_eq!(kernel.ask(), Answer::Asked);
            assert_eq!(kernel.control(), (1, 0));
            assert!(!kernel.area.give_back());
            assert_eq!(kernel.control(), (0, 0));
        }
        assert_eq!(kernel.enabled.get(), 1, "it is turned on once");
        assert!(!kernel.interrupts(), "outside of a section nothing is asked for");
    }

    #[test]
    fn time_that_was_granted_is_owed() {
        let kernel = Kernel::new(AVAILABLE, true);
        assert_eq!(kernel.ask(), Answer::Asked);
        assert!(kernel.interrupts());
        assert!(kernel.area.give_back());
        assert_eq!(kernel.control(), (0, 1), "only the kernel writes what it granted");
    }

    #[test]
    fn time_that_was_revoked_is_not_owed() {
        let kernel = Kernel::new(AVAILABLE, true);
        assert_eq!(kernel.ask(), Answer::Asked);
        assert!(kernel.interrupts());
        assert!(!kernel.interrupts());
        assert!(!kernel.area.give_back());
    }

    #[test]
    fn a_section_within_a_section_leaves_all_to_the_outer_one() {
        let kernel = Kernel::new(AVAILABLE, true);
        assert_eq!(kernel.ask(), Answer::Asked);
        assert_eq!(kernel.ask(), Answer::Nested);
        assert_eq!(kernel.control(), (1, 0));
        assert!(kernel.interrupts());
        assert_eq!(kernel.ask(), Answer::Nested);
        assert_eq!(kernel.control(), (0, 1));
        assert!(kernel.area.give_back());
    }

    #[test]
    fn a_kernel_without_it_is_not_called_and_the_area_stays() {
        for (flags, has_prctl, calls) in [(0, true, 0), (AVAILABLE, false, 1)] {
            let kernel = Kernel::new(flags, has_prctl);
            assert_eq!(kernel.ask(), Answer::Refused);
            assert_eq!((kernel.enabled.get(), kernel.control()), (calls, (0, 0)));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "there is no such area")]
    fn the_area_is_where_the_kernel_writes_the_cpu() {
        extern crate std;
        use crate::platform::Linux;

        let Some(Registered { offset, .. }) = registered().filter(|there| there.size > 0) else {
            std::println!("skipped: the C library has not registered one");
            return;
        };
        let threads = Linux::affinity().into_iter().map(|cpu| {
            std::thread::spawn(move || {
                Linux::set_affinity(&[cpu]).unwrap();
                // `cpu_id` is the second word.
                let word = core::ptr::from_ref(area_at(offset)).cast::<AtomicU32>().wrapping_add(1);
                // SAFETY: a word of the area, which is there while the thread is.
                let written = unsafe { &*word }.load(Ordering::Relaxed);
                assert_eq!(written as usize, cpu);
            })
        });
        threads.for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn an_area_has_the_request_only_if_it_is_larger_than_they_were() {
        let offset = |size| usable(&Registered { size, offset: 160 });
        assert_eq!([0, 20, 28, 32].map(offset), [None; 4]);
        assert_eq!([33, 40, 64].map(offset), [Some(160); 3]);
    }
}
