//! What a TLA+ module says of the source: its actions, and the functions that they model.

use std::collections::BTreeMap;

/// An action of a module: a definition, or a label of PlusCal.
#[derive(Debug, Default)]
pub struct Action {
    /// Path and function, of each `models` line above it.
    pub models: Vec<(String, String)>,
    /// Whether it says that it models nothing, and why.
    pub nothing: bool,
    /// The text of a definition, without comments and strings. A label has none.
    body: Option<String>,
}

#[derive(Debug)]
pub struct Module {
    pub name: String,
    pub actions: BTreeMap<String, Action>,
    has_variables: bool,
    /// What is wrong with the text itself.
    pub mistakes: Vec<String>,
}

/// The part of a module in which a line is.
enum Part {
    Definitions,
    Algorithm,
    Translation,
}

impl Module {
    pub fn parse(name: &str, text: &str) -> Self {
        let mut module = Self {
            name: name.to_owned(),
            actions: BTreeMap::new(),
            has_variables: text.lines().any(|line| line.starts_with("VARIABLE")),
            mistakes: Vec::new(),
        };
        let mut part = Part::Definitions;
        let mut pending = Action::default();
        let mut said = None;
        let mut current = None;
        let text = without_block_comments(text);
        for (number, line) in text.lines().enumerate() {
            part = match part {
                Part::Definitions if line.contains("\\* BEGIN TRANSLATION") => Part::Translation,
                Part::Translation if line.contains("\\* END TRANSLATION") => Part::Definitions,
                Part::Definitions if starts_algorithm(line) => Part::Algorithm,
                Part::Algorithm if line.contains("*)") => Part::Definitions,
                same => same,
            };
            if matches!(part, Part::Translation) {
                continue;
            }
            if let Some(comment) = line.trim_start().strip_prefix("\\*") {
                if let Some(models) = comment.strip_prefix(" models ") {
                    said = Some(number + 1);
                    if let Err(mistake) = pending.add(models) {
                        module.mistakes.push(format!("{name}.tla:{}: {mistake}", number + 1));
                    }
                }
                continue;
            }
            let code = without_strings(line);
            let found = match part {
                Part::Definitions => defined(&code),
                _ => labelled(&code),
            };
            if let Some(found) = found {
                let mut action = std::mem::take(&mut pending);
                said = None;
                if matches!(part, Part::Definitions) {
                    action.body = Some(String::new());
                }
                module.actions.insert(found.to_owned(), action);
                current = Some(found.to_owned());
            }
            if let Some(line) = said.take() {
                pending = Action::default();
                module
                    .mistakes
                    .push(format!("{name}.tla:{line}: no action follows this `models` line"));
            }
            let open = current.as_ref().and_then(|current| module.actions.get_mut(current));
            if let Some(body) = open.and_then(|action| action.body.as_mut()) {
                body.push_str(&code);
                body.push('\n');
            }
        }
        module.next_names_all();
        module
    }

    /// Notes every action that neither models something nor says why not.
    fn next_names_all(&mut self) {
        let mut silent = Vec::new();
        let mut seen = Vec::new();
        let mut to_see: Vec<&str> = vec!["Next"];
        let mut reached = 0;
        while let Some(name) = to_see.pop() {
            let Some(action) = self.actions.get(name) else { continue };
            let Some(body) = action.body.as_ref() else { continue };
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            if action.says_something() {
                reached += 1;
            } else if is_step(body) || body.contains("/\\") && self.comes_to_a_step(name) {
                reached += 1;
                silent.push(name);
            } else {
                to_see.extend(words(body));
            }
        }
        for (name, action) in &self.actions {
            if action.body.is_none() {
                reached += 1;
                if !action.says_something() {
                    silent.push(name);
                }
            }
        }
        silent.sort_unstable();
        let mut mistakes: Vec<_> = silent
            .into_iter()
            .map(|action| {
                format!(
                    "{0}.tla: {action} has no line `\\* models <path> <function>` above it, nor \
                     `\\* models nothing: <reason>`",
                    self.name
                )
            })
            .collect();
        if reached == 0 && self.has_variables {
            mistakes
                .push(format!("{}.tla: neither `Next` nor a label names any action", self.name));
        }
        self.mistakes.append(&mut mistakes);
    }

    /// Whether a definition, or one that it uses, changes a variable.
    fn comes_to_a_step(&self, name: &str) -> bool {
        let mut seen = vec![];
        let mut to_see = vec![name];
        while let Some(name) = to_see.pop() {
            let Some(body) = self.actions.get(name).and_then(|action| action.body.as_ref()) else {
                continue;
            };
            if is_step(body) {
                return true;
            }
            if !seen.contains(&name) {
                seen.push(name);
                to_see.extend(words(body));
            }
        }
        false
    }
}

impl Action {
    fn says_something(&self) -> bool {
        self.nothing || !self.models.is_empty()
    }

    /// Takes the text behind `models`.
    fn add(&mut self, said: &str) -> Result<(), &'static str> {
        if let Some(reason) = said.strip_prefix("nothing") {
            self.nothing = true;
            return match reason.strip_prefix(':') {
                Some(reason) if !reason.trim().is_empty() => Ok(()),
                _ => Err("`models nothing` without `: <reason>`"),
            };
        }
        match said.split_whitespace().collect::<Vec<_>>()[..] {
            [path, function] => {
                self.models.push((path.to_owned(), function.to_owned()));
                Ok(())
            }
            _ => Err("`models` without a path and a function"),
        }
    }
}

/// Blanks out `(* ... *)` except an algorithm, and keeps the lines.
fn without_block_comments(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("(*") {
        let end = rest[start..].find("*)").map_or(rest.len(), |end| start + end + 2);
        result.push_str(&rest[..start]);
        let comment = &rest[start..end];
        if comment.lines().any(starts_algorithm) {
            result.push_str(comment);
        } else {
            result.extend(comment.chars().filter(|&c| c == '\n'));
        }
        rest = &rest[end..];
    }
    result + rest
}

fn starts_algorithm(line: &str) -> bool {
    line.contains("--algorithm") || line.contains("--fair algorithm")
}

fn without_strings(line: &str) -> String {
    let code = line.split("\\*").next().unwrap_or_default();
    code.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

/// `Name ==` or `Name(arguments) ==` at the start of a line.
fn defined(line: &str) -> Option<&str> {
    let name = words(line).next().filter(|name| line.starts_with(name))?;
    let mut rest = line[name.len()..].trim_start();
    if rest.starts_with('(') {
        rest = rest.split_once(')')?.1.trim_start();
    }
    rest.starts_with("==").then_some(name)
}

/// `Name:`, but not `name :=`, at the start of what a line says.
fn labelled(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let name = words(line).next().filter(|name| line.starts_with(name))?;
    let rest = line[name.len()..].strip_prefix(':')?;
    (!rest.starts_with('=') && !rest.starts_with(':')).then_some(name)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Whether a definition changes a variable itself.
fn is_step(body: &str) -> bool {
    body.contains('\'') || words(body).any(|word| word == "UNCHANGED")
}
