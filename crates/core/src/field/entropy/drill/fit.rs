//! The fit of DRILL: its second moments, its penalty or a path of penalties, and an estimate of the cost.

use crate::field::Regraph;
use crate::field::entropy::drill::lasso::{Arithmetic, Lasso, Minimum, Support, is_nearly_full};
use crate::field::entropy::drill::penalty::Penalty;
use crate::field::entropy::drill::{Drill, PathStep};
use crate::input::Measured;
use eigenfold_graph::Metric;
use eigenfold_graph::points::Points;
use eigenfold_linalg::cost::Cost;
use eigenfold_linalg::error::{Error, Result, bytes};
use eigenfold_linalg::progress::{Observer, Share};
use eigenfold_linalg::sparse::cholesky::Analysis;

/// The default penalty, as a fraction of the mean variance.
const AUTO: f64 = 0.01;
/// The number of folds of features in the cross-validation of the penalties of a path.
const FOLDS: usize = 5;
/// The approximate number of products with the second derivative until the gap is closed, on a sparse support and on
/// one that is nearly full: 1,300 to 3,200 were needed on data of 1,000 points and more, and 250 to over 800 on all
/// pairs of 500.
const PRODUCTS: [f64; 2] = [1600.0, 800.0];
/// CPU seconds of a product: per entry of the sparse factor, per flop of it, and per flop of dense matrices.
const PACE: [f64; 3] = [1.1e-7, 1.4e-9, 5.6e-11];
/// More flops than this for one product with the second derivative are refused (some thousand are needed).
const DEAR_FLOPS: f64 = 5e10;

/// A fit with the moments it was fitted to.
pub(crate) struct Fitted {
    pub(crate) minimum: Minimum,
    pub(crate) penalty: f64,
    /// X̃ X̃ᵀ/p on the support.
    moments: Vec<f64>,
    pub(crate) path: Vec<PathStep>,
    /// Whether the observer stopped the fit, or the choice of the penalty.
    pub(crate) stopped: bool,
}

impl Fitted {
    /// p/2 (log det T − tr T X̃X̃ᵀ/p − n log 2π).
    pub(crate) fn log_likelihood(&self, support: &Support, features: f64) -> f64 {
        density(support, &self.minimum, &self.moments, features)
    }
}

/// The log density of features with these second moments.
fn density(support: &Support, found: &Minimum, moments: &[f64], features: f64) -> f64 {
    let constant = support.n as f64 * std::f64::consts::TAU.ln();
    0.5 * features * (found.log_determinant - support.inner(&found.values, moments) - constant)
}

impl Drill {
    /// The precision of the points under the penalty, or under the best of a path; if the observer stops the run, the
    /// current one. `regraph` rebuilds the graph where features are left out; a graph supplied by the user is kept.
    pub(crate) fn fit(
        &self,
        data: Measured<'_>,
        support: &Support,
        regraph: Option<&Regraph<'_>>,
        memory: u64,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let analysis = analysis_of(support, memory)?;
        self.announce(support, analysis.as_ref(), observer);
        let problem = Problem::new(self, data, support, analysis.as_ref())?;
        let penalty = match self.penalty {
            Penalty::Auto => AUTO * problem.mean,
            Penalty::Value(value) => value,
            Penalty::Path { from, to, count } => {
                let HeldOutLikelihood { best, path, stopped } =
                    self.follow(&problem, &Penalty::path(from, to, count), data, regraph, memory, observer)?;
                let (penalty, found) = best;
                return Ok(Fitted { minimum: found, penalty, moments: problem.moments, path, stopped });
            }
        };
        let found = problem.solve(penalty, observer)?;
        Ok(Fitted { stopped: found.stopped, minimum: found, penalty, moments: problem.moments, path: Vec::new() })
    }

