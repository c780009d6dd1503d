//! The fit of drill: its second moments, its penalty or a path of them, and what the work costs before it starts.

use crate::error::{Error, Result, bytes};
use crate::field::entropy::drill::lasso::{Arithmetic, Lasso, Minimum, Support, is_nearly_full};
use crate::field::entropy::drill::penalty::Penalty;
use crate::field::entropy::drill::{Drill, PathStep};
use crate::ground::Measured;
use crate::linalg::sparse::cholesky::Analysis;
use crate::progress::Observer;

/// The part of the mean variance that is the penalty, if none is given.
const AUTO: f64 = 0.01;
/// Features are left out in so many groups to judge the penalties of a path.
const FOLDS: usize = 5;
/// More flops than this for one product with the second derivative are refused (some thousand are needed).
const DEAR_FLOPS: f64 = 5e10;

/// A fit with what it was fitted to.
pub(crate) struct Fitted {
    pub(crate) found: Minimum,
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
        density(support, &self.found, &self.moments, features)
    }
}

/// The log density of features with these second moments.
fn density(support: &Support, found: &Minimum, moments: &[f64], features: f64) -> f64 {
    let constant = support.n as f64 * std::f64::consts::TAU.ln();
    0.5 * features * (found.log_determinant - support.inner(&found.values, moments) - constant)
}

impl Drill {
    /// The precision of the points under the penalty, or the best of a path of them; as good as it was when the observer
    /// asked to stop.
    pub(crate) fn fit(
        &self,
        ground: Measured<'_>,
        support: &Support,
        memory: u64,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let analysis;
        let arithmetic = if is_nearly_full(support) {
            afford_dense(support.n, memory)?;
            Arithmetic::dense(support)
        } else {
            analysis = Analysis::new(&support.matrix(&vec![1.0; support.len()]))?;
            afford_sparse(&analysis, memory)?;
            Arithmetic::sparse(support, &analysis)?
        };
        let moments = second_moments(ground, support, |_| true)?;
        let mean = moments[..support.n].iter().sum::<f64>() / support.n as f64;
        // The descent sees the mean variance as one, so that the data's units cannot overflow.
        let solve = |moments: &[f64], penalty: f64| {
            let penalty = penalty / mean;
            let own = self.ridge + if self.penalize_diagonal { penalty } else { 0.0 };
            let lift = |(at, s): (usize, &f64)| s / mean + if at < support.n { own } else { 0.0 };
            let lifted: Vec<f64> = moments.iter().enumerate().map(lift).collect();
            let lasso = Lasso {
                support,
                arithmetic: &arithmetic,
                moments: &lifted,
                penalty,
                tolerance: self.tolerance,
                max_steps: self.max_iterations,
            };
            // Inside the pool, where the many short pieces of parallel work start at once.
            let mut found = rayon::scope(|_| lasso.minimize(observer))?;
            found.values.iter_mut().for_each(|t| *t /= mean);
            found.log_determinant -= support.n as f64 * mean.ln();
            found.value += support.n as f64 * mean.ln();
            Ok(found)
        };
        let penalty = match self.penalty {
            Penalty::Auto => AUTO * mean,
            Penalty::Value(value) => value,
            Penalty::Path { from, to, count } => {
                let penalties = Penalty::path(from, to, count);
                let Judged { best, path, stopped } = follow(ground, support, (&moments, &penalties), &solve)?;
                let (penalty, found) = best;
                return Ok(Fitted { found, penalty, moments, path, stopped });
            }
        };
        let found = solve(&moments, penalty)?;
        Ok(Fitted { stopped: found.stopped, found, penalty, moments, path: Vec::new() })
    }
}

/// A path of penalties with the best of them and its precision.
struct Judged {
    best: (f64, Minimum),
    path: Vec<PathStep>,
    /// Whether the observer stopped it before all were judged.
    stopped: bool,
}

