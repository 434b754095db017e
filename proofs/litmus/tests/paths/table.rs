//! The table of `docs/weak-memory.md`: the orderings that forbid each outcome, and the models.

use std::fmt::Write;
use std::{env, fs};

use ondeck_litmus::MODELS;

use crate::shape::Needed;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/weak-memory.md");
const BEGIN: &str = "<!-- the table that the test `paths` writes -->\n";
const END: &str = "<!-- its end -->\n";

/// Fails if the page has another table than `rows`; writes it there with `ONDECK_WRITE_DOCS=1`.
pub fn compare(rows: &[(&str, Needed)]) {
    let page = fs::read_to_string(PAGE).expect("docs/weak-memory.md");
    let (before, rest) = page.split_once(BEGIN).expect("where the table begins");
    let (_, after) = rest.split_once(END).expect("where the table ends");
    let expected = format!("{before}{BEGIN}\n{}\n{END}{after}", table(rows));
    if env::var_os("ONDECK_WRITE_DOCS").is_some() {
        fs::write(PAGE, expected).expect("docs/weak-memory.md can be written");
        return;
    }
    assert!(
        page == expected,
        "the table of docs/weak-memory.md is another one. Read what changed, then write it by \
         ONDECK_WRITE_DOCS=1 cargo test --manifest-path proofs/litmus/Cargo.toml --test paths\n{}",
        table(rows)
    );
}

fn table(rows: &[(&str, Needed)]) -> String {
    let mut text = "| what may not happen | what forbids it |".to_owned();
    for model in MODELS {
        let _ = write!(text, " {} |", model.name());
    }
    text.push_str("\n|---|---|");
    text.push_str(&"---|".repeat(MODELS.len()));
    text.push('\n');
    for (name, needed) in rows {
        if needed.is_empty() {
            let _ = writeln!(
                text,
                "| {name} | that an exchange is one access |{}",
                " needed |".repeat(MODELS.len())
            );
        }
        for (place, (line, models)) in needed.iter().enumerate() {
            let name = if place == 0 { name } else { "" };
            let _ = write!(text, "| {name} | {} |", line.replace('|', "\\|"));
            for model in MODELS {
                text.push_str(if models.contains(&model) { " needed |" } else { " |" });
            }
            text.push('\n');
        }
    }
    text
}
