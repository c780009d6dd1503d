//! Locally linear embedding: every point is a weighted mean of its neighbors, and stays so in the plane.
//!
//! ```text
//! w[i] = argmin ‖x[i] − Σⱼ w[i,j] x[j]‖²,  Σⱼ w[i,j] = 1
//!      = C⁻¹1 / 1ᵀC⁻¹1,   C[j,k] = (x[j] − x[i])·(x[k] − x[i]) + r tr(C) δ[j,k]
//! precision (I − W)ᵀ M² (I − W)        M = I, or m[i]⁻² = ‖x[i] − Σⱼ w[i,j] x[j]‖² / p in the free variant
//! ```
//!
//! The weights maximize the pseudolikelihood of the field, and in the free variant so do the m[i] (N. D. Lawrence. A
//! unifying probabilistic perspective for spectral dimensionality reduction. JMLR 13, 2012, section 2.7).
//!
//! S. T. Roweis, L. K. Saul. Nonlinear dimensionality reduction by locally linear embedding. Science 290, 2000.

use super::{
    Built, Field, FieldModel, Info, InputKind, Parameter, Scale, Site, needs_points, no_such_parameter, number,
};
use crate::error::{Error, Result};
use crate::extend::Rule;
use crate::graph::Graph;
use crate::linalg::dense::solve_positive_definite;
use crate::linalg::sparse::SparseSymmetric;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Whose residuals weigh how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LleVariant {
    /// All alike.
    #[default]
    Standard,
    /// By the inverse residual of each point's own regression.
    Free,
}

/// Locally linear embedding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lle {
    /// r: the part of the local trace that is added to the diagonal.
    pub regularization: f64,
    /// Whose residuals weigh how much.
    pub variant: LleVariant,
}

impl Default for Lle {
    fn default() -> Lle {
        Lle { regularization: 1e-3, variant: LleVariant::Standard }
    }
}

impl FieldModel for Lle {
    fn info(&self) -> Info {
        Info {
            name: "lle",
            aliases: &["locally-linear-embedding"],
            summary: "every point stays the same weighted mean of its neighbors",
            stage: "precision",
            paper: "Roweis & Saul 2000; free variant Lawrence 2012, section 2.7",
            accepts: &[InputKind::Points, InputKind::Distances, InputKind::Similarities],
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        let variant = if self.variant == LleVariant::Standard { "standard" } else { "free" };
        vec![
            Parameter::new("regularization", self.regularization, "part of the local trace added to the diagonal"),
            Parameter::new("variant", variant, "standard, or free: residuals weighted by their own precision"),
        ]
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match (name, value) {
            ("regularization", _) => self.regularization = number(name, value, 1e-15..=1e3)?,
            ("variant", "standard") => self.variant = LleVariant::Standard,
            ("variant", "free") => self.variant = LleVariant::Free,
            ("variant", _) => return Err(Error::parameter(format!("--variant is {value:?}; give standard or free"))),
            _ => return Err(no_such_parameter(self, name)),
        }
        Ok(())
    }

    fn field(&self, site: &Site<'_>) -> Result<Built> {
        let graph = site.graph()?;
        if let Some(i) = (0..graph.len()).find(|&i| graph.neighbors(i).is_empty()) {
            return Err(Error::parameter(format!(
                "point {} has no neighbors to be written by; use a larger --radius, or -k",
                i + 1
            )));
        }
        let rows = self.regressions(site, graph)?;
        let matrix = self.precision(graph, &rows);
        let field = Field::Precision { matrix, mass: None, scale: Scale::Unit };
        Ok(Built::new(field, Rule::Barycenter { regularization: self.regularization }))
    }
}

/// The weights of one point over its neighbors, and the squared residual a feature.
struct Regression {
    weights: Vec<f64>,
    residual: f64,
}

impl Lle {
    fn regressions(&self, site: &Site<'_>, graph: &Graph) -> Result<Vec<Regression>> {
        let features = site.points.map_or(1, |points| points.cols()) as f64;
        if site.points.is_none() && site.distances.is_none() {
            return Err(needs_points("lle", "laplacian-eigenmaps and isomap embed a graph"));
        }
        let regression = |i: usize| {
            let neighbors = graph.neighbors(i);
            let gram = match (site.points, site.distances) {
                (Some(points), _) => {
                    let x = points.row(i);
                    let away = neighbors.iter().flat_map(|&j| points.row(j as usize).iter().zip(x).map(|(y, x)| y - x));
                    local_gram(neighbors.len(), &away.collect::<Vec<f64>>())
                }
                // C[j,k] = ½ (d²[i,j] + d²[i,k] − d²[j,k])
                (None, Some(distances)) => {
                    let square = |a: usize, b: usize| distances.row(a)[b].powi(2);
                    let pairs =
                        neighbors.iter().flat_map(|&j| neighbors.iter().map(move |&k| (j as usize, k as usize)));
                    pairs.map(|(j, k)| 0.5 * (square(i, j) + square(i, k) - square(j, k))).collect()
                }
                (None, None) => vec![0.0; neighbors.len() * neighbors.len()],
            };
            let weights = barycentric_weights(&gram, self.regularization);
            let k = weights.len();
            let residual: f64 =
                (0..k).map(|a| weights[a] * (0..k).map(|b| gram[a * k + b] * weights[b]).sum::<f64>()).sum();
            Regression { weights, residual: residual.max(0.0) / features }
        };
        let watched = |i: usize| {
            if i.is_multiple_of(512) && site.observer.stop() { Err(Error::Stopped) } else { Ok(regression(i)) }
        };
        (0..graph.len()).into_par_iter().map(watched).collect()
    }

