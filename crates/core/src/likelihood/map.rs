//! The likelihood of a covariance by its map: in the span of the map the covariance α² YYᵀ, outside of it noise.
//!
//! ```text
//! C = α² Y Yᵀ + σ² (I − V Vᵀ)        Y = V Λ^½ centered, VᵀV = I;  α² λ ≥ σ² for every λ
//! α² = Σ_q c[q]/λ[q] / (p r)         c[q] = ‖X̃ᵀv[q]‖², r the rank of Y
//! σ² = (‖X̃‖² − Σ_q c[q]) / (p (n − 1 − r))
//! ```
//!
//! The eigenvalues λ of a covariance are total variances, noise included, so that C = α² K + σ² I with Tipping and
//! Bishop's K = V (Λ − σ²/α² I) Vᵀ: for pca α² = 1/p, and this is their maximum exactly (1999, section 3.2, of the dual
//! model). If the map has less variance than the rest, α² λ = σ² for its last direction and one scale is left.

use crate::error::Result;
use crate::likelihood::{Columns, FLOOR, Observation};
use crate::linalg::dense::{inner, product, symmetric_eigen};
use crate::points::Points;
use faer::Mat;

/// The span of a map, and its variances.
pub(crate) struct Map {
    /// V, one column a direction.
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

    /// c/λ summed over the map's directions, and what is outside of it.
    fn moments(&self, columns: &Columns) -> (f64, f64) {
        let along = inner(self.basis.as_ref(), columns.values.as_ref());
        let squares = |q: usize| (0..along.ncols()).map(|f| along[(q, f)].powi(2)).sum::<f64>();
        let squares: Vec<f64> = (0..self.lengths.len()).map(squares).collect();
        let scaled = squares.iter().zip(&self.lengths).map(|(c, length)| c / length).sum();
        (scaled, (columns.square() - squares.iter().sum::<f64>()).max(0.0))
    }

    pub(super) fn fit(&self, columns: &Columns) -> Observation {
        let (inside, outside) = self.moments(columns);
        let (p, rank) = (columns.features(), self.lengths.len() as f64);
        let left = columns.directions() - rank;
        let least = self.lengths.last().copied().unwrap_or(0.0);
        let mut signal = if rank > 0.0 { inside / (p * rank) } else { 0.0 };
        let mut noise = if left > 0.0 { outside / (p * left) } else { 0.0 };
        if left > 0.0 && signal * least < noise {
            noise = (inside * least + outside) / columns.count();
            signal = if rank > 0.0 { noise / least } else { 0.0 };
        }
        let lowest = if left > 0.0 { noise } else { signal * least };
        let noise_at_floor = lowest < FLOOR;
        if noise_at_floor {
            noise = if left > 0.0 { FLOOR } else { 0.0 };
            signal = signal.max(if least > 0.0 { FLOOR / least } else { 0.0 });
        }
        let squared = columns.size * columns.size;
        let mut fitted = Observation {
            log_likelihood: 0.0,
            signal: signal * squared / self.unit / self.unit,
            noise: noise * squared,
            noise_at_floor,
            features: columns.values.ncols(),
            directions: columns.values.nrows() - 1,
            evaluations: 0,
        };
        fitted.log_likelihood = self.of(columns, &fitted);
        let alone = columns.of_noise(squared);
        if fitted.log_likelihood.is_nan() || fitted.log_likelihood < alone {
            fitted =
                Observation { log_likelihood: alone, signal: 0.0, noise: squared, noise_at_floor: false, ..fitted };
        }
        fitted
    }

    pub(super) fn of(&self, columns: &Columns, fitted: &Observation) -> f64 {
        let squared = columns.size * columns.size;
        let (signal, noise) = (fitted.signal / squared * self.unit * self.unit, fitted.noise / squared);
        let (inside, outside) = self.moments(columns);
        let left = columns.directions() - self.lengths.len() as f64;
        let mut log_det: f64 = self.lengths.iter().map(|length| (signal * length).ln()).sum();
        let mut fit = if self.lengths.is_empty() { 0.0 } else { inside / signal };
        if left > 0.0 {
            log_det += left * noise.ln();
            fit += outside / noise;
        }
        columns.constant() - 0.5 * (columns.features() * log_det + fit)
    }
}
