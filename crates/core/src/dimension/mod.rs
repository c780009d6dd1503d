//! Estimates of the intrinsic dimension, before anything is embedded.
//!
//! Several estimators, each in a separate file with its formula and its paper, because each fails in a different way:
//!
//! - `two_nn` uses the two nearest neighbors of each point: it has little bias up to about six dimensions, and is
//!   sensitive to noise. It is the main estimate, and its ratios are checked against their theoretical distribution;
//! - `gride` does the same at growing scales, where noise shows as a fall to a plateau;
//! - `simplex` uses directions instead of distances: good in many dimensions, too large where the manifold is curved;
//! - `levina_bickel` is the likelihood of a Poisson process, for all points and for each;
//! - `correlation`, `graph_length`, `spectrum`, `residual` and `unfolding` use the points as a whole.
//!
//! Intervals are statistical: they show how much the estimate would vary for other samples of the same distribution, by
//! clusters of near points (`near::Clusters`), and do not include bias. `recommend` combines the estimates.

mod choose;
mod correlation;
mod distinct;
mod estimates;
mod graph_length;
mod gride;
mod levina_bickel;
mod near;
mod recommend;
mod residual;
mod simplex;
mod spectrum;
mod two_nn;
mod unfolding;

#[cfg(test)]
mod tests;

pub use choose::DimsChoice;
pub use estimates::{Check, Dimensions, Estimate, Name};
pub use gride::ScaleEstimate;
pub use recommend::Recommendation;
pub use residual::Elbow;
pub use spectrum::Spectrum;
pub use two_nn::FLAGGED;
pub use unfolding::Unfolded;

use distinct::Distinct;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Metric};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Share, Stage};
use near::{Clusters, Near};
use recommend::{Coarse, Findings};

/// The default number of neighbors.
pub const NEIGHBORS: usize = 20;
/// The maximum number of points whose larger neighborhoods are used; their neighbors are searched among all.
const WIDE: usize = 20_000;
/// The maximum time in nanoseconds of the search for two neighbors of every point.
const AFFORDABLE: f64 = 6e10;
/// The maximum number of points of the estimates that use all pairs.
const PAIRS: usize = 2000;
/// From this many points on, a subset is evaluated separately, for larger scales; and its size.
const COARSE: (usize, usize) = (4000, 2000);
/// The maximum number of points embedded by Isomap.
const MAPPED: usize = 1000;

/// The options of the estimate.
///
/// ```
/// use eigenfold::{Dimension, Silent, sample::Sample};
///
/// let roll = Sample::SwissRoll.draw(1000, 0.0, 1)?.points;
/// let found = Dimension { global: false, ..Dimension::default() }.of(&roll, &Silent)?;
/// assert_eq!(found.recommended.dims, 2);
/// # Ok::<(), eigenfold::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    /// The largest neighborhood of Levina and Bickel's estimate, of the correlation dimension and of the estimate at
    /// each point; by default 20, or all others if there are fewer.
    pub neighbors: Option<usize>,
    /// Whether to compute the slower estimates too, which use the points as a whole.
    pub global: bool,
    /// Whether to estimate the dimension at each point.
    pub pointwise: bool,
    /// The seed of the random subsets of the graph's length.
    pub seed: u64,
}

impl Default for Dimension {
    fn default() -> Dimension {
        Dimension { neighbors: None, global: true, pointwise: false, seed: 0 }
    }
}

