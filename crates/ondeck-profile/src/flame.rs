//! Flame graphs in SVG.

use inferno::flamegraph::{Options, from_lines};
use ondeck_record::layout::Role;

use crate::Error;
use crate::folded;
use crate::model::Profile;

/// The flame graph of a role: widths are waited time. `scripts` lets a reader zoom and search; without,
/// it is a picture.
///
/// # Errors
///
/// [`Error::Drawing`]; a profile without stacks is drawn as a line that says so.
pub fn render(profile: &Profile, role: Role, scripts: bool) -> Result<String, Error> {
    let folded = folded::render(profile, role);
    let mut options = Options::default();
    options.title = match role {
        Role::Holder => "What kept threads waiting".to_owned(),
        Role::Waiter => "What waited".to_owned(),
    };
    options.subtitle =
        Some("by lock and stack; widths are the time that threads waited".to_owned());
    options.count_name = "ns".into();
    options.name_type = "Function:".into();
    options.no_javascript = !scripts;
    options.deterministic = true;
    options.image_width = (!scripts).then_some(1120);
    options.font_type = "system-ui, sans-serif".into();
    let mut svg = Vec::new();
    let empty = "no stacks were taken 1";
    let lines = if folded.is_empty() { empty } else { &folded };
    from_lines(&mut options, lines.lines(), &mut svg)
        .map_err(|error| Error::Drawing(error.to_string()))?;
    String::from_utf8(svg).map_err(|error| Error::Drawing(error.to_string()))
}
