//! A simulated report cannot be mistaken for a measured one, in any format.

use ondeck_lab::results::{Evidence, Report, Simulated};
use ondeck_report::csv::{HEADER, SIMULATED};
use ondeck_report::merge::merge;
use ondeck_report::{csv, html, json, read, table};

use crate::support::{input, sample, throughput};

const WORDS: &str = "simulated on epyc, seed 7";

/// A format's name and its renderer.
type Format = (&'static str, fn(&Report) -> String);

fn simulated(machine: &str, seed: u64) -> Report {
    let simulated = Simulated { machine: machine.to_owned(), seed: Some(seed) };
    Report { evidence: Evidence::Simulated, simulated: Some(simulated), ..sample() }
}

#[test]
fn every_format_says_what_was_simulated_and_with_which_seed() {
    let formats: [Format; 3] = [
        ("table", |report| table::render(report, false)),
        ("html", html::render),
        ("csv", |report| csv::render(report).expect("memory")),
    ];
    for (name, render) in formats {
        let text = render(&simulated("epyc", 7));
        assert!(text.contains(WORDS), "{name}: {text:.500}");
        assert!(!render(&sample()).contains("simulated on"), "{name} of a measured report");
        let unnamed = Report { simulated: None, ..simulated("epyc", 7) };
        assert!(render(&unnamed).contains("simulated on a machine without a name"), "{name}");
    }
}

#[test]
fn each_row_of_a_simulated_csv_says_so_and_a_measured_one_is_as_it_was() {
    let text = csv::render(&simulated("epyc", 7)).expect("memory");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(&*format!("{},{SIMULATED}", HEADER.join(","))));
    let rows: Vec<&str> = lines.collect();
    assert!(!rows.is_empty() && rows.iter().any(|row| row.starts_with("costs,")));
    for row in rows {
        assert!(row.ends_with(&format!(",\"{WORDS}\"")), "{row}");
    }
    let measured = csv::render(&sample()).expect("memory");
    assert_eq!(measured.lines().next(), Some(&*HEADER.join(",")));
}

#[test]
fn json_keeps_the_machine_and_the_seed() {
    let written = json::render(&simulated("epyc", 7));
    let read = read::text("r.json", written.as_bytes()).expect("its own");
    assert_eq!(read.simulated, simulated("epyc", 7).simulated);
    assert!(!json::render(&sample()).contains("\"simulated\""));
}

#[test]
fn several_seeds_may_be_merged_and_several_machines_not() {
    let run = |number: u32, machine: &str, seed: u64| {
        let started = format!("2026-01-01T00:00:{number:02}Z");
        let series = vec![throughput("lock", 8, &[f64::from(number)])];
        Report { started, series, ..simulated(machine, seed) }
    };
    let merged = |one: Report, other: Report| {
        merge(&[input("1.json", one), input("2.json", other)], "ondeck merge")
    };
    let seed = |report: Report| report.simulated.expect("it is simulated").seed;
    let same = merged(run(1, "epyc", 7), run(2, "epyc", 7)).expect("one machine");
    assert_eq!(seed(same), Some(7));
    let several = merged(run(1, "epyc", 7), run(2, "epyc", 8)).expect("one machine");
    assert_eq!(seed(several), None);
    let error = merged(run(1, "epyc", 7), run(2, "xeon", 7)).expect_err("two machines");
    assert!(error.to_string().contains("different machines: simulated machine `epyc` and `xeon`"));
}
