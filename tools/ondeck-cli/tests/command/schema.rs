//! Whether a report matches its schema, by the keywords that the schema has.

use serde_json::Value;

use super::support::{run, stdout};

/// Keywords that restrict nothing.
const NOTES: [&str; 6] = ["$schema", "$defs", "title", "description", "default", "format"];

/// The first part of a report that does not match the output of `ondeck schema`.
pub fn mismatch(report: &Value) -> Option<String> {
    let schema = serde_json::from_str(&stdout(&run(&["schema"]))).expect("the schema is JSON");
    Schema(&schema).mismatch(&schema, report, "")
}

struct Schema<'a>(&'a Value);

impl Schema<'_> {
    fn mismatch(&self, rules: &Value, value: &Value, path: &str) -> Option<String> {
        let length = value.as_array().map_or(0, Vec::len) as u64;
        rules.as_object().expect("rules").iter().find_map(|(keyword, rule)| {
            let unless = |holds: bool| (!holds).then(|| format!("{path}: not {keyword} {rule}"));
            let list = || rule.as_array().expect("a list");
            match keyword.as_str() {
                "$ref" => {
                    let place = rule.as_str().expect("a name").trim_start_matches('#');
                    let rules = self.0.pointer(place).expect("a definition");
                    self.mismatch(rules, value, path)
                }
                "type" => unless(match rule {
                    Value::Array(types) => types.iter().any(|one| is_of(value, one)),
                    one => is_of(value, one),
                }),
                "const" => unless(value == rule),
                "minimum" => unless(value.is_null() || value.as_f64() >= rule.as_f64()),
                "minItems" => unless(rule.as_u64() <= Some(length)),
                "maxItems" => unless(rule.as_u64() >= Some(length)),
                "required" => {
                    unless(list().iter().all(|name| value.get(name.as_str().unwrap()).is_some()))
                }
                "anyOf" | "oneOf" => {
                    unless(list().iter().any(|one| self.mismatch(one, value, path).is_none()))
                }
                "properties" => {
                    rule.as_object().expect("names").iter().find_map(|(name, rules)| {
                        self.mismatch(rules, value.get(name)?, &format!("{path}/{name}"))
                    })
                }
                "additionalProperties" => value.as_object()?.iter().find_map(|(name, value)| {
                    self.mismatch(rule, value, &format!("{path}/{name}"))
                }),
                "items" => value
                    .as_array()?
                    .iter()
                    .find_map(|value| self.mismatch(rule, value, &format!("{path}/item"))),
                "prefixItems" => {
                    let items = list().iter().zip(value.as_array()?);
                    items.into_iter().find_map(|(rules, value)| self.mismatch(rules, value, path))
                }
                other => {
                    assert!(NOTES.contains(&other), "the schema has the keyword {other}");
                    None
                }
            }
        })
    }
}

fn is_of(value: &Value, kind: &Value) -> bool {
    match kind.as_str().expect("a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the schema has the type {other}"),
    }
}
