//! How threads wait, for an experiment that sets the times instead of measuring them.

use core::sync::atomic::{AtomicU32, Ordering};

/// How threads wait, in nanoseconds; [`MEASURED`] if the process measures instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Polling {
    /// How long the heir of a lock polls before it sleeps. 0: no thread polls.
    ///
    /// Measured: the time of a wake. A wait of that length costs at most twice as much as the
    /// better of waiting and parking.
    pub budget: u32,
    /// The pause before the first poll: a short critical section.
    ///
    /// Measured: one transfer of a cache line.
    pub short: u32,
    /// The longest pause between polls, and how long an arriving thread tries a lock again.
    ///
    /// Measured: 24 transfers of a cache line, and 0.8 µs. A poll takes the line from the owner,
    /// and costs both threads some more instructions: about a tenth of its time.
    pub long: u32,
    /// How long a waiter of a condition variable reads its own node for a notification before it
    /// sleeps. 0: not at all.
    ///
    /// Measured: the time of two wakes. The thread that will notify a waiter may itself need a wake
    /// first. A waiter that gives up before that is already asleep, and must itself be woken: such
    /// threads, once asleep, would never find each other awake again.
    pub watch: u32,
    /// The first nap of the heir of a captured lock. Each further one of the turn is twice as long.
    ///
    /// Measured: the time of two wakes. Timers of an ordinary thread are late by as much again.
    pub tenure: u32,
}

/// The value of a field of [`Polling`] that the process measures.
pub const MEASURED: u32 = u32::MAX;

const FIELD_COUNT: usize = 5;

impl Default for Polling {
    fn default() -> Self {
        Self::from_fields([MEASURED; FIELD_COUNT])
    }
}

/// The installed values, by field, plus 1 (wrapping) so that zeros are [`MEASURED`]. Relaxed: each
/// field is independent, and a thread that sees some old and some new values polls a little oddly
/// once.
static FIELDS: [AtomicU32; FIELD_COUNT] = [const { AtomicU32::new(0) }; FIELD_COUNT];

impl Polling {
    /// Applies these values to every thread of the process that begins to wait from now on.
    pub fn install(self) {
        for (field, value) in FIELDS.iter().zip(self.fields()) {
            field.store(value.wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// Returns how threads of this process wait now.
    pub fn current() -> Self {
        let field = |field: &AtomicU32| field.load(Ordering::Relaxed).wrapping_sub(1);
        Self::from_fields(FIELDS.each_ref().map(field))
    }

    /// Returns these values with the numbers in the comma-separated `text` in their place. `0`
    /// alone also applies to waiters of condition variables.
    #[allow(dead_code, reason = "WebAssembly has no environment to read before `main`")]
    pub(crate) fn overridden(self, text: &[u8]) -> Self {
        if text.trim_ascii() == b"0" {
            return Self { budget: 0, watch: 0, ..self };
        }
        let mut fields = self.fields();
        for (field, word) in fields.iter_mut().zip(text.split(|&byte| byte == b',')) {
            if let Some(value) = core::str::from_utf8(word).ok().and_then(|w| w.trim().parse().ok())
            {
                *field = value;
            }
        }
        Self::from_fields(fields)
    }

    fn fields(self) -> [u32; FIELD_COUNT] {
        [self.budget, self.short, self.long, self.watch, self.tenure]
    }

    fn from_fields([budget, short, long, watch, tenure]: [u32; FIELD_COUNT]) -> Self {
        Self { budget, short, long, watch, tenure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_override_gives_some_fields_or_all() {
        let default = Polling::default();
        assert_eq!(default.overridden(b""), default);
        assert_eq!(default.overridden(b"0"), Polling { budget: 0, watch: 0, ..default });
        assert_eq!(default.overridden(b"0,"), Polling { budget: 0, ..default });
        assert_eq!(default.overridden(b",50"), Polling { short: 50, ..default });
        let all = Polling { budget: 1, short: 2, long: 3, watch: 4, tenure: 5 };
        assert_eq!(default.overridden(b"1, 2,3,4,5,6"), all);
        assert_eq!(default.overridden(b"many,-1,\xff"), default);
    }
}
