//! Quality measures of any embedding: neighborhoods, distances, labels, reconstruction and true coordinates.
//!
//! Every measure is a function of one row: the distances from it to all others in the data and on the map, and their
//! ranks. So one pass over the rows gives all measures of all maps, each also per point, with memory for a few rows at
//! a time. Equal distances are ranked by index. If there are too many points, a sample of the rows is drawn; their
//! distances still go to all points, so that the value of a row is exact, and the means have standard errors
//! (`sampling.rs`).
//!
//! | file | measures |
//! |---|---|
//! | `neighborhoods.rs`, `validate/neighbor_ratio.rs` | trustworthiness, continuity, neighbors kept and R_NX; neighbor distance ratio |
//! | `distances.rs`, `pairs.rs` | stress, correlation and residual variance; the correlation of ranks and the Shepard diagram |
//! | `classes.rs` | neighborhood hit, k-NN accuracy, silhouette |
//! | `reconstruct/kriging.rs` | the reconstruction error |
//! | `truth.rs` | the disparity to true coordinates |

mod classes;
mod distances;
mod measure;
mod neighborhoods;
mod pairs;
mod pass;
pub mod procrustes;
mod ranks;
mod sampling;
#[cfg(test)]
mod tests;
mod truth;
mod value;

pub use measure::{Better, Group, MEASURES, Measure, MeasureInfo};

use crate::input::{Data, Input, Measured, check_range};
use crate::reconstruct::{Kriging, MapNeighbors};
use classes::Classes;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result, plural};
use eigenfold_linalg::progress::{Observer, Share, Stage};
use neighborhoods::Neighborhoods;
use pairs::Pairs;
use pass::{Map, MapMeasures, Pass, RowMeasures};
use sampling::Sampling;
use value::Value;

/// The default number of neighbors.
const NEIGHBORS: usize = 10;

/// The options of the measures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    /// k, the number of neighbors; by default ten, and half of the others if there are fewer than 21 points.
    pub neighbors: Option<usize>,
    /// The maximum number of sampled rows; by default all of up to 5,000 points, and 500 to 2,000 of more.
    pub rows: Option<usize>,
    /// The seed of the samples of rows and pairs.
    pub seed: u64,
}

/// The data.
#[derive(Clone, Copy, Debug)]
pub struct QualityInput<'a> {
    /// The points and how far apart they are; not a graph.
    pub data: Data<'a>,
    /// The class of every point, nothing where it is not known.
    pub labels: Option<&'a [Option<u32>]>,
    /// True coordinates, one row per point and any number of columns.
    pub truth: Option<&'a Points>,
}

impl<'a> QualityInput<'a> {
    /// Points or distances, and nothing beside them.
    pub fn new(data: impl Into<Data<'a>>) -> QualityInput<'a> {
        QualityInput { data: data.into(), labels: None, truth: None }
    }
}

/// One measure of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeasureValue {
    /// Which.
    pub measure: Measure,
    /// Its value.
    pub value: f64,
    /// Its standard error, if only a sample of the rows was used.
    pub error: Option<f64>,
}

/// The evaluation of a map.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// k, as used.
    pub neighbors: usize,
    /// The number of points.
    pub points: usize,
    /// The sampled rows, ascending.
    pub rows: Vec<usize>,
    /// The measures, in the order of [`MEASURES`]; undefined ones are left out, such as those of labels if there are
    /// none.
    pub values: Vec<MeasureValue>,
    /// The same measures per point: one number for each of [`Evaluation::rows`], NaN for a row on which it is
    /// undefined.
    pub pointwise: Vec<(Measure, Vec<f64>)>,
    /// R_NX(k) at some k, ascending.
    pub curve: Vec<(usize, f64)>,
    /// Some pairs of points, at most 2,000: their distance in the data and on the map, as in a Shepard diagram.
    pub shepard: Vec<[f64; 2]>,
}

impl Evaluation {
    /// One of the measures.
    pub fn value(&self, measure: Measure) -> Option<MeasureValue> {
        self.values.iter().copied().find(|score| score.measure == measure)
    }

    /// One of the measures per point, for each of [`Evaluation::rows`].
    pub fn per_row(&self, measure: Measure) -> Option<&[f64]> {
        self.pointwise.iter().find(|(of, _)| *of == measure).map(|(_, each)| each.as_slice())
    }

    /// One of the measures for every point, NaN for rows that were not sampled.
    pub fn per_point(&self, measure: Measure) -> Option<Vec<f64>> {
        let mut all = vec![f64::NAN; self.points];
        self.rows.iter().zip(self.per_row(measure)?).for_each(|(&row, &value)| all[row] = value);
        Some(all)
    }

    /// Whether only a sample of the rows was used.
    pub fn is_sample(&self) -> bool {
        self.rows.len() < self.points
    }
}

