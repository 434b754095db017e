//! A lock, and a cell that it guards, for the scenarios; and the scenarios that several locks
//! share.

use std::mem::{ManuallyDrop, MaybeUninit};

use loom::cell::UnsafeCell;
use ondeck::fair::RawFairMutex;
use ondeck::mutex::RawMutex;
use ondeck::parking::bucket_of;
use ondeck::platform::{Host, Platform, Timestamp};
use ondeck::{Latch, Once, parking};

use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::SOON;

/// A lock, and the cells that it guards, usually one. Loom reports a race if exclusion or a
/// happens-before edge is missing between two accesses to a cell.
pub struct Guarded<L, const CELLS: usize = 1> {
    // Dropped manually: see `free`.
    raw: ManuallyDrop<L>,
    cells: [UnsafeCell<u32>; CELLS],
}

// SAFETY: the cells are only accessed as the lock allows, which loom checks.
unsafe impl<L: Sync, const CELLS: usize> Sync for Guarded<L, CELLS> {}
// SAFETY: as above.
unsafe impl<L: Send, const CELLS: usize> Send for Guarded<L, CELLS> {}

impl<L, const CELLS: usize> Guarded<L, CELLS> {
    /// Creates a lock that is never freed, so that an access after its end is detected and is not
    /// undefined behaviour. This costs a hundred bytes for each execution.
    pub fn of(lock: L) -> &'static Self {
        Self::at(Box::leak(Box::new(MaybeUninit::uninit())), lock)
    }

    fn at(place: &'static mut MaybeUninit<Self>, lock: L) -> &'static Self {
        let cells = std::array::from_fn(|_| UnsafeCell::new(0));
        let guarded: &Self = place.write(Self { raw: ManuallyDrop::new(lock), cells });
        // The order in which locks are created determines their buckets.
        let _ = Loom::bucket(guarded.address());
        guarded
    }

    /// Creates two locks with the same place in each row of visible readers.
    pub fn two_of_one_place(lock: impl Fn() -> L) -> [&'static Self; 2] {
        /// The number of places in a row.
        const PLACES: usize = 8;
        let memory = Box::leak(Box::new([const { MaybeUninit::<Self>::uninit() }; PLACES + 1]));
        let mut found: [Option<&'static mut MaybeUninit<Self>>; PLACES] = Default::default();
        for memory in memory {
            // SAFETY: the address of a field in memory for the whole.
            let raw = unsafe { &raw const (*memory.as_ptr()).raw };
            let place = bucket_of(raw.addr()) % PLACES;
            if let Some(other) = found[place].take() {
                return [other, memory].map(|place| Self::at(place, lock()));
            }
            found[place] = Some(memory);
        }
        unreachable!("there are more locks than places")
    }

    /// Returns the lock.
    pub fn raw(&self) -> &L {
        &self.raw
    }

    pub fn address(&self) -> usize {
        std::ptr::from_ref(self.raw()).addr()
    }

    /// Waits until this number of threads wait for the lock in the table's line.
    pub fn until_waiting(&self, count: usize) {
        while parking::waiting::<Loom>(self.address()) < count {
            Loom::yield_now();
        }
    }

    /// Counts in a cell. The lock keeps other threads from accessing the cell during the call.
    pub fn count_in(&self, cell: usize) -> u32 {
        self.cells[cell].with_mut(|count| {
            // SAFETY: the lock guards it.
            unsafe {
                *count += 1;
                *count
            }
        })
    }

    /// Returns the count of a cell. The lock keeps other threads from writing it during the call.
    pub fn counted_in(&self, cell: usize) -> u32 {
        self.cells[cell].with(|count| {
            // SAFETY: the lock guards it.
            unsafe { *count }
        })
    }

    /// Counts in the first cell.
    pub fn count(&self) -> u32 {
        self.count_in(0)
    }

    /// Returns the count of the first cell.
    pub fn counted(&self) -> u32 {
        self.counted_in(0)
    }

    /// Ends the lock: a later access is detected.
    pub fn free(&self) {
        // SAFETY: no thread uses it any more, which the test checks; the memory is not freed.
        unsafe { std::ptr::drop_in_place((&raw const *self.raw).cast_mut()) };
    }
}

/// A lock that one thread has at a time.
pub trait Exclusive: Sync + Sized + 'static {
    type Held;

    fn lock(&self) -> Self::Held;
    fn try_lock(&self) -> Option<Self::Held>;
    fn try_lock_until(&self, deadline: Timestamp) -> Option<Self::Held>;
    fn is_locked(&self) -> bool;
    /// # Safety
    ///
    /// The caller has the lock.
    unsafe fn unlock(&self, held: Self::Held);
}

