//! The unfolding within a subspace: the largest variance of K = VQVᵀ that keeps every distance, for a few given
//! directions V.
//!
//! ```text
//! maximize tr VQVᵀ      Q ⪰ 0,  a[e]ᵀ Q a[e] ≤ D[e]               a[e] = Vᵀ b[e]
//! minimize Σ D[e] w[e]  w ≥ 0,  Σ w[e] a[e] a[e]ᵀ ⪰ VᵀMV = I      M the counts of the points
//! ```
//!
//! Methods with sparse precisions determine directions and not lengths; Q gives them their lengths, and its eigenvalues
//! are those of K. Only about m(m+1)/2 of the pairs are active, so the problem is solved over some of the pairs; the
//! most violated ones are added until scaling the solution down by its worst pair costs no more than the tolerance. The
//! multipliers of the few, scaled so that the smallest eigenvalue is one, are feasible for all pairs, so both bounds
//! hold.
//!
//! L. Xiao, J. Sun, S. Boyd. A duality view of spectral methods for dimensionality reduction. ICML 2006, section 6.2,
//! (21).

use crate::field::unfolding::Pairs;
use crate::field::unfolding::interior;
use crate::field::unfolding::interior::{largest_trace, trace, weighted};
use eigenfold_linalg::dense::{inner, product, symmetric_eigen};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Observer;
use faer::{Mat, MatRef};

/// The maximum number of rounds; about ten are usual.
const ROUNDS: usize = 200;
/// Pairs per chunk of parallel work.
const CHUNK: usize = 8192;

/// The best unfolding within a subspace, in the units of the pairs.
#[derive(Clone, Debug)]
pub(crate) struct Subspace {
    /// Q, feasible for every pair.
    pub(crate) q: Mat<f64>,
    /// tr VQVᵀ, a lower bound of the largest variance within the subspace.
    pub(crate) primal: f64,
    /// Σ D w, an upper bound of it; it does not bound the variance of embeddings outside the subspace.
    pub(crate) dual: f64,
    /// Steps of the interior point, over all rounds.
    pub(crate) iterations: usize,
    /// Whether the bounds met to the tolerance.
    pub(crate) converged: bool,
}

/// Solves both problems to a relative gap; the columns of `basis`, one row per point of the pairs, are those of
/// [`orthonormal`].
///
/// # Errors
///
/// If the graph of the pairs has several connected components, so that the variance is unbounded, or the observer
/// stopped the run.
pub(crate) fn solve(
    pairs: &Pairs,
    basis: MatRef<'_, f64>,
    tolerance: f64,
    observer: &dyn Observer,
) -> Result<Subspace> {
    let a = rows(pairs, basis);
    let dim = a.ncols() * (a.ncols() + 1) / 2;
    let mut within = Within { a, chosen: Vec::new(), is_chosen: vec![false; pairs.ends.len()] };
    within.start(4 * dim);
    let mut found: Option<Subspace> = None;
    let (mut iterations, mut gap) = (0, 1.0f64);
    for _ in 0..ROUNDS {
        if observer.stop() {
            return found.ok_or(Error::Stopped);
        }
        let all = within.chosen.len() == pairs.ends.len();
        let few = within.few();
        let Some(solved) = largest_trace(few.as_ref(), (0.1 * gap).clamp(0.1 * tolerance, 0.01)) else {
            if all {
                return Err(Error::data(
                    "the graph has several connected components, so the variance is unbounded",
                    "use `disconnected` separate",
                ));
            }
            within.add_spread(4 * within.chosen.len());
            continue;
        };
        iterations += solved.steps;
        let forms = within.forms(&solved.q);
        let worst = forms.iter().copied().fold(1.0, f64::max);
        let least = symmetric_eigen(weighted(few.as_ref(), &solved.w).as_ref())?.0.last().copied().unwrap_or(1.0);
        let (primal, dual) = (trace(&solved.q) / worst, solved.w.iter().sum::<f64>() / least);
        let best = found.get_or_insert_with(|| Subspace {
            q: Mat::zeros(0, 0),
            primal: 0.0,
            dual: f64::INFINITY,
            iterations: 0,
            converged: false,
        });
        if primal > best.primal {
            (best.primal, best.q) = (primal, faer::Scale(1.0 / worst) * &solved.q);
        }
        best.dual = best.dual.min(dual);
        let before = gap;
        gap = 1.0 - best.primal / best.dual;
        best.iterations = iterations;
        best.converged = gap <= tolerance;
        if best.converged || (all && gap >= before) {
            break;
        }
        within.add_violated(&forms, dim);
    }
    found.ok_or_else(|| Error::numerical("the unfolding within the subspace has no start", "use another basis"))
}

