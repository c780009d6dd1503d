//! The weights of the repulsion between two points, as sums of products of charges.
//!
//! ```text
//! ‖y[n] − y[m]‖² = ‖y[n]‖² + ‖y[m]‖² − 2 Σ_d y[n,d] y[m,d]
//! ```
//!
//! so that a sum over all pairs is one sum with the charges 1, one with ‖y‖², and one for each feature. Data with many
//! features keep their squares exactly and their products in as many principal components as there are charges.

use eigenfold_graph::points::Points;
use eigenfold_linalg::parallel;

/// Pairs on which the error of the weights is measured.
const SAMPLED: usize = 1000;
/// Up to this many points with more than this many features, all weights are stored in a table.
const TABLED: usize = 8000;
const FEW_FEATURES: usize = 6;

/// The weights of the repulsion of all pairs.
#[derive(Clone, Debug)]
pub(crate) enum Charges {
    /// 1, for this number of points.
    One(usize),
    /// ‖y[n] − y[m]‖².
    Squares(Squares),
}

/// Points whose squared distances are weights, in an internal unit, so that weights are of order one.
#[derive(Clone, Debug)]
pub(crate) struct Squares {
    /// The unit of length, a power of two.
    unit: f64,
    /// One feature after the other, each with mean zero.
    columns: Vec<f64>,
    count: usize,
    squares: Vec<f64>,
    /// All squared distances, if there are few points with many features.
    table: Option<Vec<f32>>,
}

impl Squares {
    pub(crate) fn table(&self) -> Option<&[f32]> {
        self.table.as_deref()
    }

    /// One feature after the other.
    pub(crate) fn columns(&self) -> (&[f64], usize) {
        (&self.columns, self.count)
    }

    pub(crate) fn column(&self, c: usize) -> &[f64] {
        let n = self.squares.len();
        &self.columns[c * n..(c + 1) * n]
    }

    /// ‖y‖².
    pub(crate) fn squares(&self) -> &[f64] {
        &self.squares
    }
}

impl Charges {
    /// The squared distances of points; products use the columns of `shown`, which may be fewer: the same points along
    /// some of their principal axes.
    pub(crate) fn squares(points: &Points, shown: &Points) -> Charges {
        let n = points.rows();
        let (mean, shown_mean) = (points.column_means(), shown.column_means());
        let largest = |row: &[f64]| row.iter().zip(&mean).fold(0.0, |most: f64, (y, m)| most.max((y - m).abs()));
        let largest = (0..n).map(|i| largest(points.row(i))).fold(0.0, f64::max);
        let unit = if largest > 0.0 { largest.log2().ceil().exp2() } else { 1.0 };
        let square = |i: usize| points.row(i).iter().zip(&mean).map(|(y, m)| ((y - m) / unit).powi(2)).sum();
        let columns = (0..shown.cols()).flat_map(|c| (0..n).map(move |i| (c, i)));
        let table = (n <= TABLED && points.cols() > FEW_FEATURES).then(|| {
            let square = |i: usize, j: usize| {
                points.row(i).iter().zip(points.row(j)).map(|(a, b)| ((a - b) / unit).powi(2)).sum::<f64>()
            };
            let mut table = vec![0.0; n * n];
            parallel::chunks_mut(&mut table, n, |i, row| {
                row.iter_mut().enumerate().for_each(|(j, entry)| *entry = square(i, j) as f32);
            });
            table
        });
        Charges::Squares(Squares {
            unit,
            table,
            columns: columns.map(|(c, i)| (shown.row(i)[c] - shown_mean[c]) / unit).collect(),
            count: shown.cols(),
            squares: (0..n).map(square).collect(),
        })
    }

    /// The unit of length of the weights, whose squares are in its square.
    pub(crate) fn unit(&self) -> f64 {
        match self {
            Charges::One(_) => 1.0,
            Charges::Squares(squares) => squares.unit,
        }
    }

    /// The error of the weights of some pairs, relative to their mean.
    pub(crate) fn error(&self, points: &Points) -> f64 {
        let (n, unit) = (points.rows(), self.unit());
        let pairs: Vec<(usize, usize)> =
            (0..SAMPLED.min(n)).map(|at| (at * n / SAMPLED.min(n), (at * 7919 + n / 2) % n)).collect();
        let square = |i: usize, j: usize| {
            points.row(i).iter().zip(points.row(j)).map(|(a, b)| ((a - b) / unit).powi(2)).sum::<f64>()
        };
        let off: f64 = pairs.iter().map(|&(i, j)| (self.weight(i, j) - square(i, j)).powi(2)).sum();
        let all: f64 = pairs.iter().map(|&(i, j)| square(i, j).powi(2)).sum();
        if all > 0.0 { (off / all).sqrt() } else { 0.0 }
    }

    /// The number of points.
    pub(crate) fn len(&self) -> usize {
        match self {
            Charges::One(n) => *n,
            Charges::Squares(squares) => squares.squares.len(),
        }
    }

    /// The weight of a pair.
    pub(crate) fn weight(&self, i: usize, j: usize) -> f64 {
        match self {
            Charges::One(_) => 1.0,
            Charges::Squares(s) => {
                let product: f64 = (0..s.count).map(|c| s.column(c)[i] * s.column(c)[j]).sum();
                (s.squares[i] + s.squares[j] - 2.0 * product).max(0.0)
            }
        }
    }

    /// An upper bound of the weights.
    pub(crate) fn most(&self) -> f64 {
        match self {
            Charges::One(_) => 1.0,
            // ‖a − b‖² is at most 2 ‖a‖² + 2 ‖b‖².
            Charges::Squares(s) => 4.0 * s.squares.iter().fold(0.0, |most: f64, square| most.max(*square)),
        }
    }

    /// The sum of each point's weights, Σⱼ w[i,j].
    pub(crate) fn degrees(&self) -> Vec<f64> {
        let n = self.len();
        match self {
            Charges::One(_) => vec![n as f64 - 1.0; n],
            Charges::Squares(s) => {
                let total: f64 = s.squares.iter().sum();
                s.squares.iter().map(|square| n as f64 * square + total).collect()
            }
        }
    }

    /// The mean weight of a pair.
    pub(crate) fn mean(&self) -> f64 {
        let n = self.len() as f64;
        self.degrees().iter().sum::<f64>() / (n * (n - 1.0))
    }

    /// L⁻ x, the Laplacian of the weights.
    pub(crate) fn laplacian(&self, x: &[f64]) -> Vec<f64> {
        let (n, sum) = (x.len() as f64, x.iter().sum::<f64>());
        match self {
            Charges::One(_) => x.iter().map(|x| n * x - sum).collect(),
            Charges::Squares(s) => {
                let weighted: f64 = s.squares.iter().zip(x).map(|(a, b)| a * b).sum();
                let mut out: Vec<f64> = self.degrees().iter().zip(x).map(|(degree, x)| degree * x).collect();
                out.iter_mut().zip(&s.squares).for_each(|(out, square)| *out -= square * sum + weighted);
                for c in 0..s.count {
                    let product: f64 = s.column(c).iter().zip(x).map(|(a, b)| a * b).sum();
                    out.iter_mut().zip(s.column(c)).for_each(|(out, y)| *out += 2.0 * y * product);
                }
                out
            }
        }
    }
}
