//! A table's numbers as text.

use std::fmt;

use super::verdict::Verdict;

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}: {}\n  {}", self.name, self.source, self.note)?;
        if !self.missing.is_empty() {
            writeln!(out, "  Not in the zoo: {}", self.missing.join(", "))?;
        }
        let mut line = |words: [&str; 6]| {
            let [threads, lock, ours, published, simulated, error] = words;
            writeln!(
                out,
                "  {threads:>7}  {lock:<34} {ours:<20} {published:>12} {simulated:>12} {error:>7}"
            )
        };
        let mut series = "";
        for point in &self.points {
            if series != point.series {
                series = &point.series;
                line(["", "", "", "", "", ""])?;
                line(["", series, "", "", "", ""])?;
                let unit = self.unit.map_or(String::new(), |unit| format!(", {unit}"));
                let published = format!("published{unit}");
                line(["threads", "lock", "of the zoo", &published, "simulated", "error"])?;
            }
            let error = 100.0 * (point.simulated / point.published - 1.0);
            let error = match self.unit {
                _ if point.fitted => "fitted".into(),
                None => "order".into(),
                Some(_) => format!("{error:+.0}%"),
            };
            line([
                &point.threads.to_string(),
                point.lock,
                point.ours,
                &number(point.published),
                &number(point.simulated),
                &error,
            ])?;
        }
        Ok(())
    }
}

/// The number with at least three digits.
fn number(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.3}")
    }
}
