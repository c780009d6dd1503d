//! The likelihood of the points under a field: one observation model for every method.
//!
//! Every centered feature column is an independent draw from the field plus noise, in the n − 1 directions that are
//! orthogonal to the constants:
//!
//! ```text
//! x̃[f] ~ N(0, α² K + σ² I)        f = 1 … p;  α² ≥ 0 and σ² ≥ 0 by maximum likelihood
//! ```
//!
//! For the features that the field was fitted to, this is an in-sample likelihood; methods are compared by held-out
//! features (`validate/features.rs`). For a precision A, K = A⁺ off the constants (`precision.rs`). A covariance may be
//! degenerate (that of PCA is the covariance of the data) or indefinite (that of Isomap), so it is replaced by its map
//! plus noise, as in probabilistic PCA (`map.rs`). No direction may have less than 1e-12 of the data's variance: the
//! likelihood would be unbounded for points that lie exactly in the null space of the precision.
//!
//! M. E. Tipping, C. M. Bishop. Probabilistic principal component analysis. JRSS B 61(3), 1999. N. D. Lawrence.
//! Probabilistic non-linear principal component analysis with Gaussian process latent variable models. JMLR 6, 2005
//! (the dual model, independent over features). N. D. Lawrence, JMLR 13, 2012, section 2.1.

mod columns;
mod map;
mod peak;
mod precision;

pub(crate) use columns::Columns;

use crate::field::{Field, by_points};
use eigenfold_graph::points::Points;
use eigenfold_linalg::Operator;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Observer;
use map::Map;
use precision::Precision;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The minimum variance of a direction, as a fraction of that of the data; smaller values are rounding.
pub(crate) const FLOOR: f64 = 1e-12;
/// A likelihood predicted below this many flops is computed by default (a few tenths of a second).
const CHEAP_FLOPS: f64 = 6e9;
/// A precision over more points, or with more entries, is not even ordered to predict the cost: for large data the
/// likelihood would double the time of the fit.
const CHEAP_POINTS: usize = 5_000;
const CHEAP_ENTRIES: usize = 1_000_000;

/// Whether the likelihood is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Likelihood {
    /// If its predicted cost is a few tenths of a second.
    #[default]
    Cheap,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The points as observations of the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Observation {
    /// The log density of the (n − 1) p numbers; a sum over separate components.
    pub log_likelihood: f64,
    /// α², in the square of the data's units over those of K; of the largest of separate components.
    pub signal: f64,
    /// σ², in the square of the data's units; of the largest of separate components.
    pub noise: f64,
    /// Whether the minimum variance of a direction, which is the noise if there is any, is at its lower bound: then the
    /// likelihood has no maximum above it.
    pub noise_at_floor: bool,
    /// p.
    pub features: usize,
    /// n − 1, of all components together.
    pub directions: usize,
    /// The number of evaluations by a factor.
    pub evaluations: usize,
}

impl Observation {
    /// Adds another component of the same input.
    pub(crate) fn merge(&mut self, other: &Observation) {
        self.log_likelihood += other.log_likelihood;
        self.noise_at_floor |= other.noise_at_floor;
        self.directions += other.directions;
        self.evaluations += other.evaluations;
    }
}

/// The limits of the cost.
pub(crate) struct Budget {
    pub(crate) likelihood: Likelihood,
    /// In bytes.
    pub(crate) memory: u64,
}

/// A field as it is evaluated: its covariance up to α², or its substitute.
pub(crate) enum Density {
    Precision(Box<Precision>),
    Map(Map),
}

impl Density {
    /// The density of a field; by its map if it is a covariance, if it is over landmarks alone, or if there is none.
    /// `None` if its cost is beyond the budget.
    pub(crate) fn new(
        field: Option<&Field>,
        map: &dyn Fn() -> Result<Points>,
        points: &Points,
        budget: &Budget,
    ) -> Result<Option<Density>> {
        let (features, cheap) = (points.cols(), budget.likelihood == Likelihood::Cheap);
        let small = |n: usize| !cheap || n <= CHEAP_POINTS;
        let Some(field) = field.filter(|field| field.is_precision_of(points.rows())) else {
            return Ok(Some(Density::Map(Map::new(&map()?)?)));
        };
        let (matrix, grounded) = match field {
            Field::Precision { matrix, order, .. } if small(matrix.dim()) => {
                (by_points(matrix, order.as_deref()), None)
            }
            Field::Definite { matrix, .. } if small(matrix.dim()) => (Cow::Borrowed(matrix), None),
            Field::Root(root) if small(root.dim()) => (Cow::Owned(root.precision()), Some(root.log_determinant())),
            _ => return Ok(None),
        };
        if cheap && matrix.entry_count() > CHEAP_ENTRIES {
            return Ok(None);
        }
        let precision = Precision::new(&matrix, grounded)?;
        let fits = precision.memory(features) <= budget.memory;
        match budget.likelihood {
            Likelihood::Cheap if !fits || precision.flops(features) > CHEAP_FLOPS => Ok(None),
            _ if !fits => Err(Error::Memory {
                what: "the likelihood's factor".into(),
                needed: precision.memory(features),
                limit: budget.memory,
                way_out: "leave out `likelihood`, use a smaller `neighbors`, or raise `memory`".into(),
            }),
            _ => Ok(Some(Density::Precision(Box::new(precision)))),
        }
    }

    /// α² and σ² by maximum likelihood, and the log density there; `None` if all points coincide or the factorization
    /// fails.
    pub(crate) fn fit(&self, columns: &Columns, observer: &dyn Observer) -> Result<Option<Observation>> {
        if columns.size <= 0.0 {
            return Ok(None);
        }
        let fitted = match self {
            Density::Precision(precision) => precision.fit(columns, observer)?,
            Density::Map(map) => Some(map.fit(columns)),
        };
        Ok(fitted.filter(|o| o.log_likelihood.is_finite()))
    }

    /// As [`Density::fit`], of all features of points.
    pub(crate) fn fit_points(&self, points: &Points, observer: &dyn Observer) -> Result<Option<Observation>> {
        match self {
            Density::Precision(_) => self.fit(&Columns::all(points), observer),
            Density::Map(map) => Ok(map.fit_points(points).filter(|o| o.log_likelihood.is_finite())),
        }
    }

    /// The log density of other columns at fitted α² and σ².
    pub(crate) fn of(&self, columns: &Columns, fitted: &Observation) -> Result<Option<f64>> {
        match self {
            _ if fitted.signal == 0.0 => Ok(Some(columns.of_noise(fitted.noise))),
            Density::Precision(precision) => precision.of(columns, fitted),
            Density::Map(map) => Ok(Some(map.of(columns, fitted))),
        }
    }
}