/// The penalties of a path, largest first, each judged by the features that were left out of its fit. If the observer
/// stops it, by the groups of features that all have been judged by; before the first of those the smallest penalty that
/// has been fitted is as good as any, and has most edges.
fn follow(
    ground: Measured<'_>,
    support: &Support,
    (whole, penalties): (&[f64], &[f64]),
    solve: &dyn Fn(&[f64], f64) -> Result<Minimum>,
) -> Result<Judged> {
    let Some(p) = ground.features().filter(|&p| p >= 2) else {
        return Err(Error::parameter(
            "a path of penalties needs at least two features to choose by; give one `penalty`",
        ));
    };
    let folds = FOLDS.min(p);
    let (mut path, mut fits) = (Vec::<PathStep>::new(), Vec::<Minimum>::new());
    let mut stopped = false;
    for &penalty in penalties {
        let found = match solve(whole, penalty) {
            Err(Error::Stopped) if !fits.is_empty() => {
                stopped = true;
                break;
            }
            found => found?,
        };
        if found.stopped && !fits.is_empty() {
            // One that was fitted to the end is better.
            stopped = true;
            break;
        }
        let edges = found.values[support.n..].iter().filter(|value| **value != 0.0).count();
        path.push(PathStep { penalty, edges, gap: found.gap, held_out: 0.0 });
        stopped = found.stopped;
        fits.push(found);
        if stopped {
            break;
        }
    }
    'folds: for fold in (0..folds).filter(|_| !stopped) {
        let kept = second_moments(ground, support, |feature| feature % folds != fold)?;
        let out = second_moments(ground, support, |feature| feature % folds == fold)?;
        let count = (fold..p).step_by(folds).len() as f64;
        let mut densities = Vec::with_capacity(path.len());
        for step in &path {
            let found = match solve(&kept, step.penalty) {
                Ok(found) if !found.stopped => found,
                Ok(_) | Err(Error::Stopped) => {
                    stopped = true;
                    break 'folds;
                }
                Err(error) => return Err(error),
            };
            densities.push(density(support, &found, &out, count));
        }
        path.iter_mut().zip(densities).for_each(|(step, density)| step.held_out += density);
    }
    let best = (0..path.len()).max_by(|&a, &b| path[a].held_out.total_cmp(&path[b].held_out));
    let best = best.map(|at| (path[at].penalty, fits.swap_remove(at)));
    Ok(Judged { best: best.ok_or_else(|| Error::parameter("a path needs a penalty; give one"))?, path, stopped })
}

/// X̃ X̃ᵀ/p on the support, of the chosen features; where only distances are known −½ H D² H, as if of one feature.
fn second_moments(ground: Measured<'_>, support: &Support, chosen: impl Fn(usize) -> bool) -> Result<Vec<f64>> {
    let n = support.n;
    let pairs = (0..n).map(|i| (i, i)).chain(support.ends.iter().map(|&(i, j)| (i as usize, j as usize)));
    let moments: Vec<f64> = match ground {
        Measured::Points(points, _) => {
            let mean = points.column_means();
            let columns: Vec<usize> = (0..points.cols()).filter(|&c| chosen(c)).collect();
            let product = |(i, j): (usize, usize)| {
                let (a, b) = (points.row(i), points.row(j));
                let sum: f64 = columns.iter().map(|&c| (a[c] - mean[c]) * (b[c] - mean[c])).sum();
                sum / columns.len() as f64
            };
            pairs.map(product).collect()
        }
        Measured::Distances(distances) => {
            let square = |i: usize, j: usize| distances.between(i, j).powi(2);
            let means: Vec<f64> = (0..n).map(|i| (0..n).map(|j| square(i, j)).sum::<f64>() / n as f64).collect();
            let all = means.iter().sum::<f64>() / n as f64;
            pairs.map(|(i, j)| 0.5 * (means[i] + means[j] - all - square(i, j))).collect()
        }
    };
    if moments[..n].iter().all(|s| *s <= 0.0) {
        return Err(Error::data("all points coincide and have no covariance; give points that differ"));
    }
    Ok(moments)
}

fn afford_sparse(analysis: &Analysis, memory: u64) -> Result<()> {
    let way_out = "use a smaller `neighbors`, `graph` mutual, or fewer points";
    let needed = 3 * analysis.memory();
    if needed > memory {
        let what = "the factors and the inverse on their pattern".into();
        return Err(Error::Memory { what, needed, limit: memory, way_out: way_out.into() });
    }
    if analysis.flops > DEAR_FLOPS {
        return Err(Error::parameter(format!(
            "every one of some 1,000 products would take {:.1e} flops and {}; {way_out}",
            analysis.flops,
            bytes(needed)
        )));
    }
    Ok(())
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
    let flops = 6.0 * (n as f64).powi(3);
    if flops > DEAR_FLOPS {
        return Err(Error::parameter(format!(
            "some 1,000 products of all pairs of {n} points would take {flops:.1e} flops each; give `neighbors`, as in `neighbors` 20"
        )));
    }
    Ok(())
}
