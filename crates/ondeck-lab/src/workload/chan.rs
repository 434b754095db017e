//! `chan`: a buffered channel that everybody uses and nobody waits for: 100 sends, 100 receives.
//!
//! The buffer has room for what all threads send in a turn, so a thread that receives finds at
//! least what it sent itself. It is the lock that is measured, as in the source, whose channel is
//! guarded by the runtime's mutex.

use std::sync::Arc;

use ondeck::platform::Linux;
use ondeck_zoo::RawLock;

use super::channel::Channel;
use super::{Situation, Workload, WorkloadInfo};
use crate::sample::Sample;
use crate::team::{self, TeamError, Until};

pub(super) struct Chan;

/// Sends, and then receives, in a turn.
const TURN: usize = 100;

impl Workload for Chan {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "chan",
        about: "Operations a second on a channel, 100 sends, 100 receives",
        source: "Go's benchmark ChanContended, in issue 68578",
        counted: false,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        let channel = Arc::new(Channel::<L>::new(TURN * situation.team.threads));
        let outcome = team::run(&situation.team, Until::Elapsed(situation.round), move |member| {
            let context = L::Context::default();
            if !member.start() {
                return;
            }
            let mut operations = 0;
            while !member.stopped() {
                for item in 0..TURN {
                    // SAFETY: the context is this thread's alone. Nobody closes the channel.
                    let _ = unsafe { channel.send(&context, item as u64) };
                    operations += 1;
                    member.done(operations);
                }
                for _ in 0..TURN {
                    // SAFETY: as above.
                    let _ = unsafe { channel.receive(&context) };
                    operations += 1;
                    member.done(operations);
                }
            }
        })?;
        Ok(Sample::of_outcome(&outcome))
    }
}
