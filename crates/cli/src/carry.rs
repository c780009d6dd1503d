//! What goes with the points: labels from another file, columns for the output, names for the picture.

use clap::Args;
use eigenfold::error::{Error, Result};
use eigenfold::io::{self, Carried, Labels, ReadOptions};
use std::path::Path;

/// The flags.
#[derive(Debug, Default, Args)]
pub(crate) struct Carry {
    /// Labels from another file, one for every row of INPUT, in the same order: a file with one column, or FILE:COLUMN
    #[arg(long, value_name = "FILE[:COLUMN]", conflicts_with = "label")]
    pub(crate) labels: Option<String>,
    /// A column that is no data and goes into the output of -o beside the coordinates, such as an id; may be repeated, or be a
    /// list: id,species
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) keep: Vec<String>,
    /// The column of the points' names, which is no data: --plot writes them beside the points, where they fit
    #[arg(long, value_name = "COLUMN")]
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
pub(crate) struct Labeled {
    pub(crate) title: String,
    pub(crate) labels: Labels,
}

impl Carry {
    /// The files that are read, to be told from those that are written.
    pub(crate) fn inputs(&self) -> Option<&str> {
        self.labels.as_deref().map(|asked| split(asked).0)
    }

    /// The columns to be read.
    pub(crate) fn columns(&self) -> Vec<String> {
        self.keep.iter().chain(&self.names).cloned().collect()
    }

    /// What goes with `rows` points, of which the input itself has these labels (and calls them so) and these columns.
    pub(crate) fn along(
        &self,
        own: Option<Labels>,
        title: Option<&str>,
        mut kept: Vec<Carried>,
        rows: usize,
    ) -> Result<Along> {
        // Asked for last.
        let names = self.names.as_ref().and_then(|_| kept.pop());
        let names = names.map(|column| (0..rows).map(|i| column.cells.text(i)).collect());
        for (at, column) in kept.iter().enumerate() {
            let name = &column.name;
            let coordinate = name.strip_prefix('y').is_some_and(|number| number.parse::<u32>().is_ok());
            if coordinate || name == PIECE || kept[..at].iter().any(|other| other.name == *name) {
                let fact = format!("--keep {name} would be in the output twice");
                return Err(Error::Parameter(format!("{fact}; keep another column, or call it otherwise")));
            }
        }
        let title = title.unwrap_or("label").to_string();
        let labels = match &self.labels {
            Some(asked) => Some(labels_in(asked, rows)?),
            None => own.map(|labels| Labeled { title, labels }),
        };
        Ok(Along { labels, kept, names })
    }
}

/// The column that says which piece of the graph a row is in.
pub(crate) const PIECE: &str = "piece";

impl Along {
    /// What is said about labels that are missing.
    pub(crate) fn note(&self) -> Option<String> {
        let Labeled { title, labels } = self.labels.as_ref()?;
        let (missing, all) = (labels.missing(), labels.len());
        (missing > 0).then(|| format!("{missing} of {all} rows have no label in {title:?}"))
    }
}

/// `FILE` and `COLUMN` of `FILE:COLUMN`; a file whose own name has a colon goes first.
fn split(asked: &str) -> (&str, Option<&str>) {
    let there = |file: &str| Path::new(file).exists() || ["-", "digits", "iris"].contains(&file);
    if there(asked) {
        return (asked, None);
    }
    let splits = asked.match_indices(':').map(|(at, _)| (&asked[..at], &asked[at + 1..]));
    let found = splits.rev().find(|(file, _)| there(file));
    found.map_or((asked, None), |(file, column)| (file, Some(column)))
}

/// The labels that a file holds for `rows` points.
fn labels_in(asked: &str, rows: usize) -> Result<Labeled> {
    let (file, column) = split(asked);
    let keep: Vec<String> = column.into_iter().map(String::from).collect();
    let read =
        |header: Option<bool>| io::read_kept(file, &ReadOptions { keep: keep.clone(), header, ..Default::default() });
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
    let wrong = |fact: String| Error::Format { path: file.into(), message: fact };
    let found = count(&columns);
    if found != rows {
        let fact = format!("it has {found} labels for {rows} points");
        return Err(wrong(format!(
            "{fact}; give one for every row of the input, in the same order, NA where there is none"
        )));
    }
    let Some(Carried { name, cells }) = columns.into_iter().next() else {
        return Err(wrong("it has no column; name another file".into()));
    };
    let labels = Labels::from_cells(&cells);
    let labels = labels.ok_or_else(|| wrong(format!("no row has a label in column {name:?}; name another column")))?;
    // What a column without a name is called.
    let title = if name == "column1" { "label".into() } else { name };
    Ok(Labeled { title, labels })
}
