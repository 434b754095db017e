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
    options.image_width = (!scripts).then_some(WIDTH);
    // A generic name: a list would be quoted, and be the name of no font.
    options.font_type = "sans-serif".into();
    let mut svg = Vec::new();
    let empty = "no stacks were taken 1";
    let lines = if folded.is_empty() { empty } else { &folded };
    from_lines(&mut options, lines.lines(), &mut svg)
        .map_err(|error| Error::Drawing(error.to_string()))?;
    String::from_utf8(svg).map_err(|error| Error::Drawing(error.to_string()))
}

/// The flame graph of a role as a part of an HTML page: the frames alone, on the page's own ground, whose titles
/// say what a pointer is on.
///
/// # Errors
///
/// As [`render`].
pub(crate) fn part(profile: &Profile, role: Role, title: &str) -> Result<String, Error> {
    let whole = render(profile, role, false)?;
    let strange = || Error::Drawing("the flame graph has another form than expected".to_owned());
    let start = whole.find("<svg id=\"frames\"").ok_or_else(strange)?;
    let inside = start + whole[start..].find('>').ok_or_else(strange)? + 1;
    let end = whole.rfind("</svg></svg>").ok_or_else(strange)?;
    let frames = &whole[inside..end];
    let tops: Vec<u32> = frames
        .split(" y=\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"')?.0.parse().ok())
        .collect();
    // The lowest row is that of all together.
    let (Some(top), Some(bottom)) = (tops.iter().min(), tops.iter().max()) else {
        return Err(strange());
    };
    let height = (bottom - top).max(ROW);
    Ok(format!(
        "<svg class=\"flame\" role=\"img\" aria-label=\"{title}\" viewBox=\"0 {top} {WIDTH} {height}\">\
         <style>.flame {{ display: block; width: 100%; min-width: 44rem }} .flame text {{ font: 12px sans-serif; \
         fill: #000; pointer-events: none }} .flame g:hover rect {{ stroke: #000; stroke-width: 0.5 }}</style>\
         {frames}</svg>"
    ))
}

/// Of a picture without scripts, and of one of its rows.
const WIDTH: usize = 1120;
const ROW: u32 = 16;
