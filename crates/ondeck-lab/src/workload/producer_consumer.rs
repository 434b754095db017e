//! `producer_consumer`: half of the threads send through a bounded buffer, the other half receive.

use std::sync::Arc;

use ondeck::platform::Linux;
use ondeck_zoo::RawLock;

use super::channel::Channel;
use super::{Situation, Workload, WorkloadInfo};
use crate::sample::Sample;
use crate::team::{self, TeamError, Until};

pub(super) struct ProducerConsumer;

impl Workload for ProducerConsumer {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "producer_consumer",
        about: "Items a second through a bounded buffer, half of all produce",
        source: "the bounded buffer of every textbook: E. W. Dijkstra, Cooperating Sequential Processes",
        counted: false,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        let channel = Arc::new(Channel::<L>::new(situation.capacity));
        let outcome = team::run(&situation.team, Until::Elapsed(situation.round), move |member| {
            let context = L::Context::default();
            if !member.start() {
                return;
            }
            let mut items = 0;
            let produces = is_producer(member.index);
            // Whoever sees first that the time is over closes the channel for those who sleep.
            while !member.stopped() {
                let open = if produces {
                    // SAFETY: the context is this thread's alone.
                    unsafe { channel.send(&context, items) }.is_ok()
                } else {
                    // SAFETY: as above.
                    unsafe { channel.receive(&context) }.is_ok()
                };
                if !open {
                    return;
                }
                items += 1;
                member.done(items);
            }
            // SAFETY: as above.
            unsafe { channel.close(&context) };
        })?;
        // An item counts when it has arrived.
        Ok(Sample::of_members(&outcome, |thread| !is_producer(thread)))
    }
}

fn is_producer(thread: usize) -> bool {
    thread.is_multiple_of(2)
}
