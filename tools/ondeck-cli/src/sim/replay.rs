//! `--replay`: a program's recording on a simulated machine.

use std::fmt::Write;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;
use std::time::Duration;

use ondeck_replay::{
    Action, Anchor, Operation, Outlook, RECORDED_WITH, Recording, Row, SATURATED, Script, Setup,
    Sharing, Shorter, Site, longest_site, outlook, reasons, transfer,
};
use ondeck_report::html::replay::{COLUMNS, Line, Page, render};
use ondeck_sim::engine::Costs;
use ondeck_sim::lab;
use ondeck_sim::machine::MachineFile;
use ondeck_text::functions::is_named;
use ondeck_text::grid::Grid;

use super::shorter::Part;
use super::verdict::{Case, Found, counted, function, interval, verdict};
use super::{Options, chosen};
use crate::ending::{Ending, Error};
use crate::files::Prepared;
use crate::progress::Progress;
use crate::{output, session};

/// The lock of C programs, and the alternative.
const LOCKS: [&str; 2] = ["glibc_normal", "ondeck"];
/// Multiples of the recorded number of threads.
const TIMES: [(usize, &str); 4] = [(1, "recorded"), (2, "2 ×"), (4, "4 ×"), (8, "8 ×")];
/// The most threads among them.
const MOST: usize = 512;
/// The nominal time of a lock for the progress.
const TURN: Duration = Duration::from_secs(1);

pub(super) fn run(file: &Path, machine: &MachineFile, options: &Options) -> Result<Ending, Error> {
    let recording = Recording::read(file).map_err(Error::usage)?;
    let shorter = shortened(&recording, &options.shorter)?;
    let cases = cases(options)?;
    let costs = machine.costs().clone();
    let script = Script::new(&recording, &shorter);
    let threads = counts(options, script.threads, costs.places.len());
    let prepared = Prepared::of([((), options.outputs.html.as_deref())])?;
    prepared.apart_from_inputs([file, Path::new(&options.machine)])?;
    let (anchor, check) = anchored(&recording, machine, options)?;

    output::say(format_args!("simulating {} on {}", recording.program, machine.about()));
    let mut progress = Progress::new(TURN * (cases.len() + 1) as u32);
    let simulation = Simulation {
        recording: &recording,
        shorter: &shorter,
        costs: &costs,
        threads: &threads,
        seed: options.seed,
    };
    let mut found = simulation.of_all(cases, &mut progress);
    // The most effective change: the longest sections of the lock that saturates first, with the
    // last lock.
    if let Some(last) = found.last()
        && let Some(saturation) = found.iter().find_map(|it| it.outlook.saturation)
        && let Some(site) = longest_site(&recording, saturation.lock)
    {
        let name = format!("{}, `{}` halved", last.case.name, function(&recording.sites[site]));
        let case = Case { name, mutex: last.case.mutex, halved: Some(site) };
        found.extend(simulation.of_all(vec![case], &mut progress));
    }
    progress.finish();
    for it in &mut found {
        for row in &mut it.outlook.rows {
            row.outcome.rate *= anchor.ratio();
            // Anchored as well.
            row.bound *= anchor.recorded / anchor.bound.max(1.0);
        }
    }

    let verdict = if anchor.is_believed() {
        verdict(&recording, &found, &threads)
    } else {
        "This program cannot be predicted: see the self-check.".to_owned()
    };
    let mut about = about(&recording, &script, machine, costs.places.len());
    about.push(check);
    about.extend(found.iter().filter_map(|it| disagreement(it, costs.places.len())));
    let today = anchor.recorded;
    let text = text(&recording, &found, &verdict, &about, today);
    let written = prepared.write_by(|()| {
        Ok::<_, String>(render(&page(
            &recording,
            &script,
            &found,
            &verdict,
            &about,
            (today, costs.places.len()),
        )))
    });
    let printed = output::print(&text);
    let whole = written.tell();
    printed?;
    Ok(if whole { Ending::Whole } else { Ending::Lacking })
}

