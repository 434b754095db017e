//! Reports made of [`Report`](crate::results::Report): tables for a terminal, JSON, CSV, HTML.

pub mod csv;
pub mod html;
pub mod json;
pub mod table;
