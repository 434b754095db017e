//! What the page's own script does: sorting, choosing, values, saving, the theme.

use std::path::Path;

use super::{assert_quiet, chromium, findings, render, sample, visit, with_script};

const ACTIONS: &str = include_str!("actions.js");

/// Nothing fades, so that what is faded is so at once.
const STILL: [&str; 2] =
    ["--force-prefers-reduced-motion", "--blink-settings=preferredColorScheme=1"];

#[test]
fn a_reader_can_sort_choose_point_save_and_change_the_theme() {
    let Some(browser) = chromium() else { return };
    let page = with_script(&render(&sample()), ACTIONS);
    let visit = visit(&browser, &page, &STILL);
    assert_quiet(&visit);
    let found = findings(&visit);
    assert_eq!(found["wrong"], serde_json::json!([]));
    assert_eq!(found["fetched"], serde_json::json!([]));
}

/// What a reader finds on a page of which parts were replaced.
fn found_on(browser: &Path, changes: &[(&str, &str)]) -> String {
    let mut page = with_script(&render(&sample()), ACTIONS);
    for (right, wrong) in changes {
        assert!(page.contains(right), "{right} is not in the page");
        page = page.replace(right, wrong);
    }
    findings(&visit(browser, &page, &STILL))["wrong"].to_string()
}

#[test]
fn each_of_these_breaks_is_seen() {
    let Some(browser) = chromium() else { return };
    // Each spoils another part, so that one visit sees them all.
    let spoiled = [
        ("? a - b :", "? b - a :", "not ascending"),
        ("return { last: missing(a)", "return { order: missing(a)", "is not last"),
        ("say(tip.innerText", "void (tip.innerText", "the value is not said"),
        ("{visibility:hidden}", "{}", "is not hidden"),
        ("if (hide && row", "if (false && row", "leave gaps"),
        ("const WRITTEN = ['fill', ", "const WRITTEN = [", "no colour in"),
        ("dataset.theme = event.target.value", "dataset.theme = ''", "light rgb"),
    ];
    let found = found_on(&browser, &spoiled.map(|(right, wrong, _)| (right, wrong)));
    for (_, _, seen) in spoiled {
        assert!(found.contains(seen), "{seen} is not in {found}");
    }
    let cut = ("new XMLSerializer().serializeToString(copy)", "'<svg'");
    let found = found_on(&browser, &[cut, ("picked.add(lock)", "void 0")]);
    for seen in ["is no XML", "cannot be drawn", "another lock is not faded"] {
        assert!(found.contains(seen), "{seen} is not in {found}");
    }
}

#[test]
fn no_script_runs_but_the_page_s_own() {
    let Some(browser) = chromium() else { return };
    let page = render(&sample());
    let own = visit(&browser, &page, &[]);
    assert!(own.dom.contains("class=\"sorter\""), "the page's own script does not run");
    let changed = page.replace("'use strict';", "'use strict'; ");
    assert_ne!(changed, page);
    let visit = visit(&browser, &changed, &[]);
    assert!(!visit.dom.contains("class=\"sorter\""), "a changed script runs");
}
