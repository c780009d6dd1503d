//! The covariance behind a matrix of distances, known by what it does to vectors.
//!
//! With S the squared distances, r their row means and m their grand mean,
//!
//! ```text
//! B = −½ H S H,  H = I − 11'/n          B x = −½ (S x − r (1'x) − 1 (r'x) + m 1 (1'x))
//! ```
//!
//! S is one triangle (see `triangle.rs`), which makes B symmetric to the last bit. Above `SINGLE_ABOVE` points
//! its entries are kept in single precision; sums are always in double.
//!
//! W. S. Torgerson. Multidimensional scaling: I. Theory and method. Psychometrika 17(4), 1952.
//! J. B. Tenenbaum, V. de Silva, J. C. Langford. A global geometric framework for nonlinear dimensionality reduction.
//! Science 290, 2000.

use crate::field::scaling::triangle::{fill, grouped_product};
use eigenfold_graph::Paths;
use eigenfold_graph::paths::panels::{Panels as Geodesics, power_of_two};
use eigenfold_graph::paths::sweep::{LANES, Real};
use eigenfold_graph::points::Points;
use eigenfold_linalg::Operator;
use eigenfold_linalg::eigen::top::operator_top;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Observer;
use faer::{MatMut, MatRef};

/// The double-centered squared distances B = −½ H S H.
#[derive(Clone, Debug)]
pub(crate) struct Centered {
    panels: Panels,
    /// The point at each row of the panels, if not the row itself.
    order: Option<Vec<u32>>,
    /// The panels are in units of this, squared.
    unit: f64,
    row_means: Vec<f64>,
    grand_mean: f64,
}

#[derive(Clone, Debug)]
enum Panels {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Centered {
    /// Above this number of points the squared distances are kept in single precision.
    pub(crate) const SINGLE_ABOVE: usize = 4000;

    /// From the lengths of the shortest paths between all pairs of points.
    ///
    /// # Errors
    ///
    /// [`Error::Disconnected`] if some pair has no path, [`Error::Stopped`] if the observer asks for it.
    pub(crate) fn from_paths(paths: &Paths, observer: &dyn Observer) -> Result<Centered> {
        Centered::from_paths_in(paths, paths.len() > Centered::SINGLE_ABOVE, observer)
    }

    fn from_paths_in(paths: &Paths, single: bool, observer: &dyn Observer) -> Result<Centered> {
        if paths.component_sizes().len() > 1 {
            return Err(Error::Disconnected { sizes: paths.component_sizes().to_vec(), connecting_k: None });
        }
        let n = paths.len();
        let panels = if single {
            let source = Geodesics::<f32>::new(paths);
            Panels::Single(fill(n, observer, |first, panel| source.fill(first, panel), square)?)
        } else {
            let source = Geodesics::<f64>::new(paths);
            Panels::Double(fill(n, observer, |first, panel| source.fill(first, panel), square)?)
        };
        Ok(Centered::new(n, panels, paths.order().map(<[u32]>::to_vec), paths.unit()))
    }

    /// From squared distances that are a function of the Euclidean ones: `map(‖x[i] − x[j]‖² / length²)`, in units of
    /// `unit` squared. With the identity B is the matrix of centered inner products.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the observer asks for it.
    pub(crate) fn from_euclidean(
        points: &Points,
        length: f64,
        unit: f64,
        map: impl Fn(f64) -> f64 + Copy + Sync + Send,
        observer: &dyn Observer,
    ) -> Result<Centered> {
        let n = points.rows();
        let panels = if n > Centered::SINGLE_ABOVE {
            Panels::Single(fill(n, observer, |first, panel| fill_euclidean(points, length, map, first, panel), |s| s)?)
        } else {
            Panels::Double(fill(n, observer, |first, panel| fill_euclidean(points, length, map, first, panel), |s| s)?)
        };
        Ok(Centered::new(n, panels, None, unit))
    }

