//! The head of a new file.

use core::sync::atomic::{AtomicU8, Ordering};

use crate::layout::{File, MAGIC, VERSION};
use crate::sys::{self, Descriptor};
use crate::{clock, maps, stack, table};

/// Fills the head of a file of `size` bytes about the process `pid`, the magic number last. If
/// `counted_before`, locks may have counted acquisitions already.
pub fn fill(file: &File, size: usize, [pid, parent]: [u32; 2], counted_before: bool) {
    let header = &file.header;
    let rate = clock::rate();
    let (ticks, nanos) = clock::both();
    header.version.store(VERSION, Ordering::Relaxed);
    header.size.store(size as u64, Ordering::Relaxed);
    header.pid.store(pid, Ordering::Relaxed);
    header.parent.store(parent, Ordering::Relaxed);
    header.counted_before.store(counted_before.into(), Ordering::Relaxed);
    header.rate.store(rate, Ordering::Relaxed);
    header.start_ticks.store(ticks, Ordering::Relaxed);
    header.start_monotonic.store(nanos, Ordering::Relaxed);
    header.start_realtime.store(clock::nanos_of(libc::CLOCK_REALTIME), Ordering::Relaxed);
    let mut buffer = [0; 512];
    let (mut exe, mut line) = (sys::of_process(pid, b"exe"), sys::of_process(pid, b"cmdline"));
    let length = exe.as_c_str().map_or(0, |path| sys::read_link(path, &mut buffer));
    put(&header.program, 0, &buffer[..length]);
    if let Some(Ok(arguments)) = line.as_c_str().map(|path| Descriptor::open(path, libc::O_RDONLY))
    {
        let mut at = 0;
        loop {
            let length = arguments.read(&mut buffer);
            at = put(&header.arguments, at, &buffer[..length]);
            if length == 0 {
                break;
            }
        }
    }
    maps::refresh(file);
    // The first use of the unwinder fills its tables, which must not happen in the middle of a lock
    // operation.
    stack::warm(file);
    header.look_sixteenths.store(table::cost_of_look(), Ordering::Relaxed);
    // Release: a reader that sees the magic number sees the head.
    header.magic.store(MAGIC, Ordering::Release);
}

/// Copies text to `at`, with room for a terminating zero. Returns the end of the text.
fn put(to: &[AtomicU8], at: usize, text: &[u8]) -> usize {
    let room = &to[at..to.len() - 1];
    for (to, from) in room.iter().zip(text) {
        to.store(*from, Ordering::Relaxed);
    }
    at + text.len().min(room.len())
}
