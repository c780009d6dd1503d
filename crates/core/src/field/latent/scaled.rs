//! Points in units in which their features have variances of about one, so that one tolerance fits all of them.

use crate::extend::Latent;
use eigenfold_graph::points::Points;
use eigenfold_linalg::Eigenpairs;
use eigenfold_linalg::error::{Error, Result};

/// Points in units in which their features have variances of about one.
pub(super) struct Scaled {
    pub(super) points: Points,
    pub(super) units: Units,
    pub(super) cells: f64,
}

/// What is subtracted from every feature, and what divides it then.
#[derive(Clone, Debug)]
pub(super) struct Units {
    pub(super) center: Vec<f64>,
    pub(super) units: Vec<f64>,
}

impl Units {
    /// Of features with these centers, standard deviations and largest magnitudes: each its own, or one for all.
    pub(super) fn of(center: Vec<f64>, deviations: &[f64], sizes: &[f64], own: bool) -> Result<Units> {
        let largest = deviations.iter().fold(0.0f64, |most, deviation| most.max(*deviation));
        if largest <= 1e-300 {
            return Err(Error::data("all points are equal, so there is no variance to explain", "give other data"));
        }
        let mean_square = deviations.iter().map(|u| (u / largest).powi(2)).sum::<f64>() / center.len() as f64;
        let whole = largest * mean_square.sqrt();
        // The variation of a constant column is rounding.
        let own_unit = |j: usize| own && deviations[j] > 1e-14 * sizes[j];
        let units = (0..center.len()).map(|j| if own_unit(j) { deviations[j] } else { whole }).collect();
        Ok(Units { center, units })
    }

    /// A model of the scaled features as one of the features.
    pub(super) fn undo(&self, latent: Latent) -> Latent {
        let q = latent.dims();
        let mean = latent.mean.iter().zip(&self.center).zip(&self.units).map(|((m, c), unit)| c + m * unit);
        let loadings = latent.loadings.iter().enumerate().map(|(at, w)| w * self.units[at / q]);
        let noise = latent.noise.iter().zip(&self.units).map(|(psi, unit)| psi * unit * unit);
        Latent { mean: mean.collect(), loadings: loadings.collect(), noise: noise.collect() }
    }
}

/// For every feature, the rows in which it is missing.
pub(super) struct Gone {
    pub(super) rows: Vec<Vec<usize>>,
}

impl Gone {
    pub(super) fn of(points: &Points) -> Gone {
        let mut rows = vec![Vec::new(); points.cols()];
        points.missing().iter().for_each(|at| rows[at % points.cols()].push(at / points.cols()));
        Gone { rows }
    }
}

impl Scaled {
    pub(super) fn new(points: &Points, own: bool) -> Result<Scaled> {
        let (n, p) = (points.rows(), points.cols());
        let gone = Gone::of(points);
        let (mut center, mut units, mut sizes) = (vec![0.0; p], vec![0.0; p], vec![0.0; p]);
        for j in 0..p {
            let seen = || (0..n).filter(|i| gone.rows[j].binary_search(i).is_err()).map(|i| points.row(i)[j]);
            let count = (n - gone.rows[j].len()) as f64;
            if count == 0.0 {
                return Err(
                    Error::data(format!("column {} has no observed cell", j + 1), "leave the column out").at_column(j)
                );
            }
            center[j] = seen().map(|x| x / count).sum();
            let far = seen().fold(f64::MIN_POSITIVE, |most, x| most.max((x - center[j]).abs()));
            units[j] = far * (seen().map(|x| ((x - center[j]) / far).powi(2)).sum::<f64>() / count).sqrt();
            sizes[j] = seen().fold(0.0f64, |most, x| most.max(x.abs()));
        }
        let Units { center, units } = Units::of(center, &units, &sizes, own)?;
        let values = (0..n * p).map(|at| (points.values()[at] - center[at % p]) / units[at % p]).collect();
        let missing = points.missing();
        let mut values: Vec<f64> = values;
        missing.iter().for_each(|&at| values[at] = f64::NAN);
        let cells = (n * p - missing.len()) as f64;
        let mut points = Points::with_missing(n, p, values)?;
        if !missing.is_empty() {
            points = points.with_guesses(&vec![0.0; missing.len()])?;
        }
        Ok(Scaled { points, units: Units { center, units }, cells })
    }

    /// W = U s^½ with the eigenvectors U = X̃ᵀ v / √λ of the covariance.
    pub(super) fn model(&self, pairs: &Eigenpairs, q: usize, signal: impl Fn(usize) -> f64, noise: f64) -> Latent {
        let (n, p) = (self.points.rows(), self.points.cols());
        let mut loadings = vec![0.0; p * q];
        for k in 0..q.min(pairs.values.len()) {
            let long = (signal(k) / pairs.values[k].max(f64::MIN_POSITIVE)).sqrt();
            for i in 0..n {
                let v = long * pairs.vectors[(i, k)];
                self.points.row(i).iter().enumerate().for_each(|(j, x)| loadings[j * q + k] += x * v);
            }
        }
        Latent { mean: vec![0.0; p], loadings, noise: vec![noise; p] }
    }
}
