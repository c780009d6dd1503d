//! Q over all pairs of points: H K H of a kernel, or −½ H Δ H of given dissimilarities.

use crate::extend::{Away, Gower, Measure, Rule};
use crate::field::scaling::centered::Centered;
use crate::field::scaling::feature_space::{FeatureSpace, chosen_of, names_of};
use crate::field::{Site, landmarks_instead, needs_points};
use crate::input::Data;
use crate::kernel::mercer::Kernel;
use eigenfold_linalg::Operator;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::Observer;

/// A negative eigenvalue below this fraction of the largest one is rounding.
const NEGLIGIBLE: f64 = 1e-6;

/// The points by their inner products or dissimilarities, all pairs of them.
pub(super) struct Pairs<'a> {
    data: Data<'a>,
    /// The kernel, with every parameter chosen where points are given.
    kernel: Kernel,
    /// Q.
    pub(super) q: Centered,
}

impl<'a> Pairs<'a> {
    /// Q of what the method was given.
    ///
    /// # Errors
    ///
    /// If the input is a graph, the matrix would exceed the memory limit, or the kernel cannot be evaluated.
    pub(super) fn of(method: &str, kernel: Kernel, site: &Site<'a>) -> Result<Pairs<'a>> {
        let (n, data) = (site.len(), site.data);
        let way_out = if data.points().is_some() { landmarks_instead(n) } else { "raise `memory`".into() };
        site.afford("the matrix of all pairs", Centered::memory(n), &way_out)?;
        match data {
            Data::Points(points, _) => {
                let FeatureSpace { kernel, centered } = FeatureSpace::of(kernel, points, site.observer)?;
                Ok(Pairs { data, kernel, q: centered })
            }
            Data::Distances(distances) => {
                let square = |i, j| distances.between(i, j).powi(2);
                Ok(Pairs { data, kernel, q: Centered::from_squares(n, square, site.observer)? })
            }
            Data::Graph(_) => Err(needs_points(method, "laplacian-eigenmaps embeds a graph")),
        }
    }

    /// δ², the squared dissimilarity of two points.
    pub(super) fn square(&self, i: usize, j: usize) -> f64 {
        match self.data {
            Data::Points(points, _) => self.kernel.square(points.row(i), points.row(j)),
            Data::Distances(distances) => distances.between(i, j).powi(2),
            Data::Graph(_) => 0.0, // Refused.
        }
    }

    /// tr Q = n m / 2, m the mean squared dissimilarity of all pairs.
    pub(super) fn trace(&self) -> f64 {
        0.5 * self.q.dim() as f64 * self.q.grand_mean()
    }

    /// How new points are embedded: by their dissimilarities to all others.
    pub(super) fn rule(&self) -> Rule {
        let measure = if self.of_points() { Measure::Kernel(self.kernel) } else { Measure::Metric };
        Rule::Gower(Gower { away: Away { measure, landmarks: None }, row_means: self.q.row_means().to_vec() })
    }

    /// The parameters that were left to the method, or that given dissimilarities have no use for.
    pub(super) fn used(&self) -> Vec<(&'static str, String)> {
        if self.of_points() {
            return chosen_of(self.kernel);
        }
        names_of(self.kernel).iter().map(|&name| (name, "given".into())).collect()
    }

    fn of_points(&self) -> bool {
        self.data.points().is_some()
    }

    /// A warning if Q has negative eigenvalues: no points in a Euclidean space have these dissimilarities.
    pub(super) fn indefinite(&self, largest: f64, seed: u64, observer: &dyn Observer) -> Result<Option<String>> {
        if self.of_points() && self.kernel.is_positive() {
            return Ok(None);
        }
        let most = self.q.below_zero(seed, observer)?;
        Ok((most > NEGLIGIBLE * largest.abs()).then(|| indefinite_by(most, largest)))
    }
}

/// The warning about an eigenvalue −`most` relative to the largest one.
pub(super) fn indefinite_by(most: f64, largest: f64) -> String {
    let percent = if largest > 0.0 { 100.0 * most / largest } else { f64::INFINITY };
    format!(
        "the dissimilarities are not Euclidean: the most negative eigenvalue is {:.3e}, {percent:.2} % of the largest; \
         the noise is the mean of all that are left, negative ones too",
        -most
    )
}