impl Quality {
    /// Evaluates maps of the same points, all of them in one pass over the data.
    ///
    /// ```
    /// use eigenfold::quality::{Measure, Quality, QualityInput};
    /// use eigenfold::{Pca, Recipe, io, Silent};
    ///
    /// let iris = io::read("iris", &io::ReadOptions::default())?.points;
    /// let model = Recipe { method: Pca::default().into(), ..Recipe::default() }.fit(&iris, &eigenfold::Silent)?;
    /// let evaluated = Quality::default().evaluate(&QualityInput::new(&iris), &[model.embedding()], &Silent)?;
    /// assert!(evaluated[0].value(Measure::Trustworthiness).is_some_and(|score| score.value > 0.97));
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there are fewer than two points, the input is a graph, the metric is not defined on the points, a map, the
    /// labels or the true coordinates have another number of rows, or there are fewer other points than neighbors;
    /// [`Error::Stopped`] if the observer stops the run.
    pub fn evaluate(
        &self,
        input: &QualityInput<'_>,
        maps: &[&Points],
        observer: &dyn Observer,
    ) -> Result<Vec<Evaluation>> {
        input.data.whitened(|data| self.evaluate_measured(&QualityInput { data, ..*input }, maps, observer))
    }

    /// As [`Quality::evaluate`], by a metric of two rows.
    fn evaluate_measured(
        &self,
        input: &QualityInput<'_>,
        maps: &[&Points],
        observer: &dyn Observer,
    ) -> Result<Vec<Evaluation>> {
        let (neighbors, rows) = self.check(input, maps)?;
        input.data.check_metric()?;
        input.data.check_range()?;
        maps.iter().copied().chain(input.truth).try_for_each(|map| check_range(map.magnitude()))?;
        self.evaluate_checked(input, maps, (neighbors, rows), observer)
    }

    /// The number of neighbors and of rows, after checking them.
    fn check(&self, input: &QualityInput<'_>, maps: &[&Points]) -> Result<(usize, usize)> {
        let n = input.data.len();
        if n < 2 {
            return Err(Error::too_small(
                n,
                2,
                format!("there is {}", plural(n, "point")),
                "give two or more to compare",
            ));
        }
        let other = |what: &str, rows: usize| {
            Err(Error::mismatch(
                "rows",
                (rows, n),
                format!("the data have {n} rows and {what} {rows}"),
                "give one row per point, in the same order",
            ))
        };
        if let Some(map) = maps.iter().find(|map| map.rows() != n) {
            return other("the map has", map.rows());
        }
        if let Some(truth) = input.truth.filter(|truth| truth.rows() != n) {
            return other("the true coordinates have", truth.rows());
        }
        Input { labels: input.labels, ..input.data.into() }.check()?;
        let neighbors = self.neighbors.unwrap_or(NEIGHBORS.min((n - 1) / 2).max(1));
        if neighbors == 0 {
            return Err(Error::out_of_range("neighbors", 0, 1..=n - 1, "`neighbors` is 0", "use one or more"));
        }
        if neighbors >= n {
            return Err(Error::TooFewPoints { k: neighbors, n });
        }
        match self.rows {
            Some(rows) if rows < 2 => {
                Err(Error::out_of_range("rows", rows, 2..=n, format!("`rows` is {rows}"), "sample two or more"))
            }
            Some(rows) => Ok((neighbors, rows.min(n))),
            None => Ok((neighbors, sampling::rows(n, input.data.points().map_or(1, Points::cols)))),
        }
    }

    fn evaluate_checked(
        &self,
        input: &QualityInput<'_>,
        maps: &[&Points],
        (neighbors, rows): (usize, usize),
        observer: &dyn Observer,
    ) -> Result<Vec<Evaluation>> {
        let n = input.data.len();
        let Some(data) = input.data.measured() else {
            let fact = "a graph does not contain the distances between all points";
            return Err(Error::input_kind(
                &["points", "distances"],
                fact,
                "give points or distances to evaluate a map by",
            ));
        };
        let all = Share::all(observer).of_stage(Stage::Quality);
        all.progress(Stage::Quality, 0.0);
        let rows = sampling::drawn(n, rows, self.seed);
        let pairs = Pairs::new(data, n, self.seed);
        let (mut ready, mut of_pairs) = (Vec::with_capacity(maps.len()), Vec::with_capacity(maps.len()));
        for map in maps {
            let on_map = pairs.on(map);
            of_pairs.push((pairs.spearman(&on_map), pairs.shown(&on_map)));
            ready.push(Map::new(map, pairs.reference(&on_map)));
        }
        let near = Neighborhoods::new(n, neighbors);
        let classes = input.labels.and_then(|labels| Classes::new(labels, neighbors));
        let pass = Pass { data, n, maps: &ready, near: &near, classes: classes.as_ref() };
        let [measuring, leading] = Share::split(&all, efforts(data, n, maps.len()));
        let measured = pass.measure_all(&rows, &measuring)?;
        let mut evaluated = Vec::with_capacity(maps.len());
        for (at, (measured, (spearman, shepard))) in measured.into_iter().zip(of_pairs).enumerate() {
            let share = Share::one_of(&leading, at, maps.len());
            if share.stop() {
                return Err(Error::Stopped);
            }
            let map = &ready[at];
            let mut found = measures_of(&measured, map, &rows, n, classes.as_ref());
            found.push((Measure::Spearman, spearman.map(|spearman| ranked(spearman, &measured.rows))));
            if let Measured::Points(points, _) = data {
                found.push((Measure::ReconstructionError, inverse_transform(points, map.points, &rows, self.seed)?));
            }
            if let Some(truth) = input.truth {
                let each = truth::disparity(map.points, truth)?;
                let value = |(value, each): (f64, Vec<f64>)| Value {
                    value,
                    error: None,
                    each: rows.iter().map(|&row| each[row]).collect(),
                };
                found.push((Measure::Disparity, each.map(value)));
            }
            share.progress(Stage::Quality, 1.0);
            let curve = near.curve(&measured.shared, rows.len());
            evaluated.push(Evaluation::new(
                found,
                Evaluation { neighbors, points: n, rows: rows.clone(), curve, shepard, ..EMPTY },
            ));
        }
        all.finish();
        Ok(evaluated)
    }
}

