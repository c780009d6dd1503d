//! New points: every method places them, each row on its own, by the rule its mathematics gives.
//!
//! A row that is one of the training rows gets that row's own coordinates (the first such row's, if there are several).
//!
//! | rule | methods | a new point x goes to |
//! |---|---|---|
//! | `Linear` | pca, mds of points | `(x − x̄) U` |
//! | `Squares` | mds, kernel-pca, isomap, ppco, pkpca | `½ Σᵢ (r[i] − δ²[i]) y[i] / λ`, δ the distances from x (Gower 1968) |
//! | `Features` | ppco, pkpca with landmarks | `Σⱼ k(x, z[j]) a[j] − b`, z the landmarks |
//! | `Latent` | ppca, fa | `E[z | x]`, its hidden coordinates given what was observed of it |
//! | `Barycenter` | lle, modified-lle, alle, meu, mvu, drill | `Σⱼ w[j] y[j]`, w the weights that write x by its neighbors |
//! | `Tangent` | ltsa, hessian-lle | the affine map of the neighbors' tangent space that fits their coordinates |
//! | `Nystrom` | laplacian-eigenmaps, diffusion-maps | `Σⱼ w[j] y[j] / Σⱼ w[j] (1 − λ)`, its own eigen-equation (Nyström) |
//! | `Process` | gplvm | where its row is likeliest, given the rows and the positions of all training points |
//! | `OnLine` | gplvm with the kernel ou | where on the line its row is likeliest, given the rows on both sides |
//! | `Attracted` | tsne, sne, symmetric-sne, umap, elastic | `argmin` of the objective with all other points held |
//! | `Stress` | smacof, sammon | `argmin Σᵢ w[i] (δ[i] − ‖y − y[i]‖)²`, the objective with all other points held |

mod attracted;
mod away;
mod barycenter;
mod features;
mod latent;
mod linear;
mod nystrom;
mod on_line;
mod process;
mod squares;
mod stress;
mod tangent;

pub(crate) use attracted::{Attracted, Hold, Push};
pub(crate) use away::{Away, Measure};
pub(crate) use barycenter::Barycenter;
pub(crate) use features::Features;
pub(crate) use latent::Observed;
pub use latent::{Latent, Posterior};
pub(crate) use linear::Linear;
pub(crate) use nystrom::{Form, Nystrom};
pub(crate) use on_line::OnLine;
pub(crate) use process::{Mapping, Process};
pub(crate) use squares::Squares;
pub(crate) use stress::Stress;

use crate::error::{Error, Result};
use crate::gp::line::Line;
use crate::graph::paths::landmarks::LandmarkGeodesics;
use crate::graph::{Index, Lists, Metric};
use crate::ground::Ground;
use crate::linalg::parallel;
use crate::points::Points;
use attracted::Pushes;
use serde::{Deserialize, Serialize};

/// New rows placed together, so that the memory of a batch stays small.
const BATCH: usize = 256;
/// How many training points are asked how far their neighbors are.
const ASKED: usize = 256;
/// A new point is far beyond this many times what is usual among the training points.
const FAR: f64 = 2.0;

/// New points on a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Their coordinates, one row per new row.
    pub coordinates: Points,
    /// The rows that are far from all training points: their coordinates are extrapolated and mean little.
    ///
    /// Far is more than twice as far from the nearest training point as nearly all of those (95 of 100) are from their
    /// own k-th neighbor; for linear maps, more than twice as far from the mean as any training point.
    pub far: Vec<usize>,
}

/// How a fitted method places new points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Rule {
    Linear(Linear),
    Squares(Squares),
    Barycenter(Barycenter),
    Nystrom(Nystrom),
    /// The affine map from the tangent space of a point's neighbors to their coordinates.
    Tangent,
    Stress(Stress),
    Attracted(Attracted),
    Latent(Latent),
    Features(Features),
    Process(Process),
    OnLine(OnLine),
}

/// What a rule knows of the training points.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// Their features and the metric; if absent, new rows hold distances to all of them.
    pub(crate) points: Option<(&'a Points, Metric)>,
    /// How many neighbors a new point gets.
    pub(crate) k: usize,
    /// Their coordinates.
    pub(crate) map: &'a Points,
    /// The eigenvalues of the coordinates, where they are eigenvectors.
    pub(crate) eigenvalues: &'a [f64],
}

