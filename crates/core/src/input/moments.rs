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

    /// The variance of every column.
    pub(crate) fn variances(&self) -> Vec<f64> {
        (0..self.cols()).map(|j| self.variance(j)).collect()
    }

    /// The moments of the prepared columns; the logarithm has been applied to the rows already.
    pub(crate) fn prepared(&self, prepared: &Prepared) -> Moments {
        let (p, columns) = (self.cols(), prepared.columns());
        let mean = self.mean.iter().zip(columns).map(|(mean, column)| (mean - column.center) / column.scale);
        let entry = |at: usize| self.covariance[at] / columns[at / p].scale / columns[at % p].scale;
        Moments { count: self.count, mean: mean.collect(), covariance: (0..p * p).map(entry).collect() }
    }
}

/// The moments of rows some of whose cells were not observed. The mean of its column stands in such a cell:
///
/// ```text
/// μ[j] = 1/n[j] Σ x[i,j]        S[j,k] = 1/n Σ (x[i,j] − μ[j]) (x[i,k] − μ[k])
/// ```
///
/// over the rows in which j is observed, and over those in which j and k are observed.
#[derive(Clone, Debug, PartialEq)]
pub struct IncompleteMoments {
    /// n, μ and S.
    pub moments: Moments,
    /// The number of rows in which each column is observed.
    pub counts: Vec<u64>,
    /// The rows of which no cell is observed.
    pub empty_rows: u64,
}

impl IncompleteMoments {
    /// The variance of what was observed of every column.
    pub(crate) fn variances(&self) -> Vec<f64> {
        let rows = self.moments.count as f64;
        let variance = |(j, &count): (usize, &u64)| self.moments.variance(j) * (rows / count as f64);
        self.counts.iter().enumerate().map(variance).collect()
    }

    /// The cells that were not observed.
    pub(crate) fn missing_cells(&self) -> f64 {
        self.counts.iter().map(|&count| (self.moments.count - count) as f64).sum()
    }

    /// Refuses what are not the moments of any rows.
    ///
    /// # Errors
    ///
    /// As [`Moments::check`], or if the counts are not those of such rows.
    pub(crate) fn check(&self) -> Result<()> {
        self.moments.check()?;
        let (given, p, n) = (self.counts.len(), self.moments.cols(), self.moments.count);
        if given != p {
            let fact = format!("there are counts of {given} columns, and the mean has {p}");
            return Err(Error::mismatch("columns", (given, p), fact, "count the observed cells of every column"));
        }
        if let Some(j) = self.counts.iter().position(|&count| count == 0) {
            let fact = format!("column {} has no observed cell", j + 1);
            return Err(Error::data(fact, "leave the column out").at_column(j));
        }
        let most = self.counts.iter().copied().max().unwrap_or(0).checked_add(self.empty_rows);
        if most.is_none_or(|most| most > n) {
            let fact = format!("a column has more observed cells than the {n} rows allow");
            return Err(Error::data(fact, "check how they were counted"));
        }
        Ok(())
    }

    /// The moments of the prepared columns.
    pub(crate) fn prepared(&self, prepared: &Prepared) -> IncompleteMoments {
        IncompleteMoments { moments: self.moments.prepared(prepared), ..self.clone() }
    }
}
