//! Machine files of machines that were measured.

use ondeck_sim::machine::{Cluster, Figure, MachineFile, Measured, Value, write};

fn figure(key: &str, value: f64) -> Figure {
    Figure {
        key: key.to_owned(),
        value: Ok(Value::Number(value)),
        from: "measured \"here\"".to_owned(),
    }
}

fn machine() -> Measured {
    let core = |key: &str, value| figure(&format!("class.core.{key}"), value);
    Measured {
        name: "here".to_owned(),
        about: "a \"test\"\nof \\ strings".to_owned(),
        base: "linux".to_owned(),
        from: "a test".to_owned(),
        clusters: vec![Cluster { socket: 0, class: "core".to_owned(), cores: 2, smt: 1 }],
        figures: vec![
            core("pause", 10.5),
            core("speed", 1.0),
            core("hit", 1.0),
            core("rmw", 5.0),
            core("fence", 10.0),
            core("tsc_read", 10.0),
            figure("transfer.same_cluster", 40.0),
            figure("transfer.memory", 90.0),
            Figure { value: Err("refused\nhere".to_owned()), ..figure("membarrier.base", 0.0) },
            figure("idle[0].after", 0.0),
            figure("idle[0].exit", 0.0),
            figure("idle[1].after", 100_000.0),
            figure("idle[1].exit", 20_000.0),
            figure("clock.tsc_ghz", 2.5),
        ],
    }
}

#[test]
fn what_is_written_is_read_as_it_was_measured() {
    let text = write(&machine()).unwrap_or_else(|error| panic!("{error}"));
    let file = MachineFile::parse("here.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    let spec = file.spec();
    assert_eq!(spec.about, machine().about);
    assert_eq!(spec.clusters, machine().clusters);
    assert_eq!(spec.idle.len(), 2);
    for figure in machine().figures {
        let leaf = file.leaves().find(|(key, _)| *key == figure.key).map(|(_, leaf)| leaf);
        match figure.value {
            Ok(value) => {
                let leaf = leaf.unwrap_or_else(|| panic!("{} is not there", figure.key));
                assert_eq!((&leaf.value, &leaf.from), (&value, &figure.from), "{}", figure.key);
            }
            Err(_) => assert_eq!(&*leaf.expect("the base's").file, "bundled linux.toml"),
        }
    }
}

#[test]
fn what_comes_from_the_base_says_so() {
    let text = write(&machine()).unwrap_or_else(|error| panic!("{error}"));
    assert!(text.contains("\n# base: as in linux; not measured: refused here\n"), "{text}");
    assert!(
        text.contains("\n# cross_socket: not needed: the machine has no such pairs\n"),
        "{text}"
    );
    assert!(text.contains("\n# tick: as in linux; no program can measure it\n"), "{text}");
}

#[test]
fn a_figure_that_is_out_of_range_comes_from_the_base_if_that_has_it() {
    let mut busy = machine();
    busy.figures.push(figure("scheduler.yield_cost", 2e7));
    let text = write(&busy).unwrap_or_else(|error| panic!("{error}"));
    let line = "\n# yield_cost: as in linux; not measured: 20000000.0 is out of range, 0 to 1000000 (ns)\n";
    assert!(text.contains(line), "{text}");
    busy.figures[0] = figure("class.core.pause", 1e6);
    assert_eq!(
        write(&busy).expect_err("out of range").to_string(),
        "the measured here:12: class.core.pause = 1000000.0 is out of range: 0.1 to 10000 (ns)"
    );
}

#[test]
fn a_figure_that_no_base_has_is_needed() {
    let mut wrong = machine();
    wrong.figures.retain(|figure| figure.key != "transfer.memory");
    assert_eq!(
        write(&wrong).expect_err("missing").to_string(),
        "the measured here: transfer.memory is missing: \
         { value = 10 to 10000 (ns), from = \"…\" }; its base linux has none"
    );
}
