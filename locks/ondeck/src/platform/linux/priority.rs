//! The scheduling class of the calling thread, as far as a lock needs to know it.
//!
//! A real-time thread runs before all ordinary ones. So a lock wakes it before them, as the
//! kernel's futex does, and is not handed to another thread while a real-time thread is parked.

use core::sync::atomic::{AtomicBool, Ordering};

use super::quietly;
use crate::platform::native::thread::Word;
use crate::platform::native::ticks;

/// Whether a thread of a real-time class has ever queried its priority. Relaxed: a notification
/// that reads an older value chooses as if all waiters were ordinary threads, once.
static SEEN: AtomicBool = AtomicBool::new(false);

/// See [`Host::has_real_time_threads`](crate::platform::Host::has_real_time_threads).
#[inline]
pub(super) fn has_real_time_threads() -> bool {
    SEEN.load(Ordering::Relaxed)
}

/// The number of times in a second that a thread which sleeps over and over asks the kernel for its
/// class, as a power of two. After a thread's class changes, the thread is linked by the previous
/// one for at most this part of a second.
const ASKS_A_SECOND_BITS: u32 = 4;

/// Returns the real-time priority of the calling thread, 1 to 99, or 0 if it is of an ordinary
/// class.
///
/// A deadline thread, which runs before all of them, is 100. If a filter refuses the call, all
/// threads count as ordinary.
///
/// It costs a load if the thread has asked the kernel in the current sixteenth of a second.
/// Otherwise it costs one system call, and two for a real-time thread.
pub(super) fn of_caller() -> u32 {
    /// Bits of the word that hold the priority plus 1, so that 0 marks a thread that has not asked.
    const PRIORITY_BITS: u32 = 8;
    let part = ticks::read() >> (ticks::second_bits() - ASKS_A_SECOND_BITS) << PRIORITY_BITS;
    let known = Word::Priority.get();
    let (of, priority) = (known >> PRIORITY_BITS << PRIORITY_BITS, known as u8);
    if priority != 0 && of == part {
        return u32::from(priority) - 1;
    }
    let priority = ask();
    Word::Priority.set(part | u64::from(priority + 1));
    priority
}

/// Asks the kernel for the priority of the calling thread.
#[cold]
fn ask() -> u32 {
    /// The number that stands for the calling thread.
    const CALLER: libc::pid_t = 0;
    /// A flag beside the class.
    const RESET_ON_FORK: i32 = libc::SCHED_RESET_ON_FORK;
    const BEFORE_ALL: u32 = 100;
    // The raw calls, because musl's functions of these names always fail.
    // SAFETY: takes a number and returns one.
    let (class, _) = quietly(|| unsafe { libc::syscall(libc::SYS_sched_getscheduler, CALLER) });
    if class < 0 {
        return 0;
    }
    let priority = match class as libc::c_int & !RESET_ON_FORK {
        libc::SCHED_FIFO | libc::SCHED_RR => {
            let mut priority: libc::c_int = 0;
            // SAFETY: the kernel's parameters are one integer, which outlives the call.
            let get =
                || unsafe { libc::syscall(libc::SYS_sched_getparam, CALLER, &raw mut priority) };
            if quietly(get).0 != 0 {
                return 0;
            }
            priority.unsigned_abs()
        }
        libc::SCHED_DEADLINE => BEFORE_ALL,
        _ => return 0,
    };
    SEEN.store(true, Ordering::Relaxed);
    priority
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn a_thread_asks_again_in_the_next_part_of_a_second() {
        let of_a_new_thread = || {
            assert_eq!(Word::Priority.get(), 0);
            let own = of_caller();
            let known = Word::Priority.get();
            Word::Priority.set(known - u64::from(own) + 7);
            // Most often it is the same part of a second: then the remembered value is used.
            let believed = of_caller();
            assert!(believed == 7 || believed == own);
            Word::Priority.set(Word::Priority.get() ^ 1 << 63);
            (own, of_caller())
        };
        let (own, again) = std::thread::spawn(of_a_new_thread).join().unwrap();
        assert_eq!(own, again);
    }
}
