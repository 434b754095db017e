//! A figure: caption, evidence, and the drawing for either width.

use maud::{Markup, html};
use ondeck_lab::results::Evidence;

use super::canvas::Width;

/// The part of a wide page that a figure takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// All of it; it has a drawing for either width.
    Full,
    /// Half; the drawing for narrow pages serves both.
    Half,
}

/// The words about a figure.
#[derive(Clone, Debug)]
pub struct Caption {
    /// The id in the document: lower case, digits and hyphens.
    pub id: String,
    /// Its subject, with the unit.
    pub title: String,
    /// How to read it and which direction is better.
    pub reading: String,
    /// The note below it; may be empty.
    pub note: String,
}

/// A figure with its caption.
pub fn figure(
    caption: &Caption,
    evidence: Evidence,
    span: Span,
    drawing: impl Fn(Width) -> Markup,
) -> Markup {
    let label = format!("{} ({}). {}", caption.title, evidence.word(), caption.reading);
    html! {
        figure id=(caption.id) class=[(span == Span::Half).then_some("half")] {
            figcaption {
                span { strong { (caption.title) } " " (tag(evidence)) }
                p { (caption.reading) }
            }
            // The role sits here and not on the figure, so that the caption can be read too.
            div.drawing role="img" aria-label=(label) {
                @if span == Span::Full { div.wide { (drawing(Width::Wide)) } }
                div.narrow { (drawing(Width::Narrow)) }
            }
            @if !caption.note.is_empty() { p.note { (caption.note) } }
        }
    }
}

/// The mark that shows the origin of numbers.
pub fn tag(evidence: Evidence) -> Markup {
    html! { span .tag .(evidence.word()) { (evidence.word()) } }
}

/// Text as part of an id: lower case letters, digits, single hyphens.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            out.push(character.to_ascii_lowercase());
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}