/// The columns of a map as an orthonormal basis over the points of the pairs: coinciding points are at their mean, the
/// columns are centered and orthonormal in the inner product weighted by the counts, and linearly dependent ones are left out.
///
/// # Errors
///
/// If nothing varies.
pub(crate) fn orthonormal(pairs: &Pairs, map: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let (n, total) = (pairs.len(), pairs.counts.iter().sum::<f64>());
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for q in 0..map.ncols() {
        let mut column = vec![0.0; n];
        for (i, &at) in pairs.of.iter().enumerate() {
            column[at as usize] += map[(i, q)] / pairs.counts[at as usize];
        }
        let before = column.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        // Twice, since a column may vary little about a large mean.
        for _ in 0..2 {
            let mean = column.iter().zip(&pairs.counts).map(|(x, m)| m * x).sum::<f64>() / total;
            column.iter_mut().for_each(|x| *x -= mean);
        }
        let size = column.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let length = column.iter().zip(&pairs.counts).map(|(x, m)| m * (x / size).powi(2)).sum::<f64>().sqrt() * size;
        if length > 0.0 && size > 1e-12 * before {
            columns.push(column.iter().zip(&pairs.counts).map(|(x, m)| m.sqrt() * x / length).collect());
        }
    }
    let unit = Mat::from_fn(n, columns.len(), |i, q| columns[q][i]);
    let (values, vectors) = symmetric_eigen(inner(unit.as_ref(), unit.as_ref()).as_ref())?;
    let rank = values.iter().filter(|&&value| value > 1e-10).count();
    if rank == 0 {
        return Err(Error::data("the coordinates do not vary, so there is nothing to rescale", "use another k"));
    }
    let turned = product(unit.as_ref(), vectors.as_ref().subcols(0, rank));
    Ok(Mat::from_fn(n, rank, |i, q| turned[(i, q)] / (values[q] * pairs.counts[i]).sqrt()))
}

/// Vᵀ b[e] / √D[e], one row per pair.
fn rows(pairs: &Pairs, basis: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(pairs.ends.len(), basis.ncols(), |e, q| {
        let (i, j) = pairs.ends[e];
        (basis[(i as usize, q)] - basis[(j as usize, q)]) / pairs.squares[e].sqrt()
    })
}

/// All pairs, and those of the current problem.
struct Within {
    a: Mat<f64>,
    chosen: Vec<usize>,
    is_chosen: Vec<bool>,
}

impl Within {
    /// The rows of the chosen pairs.
    fn few(&self) -> Mat<f64> {
        Mat::from_fn(self.chosen.len(), self.a.ncols(), |at, q| self.a[(self.chosen[at], q)])
    }

    /// aᵀQa for every pair.
    fn forms(&self, q: &Mat<f64>) -> Vec<f64> {
        let count = self.a.nrows();
        let components: Vec<Vec<f64>> = parallel::collect(count.div_ceil(CHUNK), |component| {
            let start = component * CHUNK;
            interior::forms(self.a.subrows(start, CHUNK.min(count - start)), q)
        });
        components.concat()
    }

