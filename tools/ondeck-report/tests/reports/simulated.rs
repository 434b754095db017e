//! A simulated report cannot be mistaken for a measured one, in any format.

use ondeck_lab::results::{Evidence, Report, Simulated};
use ondeck_report::compare::same;
use ondeck_report::csv::{HEADER, SIMULATED};
use ondeck_report::{csv, html, json, read, table};

use crate::support::{input, sample};

const WORDS: &str = "simulated on epyc, seed 7";

/// A format's name and its renderer.
type Format = (&'static str, fn(&Report) -> String);

fn simulated(machine: &str, seed: u64) -> Report {
    let simulated = Simulated { machine: machine.to_owned(), seed };
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
fn several_simulated_machines_are_not_one() {
    let inputs = [input("1.json", simulated("epyc", 7)), input("2.json", simulated("epyc", 8))];
    assert_eq!(same::of_one_machine(&inputs), Ok(()));
    let inputs = [input("1.json", simulated("epyc", 7)), input("2.json", simulated("xeon", 7))];
    let error = same::of_one_machine(&inputs).expect_err("two machines");
    assert!(error.to_string().contains("different machines: simulated machine `epyc` and `xeon`"));
}
