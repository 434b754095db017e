//! The head of all pages, with the style sheet and the colours; the frame of a page without
//! scripts.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::ink;

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
                (head(&self.title, self.version, POLICY))
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

/// The head of a page: `policy` says what the page may run and load.
pub fn head(title: &str, version: &str, policy: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="color-scheme" content="light dark";
            meta name="generator" content=(format!("ondeck {version}"));
            link rel="icon" href="data:,";
            title { (title) }
            style { (PreEscaped(ink::STYLE)) (PreEscaped(ink::css())) }
        }
    }
}
