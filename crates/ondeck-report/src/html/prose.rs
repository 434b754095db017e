//! Sentences that are Markdown elsewhere: the glossary's, and those of workloads.

use maud::{Markup, html};

/// The text with its `code` as such. Bold words, which only the glossary has, are words like others.
pub fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part.replace("**", "")) }
        }
    }
}

/// What a page says: its markup without tags. Entities stay, because no term has one.
pub fn without_tags(markup: &str) -> String {
    let mut text = String::with_capacity(markup.len());
    for part in markup.split('<') {
        // Behind a tag; the first part has none.
        text.push_str(part.split_once('>').map_or(part, |(_, after)| after));
        text.push(' ');
    }
    text
}
