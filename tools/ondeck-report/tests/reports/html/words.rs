//! The page's glossary.

use ondeck_lab::results::Better;

use super::{metric, rendered, series};
use crate::support::report as with;

/// The section of that id.
fn section<'a>(html: &'a str, id: &str) -> &'a str {
    let (_, after) = html.split_once(&format!("<section id=\"{id}\"")).expect("the section");
    after.split("</section>").next().expect("it ends")
}

#[test]
fn the_metrics_of_the_page_are_explained() {
    let words = |name: &str, unit: &str, workload: &str| {
        let metrics = vec![metric(name, unit, Better::Lower, 1.0)];
        let html = rendered(&with(vec![series(workload, "std", 2, metrics)]));
        section(&html, "glossary").to_owned()
    };
    let slowdown = words("slowdown", "ratio", "bystander");
    assert!(slowdown.contains("speed alone divided by") && slowdown.contains("Lower is better."));
    let unknown = words("speed", "furlongs", "elsewhere");
    assert!(unknown.contains("<code>speed</code>") && unknown.contains("furlongs"));
}
