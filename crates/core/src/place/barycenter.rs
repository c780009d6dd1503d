//! The weights that write a point by its neighbors also write its coordinates: y = Σⱼ w[j] y[j].

use super::{Known, Newcomer, Rule};
use crate::error::Result;
use crate::ground::{Cloud, differences};
use serde::{Deserialize, Serialize};

/// How the weights are found, and among whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Barycenter {
    /// The part of the local trace added to the diagonal.
    pub(crate) regularization: f64,
    /// The points that have neighbors; all if absent.
    pub(crate) landmarks: Option<Vec<u32>>,
}

impl Barycenter {
    pub(super) fn fits(&self, rows: usize) -> bool {
        self.landmarks.as_ref().is_none_or(|l| !l.is_empty() && l.iter().all(|&i| (i as usize) < rows))
    }

    /// Hands the rule without landmarks, and what is known of the landmarks alone, to `work`.
    pub(super) fn among<R>(&self, known: &Known<'_>, work: impl FnOnce(&Rule, &Known<'_>) -> Result<R>) -> Result<R> {
        let plain = Rule::Barycenter(Barycenter { regularization: self.regularization, landmarks: None });
        let Some(landmarks) = &self.landmarks else { return work(&plain, known) };
        let rows: Vec<usize> = landmarks.iter().map(|&i| i as usize).collect();
        let points = known.points.map(|(points, metric)| (points.select(&rows), metric));
        // While a fit is under way only the landmarks have coordinates.
        let map = if known.map.rows() == rows.len() { known.map.clone() } else { known.map.select(&rows) };
        let points = points.as_ref().map(|(points, metric)| (points, *metric));
        work(&plain, &Known { points, map: &map, k: known.k.min(rows.len()), ..*known })
    }

    pub(super) fn row(&self, known: &Known<'_>, new: &Newcomer<'_>) -> Vec<f64> {
        let away = known.points.map_or(Vec::new(), |(points, _)| differences(points, new.near, new.row));
        let written = Cloud::Rows(away).regression(new.near.len(), self.regularization);
        known.mean_of(new.near, &written.weights, |_, sum| sum)
    }
}
