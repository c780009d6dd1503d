//! What is compared: the points that take part, with what goes with them.

use super::sample::Rows;
use crate::flags::{Input, Kind, Preparing, with_flags};
use crate::input::{self, LoadedInput};
use crate::labels::{Along, Carry, Labeled};
use crate::request;
use eigenfold::{Error, Metric, Observer, Owned, Points, Prepared, Result, compare::Outcome, io, io::Labels};
use eigenfold_page::Page;
use std::path::Path;

/// What is to be read, as the flags say it.
pub(crate) struct SubjectFlags<'a> {
    pub(crate) input: &'a Input,
    pub(crate) carry: &'a Carry,
    pub(crate) preparing: &'a Preparing,
    pub(crate) memory: Option<u64>,
    /// The file of true coordinates.
    pub(crate) truth: Option<&'a Path>,
    /// How many rows take part, or `all`.
    pub(crate) points: &'a str,
    pub(crate) seed: u64,
}

/// Points with what goes with them, all of the rows that take part.
pub(crate) struct Subject {
    pub(crate) points: Points,
    pub(crate) prepared: Option<Prepared>,
    pub(crate) names: Option<Vec<String>>,
    pub(crate) along: Along,
    pub(super) truth: Option<Points>,
    pub(super) rows: Rows,
    pub(crate) notes: Vec<String>,
}

impl Subject {
    /// Reads the points and draws those that take part.
    pub(crate) fn read(flags: &SubjectFlags<'_>, observer: &dyn Observer) -> Result<Subject> {
        let LoadedInput { data, along, names, schema, rows, mut notes } =
            input::read(flags.input, flags.carry, Kind::Points, flags.preparing, flags.memory, observer)?;
        let Owned::Points(points) = data else {
            return Err(Error::input_kind(
                &["points"],
                "the comparison needs points with features",
                "give a file of points",
            ));
        };
        notes.extend(along.note());
        let truth = flags.truth.map(|name| io::read_map(name, &io::ReadOptions::default())).transpose()?;
        let truth =
            truth.map(|table| rows.as_ref().map_or(Ok(table.points.clone()), |kept| kept.pick(table.points.clone())));
        let truth = truth.transpose()?;
        if let Some(found) = truth.as_ref().map(Points::rows).filter(|&found| found != points.rows()) {
            let fact = format!("--truth has {found} rows and the input {}", points.rows());
            return Err(Error::mismatch(
                "rows",
                (found, points.rows()),
                fact,
                "give one row for every row of the input",
            ));
        }
        let drawn = Rows::drawn(flags.points, points.rows(), rows.as_ref(), flags.seed)?;
        notes.extend(drawn.note());
        let points = drawn.of(points);
        let preparation = request::of_columns(flags.input, flags.preparing, &schema).preparation()?;
        let prepared = match preparation.is_none() {
            true => None,
            false => {
                let (prepared, said) = preparation.learn(&points, names.as_deref())?;
                notes.extend(said.iter().map(|note| with_flags(note)));
                Some(prepared)
            }
        };
        let points =
            prepared.as_ref().map_or(Ok(points.clone()), |prepared| prepared.apply(&points, names.as_deref()))?;
        let (along, truth) = (drawn.along(along), truth.map(|truth| drawn.of(truth)));
        Ok(Subject { points, prepared, names, along, truth, rows: drawn, notes })
    }

    /// What may color the points, by name: the labels, then the columns that were kept.
    pub(crate) fn labels(&self) -> Vec<(String, Labels)> {
        let own = self.along.labels.iter().map(|Labeled { title, labels }| (title.clone(), labels.clone()));
        let kept = self.along.kept.iter();
        own.chain(kept.filter_map(|column| Some((column.name.clone(), Labels::from_cells(&column.cells)?)))).collect()
    }

    /// The page of some maps.
    pub(crate) fn page<'a>(
        &'a self,
        title: &'a str,
        metric: Metric,
        image: Option<(usize, usize)>,
        labels: &'a [(String, Labels)],
        outcomes: &'a [Outcome],
    ) -> Page<'a> {
        Page {
            title,
            source: title,
            rows: self.rows.all,
            points: &self.points,
            row_ids: self.rows.is_part().then_some(self.rows.of_input.as_slice()),
            metric,
            columns: self.names.as_deref(),
            prepared: self.prepared.as_ref(),
            labels,
            names: self.along.names.as_deref(),
            image,
            notes: &self.notes,
            outcomes,
        }
    }
}
