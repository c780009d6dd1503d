//! The rows that take part in a comparison: all, or as many drawn at random.

use crate::dropped_rows::Kept;
use crate::labels::{Along, Labeled};
use crate::report::grouped;
use eigenfold::{
    Error, Points, Result,
    io::{Carried, Cells, Labels},
    sample::rows_at_random,
};

/// The rows of the input that take part, in their order.
pub(super) struct Rows {
    /// Rows of the input, counted from 0.
    pub(super) of_input: Vec<usize>,
    /// The rows of the input.
    pub(super) all: usize,
    /// Rows of those that were read without dropped ones; nothing if all of them take part.
    drawn: Option<Vec<usize>>,
    read: usize,
}

impl Rows {
    /// As many as `--points` says, of `n` rows that are all of the input or those of it that were kept.
    pub(super) fn drawn(flag: &str, n: usize, kept: Option<&Kept>, seed: u64) -> Result<Rows> {
        let most = match flag {
            "all" => n,
            _ => flag.replace(['_', ','], "").parse().ok().filter(|&count| count >= 2).ok_or_else(|| {
                let fact = format!("--points {flag}: this is not a number of rows");
                Error::parameter("points", fact, "give 2 or more, or all")
            })?,
        };
        let drawn = (most < n).then(|| rows_at_random(n, most, seed));
        let rows: Vec<usize> = drawn.clone().unwrap_or_else(|| (0..n).collect());
        let of_input = kept.map_or(rows.clone(), |kept| rows.iter().map(|&i| kept.rows[i]).collect());
        Ok(Rows { of_input, all: kept.map_or(n, |kept| kept.all), drawn, read: n })
    }

    /// What is said of it.
    pub(super) fn note(&self) -> Option<String> {
        let drawn = self.drawn.as_ref()?;
        let (some, all) = (grouped(drawn.len()), grouped(self.read));
        Some(format!("{some} of {all} rows are used, drawn at random; --points all uses all"))
    }

    /// Whether some rows of the input do not take part.
    pub(super) fn is_part(&self) -> bool {
        self.of_input.len() < self.all
    }

    /// The rows that take part.
    pub(super) fn of(&self, points: Points) -> Points {
        match &self.drawn {
            Some(rows) => points.select(rows),
            None => points,
        }
    }

    /// What goes with the rows that take part. Labels and names are of the rows that were kept, columns of all rows of the input.
    pub(super) fn along(&self, along: Along) -> Along {
        let kept = along.kept.into_iter().map(|Carried { name, cells }| {
            let cells = match cells {
                Cells::Numbers(values) => Cells::Numbers(self.of_input.iter().map(|&i| values[i]).collect()),
                Cells::Texts(texts) => Cells::Texts(self.of_input.iter().map(|&i| texts[i].clone()).collect()),
            };
            Carried { name, cells }
        });
        let kept = kept.collect();
        let Some(rows) = &self.drawn else { return Along { kept, ..along } };
        let labels = along.labels.map(|Labeled { title, labels }| {
            let labels = match labels {
                Labels::Values(values) => Labels::Values(rows.iter().map(|&i| values[i]).collect()),
                Labels::Classes { names, of } => Labels::Classes { names, of: rows.iter().map(|&i| of[i]).collect() },
            };
            Labeled { title, labels }
        });
        let names = along.names.map(|names| rows.iter().map(|&i| names[i].clone()).collect());
        Along { labels, names, kept }
    }
}
