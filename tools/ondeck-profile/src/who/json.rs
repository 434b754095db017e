//! The same as a document for other programs.
//!
//! | field | has |
//! |---|---|
//! | `version` | 1; fields are only added |
//! | `pid`, `program`, `arguments` | the process |
//! | `deadlocks` | circles, each a list of numbers of threads |
//! | `locks` | for each lock that threads keep: `kind`, `address` (`null` if threads sleep on words of their own), `name`, `place`, `keeper`, `waiters`, and `perhaps`, threads that may keep it |
//! | `keeper` | `is`: `thread` with `tid`, `elsewhere` with `tid`, `readers` with `count`, `nobody`, `unknown`, `none` |
//! | `goroutines` | `null` if the program has no Go runtime, `{"unseen": REASON}` if they cannot be seen, else `locks`, for each: `kind`, `address`, `name`, `place`, `waiters` and `perhaps`, lists of goroutines with `number`, `callers` and `stack` |
//! | `unseen` | what of the program's own kinds of lock is not seen, with what shows it |
//! | `threads` | `tid`, `inner_tid`, `name`, `state`, `call`, `seconds` without running, `wait`, `callers`, the program's functions of the `stack`, `stack`, `searched` |
//! | `missing` | files without names, with the reason |

use std::sync::Arc;

use serde_json::{Value, json};

use super::goroutines::{GoLock, Goroutine, Goroutines};
use super::report::{Lock, Thread, Wait, Who};
use super::thread::State;
use crate::model::Location;

/// Returns the document.
pub fn render(who: &Who) -> String {
    let document = json!({
        "version": 1,
        "ondeck": env!("CARGO_PKG_VERSION"),
        "pid": who.pid,
        "program": who.program,
        "arguments": who.arguments,
        "deadlocks": who.deadlocks,
        "locks": who.locks.iter().map(of_lock).collect::<Vec<_>>(),
        "goroutines": of_goroutines(who),
        "unseen": who.unseen,
        "threads": who.threads.iter().map(|thread| of_thread(who, thread)).collect::<Vec<_>>(),
        "missing": who.missing,
    });
    format!("{document:#}\n")
}

fn of_lock(lock: &Lock) -> Value {
    let Lock { wait, waiters, perhaps } = lock;
    json!({
        "kind": wait.kind,
        "address": wait.object.map(|object| format!("{object:#x}")),
        "name": wait.place.symbol(),
        "place": wait.place,
        "keeper": wait.keeper,
        "waiters": waiters,
        "perhaps": perhaps,
    })
}

fn of_goroutines(who: &Who) -> Value {
    let locks = match &who.goroutines {
        Goroutines::None => return Value::Null,
        Goroutines::Unseen(reason) => return json!({ "unseen": reason }),
        Goroutines::Seen(locks) => locks,
    };
    let goroutines = |list: &[Goroutine]| -> Vec<Value> {
        let one = |one: &Goroutine| {
            json!({
                "number": one.number,
                "callers": one.callers,
                "stack": of_stack(who, &one.stack),
            })
        };
        list.iter().map(one).collect()
    };
    let of_lock = |lock: &GoLock| {
        json!({
            "kind": lock.kind,
            "address": format!("{:#x}", lock.address),
            "name": lock.place.symbol(),
            "place": lock.place,
            "waiters": goroutines(&lock.waiters),
            "perhaps": goroutines(&lock.perhaps),
        })
    };
    json!({ "locks": locks.iter().map(of_lock).collect::<Vec<_>>() })
}

fn of_stack(who: &Who, stack: &[Arc<Location>]) -> Vec<Value> {
    let of_location = |location: &Arc<Location>| {
        let module = location.module.map(|module| &who.modules[module]);
        json!({
            "address": format!("{:#x}", location.address),
            "module": module.map(|module| &module.path),
            "offset": module.map(|module| format!("{:#x}", location.address.wrapping_sub(module.bias))),
            "build_id": module.map(|module| &module.build_id),
            "frames": location.frames,
        })
    };
    stack.iter().map(of_location).collect()
}

fn of_thread(who: &Who, thread: &Thread) -> Value {
    let state = match thread.state {
        State::Running => "running",
        State::Asleep => "asleep",
        State::Uninterruptible => "uninterruptible",
        State::Stopped => "stopped",
        State::Ended => "ended",
    };
    json!({
        "tid": thread.tid,
        "inner_tid": thread.inner_tid,
        "name": thread.name,
        "state": state,
        "call": thread.call.map(|call| call_name(Some(call))),
        "seconds": thread.since.map(|since| since.as_secs_f64()),
        "wait": thread.wait.as_ref().map(of_wait),
        "callers": thread.callers,
        "stack": of_stack(who, &thread.stack),
        "searched": thread.is_searched,
    })
}

fn of_wait(wait: &Wait) -> Value {
    json!({
        "kind": wait.kind,
        "word": format!("{:#x}", wait.word),
        "address": wait.object.map(|object| format!("{object:#x}")),
        "name": wait.place.symbol(),
        "place": wait.place,
        "function": wait.function,
        "timed": wait.is_timed,
        "keeper": wait.keeper,
    })
}

/// Returns the name of a system call in which threads sleep, as manual pages have it.
pub(super) fn call_name(number: Option<i64>) -> String {
    let Some(number) = number else { return "a page fault".to_owned() };
    let name = match number {
        libc::SYS_read => "read",
        libc::SYS_write => "write",
        libc::SYS_readv => "readv",
        libc::SYS_writev => "writev",
        libc::SYS_pread64 => "pread",
        libc::SYS_pwrite64 => "pwrite",
        libc::SYS_ppoll => "ppoll",
        libc::SYS_pselect6 => "pselect",
        libc::SYS_epoll_pwait => "epoll_pwait",
        libc::SYS_epoll_pwait2 => "epoll_pwait2",
        libc::SYS_accept => "accept",
        libc::SYS_accept4 => "accept4",
        libc::SYS_connect => "connect",
        libc::SYS_recvfrom => "recvfrom",
        libc::SYS_recvmsg => "recvmsg",
        libc::SYS_recvmmsg => "recvmmsg",
        libc::SYS_sendto => "sendto",
        libc::SYS_sendmsg => "sendmsg",
        libc::SYS_nanosleep => "nanosleep",
        libc::SYS_clock_nanosleep => "clock_nanosleep",
        libc::SYS_wait4 => "wait4",
        libc::SYS_waitid => "waitid",
        libc::SYS_futex => "futex",
        libc::SYS_flock => "flock",
        libc::SYS_fcntl => "fcntl",
        libc::SYS_fsync => "fsync",
        libc::SYS_fdatasync => "fdatasync",
        libc::SYS_rt_sigtimedwait => "sigtimedwait",
        libc::SYS_rt_sigsuspend => "sigsuspend",
        libc::SYS_io_uring_enter => "io_uring_enter",
        libc::SYS_openat => "openat",
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll => "poll",
        #[cfg(target_arch = "x86_64")]
        libc::SYS_select => "select",
        #[cfg(target_arch = "x86_64")]
        libc::SYS_epoll_wait => "epoll_wait",
        #[cfg(target_arch = "x86_64")]
        libc::SYS_pause => "pause",
        _ => return format!("system call {number}"),
    };
    format!("{name}(2)")
}
