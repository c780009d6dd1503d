//! Whitening: uncorrelated columns of variance one, in which Mahalanobis distances are Euclidean.
//!
//! ```text
//! d²(a, b) = (a − b)ᵀ C⁻¹ (a − b) = ‖z(a) − z(b)‖²      z(x) = L⁻¹ S⁻¹ (x − x̄)      C = S L Lᵀ S
//! ```
//!
//! C is the covariance of the points, over n − 1, S the standard deviations of the columns and L Lᵀ = S⁻¹ C S⁻¹ their
//! correlations. L[j,j]² is the fraction of the variance of column j that the columns before it leave unexplained:
//! where it vanishes, C is singular because of that column.
//!
//! P. C. Mahalanobis. On the generalised distance in statistics. Proceedings of the National Institute of Sciences of India 2,
//! 1936.

use super::{ColumnScale, column, title};
use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::inner;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use faer::MatRef;
use serde::{Deserialize, Serialize};

/// A column with less than this fraction of unexplained variance is a linear combination of others, up to rounding.
const OWN: f64 = 1e-10;
/// The suggestion if there is no inverse.
const WAY_OUT: &str = "or use `metric` euclidean with `standardize`";

/// A whitening transformation learned from points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Whitening {
    /// x̄ and S.
    columns: Vec<[f64; 2]>,
    /// The lower triangle of L, row after row.
    factor: Vec<f64>,
}

impl Whitening {
    /// From the covariance of points; `names` are those of their columns, if known.
    ///
    /// # Errors
    ///
    /// If the covariance is singular; the message names the column.
    pub fn learn(points: &Points, names: Option<&[String]>) -> Result<Whitening> {
        let (n, p) = (points.rows(), points.cols());
        let fact = format!("the covariance of {p} columns has no inverse");
        if n <= p {
            let why = format!("{n} rows span at most {} directions", n.saturating_sub(1));
            return Err(Error::too_small(
                n,
                p + 1,
                format!("{fact}: {why}"),
                format!("give more rows or fewer columns, {WAY_OUT}"),
            ));
        }
        let refused = |j: usize, why: &str| {
            Error::data(format!("{fact}: {} {why}", title(j, names)), format!("leave that column out, {WAY_OUT}"))
                .at_column(j)
        };
        let mut columns = Vec::with_capacity(p);
        for j in 0..p {
            let numbers = (0..n).map(|i| points.row(i)[j]).collect();
            let (center, scale, spread) = column::learned(ColumnScale::Unit, numbers);
            if spread == column::Spread::Constant {
                return Err(refused(j, "is constant"));
            }
            columns.push([center, scale * (n as f64 / (n as f64 - 1.0)).sqrt()]);
        }
        let mut whitening = Whitening { columns, factor: Vec::new() };
        let mut scaled = points.to_values();
        parallel::chunks_mut(&mut scaled, p, |_, row| whitening.scale(row));
        let scaled = MatRef::from_row_major_slice(&scaled, n, p);
        let correlations = inner(scaled, scaled);
        for j in 0..p {
            for i in 0..=j {
                let above: f64 = (0..i).map(|k| whitening.at(j, k) * whitening.at(i, k)).sum();
                let rest = correlations[(j, i)] / (n as f64 - 1.0) - above;
                let entry = if i < j { rest / whitening.at(i, i) } else { rest.max(0.0).sqrt() };
                whitening.factor.push(entry);
            }
            let own = whitening.at(j, j).powi(2);
            if own < OWN {
                let why =
                    format!("is a linear combination of the columns before it, except for {own:.0e} of its variance");
                return Err(refused(j, &why));
            }
        }
        Ok(whitening)
    }

    /// L[j,i], i ≤ j.
    fn at(&self, j: usize, i: usize) -> f64 {
        self.factor[j * (j + 1) / 2 + i]
    }

    /// S⁻¹ (x − x̄).
    fn scale(&self, row: &mut [f64]) {
        row.iter_mut().zip(&self.columns).for_each(|(x, [center, scale])| *x = (*x - center) / scale);
    }

    /// The number of columns of the points.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// z of every row; missing cells must have been imputed.
    ///
    /// # Errors
    ///
    /// If the number of columns differs, or a result is too large.
    pub fn apply(&self, points: &Points) -> Result<Points> {
        let (cols, given) = (self.columns(), points.cols());
        if cols != given {
            let fact = format!("the rows have {given} columns and the covariance is of {cols}");
            return Err(Error::mismatch("columns", (given, cols), fact, "give the same columns in the same order"));
        }
        self.applied(points).checked()
    }

    /// As [`Whitening::apply`], for points on which it is known to be defined.
    pub(crate) fn applied(&self, points: &Points) -> Points {
        let mut values = points.to_values();
        parallel::chunks_mut(&mut values, self.columns(), |_, row| {
            self.scale(row);
            for j in 0..row.len() {
                let own = &self.factor[j * (j + 1) / 2..][..=j];
                let before: f64 = own[..j].iter().zip(&row[..j]).map(|(l, z)| l * z).sum();
                row[j] = (row[j] - before) / own[j];
            }
        });
        points.with_values(values)
    }