/// Replays the recording as it was recorded, and says how far that is from it.
fn anchored(
    recording: &Recording,
    machine: &MachineFile,
    options: &Options,
) -> Result<(Anchor, String), Error> {
    let named = options.recorded_on.as_deref().map(MachineFile::find).transpose();
    let host = named.map_err(Error::usage)?;
    let host = host.as_ref().unwrap_or(machine);
    let lock = lab::named(RECORDED_WITH)
        .ok_or_else(|| Error::usage(format!("the simulator has no lock {RECORDED_WITH}")))?;
    let setup = Setup { costs: host.costs(), seed: options.seed, lock, threads: 1 };
    let (anchor, outcome) = Anchor::new(recording, &setup);
    let mut words = format!(
        "Self-check: recorded {:.3} M/s, replayed {:.3} on {} with {RECORDED_WITH}, which the program was \
         recorded with; rates are scaled by {:.2}.",
        anchor.recorded / 1e6,
        anchor.replayed / 1e6,
        host.about(),
        anchor.ratio()
    );
    if !anchor.is_believed() {
        let script = Script::new(recording, &[]);
        let mut known = reasons((&anchor, &outcome), recording, &script, host.costs());
        if options.recorded_on.is_none() {
            known.push(
                "it was recorded on another machine, which `--recorded-on` can name".to_owned(),
            );
        }
        let known = if known.is_empty() { "none is known".to_owned() } else { known.join("; or ") };
        _ = write!(
            words,
            " So the simulation cannot predict this program. Possible reasons: {known}."
        );
    }
    Ok((anchor, words))
}

/// The call sites that the options name.
fn shortened(recording: &Recording, parts: &[Part]) -> Result<Vec<Shorter>, Error> {
    let mut shorter = Vec::new();
    for part in parts {
        let before = shorter.len();
        let is_it = |site: &&Site| part.site == site.at || is_named(&site.function, &part.site);
        for (number, _) in recording.sites.iter().enumerate().filter(|(_, site)| is_it(site)) {
            shorter.push(Shorter { site: number, factor: part.factor });
        }
        if shorter.len() == before {
            let mut known: Vec<String> = recording.sites.iter().map(function).collect();
            known.sort_unstable();
            known.dedup();
            let known = if known.is_empty() {
                "the recording names none; build the program with -g".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            return Err(Error::Usage(format!(
                "--shorter: no lock is taken in {}; {known}",
                part.site
            )));
        }
    }
    Ok(shorter)
}

fn cases(options: &Options) -> Result<Vec<Case>, Error> {
    let subjects = chosen::locks(options, &lab::subjects())?;
    let names: Vec<&str> = match &subjects {
        Some(subjects) => subjects.iter().map(|subject| subject.info.name).collect(),
        None => LOCKS.to_vec(),
    };
    let case = |name: &&str| {
        Some(Case { name: (*name).to_owned(), mutex: lab::named(name)?, halved: None })
    };
    // The name of a mutex also selects the locks of other kinds whose names begin with it.
    let cases: Vec<Case> = names.iter().filter_map(case).collect();
    if cases.is_empty() {
        return Err(Error::Usage(format!(
            "--replay puts mutexes in the place of the program's, and `{}` is none; `ondeck list` shows them",
            names[0]
        )));
    }
    Ok(cases)
}

/// The numbers of threads: the requested ones, otherwise from today's to the machine's.
fn counts(options: &Options, today: usize, cpus: usize) -> Vec<usize> {
    let mut counts = options.choice.threads.clone().unwrap_or_else(|| {
        let times = TIMES.iter().map(|(times, _)| (times * today).min(MOST));
        times.chain([cpus]).collect()
    });
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The common settings of all cases.
struct Simulation<'a> {
    recording: &'a Recording,
    shorter: &'a [Shorter],
    costs: &'a Costs,
    threads: &'a [usize],
    seed: u64,
}

impl Simulation<'_> {
    /// Simulates the cases, each on a thread of the host.
    fn of_all(&self, cases: Vec<Case>, progress: &mut Progress) -> Vec<Found> {
        thread::scope(|scope| {
            let start = |case: Case| {
                scope.spawn(|| {
                    let outlook = self.of(&case);
                    Found { case, outlook }
                })
            };
            let begun: Vec<_> = cases.into_iter().map(start).collect();
            let end = |(done, thread): (usize, thread::ScopedJoinHandle<'_, Found>)| {
                let found = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                progress.show(TURN * done as u32, found.case.name.clone());
                found
            };
            begun.into_iter().enumerate().map(end).collect()
        })
    }

    fn of(&self, case: &Case) -> Outlook {
        let mut shorter = self.shorter.to_vec();
        shorter.extend(case.halved.map(|site| Shorter { site, factor: 0.5 }));
        let script = Script::new(self.recording, &shorter);
        let setup = Setup { costs: self.costs, seed: self.seed, lock: case.mutex, threads: 1 };
        outlook(&script, &setup, self.threads)
    }
}