    /// Reports the predicted cost of the fits, if it is high.
    fn announce(&self, support: &Support, analysis: Option<&Analysis>, observer: &dyn Observer) {
        let fits = match self.penalty {
            Penalty::Path { count, .. } => count * (1 + FOLDS),
            Penalty::Auto | Penalty::Value(_) => 1,
        };
        let (n, edges) = (support.n, support.ends.len());
        let (what, way_out) = match analysis {
            None => (format!("a precision over all pairs of {n} points"), "give `neighbors`, as in `neighbors` 20"),
            Some(_) => {
                (format!("a precision of {n} points on {edges} edges"), "use a smaller `neighbors`, or fewer points")
            }
        };
        let seconds = match analysis {
            None => dense_seconds(n),
            Some(analysis) => sparse_seconds(analysis.fill, analysis.flops),
        };
        Cost::About(fits as f64 * seconds).announce(observer, &what, way_out);
    }
}

/// The graphical lasso of some features on the edges of one graph, for any penalty.
struct Problem<'a> {
    drill: &'a Drill,
    support: &'a Support,
    arithmetic: Arithmetic<'a>,
    /// X̃ X̃ᵀ/p on the support, and the mean of its diagonal.
    moments: Vec<f64>,
    mean: f64,
}

impl<'a> Problem<'a> {
    fn new(
        drill: &'a Drill,
        data: Measured<'_>,
        support: &'a Support,
        analysis: Option<&'a Analysis>,
    ) -> Result<Problem<'a>> {
        let arithmetic = match analysis {
            None => Arithmetic::dense(support),
            Some(analysis) => Arithmetic::sparse(support, analysis)?,
        };
        let moments = second_moments(data, support);
        let mean = moments[..support.n].iter().sum::<f64>() / support.n as f64;
        if mean <= 0.0 {
            return Err(Error::data("all points coincide and have no covariance", "give points that differ"));
        }
        Ok(Problem { drill, support, arithmetic, moments, mean })
    }

    /// The precision under one penalty.
    fn solve(&self, penalty: f64, observer: &dyn Observer) -> Result<Minimum> {
        // The optimization sees a mean variance of one, so that the units of the data cannot cause overflow.
        let (n, mean, penalty) = (self.support.n, self.mean, penalty / self.mean);
        let own = self.drill.ridge + if self.drill.penalize_diagonal { penalty } else { 0.0 };
        let lift = |(at, s): (usize, &f64)| s / mean + if at < n { own } else { 0.0 };
        let lifted: Vec<f64> = self.moments.iter().enumerate().map(lift).collect();
        let lasso = Lasso {
            support: self.support,
            arithmetic: &self.arithmetic,
            moments: &lifted,
            penalty,
            tolerance: self.drill.tolerance,
            max_steps: self.drill.max_iterations,
        };
        // Inside the thread pool, so that the many short tasks of parallel work start at once.
        let mut found = rayon::scope(|_| lasso.minimize(observer))?;
        found.values.iter_mut().for_each(|t| *t /= mean);
        found.log_determinant -= n as f64 * mean.ln();
        found.value += n as f64 * mean.ln();
        Ok(found)
    }
}

/// A path of penalties with the best of them and its precision.
struct HeldOutLikelihood {
    best: (f64, Minimum),
    path: Vec<PathStep>,
    /// Whether the observer stopped it before all penalties were evaluated.
    stopped: bool,
}

