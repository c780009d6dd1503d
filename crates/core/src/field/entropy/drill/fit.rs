//! The fit of drill: its second moments, its penalty or a path of them, and what the work costs before it starts.

use crate::error::{Error, Result, bytes};
use crate::field::entropy::drill::lasso::{Arithmetic, Lasso, Precision, Support, is_nearly_full};
use crate::field::entropy::drill::penalty::Penalty;
use crate::field::entropy::drill::{Drill, PathStep};
use crate::ground::Ground;
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
    pub(crate) found: Precision,
    pub(crate) penalty: f64,
    /// X̃ X̃ᵀ/p on the support.
    moments: Vec<f64>,
    pub(crate) path: Vec<PathStep>,
}

impl Fitted {
    /// p/2 (log det T − tr T X̃X̃ᵀ/p − n log 2π).
    pub(crate) fn log_likelihood(&self, support: &Support, features: f64) -> f64 {
        density(support, &self.found, &self.moments, features)
    }
}

/// The log density of features with these second moments.
fn density(support: &Support, found: &Precision, moments: &[f64], features: f64) -> f64 {
    let constant = support.n as f64 * std::f64::consts::TAU.ln();
    0.5 * features * (found.log_determinant - support.inner(&found.values, moments) - constant)
}

impl Drill {
    /// The precision of the points under the penalty, or the best of a path of them.
    pub(crate) fn fit(
        &self,
        ground: Ground<'_>,
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
        let (penalty, path) = match self.penalty {
            Penalty::Auto => (AUTO * mean, Vec::new()),
            Penalty::Value(value) => (value, Vec::new()),
            Penalty::Path { from, to, count } => {
                let penalties = Penalty::path(from, to, count);
                let path = follow(ground, support, &penalties, &solve)?;
                let best = path.iter().max_by(|a, b| a.held_out.total_cmp(&b.held_out));
                (best.map_or(to, |step| step.penalty), path)
            }
        };
        Ok(Fitted { found: solve(&moments, penalty)?, penalty, moments, path })
    }
}

/// The penalties of a path, largest first, each judged by the features that were left out of its fit.
fn follow(
    ground: Ground<'_>,
    support: &Support,
    penalties: &[f64],
    solve: &dyn Fn(&[f64], f64) -> Result<Precision>,
) -> Result<Vec<PathStep>> {
    let Some(p) = ground.features().filter(|&p| p >= 2) else {
        return Err(Error::parameter(
            "a path of penalties needs at least two features to choose by; give one `penalty`",
        ));
    };
    let folds = FOLDS.min(p);
    let mut path: Vec<PathStep> = Vec::new();
    let whole = second_moments(ground, support, |_| true)?;
    for &penalty in penalties {
        let found = solve(&whole, penalty)?;
        let edges = found.values[support.n..].iter().filter(|value| **value != 0.0).count();
        path.push(PathStep { penalty, edges, gap: found.gap, held_out: 0.0 });
    }
    for fold in 0..folds {
        let kept = second_moments(ground, support, |feature| feature % folds != fold)?;
        let out = second_moments(ground, support, |feature| feature % folds == fold)?;
        let count = (fold..p).step_by(folds).len() as f64;
        for step in &mut path {
            step.held_out += density(support, &solve(&kept, step.penalty)?, &out, count);
        }
    }
    Ok(path)
}

/// X̃ X̃ᵀ/p on the support, of the chosen features; where only distances are known −½ H D² H, as if of one feature.
fn second_moments(ground: Ground<'_>, support: &Support, chosen: impl Fn(usize) -> bool) -> Result<Vec<f64>> {
    let n = support.n;
    let pairs = (0..n).map(|i| (i, i)).chain(support.ends.iter().map(|&(i, j)| (i as usize, j as usize)));
    let moments: Vec<f64> = match ground {
        Ground::Points(points) => {
            let mean = points.column_means();
            let columns: Vec<usize> = (0..points.cols()).filter(|&c| chosen(c)).collect();
            let product = |(i, j): (usize, usize)| {
                let (a, b) = (points.row(i), points.row(j));
                let sum: f64 = columns.iter().map(|&c| (a[c] - mean[c]) * (b[c] - mean[c])).sum();
                sum / columns.len() as f64
            };
            pairs.map(product).collect()
        }
        Ground::Distances(distances) => {
            let square = |i: usize, j: usize| distances.row(i)[j].powi(2);
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
