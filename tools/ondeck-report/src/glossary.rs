//! The definitions of metrics, from `docs/glossary.md`.

/// A link to the page, which a package of this crate has as a file.
const PAGE: &str = include_str!("glossary.md");

/// The definition of a metric, in Markdown; `None` for another program's metric.
///
/// A line is `* **term, another (metric, another)**: Definition.` Without the parentheses the terms
/// are the metrics.
pub fn metric(name: &str) -> Option<&'static str> {
    let (_, metrics) = PAGE.split_once("\n## Metrics\n")?;
    let metrics = metrics.split_once("\n## ").map_or(metrics, |(metrics, _)| metrics);
    metrics.lines().find_map(|line| {
        let (head, definition) = line.strip_prefix("* **")?.split_once("**: ")?;
        let names = head.split_once(" (").map_or(head, |(_, names)| names.trim_end_matches(')'));
        names.split(", ").any(|one| one.replace(' ', "_") == name).then_some(definition)
    })
}

#[cfg(test)]
mod tests {
    use super::metric;
    use ondeck_lab::sample::QUANTITIES;

    #[test]
    fn every_metric_is_in_the_glossary() {
        let all = QUANTITIES.iter().map(|quantity| quantity.name);
        assert_eq!(all.filter(|name| metric(name).is_none()).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(metric("speed"), None);
    }
}
