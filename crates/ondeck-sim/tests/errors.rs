//! What a wrong machine file is told, word for word.

use std::fs;
use std::path::Path;

use ondeck_sim::machine::MachineFile;

/// A machine file that is right. Each test breaks one line of it.
const RIGHT: &str = r#"name = "two"
about = "two cores"
base = "linux"
[topology]
sockets = { value = 1, from = "a test" }
clusters_per_socket = { value = 1, from = "a test" }
cores_per_cluster = { value = 2, from = "a test" }
smt = { value = 1, from = "a test" }
[class.core]
pause = { value = 10, from = "a test" }
speed = { value = 1.0, from = "a test" }
hit = { value = 1.0, from = "a test" }
rmw = { value = 5.0, from = "a test" }
fence = { value = 10.0, from = "a test" }
tsc_read = { value = 10.0, from = "a test" }
[transfer]
same_cluster = { value = 40.0, from = "a test" }
memory = { value = 90.0, from = "a test" }
[clock]
tsc_ghz = { value = 2.0, from = "a test" }
"#;

/// The message for `RIGHT` with `old` replaced by `new`.
fn told(old: &str, new: &str) -> String {
    assert!(RIGHT.contains(old), "{old} is not in the file");
    match MachineFile::parse("m.toml", &RIGHT.replacen(old, new, 1)) {
        Ok(_) => panic!("{new} was taken"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_file_that_tests_break_is_right() {
    let file = MachineFile::parse("m.toml", RIGHT).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file.spec().topology().threads().len(), 2);
}

#[test]
fn an_unknown_key_is_named_with_the_one_most_like_it() {
    assert_eq!(
        told("same_cluster", "same_clustre"),
        "m.toml:17: transfer.same_clustre is unknown, did you mean transfer.same_cluster? \
         (docs/machines.md lists all keys)"
    );
    assert_eq!(
        told("[transfer]", "[trasnfer]"),
        "m.toml:16: trasnfer is unknown, did you mean transfer? (docs/machines.md lists all keys)"
    );
    assert_eq!(
        told("from = \"a test\" }\nspeed", "form = \"a test\" }\nspeed"),
        "m.toml:10: class.core.pause.form is unknown, did you mean class.core.pause.from? \
         (docs/machines.md lists all keys)"
    );
    assert_eq!(
        told("tsc_ghz", "zzz"),
        "m.toml:20: clock.zzz is unknown (docs/machines.md lists all keys)"
    );
}

#[test]
fn a_value_out_of_range_is_told_the_range() {
    assert_eq!(
        told("40.0", "0.25"),
        "m.toml:17: transfer.same_cluster = 0.25 is out of range: 1 to 5000 (ns)"
    );
    assert_eq!(
        told("value = 2,", "value = -2,"),
        "m.toml:7: topology.cores_per_cluster = -2 is out of range: 1 to 512, whole (count)"
    );
    assert_eq!(
        told("90.0", "nan"),
        "m.toml:18: transfer.memory = NaN is out of range: 10 to 10000 (ns)"
    );
    assert_eq!(
        told("[clock]", "[scheduler]\npolicy = { value = \"bfs\", from = \"a test\" }\n[clock]"),
        "m.toml:20: scheduler.policy = \"bfs\" is out of range: \
         \"eevdf\", \"cfs\", \"round_robin\", \"fifo\", \"windows\""
    );
}

#[test]
fn a_missing_key_is_told_with_what_it_may_be() {
    assert_eq!(
        told("memory = { value = 90.0, from = \"a test\" }\n", ""),
        "m.toml: transfer.memory is missing: { value = 10 to 10000 (ns), from = \"…\" }; \
         its base linux has none"
    );
    assert_eq!(
        told("base = \"linux\"\n", ""),
        "m.toml: transfer.invalidate is missing: { value = 0 to 1000 (ns), from = \"…\" }, \
         or a base that has it"
    );
    assert_eq!(
        told("name = \"two\"\n", ""),
        "m.toml: name is missing: a string at the top of the file"
    );
    assert_eq!(
        told(
            "value = 1, from = \"a test\" }\n[class.core]",
            "value = 2, from = \"a test\" }\n[class.core]"
        ),
        "m.toml: transfer.smt_sibling is missing: { value = 0.5 to 1000 (ns), from = \"…\" }; \
         its base linux has none"
    );
}

#[test]
fn a_value_of_the_wrong_type_is_told_the_right_one() {
    assert_eq!(
        told("40.0", "\"fast\""),
        "m.toml:17: transfer.same_cluster is the string \"fast\": a number, 1 to 5000 (ns), is needed"
    );
    assert_eq!(
        told("value = 2,", "value = 2.5,"),
        "m.toml:7: topology.cores_per_cluster is the number 2.5: \
         a whole number, 1 to 512, whole (count), is needed"
    );
    assert_eq!(
        told("{ value = 90.0, from = \"a test\" }", "90.0"),
        "m.toml:18: transfer.memory is the number 90.0: { value = …, from = \"…\" } is needed"
    );
    assert_eq!(
        told("base = \"linux\"", "base = true"),
        "m.toml:3: base is true: a string that is not empty is needed"
    );
    assert_eq!(
        told("base = \"linux\"", "base = \"linux\"\nidle = 3"),
        "m.toml:4: idle is the whole number 3: a list of tables, [[idle]], is needed"
    );
}

#[test]
fn a_value_without_a_source_is_refused() {
    let message = "m.toml:18: transfer.memory does not say where its value is from: add from = \"…\", \
                   a source, \"measured by …\" or \"estimate: …\"";
    assert_eq!(told("90.0, from = \"a test\"", "90.0"), message);
    assert_eq!(told("90.0, from = \"a test\"", "90.0, from = \" \""), message);
}

#[test]
fn too_many_hardware_threads_are_counted() {
    let text = RIGHT
        .replace("sockets = { value = 1", "sockets = { value = 8")
        .replace("cores_per_cluster = { value = 2", "cores_per_cluster = { value = 65");
    assert_eq!(
        MachineFile::parse("m.toml", &text).map(|_| ()).expect_err("too many").to_string(),
        "m.toml: has 520 hardware threads, and at most 512 can be simulated"
    );
}

#[test]
fn a_topology_is_written_in_one_way() {
    let cluster = |class: &str| {
        let leaf =
            |key: &str, value: &str| format!("{key} = {{ value = {value}, from = \"a test\" }}\n");
        [
            "[[cluster]]\n".to_owned(),
            leaf("socket", "0"),
            leaf("class", class),
            leaf("cores", "2"),
            leaf("smt", "1"),
        ]
        .concat()
    };
    assert_eq!(
        told("[clock]", &format!("{}[clock]", cluster("\"core\""))),
        "m.toml: has both [topology] and [[cluster]]: [[cluster]] alone says which cores there are"
    );
    let classes = RIGHT
        .split("[class.core]")
        .nth(1)
        .and_then(|rest| rest.split('[').next())
        .expect("a class");
    assert_eq!(
        told("[transfer]", &format!("[class.slow]{classes}[transfer]")),
        "m.toml: [topology] is for a machine with one [class.NAME], and there are 2 (core, slow): \
         write a [[cluster]] for each group of cores instead"
    );
    let (start, _) = RIGHT.split_once("[topology]").expect("a topology");
    let (_, end) = RIGHT.split_once("[class.core]").expect("a class");
    let listed = |class| format!("{start}{}[class.core]{end}", cluster(class));
    assert!(MachineFile::parse("m.toml", &listed("\"core\"")).is_ok());
    assert_eq!(
        MachineFile::parse("m.toml", &listed("\"fast\"")).expect_err("no such class").to_string(),
        "m.toml:6: cluster[0].class = \"fast\" is out of range: the file has the classes core"
    );
}

#[test]
fn idle_states_are_listed_shallow_to_deep() {
    let state = |after: u32| {
        format!(
            "[[idle]]\nafter = {{ value = {after}, from = \"a test\" }}\n\
             exit = {{ value = 1, from = \"a test\" }}\n"
        )
    };
    assert_eq!(
        told("[clock]", &format!("{}{}[clock]", state(20), state(20))),
        "m.toml:23: idle[1].after = 20 is out of range: \
         more than idle[0].after, because states are listed shallow to deep"
    );
}

#[test]
fn what_is_not_toml_is_told_where() {
    let message = told("[clock]", "[clock");
    assert!(message.starts_with("m.toml:19: is not TOML: "), "{message}");
}

#[test]
fn an_unknown_base_and_an_unknown_machine_are_told_what_there_is() {
    let message = told("\"linux\"", "\"linus\"");
    let start = "m.toml:3: base \"linus\" is unknown, did you mean linux? (a base is one of linux, linux-cfs, ";
    assert!(message.starts_with(start), "{message}");
    let message = MachineFile::find("epyc-9454").expect_err("no such machine").to_string();
    let start = "there is no machine \"epyc-9454\", did you mean epyc-9454p? (give one of ";
    assert!(message.starts_with(start), "{message}");
    assert!(message.ends_with(", or the path of a machine file)"), "{message}");
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_reason() {
    assert_eq!(
        MachineFile::find("no/such/file.toml").expect_err("no such file").to_string(),
        "no/such/file.toml: cannot be read: No such file or directory (os error 2)"
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("not-text.toml");
    fs::write(&path, [0xff, 0xfe]).expect("a temporary file");
    let message = MachineFile::read(&path).expect_err("not text").to_string();
    assert!(
        message.ends_with("not-text.toml: cannot be read: stream did not contain valid UTF-8"),
        "{message}"
    );
}

#[test]
fn a_mark_names_the_table_the_locks_and_the_threads() {
    let told = |mark: &str| {
        let new = format!("memory = {{ value = 90.0, from = \"a test\", fitted = {mark} }}");
        told("memory = { value = 90.0, from = \"a test\" }", &new)
    };
    assert_eq!(
        told("{ table = \"go\" }"),
        "m.toml:18: transfer.memory.fitted is a table: { table = \"…\", locks = [\"…\"] } is needed"
    );
    assert_eq!(
        told("{ table = \"go\", lock = [\"mcs\"] }"),
        "m.toml:18: transfer.memory.fitted.lock is unknown, did you mean transfer.memory.fitted.locks? \
         (docs/machines.md lists all keys)"
    );
    assert_eq!(
        told("{ table = \"go\", locks = [\"mcs\"], threads = [0] }"),
        "m.toml:18: transfer.memory.fitted.threads is the whole number 0: a whole number from 1 on is needed"
    );
    assert_eq!(
        told("{ table = \"go\", locks = [\"mcs\"], machine = \"none\" }"),
        "m.toml:18: transfer.memory.fitted.machine is the string \"none\": the name of a bundled machine is needed"
    );
}
