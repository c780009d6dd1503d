//! Whether a model that was read from a file is one that a fit could have made.
//!
//! The checksum of a model file guards against accidents only. What is read is therefore checked once, here: sizes and
//! indices fit together, numbers are finite, parameters are in their ranges. Everything downstream relies on it.

use crate::extend::Sizes;
use crate::input::InputKind;
use crate::model::{Model, Part};
use crate::parameter::Parameters;
use crate::recipe::Recipe;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Metric, Neighbors};

impl Model {
    /// Whether all sizes, indices and numbers fit together, as they must in a model that was not tampered with.
    pub(crate) fn is_consistent(&self) -> bool {
        let (n, features) = (self.embedding.rows(), self.points.as_ref().map(Points::cols));
        let points = self.points.as_ref().is_none_or(|points| points.is_sound() && points.rows() == n);
        let report = &self.report;
        let prepared = self.frame.prepared.as_ref().is_none_or(|p| self.points.as_ref().is_some_and(|x| p.is_sound(x)));
        let schema = self.schema.as_ref().is_none_or(|schema| schema.is_sound(features.unwrap_or(0)));
        let whitened = self.recipe.metric == Metric::Mahalanobis && self.recipe.method.info().uses_metric;
        let whitening = self.frame.whitening.as_ref().is_none_or(|whitening| whitening.is_sound(features.unwrap_or(0)));
        points
            && prepared
            && whitening
            && self.frame.whitening.is_some() == (whitened && self.points.is_some())
            && schema
            && self.frame.prepared.is_none() == self.recipe.preparation.is_none()
            && self.embedding.is_sound_result()
            && (self.kind == InputKind::Points) == self.points.is_some()
            && self.names.as_ref().is_none_or(|names| Some(names.len()) == features)
            && (report.method == self.recipe.method.info().name && report.n == n && report.features == features)
            && report.fitted_rows >= n as u64
            && self.recipe.is_in_range()
            && self.recipe.dims == self.embedding.cols()
            && self.has_every_row_once()
            && self.parts.iter().all(|part| self.is_sound(part))
            && self.seen_points().is_none_or(Points::is_finite)
    }

    /// Whether the parts share the rows among them; a single one has them all.
    fn has_every_row_once(&self) -> bool {
        let n = self.embedding.rows();
        if let [only] = self.parts.as_slice() {
            return only.rows.is_empty() || (only.rows.len() == n && (0..).zip(&only.rows).all(|(i, &row)| i == row));
        }
        let mut seen = vec![false; n];
        let ascending = self.parts.iter().all(|part| part.rows.is_sorted_by(|a, b| a < b));
        let mut fresh = |&row: &u32| seen.get_mut(row as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        let once = self.parts.iter().all(|part| !part.rows.is_empty() && part.rows.iter().all(&mut fresh));
        ascending && once && seen.iter().all(|&seen| seen)
    }

    fn is_sound(&self, part: &Part) -> bool {
        let (rows, dims) = (if part.rows.is_empty() { self.embedding.rows() } else { part.rows.len() }, part.width);
        let features = self.points.as_ref().map_or(0, Points::cols);
        let one_of_several = self.parts.len() > 1;
        let rule = match &part.rule {
            // A point that is a component of its own goes nowhere else.
            None => rows == 1,
            Some(rule) => rule.inner().fits(Sizes { rows, features, dims, eigenvalues: part.eigenvalues.len() }),
        };
        part.k >= 1
            && dims >= 1
            && (dims == self.embedding.cols() || (one_of_several && dims < self.embedding.cols()))
            && part.shift.is_finite()
            && part.eigenvalues.iter().all(|lambda| lambda.is_finite())
            && rule
    }
}

impl Recipe {
    /// Whether every parameter has a valid value.
    fn is_in_range(&self) -> bool {
        let neighbors = match self.neighbors {
            Neighbors::Nearest(k) | Neighbors::Mutual(k) => k >= 1,
            Neighbors::Within(radius) => radius > 0.0 && radius.is_finite(),
            Neighbors::All => true,
        };
        let mut method = self.method.clone();
        let own = self.method.parameters().iter().all(|own| method.set(own.name, &own.value).is_ok());
        let learned = self.learned.as_ref().is_none_or(|drill| {
            let mut again = *drill;
            drill.parameters().iter().all(|own| again.set(own.name, &own.value).is_ok())
        });
        neighbors && self.metric.is_sound() && own && learned && self.dims >= 1
    }
}
