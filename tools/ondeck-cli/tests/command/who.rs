//! `ondeck who`: a program in C that knows what each of its threads waits for.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::shim::{compiled, wait_until};
use crate::support::{ended, ondeck, outcome, stderr, stdout};

const SOURCE: &str = include_str!("../../../ondeck-profile/tests/programs/waits.c");

/// A program that is killed at the end of its test.
struct Program {
    child: Child,
    /// Of a variable that one of its threads counts up.
    count: u64,
}

impl Program {
    fn start(path: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(path);
        let child = command.args(arguments).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("the program starts");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("the program is ready");
        let count = line.trim().strip_prefix("ready ").expect("its word");
        Self { child, count: u64::from_str_radix(count, 16).expect("an address") }
    }

    fn counted(&self) -> u64 {
        let memory = File::open(format!("/proc/{}/mem", self.child.id())).expect("our child");
        let mut word = [0; 8];
        memory.read_exact_at(&mut word, self.count).expect("its variable");
        u64::from_ne_bytes(word)
    }

    fn who(&self, arguments: &[&str]) -> std::process::Output {
        outcome(ondeck(&["who", &self.child.id().to_string()]).args(arguments))
    }

    /// The document, once each thread does what is expected of it.
    fn seen(&self, expected: &[Expected], code: i32) -> Value {
        let start = Instant::now();
        loop {
            let output = self.who(&["--json"]);
            let found = serde_json::from_str(&stdout(&output)).expect("JSON");
            let wrong: Vec<String> = expected.iter().filter_map(|one| one.unlike(&found)).collect();
            if wrong.is_empty() && output.status.code() == Some(code) {
                return found;
            }
            assert!(start.elapsed() < Duration::from_mins(1), "{:?} {wrong:#?}", output.status);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// What a thread waits for: its name, its function, the kind, the variable, and the keeper's name
/// or another word for it.
struct Expected(&'static str, &'static str, &'static str, &'static str, &'static str);

impl Expected {
    /// Returns what is different in a document.
    fn unlike(&self, document: &Value) -> Option<String> {
        let Self(name, function, kind, variable, keeper) = self;
        let threads = document["threads"].as_array().expect("a list");
        // A thread that has only just begun is without its name.
        let Some(thread) = threads.iter().find(|thread| thread["name"] == *name) else {
            return Some(format!("{name} is not there"));
        };
        let wait = &thread["wait"];
        let is = &wait["keeper"]["is"];
        let tid = &wait["keeper"]["tid"];
        let kept_by = threads.iter().find(|other| is == "thread" && other["tid"] == *tid);
        let kept_by = kept_by.map_or(is, |other| &other["name"]);
        let caller = &thread["callers"][0];
        let call = if wait.is_null() { &thread["call"] } else { &wait["kind"] };
        let symbol = wait["place"]["symbol"].as_str().unwrap_or_default();
        let is_right = caller["function"] == *function
            && caller["line"].is_u64()
            && call == kind
            && symbol == *variable
            && (wait.is_null() || kept_by == keeper);
        (!is_right).then(|| format!("{name}: {caller} {wait} {call} {kept_by}"))
    }
}

const WAITS: [Expected; 17] = [
    Expected("taker", "take_orders", "pthread_mutex", "orders_lock", "refresher"),
    Expected("taker too", "take_orders", "pthread_mutex", "orders_lock", "refresher"),
    Expected("error", "take_error", "pthread_mutex", "error_lock", "refresher"),
    Expected("robust", "take_robust", "pthread_mutex", "robust_lock", "refresher"),
    Expected("heir", "take_heir", "pthread_mutex", "heir_lock", "refresher"),
    Expected("late", "take_left", "pthread_mutex", "left_lock", "elsewhere"),
    Expected("reader", "read_table", "pthread_read", "table_lock", "writer"),
    Expected("rewriter", "rewrite_table", "pthread_write", "table_lock", "writer"),
    Expected("patient", "write_index", "pthread_write", "index_lock", "readers"),
    Expected("hearer", "await_news", "pthread_condition", "news", "none"),
    Expected("guest", "await_ticket", "semaphore", "tickets", "none"),
    Expected("runner", "await_gate", "barrier", "gate", "none"),
    Expected("joiner", "join_counter", "join", "", "counter"),
    Expected("plumber", "read_pipe", "read(2)", "", ""),
    Expected("refresher", "refresh_orders", "clock_nanosleep(2)", "", ""),
    Expected("writer", "write_table", "poll(2)", "", ""),
    Expected("indexer", "read_index", "poll(2)", "", ""),
];

fn program(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    compiled(folder, name, SOURCE, &[&["-g", "-pthread"], options].concat())
}

#[test]
fn each_thread_is_shown_with_its_lock_and_the_keeper_and_none_is_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, options) in
        [("plain", &["-O0"][..]), ("optimized", &["-O2"]), ("static", &["-O1", "-static"])]
    {
        let program = Program::start(&program(folder.path(), name, options), &[]);
        let document = program.seen(&WAITS, 0);
        assert_eq!(document["deadlocks"], Value::Array(Vec::new()), "{name}");
        let before = program.counted();
        let text = stdout(&ended(0, program.who(&[])));
        wait_until("its next steps", || program.counted() > before);
        let status = fs::read_to_string(format!("/proc/{}/status", program.child.id()));
        assert!(status.expect("it runs").contains("TracerPid:\t0\n"), "{name}");
        for (lock, keeper) in
            [("orders_lock", "refresh_orders"), ("left_lock", "ended without an unlock")]
        {
            let mut lines = text.lines().skip_while(|line| !line.contains(lock));
            let lines = [(); 3].map(|()| lines.next().unwrap_or_default());
            assert!(lines[0].starts_with("pthread mutex"), "{name}: {text}");
            assert!(lines[1].contains("kept by") && lines[1].contains(keeper), "{name}: {text}");
            assert!(lines[2].contains("take_") && lines[2].contains(".c:"), "{name}: {text}");
        }
    }
}

#[test]
fn deadlocks_are_named_and_have_an_exit_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Program::start(&program(folder.path(), "stuck", &["-O1"]), &["deadlock"]);
    let expected = [
        Expected("forwards", "lock_forwards", "pthread_mutex", "second_lock", "backwards"),
        Expected("backwards", "lock_backwards", "pthread_mutex", "first_lock", "forwards"),
        Expected("twice", "lock_twice", "pthread_mutex", "own_lock", "twice"),
    ];
    let document = program.seen(&expected, 3);
    let name_of = |tid: &Value| {
        let threads = document["threads"].as_array().expect("a list");
        threads.iter().find(|thread| thread["tid"] == *tid).expect("a thread")["name"].clone()
    };
    let circles = document["deadlocks"].as_array().expect("a list").iter();
    let mut names: Vec<Vec<String>> = circles
        .map(|circle| {
            let members = circle.as_array().expect("a list").iter().map(name_of);
            let mut names: Vec<String> =
                members.map(|name| name.as_str().expect("a name").to_owned()).collect();
            names.sort();
            names
        })
        .collect();
    names.sort();
    assert_eq!(names, [vec!["backwards", "forwards"], vec!["twice"]]);
    let text = stdout(&ended(3, program.who(&[])));
    let lines: Vec<&str> = text.lines().skip(2).take(5).collect();
    assert!(lines[0].starts_with("DEADLOCK: 2 threads"), "{text}");
    assert!(lines[1].contains("second_lock") || lines[1].contains("first_lock"), "{text}");
    assert!(lines[2].contains("lock_forwards") || lines[2].contains("lock_backwards"), "{text}");
}

#[test]
fn the_file_that_runs_is_read_although_another_has_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = program(folder.path(), "server", &["-O1"]);
    let program = Program::start(&path, &[]);
    let next = compiled(folder.path(), "next", "int take_orders; int main(void) { }", &["-g"]);
    fs::rename(next, &path).expect("a deployment");
    program.seen(&WAITS, 0);
}

