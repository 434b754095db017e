//! Published tables: comma-separated, with comments at their heads.

/// A row; columns are looked up by name.
#[derive(Debug)]
pub struct Row {
    columns: std::rc::Rc<Vec<&'static str>>,
    cells: Vec<&'static str>,
}

impl Row {
    /// The cell of that column.
    ///
    /// # Panics
    ///
    /// If the table does not have the column: the tables are compiled in.
    pub fn get(&self, column: &str) -> &'static str {
        let place = self.columns.iter().position(|name| *name == column);
        self.cells[place.unwrap_or_else(|| panic!("there is no column {column}"))]
    }

    /// The number in that column.
    ///
    /// # Panics
    ///
    /// If the cell is not a number.
    pub fn number(&self, column: &str) -> f64 {
        let text = self.get(column);
        text.parse().unwrap_or_else(|_| panic!("{column}: {text} is no number"))
    }
}

/// The rows of a table.
pub fn rows(text: &'static str) -> Vec<Row> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let columns = std::rc::Rc::new(lines.next().map(cells).unwrap_or_default());
    lines.map(|line| Row { columns: columns.clone(), cells: cells(line) }).collect()
}

/// The cells of a line. A cell in quotes may have commas.
fn cells(line: &'static str) -> Vec<&'static str> {
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        let (cell, after) = match rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            Some((cell, after)) => (cell, after),
            None => rest.split_at(rest.find(',').unwrap_or(rest.len())),
        };
        cells.push(cell);
        match after.strip_prefix(',') {
            Some(after) => rest = after,
            None => return cells,
        }
    }
}