impl Dimension {
    /// The dimension of the points, in the Euclidean distance.
    ///
    /// # Errors
    ///
    /// If there are fewer than three distinct points, `neighbors` is out of range, or [`Error::Stopped`].
    pub fn of(&self, points: &Points, observer: &dyn Observer) -> Result<Dimensions> {
        let all = Share::all(observer).of_stage(Stage::Dimension);
        all.progress(Stage::Dimension, 0.0);
        let slow = if self.global { 3.0 } else { 0.0 };
        let [first, second, third, last] = Share::split(&all, [1.0, 1.0, 1.0, slow]);
        let distinct = Distinct::of(points)?;
        let n = distinct.points.rows();
        let neighbors = self.neighbors(n)?;
        let index = Index::new(&distinct.points, Metric::Euclidean)?;

        let wide = Near::search(&index, neighbors.max(2 * gride::SCALES[gride::SCALES.len() - 1]), WIDE, &first)?;
        let most = if index.work(2) <= AFFORDABLE { n } else { WIDE };
        let two = if wide.len() < n { Some(Near::search(&index, 2, most, &first)?) } else { None };
        let close = two.as_ref().unwrap_or(&wide);
        let clusters = Clusters::new(n, close);
        let logs = two_nn::log_ratios(close);

        let mut found = Collected::default();
        let ties = "the two nearest neighbors of every point are equally far";
        found.keep(Name::TwoNn, two_nn::unbiased(&logs, close, &clusters), ties);
        found.keep(Name::Ess, simplex::dimension(&distinct.points, &wide, &second)?, "too few neighbors");
        found.keep(Name::TwoNnMle, two_nn::likeliest(&logs), ties);
        found.keep(Name::TwoNnMean, two_nn::moment(&logs), ties);
        found.keep(Name::TwoNnFit, two_nn::fit(&logs), "too few ratios of distances differ from 1");
        let ties = "all neighbors of a point are equally far";
        found.keep(Name::LevinaBickel, levina_bickel::mean_of_points(&wide, neighbors, &clusters), ties);
        found.keep(Name::MacKayGhahramani, levina_bickel::all_together(&wide, neighbors, &clusters), ties);
        let mut scales = gride::scales(&wide, n, &clusters);

        let departure = found.value(Name::TwoNn).map(|d| two_nn::departure(&logs, d));
        let check = Check { departure, flagged: departure.is_none_or(|departure| departure > FLAGGED) };
        let coarse = if n >= COARSE.0 { Some(coarse(&distinct.points, &third)?) } else { None };
        let pointwise = if self.pointwise { Some(pointwise(&distinct, &index, neighbors, &third)?) } else { None };
        let whole = if self.global { found.whole(&distinct.points, self, neighbors, &last)? } else { Whole::default() };
        all.finish();
        let recommended = recommend::recommend(&Findings {
            n,
            most: distinct.points.cols().min(n - 1),
            two_nn: found.estimate(Name::TwoNn),
            ess: found.value(Name::Ess),
            scales: &scales,
            coarse: coarse.as_ref(),
            check: &check,
        });
        scales.extend(coarse.map(|coarse| coarse.scales).unwrap_or_default());
        scales.iter_mut().for_each(|scale| scale.distance = distinct.in_units(scale.distance));
        Ok(Dimensions {
            n: points.rows(),
            distinct: n,
            features: points.cols(),
            varying: distinct.points.cols(),
            neighbors,
            warnings: warnings(&distinct, points, &check),
            estimates: found.estimates,
            left_out: found.left_out,
            scale_points: wide.len(),
            scales,
            check,
            spectrum: whole.spectrum,
            elbow: whole.elbow,
            unfolded: whole.unfolded,
            recommended,
            pointwise,
        })
    }

    /// The number of neighbors among `n` distinct points.
    fn neighbors(&self, n: usize) -> Result<usize> {
        match self.neighbors {
            None => Ok(NEIGHBORS.min(n - 1)),
            Some(k) if k < 3 => Err(Error::out_of_range(
                "neighbors",
                k,
                3..=n - 1,
                format!("k is {k} and an estimate needs three neighbors"),
                "use `neighbors` 3 or more",
            )),
            Some(k) if k >= n => Err(Error::TooFewPoints { k, n }),
            Some(k) => Ok(k),
        }
    }
}

/// The estimates so far.
#[derive(Default)]
struct Collected {
    estimates: Vec<Estimate>,
    left_out: Vec<(Name, String)>,
}

/// The estimates that use the points as a whole.
#[derive(Default)]
struct Whole {
    spectrum: Option<Spectrum>,
    elbow: Option<Elbow>,
    unfolded: Option<Unfolded>,
}

impl Collected {
    fn keep(&mut self, name: Name, estimate: Option<Estimate>, reason: &str) {
        match estimate {
            Some(estimate) => self.estimates.push(estimate),
            None => self.left_out.push((name, reason.into())),
        }
    }

    fn estimate(&self, name: Name) -> Option<&Estimate> {
        self.estimates.iter().find(|estimate| estimate.name == name)
    }

    fn value(&self, name: Name) -> Option<f64> {
        self.estimate(name).map(|estimate| estimate.value)
    }

