//! Out-of-sample extension: every method embeds new points, row by row, by the rule that follows from its definition.
//!
//! A row that equals a training row gets that row's coordinates (those of the first such row, if there are several).
//!
//! | rule | methods | the coordinates of a new point x |
//! |---|---|---|
//! | `Linear` | pca, mds of points | `(x − x̄) U` |
//! | `Squares` | mds, kernel-pca, isomap, ppco, pkpca | `½ Σᵢ (r[i] − δ²[i]) y[i] / λ`, δ the distances from x (Gower 1968) |
//! | `Features` | ppco, pkpca with landmarks | `Σⱼ k(x, z[j]) a[j] − b`, z the landmarks |
//! | `Latent` | ppca, fa | `E[z | x]`, its latent coordinates given what was observed of it |
//! | `Barycenter` | lle, modified-lle, alle, meu, mvu, drill | `Σⱼ w[j] y[j]`, w the weights that reconstruct x from
//! its neighbors |
//! | `Tangent` | ltsa, hessian-lle | the affine map of the neighbors' tangent space that fits their coordinates |
//! | `Nystrom` | laplacian-eigenmaps, diffusion-maps | `Σⱼ w[j] y[j] / Σⱼ w[j] (1 − λ)`, its own eigen-equation (Nyström) |
//! | `Process` | gplvm | where its row is most likely, given the rows and the positions of all training points |
//! | `OnLine` | gplvm with the kernel ou | where on the line its row is most likely, given the rows on both sides |
//! | `Attracted` | tsne, sne, symmetric-sne, umap, elastic | `argmin` of the objective with all other points fixed |
//! | `Stress` | smacof, sammon | `argmin Σᵢ w[i] (δ[i] − ‖y − y[i]‖)²`, the objective with all other points fixed |

mod attracted;
mod barycenter;
mod checks;
mod features;
mod gower;
mod homes;
mod latent;
mod linear;
mod nystrom;
mod on_line;
mod process;
mod reference;
mod standard_deviation;
mod stress;
mod tangent;
mod taper;

pub(crate) use attracted::{Attracted, Hold, Push};
pub(crate) use barycenter::Barycenter;
pub(crate) use features::Features;
pub(crate) use gower::Squares;
pub(crate) use latent::Observed;
pub use latent::{Latent, Posterior};
pub(crate) use linear::Linear;
pub(crate) use nystrom::{Form, Nystrom};
pub(crate) use on_line::OnLine;
pub(crate) use process::{Mapping, Process};
pub(crate) use reference::{Away, Measure};
pub(crate) use stress::Stress;

use crate::gp::line::Line;
use crate::input::Data;
use attracted::Pushes;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Lists, Metric};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use homes::Homes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use taper::Near;

/// The number of new rows per batch, so that its memory stays small.
const BATCH: usize = 256;
/// The number of training points whose neighbor distances are sampled.
const ASKED: usize = 256;
/// A new point is far if it is beyond this many times the usual distance among the training points.
const FAR: f64 = 2.0;
/// The number of training rows that are embedded anew if each requires an optimization.
const DESCENTS: usize = 300;

/// New points on a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Transformed {
    /// Their coordinates, one row per new row.
    pub coordinates: Points,
    /// The rows that are far from all training points: their coordinates are extrapolated and unreliable.
    ///
    /// A row is far if the standard deviation of a Gaussian field over the data, given the neighbors, (Σ t/d²)^−½, is
    /// more than twice the 95 % quantile over training points, each left out; for linear maps, if it is more than twice
    /// as far from the mean as any training point.
    pub far: Vec<usize>,
    /// The standard deviation of every coordinate, if it was requested ([`Model::place_with_deviations`](crate::Model))
    /// and the rule has one: 68 % of training rows embedded by the others miss their own coordinates by no more. It
    /// covers the error of the extension on this map, not how much the map itself would change with the new rows
    /// (docs/placing.md).
    pub deviations: Option<Points>,
}

/// The rule by which a fitted method embeds new points.
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

/// The training data of a rule.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// Their features and the metric; if absent, new rows hold distances to all of them.
    pub(crate) points: Option<(&'a Points, Metric)>,
    /// How many neighbors a new point gets.
    pub(crate) k: usize,
    /// Their coordinates.
    pub(crate) map: &'a Points,
    /// The eigenvalues of the coordinates, if they are eigenvectors.
    pub(crate) eigenvalues: &'a [f64],
    /// The radius of the graph, if it was built by one: no new point has a neighbor beyond it.
    pub(crate) radius: Option<f64>,
}