/// A new point: its row, its nearest training points with their distances, and its squared distances to the points that
/// the rule measures from.
pub(crate) struct Newcomer<'a> {
    row: &'a [f64],
    near: &'a [u32],
    lengths: &'a [f64],
    squares: &'a [f64],
    /// What pushes it, where the rule asks.
    pushes: Option<&'a Pushes>,
    /// The fitted process, where the rule asks.
    fitted: Option<&'a process::Fitted<'a>>,
    line: Option<&'a Line>,
}

impl Rule {
    /// Whether the rule's arrays have the sizes of that many rows, features and coordinates.
    pub(crate) fn fits(&self, rows: usize, features: usize, dims: usize, eigenvalues: usize) -> bool {
        match self {
            Rule::Linear(linear) => linear.fits(features, dims),
            Rule::Squares(squares) => squares.fits(rows) && eigenvalues == dims,
            Rule::Barycenter(barycenter) => barycenter.fits(rows),
            Rule::Tangent => true,
            Rule::Nystrom(nystrom) => nystrom.fits(rows) && eigenvalues == dims,
            Rule::Stress(stress) => stress.fits(rows),
            Rule::Attracted(attracted) => attracted.fits(rows),
            Rule::Features(known) => known.fits(features, dims),
            Rule::Latent(latent) => latent.fits(features, dims),
            Rule::Process(process) => process.fits(rows, dims),
            Rule::OnLine(line) => line.fits(dims),
        }
    }

    /// Whether it needs the features of the training points.
    pub(crate) fn needs_points(&self) -> bool {
        matches!(
            self,
            Rule::Linear(_)
                | Rule::Latent(_)
                | Rule::Barycenter(_)
                | Rule::Tangent
                | Rule::Features(_)
                | Rule::Process(_)
                | Rule::OnLine(_)
        )
    }

    /// The coordinates of new rows.
    pub(crate) fn place(&self, known: &Known<'_>, new: &Points) -> Result<Placed> {
        match self {
            Rule::Linear(linear) => linear.place(known, new),
            Rule::Latent(latent) => latent.place(known, new),
            Rule::Barycenter(barycenter) => barycenter.among(known, |rule, known| rule.place_rows(known, new)),
            _ => self.place_rows(known, new),
        }
    }

    /// The coordinates of all training points from those of the landmarks, where the rule measures from landmarks; by
    /// their geodesics if they are known already.
    pub(crate) fn place_all(
        &self,
        known: &Known<'_>,
        ground: Ground<'_>,
        geodesics: Option<LandmarkGeodesics>,
    ) -> Result<Points> {
        match (self, ground) {
            (Rule::Squares(squares), ground) => squares.place_all(known, ground, geodesics),
            (Rule::Stress(stress), ground) => stress.place_all(known, ground, geodesics),
            (rule, Ground::Points(points, _)) => Ok(rule.place(known, points)?.coordinates),
            (rule, Ground::Distances(distances)) => Ok(rule.place(known, distances.matrix())?.coordinates),
            (_, Ground::Graph(_)) => Err(Error::parameter("the points of a graph cannot be placed by landmarks")),
        }
    }

    /// Row by row, in batches.
    fn place_rows(&self, known: &Known<'_>, new: &Points) -> Result<Placed> {
        let dims = known.map.cols();
        let index = known.points.map(|(points, metric)| Index::new(points, metric)).transpose()?;
        let away = self.away().map(Away::prepared).transpose()?;
        let pushes = if let Rule::Attracted(attracted) = self { Some(attracted.prepared(known)) } else { None };
        let fitted = if let Rule::Process(process) = self { Some(process.fitted(known)?) } else { None };
        let line = if let Rule::OnLine(line) = self { Some(line.prepared(known)?) } else { None };
        let reach = index.as_ref().map_or(Ok(f64::INFINITY), |index| known.reach(index))?;
        let (mut placed, mut far) = (Vec::with_capacity(new.rows() * dims), Vec::new());
        for start in (0..new.rows()).step_by(BATCH) {
            let batch: Vec<usize> = (start..(start + BATCH).min(new.rows())).collect();
            let batch = new.select(&batch);
            let near = known.nearest(index.as_ref(), &batch)?;
            let squares = away.as_ref().map_or(Ok(Vec::new()), |away| away.squares(known, &near, &batch))?;
            let rows = parallel::collect(batch.rows(), |i| {
                let width = squares.len() / batch.rows();
                self.place_row(
                    known,
                    &Newcomer {
                        row: batch.row(i),
                        near: &near.0[i * known.k..(i + 1) * known.k],
                        lengths: &near.1[i * known.k..(i + 1) * known.k],
                        squares: &squares[i * width..(i + 1) * width],
                        pushes: pushes.as_ref(),
                        fitted: fitted.as_ref(),
                        line: line.as_ref(),
                    },
                )
            });
            rows.into_iter().for_each(|row| placed.extend(row));
            far.extend((0..batch.rows()).filter(|i| near.1[i * known.k] > reach).map(|i| start + i));
        }
        Ok(Placed { coordinates: Points::new(new.rows(), dims, placed)?, far })
    }

