//! Traces of the locks' source for their specifications. `ci/traces.sh` has TLC check that each trace is a behaviour
//! of its module.
//!
//! `traces FIRST COUNT` prints a TLA+ module with a trace of the schedule of each seed from FIRST on. A step of a
//! thread is one event. A section of a bucket's lock is also one event, with all its changes to the table.

mod condvar;
mod mutex;
mod objects;
mod rwlock;
mod tracer;

/// Makes the trace of a seed, and returns whether all its threads ended.
type Trace = fn(u64) -> (Vec<String>, bool);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().filter_map(|text| text.parse().ok()).collect();
    let (Some(module), &[first, count]) = (arguments.first(), &*numbers) else {
        panic!("usage: traces MODULE FIRST COUNT")
    };
    let (trace, constants): (Trace, _) = match &**module {
        "Condvar" => (condvar::trace, condvar::scripts(first..first + count)),
        "Mutex" => (mutex::trace, mutex::plays()),
        "RwLock" => (rwlock::trace, String::new()),
        _ => panic!("no module {module}"),
    };
    let run = |seed| {
        // The last line names the run in which a broken source crashes.
        eprintln!("run {seed}");
        trace(seed)
    };
    let (traces, ends): (Vec<_>, Vec<_>) = (first..first + count).map(run).unzip();
    println!("---- MODULE Traces ----\nEXTENDS {module}\n{constants}");
    for (number, trace) in traces.iter().enumerate() {
        println!("Trace{} == <<\n  {}>>", number + 1, trace.join(",\n  "));
    }
    let all: Vec<_> = (1..=traces.len()).map(|number| format!("Trace{number}")).collect();
    println!("Traces == <<{}>>", all.join(", "));
    let ends: Vec<_> = ends.iter().map(|end| end.to_string().to_uppercase()).collect();
    println!("Finished == <<{}>>\n====", ends.join(", "));
}