    /// The pairs that become active first if all directions have one length, or a single one has any, and some evenly
    /// spaced ones.
    fn start(&mut self, count: usize) {
        let m = self.a.ncols();
        let squares = self.forms(&Mat::identity(m, m));
        self.add_largest(&squares, count / 2, f64::NEG_INFINITY);
        for q in 0..m {
            let along: Vec<f64> = (0..self.a.nrows()).map(|e| self.a[(e, q)].powi(2)).collect();
            self.add_largest(&along, m, f64::NEG_INFINITY);
        }
        self.add_spread(count / 2);
    }

    /// The most violated pairs, and a sample of all violated ones.
    fn add_violated(&mut self, forms: &[f64], count: usize) {
        self.add_largest(forms, count, 1.0);
        let rest: Vec<usize> = (0..forms.len()).filter(|&e| forms[e] > 1.0 && !self.is_chosen[e]).collect();
        let stride = rest.len().div_ceil(count).max(1);
        rest.into_iter().step_by(stride).for_each(|e| self.add(e));
    }

    /// The largest values above a limit that are not chosen yet, ties by index.
    fn add_largest(&mut self, values: &[f64], count: usize, limit: f64) {
        let mut order: Vec<usize> = (0..values.len()).filter(|&e| values[e] > limit && !self.is_chosen[e]).collect();
        let larger = |a: &usize, b: &usize| values[*b].total_cmp(&values[*a]).then(a.cmp(b));
        if count < order.len() {
            order.select_nth_unstable_by(count, larger);
            order.truncate(count);
        }
        order.sort_unstable();
        order.into_iter().for_each(|e| self.add(e));
    }

    /// At least this many in total, evenly over the list.
    fn add_spread(&mut self, count: usize) {
        let stride = (self.a.nrows() / count.max(1)).max(1);
        (0..self.a.nrows()).step_by(stride).for_each(|e| self.add(e));
    }

