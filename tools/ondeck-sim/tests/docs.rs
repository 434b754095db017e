//! docs/data/machines.md lists the keys and the bundled machines of the source.
//!
//! `ONDECK_WRITE_DOCS=1 cargo test -p ondeck-sim --test docs` rewrites the tables.

use std::fmt::Write;
use std::fs;

use ondeck_sim::machine::{Key, Leaf, MachineFile, bundled_names, keys};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/data/machines.md");
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/machines.md");

/// Joins documentation whose lines each begin with a space.
fn sentences(about: &str) -> String {
    about.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn key_tables() -> String {
    let mut out = String::new();
    let mut section = "";
    for Key { section: of, name, range, unit, about } in keys() {
        if section != *of {
            section = of;
            let head = match of.strip_suffix("[]") {
                Some(list) => format!("[[{list}]]"),
                None => format!("[{}]", of.replace('*', "NAME")),
            };
            _ = write!(
                out,
                "### `{head}`\n\n| key | value | unit | what it is |\n|---|---|---|---|\n"
            );
        }
        let range = range.to_string().replace('"', "`");
        let unit = if unit.is_empty() { "-" } else { unit };
        _ = writeln!(out, "| `{name}` | {range} | {unit} | {} |", sentences(about));
        let last =
            keys().filter(|key| key.section == *of).last().is_some_and(|key| key.name == *name);
        if last {
            out.push('\n');
        }
    }
    out
}

fn machine_table() -> String {
    let mut out =
        "| machine | CPUs | what it is | estimated | fitted |\n|---|---|---|---|---|\n".to_owned();
    for name in bundled_names() {
        let file = MachineFile::find(name).unwrap_or_else(|error| panic!("{error}"));
        let own = format!("{name}.toml");
        let of_file = || file.leaves().filter(|(_, leaf)| leaf.file.ends_with(&own));
        let guessed = if of_file().any(|(_, leaf)| leaf.from.starts_with("assumption")) {
            "everything: no such machine exists".to_owned()
        } else {
            kinds(of_file().filter(|(_, leaf)| is_estimate(&leaf.from)))
        };
        // A value that was fitted in a base also counts as fitted for the machine.
        let is_own = |leaf: &Leaf| !leaf.file.ends_with("linux.toml");
        let fitted = kinds(
            file.leaves().filter(|(_, leaf)| leaf.from.contains("fitted to") && is_own(leaf)),
        );
        let link = format!("[{name}](../../tools/ondeck-sim/machines/{name}.toml)");
        let cpus = file.costs().places.len();
        _ = writeln!(out, "| {link} | {cpus} | {} | {guessed} | {fitted} |", file.about());
    }
    out
}

/// The kinds of those keys, each once.
fn kinds<'a>(leaves: impl Iterator<Item = (&'a str, &'a Leaf)>) -> String {
    let mut kinds: Vec<String> = Vec::new();
    for (key, _) in leaves {
        let key = kind(key);
        if !kinds.contains(&key) {
            kinds.push(key);
        }
    }
    if kinds.is_empty() { "-".to_owned() } else { kinds.join(", ") }
}

fn is_estimate(from: &str) -> bool {
    from.contains("estimate") || from.starts_with("assumption")
}

/// The key without the name of its class or the number of its item: `class.*.fence`, `idle[].exit`.
fn kind(key: &str) -> String {
    let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
    let section = match (section.split_once('.'), section.split_once('[')) {
        (Some((class, _)), _) => format!("{class}.*"),
        (_, Some((list, _))) => format!("{list}[]"),
        _ => section.to_owned(),
    };
    format!("`{section}.{name}`")
}

/// The page with the text between `<!-- name -->` and `<!-- end of name -->` replaced.
fn replaced(page: &str, name: &str, text: &str) -> String {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&start).expect("the start of the tables");
    let (_, after) = rest.split_once(&end).expect("the end of the tables");
    format!("{before}{start}\n{}\n\n{end}{after}", text.trim_end())
}

#[test]
fn the_page_has_the_keys_and_the_machines_of_the_source() {
    let page = fs::read_to_string(PAGE).expect("docs/data/machines.md");
    let keys = replaced(&page, "keys", &key_tables());
    let right = replaced(&keys, "machines", &machine_table());
    if std::env::var_os("ONDECK_WRITE_DOCS").is_some() {
        fs::write(PAGE, right).expect("docs/data/machines.md");
    } else {
        assert!(
            page == right,
            "docs/data/machines.md is old: ONDECK_WRITE_DOCS=1 cargo test -p ondeck-sim --test docs"
        );
    }
}

#[test]
fn the_example_of_the_page_is_right() {
    let page = fs::read_to_string(EXAMPLE).expect("docs/machines.md");
    let (_, rest) = page.split_once("```toml\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let file =
        MachineFile::parse("docs/machines.md", example).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file.costs().cpu_of_core.len(), 2);
}
