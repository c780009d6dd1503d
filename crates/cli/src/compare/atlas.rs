//! The file that Embedding Atlas opens: the best map, the data, and the true neighbors of every row.

use super::Subject;
use eigenfold::{
    Error, Metric, Points, Result,
    compare::Outcome,
    io,
    io::{Carried, Lists},
};
use eigenfold_page::Near;
use std::path::Path;

/// What the file holds.
pub(super) struct Rows {
    columns: Vec<String>,
    points: Points,
    carried: Vec<Carried>,
    near: Near,
}

impl Rows {
    /// Writes it.
    pub(super) fn write(&self, name: &Path) -> Result<()> {
        let lists = Lists { k: self.near.k, ids: &self.near.ids, distances: &self.near.distances };
        io::write_atlas(name, &self.columns, &self.points, &self.carried, &lists)
    }
}

/// The rows of a comparison, with the first map that has two coordinates.
pub(super) fn rows(subject: &Subject, outcomes: &[Outcome], metric: Metric) -> Result<Rows> {
    let best = outcomes.iter().find(|one| one.model.as_ref().is_some_and(|model| model.embedding().cols() >= 2));
    let none = || Error::parameter("atlas", "--atlas needs an embedding in two dimensions", "use -d 2");
    let map = best.ok_or_else(none)?.map()?.ok_or_else(none)?;
    let (n, p) = (subject.points.rows(), subject.points.cols());
    let names: Vec<String> = subject.names.clone().unwrap_or_else(|| (1..=p).map(|j| format!("x{j}")).collect());
    let mut columns = vec!["projection_x".to_string(), "projection_y".into()];
    // A column of the data that has one of our names gets another.
    let taken = |name: &String| ["projection_x", "projection_y", "neighbors"].contains(&name.as_str());
    columns.extend(names.into_iter().map(|name| if taken(&name) { format!("{name}_of_data") } else { name }));
    let row = |i: usize| map.row(i)[..2].iter().chain(subject.points.row(i)).copied();
    let points = Points::new(n, p + 2, (0..n).flat_map(row).collect())?;
    let mut carried: Vec<Carried> = subject.along.kept.clone();
    carried.extend(subject.along.labels.as_ref().map(|labeled| labeled.labels.carried(&labeled.title)));
    carried.retain(|column| !columns.contains(&column.name) && column.name != "neighbors");
    Ok(Rows { columns, points, carried, near: Near::of(&subject.points, metric)? })
}
