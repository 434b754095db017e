//! What fits under a limit of length: findings before tables, tables before details.

use std::fmt::Write as _;

/// How much a piece is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// What this is.
    Head,
    /// A line that says what came out.
    Finding,
    /// A table of what a workload is judged by.
    Table,
    /// Whatever else there is, folded up.
    Detail,
}

/// A part of the text, all of it or none.
#[derive(Clone, Debug)]
pub struct Piece {
    rank: Rank,
    name: String,
    text: String,
}

impl Piece {
    /// A part and what it is called where it is left out.
    pub fn new(rank: Rank, name: impl Into<String>, text: String) -> Self {
        Piece { rank, name: name.into(), text }
    }
}

/// The most parts named as left out.
const NAMED: usize = 8;

/// Characters that are kept for saying what was left out.
const NOTE: usize = 1_500;

/// The longest name of a part that is left out.
const NAME: usize = 120;

/// Joins the pieces in their order. Where that is longer than `limit`, pieces are taken rank by
/// rank while they fit, and the end says what was left out.
pub fn join(pieces: &[Piece], limit: usize) -> String {
    let length = |piece: &Piece| piece.text.chars().count();
    let whole: usize = pieces.iter().map(length).sum();
    let mut taken = vec![true; pieces.len()];
    if whole >= limit {
        taken.fill(false);
        let mut room = limit.saturating_sub(NOTE);
        for rank in [Rank::Head, Rank::Finding, Rank::Table, Rank::Detail] {
            for (piece, taken) in pieces.iter().zip(&mut taken) {
                if piece.rank == rank && length(piece) < room {
                    room -= length(piece);
                    *taken = true;
                }
            }
        }
    }
    let mut text = String::new();
    let mut left_out: Vec<&str> = Vec::new();
    for (piece, taken) in pieces.iter().zip(taken) {
        if taken {
            text.push_str(&piece.text);
        } else {
            left_out.push(&piece.name);
        }
    }
    if !left_out.is_empty() {
        let names: Vec<String> = left_out
            .iter()
            .take(NAMED)
            .map(|name| super::escape::prose(&name.chars().take(NAME).collect::<String>()))
            .collect();
        let more = match left_out.len() - names.len() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "\n_Left out, because GitHub takes no more than {limit} characters: {}{more}. The JSON \
             and HTML reports have everything._",
            names.join("; ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(rank: Rank, name: &str, length: usize) -> Piece {
        Piece::new(rank, name, name.repeat(length))
    }

    #[test]
    fn what_fits_is_left_alone() {
        let text = join(&[piece(Rank::Detail, "d", 10), piece(Rank::Head, "h", 10)], 100);
        assert_eq!(text, "ddddddddddhhhhhhhhhh");
    }

    #[test]
    fn details_go_first_and_are_named() {
        let pieces = [
            piece(Rank::Head, "h", 100),
            piece(Rank::Table, "t", 1_000),
            piece(Rank::Detail, "d", 3_000),
            piece(Rank::Table, "u", 1_000),
        ];
        let text = join(&pieces, 4_000);
        assert!(text.contains("hh") && text.contains("tt") && text.contains("uu"), "{text}");
        assert!(!text.contains("dd") && text.contains("4000 characters: d."), "{text}");
        assert!(text.chars().count() < 4_000);
    }
}
