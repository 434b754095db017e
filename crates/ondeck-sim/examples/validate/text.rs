//! A validation as text.

use std::fmt;

use super::{Validation, Verdict};

impl fmt::Display for Validation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for verdict in &self.verdicts {
            points(verdict, out)?;
            crossings(verdict, out)?;
        }
        summary(&self.verdicts, out)
    }
}

fn points(verdict: &Verdict, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(out, "{}: {}", verdict.name, verdict.source)?;
    writeln!(out, "  {}", verdict.note)?;
    if !verdict.missing.is_empty() {
        writeln!(out, "  Not in the zoo: {}", verdict.missing.join(", "))?;
    }
    let mut series = "";
    for point in &verdict.points {
        if series != point.series {
            series = &point.series;
            writeln!(out, "\n  {series}")?;
            let unit =
                if verdict.unit.is_empty() { String::new() } else { format!(", {}", verdict.unit) };
            writeln!(
                out,
                "  {:>7}  {:<34} {:<20} {:>12} {:>12} {:>7}",
                "threads",
                "lock",
                "of the zoo",
                format!("published{unit}"),
                "simulated",
                "error"
            )?;
        }
        let error = if point.fitted {
            "fitted".into()
        } else if verdict.order_only {
            "order".into()
        } else {
            format!("{:+.0}%", 100.0 * point.error())
        };
        writeln!(
            out,
            "  {:>7}  {:<34} {:<20} {:>12} {:>12} {:>7}",
            point.threads,
            point.lock,
            point.ours,
            number(point.published),
            number(point.simulated),
            error
        )?;
    }
    writeln!(out)
}

fn crossings(verdict: &Verdict, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    if verdict.crossings.is_empty() {
        return Ok(());
    }
    writeln!(out, "  Where one lock gets cheaper than another, and stays so")?;
    for crossing in &verdict.crossings {
        let place = |place: Option<(f64, f64)>| {
            place.map_or("nowhere".into(), |(from, to)| format!("from {from} to {to}"))
        };
        writeln!(
            out,
            "  {}: {} than {}: published {}, simulated {}",
            crossing.series,
            crossing.lock,
            crossing.other,
            place(crossing.published),
            place(crossing.simulated)
        )?;
    }
    writeln!(out)
}

fn summary(verdicts: &[Verdict], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(
        out,
        "{:<17} {:<33} {:>7} {:>13} {:>11} {:>9} {:>22}",
        "table", "by", "numbers", "median factor", "90 % within", "all ranks", "ranks of locks"
    )?;
    for verdict in verdicts {
        for (by, figures) in verdict.lines() {
            let [factor, ninetieth, points, locks] = figures.words();
            let groups = figures.rank_of_locks.map_or(0, |(_, groups)| groups);
            writeln!(
                out,
                "{:<17} {by:<33} {:>7} {factor:>13} {ninetieth:>11} {points:>9} {:>22}",
                verdict.name,
                figures.numbers,
                if groups > 0 { format!("{locks} ({groups} groups)") } else { locks },
            )?;
        }
    }
    Ok(())
}

/// Three digits at least.
fn number(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.3}")
    }
}