#[test]
fn a_stripped_program_keeps_its_addresses_and_the_keeper() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = compiled(folder.path(), "bare", SOURCE, &["-O2", "-s", "-pthread"]);
    let program = Program::start(&path, &[]);
    wait_until("the threads", || {
        let found: Value = serde_json::from_str(&stdout(&program.who(&["--json"]))).expect("JSON");
        let threads = found["threads"].as_array().expect("a list");
        let named = |name: &str| threads.iter().find(|thread| thread["name"] == name);
        let (Some(taker), Some(keeper)) = (named("taker"), named("refresher")) else {
            return false;
        };
        let function = taker["callers"][0]["function"].as_str().unwrap_or_default();
        function.starts_with("bare+0x") && taker["wait"]["keeper"]["tid"] == keeper["tid"]
    });
}

#[test]
fn what_cannot_be_looked_at_is_refused_with_the_remedy() {
    let status = fs::read_to_string("/proc/thread-self/status").expect("this thread");
    let thread = status.lines().find_map(|line| line.strip_prefix("Pid:\t")).expect("a number");
    let own = std::process::id().to_string();
    let mut gone = Command::new("true").spawn().expect("it starts");
    let zombie = gone.id().to_string();
    wait_until("its end", || {
        fs::read_to_string(format!("/proc/{zombie}/stat")).is_ok_and(|stat| stat.contains(") Z "))
    });
    for (arguments, word) in [
        (&["4194304"][..], "no process"),
        (&["0"], "'0'"),
        (&["server"], "server"),
        (&[thread], &*format!("ondeck who {own}")),
        (&[&*zombie], "has ended"),
        (&[&*own, "--symbols", "/no/such"], "/no/such"),
    ] {
        let output = ended(2, outcome(ondeck(&["who"]).args(arguments)));
        assert!(stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
    }
    gone.wait().expect("it has ended");
}
