//! A recording of a program on a simulated machine: the answer, the page, and refusals.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{ended, run, stderr, stdout};

/// Two threads that hold a lock for 1 µs of each 10.
pub(crate) fn recorded(folder: &Path) -> PathBuf {
    let pair = "[\"lock\",9000.0,20.0,0,0],[\"unlock\",1000.0,20.0,0,null]";
    let burst = format!("{{\"first\":0,\"begun\":0.1,\"operations\":[{}]}}", [pair; 40].join(","));
    let thread = format!("{{\"acquisitions\":5000,\"bursts\":[{burst}],\"long\":[]}}");
    let text = format!(
        "{{\"kind\":\"ondeck recording\",\"version\":2,\"program\":\"app\",\"seconds\":0.05,\
         \"dropped_threads\":0,\"locks\":[{{\"name\":\"cache\",\"at\":\"cache.cc:15\"}}],\
         \"sites\":[{{\"function\":\"Cache::get(int)\",\"at\":\"cache.cc:22\"}}],\
         \"threads\":[{thread},{thread}]}}"
    );
    let path = folder.join("app.ondeck.json");
    fs::write(&path, text).expect("a file");
    path
}

fn replay(file: &Path, more: &[&str]) -> std::process::Output {
    let file = file.to_str().expect("UTF-8");
    run(&[&["sim", "--replay", file], more].concat())
}

/// The number of threads that saturates the lock, from the sentence about the first lock.
fn saturated_at(output: &std::process::Output) -> usize {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    let words = stdout(output).replace('\n', " ");
    let start = "Simulated: lock `cache` (cache.cc:15) saturates at ";
    let (_, rest) = words.split_once(start).unwrap_or_else(|| panic!("{words}"));
    rest.split(' ').next().and_then(|word| word.parse().ok()).expect("a number of threads")
}

#[test]
fn a_replay_says_which_lock_saturates_and_writes_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = recorded(folder.path());
    let page = folder.path().join("app.html");
    let page_name = page.to_str().expect("UTF-8");
    let output = replay(&file, &["--threads", "2,8,32", "--html", page_name]);
    let whole = saturated_at(&output);
    assert!((6..=12).contains(&whole), "{whole}");
    let text = stdout(&output);
    for part in [
        "Self-check: recorded 0.200 M/s, replayed 0.1",
        "simulated, glibc_normal:",
        "simulated, ondeck:",
        "`Cache::get` halved",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let html = fs::read_to_string(&page).expect("a page");
    for part in ["<svg", "saturates at", "recorded 0.2", "recorded", "simulated", "cache.cc:15"] {
        assert!(html.contains(part), "{part}");
    }

    let halved = replay(&file, &["--threads", "2,8,32", "--shorter", "Cache::get=50%"]);
    assert!(saturated_at(&halved) > whole);
    // `ondeck_rwlock` and others, which the name also selects elsewhere, are no mutexes.
    let one = replay(&file, &["--threads", "2", "--locks", "ondeck", "--machine", "ryzen-7-1700"]);
    assert!(stdout(&one).contains("no lock saturates with up to 2 threads"), "{}", stdout(&one));
}

#[test]
fn a_change_of_the_rate_a_wrong_replay_and_a_lock_that_cannot_be_replaced_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = recorded(folder.path());
    let text = fs::read_to_string(&file).expect("our file");
    let answer = |text: &str| {
        fs::write(&file, text).expect("our file");
        let output = ended(0, replay(&file, &["--threads", "1,2"]));
        stdout(&output).replace('\n', " ")
    };
    // As fast as is recorded; the sections fill the time, also if they are half as long.
    let always = text.replace("9000.0", "100.0").replace("1000.0", "20000.0");
    let always = always.replace("0.05", "0.2");
    let same = answer(&always);
    let words = "saturates at 1 thread with glibc_normal; with ondeck the same; \
                 with the sections of `Cache::get` half as long the same, and ";
    let (_, change) = same.split_once(words).unwrap_or_else(|| panic!("{same}"));
    assert!(change.starts_with("1.9") || change.starts_with("2.0"), "{same}");
    let wrong = answer(&always.replace("\"seconds\":0.2", "\"seconds\":0.8"));
    assert!(wrong.contains("This program cannot be predicted"), "{wrong}");
    assert!(wrong.contains("`--recorded-on`") && !wrong.contains("saturates at"), "{wrong}");
    let about = "Reader-writer locks are ondeck's in the tables of this project's mutexes";
    assert!(!same.contains(about), "{same}");
    let reads = answer(&text.replace("\"lock\",", "\"read\","));
    assert!(reads.contains(about), "{reads}");
}
