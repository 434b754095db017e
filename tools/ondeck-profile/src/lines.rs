//! JSON lines: one object a line, for other programs.
//!
//! The first line has the `type` `profile`. Then each process has a line `process`, a line `lock`
//! for each of its locks, worst first, then a line `notice` for each object at which its threads
//! waited for notifications, and after each of both a line `stack` for each of its stacks. The
//! lines `futex` at the end are for the objects at which sampling found threads asleep. Times are
//! nanoseconds. Version 1; fields are only added.

use std::sync::Arc;

use serde_json::{Value, json};

use ondeck_record::layout::Role;

use crate::model::{Location, Lock, Process, Profile, Sample, Times};

/// Returns the lines of a profile.
pub fn render(profile: &Profile) -> String {
    let refused: Vec<String> = profile.refused.iter().map(ToString::to_string).collect();
    let mut lines = vec![json!({
        "type": "profile", "version": 1, "ondeck": env!("CARGO_PKG_VERSION"), "refused": refused,
        "observed": profile.scope.as_ref().map(|scope| &scope.seen),
        "not_observed": profile.scope.as_ref().map(|scope| &scope.unseen),
    })];
    for process in &profile.processes {
        lines.push(of_process(process));
        let locks = process.locks.iter().map(|lock| ("lock", lock));
        let notices = process.notices.iter().map(|lock| ("notice", lock));
        for (name, lock) in locks.chain(notices) {
            lines.push(of_lock(process, name, lock));
            for role in [Role::Holder, Role::Waiter] {
                lines.extend(
                    lock.samples(role).iter().map(|one| of_sample(process, lock, role, one)),
                );
            }
        }
    }
    if let Some(futexes) = &profile.futexes {
        lines.extend(futexes.found.iter().map(|futex| {
            json!({
                "type": "futex",
                "object": futex.object,
                "pid": futex.pid,
                "address": format!("{:#x}", futex.address),
                "name": futex.name(),
                "place": futex.place,
                "samples": futex.samples,
                "looks": futexes.looks,
                "threads": futex.threads,
                "stack": futex.stacks.first().map(|(stack, _)| outside(stack)),
            })
        }));
    }
    lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

/// Returns a stack whose modules are not those of a process line.
fn outside(stack: &[Arc<Location>]) -> Vec<Value> {
    let one = |location: &Arc<Location>| {
        let Location { address, frames, .. } = &**location;
        json!({ "address": address, "module": null, "frames": frames })
    };
    stack.iter().map(one).collect()
}

fn of_process(process: &Process) -> Value {
    let started = process.started.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    json!({
        "type": "process",
        "pid": process.pid,
        "parent": process.parent,
        "program": process.program,
        "arguments": process.arguments,
        "started_unix_seconds": started.as_secs_f64(),
        "seconds": process.length.as_secs_f64(),
        "ended": process.ended,
        "threads": process.threads,
        "dropped": process.dropped,
        "cost": process.cost,
        "modules": process.modules,
    })
}

fn of_lock(process: &Process, name: &str, lock: &Lock) -> Value {
    json!({
        "type": name,
        "pid": process.pid,
        "address": format!("{:#x}", lock.address),
        "name": lock.name(),
        "kind": lock.kind,
        "place": lock.place,
        "created": lock.created,
        "site": lock.site,
        "acquisitions": lock.acquisitions,
        "reused": lock.reused,
        "contention": lock.contention(),
        "wait": of_times(&lock.wait),
        "timeouts": lock.timeouts,
        "hold": of_times(&lock.hold),
        "kept_waiting": lock.kept_waiting,
        "free": lock.free,
        "threads": lock.threads,
        "waiting": lock.waiting,
    })
}

fn of_times(times: &Times) -> Value {
    json!({
        "count": times.count,
        "total": times.nanos,
        "p50": times.quantile(0.5),
        "p90": times.quantile(0.9),
        "p99": times.quantile(0.99),
        "p999": times.quantile(0.999),
        "longest": times.longest,
        "buckets": times.buckets,
    })
}

fn of_sample(process: &Process, lock: &Lock, role: Role, sample: &Sample) -> Value {
    json!({
        "type": "stack",
        "pid": process.pid,
        "lock": format!("{:#x}", lock.address),
        "name": lock.name(),
        "role": match role { Role::Holder => "holder", Role::Waiter => "waiter" },
        "count": sample.count,
        "total": sample.nanos,
        "longest": sample.longest,
        "stack": sample.stack,
    })
}
