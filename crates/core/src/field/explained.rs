//! The explained variance of the coordinates.

use serde::{Deserialize, Serialize};

/// The variance of each coordinate relative to the total variance.
///
/// | method | a coordinate's variance | the total |
/// |---|---|---|
/// | pca, mds, isomap, mvu, kernel-pca, pkpca | its eigenvalue | the sum of all eigenvalues |
/// | ppca, fa | the sum of its squared loadings, n times | the variance under the model, n times |
/// | ppco | its eigenvalue less the noise | the sum of all eigenvalues |
///
/// Non-Euclidean distances (for example, along a graph around a hole) have negative eigenvalues as well, which reduce
/// the total; the shares may then sum to more than one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explained {
    /// The share of each coordinate.
    pub ratio: Vec<f64>,
    /// The total, in the unit of the eigenvalues: the sum of squares about the mean.
    pub total: f64,
}

impl Explained {
    /// From the variances of the coordinates; `None` if there is no variance at all.
    pub(crate) fn new(variances: &[f64], total: f64) -> Option<Explained> {
        let ratio = variances.iter().map(|variance| variance.max(0.0) / total).collect();
        (total > 0.0 && total.is_finite()).then_some(Explained { ratio, total })
    }

    /// The cumulative share of each coordinate.
    pub fn cumulative(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let add = |ratio: &f64| {
            sum += ratio;
            sum
        };
        self.ratio.iter().map(add).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_negative_eigenvalues_have_none() {
        let explained = Explained::new(&[6.0, 3.0, -1.0], 10.0).unwrap();
        assert_eq!(
            (explained.ratio.as_slice(), explained.cumulative()),
            (&[0.6, 0.3, 0.0][..], vec![0.6, 0.6 + 0.3, 0.6 + 0.3])
        );
        assert!(Explained::new(&[0.0], 0.0).is_none());
    }
}
