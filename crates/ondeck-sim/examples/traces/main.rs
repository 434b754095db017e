//! Traces of the locks' source for their specifications. `ci/traces.sh` has TLC check that each trace is a behaviour
//! of its module.
//!
//! `traces FIRST COUNT` prints a TLA+ module with a trace of the schedule of each seed from FIRST on. A step of a
//! thread is one event. A section of a bucket's lock is also one event, with all its changes to the table.

mod mutex;
mod tracer;

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let &[first, count] = &*numbers else { panic!("usage: traces FIRST COUNT") };
    let traces = (first..first + count).map(mutex::trace);
    let (traces, ends): (Vec<_>, Vec<_>) = traces.unzip();
    println!("---- MODULE Traces ----\nEXTENDS Mutex\nPlaysTraced == {}", mutex::plays());
    for (number, trace) in traces.iter().enumerate() {
        println!("Trace{} == <<\n  {}>>", number + 1, trace.join(",\n  "));
    }
    let all: Vec<_> = (1..=traces.len()).map(|number| format!("Trace{number}")).collect();
    println!("Traces == <<{}>>", all.join(", "));
    let ends: Vec<_> = ends.iter().map(|end| end.to_string().to_uppercase()).collect();
    println!("Ended == <<{}>>\n====", ends.join(", "));
}
