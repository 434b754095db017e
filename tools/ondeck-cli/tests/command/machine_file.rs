//! `ondeck costs --machine-file`.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread;

use ondeck::platform::Linux;
use ondeck_sim::machine::MachineFile;

use crate::support::{ondeck, stderr, with_costs};

fn written(path: &Path, output: &Output) -> (MachineFile, String) {
    let file =
        MachineFile::read(path).unwrap_or_else(|error| panic!("{error}\n{}", stderr(output)));
    (file, fs::read_to_string(path).expect("the file"))
}

#[test]
fn the_file_of_this_machine_is_right_and_names_its_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("here.toml");
    fs::write(&path, "older").expect("a file");
    let output =
        ondeck(&["costs", "-r", "1", "--machine-file"]).arg(&path).output().expect("started");
    if fs::read_to_string(&path).expect("the file") == "older" {
        // Where other programs take the CPUs, a line is on its way for time slices, which no CPU
        // needs, and no base has that figure.
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains("is out of range"), "{}", stderr(&output));
        return;
    }
    assert_eq!(output.status.code(), Some(with_costs()), "{}", stderr(&output));
    let (file, text) = written(&path, &output);
    assert_eq!(file.name(), "here");
    assert_eq!(file.costs().places.len(), Linux::affinity().len());
    assert!(text.contains("from = \"measured by ondeck costs on "), "{text}");
    assert!(stderr(&output).contains("here.toml"), "{}", stderr(&output));
    assert_eq!(
        fs::read_dir(folder.path()).expect("the folder").count(),
        1,
        "a file was left behind"
    );
}

#[test]
fn a_process_that_may_use_one_cpu_has_a_file_without_pairs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one.toml");
    // The command inherits the affinity of the thread that starts it.
    let output = thread::scope(|scope| {
        let starting = scope.spawn(|| {
            Linux::set_affinity(&Linux::affinity()[..1]).expect("a usable CPU");
            ondeck(&["costs", "-r", "1", "--machine-file"]).arg(&path).output().expect("started")
        });
        starting.join().expect("the thread ends")
    });
    // The table refuses measurements that need two CPUs.
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let (file, text) = written(&path, &output);
    assert_eq!(file.costs().places.len(), 1);
    assert!(text.contains("not measured: this process may use only one CPU"), "{text}");
}