/// A new point: its row, its nearest training points with their distances, and its squared distances to the reference
/// points of the rule.
pub(crate) struct Newcomer<'a> {
    row: &'a [f64],
    near: &'a [u32],
    lengths: &'a [f64],
    /// The taper weights of the neighbors.
    shares: &'a [f64],
    squares: &'a [f64],
    /// The repulsion, if the rule needs it.
    pushes: Option<&'a Pushes>,
    /// The fitted process, if the rule needs it.
    fitted: Option<&'a process::Fitted<'a>>,
    line: Option<&'a Line>,
}

impl Rule {
    /// Whether the rule matches this many rows, features and coordinates, and its numbers are valid.
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

    /// Whether it depends on the metric: kernels, processes and linear maps do not.
    pub(crate) fn uses_metric(&self) -> bool {
        let by_kernel = self.away().is_some_and(|away| matches!(away.measure, Measure::Kernel(_)));
        let own =
            matches!(self, Rule::Linear(_) | Rule::Latent(_) | Rule::Features(_) | Rule::Process(_) | Rule::OnLine(_));
        !own && !by_kernel
    }

    /// The coordinates of new rows.
    pub(crate) fn place(&self, known: &Known<'_>, new: &Points) -> Result<Transformed> {
        match self {
            Rule::Linear(linear) => linear.place(known, new),
            Rule::Latent(latent) => latent.place(known, new),
            Rule::Barycenter(barycenter) => barycenter.among(known, |rule, known| rule.place_rows(known, new, None)),
            _ => self.place_rows(known, new, None),
        }
    }

    /// The coordinates of training rows as if they were new: each is embedded by the others, without itself among its
    /// neighbors. The influence of the row on the whole map (on means and eigenvectors) remains.
    pub(crate) fn place_without(&self, known: &Known<'_>, rows: &[usize]) -> Result<Points> {
        let Some((points, _)) = known.points.filter(|_| self.moves_when_left_out() && known.map.rows() > 1) else {
            return Ok(known.map.select(rows));
        };
        let new = points.select(rows);
        let others = |known: &Known<'_>| known.k.min(known.map.rows() - 1).max(1);
        let placed = match self {
            Rule::Barycenter(barycenter) => barycenter.among(known, |rule, among| {
                let own: Vec<u32> = rows.iter().map(|&row| barycenter.number(row)).collect();
                rule.place_rows(&Known { k: others(among), ..*among }, &new, Some(&own))
            })?,
            _ => {
                let own: Vec<u32> = rows.iter().map(|&row| row as u32).collect();
                self.place_rows(&Known { k: others(known), ..*known }, &new, Some(&own))?
            }
        };
        Ok(placed.coordinates)
    }

    /// Whether a training row that is embedded by the others may differ from its own coordinates. Linear maps and maps
    /// of landmarks' kernels do not depend on the other rows; a process (GPLVM) would have to be factored anew for
    /// every row.
    fn moves_when_left_out(&self) -> bool {
        !matches!(self, Rule::Linear(_) | Rule::Latent(_) | Rule::Features(_) | Rule::Process(_) | Rule::OnLine(_))
    }

    /// The number of rows that may be embedded anew: fewer if each requires an optimization.
    pub(crate) fn affordable(&self) -> usize {
        if matches!(self, Rule::Stress(_) | Rule::Attracted(_)) { DESCENTS } else { usize::MAX }
    }

    /// The coordinates of all training points from those of the landmarks, if the rule measures from landmarks; by
    /// their geodesics if these are known.
    pub(crate) fn place_all(
        &self,
        known: &Known<'_>,
        data: Data<'_>,
        geodesics: Option<LandmarkGeodesics>,
    ) -> Result<Points> {
        match (self, data) {
            (Rule::Squares(squares), data) => squares.place_all(known, data, geodesics),
            (Rule::Stress(stress), data) => stress.place_all(known, data, geodesics),
            (rule, Data::Points(points, _)) => Ok(rule.place(known, points)?.coordinates),
            (rule, Data::Distances(distances)) => Ok(rule.place(known, distances.matrix())?.coordinates),
            (_, Data::Graph(_)) => Err(Error::input_kind(
                &["points", "distances"],
                "the points of a graph cannot be placed by landmarks",
                "",
            )),
        }
    }

