//! The rules as values of one type, which a model keeps in its file; what all of them do with new points.

use super::batches::Placer;
use super::extension::{Extension, Known, Own, Traits, Transformed};
use super::standard_deviation::Deviations;
use super::{Barycenter, DESCENTS, OnLine, Process, Rule};
use crate::input::Data;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use std::cell::OnceCell;

/// Defines [`Rule`] from one word for each rule: its type.
macro_rules! rules {
    ($($rule:ident),* $(,)?) => {
        /// The rule by which a fitted method embeds new points.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[allow(private_interfaces, reason = "the rules of this library are made by its methods")]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc(hidden)] $rule($rule),)*
            /// A rule from outside of this library; its models cannot be saved.
            #[serde(skip)]
            Own(Own),
        }

        $(impl From<$rule> for Rule {
            fn from(rule: $rule) -> Rule {
                Rule::$rule(rule)
            }
        })*

        impl Rule {
            pub(crate) fn inner(&self) -> &dyn Extension {
                match self {
                    $(Rule::$rule(rule) => rule,)*
                    Rule::Own(own) => own.inner(),
                }
            }

            /// The rule to be changed; `None` for one from outside that is shared.
            pub(crate) fn inner_mut(&mut self) -> Option<&mut dyn Extension> {
                match self {
                    $(Rule::$rule(rule) => Some(rule),)*
                    Rule::Own(own) => own.inner_mut(),
                }
            }
        }
    };
}

pub(super) use rules;

/// How the inverse transform of a rule is found.
pub(crate) enum Inverse<'a> {
    /// By kriging, whatever the rule is.
    Kriging,
    /// x̄ + U y, with the standard deviations of the model, or those of its residuals.
    Linear { mean: &'a [f64], axes: Vec<f64>, deviations: Option<Vec<f64>> },
    /// By the process over the map.
    Process(&'a Process),
    /// By the process along the line.
    OnLine(&'a OnLine),
}

impl Rule {
    /// The weights that reconstruct a new point from its neighbors apply to its coordinates, as in LLE, with this share of
    /// the local trace added to the diagonal.
    pub fn barycenter(regularization: f64) -> Rule {
        Barycenter { regularization, landmarks: None }.into()
    }

    /// A rule from outside of this library.
    pub fn own(rule: impl Extension + 'static) -> Rule {
        Rule::Own(Own::new(rule))
    }
}

impl Rule {
    pub(crate) fn traits(&self) -> Traits {
        self.inner().traits()
    }

    /// The coordinates of new rows.
    pub(crate) fn place(&self, known: &Known<'_>, new: &Points) -> Result<Transformed> {
        let among = known.among(self.candidates());
        self.prepare(known, among.as_ref()).place(new)
    }

    /// The training points that may be neighbors; all if absent.
    pub(crate) fn candidates(&self) -> Option<&[u32]> {
        self.inner().candidates()
    }

    /// Prepares for any number of new rows; `among` are the training data of the candidates ([`Known::among`]), where the
    /// rule has candidates.
    pub(crate) fn prepare<'a>(&'a self, known: &Known<'a>, among: Option<&'a Among>) -> PreparedRule<'a> {
        let near = among.map_or(*known, |among| among.known(known));
        PreparedRule { rule: self, known: *known, near, placer: OnceCell::new(), deviations: OnceCell::new() }
    }

    /// The coordinates of training rows as if they were new: each is embedded by the others, without itself among its
    /// neighbors. The influence of the row on the whole map (on means and eigenvectors) remains.
    pub(crate) fn place_without(&self, known: &Known<'_>, rows: &[usize]) -> Result<Points> {
        let rule = self.inner();
        let Some((points, _)) = known.points.filter(|_| rule.traits().uses_others && known.map.rows() > 1) else {
            return Ok(known.map.select(rows));
        };
        let new = points.select(rows);
        let number = |&row: &usize| match rule.candidates() {
            Some(all) => all.iter().position(|&i| i as usize == row).map_or(u32::MAX, |at| at as u32),
            None => row as u32,
        };
        let own: Vec<u32> = rows.iter().map(number).collect();
        let among = known.among(rule.candidates());
        let known = among.as_ref().map_or(*known, |among| among.known(known));
        let k = known.k.min(known.map.rows() - 1).max(1);
        Ok(Placer::new(rule, Known { k, ..known })?.place(&new, Some(&own))?.coordinates)
    }

    /// The number of rows that may be embedded anew: fewer if each requires an optimization.
    pub(crate) fn affordable(&self) -> usize {
        if self.traits().optimizes { DESCENTS } else { usize::MAX }
    }

    /// The coordinates of all training points from those of the landmarks.
    pub(crate) fn place_all(
        &self,
        known: &Known<'_>,
        data: Data<'_>,
        geodesics: Option<LandmarkGeodesics>,
    ) -> Result<Points> {
        if let Some(placed) = self.inner().place_all(known, data, geodesics)? {
            return Ok(placed);
        }
        match data.table() {
            Some(rows) => Ok(self.place(known, rows)?.coordinates),
            None => {
                let fact = "the points of a graph cannot be embedded by landmarks";
                Err(Error::input_kind(&["points", "distances"], fact, ""))
            }
        }
    }

    /// How the inverse transform is found.
    pub(crate) fn inverse(&self) -> Result<Inverse<'_>> {
        Ok(match self {
            Rule::Linear(linear) => linear.inverse(),
            Rule::Latent(latent) => latent.inverse()?,
            Rule::Process(process) => Inverse::Process(process),
            Rule::OnLine(line) => Inverse::OnLine(line),
            _ => Inverse::Kriging,
        })
    }
}