const EMPTY: Evaluation = Evaluation {
    neighbors: 0,
    points: 0,
    rows: Vec::new(),
    values: Vec::new(),
    pointwise: Vec::new(),
    curve: Vec::new(),
    shepard: Vec::new(),
};

impl Evaluation {
    /// With the defined measures, in their order.
    fn new(mut found: Vec<(Measure, Option<Value>)>, empty: Evaluation) -> Evaluation {
        let mut evaluated = empty;
        found.sort_by_key(|(measure, _)| *measure as usize);
        for (measure, value) in found {
            let Some(Value { value, error, each }) = value else { continue };
            evaluated.values.push(MeasureValue { measure, value, error });
            evaluated.pointwise.push((measure, each));
        }
        evaluated
    }
}

/// The measures that the pass over the rows gives.
fn measures_of(
    measured: &MapMeasures,
    map: &Map<'_>,
    rows: &[usize],
    n: usize,
    classes: Option<&Classes>,
) -> Vec<(Measure, Option<Value>)> {
    let each = |of: &dyn Fn(&RowMeasures) -> Option<f64>| -> Vec<f64> {
        measured.rows.iter().map(|row| of(row).unwrap_or(f64::NAN)).collect()
    };
    let mean = |of: &dyn Fn(&RowMeasures) -> Option<f64>| Value::mean(each(of), n);
    let labeled = classes.map_or(0, |classes| classes.labeled);
    let alike = |of: &dyn Fn(&classes::Alike) -> Option<f64>| {
        Value::mean(each(&|row| row.alike.as_ref().and_then(of)), labeled)
    };
    let sums: Vec<_> = measured.rows.iter().map(|row| row.sums).collect();
    let distances::DistanceMeasures { stress, scaled, correlation, residual } =
        distances::measures(&sums, &map.by, &Sampling { sampled: rows.len(), of: n });
    // Rows without a scale are left out of the neighbor distance ratio, however many of the other rows have none.
    let neighbor_ratio = mean(&|row| row.lost).map(|lost| lost.on(f64::exp, f64::exp));
    vec![
        (Measure::Trustworthiness, mean(&|row| Some(row.near.trustworthiness))),
        (Measure::Continuity, mean(&|row| Some(row.near.continuity))),
        (Measure::Kept, mean(&|row| Some(row.near.kept))),
        (Measure::RnxAuc, mean(&|row| row.near.area)),
        (Measure::NeighborRatio, neighbor_ratio),
        (Measure::Stress, stress),
        (Measure::ScaledStress, scaled),
        (Measure::ResidualVariance, residual),
        (Measure::Pearson, correlation),
        (Measure::NeighborhoodHit, alike(&|row| Some(row.hit))),
        (Measure::KnnAccuracy, alike(&|row| Some(row.right))),
        (Measure::Silhouette, alike(&|row| row.silhouette)),
    ]
}

/// The correlation of ranks over pairs, and within every row.
fn ranked((value, error): (f64, Option<f64>), rows: &[RowMeasures]) -> Value {
    Value { value, error, each: rows.iter().map(|row| row.spearman.unwrap_or(f64::NAN)).collect() }
}

/// The reconstruction error of the sampled rows, or of a sample of them; `None` if the data are constant.
fn inverse_transform(points: &Points, map: &Points, rows: &[usize], seed: u64) -> Result<Option<Value>> {
    let kriging = Kriging::of_map(points, &MapNeighbors::new(map, None)?, rows, seed)?;
    let mut squares = vec![f64::NAN; rows.len()];
    for (row, error) in kriging.error_of_rows(points) {
        if let Ok(at) = rows.binary_search(&row) {
            squares[at] = error * error;
        }
    }
    let derivative = |square: f64| if square > 0.0 { 0.5 / square.sqrt() } else { 0.0 };
    Ok(Value::mean(squares, points.rows()).map(|squares| squares.on(f64::sqrt, derivative)))
}

/// The rough cost of the pass over the rows and of the reconstructions.
fn efforts(data: Measured<'_>, n: usize, maps: usize) -> [f64; 2] {
    let features = data.features().map_or(0.0, |features| features as f64);
    let (n, maps) = (n as f64, maps as f64);
    [n * (features + 30.0 * maps), if features > 0.0 { maps * 1e3 * (features + 30.0) } else { 0.0 }]
}
