//! Processes the laboratory's documents.
//!
//! A [`Report`](ondeck_lab::results::Report) is read, compared with another,
//! judged in words, and written: tables for a terminal, JSON, CSV, HTML. Everything here is a
//! function of documents, and nothing measures, so a report from another machine can become a page.
//!
//! ```text
//! JSON ─► read ─► Report
//!                   │
//!                   ├─► compare      ratios with their intervals, two reports or two locks
//!                   ├─► answer       how many times as fast as std, by kind of situation
//!                   ├─► verdict      which lock leads in each situation
//!                   ├─► like         the tables of three articles beside the report's
//!                   ▼
//!                   ├─► table        for a terminal
//!                   ├─► html         a page: figures, tables, a script
//!                   └─► json, csv
//! ```

pub mod answer;
pub mod compare;
pub mod compared;
pub mod comparison;
pub mod csv;
mod data;
mod glossary;
pub mod html;
pub mod json;
#[cfg(test)]
mod made;
pub mod program;
pub mod read;
pub mod table;
pub mod verdict;
