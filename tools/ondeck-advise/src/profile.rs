//! Derives a situation from a recording of a program's locks: the lock that threads have waited for
//! longest.

use serde_json::Value;

use super::use_case::{Language, Reads, Users};

/// The recorded facts about a lock. Facts that were not recorded are `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The lock's name in the recording.
    pub name: String,
    /// Threads that waited for it, or that others waited for.
    pub threads: usize,
    /// Nanoseconds with the lock held: the median of the holds that ended while threads waited.
    pub section_ns: Option<u64>,
    /// Nanoseconds of a thread between an unlock and its next lock: the rest of its time.
    pub outside_ns: Option<u64>,
    /// The program's mix is not recorded: for a reader-writer lock one write in ten is assumed.
    pub reads: Reads,
    /// Whether owners lock it again, as far as its kind shows.
    pub used_by: Users,
    /// The program's language, as far as its lock shows.
    pub language: Language,
    /// The lock that it has now.
    pub now: &'static str,
}

/// The version of recordings that this reads; `ondeck_profile::lines` writes it.
const VERSION: u64 = 1;

/// What to do about a file that is no recording.
pub const HOW_TO_RECORD: &str = "`ondeck run --profile FILE.jsonl -- PROGRAM` writes one";

/// The lock that threads have waited for longest, from the output of
/// `ondeck run --profile FILE.jsonl`.
///
/// # Errors
///
/// A phrase that explains why there is no such lock.
pub fn worst_lock(text: &str) -> Result<Recorded, String> {
    let lines: Vec<Value> =
        text.lines().map_while(|line| serde_json::from_str(line).ok()).collect();
    let of_type = |word: &'static str| lines.iter().filter(move |line| line["type"] == word);
    let Some(head) = of_type("profile").next() else {
        return Err(format!("is no recording; {HOW_TO_RECORD}"));
    };
    if head["version"] != VERSION {
        let version = &head["version"];
        return Err(format!("is of version {version}, not {VERSION}; record the program again"));
    }
    if lines.len() < text.lines().count() {
        return Err(format!("is cut off at line {}; record the program again", lines.len() + 1));
    }
    let waited = |lock: &Value| lock["wait"]["total"].as_f64().unwrap_or(0.0);
    let worst = of_type("lock").max_by(|one, other| waited(one).total_cmp(&waited(other)));
    let Some(lock) = worst.filter(|lock| waited(lock) > 0.0) else {
        let unseen = head["not_observed"].as_array().and_then(|unseen| unseen.first());
        return Err(match unseen.and_then(Value::as_str) {
            None => "has no lock that a thread waited for: no other lock would change that".into(),
            Some(unseen) => {
                format!("has no lock that a thread waited for, but not observed was {unseen}")
            }
        });
    };
    let threads = lock["threads"].as_u64().unwrap_or(2).max(2);
    let section = lock["hold"]["p50"].as_f64().filter(|_| lock["hold"]["count"] != 0);
    let process = of_type("process").find(|process| process["pid"] == lock["pid"]);
    let time = process.and_then(|process| process["seconds"].as_f64()).map(|seconds| seconds * 1e9);
    let outside = (|| {
        let acquisitions = lock["acquisitions"].as_f64().filter(|&count| count > 0.0)?;
        let turn = (time? * threads as f64 - waited(lock)) / acquisitions;
        Some((turn - section?).max(0.0))
    })();
    let (used_by, language, now) = match lock["kind"].as_str() {
        Some("ondeck") => (Users::Threads, Language::Rust, "ondeck"),
        Some("recursive") => (Users::Reentrant, Language::C, "glibc_recursive"),
        Some("adaptive") => (Users::Threads, Language::C, "glibc_adaptive"),
        Some("std") => (Users::Threads, Language::Rust, "std"),
        Some("parking_lot") => (Users::Threads, Language::Rust, "parking_lot"),
        _ => (Users::Threads, Language::C, "glibc"),
    };
    Ok(Recorded {
        name: lock["name"].as_str().unwrap_or_default().to_owned(),
        threads: threads as usize,
        section_ns: section.map(nanos),
        outside_ns: outside.map(nanos),
        reads: match lock["kind"].as_str() {
            Some("rwlock" | "pthread_rwlock") => Reads::MOSTLY,
            _ => Reads::NONE,
        },
        used_by,
        language,
        now,
    })
}

/// Limits sections and outside work to a second, as on the command line.
fn nanos(value: f64) -> u64 {
    value.min(1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"type":"profile","version":1}
{"type":"process","pid":7,"seconds":1.0}
"#;

    fn lock(name: &str, kind: &str, acquisitions: &str, waited: u64) -> String {
        format!(
            r#"{{"type":"lock","pid":7,"name":"{name}","kind":"{kind}","acquisitions":{acquisitions},"wait":{{"total":{waited}}},"hold":{{"count":3,"p50":200.0}},"threads":4}}
"#
        )
    }

    #[test]
    fn the_lock_that_threads_waited_for_longest_says_what_its_place_is() {
        let text =
            [HEAD, &lock("a", "default", "10", 5), &lock("b", "default", "1000000", 400_000_000)];
        let recorded = worst_lock(&text.concat()).expect("a lock");
        // Four threads of a second each, minus their waits: 3.6 s for a million turns, of which 200
        // ns are inside.
        let expected = Recorded {
            name: "b".to_owned(),
            threads: 4,
            section_ns: Some(200),
            outside_ns: Some(3_400),
            reads: Reads::NONE,
            used_by: Users::Threads,
            language: Language::C,
            now: "glibc",
        };
        assert_eq!(recorded, expected);
    }

    #[test]
    fn what_is_not_recorded_is_left_open() {
        let recorded =
            worst_lock(&[HEAD, &lock("m", "ondeck", "null", 5)].concat()).expect("a lock");
        assert_eq!(
            (recorded.outside_ns, recorded.language, recorded.now),
            (None, Language::Rust, "ondeck")
        );
        let recorded = worst_lock(&[HEAD, &lock("r", "rwlock", "5", 5)].concat()).expect("a lock");
        assert_eq!(recorded.reads.to_string(), "90");
        let recorded =
            worst_lock(&[HEAD, &lock("r", "recursive", "5", 5)].concat()).expect("a lock");
        assert_eq!(recorded.used_by, Users::Reentrant);
    }

    #[test]
    fn a_file_without_a_contended_lock_says_so_and_never_panics() {
        for (text, words) in [
            (HEAD.to_owned(), "no lock that a thread waited for"),
            ([HEAD, &lock("m", "default", "5", 0)].concat(), "no lock that a thread waited for"),
            (String::new(), "no recording"),
            ("[]\n{".to_owned(), "no recording"),
            ("{\"type\":\"lock\"}".to_owned(), "no recording"),
            (HEAD.replace("\"version\":1", "\"version\":2"), "of version 2, not 1"),
            ([HEAD, &lock("m", "default", "5", 5)[..40]].concat(), "cut off at line 3"),
        ] {
            let problem = worst_lock(&text).expect_err("nothing to advise on");
            assert!(problem.contains(words), "{text}: {problem}");
        }
    }
}
