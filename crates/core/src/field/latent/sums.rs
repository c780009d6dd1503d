//! The log likelihood of all rows under a latent model, and its gradient: sums over rows.

use crate::extend::{Latent, Observed};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;

/// The minimum number of rows per partial sum, and the maximum number of partial sums; they are added in order.
const ROWS: usize = 256;
const CHUNKS: usize = 32;

/// The log likelihood of all rows, and its gradient.
pub(crate) struct Sums {
    pub(crate) log_likelihood: f64,
    pub(crate) mean: Vec<f64>,
    pub(crate) loadings: Vec<f64>,
    /// With respect to log ψ.
    pub(crate) noise: Vec<f64>,
}

/// The sums of some rows, without the covariances C.
struct Partial {
    sums: Sums,
    /// Σ C[i] over these rows, and for every feature over those that miss it.
    spread: Vec<f64>,
    unseen: Vec<f64>,
}

impl Sums {
    pub(super) fn zero(p: usize, q: usize) -> Sums {
        Sums { log_likelihood: 0.0, mean: vec![0.0; p], loadings: vec![0.0; p * q], noise: vec![0.0; p] }
    }

    pub(crate) fn of(latent: &Latent, points: &Points) -> Result<Sums> {
        let (n, p, q) = (points.rows(), latent.mean.len(), latent.dims());
        let whole = latent.observing_all()?;
        let missing = !points.missing().is_empty();
        let rows = ROWS.max(n.div_ceil(CHUNKS));
        let parts = parallel::try_collect(n.div_ceil(rows), |chunk| {
            let mut sums = Partial::zero(p, q, missing);
            for i in chunk * rows..((chunk + 1) * rows).min(n) {
                sums.add(latent, points, i, &whole)?;
            }
            Ok::<Partial, Error>(sums)
        })?;
        let mut all = Partial::zero(p, q, missing);
        for part in &parts {
            all.sums.log_likelihood += part.sums.log_likelihood;
            let sums = [
                (&mut all.sums.mean, &part.sums.mean),
                (&mut all.sums.loadings, &part.sums.loadings),
                (&mut all.sums.noise, &part.sums.noise),
                (&mut all.spread, &part.spread),
                (&mut all.unseen, &part.unseen),
            ];
            for (sum, part) in sums {
                sum.iter_mut().zip(part).for_each(|(sum, s)| *sum += s);
            }
        }
        // The contribution of the covariances C, for all rows of a feature together.
        for j in 0..p {
            let (w, psi) = (latent.loading(j), latent.noise[j]);
            for a in 0..q {
                let less = |at: usize| all.unseen.get(j * q * q + at).copied().unwrap_or(0.0);
                let along: f64 = (0..q).map(|b| (all.spread[a * q + b] - less(a * q + b)) * w[b]).sum();
                all.sums.loadings[j * q + a] -= along / psi;
                all.sums.noise[j] += 0.5 * w[a] * along / psi;
            }
        }
        Ok(all.sums)
    }
}

impl Partial {
    fn zero(p: usize, q: usize, missing: bool) -> Partial {
        let unseen = vec![0.0; if missing { p * q * q } else { 0 }];
        Partial { sums: Sums::zero(p, q), spread: vec![0.0; q * q], unseen }
    }

    /// Adds the terms of row `i`.
    fn add(&mut self, latent: &Latent, points: &Points, i: usize, whole: &Observed) -> Result<()> {
        let q = latent.dims();
        let part;
        let mut observed = whole;
        let gone = points.missing_of(i);
        if gone.clone().next().is_some() {
            part = latent.observing_of(points, i, whole)?;
            observed = &part;
        }
        let row = points.row(i);
        let (m, log_density) = latent.mean_and_density(row, observed);
        self.sums.log_likelihood += log_density;
        let c = |at: usize| observed.covariance[(at / q, at % q)];
        self.spread.iter_mut().enumerate().for_each(|(at, sum)| *sum += c(at));
        for j in gone {
            self.unseen[j * q * q..(j + 1) * q * q].iter_mut().enumerate().for_each(|(at, sum)| *sum += c(at));
        }
        for &j in &observed.features {
            let (w, psi) = (latent.loading(j), latent.noise[j]);
            let r = row[j] - latent.mean[j] - w.iter().zip(&m).map(|(w, m)| w * m).sum::<f64>();
            let weighted = r / psi;
            self.sums.loadings[j * q..(j + 1) * q].iter_mut().zip(&m).for_each(|(sum, m)| *sum += weighted * m);
            self.sums.mean[j] += weighted;
            self.sums.noise[j] += 0.5 * (r * weighted - 1.0);
        }
        Ok(())
    }
}
