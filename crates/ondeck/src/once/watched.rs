//! What the detection of deadlocks is told of a once: the thread that runs a closure holds it. Without the feature
//! `deadlock_detection` nothing.

#[cfg(feature = "deadlock_detection")]
pub(super) use told::{Turn, ends};
#[cfg(not(feature = "deadlock_detection"))]
pub(super) use untold::{Turn, ends};

#[cfg(feature = "deadlock_detection")]
mod told {
    use core::any::TypeId;

    use crate::once::RawOnce;
    use crate::platform::{Host, Native, Timestamp};
    use crate::watch::{self, Attempt, Ends, Held, Lock, LockKind, Want};

    fn is_looked_at<P: Host>() -> bool {
        TypeId::of::<P>() == TypeId::of::<Native>() && watch::is_on()
    }

    fn of(address: usize) -> Lock {
        Lock { address, kind: LockKind::Once }
    }

    /// A thread that runs a closure, or waits for the one that does.
    pub(in crate::once) struct Turn(Option<Attempt>);

    impl Turn {
        pub(in crate::once) fn begin<P: Host>(key: usize, deadline: Option<Timestamp>) -> Self {
            let ends = if deadline.is_some() { Ends::AtADeadline } else { Ends::Never };
            let begin = || watch::begin(of(key), Want::Alone, ends);
            Self(is_looked_at::<P>().then(begin))
        }

        pub(in crate::once) fn waits(&mut self) {
            if let Some(attempt) = &mut self.0 {
                attempt.waits();
            }
        }

        /// The thread runs its closure.
        pub(in crate::once) fn has_come(self) {
            if let Some(attempt) = self.0 {
                attempt.acquired();
            }
        }
    }

    /// The calling thread has run its closure.
    pub(in crate::once) fn ends<P: Host>(key: usize) {
        if is_looked_at::<P>() {
            watch::released(of(key), Held::Alone);
        }
    }

    impl<P: Host> Drop for RawOnce<P> {
        fn drop(&mut self) {
            watch::ends::<P>(self.key());
        }
    }
}

#[cfg(not(feature = "deadlock_detection"))]
mod untold {
    use crate::platform::{Host, Timestamp};

    pub(in crate::once) struct Turn;

    #[allow(
        clippy::unused_self,
        clippy::extra_unused_type_parameters,
        reason = "as the other type of this name"
    )]
    impl Turn {
        #[inline(always)]
        pub(in crate::once) fn begin<P: Host>(_: usize, _: Option<Timestamp>) -> Self {
            Self
        }

        #[inline(always)]
        pub(in crate::once) fn waits(&mut self) {}

        #[inline(always)]
        pub(in crate::once) fn has_come(self) {}
    }

    #[inline(always)]
    #[allow(clippy::extra_unused_type_parameters, reason = "as the other function of this name")]
    pub(in crate::once) fn ends<P: Host>(_: usize) {}
}
