//! Marks of values that were fitted, so that the numbers they were fitted to are not taken for predictions.

/// The published numbers to which a value was fitted.
///
/// A machine has the marks of its bases, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The table, as the validation calls it.
    pub table: String,
    /// The machine file of those numbers, where it is not each file that has the value.
    pub machine: Option<String>,
    /// The locks: beginnings of their names in the table.
    pub locks: Vec<String>,
    /// The numbers of threads; all if there is none.
    pub threads: Vec<u32>,
}

impl Fitted {
    /// Whether the value was fitted to that lock's number with `threads` threads, in that table, of that machine file.
    pub fn covers(&self, table: &str, machine: &str, lock: &str, threads: u32) -> bool {
        self.table == table
            && self.machine.as_deref().is_none_or(|it| it == machine)
            && self.locks.iter().any(|it| lock.starts_with(it.as_str()))
            && (self.threads.is_empty() || self.threads.contains(&threads))
    }
}
