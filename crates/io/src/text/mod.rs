//! Text tables: delimiters, header detection, quotes, and the marks of missing cells.

pub(crate) mod csv;
pub(crate) mod dialect;
mod header;
mod marks;
pub(crate) mod quotes;
