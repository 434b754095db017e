//! The specifications in `spec/` and the source name each other's steps; these tests find a name without its
//! counterpart.
//!
//! Above an action, which is a definition or a label of PlusCal, the specification says where its step is:
//! `\* models <path> <function>`, once or more, or `\* models nothing: <reason>`. The function says at the
//! step: `// spec: Module!Action`. Whether both do the same, readers have to judge.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "spec/rust.rs"]
mod rust;
#[path = "spec/tla.rs"]
mod tla;

use rust::File;
use tla::Module;

/// Every name that has no counterpart.
fn unpaired(modules: &[Module], files: &[File]) -> Vec<String> {
    let mut list = Vec::new();
    for module in modules {
        list.extend(module.mistakes.iter().cloned());
        for (name, action) in &module.actions {
            for (path, function) in &action.models {
                let says = format!("{}.tla: {name} models {function} of {path}", module.name);
                let Some(file) = files.iter().find(|file| file.path == *path) else {
                    list.push(format!("{says}: there is no such file"));
                    continue;
                };
                if !file.functions.contains(function) {
                    list.push(format!("{says}: there is no such function"));
                } else if !file.steps.iter().any(|step| {
                    step.function == *function && step.module == module.name && step.action == *name
                }) {
                    list.push(format!(
                        "{says}: its body has no line `// spec: {}!{name}`",
                        module.name
                    ));
                }
            }
        }
    }
    for file in files {
        list.extend(file.mistakes.iter().cloned());
        for step in &file.steps {
            let says = format!("{}:{}: {}!{}", file.path, step.line, step.module, step.action);
            let Some(module) = modules.iter().find(|module| module.name == step.module) else {
                list.push(format!("{says}: there is no such module"));
                continue;
            };
            let Some(action) = module.actions.get(&step.action) else {
                list.push(format!("{says}: the module has no such action"));
                continue;
            };
            if !action.models.contains(&(file.path.clone(), step.function.clone())) {
                list.push(format!(
                    "{says}: the action does not say `models {} {}`",
                    file.path, step.function
                ));
            }
        }
    }
    list
}

/// All files under `directory` with this extension.
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
    found.sort();
    found
}

#[test]
fn each_action_and_its_step_name_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let read = |path: &Path| fs::read_to_string(path).expect("a file that can be read");
    let modules: Vec<_> = files_under(&root.join("spec"), "tla")
        .iter()
        .map(|path| {
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a module's name");
            Module::parse(name, &read(path))
        })
        .collect();
    let files: Vec<_> = files_under(&root.join("crates"), "rs")
        .iter()
        .filter_map(|path| {
            let inside = path.strip_prefix(root).expect("inside").to_str().expect("UTF-8");
            (inside.split('/').nth(2) == Some("src")).then(|| File::parse(inside, &read(path)))
        })
        .collect();
    assert!(!modules.is_empty() && !files.is_empty(), "nothing to compare");
    let list = unpaired(&modules, &files);
    assert!(list.is_empty(), "{} without a counterpart:\n{}", list.len(), list.join("\n"));
}

/// What is found in one module and one file.
fn found(spec: &str, source: &str) -> Vec<String> {
    unpaired(&[Module::parse("M", spec)], &[File::parse("a.rs", source)])
}

const SPEC: &str = r"
(* Take == a comment is no definition *)
Helper(t) == x' = t

\* models a.rs lock
\* The first thread that arrives.
Take(t) ==
    /\ x = 0
    /\ Helper(t)

\* models nothing: the machine does it
Drain == x' = 0

Next == Drain \/ \E t \in T : Take(t)
";

const SOURCE: &str = "
impl Lock {
    pub(in crate::of) unsafe fn lock<P: Platform>(
        &self,
    ) -> bool
    where
        P: Platform,
    {
        if self.x.take() {
            // spec: M!Take
            true
        }
    }

    fn other() {}
}
";

const ALGORITHM: &str = r"
(* --algorithm M
begin
    \* models a.rs lock
    Take:
        x := 1;
        done: skip;
end algorithm; *)
\* BEGIN TRANSLATION
Unsaid(t) == x' = 1
Next == Unsaid(1)
\* END TRANSLATION
";

#[test]
fn pairs_are_accepted() {
    assert_eq!(found(SPEC, SOURCE), [""; 0]);
}

#[test]
fn labels_are_actions_and_translations_are_not() {
    assert_eq!(
        found(ALGORITHM, SOURCE),
        ["M.tla: done has no line `\\* models <path> <function>` above it, nor `\\* models \
          nothing: <reason>`"]
    );
}

/// Asserts that there is one finding, and that it says all of this.
#[track_caller]
fn one(list: &[String], says: &[&str]) {
    assert_eq!(list.len(), 1, "{list:#?}");
    for part in says {
        assert!(list[0].contains(part), "{list:#?} does not say {part}");
    }
}

#[test]
fn a_spec_names_a_function_that_is_not_there() {
    let spec = SPEC.replace("a.rs lock", "a.rs lock\n\\* models a.rs unlock");
    one(&found(&spec, SOURCE), &["Take models unlock of a.rs", "no such function"]);
}

#[test]
fn a_function_does_not_name_the_action_back() {
    let spec = SPEC.replace("a.rs lock", "a.rs lock\n\\* models a.rs other");
    one(&found(&spec, SOURCE), &["Take models other of a.rs", "its body has no line"]);
}

#[test]
fn a_comment_names_an_action_that_is_not_there() {
    let source = SOURCE.replace("M!Take", "M!Take\n            // spec: M!Give");
    one(&found(SPEC, &source), &["a.rs:11: M!Give", "no such action"]);
}

#[test]
fn an_action_says_nothing_of_the_source() {
    let spec = SPEC.replace("\\* models nothing: the machine does it\n", "");
    one(&found(&spec, SOURCE), &["Drain has no line"]);
}

#[test]
fn a_module_without_a_next() {
    assert_eq!(found("A == 1\n", ""), [""; 0]);
    one(&found("VARIABLES x\nA == 1\n", ""), &["neither `Next` nor a label"]);
}
