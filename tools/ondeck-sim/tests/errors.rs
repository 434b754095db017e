//! The messages about wrong machine files, word for word.

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

/// The message for this text.
fn told_of(text: &str) -> String {
    MachineFile::parse("m.toml", text).map(|_| ()).expect_err(text).to_string()
}

/// Leaves of a test.
fn leaves(pairs: &[(&str, &str)]) -> String {
    let leaf =
        |(key, value): &(_, _)| format!("{key} = {{ value = {value}, from = \"a test\" }}\n");
    pairs.iter().map(leaf).collect()
}

/// The message for `RIGHT` with `old` replaced by `new` has these words, in one line.
fn told(old: &str, new: &str, words: &str) {
    assert!(RIGHT.contains(old), "{old} is not in the file");
    let message = told_of(&RIGHT.replacen(old, new, 1));
    assert!(message.contains(words) && !message.contains('\n'), "{message}");
}

#[test]
fn a_mistake_is_told_with_the_line_the_key_the_value_and_what_is_allowed() {
    const SOURCE: &str = "does not say where its value is from: add from = \"…\", a source, \
                          \"measured by …\" or \"estimate: …\"";
    let file = MachineFile::parse("m.toml", RIGHT).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file.costs().places.len(), 2);
    let pause = "from = \"a test\" }\nspeed";
    for (old, new, told_so) in [
        (
            "same_cluster",
            "same_clustre",
            "m.toml:17: transfer.same_clustre is unknown, did you mean transfer.same_cluster? \
             (docs/data/machines.md lists all keys)",
        ),
        (
            "[transfer]",
            "[trasnfer]",
            "m.toml:16: `[trasnfer]`: unknown field `trasnfer`, expected one of `name`, `about`, ",
        ),
        (
            pause,
            "form = \"a test\" }\nspeed",
            "`: unknown field `form`, expected `value` or `from`",
        ),
        ("40.0", "0.25", "m.toml:17: transfer.same_cluster = 0.25 is out of range: 1 to 5000 (ns)"),
        (
            "value = 2,",
            "value = 2.5,",
            "m.toml:7: topology.cores_per_cluster = 2.5 is out of range: 1 to 512, whole (count)",
        ),
        ("90.0", "nan", "m.toml:18: transfer.memory = NaN is out of range: 10 to 10000 (ns)"),
        (
            "[clock]",
            "[scheduler]\npolicy = { value = \"bfs\", from = \"a test\" }\n[clock]",
            "m.toml:20: scheduler.policy = \"bfs\" is out of range: \
             \"eevdf\", \"cfs\", \"round_robin\"",
        ),
        (
            "memory = { value = 90.0, from = \"a test\" }\n",
            "",
            "m.toml: transfer.memory is missing: { value = 10 to 10000 (ns), from = \"…\" }; \
             its base linux has none",
        ),
        (
            "base = \"linux\"\n",
            "",
            "m.toml: transfer.invalidate is missing: { value = 0 to 1000 (ns), from = \"…\" }, \
             or a base that has it",
        ),
        ("name = \"two\"\n", "", "m.toml: name is missing: a string at the top of the file"),
        (
            "{ value = 90.0, from = \"a test\" }",
            "90.0",
            "m.toml:18: `memory = 90.0`: invalid type: floating point `90.0`, \
             expected { value = …, from = \"…\" }",
        ),
        ("90.0, from = \"a test\"", "90.0", SOURCE),
    ] {
        told(old, new, told_so);
    }
}

#[test]
fn a_file_that_is_wrong_as_a_whole_is_told_what_to_do() {
    let cluster = leaves(&[("socket", "0"), ("class", "\"core\""), ("cores", "2"), ("smt", "1")]);
    let class = RIGHT.split("[class.core]").nth(1).and_then(|rest| rest.split('[').next());
    let slow = format!("[class.slow]{}[transfer]", class.expect("a class"));
    let state = format!("[[idle]]\n{}", leaves(&[("after", "20"), ("exit", "1")]));
    for (old, new, told_so) in [
        (
            "[clock]",
            &*format!("[[cluster]]\n{cluster}[clock]"),
            "m.toml: has both [topology] and [[cluster]]: [[cluster]] alone says which cores there are",
        ),
        (
            "[transfer]",
            &slow,
            "m.toml: [topology] is for a machine with one [class.NAME], and there are 2 (core, slow): \
             write a [[cluster]] for each group of cores instead",
        ),
        (
            "[clock]",
            &format!("{state}{state}[clock]"),
            "m.toml:23: idle[1].after = 20 is out of range: \
             more than idle[0].after, because states are listed shallow to deep",
        ),
        (
            "\"linux\"",
            "\"linus\"",
            "m.toml:3: base \"linus\" is unknown, did you mean linux? (a base is one of linux, linux-cfs, ",
        ),
    ] {
        told(old, new, told_so);
    }
}

#[test]
fn a_machine_that_is_not_there_is_named_with_what_there_is() {
    let told = |name: &str| MachineFile::find(name).expect_err("no such machine").to_string();
    let message = told("epyc-9454");
    let start = "there is no machine \"epyc-9454\", did you mean epyc-9454p? (give one of ";
    assert!(message.starts_with(start), "{message}");
    assert!(message.ends_with(", or the path of a machine file)"), "{message}");
    assert_eq!(
        told("no/such/file.toml"),
        "no/such/file.toml: cannot be read: No such file or directory (os error 2) (give a machine file \
         that you may read, or the name of a bundled machine)"
    );
}
