//! Writes what every command shows: numbers, names of functions, tables, and the frame of a page.
//!
//! | module | what |
//! |---|---|
//! | [`numbers`] | a value gets its unit and its digits |
//! | [`functions`] | short names of functions |
//! | [`grid`] | a table for a terminal |
//! | [`frame`] | the head of all pages; a page without scripts |
//! | [`ink`] | the colours of pages |

pub mod frame;
pub mod functions;
pub mod grid;
pub mod ink;
pub mod numbers;