    /// Row by row, in batches. Training rows, identified by their values, are not their own neighbors.
    ///
    /// A rule that sends a training row to r(x[j]) instead of its own coordinates y[j] is corrected:
    ///
    /// ```text
    /// y = r(x) + Σⱼ φ[j] b[j] (y[j] − r(x[j]))        the pulls φ b of `fade.rs`, one at x[j] and zero beyond R/4
    /// ```
    ///
    /// which is continuous where r is, and tends to y[j] as x tends to x[j].
    fn place_rows(&self, known: &Known<'_>, new: &Points, own: Option<&[u32]>) -> Result<Transformed> {
        let dims = known.map.cols();
        let index = known.points.map(|(points, metric)| Index::new(points, metric)).transpose()?;
        let prepared = Prepared {
            away: self.away().map(Away::prepared).transpose()?,
            pushes: if let Rule::Attracted(attracted) = self { Some(attracted.prepared(known)) } else { None },
            fitted: if let Rule::Process(process) = self { Some(process.fitted(known)?) } else { None },
            line: if let Rule::OnLine(line) = self { Some(line.prepared(known)?) } else { None },
        };
        let reach = index.as_ref().map_or(Ok(f64::INFINITY), |index| known.reach(index))?;
        let homes = known.points.map(|(points, _)| Homes::of(points));
        let mut offsets = BTreeMap::new();
        let (mut placed, mut far) = (Vec::with_capacity(new.rows() * dims), Vec::new());
        for start in (0..new.rows()).step_by(BATCH) {
            let batch: Vec<usize> = (start..(start + BATCH).min(new.rows())).collect();
            let batch = new.select(&batch);
            let own = own.map(|own| &own[start..start + batch.rows()]);
            let near = known.nearest(index.as_ref(), &batch, own)?;
            let mut rows = self.placed(known, &prepared, &batch, &near)?;
            if let (Some(index), true) = (&index, self.is_led_home()) {
                self.add_offsets(known, &prepared, index, &near, &mut offsets)?;
                let k = known.k;
                for (i, row) in rows.iter_mut().enumerate() {
                    let pulls = taper::pulls(&near.lengths[i * k..(i + 1) * k], near.reaches[i]);
                    for (j, pull) in near.rows[i * k..(i + 1) * k].iter().zip(pulls).filter(|(_, pull)| *pull > 0.0) {
                        row.iter_mut().zip(&offsets[j]).for_each(|(y, offset): (&mut f64, &f64)| *y += pull * offset);
                    }
                }
            }
            for (i, row) in rows.into_iter().enumerate() {
                let home = match &homes {
                    Some(homes) => homes.home(batch.row(i), own.map(|own| own[i])),
                    None => known.at_no_distance(&near, i),
                };
                placed.extend(home.map_or(row, |j| known.map.row(j).to_vec()));
                far.extend((near.deviation(i, known.k) > reach).then_some(start + i));
            }
        }
        Ok(Transformed { coordinates: Points::computed(new.rows(), dims, placed)?, far, deviations: None })
    }

    /// The uncorrected coordinates of every row of a batch.
    fn placed(&self, known: &Known<'_>, prepared: &Prepared<'_>, batch: &Points, near: &Near) -> Result<Vec<Vec<f64>>> {
        let squares = prepared.away.as_ref().map_or(Ok(Vec::new()), |away| away.squares(known, near, batch))?;
        Ok(parallel::collect(batch.rows(), |i| {
            let width = squares.len() / batch.rows();
            let list = i * known.k..(i + 1) * known.k;
            self.place_row(
                known,
                &Newcomer {
                    row: batch.row(i),
                    near: &near.rows[list.clone()],
                    lengths: &near.lengths[list.clone()],
                    shares: &near.shares[list],
                    squares: &squares[i * width..(i + 1) * width],
                    pushes: prepared.pushes.as_ref(),
                    fitted: prepared.fitted.as_ref(),
                    line: prepared.line.as_ref(),
                },
            )
        }))
    }

    /// Whether the rule needs this correction near training points. The other rules interpolate by themselves, or
    /// minimize an objective that need not be continuous.
    fn is_led_home(&self) -> bool {
        matches!(self, Rule::Barycenter(_) | Rule::Nystrom(_) | Rule::Tangent)
    }

    /// y[j] − r(x[j]) of all neighbors for which it is not known yet.
    fn add_offsets(
        &self,
        known: &Known<'_>,
        prepared: &Prepared<'_>,
        index: &Index<'_>,
        near: &Near,
        offsets: &mut BTreeMap<u32, Vec<f64>>,
    ) -> Result<()> {
        let mut rows: Vec<u32> = near.rows.iter().copied().filter(|j| !offsets.contains_key(j)).collect();
        rows.sort_unstable();
        rows.dedup();
        let numbers: Vec<usize> = rows.iter().map(|&j| j as usize).collect();
        let batch = index.points().select(&numbers);
        let near = known.nearest(Some(index), &batch, None)?;
        for (j, row) in rows.into_iter().zip(self.placed(known, prepared, &batch, &near)?) {
            let own = known.map.row(j as usize);
            offsets.insert(j, own.iter().zip(row).map(|(y, r)| y - r).collect());
        }
        Ok(())
    }