    /// The slower estimates, on evenly spaced points if there are many.
    fn whole(
        &mut self,
        points: &Points,
        options: &Dimension,
        neighbors: usize,
        observer: &dyn Observer,
    ) -> Result<Whole> {
        let some = |most: usize| {
            let rows: Vec<usize> = near::evenly_spaced(points.rows(), most).iter().map(|&i| i as usize).collect();
            points.select(&rows)
        };
        let [correlating, measuring, mapping, last] = Share::split(observer, [1.0, 1.0, 2.0, 4.0]);
        let pairs = some(PAIRS);
        let same = "the compared distances are equal";
        self.keep(Name::Correlation, correlation::dimension(&pairs, neighbors, &correlating)?, same);
        let length = graph_length::dimension(&pairs, options.seed, &measuring)?;
        self.keep(Name::GraphLength, length, "too few points, or the length grows as fast as their number");
        let spectrum = spectrum::spectrum(points)?;
        let linear = Estimate::new(Name::Svd, spectrum.dimension as f64, spectrum.points);
        self.keep(Name::Svd, Some(linear), "");
        let elbow = self.tried(Name::Isomap, residual::elbow(&some(MAPPED), &mapping))?;
        if let Some(elbow) = &elbow {
            let at = elbow.dimension.map(|d| Estimate::new(Name::Isomap, d as f64, elbow.points));
            self.keep(Name::Isomap, at, "every coordinate still removes a fifth of the residual variance");
        }
        let unfolded = match points.rows() {
            n if n <= unfolding::MOST => self.tried(Name::Mvu, unfolding::unfolded(points, &last))?,
            n => {
                let most = unfolding::MOST;
                self.left_out.push((Name::Mvu, format!("{n} points are more than the {most} that are unfolded")));
                None
            }
        };
        if let Some(unfolded) = &unfolded {
            self.keep(Name::Mvu, Some(Estimate::new(Name::Mvu, unfolded.dimension as f64, points.rows())), "");
        }
        Ok(Whole { spectrum: Some(spectrum), elbow, unfolded })
    }

    /// The result, or `None` with the reason; a stop remains an error.
    fn tried<T>(&mut self, name: Name, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(found) => Ok(Some(found)),
            Err(Error::Stopped) => Err(Error::Stopped),
            Err(error) => {
                self.left_out.push((name, error.to_string()));
                Ok(None)
            }
        }
    }
}

/// The estimates of evenly spaced points alone.
fn coarse(points: &Points, observer: &dyn Observer) -> Result<Coarse> {
    let rows: Vec<usize> = near::evenly_spaced(points.rows(), COARSE.1).iter().map(|&i| i as usize).collect();
    let some = points.select(&rows);
    let index = Index::new(&some, Metric::Euclidean)?;
    let near = Near::search(&index, 2 * gride::SCALES[gride::SCALES.len() - 1], rows.len(), observer)?;
    let clusters = Clusters::new(rows.len(), &near);
    let two_nn = two_nn::unbiased(&two_nn::log_ratios(&near), &near, &clusters).map(|estimate| estimate.value);
    let ess = simplex::dimension(&some, &near, observer)?.map(|estimate| estimate.value);
    Ok(Coarse { n: rows.len(), two_nn, ess, scales: gride::scales(&near, rows.len(), &clusters) })
}

/// The dimension at each row of the input.
fn pointwise(
    distinct: &Distinct,
    index: &Index<'_>,
    neighbors: usize,
    observer: &dyn Observer,
) -> Result<Vec<Option<f64>>> {
    let near = Near::search(index, neighbors, usize::MAX, observer)?;
    let at_place = levina_bickel::of_each_point(&near);
    Ok(distinct.of_row.iter().map(|&place| at_place[place as usize]).collect())
}

/// Warnings about the points.
fn warnings(distinct: &Distinct, points: &Points, check: &Check) -> Vec<String> {
    let mut warnings = Vec::new();
    let (duplicates, constant) = (distinct.duplicates(), points.cols() - distinct.points.cols());
    if duplicates > 0 {
        let (n, are) = (points.rows(), if duplicates == 1 { "is a duplicate" } else { "are duplicates" });
        warnings.push(format!("{duplicates} of {n} points {are} of an earlier one; each counts once"));
    }
    match constant {
        0 => {}
        1 => warnings.push("1 feature is constant and was left out".into()),
        count => warnings.push(format!("{count} features are constant and were left out")),
    }
    if check.flagged {
        let how = check.departure.map_or("all are 1".into(), |departure| format!("{departure:.2}, above {FLAGGED}"));
        warnings.push(format!(
            "the ratios of distances are not those of random points ({how}): values that are rounded, a lattice, a series \
             in even steps, or groups of near copies; the estimates at small scales mean little"
        ));
    }
    warnings
}
