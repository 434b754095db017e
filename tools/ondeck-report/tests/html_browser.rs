//! The HTML report in a real browser: with and without JavaScript, wide and narrow.
//!
//! Needs Chromium on the PATH or in `ONDECK_CHROMIUM`; without one the tests say so and pass,
//! unless `ONDECK_REQUIRE_CHROMIUM=1`.

#[path = "html_browser/actions.rs"]
mod actions;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ondeck_lab::results::Report;
use ondeck_report::html::render;

/// A loaded machine needs some seconds to start a browser. A time that is counted in polls does not
/// pass while test and browser are stopped.
const POLL: Duration = Duration::from_millis(20);
const POLLS: u32 = 6_000;

/// Runs at the end of a test-only copy of the page and leaves its findings in the title.
const PROBE: &str = r"
const root = document.documentElement;
const found = [];
const visible = (box) => box.width > 0 && box.height > 0;
let drawings = 0;
for (const svg of document.querySelectorAll('figure svg')) {
  const frame = svg.getBoundingClientRect();
  if (!visible(frame)) continue;
  drawings += 1;
  const figure = svg.closest('figure').id;
  const texts = [...svg.querySelectorAll('text')]
    .map((text) => [text.textContent.trim(), text.getBoundingClientRect()]);
  texts.forEach(([name, box], index) => {
    if (box.left < frame.left - 1 || box.right > frame.right + 1 ||
        box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      found.push(`${figure}: '${name}' is clipped`);
    for (const [other, that] of texts.slice(index + 1))
      // Line boxes are higher than letters: they may overlap by two pixels.
      if (box.left < that.right - 1 && that.left < box.right - 1 &&
          box.top < that.bottom - 2 && that.top < box.bottom - 2)
        found.push(`${figure}: '${name}' lies on '${other}'`);
  });
}
window.parent.document.title = JSON.stringify({
  page: root.scrollWidth, window: window.innerWidth, drawings,
  fetched: performance.getEntriesByType('resource').map((entry) => entry.name),
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  paper: getComputedStyle(document.body).backgroundColor,
  found,
});
";

fn sample() -> Report {
    serde_json::from_str(include_str!("data/sample-report.json")).expect("the sample is valid")
}

fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("ONDECK_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = named.into_iter().chain(std::env::split_paths(&path).flat_map(|directory| {
        ["chromium", "chromium-browser", "google-chrome"].map(|name| directory.join(name))
    }));
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        let required = std::env::var_os("ONDECK_REQUIRE_CHROMIUM").is_some_and(|set| set == "1");
        assert!(!required, "no Chromium found, and ONDECK_REQUIRE_CHROMIUM=1");
        println!("skipped: install Debian's chromium");
    }
    found
}

/// A browser's visit of a page: the document after loading, and the log.
struct Visit {
    dom: String,
    log: String,
}

fn visit(browser: &Path, html: &str, flags: &[&str]) -> Visit {
    let home = tempfile::tempdir().expect("a temporary directory");
    let page = home.path().join("report.html");
    std::fs::write(&page, html).expect("the page is written");
    let open = |name: &str| std::fs::File::create(home.path().join(name)).expect("a file");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--hide-scrollbars", "--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("--user-data-dir={}", home.path().join("profile").display()))
        .args(flags)
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(open("dom"))
        .stderr(open("log"))
        .spawn()
        .expect("the browser starts");
    let ended = (0..POLLS).find_map(|_| {
        std::thread::sleep(POLL);
        child.try_wait().expect("the browser can be waited for")
    });
    let Some(status) = ended else {
        // Only the browser that this test started.
        child.kill().expect("the browser can be stopped");
        child.wait().expect("the browser ends");
        panic!("the browser did not end within {:?}", POLL * POLLS);
    };
    let read = |name: &str| {
        let bytes = std::fs::read(home.path().join(name)).expect("what the browser wrote");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let visit = Visit { dom: read("dom"), log: read("log") };
    assert!(status.success(), "the browser failed: {}", visit.log);
    assert!(visit.dom.contains("</html>"), "the browser wrote no document: {}", visit.log);
    visit
}

/// The texts of the drawings of one figure, by the id of the figure.
fn texts_of<'a>(dom: &'a str, figure: &str) -> Vec<&'a str> {
    let start = dom.find(&format!("id=\"{figure}\"")).unwrap_or_else(|| panic!("no {figure}"));
    let figure = dom[start..].split("</figure>").next().unwrap_or_default();
    figure
        .split("<text ")
        .skip(1)
        .filter_map(|text| text.split_once('>')?.1.split("</text>").next())
        .map(str::trim)
        .collect()
}

fn assert_figures(dom: &str) {
    let throughput = "fig-throughput-throughput-empty-section-nothing-outside";
    for (figure, wanted) in [
        ("fig-uncontended-pair-process-single-threaded", ["ns", "0", "ondeck", "glibc"]),
        (throughput, ["100 M/s", "threads, logarithmic", "32", "2 CPUs"]),
        (
            "fig-throughput-cpu-per-op-empty-section-nothing-outside",
            ["time for one operation, logarithmic", "threads, logarithmic", "100 ns", "std"],
        ),
        (
            "fig-throughput-share-empty-section-nothing-outside",
            ["ratio", "0.8", "abseil", "ondeck"],
        ),
        (
            "fig-wait-distribution-16-threads",
            ["wait time, logarithmic", "median", "longest", "ondeck"],
        ),
        (
            "fig-idle-distribution-16-threads",
            ["idle time, logarithmic", "99 %", "longest", "nsync"],
        ),
    ] {
        let texts = texts_of(dom, figure);
        for text in wanted {
            assert!(texts.contains(&text), "{figure} has no text {text}: {texts:?}");
        }
    }
}

