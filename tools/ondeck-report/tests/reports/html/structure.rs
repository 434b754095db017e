//! Sections, figures and names of the page, and that it fetches nothing.

use base64::prelude::{BASE64_STANDARD, Engine};
use ondeck_lab::results::{Evidence, Report};
use sha2::{Digest, Sha256};

use super::rendered;
use crate::support::sample;

#[test]
fn simulated_numbers_are_marked() {
    let html = rendered(&Report { evidence: Evidence::Simulated, ..sample() });
    assert!(html.contains(">simulated<"));
    assert!(!html.contains(">measured<"));
}

#[test]
fn nothing_is_fetched() {
    let html = rendered(&sample());
    let html = html.replace("http://www.w3.org/2000/svg", "");
    for word in [
        "http://",
        "https://",
        "src=",
        "@import",
        "url(",
        "<script ",
        "<iframe",
        "<object",
        "fetch(",
        "import(",
        "XMLHttpRequest",
    ] {
        assert!(!html.contains(word), "{word} is on the page");
    }
    assert_eq!(html.matches("<script>").count(), 1, "the page's own script and no other");
    let script = BASE64_STANDARD.encode(Sha256::digest(include_str!("../../../src/html/page.js")));
    assert!(html.contains(&format!("script-src 'sha256-{script}'")), "it is {script}");
    for link in html.split("href=\"").skip(1) {
        assert!(link.starts_with('#') || link.starts_with("data:,"), "{link:.60}");
    }
}

#[test]
fn names_are_text_and_not_markup() {
    const EVIL: &str = "<script>alert(\"1\" & '2')</script>";
    let mut report = sample();
    report.machine.cpu = EVIL.to_owned();
    report.settings.command = format!("ondeck --name '{EVIL}' </code></pre>");
    for series in &mut report.series {
        if series.lock == "nsync" {
            series.lock = EVIL.to_owned();
            series.params.insert(EVIL.to_owned(), EVIL.to_owned());
        }
    }
    let mut odd = report.series[0].clone();
    odd.workload = EVIL.to_owned();
    odd.metrics[0].name = EVIL.to_owned();
    odd.metrics[0].unit = EVIL.into();
    report.series.push(odd);
    report.costs[0].operation = EVIL.to_owned();
    report.costs[0].group = EVIL.into();
    report.costs[1].refused = Some(EVIL.to_owned());
    report.locks[0].source = EVIL.to_owned();
    report.warnings[0].code = EVIL.to_owned();
    report.failures[0].thread_states.push(EVIL.to_owned());
    let html = rendered(&report);
    assert!(!html.contains("<script>alert"));
    assert!(html.contains("&lt;script&gt;"));
}
