//! Isomap: classical scaling of shortest-path distances along the neighborhood graph.
//!
//! ```text
//! g[i,j] = length of the shortest path from i to j in the graph (an edge either way is an edge)
//! B = −½ H g² H        Y = top eigenvectors of B times √λ
//! ```
//!
//! B need not be positive semidefinite: on a ring or a sphere it has negative eigenvalues (Lawrence 2012, section 2.8).
//! With landmarks only m points are scaled and the others are embedded by their geodesics to the landmarks.
//!
//! J. B. Tenenbaum, V. de Silva, J. C. Langford. A global geometric framework for nonlinear dimensionality reduction.
//! Science 290, 2000. Landmarks: V. de Silva, J. B. Tenenbaum. Global versus local methods in nonlinear dimensionality
//! reduction. NIPS 15, 2003.

use crate::extend::{Away, Gower, Measure, Rule};
use crate::field::scaling::centered::Centered;
use crate::field::scaling::mds::{LANDMARKS, choose_landmarks};
use crate::field::{Basis, Build, Built, Field, Info, InputKind, Site, landmarks_instead};
use crate::parameter::{Kind, Parameter, Table, field};
use eigenfold_graph::Paths;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::paths::swept::SweptGeodesics;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::sparse::locality::LARGE;
use serde::{Deserialize, Serialize};

/// Isomap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Isomap {
    /// How many points are scaled exactly; all of them by default.
    pub landmarks: Option<usize>,
}

impl Table for Isomap {
    const METHOD: &'static str = "isomap";
    const TABLE: &'static [Parameter<Isomap>] =
        &[Parameter::new("landmarks", LANDMARKS, Kind::at_least(3), field!(landmarks)).none("all points")];
}

impl Build for Isomap {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["iso"],
            summary: "classical scaling of shortest-path distances along the neighborhood graph",
            title: "Isomap",
            good_for: "lengths along a curved manifold without holes",
            caution: "One false neighbor (a short circuit) distorts the whole map; holes are widened, and clusters may overlap.",
            basis: Basis::Covariance,
            paper: "Tenenbaum, de Silva & Langford 2000",
            accepts: InputKind::ALL,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn efforts(&self) -> [f64; 3] {
        [0.2, 1.0, 1.0]
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let graph = site.graph()?;
        let n = graph.len();
        let landmarks = choose_landmarks(self.landmarks, n, site.seed)?;
        let m = landmarks.as_ref().map_or(n, Vec::len);
        site.afford("the matrix of geodesics", Centered::memory(m), &landmarks_instead(n))?;
        let union = graph.union();
        // Many points have their geodesics one after the other when they are embedded, and not in a table.
        let large = landmarks.as_deref().filter(|_| n >= LARGE);
        let early = large.map(|_| Paths::within(&union, m, site.memory / 2));
        let swept = match (large, &early) {
            (Some(landmarks), Some(paths)) => SweptGeodesics::new(paths, landmarks, site.memory / 4, site.observer)?,
            _ => None,
        };
        if landmarks.is_some() && swept.is_none() {
            let table = 4 * (m as u64) * (n as u64);
            site.afford("the geodesics of the landmarks", table, "use fewer `landmarks`, or raise `memory`")?;
        }
        let kept = match (&landmarks, &swept) {
            (Some(_), Some(_)) => Centered::memory(m),
            (Some(_), None) => LandmarkGeodesics::memory(m, n),
            (None, _) => Centered::memory(n),
        };
        let spare = site.memory.saturating_sub(kept);
        let paths = early.unwrap_or_else(|| Paths::within(&union, m, spare / 2));
        drop(union);
        site.predict(kept + paths.bytes() + swept.as_ref().map_or(0, SweptGeodesics::bytes));
        let used = vec![("paths", paths.route().to_string())];
        let known = |landmarks| LandmarkGeodesics::new(&paths, landmarks, spare / 2, site.observer);
        let geodesics = landmarks.as_deref().filter(|_| swept.is_none()).map(known).transpose()?;
        let centered = match (&swept, &geodesics) {
            (Some(swept), _) => Centered::from_squares(m, |i, j| swept.between(i, j).powi(2), site.observer)?,
            (None, Some(known)) => Centered::from_squares(m, |i, j| known.between(i, j).powi(2), site.observer)?,
            (None, None) => Centered::from_paths(&paths, site.observer)?,
        };
        let row_means = centered.row_means().to_vec();
        let rule =
            Rule::Gower(Gower { away: Away { measure: Measure::Geodesic(graph.clone()), landmarks }, row_means });
        Ok(Built { used, geodesics, swept, ..Built::new(Field::Covariance(Box::new(centered)), rule) })
    }
}
