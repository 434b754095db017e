//! The frame of a page without scripts: the head, the style sheet and the colours of all pages, the footer.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::theme;

/// The page runs no script and loads nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// A page without scripts: the contents of its frame.
#[derive(Debug)]
pub struct Still<'a> {
    /// The title of the window.
    pub title: String,
    /// The version of the program that writes it.
    pub version: &'a str,
    /// The line above the heading: the kind of the page.
    pub kicker: &'a str,
    /// The heading.
    pub heading: Markup,
    /// The line below it: the result, or its origin.
    pub verdict: Markup,
    /// Everything else.
    pub main: Markup,
    /// The beginning of the footer.
    pub footer: Markup,
}

impl Still<'_> {
    /// One self-contained HTML document.
    pub fn render(self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content=(format!("ondeck {}", self.version));
                    link rel="icon" href="data:,";
                    title { (self.title) }
                    style { (PreEscaped(theme::STYLE)) (PreEscaped(theme::css())) }
                }
                body {
                    header {
                        p.kicker { (self.kicker) }
                        h1 { (self.heading) }
                        p.verdict { (self.verdict) }
                    }
                    main { (self.main) }
                    footer { p { (self.footer) " This file is complete: it loads nothing." } }
                }
            }
        };
        page.into_string()
    }
}
