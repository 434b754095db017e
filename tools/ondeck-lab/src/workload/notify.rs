//! When a thread notifies waiters of its change.

/// Inside the critical section or after it.
///
/// A thread that is notified inside finds the lock taken, unless the condition variable moves it to
/// the lock's queue. A thread that is notified after the unlock competes with arriving threads.
/// Programs do both, and locks differ in which of the two they favour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notify {
    /// The notifying thread holds the lock.
    Inside,
    /// The notifying thread has unlocked.
    After,
}

/// The parameter's name in reports. Series that notify inside do not have it, because reports from
/// before the other variant do not either.
pub const NOTIFY: &str = "notify";

impl Notify {
    /// Both, in the order of reports.
    pub const BOTH: [Self; 2] = [Self::Inside, Self::After];

    /// The parameter of such a series, if it has one.
    pub(super) fn param(self) -> Option<(&'static str, String)> {
        (self != Self::Inside).then(|| (NOTIFY, self.to_string()))
    }
}

crate::worded! {
    Notify: "use `inside` (the critical section) or `after` (the unlock)";
    Inside = "inside", After = "after"
}
