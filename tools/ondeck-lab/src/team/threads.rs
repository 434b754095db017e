//! A team of real threads: creates, places, watches and joins them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ondeck::platform::Native;

use super::{Body, Outcome, Shared, TeamError, TeamSetting, Until, watch};
use crate::system::{self, Limit};

/// More threads than this are a crowd. Its threads have small stacks: stacks of the usual size
/// would be gigabytes of address space, which some systems refuse.
pub(crate) const CROWD: usize = 256;

/// Far more than the threads of any workload need.
const SMALL_STACK: usize = 128 << 10;

/// Runs `body` on every thread of a team and watches the team: [`team::run`](super::run) on the
/// real machine.
pub(crate) fn run<T: Send + 'static>(
    setting: &TeamSetting,
    until: Until,
    body: &Body<Native, T>,
) -> Result<Outcome<T>, TeamError> {
    let limit = setting.placement.limit().map_err(|refusal| TeamError::Refused(refusal.reason))?;
    let shared = Shared::<Native>::new(setting.threads);
    let mut handles = Vec::with_capacity(setting.threads);
    for index in 0..setting.threads {
        let (member_shared, body, placement) =
            (Arc::clone(&shared), Arc::clone(body), setting.placement.clone());
        let mut builder = std::thread::Builder::new().name(format!("lab-{index}"));
        if setting.threads > CROWD {
            builder = builder.stack_size(SMALL_STACK);
        }
        let spawned = builder.spawn(move || {
            member_shared.work(index, |member| {
                // Refusals were reported before the run; a CPU that has gone away since is ignored.
                let _ = placement.apply(index);
                body(member)
            })
        });
        match spawned {
            Ok(handle) => handles.push(handle),
            Err(error) => {
                shared.give_up();
                let made = handles.len();
                for handle in handles {
                    // Its result no longer matters.
                    let _ = handle.join();
                }
                return Err(TeamError::NoThread {
                    made,
                    threads: setting.threads,
                    reason: error.to_string(),
                });
            }
        }
    }

    let _raised = setting.placement.raise_coordinator();
    let mut outside = None;
    // What threads do before the start is not limited.
    let may_open = || {
        let admit = |limit: &Limit, index| limit.admit(shared.number(index));
        let mut waiting = (0..setting.threads).filter(|&index| !shared.has_ended(index));
        outside = limit.as_ref().and_then(|limit| waiting.find_map(|i| admit(limit, i).err()));
        outside.is_none()
    };
    let mut outcome = match watch::watch(setting, until, &shared, may_open) {
        Ok(outcome) => outcome,
        Err(limit) => {
            let remaining =
                || handles.iter().enumerate().filter(|(index, _)| !shared.has_ended(*index));
            // Describes all threads before it freezes the first, because freezing one changes what
            // the others wait for.
            let progress = shared.progress();
            let states = remaining()
                .map(|(index, _)| {
                    let state = system::state_of_thread(None, shared.number(index));
                    format!("{state}, after {} pairs", progress[index])
                })
                .collect();
            remaining().for_each(|(_, handle)| system::freeze(handle));
            return Err(TeamError::Stuck { threads: setting.threads, limit, states });
        }
    };

    for handle in handles {
        let (result, usage) = handle.join().map_err(|_| TeamError::Panicked)?;
        outcome.usage = outcome.usage.plus(usage);
        outcome.results.extend(result);
    }
    if let Some(error) = outside {
        return Err(TeamError::Refused(format!(
            "a thread could not be limited to a quota: {error}"
        )));
    }
    outcome.pairs = shared.progress();
    if setting.cancel.load(Ordering::Relaxed) { Err(TeamError::Cancelled) } else { Ok(outcome) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::environment::Placement;
    use crate::team;

    /// The limit is longer than a panicking thread needs for its backtrace, even on a busy machine.
    /// A thread that is frozen during its backtrace holds the standard library's lock of
    /// backtraces, and the next panic waits for ever.
    fn setting(threads: usize) -> TeamSetting {
        TeamSetting {
            threads,
            placement: Placement::default(),
            stall_limit: Duration::from_mins(2),
            cancel: Arc::default(),
        }
    }

    /// For teams in which a thread gets stuck on purpose.
    fn soon_stuck(threads: usize) -> TeamSetting {
        TeamSetting { stall_limit: Duration::from_secs(1), ..setting(threads) }
    }

    #[test]
    fn every_thread_works_until_the_time_is_over() {
        let outcome = team::run::<Native, _>(
            &setting(3),
            Until::Elapsed(Duration::from_millis(20)),
            |member| {
                member.start()?;
                let mut pairs = 0;
                member.repeat(|| pairs += 1, |()| ());
                Some(pairs)
            },
        )
        .expect("the team ends");
        assert_eq!(outcome.pairs, outcome.results);
        assert!(outcome.total_pairs() >= outcome.window_pairs.iter().sum());
        assert!(outcome.window >= Duration::from_millis(20));
        assert!(outcome.span >= outcome.window, "{outcome:?}");
    }

    #[test]
    fn a_team_may_end_by_itself() {
        let outcome =
            team::run::<Native, _>(&setting(2), Until::Finished(Duration::MAX), |member| {
                member.start()?;
                member.done(7);
                Some(member.index)
            })
            .expect("the team ends");
        assert_eq!(outcome.results, [0, 1]);
        assert_eq!(outcome.window_pairs, [7, 7]);
    }

    /// Where the system permits it, as to root.
    #[test]
    fn a_team_under_a_quota_works_in_a_group_of_its_own() {
        let quota = Some("1".parse().expect("there is a CPU"));
        let (placement, _) = Placement { quota, ..Placement::default() }.granted();
        if placement.quota.is_none() {
            return;
        }
        let setting = TeamSetting { placement, ..setting(3) };
        let outcome = team::run::<Native, _>(&setting, Until::Finished(Duration::MAX), |member| {
            member.start()?;
            std::fs::read_to_string("/proc/thread-self/cgroup").ok()
        })
        .expect("the team ends");
        assert_eq!(outcome.results.len(), 3);
        assert!(outcome.results.iter().all(|groups| groups.contains("/ondeck-")), "{outcome:?}");
    }

    #[test]
    fn a_stuck_team_is_reported_and_frozen() {
        let error = team::run::<Native, _>(
            &soon_stuck(2),
            Until::Elapsed(Duration::from_millis(10)),
            |member| {
                member.start()?;
                if member.index == 1 {
                    loop {
                        std::hint::spin_loop();
                    }
                }
                member.done(1);
                Some(())
            },
        )
        .expect_err("one thread never ends");
        let TeamError::Stuck { threads: 2, states, .. } = error else { panic!("{error}") };
        // On a busy machine the other one may not have ended either.
        assert!(states.iter().any(|state| state.contains("lab-1")), "{states:?}");
    }

    #[test]
    fn a_thread_that_never_comes_to_the_start_is_stuck_too() {
        let error =
            team::run::<Native, _>(&soon_stuck(2), Until::Finished(Duration::MAX), |member| {
                if member.index == 1 {
                    loop {
                        std::thread::park();
                    }
                }
                assert!(member.start().is_none(), "the team is given up");
                None::<()>
            })
            .expect_err("one thread never starts");
        assert!(matches!(error, TeamError::Stuck { .. }), "{error}");
    }

    #[test]
    fn a_cancelled_round_ends_early_and_yields_nothing() {
        let setting = setting(2);
        let cancel = Arc::clone(&setting.cancel);
        let error = team::run::<Native, _>(
            &setting,
            Until::Elapsed(Duration::from_hours(1)),
            move |member| {
                member.start()?;
                let mut pairs = 0;
                let count = || {
                    pairs += 1;
                    cancel.store(pairs > 1_000, Ordering::Relaxed);
                };
                member.repeat(count, |()| ());
                Some(())
            },
        )
        .map(|_| ());
        assert_eq!(error, Err(TeamError::Cancelled));
    }

    #[test]
    fn a_panicking_thread_is_an_error() {
        let error = team::run::<Native, _>(&setting(1), Until::Finished(Duration::MAX), |_| {
            panic!("a broken lock")
        })
        .map(|_: Outcome<()>| ());
        assert_eq!(error, Err(TeamError::Panicked));
    }
}
