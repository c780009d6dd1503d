//! Graphs as edge lists: one edge per row, `i,j,length`, points counted from 0.

use crate::write::{Column, Outgoing};
use crate::{ReadOptions, check_memory, format_error, is_standard};
use eigenfold_graph::Graph;
use eigenfold_linalg::error::{Error, Result};
use std::path::Path;

/// Points beyond the edges' ends cost memory, so a graph may name at most this many points an edge (plus a thousand).
const SPARSEST: usize = 1000;

/// The bytes that a point and the two ends of an edge take while a graph is made.
const POINT: u64 = 48;
const EDGE: u64 = 64;

/// Reads an undirected graph from an edge list, `i,j,length` or `i,j` (length 1), in any format of [`crate::read`].
///
/// Points count from 0, and there are as many as the largest index says. A row gives both directions; an edge that
/// is named twice keeps its shorter length. A header is detected, and the delimiter too, unless `options` say. A fourth column is passed over
/// if its name is `weight`: such are the files of [`crate::write_weights`]. With the graph comes what was guessed about the
/// file, as [`Table::notes`](super::Table).
///
/// # Errors
///
/// If the file cannot be read or has other than two or three columns, if an index is not a whole number, if an edge
/// joins a point to itself, if a length is negative or not finite, or if the points need more memory than there is.
pub fn read_graph(source: impl AsRef<Path>, options: &ReadOptions) -> Result<(Graph, Vec<String>)> {
    read_edges(source.as_ref(), options, None)
}

/// Reads the neighbors of `n` points from an edge list, `i,j,length`, in any format of [`crate::read`]: each row gives point i
/// the neighbor j, and not the other way round. The lists are sorted by length. All else is as in [`read_graph`], of whose
/// files those of [`write_graph`] are.
///
/// # Errors
///
/// As [`read_graph`]; also if the lengths are left out, or if a row names a point beyond `n`.
pub fn read_neighbors(source: impl AsRef<Path>, n: usize, options: &ReadOptions) -> Result<(Graph, Vec<String>)> {
    read_edges(source.as_ref(), options, Some(n))
}

/// An edge list: that of the neighbors of so many points, or else of a graph.
fn read_edges(source: &Path, options: &ReadOptions, directed: Option<usize>) -> Result<(Graph, Vec<String>)> {
    let path = if is_standard(source) { Path::new("standard input") } else { source };
    let table = crate::read(source, &ReadOptions { missing: false, like: None, ..options.clone() })?;
    let fitted = |names: &[String]| names.len() == 4 && names[3] == "weight";
    let most = if table.columns.as_deref().is_some_and(fitted) { 4 } else { 3 };
    let (least, columns) = if directed.is_some() { (3, "i,j,length") } else { (2, "i,j,length or i,j") };
    let edges = table.points;
    if !(least..=most).contains(&edges.cols()) {
        let cols = edges.cols();
        return Err(format_error(path, format!("an edge list has {cols} columns"), format!("give {columns}")));
    }
    let named = count_points(path, edges.values(), edges.cols())?;
    let n = directed.unwrap_or(named);
    if named > n {
        return Err(beyond(path, edges.values(), edges.cols(), n));
    }
    let held = 8 * edges.values().len() as u64;
    check_memory(path, held + POINT * n as u64 + EDGE * edges.rows() as u64, options.memory)?;
    let mut lists = vec![Vec::new(); n];
    for (row, edge) in edges.values().chunks_exact(edges.cols()).enumerate() {
        let (i, j, length) = (edge[0] as usize, edge[1] as usize, edge.get(2).copied().unwrap_or(1.0));
        if i == j {
            let fact = format!("row {} joins point {i} to itself", row + 1);
            return Err(format_error(path, fact, "remove the row").at_row(row));
        }
        if length < 0.0 {
            let fact = format!("row {} has the length {length}", row + 1);
            return Err(format_error(path, fact, "lengths are not negative").at_row(row));
        }
        lists[i].push((j as u32, length));
        if directed.is_none() {
            lists[j].push((i as u32, length));
        }
    }
    let graph = Graph::from_lists(lists).map_err(|error| error.in_file(path))?;
    Ok((graph, table.notes))
}

/// The error of the first row that names a point beyond n.
fn beyond(path: &Path, edges: &[f64], cols: usize, n: usize) -> Error {
    let rows = edges.chunks_exact(cols).enumerate();
    let mut ends = rows.flat_map(|(row, edge)| edge[..2].iter().map(move |&index| (row, index)));
    let (row, index) = ends.find(|&(_, index)| index >= n as f64).unwrap_or_default();
    let fact = format!("row {} names point {index}, and there are {n} points", row + 1);
    format_error(path, fact, format!("number the points from 0 to {}", n.saturating_sub(1))).at_row(row)
}

/// One more than the largest index, after a check of every index.
fn count_points(path: &Path, edges: &[f64], cols: usize) -> Result<usize> {
    let mut n = 0;
    for (row, edge) in edges.chunks_exact(cols).enumerate() {
        for &index in &edge[..2] {
            if index < 0.0 || index.fract() != 0.0 || index >= f64::from(u32::MAX) {
                let fact = format!("row {} has the index {index}", row + 1);
                return Err(format_error(path, fact, "points are numbered by integers from 0").at_row(row));
            }
            n = n.max(index as usize + 1);
        }
    }
    let rows = edges.len() / cols;
    if n > SPARSEST * (rows + 1) {
        let fact = format!("{rows} edges name points up to {}", n - 1);
        return Err(format_error(path, fact, "number the points from 0 without gaps"));
    }
    Ok(n)
}

/// Writes every directed edge of a graph as `i,j,length`, points counted from 0, in the format that the extension names;
/// `-` is CSV on standard output.
///
/// # Errors
///
/// If the extension is unknown or the system refuses; no partial file is left behind.
pub fn write_graph(target: impl AsRef<Path>, graph: &Graph) -> Result<()> {
    let from: Vec<u32> = (0..graph.len()).flat_map(|i| graph.neighbors(i).iter().map(move |_| i as u32)).collect();
    let to: Vec<u32> = (0..graph.len()).flat_map(|i| graph.neighbors(i)).copied().collect();
    let columns = vec![
        ("i", Column::Indices(&from)),
        ("j", Column::Indices(&to)),
        ("length", Column::Numbers(graph.all_lengths())),
    ];
    Outgoing { rows: from.len(), columns }.write(target.as_ref())
}
