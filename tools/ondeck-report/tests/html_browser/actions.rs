//! The page's own script: sorting, choosing, values, saving, the theme.

use super::{assert_quiet, chromium, findings, render, sample, visit, with_script};

const ACTIONS: &str = include_str!("actions.js");

/// Disables transitions, so that fading takes effect at once.
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
