//! Documents as JSON, and the schema of a report.

use ondeck_lab::results::{Report, SCHEMA_VERSION};
use serde::Serialize;

/// A document as indented JSON with a newline at its end.
///
/// # Panics
///
/// Never: every type of a document can be serialized.
pub fn render(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("a document has only JSON types") + "\n"
}

/// The JSON Schema (draft 2020-12) of a report.
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(Report);
    schema.insert("title".to_owned(), format!("ondeck report, version {SCHEMA_VERSION}").into());
    render(&schema)
}
