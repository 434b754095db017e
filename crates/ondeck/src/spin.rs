//! How long, and how, a waiter polls before it sleeps.
//!
//! All in nanoseconds: what a PAUSE takes differs by a factor of two hundred between machines. A
//! lock turns them into ticks of the cheapest clock, whose rate is measured once, by the first
//! thread that has to wait.
//!
//! For an experiment without recompiling, the environment variable `ONDECK_SPIN` overrides the
//! defaults: `ONDECK_SPIN=0` never polls, and `ONDECK_SPIN=budget,short,long,offer,watch` gives the
//! [`Polling`] by its fields; what is left out stays. It is read once, before `main`: what a program
//! puts into its own environment changes nothing. A program calls [`Polling::install`].
//!
//! Where all threads that wait are bound to one CPU nobody polls, whatever was set: the owner could
//! not run meanwhile. Masks are looked at about once a second.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::platform::{Linux, Platform};

/// A waiter's polling, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Polling {
    /// How long a waiter polls altogether before it sleeps. 0: it never polls.
    ///
    /// Some times what a sleep and a wake cost both sides (7 to 30 µs).
    pub budget: u32,
    /// The pause before the first poll: a short critical section.
    pub short: u32,
    /// The pause between polls of a lock whose owner takes it again and again, and the longest
    /// pause of all: nobody wants the lock longer than this without looking at it.
    ///
    /// A poll costs the owner its cache line. With 4 µs in between, two threads make 80 to 95
    /// million pairs a second on two cores, with 2 µs 70.
    pub long: u32,
    /// How long a new owner waits for the one it took the lock from to come on deck, if there are
    /// sleepers.
    pub offer: u32,
    /// How long the newest waiter of a condition variable watches for a notification before it
    /// sleeps. 0: not at all.
    pub watch: u32,
}

impl Default for Polling {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The installed values, by field. Relaxed: each stands alone, and a waiter that sees some old and
/// some new polls a little oddly once.
static FIELDS: [AtomicU32; 5] = {
    let Polling { budget, short, long, offer, watch } = Polling::DEFAULT;
    [
        AtomicU32::new(budget),
        AtomicU32::new(short),
        AtomicU32::new(long),
        AtomicU32::new(offer),
        AtomicU32::new(watch),
    ]
};

impl Polling {
    const DEFAULT: Self = Self { budget: 20_000, short: 50, long: 4_000, offer: 150, watch: 5_000 };

    /// Makes this the polling of every waiter of the process that comes from now on.
    pub fn install(self) {
        for (field, value) in FIELDS.iter().zip(self.fields()) {
            field.store(value, Ordering::Relaxed);
        }
    }

    /// What waiters of this process do now: never polls where the threads that wait have one CPU.
    pub fn current() -> Self {
        let mut polling = Self::from_fields(FIELDS.each_ref().map(|f| f.load(Ordering::Relaxed)));
        if Linux::cpus() == 1 {
            polling.budget = 0;
            polling.watch = 0;
        }
        polling
    }

    /// These values where the comma-separated `text` gives no number.
    pub(crate) fn overridden(self, text: &[u8]) -> Self {
        let mut fields = self.fields();
        for (field, word) in fields.iter_mut().zip(text.split(|&byte| byte == b',')) {
            if let Some(value) = core::str::from_utf8(word).ok().and_then(|w| w.trim().parse().ok())
            {
                *field = value;
            }
        }
        Self::from_fields(fields)
    }

    fn fields(self) -> [u32; 5] {
        [self.budget, self.short, self.long, self.offer, self.watch]
    }

    fn from_fields([budget, short, long, offer, watch]: [u32; 5]) -> Self {
        // A pause beyond this would be a sleep that burns a CPU; and `clamp` wants them in order.
        let long = long.min(1_000_000);
        Self { budget, short: short.min(long), long, offer: offer.min(1_000_000), watch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_override_gives_some_fields_or_all() {
        let default = Polling::default();
        assert_eq!(default.overridden(b""), default);
        assert_eq!(default.overridden(b"0"), Polling { budget: 0, ..default });
        assert_eq!(default.overridden(b",50"), Polling { short: 50, ..default });
        let all = Polling { budget: 1, short: 2, long: 3, offer: 4, watch: 5 };
        assert_eq!(default.overridden(b"1, 2,3,4,5,6"), all);
        assert_eq!(default.overridden(b"many,-1,\xff"), default);
    }

    #[test]
    fn pauses_stay_in_order() {
        let odd = Polling { short: 9_000, ..Polling::default() };
        assert_eq!(Polling::from_fields(odd.fields()).short, odd.long);
    }
}