/// Describes the recording, and what it lacks.
fn about(
    recording: &Recording,
    script: &Script,
    machine: &MachineFile,
    cpus: usize,
) -> Vec<String> {
    let shared = script.locks.iter().filter(|it| **it == Sharing::Shared).count();
    let own = script.locks.iter().filter(|it| **it == Sharing::Own).count();
    let mut about = vec![
        format!(
            "Simulated on {} ({cpus} CPUs). Recorded for {:.1} s: {}; shared locks: {shared}{}.",
            machine.about(),
            recording.seconds,
            counted(script.threads),
            if own == 0 {
                String::new()
            } else {
                format!("; locks that one thread uses alone: {own}")
            },
        ),
        format!(
            "A lock is saturated if a thread has it or wants it for {:.0} % of the time.",
            100.0 * SATURATED
        ),
    ];
    let bursts = recording.threads.iter().flat_map(|thread| &thread.bursts);
    let is_shared = |it: &Operation| matches!(it.action, Action::Read | Action::Write);
    if bursts.flat_map(|burst| &burst.operations).any(is_shared) {
        about.push(
            "Reader-writer locks are ondeck's in the tables of this project's mutexes, and glibc's in \
             the others."
                .to_owned(),
        );
    }
    let moves = transfer(machine.costs());
    about.push(match recording.transfer {
        Some(then) => format!(
            "Sections take as long as they did where they were recorded. A cache line moved in {then:.0} ns there, and \
             moves in {moves:.0} ns here: how many lines a section moves is not recorded, so how much longer or \
             shorter it would be cannot be known."
        ),
        None => "Sections take as long as they did where they were recorded.".to_owned(),
    });
    if script.threads == 1 {
        about.push(
            "Only one thread has locked anything, so that all locks are taken for shared; record the \
             program with two threads or more."
                .to_owned(),
        );
    }
    if !script.left_out.is_empty() {
        let named = |&number: &usize| {
            let thread = &recording.threads[number];
            let mut operations = thread.bursts.iter().flat_map(|burst| &burst.operations);
            let site = operations.find_map(|it| it.site);
            let site = site.map_or_else(String::new, |it| function(&recording.sites[it]) + ", ");
            format!("thread {} ({site}{} acquisitions)", number + 1, thread.acquisitions)
        };
        let named: Vec<String> = script.left_out.iter().map(named).collect();
        about.push(format!("Left out, for they hardly hold a lock: {}.", named.join(", ")));
    }
    if recording.dropped_threads != 0 {
        about
            .push(format!("{} threads found no room in the recording.", recording.dropped_threads));
    }
    about
}