    fn place_row(&self, known: &Known<'_>, new: &Newcomer<'_>) -> Vec<f64> {
        let here = new.near.iter().zip(new.lengths).take_while(|(_, d)| **d == 0.0).map(|(&j, _)| j as usize);
        if let Some(j) = { here }.find(|&j| known.points.is_none_or(|(points, _)| points.row(j) == new.row)) {
            return known.map.row(j).to_vec();
        }
        match self {
            Rule::Linear(linear) => linear.row(new.row),
            // Never asked row by row.
            Rule::Latent(_) => Vec::new(),
            Rule::Squares(squares) => squares.row(known, new),
            Rule::Barycenter(barycenter) => barycenter.row(known, new),
            Rule::Tangent => tangent::row(known, new),
            Rule::Nystrom(nystrom) => nystrom.row(known, new),
            Rule::Stress(stress) => stress.row(known, new),
            Rule::Attracted(attracted) => attracted.row(known, new),
            Rule::Features(features) => features.row(new),
            Rule::Process(_) => new.fitted.map_or(Vec::new(), |fitted| fitted.row(new.row, new.near)),
            Rule::OnLine(_) => new.line.map_or(Vec::new(), |line| vec![line.place(&line.problem.row(new.row))]),
        }
    }

    /// What it measures new points from.
    fn away(&self) -> Option<&Away> {
        match self {
            Rule::Squares(squares) => Some(&squares.away),
            Rule::Stress(stress) => Some(&stress.away),
            Rule::Attracted(attracted) => attracted.away.as_ref(),
            Rule::Linear(_) | Rule::Latent(_) | Rule::Barycenter(_) | Rule::Tangent => None,
            Rule::Nystrom(_) | Rule::Features(_) | Rule::Process(_) | Rule::OnLine(_) => None,
        }
    }
}

impl Known<'_> {
    /// How far from its nearest training point a new point may be.
    fn reach(&self, index: &Index<'_>) -> Result<f64> {
        let Some((points, _)) = self.points else { return Ok(f64::INFINITY) };
        let n = points.rows();
        let asked: Vec<usize> = (0..n.min(ASKED)).map(|i| i * n / n.min(ASKED)).collect();
        // Each of them is its own nearest.
        let k = (self.k + 1).min(n);
        let (_, lengths) = index.nearest(&points.select(&asked), k)?;
        let mut last: Vec<f64> = lengths.chunks_exact(k).map(|list| list[k - 1]).collect();
        last.sort_unstable_by(f64::total_cmp);
        let usual = last[(last.len() - 1) * 95 / 100];
        let most = last[last.len() - 1];
        let reach = if usual > 0.0 { usual } else { most };
        Ok(if reach > 0.0 { FAR * reach } else { f64::INFINITY })
    }

    /// The k nearest training points of every row.
    fn nearest(&self, index: Option<&Index<'_>>, rows: &Points) -> Result<Lists> {
        if let Some(index) = index {
            return index.nearest(rows, self.k);
        }
        let lists = parallel::collect(rows.rows(), |i| {
            let mut list: Vec<(u32, f64)> = rows.row(i).iter().enumerate().map(|(j, &d)| (j as u32, d)).collect();
            list.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            list.truncate(self.k);
            list
        });
        if let Some(i) = lists.iter().position(|list| list[0].1 < 0.0) {
            return Err(Error::data(format!("row {} has a negative distance; distances are not negative", i + 1)));
        }
        Ok(lists.concat().into_iter().unzip())
    }

    /// Σⱼ w[j] y[j] over the neighbors, finished coordinate by coordinate.
    fn mean_of(&self, near: &[u32], weights: &[f64], finish: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let sum = |q: usize| near.iter().zip(weights).map(|(&j, w)| w * self.map.row(j as usize)[q]).sum();
        (0..self.map.cols()).map(|q| finish(q, sum(q))).collect()
    }
}
