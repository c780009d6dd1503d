//! The likelihood of a covariance by its map: the covariance α² YYᵀ in the span of the map, and noise outside.
//!
//! ```text
//! C = α² Y Yᵀ + σ² (I − V Vᵀ)        Y = V Λ^½ centered, VᵀV = I;  α² λ ≥ σ² for every λ
//! α² = Σ_q c[q]/λ[q] / (p r)         c[q] = ‖X̃ᵀv[q]‖², r the rank of Y
//! σ² = (‖X̃‖² − Σ_q c[q]) / (p (n − 1 − r))
//! ```
//!
//! The eigenvalues λ of a covariance are total variances, noise included, so that C = α² K + σ² I with Tipping and
//! Bishop's K = V (Λ − σ²/α² I) Vᵀ: for PCA α² = 1/p, and this is exactly their maximum (1999, section 3.2, of the dual
//! model). If the map has less variance than the rest, α² λ = σ² for its last direction and one scale is left.

use crate::likelihood::{Columns, FLOOR, Observation};
use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::{inner, product, symmetric_eigen};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use faer::Mat;

/// Rows per chunk of parallel work.
const ROWS: usize = 1024;

/// The span of a map, and its variances.
pub(crate) struct Map {
    /// V, one column per direction.
    basis: Mat<f64>,
    /// λ in units of `unit`², largest first.
    lengths: Vec<f64>,
    unit: f64,
}

