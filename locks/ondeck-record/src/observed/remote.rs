//! The threads of another process, whose calls of futex(2) this process sees while they are
//! stopped.
//!
//! The end of a wait is not seen. It is the wake that ends the wait: the caller knows which threads
//! wait at a word, and the kernel wakes them in the order of their arrival. So the time from the
//! wake until the thread runs is in no wait.

use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::sync::atomic::Ordering;

use super::{Sleep, Thread};
use crate::frames::Frames;
use crate::layout::{File, SIZE, kind};
use crate::state::{self, Path};
use crate::{begin, clock, end, maps, sys, thread};

pub use super::End;
pub use crate::clock::{nanos_in, ticks, ticks_in};

/// The recording of a process that does not record itself.
pub struct Recording(NonNull<File>);

// SAFETY: a mapping, which no thread owns.
unsafe impl Send for Recording {}

impl Recording {
    /// Creates the file of a process in a folder.
    pub fn create(folder: &[u8], process: u32, parent: u32) -> Option<Self> {
        let mut path = Path::new();
        let file = state::create(&mut path, &folder.iter().copied(), process, SIZE)?;
        let recording = Self(file);
        begin::fill(recording.file(), SIZE, [process, parent], false);
        Some(recording)
    }

    fn file(&self) -> &'static File {
        // SAFETY: the mapping is there until `drop`, and no function of this module keeps the
        // reference.
        unsafe { self.0.as_ref() }
    }

    /// Returns the number of a stack plus 1, innermost return address first.
    pub fn stack(&self, addresses: impl Iterator<Item = u64>) -> Option<u32> {
        let mut frames = Frames::new();
        for address in addresses {
            if !frames.push(address) {
                break;
            }
        }
        let (number, is_new) = frames.keep(self.file())?;
        if is_new {
            frames.addresses().iter().for_each(|address| maps::see(self.file(), *address));
        }
        Some(number + 1)
    }

    /// Completes the file while the process is about to end.
    pub fn finish(&self) {
        end::finish(self.file());
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let header = &self.file().header;
        if header.ended.load(Ordering::Relaxed) == 0 {
            let (ticks, nanos) = clock::both();
            header.later_monotonic.store(nanos, Ordering::Relaxed);
            header.later_ticks.store(ticks, Ordering::Release);
        }
        // SAFETY: nothing has a reference.
        unsafe { sys::unmap(self.0.cast(), SIZE) };
    }
}

/// A thread.
pub struct Task {
    own: Thread,
    index: u32,
}

impl Task {
    /// A thread of the process with this recording.
    pub fn new(recording: &Recording) -> Self {
        // SAFETY: as in a thread's own memory: integers, for which zeros are valid.
        let own = unsafe { MaybeUninit::<Thread>::zeroed().assume_init() };
        let index = recording.file().header.threads.fetch_add(1, Ordering::Relaxed);
        Self { own, index }
    }

    /// Returns whether its stack may be unwound at `now`: stacks are to take a small part of the
    /// time.
    pub fn may_unwind(&self, now: u64) -> bool {
        let last = self.own.woken.max(self.own.waker_at);
        self.own.may_unwind(now, if last == 0 { 0 } else { now.saturating_sub(last) })
    }

    /// Accounts for a stack that was unwound from `start` on.
    pub fn unwound(&mut self, recording: &Recording, start: u64) {
        self.own.unwound(recording.file(), start);
    }

    /// Records its wake of threads at `word`. `stack` is from [`Recording::stack`], 0 if it is not
    /// known.
    pub fn wakes(&mut self, recording: &Recording, word: u64, now: u64, stack: u32) {
        let word = word as usize;
        let site = super::site(word, 0, stack as usize);
        self.own.wake(recording.file(), (word, site), now, |_, _| Some(stack));
    }

    /// Records a wait at `word` that began at `arrived` and ends now.
    pub fn waited(
        &mut self,
        recording: &Recording,
        (word, arrived, stack): (u64, u64, u32),
        how: End,
        now: u64,
    ) {
        let file = recording.file();
        let word = word as usize;
        let sleep =
            Sleep { word, file: thread::address_of(file), arrived, kind: kind::FUTEX, stack };
        self.own.end(file, self.index, &sleep, how, now, |_, _| None);
        self.own.see(file);
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    extern crate std;

    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn what_lies_between_a_waits_end_and_its_record_costs_nothing() {
        let folder =
            std::env::temp_dir().join(std::format!("ondeck-remote-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        let recording = Recording::create(folder.as_os_str().as_bytes(), std::process::id(), 1);
        std::fs::remove_dir_all(&folder).expect("it is there");
        let recording = recording.expect("room for a file");
        // From the start of the machine to one tick later.
        Task::new(&recording).waited(&recording, (8, 1, 0), End::Woken, 2);
        let locks = &recording.file().locks;
        let cost: u64 = locks.iter().map(|lock| lock.event_ticks.load(Ordering::Relaxed)).sum();
        assert!((1..ticks() / 2).contains(&cost), "{cost}");
    }
}