fn assert_quiet(visit: &Visit) {
    for line in visit.log.lines() {
        assert!(!line.contains("CONSOLE"), "the page wrote to the console: {line}");
    }
}

/// The page in a frame of another page: one without scripts, or one narrower than the browser's
/// least window.
fn framed(page: &str, frame: &str, script: &str) -> String {
    let inner = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><html><head><title>outer</title><style>body{{margin:0}}</style></head>\
         <body><iframe {frame} srcdoc=\"{inner}\"></iframe><script>{script}</script></body></html>"
    )
}

#[test]
fn figures_are_there_with_javascript_and_without() {
    let Some(browser) = chromium() else { return };
    let page = render(&sample());
    // No name resolves: a request would end as an error on the console.
    let with = visit(&browser, &page, &["--host-resolver-rules=MAP * ~NOTFOUND"]);
    assert_figures(&with.dom);
    assert_quiet(&with);
    // `--dump-dom` is a script itself, so the page is loaded in a frame without scripts, which
    // then takes the place of the page around it.
    let canary = with_script(&page, "document.title = 'scripts run'");
    let swap = "const frame = document.querySelector('iframe'); frame.onload = () => \
                { document.documentElement.innerHTML = \
                frame.contentDocument.documentElement.innerHTML; }";
    let without = visit(&browser, &framed(&canary, "sandbox=\"allow-same-origin\"", swap), &[]);
    assert!(without.dom.contains("<title>ondeck: locks on"), "{:.300}", without.dom);
    assert_figures(&without.dom);
}

/// A copy of the page with one more script at its end, which its own policy would not allow.
fn with_script(page: &str, script: &str) -> String {
    let (before, rest) = page.split_once("script-src 'sha256-").expect("a policy");
    let (_, after) = rest.split_once("';").expect("the policy goes on");
    let page = format!("{before}script-src 'unsafe-inline';{after}");
    page.replace("</body>", &format!("<script>{script}</script></body>"))
}

/// Loads a copy of the page with the probe, and returns its findings; in a frame of that width, or
/// in the window.
fn probe(browser: &Path, page: &str, width: Option<u64>, flags: &[&str]) -> serde_json::Value {
    let probed = with_script(page, PROBE);
    let probed = match width {
        Some(width) => {
            let style = format!("style=\"width:{width}px;height:900px;border:0\"");
            framed(&probed, &style, "")
        }
        None => probed,
    };
    let visit = visit(browser, &probed, flags);
    assert_quiet(&visit);
    findings(&visit)
}

/// The findings that a script left in the title.
fn findings(visit: &Visit) -> serde_json::Value {
    let title = visit.dom.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let title = title.expect("a title").0.replace("&amp;", "&").replace("&lt;", "<");
    serde_json::from_str(&title.replace("&gt;", ">")).expect("the probe's findings")
}

#[test]
fn labels_fit_on_a_phone_and_on_a_desk() {
    let Some(browser) = chromium() else { return };
    for report in [sample(), crowd()] {
        let page = render(&report);
        for width in [360, 800, 1200] {
            let look = || probe(&browser, &page, Some(width), &["--window-size=1300,900"]);
            let mut found = look();
            // On a busy machine a page was once looked at before its text had its place. What is
            // wrong is wrong again.
            if found["found"] != serde_json::json!([]) {
                found = look();
            }
            assert_eq!(found["window"], width, "{found}");
            assert!(found["page"].as_u64().is_some_and(|page| page <= width), "too wide: {found}");
            assert_eq!(found["fetched"], serde_json::json!([]), "{found}");
            assert!(found["drawings"].as_u64() > Some(10), "{found}");
            assert_eq!(found["found"], serde_json::json!([]), "{width}");
        }
    }
}

/// Thirty-two locks with long names, and workloads that the page does not know.
fn crowd() -> Report {
    let mut report = sample();
    let few: Vec<_> = report.series.drain(..).collect();
    for index in 0..32 {
        let name = format!("peer.a_family_of_locks_{index:02}");
        let model = ["glibc", "abseil", "ticket_spinlock", "spinlock_amd"][index % 4];
        for series in few.iter().filter(|series| series.lock == model) {
            let mut series = series.clone();
            series.lock.clone_from(&name);
            for metric in &mut series.metrics {
                metric.median *= 1.0 + index as f64 / 50.0;
            }
            if series.workload == "idle" {
                "bystander".clone_into(&mut series.workload);
            }
            report.series.push(series);
        }
    }
    report
}

#[test]
fn the_dark_theme_follows_the_system() {
    let Some(browser) = chromium() else { return };
    let page = render(&sample());
    let light = probe(&browser, &page, None, &["--blink-settings=preferredColorScheme=1"]);
    let dark = probe(&browser, &page, None, &["--blink-settings=preferredColorScheme=0"]);
    assert_eq!((&light["dark"], &dark["dark"]), (&false.into(), &true.into()));
    assert_ne!(light["paper"], dark["paper"]);
}
