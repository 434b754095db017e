//! Rows of cells in columns, for a terminal.

use std::fmt::Write;

/// A table: a header, a rule below it, and rows.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The header, and then the rows.
    rows: Vec<Vec<Cell>>,
    /// The columns that are aligned to the right.
    right: Vec<usize>,
    /// Blanks after a column, besides the one between columns.
    padding: usize,
    colour: bool,
}

/// A cell of a [`Grid`].
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    bold: bool,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), bold: false }
    }
}

impl Cell {
    /// The same text, in bold where escape sequences are allowed.
    #[must_use]
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl Grid {
    /// A table without rows. `colour` allows escape sequences for a terminal.
    pub fn new<T: ToString>(header: &[T], colour: bool) -> Self {
        let header = header.iter().map(|name| name.to_string().into()).collect();
        Self { rows: vec![header], right: Vec::new(), padding: 1, colour }
    }

    /// Adds a row, which may be shorter than the header.
    pub fn add_row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Aligns columns of numbers to the right.
    pub fn right_align(&mut self, columns: &[usize]) {
        self.right.extend(columns);
    }

    /// Puts columns closer together.
    pub fn narrow(&mut self) {
        self.padding = 0;
    }

    /// The lines, without blanks at their ends and without a newline after the last one.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            // An empty column is one character wide.
            cells.map(Cell::width).max().unwrap_or(0).max(1)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut lines: Vec<String> = self.rows.iter().map(|row| self.line(row, &widths)).collect();
        let whole: usize = widths.iter().map(|width| width + self.padding + 1).sum();
        lines.insert(1, "─".repeat(whole.saturating_sub(1)));
        lines.join("\n")
    }

    fn line(&self, row: &[Cell], widths: &[usize]) -> String {
        let mut line = String::new();
        let padding = " ".repeat(self.padding);
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let blank = " ".repeat(width - cell.width());
            let (before, after) =
                if self.right.contains(&column) { (&*blank, "") } else { ("", &*blank) };
            let (on, off) =
                if cell.bold && self.colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
            _ = write!(line, "{on}{before}{}{after}{padding}{off} ", cell.text);
        }
        line.truncate(line.trim_end().len());
        line
    }
}