    /// From the squared distance of every pair; it may be negative, as those of an indefinite kernel are.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the observer asks for it.
    pub(crate) fn from_squares(
        n: usize,
        square: impl Fn(usize, usize) -> f64 + Sync + Send,
        observer: &dyn Observer,
    ) -> Result<Centered> {
        // Where the triangle inequality holds no two points are further apart than twice the radius around the first.
        let radius = (0..n).map(|j| square(0, j).abs()).fold(0.0, f64::max).sqrt();
        let unit = power_of_two(radius);
        let entry = |i: usize, j: usize| square(i, j) / unit / unit;
        let panels = if n > Centered::SINGLE_ABOVE {
            Panels::Single(fill(n, observer, |first, panel| fill_entries(first, panel, entry), |s| s)?)
        } else {
            Panels::Double(fill(n, observer, |first, panel| fill_entries(first, panel, entry), |s| s)?)
        };
        Ok(Centered::new(n, panels, None, unit))
    }

    fn new(n: usize, panels: Panels, order: Option<Vec<u32>>, unit: f64) -> Centered {
        let mut centered = Centered { panels, order, unit, row_means: vec![0.0; n], grand_mean: 0.0 };
        let ones = vec![1.0; n];
        let sums = centered.product::<1>(MatRef::from_column_major_slice(&ones, n, 1));
        centered.row_means = sums.iter().map(|[sum]| sum / n as f64).collect();
        centered.grand_mean = centered.row_means.iter().sum::<f64>() / n as f64;
        centered
    }

    /// The mean squared distance from each point, r: a new point at squared distances δ² from all others goes to
    /// ½ Λ^(−½) V' (r − δ²).
    pub(crate) fn row_means(&self) -> &[f64] {
        &self.row_means
    }

    /// The mean of all squared distances, m.
    pub(crate) fn grand_mean(&self) -> f64 {
        self.grand_mean
    }

    /// How far the eigenvalues go below zero: minus the least of them, or zero.
    ///
    /// # Errors
    ///
    /// If no solver could run, or the observer stops it.
    pub(crate) fn below_zero(&self, seed: u64, observer: &dyn Observer) -> Result<f64> {
        Ok(operator_top(&Negated(self), 1, seed, observer)?.values.first().copied().unwrap_or(0.0).max(0.0))
    }

    /// About how many bytes the operator on `n` points keeps.
    pub(crate) fn memory(n: usize) -> u64 {
        let size = if n > Centered::SINGLE_ABOVE { 4 } else { 8 };
        let n = n as u64;
        (n.saturating_mul(n.saturating_add(LANES as u64)) / 2).saturating_mul(size)
    }

    /// S x, one to C columns, one row a point.
    fn product<const C: usize>(&self, x: MatRef<'_, f64>) -> Vec<[f64; C]> {
        let point = |row: usize| self.order.as_ref().map_or(row, |order| order[row] as usize);
        let mut rows = vec![[0.0; C]; x.nrows()];
        for (row, values) in rows.iter_mut().enumerate() {
            (0..x.ncols()).for_each(|c| values[c] = x[(point(row), c)]);
        }
        let sums = match &self.panels {
            Panels::Single(panels) => grouped_product(panels, &rows),
            Panels::Double(panels) => grouped_product(panels, &rows),
        };
        let factor = self.unit * self.unit;
        for (row, sum) in sums.iter().enumerate() {
            rows[point(row)] = sum.map(|sum| factor * sum);
        }
        rows
    }

    /// B x, one to C columns.
    fn centered_product<const C: usize>(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        let (r, m) = (&self.row_means, self.grand_mean);
        let sx = self.product::<C>(x);
        for c in 0..x.ncols() {
            let total: f64 = x.col(c).iter().sum();
            let weighted: f64 = x.col(c).iter().zip(r).map(|(x, r)| r * x).sum();
            for i in 0..x.nrows() {
                out[(i, c)] = -0.5 * (sx[i][c] - r[i] * total - weighted + m * total);
            }
        }
    }
}

impl Operator for Centered {
    fn dim(&self) -> usize {
        self.row_means.len()
    }

    /// n m / 2.
    fn trace(&self) -> Option<f64> {
        Some(0.5 * self.dim() as f64 * self.grand_mean)
    }

