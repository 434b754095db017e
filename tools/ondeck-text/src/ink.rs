//! The colours of pages in either theme, and the dashes and markers of lines.
//!
//! Drawings name inks by their number; the style sheet below gives each its colour in either theme.

use std::fmt::Write as _;

/// The page's own style sheet, without the colours.
pub const STYLE: &str = include_str!("style.css");

/// The number of colours. In a figure with more lines, the others are thin and grey until the
/// reader points at them.
pub const COLOURED: usize = 10;

/// The purpose of a stroke or a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// The page itself.
    Paper,
    /// Text that must be read.
    Text,
    /// Text that explains: ticks, axis titles.
    Muted,
    /// Grid lines.
    Grid,
    /// The line of the axis.
    Axis,
    /// Everything that belongs to no lock: a cost, a key.
    Plain,
    /// A line that has no colour.
    Faint,
    /// A lock, by its slot.
    Series(usize),
}

struct Tone {
    ink: Ink,
    light: [u8; 3],
    dark: [u8; 3],
    /// `stroke-dasharray` of its lines; empty for a solid line.
    dash: &'static str,
}

const fn tone(ink: Ink, light: [u8; 3], dark: [u8; 3], dash: &'static str) -> Tone {
    Tone { ink, light, dark, dash }
}

/// The series colours are Okabe and Ito's and Tol's, darkened or lightened for their background;
/// neighbours also differ in lightness, dash and marker.
const TONES: [Tone; 17] = [
    tone(Ink::Paper, [0xff, 0xff, 0xff], [0x15, 0x17, 0x1b], ""),
    tone(Ink::Text, [0x1b, 0x1e, 0x23], [0xe8, 0xea, 0xed], ""),
    tone(Ink::Muted, [0x5a, 0x60, 0x6b], [0xa4, 0xab, 0xb6], ""),
    tone(Ink::Grid, [0xe4, 0xe6, 0xea], [0x2d, 0x31, 0x38], ""),
    tone(Ink::Axis, [0x8d, 0x93, 0x9e], [0x6d, 0x74, 0x80], ""),
    tone(Ink::Plain, [0x6f, 0x7a, 0x8c], [0x8a, 0x95, 0xa6], ""),
    tone(Ink::Faint, [0x9f, 0xa5, 0xb0], [0x6b, 0x72, 0x7f], ""),
    tone(Ink::Series(0), [0x00, 0x72, 0xb2], [0x4d, 0xab, 0xf0], ""),
    tone(Ink::Series(1), [0xd5, 0x5e, 0x00], [0xff, 0x8a, 0x3c], ""),
    tone(Ink::Series(2), [0x00, 0x8f, 0x68], [0x2c, 0xc6, 0x9a], "7 3"),
    tone(Ink::Series(3), [0xaa, 0x44, 0x99], [0xf0, 0x8b, 0xd6], ""),
    tone(Ink::Series(4), [0xb8, 0x7d, 0x00], [0xf0, 0xbe, 0x4a], "7 3"),
    tone(Ink::Series(5), [0x3f, 0x9b, 0xd8], [0x9c, 0xd8, 0xff], "2 3"),
    tone(Ink::Series(6), [0x88, 0x22, 0x55], [0xb5, 0x7e, 0xdc], "9 3 2 3"),
    tone(Ink::Series(7), [0x11, 0x66, 0x33], [0x7f, 0xd0, 0x78], "2 3"),
    tone(Ink::Series(8), [0x3d, 0x42, 0x4b], [0xc9, 0xce, 0xd6], "9 3 2 3"),
    tone(Ink::Series(9), [0xcc, 0x66, 0x77], [0xff, 0xa0, 0xae], "4 2"),
];

impl Ink {
    /// Its number in drawings and in the style sheet.
    pub fn number(self) -> usize {
        let wanted = match self {
            Ink::Series(slot) => Ink::Series(slot % COLOURED),
            other => other,
        };
        TONES.iter().position(|tone| tone.ink == wanted).unwrap_or_default()
    }

    /// `stroke-dasharray` of its lines; empty for a solid line. Locks that share a colour differ in
    /// their dashes.
    pub fn dash(self) -> &'static str {
        const DASHES: [&str; 5] = ["", "7 3", "2 3", "9 3 2 3", "4 2"];
        let own = TONES[self.number()].dash;
        match self {
            Ink::Series(slot) if slot >= COLOURED => {
                let first = DASHES.iter().position(|dash| *dash == own).unwrap_or_default();
                DASHES[(first + slot / COLOURED) % DASHES.len()]
            }
            _ => own,
        }
    }

    /// Whether another lock has the same colour, so that an area must look different.
    pub fn shared(self) -> bool {
        matches!(self, Ink::Series(slot) if slot >= COLOURED)
    }

    /// The shape of its markers.
    pub fn shape(self) -> usize {
        match self {
            Ink::Series(slot) => slot + slot / COLOURED,
            _ => 0,
        }
    }
}

/// The rules that give drawings their colours in both themes.
pub fn css() -> String {
    let mut names = String::new();
    let mut rules = String::new();
    for (index, tone) in TONES.iter().enumerate() {
        let (light, dark) = (hex(tone.light), hex(tone.dark));
        // Writing into a String cannot fail.
        let _ = write!(names, "--ink{index}:light-dark({light},{dark});");
        // A quiet element sets `--quiet` to its substitute colour.
        let ink = match tone.ink {
            Ink::Series(_) => format!("var(--quiet,var(--ink{index}))"),
            _ => format!("var(--ink{index})"),
        };
        let _ = writeln!(rules, ".f{index}{{fill:{ink}}}.s{index}{{stroke:{ink}}}");
    }
    let faint = Ink::Faint.number();
    format!(":root{{{names}}}\n{rules}.quiet{{--quiet:var(--ink{faint})}}\n")
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_locks_are_told_apart_by_colour_and_dash() {
        let mut seen = std::collections::BTreeSet::new();
        for slot in 0..40 {
            let ink = Ink::Series(slot);
            assert!(seen.insert((ink.number(), ink.dash())), "slot {slot} looks like another");
        }
    }
}
