//! `ondeck run --profile` of programs into which no library can be loaded.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::shim::{compiled, output, wait_until};
use crate::support::{ended, stderr, stdout};

/// One thread holds a mutex again and again, and another one waits for it. A child does the same
/// after the program has ended, and writes a file. Ends with 3.
const PROGRAM: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_over;
static void pause_for(long microseconds)
{
    struct timespec length = {0, microseconds * 1000};
    nanosleep(&length, 0);
}
__attribute__((noinline)) static void keeper(void)
{
    pthread_mutex_lock(&mutex);
    pause_for(2000);
    pthread_mutex_unlock(&mutex);
    __asm__ volatile("");
}
__attribute__((noinline)) static void victim(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    __asm__ volatile("");
}
static void *victims(void *nothing)
{
    while (!is_over) {
        victim();
        pause_for(200);
    }
    return nothing;
}
static void contend(void)
{
    pthread_t thread;
    is_over = 0;
    pthread_create(&thread, 0, victims, 0);
    for (int i = 0; i < 100; i++) {
        keeper();
        pause_for(1000);
    }
    is_over = 1;
    pthread_join(thread, 0);
}
int main(int count, char **arguments)
{
    contend();
    if (count > 1 && fork() == 0) {
        close(1);
        close(2);
        pause_for(300000);
        contend();
        close(open(arguments[1], O_CREAT | O_WRONLY, 0600));
        return 0;
    }
    puts("done");
    return 3;
}
"#;

/// Becomes its arguments. What it starts has its filter, and there is one listener only.
const OUTER: &str =
    "#include <unistd.h>\nint main(int n, char **a) { return execv(a[n > 0], a + 1); }";

fn lines(report: &Path) -> Vec<Value> {
    let text = fs::read_to_string(report).expect("a report");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn the_keeper_of_a_static_program_is_found_and_its_children_outlive_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let program = compiled(folder, "program", PROGRAM, &["-static", "-pthread", "-g", "-O1"]);
    let (report, done) = (folder.join("r.jsonl"), folder.join("done"));
    let words = [&report, &program, &done].map(|path| path.to_str().expect("UTF-8"));
    let found = ended(3, output(&["--profile", words[0], "--", words[1], words[2]]));
    assert_eq!(stdout(&found), "done\n");
    let text = stderr(&found);
    assert!(text.contains("(seccomp), because it is linked statically"), "{text}");
    let lines = lines(&report);
    let of = |kind: &'static str| lines.iter().filter(move |line| line["type"] == kind);
    let lock = of("lock").find(|lock| lock["name"] == "mutex").expect("it was contended");
    assert_eq!(lock["kind"], "pthread", "{text}");
    assert!(lock["wait"]["count"].as_u64() > Some(10), "{lock}");
    let has = |line: &Value, function: &str| line["stack"].to_string().contains(function);
    for (role, function) in [("holder", "keeper"), ("waiter", "victim")] {
        let mut stacks = of("stack").filter(|line| line["role"] == role);
        assert!(stacks.any(|line| has(line, function)), "{role}: {text}");
    }
    wait_until("the end of the child", || done.exists());
}

#[test]
fn without_notifications_the_sleeps_are_sampled() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let program = compiled(folder, "program", PROGRAM, &["-static", "-pthread", "-O1"]);
    let outer = compiled(folder, "outer", OUTER, &["-static"]);
    let (report, other) = (folder.join("r.jsonl"), folder.join("o.jsonl"));
    let words = [&report, &other, &outer, &program].map(|path| path.to_str().expect("UTF-8"));
    let [report, other, outer, program] = words;
    let refused = output(&["--no-seccomp", "--profile", report, "--", program]);
    let text = stderr(&ended(3, refused));
    assert!(text.contains("nothing was recorded; only the sleeps"), "{text}");
    let command = env!("CARGO_BIN_EXE_ondeck");
    let inner = ["run", "--profile", other, "--", program];
    let nested = [&["--profile", report, "--", outer, command][..], &inner].concat();
    let text = stderr(&ended(3, output(&nested)));
    assert!(text.contains("the kernel refuses to notify of its calls"), "{text}");
    assert!(text.contains("start it outside of that"), "{text}");
}