macro_rules! exclusive {
    ($($Mutex:ident)*) => {$(
        impl Exclusive for $Mutex<Loom> {
            type Held = ();

            fn lock(&self) {
                self.lock();
            }
            fn try_lock(&self) -> Option<()> {
                self.try_lock().then_some(())
            }
            fn try_lock_until(&self, deadline: Timestamp) -> Option<()> {
                self.try_lock_until(deadline).then_some(())
            }
            fn is_locked(&self) -> bool {
                self.is_locked()
            }
            unsafe fn unlock(&self, (): ()) {
                // SAFETY: as the caller promises.
                unsafe { self.unlock() };
            }
        }
    )*};
}

exclusive!(RawMutex RawFairMutex);

impl<L: Exclusive> Guarded<L> {
    /// Counts, and unlocks. Returns the previous count.
    pub fn end_section(&self, held: L::Held) -> u32 {
        let before = self.count() - 1;
        // SAFETY: the token was returned by an acquisition.
        unsafe { self.raw().unlock(held) };
        before
    }

    pub fn section(&self) -> u32 {
        let held = self.raw().lock();
        self.end_section(held)
    }

    fn section_if(&self, held: Option<L::Held>) -> u32 {
        held.map_or(0, |held| {
            self.end_section(held);
            1
        })
    }

    /// Runs a section if the lock is free. Returns the number of sections, as the next ones do.
    pub fn attempt(&self) -> u32 {
        self.section_if(self.raw().try_lock())
    }

    /// Runs a section with a deadline that passes.
    pub fn section_until(&self) -> u32 {
        self.section_if(self.raw().try_lock_until(SOON))
    }

    fn does(&self, all: &[Does]) -> u32 {
        let one = |does: &Does| match does {
            Does::Section => {
                self.section();
                1
            }
            Does::Attempt => self.attempt(),
            Does::Until => self.section_until(),
        };
        all.iter().map(one).sum()
    }

    /// Runs a section as one of this number of users. The last one frees the lock as soon as its
    /// own unlock is over, even if other threads are still in their unlocks.
    pub fn section_of(&self, users: u32) {
        if self.section() + 1 == users {
            self.free();
        }
    }

    /// Checks that after the end of all threads the lock is free, and that there was this number of
    /// sections.
    pub fn end(&self, sections: u32) {
        assert!(!self.raw().is_locked(), "no thread owns the lock");
        assert_eq!(self.counted(), sections);
        self.free();
    }
}

/// What a thread does with a lock.
#[derive(Clone, Copy)]
pub enum Does {
    Section,
    /// A section if the lock is free.
    Attempt,
    /// A section with a deadline.
    Until,
}

/// The first thread does this, and each of the others that.
pub fn at_once<L: Exclusive>(
    guarded: &'static Guarded<L>,
    first: &[Does],
    others: &'static [&'static [Does]],
) {
    let before = guarded.counted();
    let others: Vec<_> = others.iter().map(|&all| spawn(|| guarded.does(all))).collect();
    let sections = guarded.does(first);
    guarded.end(before + sections + others.into_iter().map(join).sum::<u32>());
}

/// When deadlines pass: before the owner unlocks the lock, after that, at any time, in a separate
/// thread, or never.
#[derive(Clone, Copy)]
pub enum Passes {
    Before,
    After,
    Anytime,
    Never,
}

