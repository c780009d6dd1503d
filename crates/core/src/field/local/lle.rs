//! Locally linear embedding: every point is a weighted mean of its neighbors, in the data and on the map.
//!
//! ```text
//! w[i] = argmin ‖x[i] − Σⱼ w[i,j] x[j]‖²,  Σⱼ w[i,j] = 1
//!      = C⁻¹1 / 1ᵀC⁻¹1,   C[j,k] = (x[j] − x[i])·(x[k] − x[i]) + r tr(C) δ[j,k]
//! precision (I − W)ᵀ M² (I − W)        M = I, or m[i]⁻² = ‖x[i] − Σⱼ w[i,j] x[j]‖² / p in the free variant
//! ```
//!
//! The symmetric variant minimizes the same sum with w[i,j] = w[j,i], which couples all points.
//!
//! The weights maximize the pseudolikelihood of the field, and in the free variant so do the m[i] (N. D. Lawrence. A
//! unifying probabilistic perspective for spectral dimensionality reduction. JMLR 13, 2012, section 2.7).
//!
//! S. T. Roweis, L. K. Saul. Nonlinear dimensionality reduction by locally linear embedding. Science 290, 2000.

use crate::ended::Ended;
use crate::extend::Rule;
use crate::field::local::symmetric_weights::symmetric_weights;
use crate::field::{Basis, Build, Built, CoordinateScale, Field, Info, InputKind, Site};
use crate::input::Measured;
use crate::input::regression::{REGULARIZATION, Regression};
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use crate::warning::Warning;
use eigenfold_graph::Graph;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::sparse::locality::{LARGE, breadth_first, positions};
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use serde::{Deserialize, Serialize};

/// How the residuals are weighted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LleVariant {
    /// Equally.
    #[default]
    Standard,
    /// By the inverse residual of each point's own regression.
    Free,
    /// Equally, with symmetric weights: `w[i,j] = w[j,i]`.
    Symmetric,
}

choices! {
    LleVariant {
        Standard: "standard", "from each point's neighbors, with equally weighted residuals";
        Free: "free", "with residuals weighted by their own precision";
        Symmetric: "symmetric", "with a symmetric weight matrix";
    }
}

/// The meaning of the parameter `regularization` of LLE and its variants.
pub(crate) const REGULARIZATION_HELP: &str =
    "the fraction of the local Gram matrix's trace that is added to its diagonal";

/// Locally linear embedding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lle {
    /// r: the fraction of the local trace that is added to the diagonal.
    pub regularization: f64,
    /// How the residuals are weighted.
    pub variant: LleVariant,
}

impl Default for Lle {
    fn default() -> Lle {
        Lle { regularization: REGULARIZATION, variant: LleVariant::Standard }
    }
}

impl Table for Lle {
    const METHOD: &'static str = "lle";
    const TABLE: &'static [Parameter<Lle>] = &[
        Parameter::new("regularization", REGULARIZATION_HELP, Kind::number(1e-15, 1e3), field!(regularization)),
        Parameter::new("variant", "how the weights are computed", Kind::Choice(LleVariant::NAMES), field!(variant)),
    ];
}

impl Build for Lle {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["locally-linear-embedding"],
            summary: "keeps the weights that reconstruct each point from its neighbors",
            title: "LLE",
            good_for: "a smooth, densely sampled manifold with very many points",
            caution: "Parts of the map may collapse to a line or a point; lengths are not those of the data.",
            basis: Basis::Precision,
            paper: "Roweis & Saul 2000; free: Lawrence 2012, section 2.7; symmetric: Xiao, Sun & Boyd 2006, section 5.1",
            accepts: InputKind::MEASURED,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let graph = site.graph()?;
        if let Some(i) = (0..graph.len()).find(|&i| graph.neighbors(i).is_empty()) {
            return Err(Error::parameter(
                "neighbors",
                format!("point {} has no neighbors", i + 1),
                "use a larger `radius`, or `neighbors`",
            ));
        }
        let data = site.measured(self.info().name)?;
        let (mut warnings, mut ended) = (Vec::new(), Ended::Converged);
        let (matrix, order) = if self.variant == LleVariant::Symmetric {
            let found = symmetric_weights(site, graph, data, self.regularization)?;
            ended = Ended::of(found.converged, found.stopped);
            if found.stopped {
                warnings.push(Warning::Stopped(
                    "stopped before it converged: the symmetric weights are not optimal yet".into(),
                ));
            } else if !ended.is_converged() {
                warnings.push(Warning::NotConverged(
                    "the symmetric weights did not converge; more regularization may help".into(),
                ));
            }
            precision(&found.graph, |i| (1.0, &found.weights[i]))
        } else {
            let rows = self.regressions(site, graph, data)?;
            let m = self.precisions(&rows);
            precision(graph, |i| (m[i], &rows[i].weights))
        };
        let field = Field::Precision { matrix, order, normalization: None, scale: CoordinateScale::Unit };
        let rule = Rule::barycenter(self.regularization);
        Ok(Built { warnings, ended, ..Built::new(field, rule) })
    }
}

impl Lle {
    fn regressions(&self, site: &Site<'_>, graph: &Graph, data: Measured<'_>) -> Result<Vec<Regression>> {
        let regression = |i: usize| {
            let neighbors = graph.neighbors(i);
            data.around(i, neighbors).regression(neighbors.len(), self.regularization)
        };
        let watched = |i: usize| {
            if i.is_multiple_of(512) && site.observer.stop() { Err(Error::Stopped) } else { Ok(regression(i)) }
        };
        parallel::try_collect(graph.len(), watched)
    }

