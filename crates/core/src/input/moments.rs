//! Rows that are elsewhere, by their number, their mean and their covariance: all that a linear method needs of them.
//!
//! ```text
//! μ[j] = 1/n Σᵢ x[i,j]        S[j,k] = 1/n Σᵢ (x[i,j] − μ[j]) (x[i,k] − μ[k])
//! ```

use crate::input::check_range;
use crate::preparation::Prepared;
use eigenfold_linalg::error::{Error, Result};

/// Entries of a covariance on both sides of its diagonal may differ by this fraction of its variances.
const SYMMETRIC: f64 = 1e-9;

/// The moments of complete rows, after the logarithm of [`Preparation`](crate::Preparation) if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// n.
    pub count: u64,
    /// μ.
    pub mean: Vec<f64>,
    /// S, row after row, divided by n.
    pub covariance: Vec<f64>,
}

impl Moments {
    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.mean.len()
    }

    /// The variance of a column.
    pub(crate) fn variance(&self, column: usize) -> f64 {
        self.covariance[column * (self.cols() + 1)]
    }

    /// Refuses what are not the moments of any rows.
    ///
    /// # Errors
    ///
    /// If there are fewer than two rows, the sizes do not agree, a number is not finite, or the covariance is not
    /// symmetric or has a negative variance.
    pub(crate) fn check(&self) -> Result<()> {
        let p = self.cols();
        if self.count < 2 {
            let fact = format!("the moments are those of {} row", self.count);
            return Err(Error::too_small(self.count as usize, 2, fact, "give at least two"));
        }
        if p == 0 || p.checked_mul(p) != Some(self.covariance.len()) {
            let fact = format!("the covariance has {} numbers, and the mean has {p}", self.covariance.len());
            return Err(Error::mismatch("values", (self.covariance.len(), p * p), fact, "give p and p x p numbers"));
        }
        let finite = self.mean.iter().chain(&self.covariance).all(|x| x.is_finite());
        let way_out = "check how they were added up";
        if !finite {
            return Err(Error::data("the moments have numbers that are not finite", way_out));
        }
        if let Some(j) = (0..p).find(|&j| self.variance(j) < 0.0) {
            let fact = format!("column {} has the variance {:e}", j + 1, self.variance(j));
            return Err(Error::data(fact, way_out).at_column(j));
        }
        let off = |j: usize, k: usize| (self.covariance[j * p + k] - self.covariance[k * p + j]).abs();
        let size = |j: usize, k: usize| (self.variance(j).sqrt()) * self.variance(k).sqrt();
        if (0..p).any(|j| (0..j).any(|k| off(j, k) > SYMMETRIC * size(j, k))) {
            return Err(Error::data("the covariance is not symmetric", way_out));
        }
        let deviation = |j: usize| self.variance(j).sqrt();
        check_range((0..p).fold(0.0, |most: f64, j| most.max(self.mean[j].abs()).max(deviation(j))))?;
        Ok(())
    }

    /// The moments of the prepared columns; the logarithm has been applied to the rows already.
    pub(crate) fn prepared(&self, prepared: &Prepared) -> Moments {
        let (p, columns) = (self.cols(), prepared.columns());
        let mean = self.mean.iter().zip(columns).map(|(mean, column)| (mean - column.center) / column.scale);
        let entry = |at: usize| self.covariance[at] / columns[at / p].scale / columns[at % p].scale;
        Moments { count: self.count, mean: mean.collect(), covariance: (0..p * p).map(entry).collect() }
    }
}