    fn add(&mut self, e: usize) {
        if !self.is_chosen[e] {
            self.is_chosen[e] = true;
            self.chosen.push(e);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::field::unfolding::Constraints;
    use eigenfold_graph::Graph;
    use eigenfold_linalg::progress::Silent;

    /// A ring of points with chords, of lengths without a pattern, one of them zero.
    fn pairs(n: u32) -> Pairs {
        let length = |i: u32| if i == 3 { 0.0 } else { 0.5 + (f64::from(i) * 0.618).fract() };
        let list = |i: u32| vec![((i + 1) % n, length(i)), ((i + 3) % n, 1.0 + length(i + 7))];
        Pairs::new(&Graph::from_lists((0..n).map(list).collect()).unwrap(), Constraints::Edges, None).unwrap()
    }

    fn basis(pairs: &Pairs, m: usize) -> Mat<f64> {
        let map = Mat::from_fn(pairs.of.len(), m, |i, q| (0.3 + (q + 1) as f64 * (i * i) as f64 * 0.37).sin());
        orthonormal(pairs, map.as_ref()).unwrap()
    }

    #[test]
    fn a_basis_is_orthonormal_in_the_masses_and_has_no_idle_column() {
        let pairs = pairs(20);
        assert_eq!(pairs.len(), 19);
        let wide = Mat::from_fn(20, 4, |i, q| match q {
            3 => 5.0,
            2 => 1e-9 * (i as f64 + (i as f64).cos()) + 7.0,
            1 => i as f64,
            _ => (i as f64).cos(),
        });
        let basis = orthonormal(&pairs, wide.as_ref()).unwrap();
        assert_eq!(basis.ncols(), 2);
        let heavy = Mat::from_fn(19, 2, |i, q| pairs.counts[i] * basis[(i, q)]);
        assert!((inner(heavy.as_ref(), basis.as_ref()) - Mat::<f64>::identity(2, 2)).norm_max() < 1e-12);
        assert!((0..2).all(|q| (0..19).map(|i| heavy[(i, q)]).sum::<f64>().abs() < 1e-9));
        assert!(orthonormal(&pairs, Mat::from_fn(20, 1, |_, _| 2.0).as_ref()).is_err());
    }

    #[test]
    fn one_direction_is_as_long_as_its_worst_pair_allows() {
        let pairs = pairs(30);
        let basis = basis(&pairs, 1);
        let found = solve(&pairs, basis.as_ref(), 1e-6, &Silent).unwrap();
        let a = |(i, j): (u32, u32)| basis[(i as usize, 0)] - basis[(j as usize, 0)];
        let allowed = pairs.ends.iter().zip(&pairs.squares).map(|(&ends, d)| d / a(ends).powi(2));
        let exact = allowed.fold(f64::INFINITY, f64::min);
        assert!((found.primal - exact).abs() <= 1e-6 * exact, "{} {exact}", found.primal);
        assert!(found.primal <= exact * (1.0 + 1e-12) && found.dual >= exact * (1.0 - 1e-12));
    }

    /// Every angle of the axes and every ratio of their lengths, each as long as the pairs allow.
    #[test]
    fn two_directions_are_as_long_as_a_fine_search_finds() {
        let pairs = pairs(14);
        let basis = basis(&pairs, 2);
        let a = rows(&pairs, basis.as_ref());
        let value = |angle: f64, ratio: f64| {
            let (sin, cos) = angle.sin_cos();
            let turned = |e: usize| (cos * a[(e, 0)] + sin * a[(e, 1)], cos * a[(e, 1)] - sin * a[(e, 0)]);
            let worst = (0..a.nrows()).map(turned).map(|(x, y)| x * x + ratio * y * y).fold(0.0, f64::max);
            (1.0 + ratio) / worst
        };
        let (mut best, mut at, mut reach) =
            (0.0, (std::f64::consts::FRAC_PI_2, 0.5), (std::f64::consts::FRAC_PI_2, 0.5));
        for _ in 0..4 {
            let (center, step) = (at, (reach.0 / 200.0, reach.1 / 200.0));
            for (i, j) in (-200..=200).flat_map(|i| (-200..=200).map(move |j| (f64::from(i), f64::from(j)))) {
                let (angle, ratio) = (center.0 + i * step.0, (center.1 + j * step.1).clamp(0.0, 1.0));
                if value(angle, ratio) > best {
                    (best, at) = (value(angle, ratio), (angle, ratio));
                }
            }
            reach = (5.0 * step.0, 5.0 * step.1);
        }
        let found = solve(&pairs, basis.as_ref(), 1e-6, &Silent).unwrap();
        assert!(best <= found.dual && best >= found.primal * (1.0 - 1e-5), "{best} {}", found.primal);
    }

    #[test]
    fn every_pair_is_kept_and_the_two_sides_meet() {
        let pairs = pairs(1500);
        let basis = basis(&pairs, 6);
        let found = solve(&pairs, basis.as_ref(), 1e-6, &Silent).unwrap();
        assert!(found.converged && found.dual >= found.primal && found.dual - found.primal <= 1e-6 * found.dual);
        let a = rows(&pairs, basis.as_ref());
        let worst = interior::forms(a.as_ref(), &found.q).into_iter().fold(0.0, f64::max);
        assert!(worst <= 1.0 + 1e-12, "{worst}");
        assert!((trace(&found.q) - found.primal).abs() < 1e-12 * found.primal);
        assert!(*symmetric_eigen(found.q.as_ref()).unwrap().0.last().unwrap() > 0.0);
    }

    #[test]
    fn nothing_bounds_components_that_drift_apart() {
        let graph = Graph::from_lists(vec![vec![(1, 1.0)], vec![], vec![(3, 1.0)], vec![]]).unwrap();
        let pairs = Pairs::new(&graph, Constraints::Edges, None).unwrap();
        let apart = orthonormal(&pairs, faer::mat![[0.0], [0.0], [1.0], [1.0f64]].as_ref()).unwrap();
        assert!(
            solve(&pairs, apart.as_ref(), 1e-6, &Silent)
                .unwrap_err()
                .to_string()
                .contains("several connected components")
        );
    }
}