impl Drill {
    /// The penalties of a path, largest first, each evaluated on features left out of the graph, the ridge and the fit.
    /// If the observer stops the run, only the folds on which all penalties were evaluated count; before the first such
    /// fold, the smallest penalty fitted so far is returned, since it has the most edges.
    fn follow(
        &self,
        whole: &Problem<'_>,
        penalties: &[f64],
        data: Measured<'_>,
        regraph: Option<&Regraph<'_>>,
        memory: u64,
        observer: &dyn Observer,
    ) -> Result<HeldOutLikelihood> {
        let (points, metric, features) = features_to_leave_out(data)?;
        let folds = FOLDS.min(features.len());
        // Each penalty is fitted to all features, then to those of each fold.
        let one = |at: usize| Share::one_of(observer, at, penalties.len() * (1 + folds));
        let (mut path, mut fits) = (Vec::<PathStep>::new(), Vec::<Minimum>::new());
        let mut stopped = false;
        for (at, &penalty) in penalties.iter().enumerate() {
            let found = match whole.solve(penalty, &one(at)) {
                Err(Error::Stopped) if !fits.is_empty() => {
                    stopped = true;
                    break;
                }
                found => found?,
            };
            if found.stopped && !fits.is_empty() {
                // A penalty whose fit converged is preferred.
                stopped = true;
                break;
            }
            let edges = found.values[whole.support.n..].iter().filter(|value| **value != 0.0).count();
            path.push(PathStep { penalty, edges, gap: found.gap, held_out: 0.0 });
            stopped = found.stopped;
            fits.push(found);
            if stopped {
                break;
            }
        }
        'folds: for fold in (0..folds).filter(|_| !stopped) {
            let some = |out: bool| {
                let chosen = features.iter().enumerate().filter(|(at, _)| (at % folds == fold) == out);
                points.select_columns(&chosen.map(|(_, &feature)| feature).collect::<Vec<_>>())
            };
            let (kept, out) = (some(false), some(true));
            // A graph built from all features would leak the left-out ones.
            let own = match regraph.map(|regraph| regraph(&kept)).transpose() {
                Err(Error::Stopped) => {
                    stopped = true;
                    break;
                }
                graph => graph?.map(|graph| Support::new(&graph.union())),
            };
            let support = own.as_ref().unwrap_or(whole.support);
            let analysis = analysis_of(support, memory)?;
            let kept = Measured::Points(&kept, metric);
            let problem = Problem::new(self, kept, support, analysis.as_ref())?;
            let moments = second_moments(Measured::Points(&out, metric), support);
            let mut densities = Vec::with_capacity(path.len());
            for (at, step) in path.iter().enumerate() {
                let found = match problem.solve(step.penalty, &one((fold + 1) * penalties.len() + at)) {
                    Ok(found) if !found.stopped => found,
                    Ok(_) | Err(Error::Stopped) => {
                        stopped = true;
                        break 'folds;
                    }
                    Err(error) => return Err(error),
                };
                densities.push(density(support, &found, &moments, out.cols() as f64));
            }
            path.iter_mut().zip(densities).for_each(|(step, density)| step.held_out += density);
        }
        let best = (0..path.len()).max_by(|&a, &b| path[a].held_out.total_cmp(&path[b].held_out));
        let best = best.map(|at| (path[at].penalty, fits.swap_remove(at)));
        Ok(HeldOutLikelihood {
            best: best.ok_or_else(|| Error::parameter("penalty", "a path needs a penalty", "give one"))?,
            path,
            stopped,
        })
    }
}

/// The points with their metric and the features that vary, of which there must be two.
fn features_to_leave_out(data: Measured<'_>) -> Result<(&Points, Metric, Vec<usize>)> {
    let fact = "a path of penalties needs at least two features to choose by";
    let few = || Error::parameter("penalty", fact, "give one `penalty`");
    let Measured::Points(points, metric) = data else { return Err(few()) };
    let varies = |&f: &usize| (1..points.rows()).any(|i| points.row(i)[f] != points.row(0)[f]);
    let features: Vec<usize> = (0..points.cols()).filter(varies).collect();
    if features.len() < 2 { Err(few()) } else { Ok((points, metric, features)) }
}

/// X̃ X̃ᵀ/p on the support; where only distances are known −½ H D² H, as if of one feature.
fn second_moments(data: Measured<'_>, support: &Support) -> Vec<f64> {
    let n = support.n;
    let pairs = (0..n).map(|i| (i, i)).chain(support.ends.iter().map(|&(i, j)| (i as usize, j as usize)));
    match data {
        Measured::Points(points, _) => {
            let mean = points.column_means();
            let product = |(i, j): (usize, usize)| {
                let columns = points.row(i).iter().zip(points.row(j)).zip(&mean);
                columns.map(|((a, b), mean)| (a - mean) * (b - mean)).sum::<f64>() / points.cols() as f64
            };
            pairs.map(product).collect()
        }
        Measured::Distances(distances) => {
            let square = |i: usize, j: usize| distances.between(i, j).powi(2);
            let means: Vec<f64> = (0..n).map(|i| (0..n).map(|j| square(i, j)).sum::<f64>() / n as f64).collect();
            let all = means.iter().sum::<f64>() / n as f64;
            pairs.map(|(i, j)| 0.5 * (means[i] + means[j] - all - square(i, j))).collect()
        }
    }
}