/// The row where the simulation and the queueing network are farthest apart, and which assumption
/// differs.
fn disagreement(found: &Found, cpus: usize) -> Option<String> {
    /// Nearer than this factor, they agree.
    const APART: f64 = 1.5;
    let ratio = |row: &Row| row.outcome.rate / row.bound.max(1.0);
    let apart = |row: &Row| ratio(row).max(1.0 / ratio(row).max(1e-9));
    let rows = found.outlook.rows.iter();
    let row = rows.max_by(|one, other| apart(one).total_cmp(&apart(other)))?;
    let why = match ratio(row) {
        _ if apart(row) <= APART => return None,
        less if less < 1.0 && row.threads > cpus => {
            "in it no thread loses its CPU while it has a lock".to_owned()
        }
        less if less < 1.0 => format!(
            "in it a lock is passed on in no time, and here {} of the CPU time is no work",
            percent(row.outcome.overhead)
        ),
        _ => "in it all threads are alike, and meet at random".to_owned(),
    };
    Some(format!(
        "With {} and {} the simulation has {:.2} times the rate of a queueing network (MVA): {why}.",
        counted(row.threads),
        found.case.name,
        ratio(row)
    ))
}

fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// The cells of a row after the threads.
fn cells(recording: &Recording, row: &Row, today: f64) -> Vec<String> {
    let outcome = &row.outcome;
    let busiest =
        (0..outcome.busy.len()).max_by(|&a, &b| outcome.busy[a].total_cmp(&outcome.busy[b]));
    let busiest = match busiest {
        _ if outcome.is_stuck => "stuck: threads wait for each other".to_owned(),
        _ if outcome.is_cut => "cut: hardly any progress".to_owned(),
        Some(lock) if outcome.busy[lock] > 0.0 => {
            format!("{} {}", recording.locks[lock].name, percent(outcome.busy[lock]))
        }
        _ => "none".to_owned(),
    };
    vec![
        format!("{:.3}", outcome.rate / 1e6),
        if today > 0.0 { format!("{:.2}", outcome.rate / today) } else { "–".to_owned() },
        format!("{:.3}", row.bound / 1e6),
        percent(outcome.waiting),
        percent(outcome.overhead),
        busiest,
    ]
}

fn text(
    recording: &Recording,
    found: &[Found],
    verdict: &str,
    about: &[String],
    today: f64,
) -> String {
    let mut text = String::new();
    for words in about {
        _ = writeln!(text, "{}", textwrap::fill(words, 80));
    }
    for it in found {
        _ = writeln!(text, "\nsimulated, {}:", it.case.name);
        let header: Vec<&str> = ["threads"].into_iter().chain(COLUMNS).collect();
        let mut table = Grid::new(&header, output::colours());
        for row in &it.outlook.rows {
            let cells = cells(recording, row, today);
            table.add_row([row.threads.to_string()].into_iter().chain(cells));
        }
        table.right_align(&[0, 1, 2, 3, 4, 5]);
        _ = writeln!(text, "{}", table.render());
    }
    _ = writeln!(text, "\n{}", textwrap::fill(verdict, 80));
    text
}

fn page(
    recording: &Recording,
    script: &Script,
    found: &[Found],
    verdict: &str,
    about: &[String],
    (today, cpus): (f64, usize),
) -> Page {
    let mut names: Vec<(usize, String)> =
        TIMES.iter().map(|(times, name)| (times * script.threads, (*name).to_owned())).collect();
    if names.iter().all(|(threads, _)| *threads != cpus) {
        names.push((cpus, "all CPUs".to_owned()));
    }
    let line = |it: &Found| Line {
        name: it.case.name.clone(),
        points: it
            .outlook
            .rows
            .iter()
            .map(|row| (row.threads, row.outcome.rate, cells(recording, row, today)))
            .collect(),
        saturation: it
            .outlook
            .saturation
            .map(|its| (interval(its), recording.locks[its.lock].name.clone())),
    };
    Page {
        program: recording.program.clone(),
        verdict: verdict.to_owned(),
        about: about.to_vec(),
        lines: found.iter().map(line).collect(),
        names,
        command: session::command_line(),
    }
}