    /// m[i] of every point.
    fn precisions(&self, rows: &[Regression]) -> Vec<f64> {
        if self.variant != LleVariant::Free {
            return vec![1.0; rows.len()];
        }
        // A residual far below the others is rounding.
        let floor = 1e-9 * rows.iter().map(|row| row.residual).sum::<f64>() / rows.len() as f64;
        rows.iter().map(|row| 1.0 / row.residual.max(floor).max(f64::MIN_POSITIVE).sqrt()).collect()
    }
}

/// (I − W)ᵀ M² (I − W), from m[i] and the weights of every point over its list; and the point of each of its rows, if they are
/// in an order of locality.
fn precision<'a>(graph: &Graph, row: impl Fn(usize) -> (f64, &'a Vec<f64>)) -> (SparseSymmetric, Option<Vec<u32>>) {
    // Of many rows, those that share a column are put close in memory.
    let order = (graph.len() >= LARGE).then(|| breadth_first(graph.len(), |i| graph.neighbors(i)));
    (precision_in_order(graph, order.as_deref(), row), order)
}

/// As [`precision`], in an order that is given.
fn precision_in_order<'a>(
    graph: &Graph,
    order: Option<&[u32]>,
    row: impl Fn(usize) -> (f64, &'a Vec<f64>),
) -> SparseSymmetric {
    let n = graph.len();
    let (mut offsets, mut columns, mut values) = (Vec::with_capacity(n + 1), Vec::new(), Vec::new());
    columns.reserve_exact(graph.edge_count() + n);
    values.reserve_exact(graph.edge_count() + n);
    offsets.push(0);
    let position = order.map(positions);
    let column = |i: u32| position.as_ref().map_or(i, |position| position[i as usize]);
    for at in 0..n {
        let i = order.map_or(at, |order| order[at] as usize);
        let (m, weights) = row(i);
        columns.push(column(i as u32));
        values.push(m);
        columns.extend(graph.neighbors(i).iter().map(|&j| column(j)));
        values.extend(weights.iter().map(|w| -m * w));
        offsets.push(columns.len());
    }
    SparseSymmetric::gram(&offsets, &columns, &values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::by_points;

    #[test]
    fn a_point_halfway_between_two_others_weighs_them_equally() {
        let points = eigenfold_graph::points::Points::from_rows(&[[0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]).unwrap();
        let weights = Measured::Points(&points, eigenfold_graph::Metric::Euclidean)
            .around(0, &[1, 2])
            .regression(2, 1e-3)
            .weights;
        assert!((weights[0] - 0.5).abs() < 1e-12 && (weights[1] - 0.5).abs() < 1e-12);
    }

    #[test]
    fn rows_in_an_order_of_locality_have_the_same_precision() {
        let n = 50usize;
        let list = |i: usize| (1..4).map(|step| (((i + step * 13) % n) as u32, step as f64)).collect();
        let graph = Graph::from_lists((0..n).map(list).collect()).unwrap();
        let weights: Vec<Vec<f64>> =
            (0..n).map(|i| (0..3).map(|at| 0.2 + ((i * 5 + at) % 7) as f64 / 9.0).collect()).collect();
        let row = |i: usize| (1.0 + (i % 4) as f64, &weights[i]);
        let order = breadth_first(n, |i| graph.neighbors(i));
        assert!(!order.is_sorted());
        let plain = precision_in_order(&graph, None, row).to_dense();
        let local = precision_in_order(&graph, Some(&order), row);
        let local = by_points(&local, Some(&order)).to_dense();
        assert!((plain - local).norm_max() < 1e-13);
    }

    /// Lawrence 2012, equation (8) with the p it dropped: Σᵢ p/2 log m[i]² − m[i]²/2 ‖x[i] − Σⱼ w[i,j] x[j]‖², the
    /// weights of each point summing to one.
    #[test]
    fn l07_lle_weights_and_precisions_are_stationary_points_of_the_pseudolikelihood() {
        let features = 6;
        let x = |i: usize, f: usize| ((i * 37 + f * 11 + i * i * f) % 23) as f64 / 7.0;
        let points: Vec<Vec<f64>> = (0..12).map(|i| (0..features).map(|f| x(i, f)).collect()).collect();
        let points = eigenfold_graph::points::Points::from_rows(&points).unwrap();
        let found = eigenfold_graph::Search { neighbors: eigenfold_graph::Neighbors::Nearest(3), ..Default::default() }
            .of_points(&points, &eigenfold_linalg::progress::Silent)
            .unwrap();
        let site = Site {
            graph: Some(&found.graph),
            dims: 2,
            observer: &eigenfold_linalg::progress::Silent,
            ..Site::of((&points).into())
        };
        // Three neighbors in six dimensions: the local problem is regular, and hardly any regularization is needed.
        let lle = Lle { regularization: 1e-14, variant: LleVariant::Free };
        for (i, row) in lle
            .regressions(&site, &found.graph, Measured::Points(&points, eigenfold_graph::Metric::Euclidean))
            .unwrap()
            .iter()
            .enumerate()
        {
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
            let derivative = (term(&row.weights, m * (1.0 + h)) - term(&row.weights, m * (1.0 - h))) / (2.0 * h);
            assert!(derivative.abs() < 1e-5, "point {i}: the precision's derivative is {derivative}");
            for (a, b) in [(0, 1), (1, 2)] {
                let moved = |step: f64| {
                    let mut weights = row.weights.clone();
                    weights[a] += step;
                    weights[b] -= step;
                    term(&weights, m)
                };
                let derivative = (moved(h) - moved(-h)) / (2.0 * h);
                assert!(derivative.abs() < 1e-5, "point {i}: the weights' derivative is {derivative}");
                assert!(moved(0.1) < moved(0.0) && moved(-0.1) < moved(0.0), "point {i}: it is a maximum");
            }
        }
    }
}