impl Map {
    pub(super) fn new(map: &Points) -> Result<Map> {
        let mean = map.column_means();
        let unit = map.values().iter().fold(0.0, |m: f64, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
        let y = Mat::from_fn(map.rows(), map.cols(), |i, q| (map.row(i)[q] - mean[q]) / unit);
        let (values, vectors) = symmetric_eigen(inner(y.as_ref(), y.as_ref()).as_ref())?;
        let rank = values.iter().filter(|&&v| v > 1e-13 * values[0] && v > 0.0).count().min(map.rows() - 1);
        let turned = product(y.as_ref(), vectors.as_ref().subcols(0, rank));
        let basis = Mat::from_fn(map.rows(), rank, |i, q| turned[(i, q)] / values[q].sqrt());
        Ok(Map { basis, lengths: values[..rank].to_vec(), unit })
    }

    /// The statistics of the columns that the likelihood needs.
    fn moments(&self, columns: &Columns) -> Moments {
        let along = inner(self.basis.as_ref(), columns.values.as_ref());
        let squares = |q: usize| (0..along.ncols()).map(|f| along[(q, f)].powi(2)).sum::<f64>();
        let squares = (0..self.lengths.len()).map(squares).collect::<Vec<f64>>();
        let (rows, features) = (columns.values.nrows(), columns.values.ncols());
        Moments::new(rows, features, columns.size, columns.square(), &squares, &self.lengths)
    }

    /// The same of all features of points, in their own size, without a copy of them; `None` if all points coincide.
    fn moments_of(&self, points: &Points) -> Option<Moments> {
        let (n, p, rank, mean) = (points.rows(), points.cols(), self.lengths.len(), points.column_means());
        // Sums of squares of numbers up to 1e150 would overflow without the division.
        let largest = points.magnitude().max(f64::MIN_POSITIVE);
        let chunks: Vec<(Vec<f64>, f64)> = parallel::collect(n.div_ceil(ROWS), |chunk| {
            let (mut along, mut square) = (vec![0.0; rank * p], 0.0);
            let (mut row, mut buffer) = (vec![0.0; p], Vec::new());
            for i in chunk * ROWS..((chunk + 1) * ROWS).min(n) {
                for (to, (x, m)) in row.iter_mut().zip(points.read(i, &mut buffer).iter().zip(&mean)) {
                    *to = (x - m) / largest;
                }
                square += row.iter().map(|x| x * x).sum::<f64>();
                for (q, along) in along.chunks_exact_mut(p).enumerate() {
                    let factor = self.basis[(i, q)];
                    along.iter_mut().zip(&row).for_each(|(sum, x)| *sum += factor * x);
                }
            }
            (along, square)
        });
        let (mut along, mut square) = (vec![0.0; rank * p], 0.0);
        for (part, own) in &chunks {
            along.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            square += own;
        }
        let count = (n as f64 - 1.0) * p as f64;
        if square <= 0.0 {
            return None;
        }
        let size = largest * (square / count).sqrt();
        let factor = count / square;
        let squares: Vec<f64> = along.chunks_exact(p).map(|a| factor * a.iter().map(|x| x * x).sum::<f64>()).collect();
        Some(Moments::new(n, p, size, count, &squares, &self.lengths))
    }

    pub(super) fn fit(&self, columns: &Columns) -> Observation {
        self.fitted(&self.moments(columns))
    }

    /// As [`Map::fit`], of all features of points; `None` if all points coincide.
    pub(super) fn fit_points(&self, points: &Points) -> Option<Observation> {
        self.moments_of(points).map(|moments| self.fitted(&moments))
    }

    pub(super) fn of(&self, columns: &Columns, fitted: &Observation) -> f64 {
        self.density(&self.moments(columns), fitted)
    }

    fn fitted(&self, moments: &Moments) -> Observation {
        let Moments { inside, outside, .. } = *moments;
        let (p, rank) = (moments.features as f64, self.lengths.len() as f64);
        let left = moments.directions() - rank;
        let least = self.lengths.last().copied().unwrap_or(0.0);
        let mut signal = if rank > 0.0 { inside / (p * rank) } else { 0.0 };
        let mut noise = if left > 0.0 { outside / (p * left) } else { 0.0 };
        if left > 0.0 && signal * least < noise {
            noise = (inside * least + outside) / moments.count();
            signal = if rank > 0.0 { noise / least } else { 0.0 };
        }
        let lowest = if left > 0.0 { noise } else { signal * least };
        let noise_at_floor = lowest < FLOOR;
        if noise_at_floor {
            noise = if left > 0.0 { FLOOR } else { 0.0 };
            signal = signal.max(if least > 0.0 { FLOOR / least } else { 0.0 });
        }
        let squared = moments.size * moments.size;
        let mut fitted = Observation {
            log_likelihood: 0.0,
            signal: signal * squared / self.unit / self.unit,
            noise: noise * squared,
            noise_at_floor,
            features: moments.features,
            directions: moments.rows - 1,
            evaluations: 0,
        };
        fitted.log_likelihood = self.density(moments, &fitted);
        let alone = moments.constant() - 0.5 * moments.square;
        if fitted.log_likelihood.is_nan() || fitted.log_likelihood < alone {
            fitted =
                Observation { log_likelihood: alone, signal: 0.0, noise: squared, noise_at_floor: false, ..fitted };
        }
        fitted
    }

    fn density(&self, moments: &Moments, fitted: &Observation) -> f64 {
        let squared = moments.size * moments.size;
        let (signal, noise) = (fitted.signal / squared * self.unit * self.unit, fitted.noise / squared);
        let Moments { inside, outside, .. } = *moments;
        let left = moments.directions() - self.lengths.len() as f64;
        let mut log_det: f64 = self.lengths.iter().map(|length| (signal * length).ln()).sum();
        let mut fit = if self.lengths.is_empty() { 0.0 } else { inside / signal };
        if left > 0.0 {
            log_det += left * noise.ln();
            fit += outside / noise;
        }
        moments.constant() - 0.5 * (moments.features as f64 * log_det + fit)
    }
}

/// The statistics of the columns that the likelihood under a map needs, in units of their size.
struct Moments {
    rows: usize,
    features: usize,
    size: f64,
    /// Σ values².
    square: f64,
    /// c/λ summed over the map's directions.
    inside: f64,
    /// The sum of squares outside of them.
    outside: f64,
}

impl Moments {
    fn new(rows: usize, features: usize, size: f64, square: f64, squares: &[f64], lengths: &[f64]) -> Moments {
        let inside = squares.iter().zip(lengths).map(|(c, length)| c / length).sum();
        let outside = (square - squares.iter().sum::<f64>()).max(0.0);
        Moments { rows, features, size, square, inside, outside }
    }

    /// n − 1.
    fn directions(&self) -> f64 {
        self.rows as f64 - 1.0
    }

    /// (n − 1) p.
    fn count(&self) -> f64 {
        self.directions() * self.features as f64
    }

    /// The contribution of 2π and the unit to every log density.
    fn constant(&self) -> f64 {
        -self.count() * (0.5 * std::f64::consts::TAU.ln() + self.size.ln())
    }
}