    fn place_row(&self, known: &Known<'_>, new: &Newcomer<'_>) -> Vec<f64> {
        match self {
            Rule::Linear(linear) => linear.row(new.row),
            // Never called row by row.
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

    /// The reference points of the rule.
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
    /// The largest standard deviation of a new point that is not far: a multiple of the usual one among training
    /// points, each left out.
    fn reach(&self, index: &Index<'_>) -> Result<f64> {
        let n = index.points().rows();
        let asked: Vec<usize> = (0..n.min(ASKED)).map(|i| i * n / n.min(ASKED)).collect();
        if n < 2 {
            return Ok(f64::INFINITY);
        }
        let own: Vec<u32> = asked.iter().map(|&i| i as u32).collect();
        let known = Known { k: self.k.min(n - 1), ..*self };
        let near = known.nearest(Some(index), &index.points().select(&asked), Some(&own))?;
        let mut deviations: Vec<f64> = (0..asked.len()).map(|i| near.deviation(i, known.k)).collect();
        deviations.sort_unstable_by(f64::total_cmp);
        let usual = deviations[(deviations.len() - 1) * 95 / 100];
        let most = deviations[deviations.len() - 1];
        let reach = if usual > 0.0 { usual } else { most };
        Ok(if reach > 0.0 { FAR * reach } else { f64::INFINITY })
    }

    /// The k nearest training points of every row, other than itself if it is one of them.
    fn nearest(&self, index: Option<&Index<'_>>, rows: &Points, own: Option<&[u32]>) -> Result<Near> {
        let n = self.map.rows();
        // One more gives the distance of the first point that is not a neighbor.
        let width = (self.k + 1 + usize::from(own.is_some())).min(n);
        let (all, lengths) = match index {
            Some(index) => index.nearest(rows, width)?,
            None => given(rows, width)?,
        };
        let mut near = Near { rows: Vec::new(), lengths: Vec::new(), shares: Vec::new(), reaches: Vec::new() };
        for i in 0..rows.rows() {
            let list = i * width..(i + 1) * width;
            let list = all[list.clone()].iter().copied().zip(lengths[list].iter().copied());
            let mut others = list.filter(|(j, _)| own.is_none_or(|own| own[i] != *j));
            let (near_rows, near_lengths): (Vec<u32>, Vec<f64>) = others.by_ref().take(self.k).unzip();
            let reach = others.next().map_or(f64::INFINITY, |(_, d)| d);
            let reach = self.radius.map_or(reach, |radius| taper::within(&near_lengths, radius).min(reach));
            near.shares.extend(taper::shares(&near_lengths, reach));
            near.rows.extend(near_rows);
            near.lengths.extend(near_lengths);
            near.reaches.push(reach);
        }
        Ok(near)
    }

    /// The training point at distance zero in a row of distances.
    fn at_no_distance(&self, near: &Near, i: usize) -> Option<usize> {
        (near.lengths[i * self.k] == 0.0).then_some(near.rows[i * self.k] as usize)
    }

    /// Σⱼ w[j] y[j] over the neighbors, finished coordinate by coordinate.
    fn mean_of(&self, near: &[u32], weights: &[f64], finish: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let sum = |q: usize| near.iter().zip(weights).map(|(&j, w)| w * self.map.row(j as usize)[q]).sum();
        (0..self.map.cols()).map(|q| finish(q, sum(q))).collect()
    }
}

/// The precomputed state of a rule for all rows.
struct Prepared<'a> {
    away: Option<reference::Prepared<'a>>,
    pushes: Option<Pushes>,
    fitted: Option<process::Fitted<'a>>,
    line: Option<Line>,
}

/// The nearest by rows that hold distances to all training points.
fn given(rows: &Points, width: usize) -> Result<Lists> {
    let lists = parallel::collect(rows.rows(), |i| {
        let mut list: Vec<(u32, f64)> = rows.row(i).iter().enumerate().map(|(j, &d)| (j as u32, d)).collect();
        list.sort_unstable_by(sort::by_distance);
        list.truncate(width);
        list
    });
    if let Some(i) = lists.iter().position(|list| list[0].1 < 0.0) {
        return Err(
            Error::data(format!("row {} has a negative distance", i + 1), "distances are not negative").at_row(i)
        );
    }
    Ok(lists.concat().into_iter().unzip())
}