    /// (I − W)ᵀ M² (I − W).
    fn precision(&self, graph: &Graph, rows: &[Regression]) -> SparseSymmetric {
        let n = graph.len();
        // A residual far below the others is rounding, not knowledge.
        let floor = 1e-9 * rows.iter().map(|row| row.residual).sum::<f64>() / n as f64;
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (i, row) in rows.iter().enumerate() {
            let m = match self.variant {
                LleVariant::Standard => 1.0,
                LleVariant::Free => 1.0 / row.residual.max(floor).max(f64::MIN_POSITIVE).sqrt(),
            };
            columns.push(i as u32);
            values.push(m);
            for (&j, w) in graph.neighbors(i).iter().zip(&row.weights) {
                columns.push(j);
                values.push(-m * w);
            }
            offsets.push(columns.len());
        }
        SparseSymmetric::gram(&offsets, &columns, &values)
    }
}

/// The inner products of k difference vectors stored one after the other.
pub(super) fn local_gram(k: usize, away: &[f64]) -> Vec<f64> {
    let p = away.len() / k;
    let mut gram = vec![0.0; k * k];
    pulp::Arch::new().dispatch(|| {
        for a in 0..k {
            for b in 0..=a {
                let (x, y) = (&away[a * p..(a + 1) * p], &away[b * p..(b + 1) * p]);
                let product = x.iter().zip(y).map(|(x, y)| x * y).sum();
                gram[a * k + b] = product;
                gram[b * k + a] = product;
            }
        }
    });
    gram
}

/// C⁻¹1 / 1ᵀC⁻¹1 for the regularized local Gram matrix; equal weights where it vanishes or cannot be inverted.
pub(crate) fn barycentric_weights(gram: &[f64], regularization: f64) -> Vec<f64> {
    let k = gram.len().isqrt();
    let trace: f64 = (0..k).map(|a| gram[a * k + a]).sum();
    let mut weights = vec![1.0; k];
    if trace > 0.0 {
        // In units of the trace, so that no scale of the data can underflow.
        let mut c: Vec<f64> = gram.iter().map(|v| v / trace).collect();
        for a in 0..k {
            c[a * k + a] += regularization;
        }
        if !solve_positive_definite(&mut c, &mut weights) {
            weights = vec![1.0; k];
        }
    }
    let sum: f64 = weights.iter().sum();
    if sum.is_normal() { weights.iter().map(|w| w / sum).collect() } else { vec![1.0 / k as f64; k] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_halfway_between_two_others_weighs_them_equally() {
        let gram = local_gram(2, &[-1.0, 0.0, 1.0, 0.0]);
        assert_eq!(gram, [1.0, -1.0, -1.0, 1.0]);
        let weights = barycentric_weights(&gram, 1e-3);
        assert!((weights[0] - 0.5).abs() < 1e-12 && (weights[1] - 0.5).abs() < 1e-12);
    }

    /// Lawrence 2012, equation (8) with the p it dropped: Σᵢ p/2 log m[i]² − m[i]²/2 ‖x[i] − Σⱼ w[i,j] x[j]‖², the
    /// weights of each point summing to one.
    #[test]
    fn l07_lle_weights_and_precisions_are_stationary_points_of_the_pseudolikelihood() {
        let features = 6;
        let x = |i: usize, f: usize| ((i * 37 + f * 11 + i * i * f) % 23) as f64 / 7.0;
        let points: Vec<Vec<f64>> = (0..12).map(|i| (0..features).map(|f| x(i, f)).collect()).collect();
        let points = crate::points::Points::from_rows(&points).unwrap();
        let found = crate::graph::Search { neighbors: crate::graph::Neighbors::Nearest(3), ..Default::default() }
            .of_points(&points, &crate::progress::Silent)
            .unwrap();
        let site = Site {
            points: Some(&points),
            distances: None,
            graph: Some(&found.graph),
            metric: Default::default(),
            dims: 2,
            seed: 0,
            memory: u64::MAX,
            observer: &crate::progress::Silent,
        };
        // Three neighbors in six dimensions: the local problem is regular, and hardly any regularization is needed.
        let lle = Lle { regularization: 1e-14, variant: LleVariant::Free };
        for (i, row) in lle.regressions(&site, &found.graph).unwrap().iter().enumerate() {
            let term = |weights: &[f64], m: f64| {
                let residual: f64 = (0..features)
                    .map(|f| {
                        let neighbors = found.graph.neighbors(i).iter().zip(weights);
                        let mean: f64 = neighbors.map(|(&j, w)| w * points.row(j as usize)[f]).sum();
                        (points.row(i)[f] - mean).powi(2)
                    })
                    .sum();
                0.5 * features as f64 * (m * m).ln() - 0.5 * m * m * residual
            };
            let m = 1.0 / row.residual.sqrt();
            let h = 1e-5;
            let slope = (term(&row.weights, m * (1.0 + h)) - term(&row.weights, m * (1.0 - h))) / (2.0 * h);
            assert!(slope.abs() < 1e-5, "point {i}: the precision's slope is {slope}");
            for (a, b) in [(0, 1), (1, 2)] {
                let moved = |step: f64| {
                    let mut weights = row.weights.clone();
                    weights[a] += step;
                    weights[b] -= step;
                    term(&weights, m)
                };
                let slope = (moved(h) - moved(-h)) / (2.0 * h);
                assert!(slope.abs() < 1e-5, "point {i}: the weights' slope is {slope}");
                assert!(moved(0.1) < moved(0.0) && moved(-0.1) < moved(0.0), "point {i}: it is a maximum");
            }
        }
    }

    #[test]
    fn coinciding_neighbors_get_equal_weights() {
        assert_eq!(barycentric_weights(&[0.0; 9], 1e-3), [1.0 / 3.0; 3]);
    }
}
