//! The specifications in `spec/` and the source name each other's steps; these tests find a name without its
//! counterpart.
//!
//! Above an action, which is a definition or a label of PlusCal, the specification names the place of its step:
//! `\* models <path> <function>`, once or more, or `\* models nothing: <reason>`. The function has
//! `// spec: Module!Action` at the step. Readers have to judge whether both do the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A step: the path and the function of the source, the module and the action of the specification.
type Step = [String; 4];

/// Returns the steps that a module claims to model.
fn modelled(module: &str, text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut pending = Vec::new();
    for line in text.lines() {
        let code = line.trim_start();
        if let Some(said) = code.strip_prefix("\\* models ") {
            match said.split(' ').collect::<Vec<_>>()[..] {
                ["nothing:", _, ..] => {}
                [path, function] => pending.push((path, function)),
                _ => {
                    panic!("{module}.tla: neither `models <path> <function>` nor a reason: {line}")
                }
            }
        } else if !pending.is_empty() && !code.starts_with("\\*") {
            let name = code.split(|c: char| !c.is_alphanumeric() && c != '_').next();
            let name = name.filter(|name| !name.is_empty());
            let is_action = code.contains("==") || code.contains(':') && !code.contains(":=");
            let name = name
                .filter(|_| is_action)
                .unwrap_or_else(|| panic!("{module}.tla: no action follows `models`, but: {line}"));
            steps.extend(
                pending
                    .drain(..)
                    .map(|(path, function)| [path, function, module, name].map(str::to_owned)),
            );
        }
    }
    steps
}

/// Returns the name of the function whose signature begins in this line.
fn declared(code: &str) -> Option<&str> {
    let (before, behind) = code.split_once("fn ")?;
    (!before.contains("//")).then(|| behind.split(['(', '<']).next()).flatten()
}

/// Returns the steps that a file names, each with the innermost function around it. Relies on the format of rustfmt:
/// the body of a function is further from the margin.
fn named(path: &str, text: &str) -> Vec<Step> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .map(|line| (line.len() - line.trim_start().len(), line.trim_start()))
        .filter(|(_, code)| !code.is_empty())
        .collect();
    let steps = lines.iter().enumerate().filter_map(|(at, (_, code))| {
        let said = code.strip_prefix("// spec:")?;
        let (module, action) = said
            .trim()
            .split_once('!')
            .unwrap_or_else(|| panic!("{path}: not of the form `// spec: Module!Action`: {code}"));
        let mut inside = lines[at].0;
        let function = lines[..at].iter().rev().find_map(|&(indentation, code)| {
            let is_around = indentation < inside;
            if code.starts_with('}') {
                // A function that ends here does not contain the step.
                inside = inside.min(indentation);
            }
            declared(code).filter(|_| is_around)
        });
        let function = function.unwrap_or_else(|| panic!("{path}: in no function: {code}"));
        Some([path, function, module, action].map(str::to_owned))
    });
    steps.collect()
}

/// Returns the steps that only one of the two names.
fn unpaired(modelled: Vec<Step>, named: Vec<Step>) -> String {
    let [modelled, named] = [modelled, named].map(BTreeSet::from_iter);
    let only = |one: &BTreeSet<Step>, other, says: &str| {
        let steps = one.difference(other).map(|[path, function, module, action]| {
            format!("{says}: {action} of {module}.tla is in {function} of {path}\n")
        });
        steps.collect::<String>()
    };
    only(&modelled, &named, "only the specification says")
        + &only(&named, &modelled, "only the source says")
}

/// Returns all files under `directory` with this extension.
fn files_under(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return found };
    for entry in entries {
        let path = entry.expect("a directory that can be read").path();
        if path.is_dir() {
            found.extend(files_under(&path, extension));
        } else if path.extension().is_some_and(|its| its == extension) {
            found.push(path);
        }
    }
    found
}

#[test]
fn each_action_and_its_step_name_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let read = |path: &Path| fs::read_to_string(path).expect("a file that can be read");
    let modelled: Vec<_> = files_under(&root.join("spec"), "tla")
        .iter()
        .flat_map(|path| {
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a module's name");
            modelled(name, &read(path))
        })
        .collect();
    let named: Vec<_> = files_under(&root.join("crates"), "rs")
        .iter()
        .flat_map(|path| {
            let inside = path.strip_prefix(root).expect("inside").to_str().expect("UTF-8");
            let is_source = inside.split('/').nth(2) == Some("src");
            if is_source { named(inside, &read(path)) } else { Vec::new() }
        })
        .collect();
    assert!(!modelled.is_empty() && !named.is_empty(), "nothing to compare");
    let list = unpaired(modelled, named);
    assert!(list.is_empty(), "{list}");
}

#[test]
fn a_name_without_a_counterpart_is_found() {
    const SPEC: &str = "
\\* models a.rs lock
\\* The first thread that arrives.
Take(t) ==
    /\\ x = 0

\\* models nothing: the machine does it
Drain == x' = 0

begin
    \\* models a.rs lock
    Enter:
        x := 1;
";
    const SOURCE: &str = "
impl Lock {
    unsafe fn lock<P: Platform>(
        &self,
    ) -> bool {
        fn inner() {
            nothing();
        }
        // spec: M!Enter
        if self.x.take() {
            // spec: M!Take
            true
        }
    }

    fn other() {}
}
";
    let found = |spec: &str, source: &str| unpaired(modelled("M", spec), named("a.rs", source));
    assert_eq!(found(SPEC, SOURCE), "");
    let spec = SPEC.replace("a.rs lock\n\\* The", "a.rs other\n\\* The");
    assert_eq!(found(&spec, SOURCE).lines().count(), 2);
    let source = SOURCE.replace("M!Enter", "M!Leave");
    assert!(
        found(SPEC, &source).contains("only the source says: Leave of M.tla is in lock of a.rs")
    );
}
