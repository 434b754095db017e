//! What a Rust file says of the specifications, by comments in the bodies of its functions. The file is
//! read as rustfmt leaves it: a body ends at a closing brace with the same indentation as its `fn`.

/// A comment `// spec: Module!Action`.
#[derive(Debug)]
pub struct Step {
    pub line: usize,
    pub module: String,
    pub action: String,
    /// The innermost function around it.
    pub function: String,
}

#[derive(Debug)]
pub struct File {
    pub path: String,
    pub functions: Vec<String>,
    pub steps: Vec<Step>,
    /// What is wrong with the comments themselves.
    pub mistakes: Vec<String>,
}

impl File {
    pub fn parse(path: &str, text: &str) -> Self {
        let mut file = Self {
            path: path.to_owned(),
            functions: Vec::new(),
            steps: Vec::new(),
            mistakes: Vec::new(),
        };
        // Indentation and name of each function around the line; whether its body has begun.
        let mut around: Vec<(usize, &str, bool)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            let indentation = line.len() - code.len();
            if let Some(said) = code.strip_prefix("// spec:") {
                let step = said.strip_prefix(' ').and_then(|said| said.split_once('!'));
                match (step, around.last()) {
                    (Some((module, action)), Some(&(_, function, true)))
                        if is_word(module) && is_word(action) =>
                    {
                        file.steps.push(Step {
                            line: number + 1,
                            module: module.to_owned(),
                            action: action.to_owned(),
                            function: function.to_owned(),
                        });
                    }
                    (Some((module, action)), _) if is_word(module) && is_word(action) => {
                        file.mistakes.push(format!(
                            "{path}:{}: {module}!{action} is in no function's body",
                            number + 1
                        ));
                    }
                    _ => file.mistakes.push(format!(
                        "{path}:{}: not of the form `// spec: Module!Action`",
                        number + 1
                    )),
                }
            } else if !code.starts_with("//") {
                if let Some(function) = declared(code) {
                    around.push((indentation, function, false));
                }
                if let Some(&mut (at, function, ref mut begun)) = around.last_mut() {
                    if !*begun && code.ends_with(';') {
                        around.pop();
                    } else if !*begun && (code.ends_with('{') || code.ends_with('}')) {
                        file.functions.push(function.to_owned());
                        *begun = true;
                        if code.ends_with('}') {
                            around.pop();
                        }
                    } else if *begun && at == indentation && code == "}" {
                        around.pop();
                    }
                }
            }
        }
        file
    }
}

/// The name of the function whose signature begins in this line.
fn declared(code: &str) -> Option<&str> {
    let behind = code.strip_prefix("pub(").and_then(|of| of.split_once(") "));
    let mut words = behind.map_or(code, |(_, behind)| behind).split(' ');
    let name = loop {
        match words.next()? {
            "fn" => break words.next()?,
            "pub" | "const" | "unsafe" | "async" | "extern" => {}
            word if word.starts_with('"') => {}
            _ => return None,
        }
    };
    name.split(['(', '<']).next()
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