/// The symbolic analysis of the support's pattern, or `None` where it is nearly full and dense matrices are faster; an
/// error if the work would exceed the memory limit.
fn analysis_of(support: &Support, memory: u64) -> Result<Option<Analysis>> {
    if is_nearly_full(support) {
        afford_dense(support.n, memory)?;
        return Ok(None);
    }
    let analysis = Analysis::new(&support.matrix(&vec![1.0; support.len()]))?;
    afford_sparse(&analysis, memory)?;
    Ok(Some(analysis))
}

fn afford_sparse(analysis: &Analysis, memory: u64) -> Result<()> {
    let way_out = "use a smaller `neighbors`, `graph` mutual, or fewer points";
    let needed = 3 * analysis.memory();
    if needed > memory {
        let what = "the factors and the inverse on their pattern".into();
        return Err(Error::Memory { what, needed, limit: memory, way_out: way_out.into() });
    }
    if analysis.flops > DEAR_FLOPS {
        return Err(Error::too_long(
            analysis.flops,
            format!("each of about 1,000 products would take {:.1e} flops and {}", analysis.flops, bytes(needed)),
            way_out,
        ));
    }
    Ok(())
}

/// The CPU seconds of a fit by a sparse factor with this many entries and flops.
fn sparse_seconds(fill: f64, flops: f64) -> f64 {
    PRODUCTS[0] * (PACE[0] * fill + PACE[1] * flops)
}

/// The CPU seconds of a fit by dense matrices.
fn dense_seconds(n: usize) -> f64 {
    PRODUCTS[1] * PACE[2] * product_flops(n)
}

/// The cost of a product of matrices over all pairs.
fn product_flops(n: usize) -> f64 {
    6.0 * (n as f64).powi(3)
}

pub(crate) fn afford_dense(n: usize, memory: u64) -> Result<()> {
    let needed = 12 * 8 * (n * n) as u64;
    if needed > memory {
        let what = format!("the matrices of all pairs of {n} points");
        return Err(Error::Memory {
            what,
            needed,
            limit: memory,
            way_out: "give `neighbors`, as in `neighbors` 20".into(),
        });
    }
    let flops = product_flops(n);
    if flops > DEAR_FLOPS {
        return Err(Error::too_long(
            flops,
            format!("about 1,000 products of all pairs of {n} points would take {flops:.1e} flops each"),
            "give `neighbors`, as in `neighbors` 20",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured CPU seconds; for runs that were stopped early, the seconds until then
    /// (docs/decisions/0143-predicted-run-time.md).
    #[test]
    fn a_price_is_within_a_factor_of_three_of_what_it_took() {
        for (name, seconds, took, done) in [
            ("swiss roll", sparse_seconds(3.64e4, 7.88e5), 7.2, true),
            ("oil", sparse_seconds(1.77e4, 3.97e5), 3.6, true),
            ("digits", sparse_seconds(7.19e4, 4.49e6), 18.9, true),
            ("segmentation", sparse_seconds(4.68e4, 1.32e6), 30.6, true),
            ("Frey's faces", sparse_seconds(1.2e5, 1.41e7), 36.0, true),
            ("optdigits", sparse_seconds(2.93e5, 4.08e7), 115.9, false),
            ("all pairs of 500 points, 3 columns", dense_seconds(500), 37.4, false),
            ("all pairs of 500 points, 50 columns", dense_seconds(500), 39.9, false),
            ("all pairs of 500 points, 200 columns", dense_seconds(500), 13.4, true),
        ] {
            assert!(seconds > took / 3.0 && (!done || seconds < 3.0 * took), "{name}: {seconds} for {took}");
        }
    }
}
