//! The common beginning and end of every command that measures: an empty report about this machine,
//! how the program starts itself again, and the way of a report to its files and the terminal.

use ondeck_lab::alone::Helper;
use ondeck_lab::disturbance::Account;
use ondeck_lab::results::{
    Build, CpuTime, LockRow, Machine, PureWork, Report, SCHEMA_VERSION, Settings,
};
use ondeck_lab::workload::Subject;
use ondeck_lab::{machine, warnings};

use crate::ending::Ending;
use crate::files::Prepared;
use crate::output;

/// The hidden first argument of the process that measures with one thread only.
pub(crate) const ALONE: &str = "__alone";

/// A report about this machine that has no measurements yet.
pub(crate) fn empty_report() -> Report {
    let machine = described();
    Report {
        schema: SCHEMA_VERSION,
        started: ondeck_lab::now(),
        build: build(),
        settings: Settings { command: command_line(), ..Settings::default() },
        warnings: warnings::before(&machine),
        machine,
        ..Report::default()
    }
}

/// The running program.
pub(crate) fn build() -> Build {
    let commit = env!("ONDECK_COMMIT");
    machine::build((!commit.is_empty()).then(|| commit.to_owned()))
}

/// This machine, with its current cores.
pub(crate) fn described() -> Machine {
    let machine = machine::describe();
    let pure_work = PureWork::before(machine.usable_cpus);
    Machine { pure_work, ..machine }
}

/// Adds to a report which programs had the CPUs since then, and the machine's cores after the run.
pub(crate) fn look_again(report: &mut Report, earlier: Option<Account>) {
    report.cpu_time = cpu_time_since(earlier);
    if let Some(pure_work) = &mut report.machine.pure_work {
        pure_work.look_again();
    }
}

/// Which programs had the CPUs since then.
pub(crate) fn cpu_time_since(earlier: Option<Account>) -> Option<CpuTime> {
    Some(Account::now()?.since(earlier?))
}

/// Writes the report files, prints `text`, names the files, and returns whether anything is
/// missing.
pub(crate) fn finish(prepared: Prepared, report: &Report, text: &str) -> Ending {
    let arrived = deliver(prepared, report, text);
    let refused_costs = report.costs.iter().any(|cost| cost.refused.is_some());
    if !arrived || report.partial || refused_costs || !report.failures.is_empty() {
        Ending::Lacking
    } else {
        Ending::Whole
    }
}

/// Writes the report files, prints `text` and names the files; returns whether all of that
/// succeeded.
///
/// Writes the files first: whatever happens to the terminal, the measurements are safe.
pub(crate) fn deliver(prepared: Prepared, report: &Report, text: &str) -> bool {
    let written = prepared.write(report);
    let printed = output::print(text);
    let whole = written.tell();
    if let Err(error) = &printed {
        output::say(format_args!("error: {error}"));
    }
    printed.is_ok() && whole
}

/// A lock's row in tables and reports.
pub(crate) fn lock_row(subject: &Subject) -> LockRow {
    let info = &subject.info;
    LockRow {
        name: info.name.to_owned(),
        origin: info.origin.to_string(),
        kind: subject.kind.to_string(),
        waiting: info.waiting.to_string(),
        fairness: info.fairness.to_string(),
        condvar: info.condvar.to_string(),
        size_bytes: subject.size,
        context_bytes: subject.context_size,
        touches_after_release: info.touches_after_release,
        source: info.source.to_owned(),
        teaches: info.teaches.to_owned(),
    }
}

/// Every lock, including the one that does nothing.
pub(crate) fn with_baseline() -> Vec<Subject> {
    let mut subjects = Subject::of_every_kind();
    subjects.push(Subject::baseline());
    subjects
}

/// How this program measures in a process of one thread.
pub(crate) fn helper() -> Option<Helper> {
    let program = std::env::current_exe().ok()?;
    Some(Helper { program, arguments: vec![ALONE.to_owned()] })
}

/// The arguments after the program's name. An argument that is not UTF-8 can only be a path, which
/// is not used here.
pub(crate) fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The command line that repeats this run in a shell, without the path of the program.
pub(crate) fn command_line() -> String {
    let arguments = arguments();
    let words = || std::iter::once("ondeck").chain(arguments.iter().map(String::as_str));
    // Only a zero byte cannot be quoted, and no argument contains one.
    shlex::try_join(words()).unwrap_or_else(|_| words().collect::<Vec<_>>().join(" "))
}
