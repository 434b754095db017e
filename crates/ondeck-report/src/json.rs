//! The JSON document and its schema.

use ondeck_lab::results::{Report, SCHEMA_VERSION};

/// The report as indented JSON with a newline at its end.
///
/// # Panics
///
/// Never: every type of the report can be serialized.
pub fn render(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report has only JSON types");
    text.push('\n');
    text
}

/// The JSON Schema (draft 2020-12) of that document.
///
/// # Panics
///
/// Never, as above.
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(Report);
    schema.insert("title".to_owned(), format!("ondeck report, version {SCHEMA_VERSION}").into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}
