//! The terms of `docs/glossary.md`: a report explains the ones that it uses.

use std::sync::LazyLock;

use ondeck_lab::workload;

/// By the place of the crate, because a path from this file would change with the file's own.
const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/glossary.md"));

/// The part of the page whose terms are metrics.
const METRICS: &str = "Metrics";

/// The part of the page about the inside of a mutex, of which reports do not speak. Its terms are common
/// words everywhere else.
const INSIDE: &str = "The mutex of this project";

/// A line of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The terms that the line defines, as they stand there.
    pub terms: Vec<&'static str>,
    /// The names of the metrics that it is about.
    pub metrics: Vec<String>,
    /// The definition, in Markdown.
    pub definition: &'static str,
}

static TERMS: LazyLock<Vec<Term>> = LazyLock::new(|| read(PAGE));

/// The lines of the page, except the terms that reports do not use.
fn read(page: &'static str) -> Vec<Term> {
    let mut part = "";
    let mut terms = Vec::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            part = heading;
        } else if part != INSIDE {
            terms.extend(term(line, part == METRICS));
        }
    }
    terms
}

/// `* **term, another (metric)**: Definition.`
fn term(line: &'static str, of_metrics: bool) -> Option<Term> {
    let (head, definition) = line.strip_prefix("* **")?.split_once("**: ")?;
    let (terms, named) = match head.split_once(" (") {
        Some((terms, named)) => (terms, Some(named.trim_end_matches(')'))),
        None => (head, None),
    };
    let terms: Vec<&str> = terms.split(", ").collect();
    let metrics = match (named, of_metrics) {
        (Some(named), _) => named.split(", ").map(str::to_owned).collect(),
        (None, true) => terms.iter().map(|term| term.replace(' ', "_")).collect(),
        (None, false) => Vec::new(),
    };
    Some(Term { terms, metrics, definition })
}

/// What a metric is; nothing if another program measured it.
pub fn metric(name: &str) -> Option<&'static str> {
    let term = TERMS.iter().find(|term| term.metrics.iter().any(|metric| metric == name))?;
    Some(term.definition)
}

/// The terms that a text uses, without the metrics of workloads.
pub fn used_in(text: &str) -> Vec<&'static Term> {
    let text = text.to_lowercase();
    let used = |term: &&Term| term.terms.iter().any(|term| has(&text, &term.to_lowercase()));
    let is_metric =
        |term: &&Term| term.metrics.iter().any(|name| workload::quantity(name).is_some());
    TERMS.iter().filter(|term| !is_metric(term)).filter(used).collect()
}

/// Whether the text has the term as a word, or as the plural of one.
fn has(text: &str, term: &str) -> bool {
    text.match_indices(term).any(|(place, _)| {
        let after = &text[place + term.len()..];
        let after = after.strip_prefix('s').unwrap_or(after);
        !text[..place].ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ondeck_lab::sample::QUANTITIES;
    use ondeck_lab::workload::WORKLOADS;

    #[test]
    fn every_metric_is_in_the_glossary() {
        let own = WORKLOADS.iter().flat_map(|workload| workload.quantities);
        let missing: Vec<_> = QUANTITIES
            .iter()
            .chain(own)
            .filter(|quantity| metric(quantity.name).is_none())
            .map(|quantity| quantity.name)
            .collect();
        assert_eq!(missing, [""; 0]);
    }

    #[test]
    fn a_line_is_read_with_its_terms_and_metrics() {
        let line = "* **switches, turns (one_switch, other)**: So `many`.";
        let read = term(line, false).expect("a term");
        assert_eq!((read.terms, read.definition), (vec!["switches", "turns"], "So `many`."));
        assert_eq!(read.metrics, ["one_switch", "other"]);
        assert_eq!(term("* **longest gap**: So.", true).expect("a term").metrics, ["longest_gap"]);
        assert_eq!(term("A sentence.", true), None);
    }

    #[test]
    fn terms_are_found_as_words() {
        let found = |text: &str| {
            used_in(text)
                .iter()
                .any(|term| term.terms == ["starvation"] || term.terms == ["convoy"])
        };
        assert!(found("a Convoy.") && found("two convoys") && found("starvation"));
        assert!(!found("convoying") && !found("preconvoy") && !found("a queue"));
        // What a term of the mutex means there is not what a report means.
        assert!(used_in("a mark, a record, a look").is_empty());
    }
}
