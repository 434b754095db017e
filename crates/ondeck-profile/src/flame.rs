//! Flame graphs in SVG, for the page.

use std::fmt::Write;

use inferno::flamegraph::{Options, from_lines};
use ondeck_record::layout::Role;

use crate::Error;
use crate::model::Profile;

/// Sizes of the picture and of one of its rows.
const WIDTH: usize = 1120;
const ROW: u32 = 16;

/// Draws the flame graph of a role as part of an HTML page: only the frames, on the page's background, with titles
/// that show under the pointer. Widths are waited time.
///
/// # Errors
///
/// [`Error::Drawing`]. A profile without stacks is no error: its picture is a line of text.
pub(crate) fn part(profile: &Profile, role: Role, title: &str) -> Result<String, Error> {
    let folded = folded(profile, role);
    let mut options = Options::default();
    options.count_name = "ns".into();
    options.no_javascript = true;
    options.deterministic = true;
    options.image_width = Some(WIDTH);
    // A generic name, because a list would be quoted and match no font.
    options.font_type = "sans-serif".into();
    let mut svg = Vec::new();
    let lines = if folded.is_empty() { "no stacks were taken 1" } else { &folded };
    from_lines(&mut options, lines.lines(), &mut svg)
        .map_err(|error| Error::Drawing(error.to_string()))?;
    let whole = String::from_utf8(svg).map_err(|error| Error::Drawing(error.to_string()))?;
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
    // The lowest row is the total.
    let (Some(top), Some(bottom)) = (tops.iter().min(), tops.iter().max()) else {
        return Err(strange());
    };
    let height = (bottom - top).max(ROW);
    Ok(format!(
        "<svg class=\"flame\" role=\"img\" aria-label=\"{title}\" viewBox=\"0 {top} {WIDTH} {height}\">\
         <style>.flame {{ display: block; width: 100%; min-width: 60rem }} .flame text {{ font: 12px sans-serif; \
         fill: #000; pointer-events: none }} .flame g:hover rect {{ stroke: #000; stroke-width: 0.5 }}</style>\
         {frames}</svg>"
    ))
}

/// Returns a line for each stack of a role: the functions, outermost first, then the time in nanoseconds. The
/// outermost frame is the lock, preceded by the process if there are several.
fn folded(profile: &Profile, role: Role) -> String {
    let mut text = String::new();
    let several = profile.processes.len() > 1;
    for (process, lock) in profile.locks() {
        let mut begin = String::new();
        if several {
            let program = process.program.file_name().unwrap_or_default().to_string_lossy();
            begin = format!("{} {};", cleaned(&program), process.pid);
        }
        _ = write!(begin, "lock {}", cleaned(&lock.name()));
        for sample in lock.samples(role) {
            text.push_str(&begin);
            for frame in sample.frames().rev() {
                _ = write!(text, ";{}", cleaned(&frame.function));
            }
            // Writing to a string cannot fail.
            _ = writeln!(text, " {}", sample.nanos.round().max(1.0));
        }
    }
    text
}

/// Replaces the characters that have a meaning in the format.
fn cleaned(name: &str) -> String {
    name.replace(';', ":").replace(['\n', '\r'], " ")
}
