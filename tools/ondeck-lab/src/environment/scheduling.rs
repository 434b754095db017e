//! Words for how the kernel shares CPUs among threads.

pub use crate::system::Policy;
use crate::system::{self, Refusal, Thread};

const CALLER: Thread = 0;

impl Policy {
    /// Whether its threads run before all others until they sleep.
    pub fn is_realtime(self) -> bool {
        matches!(self, Self::Fifo | Self::RoundRobin)
    }

    /// Puts a thread under this policy, `above` steps over its lowest priority.
    pub(crate) fn apply_to(self, thread: Thread, above: u8) -> Result<(), Refusal> {
        system::set_policy(self, thread, above)
    }

    /// The same for the calling thread.
    pub(crate) fn apply(self, above: u8) -> Result<(), Refusal> {
        self.apply_to(CALLER, above)
    }
}

crate::worded! {
    Policy: "expected one of `other`, `batch`, `fifo`, `rr`";
    Other = "other", Batch = "batch", Fifo = "fifo", RoundRobin = "rr"
}
