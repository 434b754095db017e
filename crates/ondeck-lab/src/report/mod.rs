//! Reports made of [`Report`](crate::results::Report): tables for a terminal, JSON, CSV, HTML, Markdown.

pub mod comparison;
pub mod csv;
mod data;
pub mod html;
pub mod json;
pub mod jsonl;
pub mod markdown;
pub mod read;
pub mod table;
