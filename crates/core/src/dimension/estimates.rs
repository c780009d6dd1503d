//! The result: estimates by name, the check of the sampling, and the rest of the report.

use super::near::interval;
use super::{Elbow, Recommendation, ScaleEstimate, Spectrum, Unfolded};
use serde::Serialize;

/// An estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Name {
    /// Ratios of two neighbors' distances: (n − 1) / Σ log μ.
    TwoNn,
    /// Their maximum likelihood, n / Σ log μ.
    TwoNnMle,
    /// Their mean.
    TwoNnMean,
    /// The line through their distribution.
    TwoNnFit,
    /// Expected simplex skewness.
    Ess,
    /// Levina and Bickel's mean over the points.
    LevinaBickel,
    /// MacKay and Ghahramani's correction of it.
    MacKayGhahramani,
    /// The number of pairs within a distance.
    Correlation,
    /// Costa and Hero's length of the nearest-neighbor graph.
    GraphLength,
    /// The gap of the singular values: the linear dimension.
    Svd,
    /// The elbow of Isomap's residual variance.
    Isomap,
    /// The gap of the eigenvalues of maximum variance unfolding.
    Mvu,
}

impl Name {
    /// One word, as in reports.
    pub fn key(self) -> &'static str {
        match self {
            Name::TwoNn => "two_nn",
            Name::TwoNnMle => "two_nn_mle",
            Name::TwoNnMean => "two_nn_mean",
            Name::TwoNnFit => "two_nn_fit",
            Name::Ess => "ess",
            Name::LevinaBickel => "levina_bickel",
            Name::MacKayGhahramani => "mackay_ghahramani",
            Name::Correlation => "correlation",
            Name::GraphLength => "graph_length",
            Name::Svd => "svd",
            Name::Isomap => "isomap",
            Name::Mvu => "mvu",
        }
    }

    /// A few words for people.
    pub fn title(self) -> &'static str {
        match self {
            Name::TwoNn => "2NN, unbiased",
            Name::TwoNnMle => "2NN, likelihood",
            Name::TwoNnMean => "2NN, mean",
            Name::TwoNnFit => "2NN, fit",
            Name::Ess => "simplex skewness (ESS)",
            Name::LevinaBickel => "Levina-Bickel",
            Name::MacKayGhahramani => "MacKay-Ghahramani",
            Name::Correlation => "correlation dimension",
            Name::GraphLength => "length of the k-NN graph",
            Name::Svd => "SVD gap (linear only)",
            Name::Isomap => "Isomap's elbow",
            Name::Mvu => "gap of MVU",
        }
    }
}

/// One estimate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The estimator.
    #[serde(skip)]
    pub name: Name,
    /// The dimension.
    pub value: f64,
    /// The lower end of the 95 % interval, if there is one: statistical only, without bias.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// How many of the distinct points were used, evenly spaced if not all.
    pub points: usize,
}

impl Estimate {
    pub(super) fn new(name: Name, value: f64, points: usize) -> Estimate {
        Estimate { name, value, low: None, high: None, points }
    }

    /// The same with the interval that a standard error gives.
    pub(super) fn with_error(self, error: Option<f64>) -> Estimate {
        let ends = error.map(|error| interval(self.value, error));
        let ends = ends.filter(|ends| ends.0.is_finite() && ends.1.is_finite());
        Estimate { low: ends.map(|ends| ends.0), high: ends.map(|ends| ends.1), ..self }
    }
}

/// Whether the ratios of distances have the distribution of points from a smooth density.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// √n times the Kolmogorov-Smirnov distance of d log μ from the exponential distribution; `None` if all ratios are
    /// 1.
    pub departure: Option<f64>,
    /// Whether that is too much ([`FLAGGED`](super::FLAGGED)).
    pub flagged: bool,
}

/// The result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dimensions {
    /// The number of points.
    pub n: usize,
    /// The number of distinct points.
    pub distinct: usize,
    /// The number of features.
    pub features: usize,
    /// The number of those that vary.
    pub varying: usize,
    /// The largest neighborhood of Levina and Bickel's estimate, and of the estimate at each point.
    pub neighbors: usize,
    /// The estimates, the main one first.
    pub estimates: Vec<Estimate>,
    /// The estimates that could not be computed, and why.
    pub left_out: Vec<(Name, String)>,
    /// The dimension by scale: among all points, and then among evenly spaced ones if there are many.
    pub scales: Vec<ScaleEstimate>,
    /// The number of points at which the scales among all points were evaluated.
    pub scale_points: usize,
    /// Whether the points look like a sample of a smooth density.
    pub check: Check,
    /// The singular values, if the slower estimates were requested.
    pub spectrum: Option<Spectrum>,
    /// The residual variances of Isomap, if they could be computed.
    pub elbow: Option<Elbow>,
    /// The eigenvalues of maximum variance unfolding, if the points are few.
    pub unfolded: Option<Unfolded>,
    /// The recommended number of coordinates.
    pub recommended: Recommendation,
    /// The dimension at each point, in the order of the input, if requested; `None` where the neighbors are all at one
    /// distance. Equal points have the same.
    pub pointwise: Option<Vec<Option<f64>>>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Dimensions {
    /// An estimate by its name.
    pub fn estimate(&self, name: Name) -> Option<&Estimate> {
        self.estimates.iter().find(|estimate| estimate.name == name)
    }
}
