//! Classical scaling (Torgerson; principal coordinates): the points whose Euclidean distances are the given ones.
//!
//! ```text
//! B = −½ H S H,   S = squared distances,   H = I − 11ᵀ/n        Y = top eigenvectors of B times √λ
//! ```
//!
//! For Euclidean distances between points B is the matrix of centered inner products, so the work is that of PCA. With
//! landmarks only m points are scaled, and all points are embedded by their distances to the landmarks.
//!
//! W. S. Torgerson. Multidimensional scaling: I. Psychometrika 17(4), 1952. Landmarks: V. de Silva, J. B. Tenenbaum.
//! Sparse multidimensional scaling using landmark points. Stanford, 2004.

use crate::extend::{Away, Gower, Measure, Rule};
use crate::field::scaling::centered::Centered;
use crate::field::scaling::pca::linear;
use crate::field::{Basis, Build, Built, Field, Info, InputKind, Site, landmarks_instead, needs_points};
use crate::input::Data;
use crate::parameter::{Kind, Parameter, Table, field};
use eigenfold_graph::Metric;
use eigenfold_linalg::error::{Error, Result};
use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// The meaning of the parameter `landmarks` of classical scaling and of Isomap.
pub(crate) const LANDMARKS: &str =
    "the number of landmarks, which are scaled exactly; all other points are embedded from them";

/// Classical scaling.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mds {
    /// How many points are scaled exactly; all of them by default.
    pub landmarks: Option<usize>,
}

impl Table for Mds {
    const METHOD: &'static str = "mds";
    const TABLE: &'static [Parameter<Mds>] =
        &[Parameter::new("landmarks", LANDMARKS, Kind::at_least(3), field!(landmarks)).none("all points")];
}

impl Build for Mds {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["classical-mds", "pcoa", "pco", "classical-scaling"],
            summary: "classical multidimensional scaling of distances (principal coordinates)",
            title: "Classical MDS",
            good_for: "a linear map of given distances",
            caution: "Large distances dominate: points close together on the map need not be neighbors in the data.",
            basis: Basis::Covariance,
            paper: "Torgerson 1952; Gower 1966; de Silva & Tenenbaum 2004",
            accepts: InputKind::MEASURED,
            needs_graph: false,
            uses_metric: true,
        }
    }

    fn keeps_largest_variance(&self) -> bool {
        true
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        if let (Data::Points(points, Metric::Euclidean), None) = (site.data, self.landmarks) {
            return Ok(linear(points));
        }
        let landmarks = choose_landmarks(self.landmarks, site.len(), site.seed)?;
        let m = landmarks.as_ref().map_or(site.len(), Vec::len);
        site.afford("the matrix of distances", Centered::memory(m), &landmarks_instead(site.len()))?;
        let measured = site.data.measured().ok_or_else(|| needs_points("mds", "isomap embeds a graph"))?;
        let at = |i: usize| landmarks.as_ref().map_or(i, |l| l[i] as usize);
        let square = |i, j| measured.distance(at(i), at(j)).powi(2);
        let centered = Centered::from_squares(m, square, site.observer)?;
        let row_means = centered.row_means().to_vec();
        let rule = Rule::Gower(Gower { away: Away { measure: Measure::Metric, landmarks }, row_means });
        Ok(Built::new(Field::Covariance(Box::new(centered)), rule))
    }
}

/// The refusal of more landmarks than points.
pub(crate) fn too_many_landmarks(count: usize, n: usize) -> Error {
    let fact = format!("`landmarks` is {count} and there are only {n} points");
    Error::out_of_range("landmarks", count, 1..=n, fact, format!("use {n} or less, or leave it out"))
}

/// A seeded draw of landmarks, in ascending order; `None` if every point is one.
pub(crate) fn choose_landmarks(requested: Option<usize>, n: usize, seed: u64) -> Result<Option<Vec<u32>>> {
    let Some(count) = requested else { return Ok(None) };
    if count > n {
        return Err(too_many_landmarks(count, n));
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut landmarks: Vec<u32> = index::sample(&mut rng, n, count).iter().map(|i| i as u32).collect();
    landmarks.sort_unstable();
    Ok((count < n).then_some(landmarks))
}