    /// x̄ + S L z for a point, or S L z for a direction.
    pub(crate) fn back(&self, z: &[f64], place: bool) -> Vec<f64> {
        let one = |(j, [center, scale]): (usize, &[f64; 2])| {
            let own = &self.factor[j * (j + 1) / 2..][..=j];
            scale * own.iter().zip(z).map(|(l, z)| l * z).sum::<f64>() + if place { *center } else { 0.0 }
        };
        self.columns.iter().enumerate().map(one).collect()
    }

    /// Whether it can have been learned from points with this many columns.
    pub(crate) fn is_sound(&self, cols: usize) -> bool {
        let sound = |[center, scale]: &[f64; 2]| center.is_finite() && *scale > 0.0 && scale.is_finite();
        self.columns() == cols
            && self.columns.iter().all(sound)
            && self.factor.len() == cols * (cols + 1) / 2
            && self.factor.iter().all(|l| l.is_finite())
            && (0..cols).all(|j| self.at(j, j) > 0.0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use eigenfold_graph::Metric;

    fn cloud(unit: f64) -> Points {
        let row = |i: usize| {
            let [a, b, c] = [1.1, 2.3, 3.7].map(|by| (i as f64 * by).sin());
            [unit * (5.0 + a), 3.0 * a + 0.5 * b, 100.0 * (b + 0.2 * c)]
        };
        Points::from_rows(&(0..50).map(row).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn whitened_columns_have_variance_one_and_no_correlation_and_come_back() {
        for unit in [1e-55, 1.0, 1e55] {
            let points = cloud(unit);
            let whitening = Whitening::learn(&points, None).unwrap();
            let white = whitening.apply(&points).unwrap();
            for j in 0..3 {
                for i in 0..=j {
                    let sum: f64 = (0..50).map(|row| white.row(row)[i] * white.row(row)[j]).sum();
                    let wanted = if i == j { 1.0 } else { 0.0 };
                    assert!((sum / 49.0 - wanted).abs() < 1e-12, "{i} {j} {sum}");
                }
            }
            for row in 0..50 {
                let back = whitening.back(white.row(row), true);
                let off = |j: usize| (back[j] - points.row(row)[j]).abs();
                assert!((0..3).all(|j| off(j) <= 1e-12 * [unit, 1.0, 100.0][j]), "{row}");
            }
        }
    }

    /// Any invertible linear map of the columns leaves Mahalanobis distances unchanged.
    #[test]
    fn distances_do_not_depend_on_a_linear_change_of_the_columns() {
        let points = cloud(1.0);
        let changed = |x: &[f64]| [2.0 * x[0] - x[1] + 7.0, x[1] + 0.01 * x[2], 1e-3 * x[2] - 4.0 * x[0]];
        let other = Points::from_rows(&(0..50).map(|i| changed(points.row(i))).collect::<Vec<_>>()).unwrap();
        let [one, two] = [&points, &other].map(|x| Whitening::learn(x, None).unwrap().apply(x).unwrap());
        for i in 1..50 {
            let [a, b] = [&one, &two].map(|z| Metric::Euclidean.distance(z.row(0), z.row(i)));
            assert!((a / b - 1.0).abs() < 1e-10, "{a} {b}");
        }
    }

    #[test]
    fn a_covariance_without_an_inverse_names_the_column() {
        let refusal = |of: &dyn Fn(f64) -> [f64; 3]| {
            let points = Points::from_rows(&(0..20).map(|i| of(f64::from(i))).collect::<Vec<_>>()).unwrap();
            let names = ["a", "b", "c"].map(String::from);
            Whitening::learn(&points, Some(&names)).unwrap_err().to_string()
        };
        let start = "the covariance of 3 columns has no inverse: ";
        let message = refusal(&|i| [i, i.sin(), 2.0 * i - 3.0 * i.sin() + 1.0]);
        assert!(
            message.starts_with(&format!("{start}column \"c\" is a linear combination of the columns before")),
            "{message}"
        );
        assert!(message.contains("; leave that column out, or use `metric` euclidean with `standardize`"), "{message}");
        let message = refusal(&|i| [i, 0.1, i.sin()]);
        assert!(message.starts_with(&format!("{start}column \"b\" is constant")), "{message}");
        let few = Points::from_rows(&[[1.0, 2.0, 3.0], [2.0, 1.0, 0.0], [0.5, 0.0, 1.0]]).unwrap();
        let message = Whitening::learn(&few, None).unwrap_err().to_string();
        assert!(message.starts_with(&format!("{start}3 rows span at most 2 directions")), "{message}");
    }
}