/// The training points that may be neighbors of new points.
#[derive(Debug)]
pub(crate) struct Among {
    points: Option<Points>,
    map: Points,
}

impl Among {
    /// The training data of the candidates, from those of all points.
    fn known<'a>(&'a self, all: &Known<'a>) -> Known<'a> {
        let points = self.points.as_ref().zip(all.points).map(|(points, (_, metric))| (points, metric));
        // They are farther apart than the points whose neighbors a radius found.
        Known { points, map: &self.map, k: all.k.min(self.map.rows()), radius: None, ..*all }
    }
}

/// A rule that is prepared for any number of new rows, by the first of them.
pub(crate) struct PreparedRule<'a> {
    pub(super) rule: &'a Rule,
    pub(super) known: Known<'a>,
    /// The training data of the candidates.
    near: Known<'a>,
    /// Not needed by a rule that does without neighbors.
    placer: OnceCell<Placer<'a>>,
    /// Prepared by the first rows whose standard deviations are requested; nothing if the rule has none.
    pub(super) deviations: OnceCell<Option<Deviations<'a>>>,
}

impl PreparedRule<'_> {
    /// The coordinates of new rows.
    pub(crate) fn place(&self, new: &Points) -> Result<Transformed> {
        let rule = self.rule.inner();
        if let Some(placed) = rule.place(&self.known, new)? {
            return Ok(placed);
        }
        ready(&self.placer, || Placer::new(rule, self.near))?.place(new, None)
    }
}

/// What a cell holds, made by the first call that succeeds.
pub(super) fn ready<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(made) = cell.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}

impl Known<'_> {
    /// The training data of the candidates alone, if there are candidates.
    pub(crate) fn among(&self, candidates: Option<&[u32]>) -> Option<Among> {
        let rows: Vec<usize> = candidates?.iter().map(|&i| i as usize).collect();
        let points = self.points.map(|(points, _)| points.select(&rows));
        // During a fit only the candidates have coordinates.
        let map = if self.map.rows() == rows.len() { self.map.clone() } else { self.map.select(&rows) };
        Some(Among { points, map })
    }

    /// `Σⱼ w[j] y[j]` over the neighbors, finished coordinate by coordinate.
    pub fn mean_of(&self, near: &[u32], weights: &[f64], finish: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let sum = |q: usize| near.iter().zip(weights).map(|(&j, w)| w * self.map.row(j as usize)[q]).sum();
        (0..self.map.cols()).map(|q| finish(q, sum(q))).collect()
    }
}
