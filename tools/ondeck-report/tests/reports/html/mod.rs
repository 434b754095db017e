//! The HTML report, without a browser.

mod odd;
mod structure;
mod words;

use std::collections::BTreeSet;

use ondeck_lab::results::{Better, Metric, Report, Series};
use ondeck_report::html::render;

/// Fails unless elements are closed in the order in which they were opened.
fn assert_well_formed(html: &str) {
    const VOID: [&str; 4] = ["meta", "link", "br", "input"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap_or("");
        if tag.starts_with('!') || tag.ends_with('/') || VOID.contains(&name) {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes another element");
        } else {
            assert!(name.starts_with(|c: char| c.is_ascii_alphabetic()), "<{tag}> is no element");
            open.push(name);
        }
        if ["style", "script"].contains(&name) && !tag.starts_with('/') {
            rest = &rest[rest.find(&format!("</{name}")).expect("it ends")..];
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
}

fn assert_ids_are_unique(html: &str) {
    let mut seen = BTreeSet::new();
    for part in html.split(" id=\"").skip(1) {
        let id = part.split('"').next().expect("an id ends");
        assert!(!id.is_empty(), "an id is empty");
        assert!(seen.insert(id), "{id} appears twice");
    }
}

fn rendered(report: &Report) -> String {
    let html = render(report);
    assert!(html.starts_with("<!DOCTYPE html>"));
    assert_well_formed(&html);
    assert_ids_are_unique(&html);
    let (page, _script) = html.split_once("<script>").expect("the page's script");
    for word in ["NaN", "inf\"", "-inf"] {
        assert!(!page.contains(word), "{word} is on the page");
    }
    html
}

fn metric(name: &str, unit: &str, better: Better, value: f64) -> Metric {
    Metric {
        name: name.to_owned(),
        unit: unit.into(),
        better,
        median: value,
        p25: value * 0.9,
        p75: value * 1.1,
        min: value * 0.8,
        max: value * 1.2,
        n: 5,
        samples: vec![value; 5],
    }
}

fn series(workload: &str, lock: &str, threads: usize, metrics: Vec<Metric>) -> Series {
    Series {
        workload: workload.to_owned(),
        lock: lock.to_owned(),
        threads,
        metrics,
        ..Series::default()
    }
}