/// The first thread owns the lock when the others come. After its unlock it does `again`.
pub fn beside_the_owner<L: Exclusive>(
    guarded: &'static Guarded<L>,
    passes: Passes,
    others: &'static [Does],
    again: &[Does],
) {
    let before = guarded.counted();
    let held = guarded.raw().lock();
    let clock = matches!(passes, Passes::Anytime).then(|| spawn(|| pass_time(1)));
    let start = |does| spawn(move || guarded.does(std::slice::from_ref(does)));
    let others: Vec<_> = others.iter().map(start).collect();
    if matches!(passes, Passes::Before) {
        pass_time(1);
    }
    guarded.end_section(held);
    if matches!(passes, Passes::After) {
        pass_time(1);
    }
    let sections = 1 + guarded.does(again) + others.into_iter().map(join).sum::<u32>();
    clock.into_iter().for_each(join);
    guarded.end(before + sections);
}

/// Sections of the first thread, and of each other one.
pub fn sections<L: Exclusive>(lock: L, first: u32, others: &[u32]) {
    let guarded = Guarded::of(lock);
    let sections = move |count: u32| (0..count).for_each(|_| _ = guarded.section());
    let threads: Vec<_> = others.iter().map(|&count| spawn(move || sections(count))).collect();
    sections(first);
    threads.into_iter().for_each(join);
    guarded.end(first + others.iter().sum::<u32>());
}

/// The last of this number of threads frees the lock.
pub fn freed_by_the_last<L: Exclusive>(guarded: &'static Guarded<L>, threads: u32, users: u32) {
    let others: Vec<_> = (1..threads).map(|_| spawn(move || guarded.section_of(users))).collect();
    guarded.section_of(users);
    others.into_iter().for_each(join);
}

/// A one-time event for which threads wait.
pub trait Awaited: Sync + Sized + 'static {
    /// Runs `before`, and triggers the event.
    fn come(&self, before: impl FnOnce());
    fn wait(&self);
    fn wait_by(&self, deadline: Timestamp) -> bool;
}

macro_rules! awaited {
    ($($Lock:ident |$this:ident, $before:ident| $come:expr;)*) => {$(
        impl Awaited for $Lock<Loom> {
            fn come(&self, $before: impl FnOnce()) {
                let $this = self;
                $come;
            }
            fn wait(&self) {
                self.wait();
            }
            fn wait_by(&self, deadline: Timestamp) -> bool {
                self.wait_by(deadline)
            }
        }
    )*};
}

awaited! {
    Latch |latch, before| {
        before();
        latch.count_down();
    };
    Once |once, before| once.call_once(before);
}

impl<L: Awaited> Guarded<L> {
    /// Counts, and triggers the event.
    pub fn come(&self) {
        self.raw().come(|| _ = self.count());
    }

    /// Waits. Checks that writes before the event are seen.
    pub fn wait(&self) {
        self.raw().wait();
        assert_eq!(self.counted(), 1);
    }
}

/// The waiting thread frees it as soon as its wait is over.
pub fn freed_by_a_waiter<L: Awaited>(lock: L) {
    let guarded = Guarded::<L>::of(lock);
    let other = spawn(|| guarded.come());
    guarded.wait();
    guarded.free();
    join(other);
}

pub fn two_wait<L: Awaited>(lock: L) {
    let guarded = Guarded::<L>::of(lock);
    let waiters = [0; 2].map(|_| spawn(|| guarded.wait()));
    guarded.come();
    waiters.into_iter().for_each(join);
    guarded.free();
}

/// A deadline passes at any time: a wait that ends before it sees the writes before the event.
pub fn awaited_until_a_deadline<L: Awaited>(lock: L) {
    let guarded = Guarded::<L>::of(lock);
    let clock = spawn(|| pass_time(1));
    let other = spawn(|| {
        if guarded.raw().wait_by(SOON) {
            assert_eq!(guarded.counted(), 1);
        }
    });
    guarded.come();
    join(other);
    join(clock);
    // The event has occurred for all threads that check now.
    guarded.wait();
    guarded.free();
}

pub fn awaited_beside_a_deadline<L: Awaited>(lock: L) {
    let guarded = Guarded::<L>::of(lock);
    let hurried = spawn(|| guarded.raw().wait_by(SOON));
    let patient = spawn(|| guarded.wait());
    pass_time(1);
    guarded.come();
    join(patient);
    join(hurried);
    guarded.free();
}
