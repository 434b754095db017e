//! The answer for a terminal.

use std::fmt::Write;

use ondeck_lab::results::Unit;
use ondeck_lab::sample::{CPU_PER_OP, LONGEST_GAP, PAIR, SHARE};
use ondeck_report::compared::{factor, in_unit};
use ondeck_text::numbers::terminal::time;

use super::answer::{Advice, Choice, MeasuredBy, Remark, Versus};
use super::rules::Effect;

/// As wide as the tables.
const COLUMNS: usize = 80;

/// The number of locks that are described; the JSON has all.
const BEST: usize = 3;

impl Advice {
    /// The answer in lines of at most 80 columns.
    pub fn text(&self) -> String {
        let mut text = String::new();
        _ = writeln!(text, "{}", wrapped("", "", &self.situation.to_string()));
        if !self.assumed.is_empty() {
            let assumed = format!("taken for granted: {}", self.assumed.join(" "));
            _ = writeln!(text, "{}", wrapped("", "  ", &assumed));
        }
        _ = writeln!(text, "\n{}", wrapped("", "  ", &self.headline()));
        for (index, choice) in self.ranking.iter().take(BEST).enumerate() {
            _ = writeln!(text, "\n{}", self.choice(index, choice));
        }
        list("out of the question", &self.excluded_lines(), &mut text);
        list("to know", &self.known_lines(), &mut text);
        // Only sources that the shown text cites.
        let shown = self.sources.iter().filter(|(word, _)| text.contains(&format!("[{word}]")));
        let sources = shown.map(|(word, source)| {
            format!("[{word}] {}, {}: {}", source.author, source.title, source.measured)
        });
        let sources: Vec<String> = sources.collect();
        list("sources", &sources, &mut text);
        text
    }

    fn headline(&self) -> String {
        let answer = &self.answer;
        match &answer.lock {
            None => format!("advice: none; {}", answer.why),
            Some(lock) if answer.known => format!("advice: {lock}; {}", answer.why),
            Some(_) => {
                format!("advice: not known, {}; {}", answer.alike.join(" or "), answer.why)
            }
        }
    }

    fn choice(&self, index: usize, choice: &Choice) -> String {
        let bytes = match choice.context_bytes {
            0 => format!("{} bytes", choice.bytes),
            more => format!("{} bytes, {more} more for each thread", choice.bytes),
        };
        let mut lines =
            vec![format!("{}  {}  {bytes}", index + 1, choice.lock).replace(" 1 bytes", " 1 byte")];
        if let Some(measured) = &self.measured {
            let words = figures(measured, choice);
            lines.push(wrapped("   ", "     ", &format!("measured: {words}")));
        }
        for reason in &choice.reasons {
            let sign = match reason.effect {
                Effect::Prefer => "for",
                Effect::Warn | Effect::Exclude | Effect::Unknown => "against",
            };
            let words = format!("{sign}: {} [{}]", reason.reason, reason.source);
            lines.push(wrapped("   ", "     ", &words));
        }
        lines.join("\n")
    }

    fn excluded_lines(&self) -> Vec<String> {
        let line = |excluded: &super::Excluded| {
            let Remark { rule, reason, source, .. } = &excluded.rule;
            format!("{}: {reason} [{source}] ({rule})", excluded.locks.join(", "))
        };
        self.excluded.iter().map(line).collect()
    }

    fn known_lines(&self) -> Vec<String> {
        let warnings = self.warnings.iter();
        let mut lines: Vec<String> =
            warnings.map(|remark| format!("{} [{}]", remark.reason, remark.source)).collect();
        if let Some(measured) = &self.measured {
            lines.push(format!(
                "figures are medians of {}; intervals are at {} %, so that all pairs of locks \
                 together hold at 95; a difference below {:.0} % is not worth a choice",
                measured.by,
                (measured.confidence * 10.0).round() / 10.0,
                measured.least * 100.0
            ));
            lines.extend(measured.warnings.iter().cloned());
            for (lock, what) in &measured.failures {
                lines.push(format!("{lock} could not be measured: {what}"));
            }
        }
        lines
    }
}

fn list(heading: &str, lines: &[String], text: &mut String) {
    if lines.is_empty() {
        return;
    }
    _ = writeln!(text, "\n{heading}");
    for line in lines {
        _ = writeln!(text, "{}", wrapped("  ", "    ", line));
    }
}

/// The format of a figure.
type Shown = fn(f64) -> String;

fn figures(measured: &MeasuredBy, choice: &Choice) -> String {
    let Some(median) = choice.figures.get(&measured.metric) else {
        return format!("no {} of it", measured.metric);
    };
    let mut words = vec![format!("{}{}", in_unit(*median, &measured.unit), per(measured))];
    if let Some(Versus { than, ratio, interval, p, differs }) = &choice.against {
        let p = if *p < 0.001 { "p<.001".to_owned() } else { format!("p={p:.3}") };
        let interval = interval
            .map_or(String::new(), |(low, high)| format!(" ({}-{})", factor(low), factor(high)));
        let told = if *differs { "" } else { ", not told apart" };
        words.push(format!("{} times as good as {than}{interval}, {p}{told}", factor(*ratio)));
    }
    let others: [(&str, Shown); 3] = [
        (CPU_PER_OP.name, |nanos| format!("{} of CPU a pair", time(nanos))),
        (SHARE.name, |share| format!("share of the least served {share:.2}")),
        (LONGEST_GAP.name, |millis| format!("longest without it {}", time(millis * 1e6))),
    ];
    for (metric, shown) in others.iter().filter(|(metric, _)| *metric != measured.metric) {
        if let Some(median) = choice.figures.get(*metric) {
            words.push(shown(*median));
        }
    }
    words.push(format!("n={}", choice.rounds));
    words.join("; ")
}

fn per(measured: &MeasuredBy) -> &'static str {
    match measured.metric.as_str() {
        _ if measured.unit == Unit::PerSecond.word() => " pairs/s",
        metric if metric == PAIR.name => " a pair",
        metric if metric == CPU_PER_OP.name => " of CPU a pair",
        _ => "",
    }
}

fn wrapped(first: &str, rest: &str, text: &str) -> String {
    let options = textwrap::Options::new(COLUMNS).initial_indent(first).subsequent_indent(rest);
    textwrap::fill(text, options)
}