    fn apply(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        for first in (0..x.ncols()).step_by(8) {
            let count = (x.ncols() - first).min(8);
            let (x, out) = (x.subcols(first, count), out.as_mut().subcols_mut(first, count));
            match count {
                1 => self.centered_product::<1>(x, out),
                2..=4 => self.centered_product::<4>(x, out),
                _ => self.centered_product::<8>(x, out),
            }
        }
    }
}

/// −B.
struct Negated<'a>(&'a Centered);

impl Operator for Negated<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn apply(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        self.0.apply(x, out.as_mut());
        out.col_iter_mut().for_each(|column| column.iter_mut().for_each(|value| *value = -*value));
    }
}

#[inline(always)]
fn square<R: Real>(d: R) -> R {
    d * d
}

/// The entries on and below the diagonal of one panel.
fn fill_entries<R: Real>(first: usize, panel: &mut [R], entry: impl Fn(usize, usize) -> f64) {
    for (i, row) in panel.chunks_exact_mut(LANES).enumerate() {
        for (lane, value) in row.iter_mut().enumerate().take(i + 1) {
            *value = R::round(entry(first + i, first + lane));
        }
    }
}

/// Mapped squared Euclidean distances of the points of one panel to all points from its first on.
fn fill_euclidean<R: Real>(points: &Points, length: f64, map: impl Fn(f64) -> f64, first: usize, panel: &mut [R]) {
    // One feature after the other, so that the lanes are side by side.
    let lanes = LANES.min(points.rows() - first);
    let mut features = vec![[0.0; LANES]; points.cols()];
    for lane in 0..lanes {
        points.row(first + lane).iter().zip(&mut features).for_each(|(&value, feature)| feature[lane] = value);
    }
    pulp::Arch::new().dispatch(Euclidean { points, features: &features, factor: 1.0 / length, map, first, panel });
}

/// Row by row of one panel, all its lanes at once.
struct Euclidean<'a, R, F> {
    points: &'a Points,
    features: &'a [[f64; LANES]],
    factor: f64,
    map: F,
    first: usize,
    panel: &'a mut [R],
}

