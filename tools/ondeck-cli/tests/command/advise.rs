//! `advise`: answers and mistakes.

use std::fs;

use crate::support::{ended, parsed, run, stderr, stdout};

#[test]
fn a_short_measurement_is_an_answer_that_can_be_given_again_from_its_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (answer, report, again) = (file("answer.json"), file("report.json"), file("again.json"));
    // A few locks are left.
    let situation = ["advise", "--threads", "2", "--language", "c++", "--company", "some"];
    let save = ["--time", "1s", "--json", &answer, "--save", &report];
    let output = run(&[&situation[..], &save].concat());
    // The test does not decide whether there is a difference.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("advice: ") && text.contains("pairs/s") || text.contains("of CPU a pair")
    );
    assert!(text.contains("taken for granted: --work=100,500"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    let from = ["--from", &report, "--json", &again];
    let output = run(&[&situation[..], &from].concat());
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    let (mut answer, mut again) = (parsed(answer.as_ref()), parsed(again.as_ref()));
    for answer in [&mut answer, &mut again] {
        assert_eq!(answer["schema"], 2);
        answer["measured"]["by"].take();
    }
    assert_eq!(answer, again);

    let output = run(&["advise", "--threads", "7", "--from", &report]);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(message.contains("-t 7 --work 100,500") && message.contains("bench"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn the_exit_code_says_whether_it_knows() {
    let advise =
        |more: &[&str]| run(&[&["advise", "--no-measure", "--threads", "4"], more].concat());
    let known = ended(0, advise(&["--realtime"]));
    assert!(stdout(&known).contains("advice: ondeck_pi;"), "{}", stdout(&known));
    let strict = advise(&["--fairness", "strict"]);
    assert!(stdout(&strict).contains("advice: ondeck_fair;"), "{}", stdout(&strict));
    let tie = ended(0, advise(&["--language", "c++", "--now", "glibc"]));
    assert!(stdout(&tie).contains("advice: glibc; stay with what you have"), "{}", stdout(&tie));
    for (unknown, words) in [
        (&["--realtime", "--language", "none"][..], "advice: none;"),
        (&["--language", "c++", "--now", "none"], "not known"),
        (&["--cpus", "4000"], "measure there"),
    ] {
        let output = advise(unknown);
        assert_eq!(output.status.code(), Some(1), "{unknown:?}");
        assert!(stdout(&output).contains(words), "{unknown:?}: {}", stdout(&output));
    }
}

#[test]
fn a_recording_answers_instead_of_the_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.jsonl");
    let lines = [
        r#"{"type":"profile","version":1}"#,
        r#"{"type":"process","pid":7,"seconds":1.0}"#,
        r#"{"type":"lock","pid":7,"name":"orders","kind":"default","acquisitions":1000000,"wait":{"total":4e8},"hold":{"count":3,"p50":200},"threads":4}"#,
    ];
    fs::write(&file, lines.join("\n")).expect("written");
    let output = run(&["advise", "--no-measure", "--profile", file.to_str().expect("UTF-8")]);
    // The line breaks do not matter.
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(stderr(&output).contains("orders"), "{}", stderr(&output));
    assert!(
        text.starts_with("4 threads on ") && text.contains("sections of 200ns, 3.4µs outside"),
        "{text}"
    );
    assert!(text.contains(", C, glibc now"), "{text}");
}
