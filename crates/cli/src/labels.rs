//! What goes with the points: labels from another file, columns for the output, names for the picture.

use crate::dropped_rows::Kept;
use clap::Args;
use eigenfold::{
    Error, Result, io,
    io::{Carried, Labels, ReadOptions},
};
use std::path::Path;

/// The flags.
#[derive(Debug, Default, Args)]
pub(crate) struct Carry {
    /// Labels from another file, in row order
    ///
    /// FILE has one column, or FILE:COLUMN names one.
    #[arg(long, value_name = "FILE[:COLUMN]", conflicts_with = "label")]
    pub(crate) labels: Option<String>,
    /// Columns that are not data and are copied into -o, such as id,species
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) keep: Vec<String>,
    /// Names to write beside the points, where they fit
    ///
    /// A column, or a file as for --labels.
    #[arg(long, value_name = "COLUMN|FILE[:COLUMN]")]
    pub(crate) names: Option<String>,
}

/// What goes with the points.
#[derive(Default)]
pub(crate) struct Along {
    /// What colors them.
    pub(crate) labels: Option<Labeled>,
    /// What goes into the output.
    pub(crate) kept: Vec<Carried>,
    /// What they are called in a picture.
    pub(crate) names: Option<Vec<String>>,
}

/// Labels, and what they are called.
#[derive(Clone)]
pub(crate) struct Labeled {
    pub(crate) title: String,
    pub(crate) labels: Labels,
}

impl Carry {
    /// The files that are read.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Path> {
        self.labels.as_deref().into_iter().chain(self.file_of_names()).map(|flag| Path::new(split(flag).0))
    }

    /// Names that are not in a column of the input.
    fn file_of_names(&self) -> Option<&str> {
        self.names.as_deref().filter(|flag| Path::new(split(flag).0).is_file())
    }

    /// The columns to be read.
    pub(crate) fn columns(&self) -> Vec<String> {
        let names = self.names.iter().filter(|_| self.file_of_names().is_none());
        self.keep.iter().chain(names).cloned().collect()
    }

    /// What goes with `rows` points, of which the input itself has these labels (and calls them so) and these columns.
    pub(crate) fn along(
        &self,
        own: Option<Labels>,
        title: Option<&str>,
        mut kept: Vec<Carried>,
        rows: usize,
    ) -> Result<Along> {
        let names = match (self.file_of_names(), &self.names) {
            (Some(flag), _) => Some(column_in(flag, rows, "names")?),
            // It was flag for last.
            (None, Some(_)) => kept.pop(),
            (None, None) => None,
        };
        let names = names.map(|column| (0..rows).map(|i| column.cells.text(i)).collect());
        for (at, column) in kept.iter().enumerate() {
            let name = &column.name;
            let coordinate = name.strip_prefix('y').is_some_and(|number| number.parse::<u32>().is_ok());
            if coordinate || name == CHUNK || kept[..at].iter().any(|other| other.name == *name) {
                let fact = format!("--keep {name} would be in the output twice");
                return Err(Error::parameter("keep", fact, "keep another column, or rename it"));
            }
        }
        let title = title.unwrap_or("label").to_string();
        let labels = match &self.labels {
            Some(flag) => Some(labels_in(flag, rows)?),
            None => own.map(|labels| Labeled { title, labels }),
        };
        Ok(Along { labels, kept, names })
    }
}

/// The column that says which component of the graph a row is in.
pub(crate) const CHUNK: &str = "component";

impl Along {
    /// The same with the labels and names of the rows that were kept; what goes into the output stays for all.
    pub(crate) fn of_rows(self, kept: Option<&Kept>) -> Along {
        let Some(kept) = kept else { return self };
        let labels = self.labels.map(|Labeled { title, labels }| Labeled { title, labels: kept.labels(labels) });
        let names = self.names.map(|names| kept.rows.iter().map(|&i| names[i].clone()).collect());
        Along { labels, names, kept: self.kept }
    }

    /// What is said about labels that are missing.
    pub(crate) fn note(&self) -> Option<String> {
        let Labeled { title, labels } = self.labels.as_ref()?;
        let (missing, all) = (labels.missing(), labels.len());
        (missing > 0).then(|| format!("{missing} of {all} rows have no label in {title:?}"))
    }
}

/// `FILE` and `COLUMN` of `FILE:COLUMN`; a file whose own name has a colon goes first.
fn split(flag: &str) -> (&str, Option<&str>) {
    let there = |file: &str| Path::new(file).exists() || ["-", "digits", "iris"].contains(&file);
    if there(flag) {
        return (flag, None);
    }
    let splits = flag.match_indices(':').map(|(at, _)| (&flag[..at], &flag[at + 1..]));
    let found = splits.rev().find(|(file, _)| there(file));
    found.map_or((flag, None), |(file, column)| (file, Some(column)))
}

/// The columns that `FILE`, `FILE:COLUMN` or, of an archive of arrays, `FILE:ARRAY` names.
fn columns_in(flag: &str, header: Option<bool>) -> Result<Vec<Carried>> {
    let (file, column) = split(flag);
    let keep: Vec<String> = column.into_iter().map(String::from).collect();
    let by_column = || io::read_kept(file, &ReadOptions { keep: keep.clone(), header, ..Default::default() });
    match column {
        Some(_) if file.ends_with(".npz") => {
            // Of an archive of one array the column may be meant.
            io::read_kept(flag, &ReadOptions::default()).or_else(|fact| by_column().map_err(|_| fact))
        }
        _ => by_column(),
    }
}

/// The column of a file that holds a cell for each of `rows` points; `what` the cells are.
fn column_in(flag: &str, rows: usize, what: &str) -> Result<Carried> {
    let file = split(flag).0;
    let read = |header: Option<bool>| columns_in(flag, header);
    let mut columns = read(None)?;
    let count = |columns: &[Carried]| columns.first().map_or(0, |column| column.cells.len());
    // One row too few or too many: the first one was taken for names, or was not. The number of points decides.
    let found = count(&columns);
    if file != "-" && (found + 1 == rows || found == rows + 1) {
        let otherwise = read(Some(found == rows + 1)).unwrap_or_default();
        if count(&otherwise) == rows {
            columns = otherwise;
        }
    }
    let found = count(&columns);
    if found != rows {
        let fact = format!("it has {found} {what} for {rows} points");
        let way_out = "give one for every row of the input, in the same order, NA where there is none";
        return Err(Error::format(file, fact, way_out));
    }
    columns.into_iter().next().ok_or_else(|| Error::format(file, "it has no column", "name another file"))
}

/// The labels that a file holds for `rows` points.
fn labels_in(flag: &str, rows: usize) -> Result<Labeled> {
    let Carried { name, cells } = column_in(flag, rows, "labels")?;
    let labels = Labels::from_cells(&cells).ok_or_else(|| {
        let fact = format!("no row has a label in column {name:?}");
        Error::format(split(flag).0, fact, "name another column")
    })?;
    // What a column without a name is called.
    let title = if name == "column1" { "label".into() } else { name };
    Ok(Labeled { title, labels })
}