impl<R: Real, F: Fn(f64) -> f64> pulp::WithSimd for Euclidean<'_, R, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        for (i, row) in self.panel.chunks_exact_mut(LANES).enumerate() {
            let mut sums = [0.0; LANES];
            for (&value, feature) in self.points.row(self.first + i).iter().zip(self.features) {
                for lane in 0..LANES {
                    let difference = (value - feature[lane]) * self.factor;
                    sums[lane] += difference * difference;
                }
            }
            row.iter_mut().zip(sums).for_each(|(entry, sum)| *entry = R::round((self.map)(sum)));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use eigenfold_graph::Graph;
    use eigenfold_linalg::progress::Silent;
    use faer::Mat;

    const EXACT: f64 = 1e-12;

    /// A ring of n points with chords: connected, and with paths that wind.
    fn ring(n: usize, length: f64) -> Paths {
        let edge = |i: usize, step: usize| (((i + step) % n) as u32, length * (1.0 + ((i * step) % 7) as f64));
        let lists = (0..n).map(|i| [1, 5, 17].map(|step| edge(i, step)).to_vec()).collect();
        Paths::new(&Graph::from_lists(lists).unwrap().union(), n)
    }

    /// Not a pattern, and of mean other than zero.
    fn block(n: usize, columns: usize) -> Mat<f64> {
        Mat::from_fn(n, columns, |i, c| ((i * 31 + c * 17 + i * i * c) % 101) as f64 / 50.0 - 0.8)
    }

    fn applied(operator: &Centered, x: &Mat<f64>) -> Mat<f64> {
        let mut out = Mat::zeros(x.nrows(), x.ncols());
        operator.apply(x.as_ref(), out.as_mut());
        out
    }

    /// −½ H S H by its definition.
    fn dense(distances: &[f64], n: usize) -> Mat<f64> {
        let h = Mat::from_fn(n, n, |i, j| f64::from(i == j) - 1.0 / n as f64);
        let s = Mat::from_fn(n, n, |i, j| distances[i * n + j].powi(2));
        &h * &s * &h * faer::Scale(-0.5)
    }

    fn trace_of(operator: &Centered) -> f64 {
        operator.trace().unwrap()
    }

    fn assert_is(operator: &Centered, b: &Mat<f64>, tolerance: f64) {
        for columns in [1, 3, 8, 11] {
            let x = block(b.nrows(), columns);
            let error = (applied(operator, &x) - b * &x).norm_max();
            let scale = b.norm_max() * b.nrows() as f64;
            assert!(error <= tolerance * scale, "{columns} columns: error {error} of {scale}");
        }
        let trace: f64 = (0..b.nrows()).map(|i| b[(i, i)]).sum();
        assert!((trace_of(operator) - trace).abs() <= tolerance * trace, "{} {trace}", trace_of(operator));
    }

    #[test]
    fn geodesics_give_the_dense_centered_matrix() {
        for n in [1, 18, LANES, 3 * LANES + 1, 150] {
            for length in [1.0, 1e60, 1e-60] {
                let paths = if n == 1 {
                    Paths::new(&Graph::from_lists(vec![vec![]]).unwrap().union(), 1)
                } else {
                    ring(n, length)
                };
                let all: Vec<usize> = (0..n).collect();
                let b = dense(&paths.from_sources(&all, &Silent).unwrap(), n);
                assert_is(&Centered::from_paths_in(&paths, false, &Silent).unwrap(), &b, EXACT);
                assert_is(&Centered::from_paths_in(&paths, true, &Silent).unwrap(), &b, 1e-6);
            }
        }
    }

    #[test]
    fn euclidean_distances_give_the_centered_inner_products() {
        let points =
            Points::from_rows(&(0..70).map(|i| [i as f64, 1e6 + (i * i % 13) as f64]).collect::<Vec<_>>()).unwrap();
        let means = points.column_means();
        let centered = Mat::from_fn(70, 2, |i, c| points.row(i)[c] - means[c]);
        let operator = Centered::from_euclidean(&points, 64.0, 64.0, |s| s, &Silent).unwrap();
        assert_is(&operator, &(&centered * centered.transpose()), EXACT);

        let square = |i: usize, j: usize| (0..2).map(|c| (points.row(i)[c] - points.row(j)[c]).powi(2)).sum::<f64>();
        let operator = Centered::from_squares(70, square, &Silent).unwrap();
        assert_is(&operator, &(&centered * centered.transpose()), EXACT);
    }

    /// Two points at distance 2: S = [0 4; 4 0], so B = [1 −1; −1 1].
    #[test]
    fn two_points_at_distance_two() {
        let operator = Centered::from_squares(2, |i, j| if i == j { 0.0 } else { 4.0 }, &Silent).unwrap();
        assert_eq!(applied(&operator, &Mat::identity(2, 2)), faer::mat![[1.0, -1.0], [-1.0, 1.0]]);
        assert_eq!((operator.row_means(), operator.grand_mean(), trace_of(&operator)), (&[2.0, 2.0][..], 2.0, 2.0));
    }

    #[test]
    fn the_same_bytes_for_one_thread_and_two() {
        let paths = ring(1100, 1.0);
        let x = block(1100, 8);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| applied(&Centered::from_paths_in(&paths, true, &Silent).unwrap(), &x))
        };
        assert_eq!(run(1), run(2));
    }

    #[test]
    fn a_graph_in_components_is_refused() {
        let components = Graph::from_lists(vec![vec![(1, 1.0)], vec![], vec![]]).unwrap().union();
        let error = Centered::from_paths(&Paths::new(&components, 3), &Silent).unwrap_err();
        assert!(matches!(error, Error::Disconnected { sizes, .. } if sizes == [2, 1]));
    }

    #[test]
    fn the_observer_can_stop_it() {
        struct Stop;
        impl Observer for Stop {
            fn inner(&self) -> Option<&dyn Observer> {
                None
            }

            fn stop(&self) -> bool {
                true
            }
        }
        assert!(matches!(Centered::from_paths(&ring(100, 1.0), &Stop), Err(Error::Stopped)));
    }
}
