//! Text that comes from outside, as Markdown that shows it and does nothing else.

use std::fmt::Write as _;

/// Text between other text: no markup of it takes effect, and it calls no user of GitHub.
pub fn prose(text: &str) -> String {
    let mut out = String::new();
    for character in flat(text).chars() {
        match character {
            // GitHub looks for people and issues after the escapes are gone.
            '@' | '#' => {
                out.push('\\');
                out.push(character);
                out.push('\u{200b}');
            }
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' => {
                out.push('\\');
                out.push(character);
            }
            _ => out.push(character),
        }
    }
    out
}

/// A name or a command, as code; not for tables.
pub fn code(text: &str) -> String {
    let text = flat(text);
    if text.is_empty() {
        return String::new();
    }
    // The fence is longer than any run of backticks inside.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// The same in a table, where a bar ends the cell even in code.
pub fn code_in_table(text: &str) -> String {
    if text.contains('|') && text.contains('\\') {
        // A backslash before a bar belongs to the bar there, so that code cannot say `\|`.
        return prose(text);
    }
    code(text).replace('|', "\\|")
}

/// Text inside of an HTML element.
pub fn html(text: &str) -> String {
    let mut out = String::new();
    for character in flat(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Not yet past Markdown, which reads the contents of a line of HTML.
            '*' | '_' | '`' | '[' | ']' | '@' | '#' | '\\' | '~' | '$' | '|' => {
                // Writing into a String cannot fail.
                let _ = write!(out, "&#{};", u32::from(character));
                if matches!(character, '@' | '#') {
                    out.push('\u{200b}');
                }
            }
            _ => out.push(character),
        }
    }
    out
}

/// In one line, without characters that cannot be seen.
fn flat(text: &str) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_no_markup_and_calls_no_user() {
        let shown = prose("<b>*a_b*</b> | `x` [l](u)\n# @me \\");
        let wanted = "&lt;b&gt;\\*a\\_b\\*&lt;/b&gt; \\| \\`x\\` \\[l\\](u) \\#\u{200b} \
                      \\@\u{200b}me \\\\";
        assert_eq!(shown, wanted);
    }

    #[test]
    fn code_holds_backticks_and_bars() {
        for (text, alone, in_table) in [
            ("parking_lot", "`parking_lot`", "`parking_lot`"),
            ("a|b", "`a|b`", "`a\\|b`"),
            ("a``b", "```a``b```", "```a``b```"),
            ("`", "`` ` ``", "`` ` ``"),
            ("two\nlines", "`two lines`", "`two lines`"),
            ("", "", ""),
            ("a\\|b", "`a\\|b`", "a\\\\\\|b"),
        ] {
            assert_eq!((code(text), code_in_table(text)), (alone.to_owned(), in_table.to_owned()));
        }
    }
}
