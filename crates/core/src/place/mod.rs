//! New points: every method places them, each row on its own, by the rule its mathematics gives.
//!
//! A row that is one of the training rows gets that row's own coordinates (the first such row's, if there are several).
//!
//! | rule | methods | a new point x goes to |
//! |---|---|---|
//! | [`Rule::Linear`] | pca, mds of points | `(x − x̄) U` |
//! | [`Rule::Squares`] | mds, kernel-pca, isomap | `½ Σᵢ (r[i] − δ²[i]) y[i] / λ`, δ the distances from x (Gower 1968) |
//! | [`Rule::Barycenter`] | lle, modified-lle, alle, meu | `Σⱼ w[j] y[j]`, w the weights that write x by its neighbors |
//! | [`Rule::Tangent`] | ltsa, hessian-lle | the affine map of the neighbors' tangent space that fits their coordinates |
//! | [`Rule::Affinity`] | laplacian-eigenmaps, diffusion-maps | `Σⱼ w[j] y[j] / Σⱼ w[j] (1 − λ)`, its own eigen-equation (Nyström) |

use crate::error::{Error, Result};
use crate::field::local::patches::tangent_weights;
use crate::graph::{Graph, Index, Lists, Metric, Paths};
use crate::ground::{Cloud, differences};
use crate::kernel::Kernel;
use crate::points::Points;
use crate::progress::Silent;
use rayon::prelude::*;
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
    /// Their coordinates, one row a new row.
    pub coordinates: Points,
    /// The rows that are far from all training points: their coordinates are extrapolated and mean little.
    ///
    /// Far is more than twice as far from the nearest training point as nearly all of those (95 of 100) are from their
    /// own k-th neighbor; for linear maps, more than twice as far from the mean as any training point.
    pub far: Vec<usize>,
}

/// How a fitted method places new points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Rule {
    /// A linear map of the features.
    Linear {
        /// The mean of the training points.
        mean: Vec<f64>,
        /// The axes U, one row a feature; known once the coordinates are.
        axes: Vec<f64>,
    },
    /// Classical scaling: from the squared distances to the training points or the landmarks.
    Squares {
        /// Which distances.
        squares: Squares,
        /// Their mean from each of the scaled points.
        row_means: Vec<f64>,
        /// The points that were scaled; all if absent.
        landmarks: Option<Vec<u32>>,
    },
    /// The weights that write a point by its neighbors.
    Barycenter {
        /// The part of the local trace added to the diagonal.
        regularization: f64,
        /// The points that have neighbors; all if absent.
        landmarks: Option<Vec<u32>>,
    },
    /// The eigen-equation of a weighted graph at the new point.
    Affinity {
        /// σ of the heat kernel; all weights are one if absent.
        width: Option<f64>,
        /// What divides the density of each training point out.
        density: Option<Vec<f64>>,
        /// Which eigenproblem it is.
        form: Form,
    },
    /// The affine map from the tangent space of a point's neighbors to their coordinates.
    Tangent,
}

/// An eigenproblem of a weighted graph. A new point knows the weights of its own list; `added` is how many times that is
/// the sum of all its weights, on the average of the training points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Form {
    /// L y = λ D y.
    Normalized,
    /// The same, with the coordinates u = D^½ y.
    Symmetric {
        /// D of the training points.
        degrees: Vec<f64>,
        /// All weights over those of a point's own list.
        added: f64,
    },
    /// L y = λ y.
    Unnormalized {
        /// All weights over those of a point's own list.
        added: f64,
    },
}

/// The distances that were scaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Squares {
    /// The metric's.
    Metric,
    /// Those in the feature space of a kernel.
    Kernel(Kernel),
    /// Those along a graph.
    Geodesic(Graph),
}

/// What a rule knows of the training points.
pub(crate) struct Known<'a> {
    /// Their features; if absent, new rows hold distances to all of them.
    pub(crate) points: Option<&'a Points>,
    /// Their distances to each other, while a fit from distances is under way.
    pub(crate) distances: Option<&'a Points>,
    pub(crate) metric: Metric,
    /// How many neighbors a new point gets.
    pub(crate) k: usize,
    pub(crate) embedding: &'a Points,
    pub(crate) eigenvalues: &'a [f64],
}

impl Rule {
    /// Whether the rule's arrays have the sizes of that many rows, features and coordinates.
    pub(crate) fn fits(&self, rows: usize, features: usize, dims: usize) -> bool {
        match self {
            Rule::Linear { mean, axes } => mean.len() == features && axes.len() == features * dims,
            Rule::Squares { squares, row_means, landmarks } => {
                let count = landmarks.as_ref().map_or(rows, Vec::len);
                row_means.len() == count
                    && landmarks.as_ref().is_none_or(|l| l.iter().all(|&i| (i as usize) < rows))
                    && !matches!(squares, Squares::Geodesic(graph) if graph.len() != rows || !graph.is_sound())
            }
            Rule::Barycenter { landmarks, .. } => {
                landmarks.as_ref().is_none_or(|l| !l.is_empty() && l.iter().all(|&i| (i as usize) < rows))
            }
            Rule::Tangent => true,
            Rule::Affinity { density, form, .. } => {
                density.as_ref().is_none_or(|density| density.len() == rows)
                    && !matches!(form, Form::Symmetric { degrees, .. } if degrees.len() != rows)
            }
        }
    }

    /// The coordinates of new rows.
    pub(crate) fn place(&self, known: &Known<'_>, new: &Points) -> Result<Placed> {
        let dims = known.embedding.cols();
        if let Rule::Barycenter { regularization, landmarks: Some(landmarks) } = self {
            let rows: Vec<usize> = landmarks.iter().map(|&i| i as usize).collect();
            let (points, all) = (known.points.map(|points| points.select(&rows)), known.embedding);
            // While a fit is under way only the landmarks have coordinates.
            let embedding = if all.rows() == rows.len() { all.clone() } else { all.select(&rows) };
            let among = Known { points: points.as_ref(), embedding: &embedding, k: known.k.min(rows.len()), ..*known };
            return Rule::Barycenter { regularization: *regularization, landmarks: None }.place(&among, new);
        }
        if let Rule::Linear { mean, axes } = self {
            let rows = (0..new.rows()).into_par_iter().flat_map_iter(|i| {
                let away: Vec<f64> = new.row(i).iter().zip(mean).map(|(x, m)| x - m).collect();
                (0..dims).map(move |q| away.iter().enumerate().map(|(j, x)| x * axes[j * dims + q]).sum::<f64>())
            });
            let coordinates = Points::new(new.rows(), dims, rows.collect())?;
            let from_mean = |points: &Points, i: usize| Metric::Euclidean.distance(points.row(i), mean);
            let most = |points: &Points| {
                (0..points.rows()).into_par_iter().map(|i| from_mean(points, i)).reduce(|| 0.0, f64::max)
            };
            let reach = FAR * known.points.map_or(f64::INFINITY, most);
            let far = (0..new.rows()).filter(|&i| from_mean(new, i) > reach).collect();
            return Ok(Placed { coordinates, far });
        }
        let index = known.points.map(|points| Index::new(points, known.metric)).transpose()?;
        let geodesics = self.geodesics()?;
        let reach = index.as_ref().map_or(Ok(f64::INFINITY), |index| known.reach(index))?;
        let (mut placed, mut far) = (Vec::with_capacity(new.rows() * dims), Vec::new());
        for start in (0..new.rows()).step_by(BATCH) {
            let batch: Vec<usize> = (start..(start + BATCH).min(new.rows())).collect();
            let batch = new.select(&batch);
            let near = known.nearest(index.as_ref(), &batch)?;
            let squares = self.squares(known, geodesics.as_ref(), &near, &batch)?;
            let rows = (0..batch.rows()).into_par_iter().flat_map_iter(|i| {
                let near = (&near.0[i * known.k..(i + 1) * known.k], &near.1[i * known.k..(i + 1) * known.k]);
                let width = squares.len() / batch.rows();
                self.place_row(known, near, &squares[i * width..(i + 1) * width], batch.row(i))
            });
            placed.extend(rows.collect::<Vec<f64>>());
            far.extend((0..batch.rows()).filter(|i| near.1[i * known.k] > reach).map(|i| start + i));
        }
        Ok(Placed { coordinates: Points::new(new.rows(), dims, placed)?, far })
    }

    /// The coordinates of all training points from those of the landmarks.
    pub(crate) fn place_all(&self, known: &Known<'_>, n: usize) -> Result<Vec<f64>> {
        let dims = known.embedding.cols();
        if let (Rule::Barycenter { .. }, Some(points)) = (self, known.points) {
            return Ok(self.place(known, points)?.coordinates.values().to_vec());
        }
        let Rule::Squares { squares, landmarks: Some(landmarks), row_means } = self else { return Ok(Vec::new()) };
        let geodesics = match squares {
            Squares::Geodesic(graph) => Some(LandmarkGeodesics::new(graph, landmarks)?),
            Squares::Metric | Squares::Kernel(_) => None,
        };
        let square = |i: usize, at: usize| {
            let landmark = landmarks[at] as usize;
            match (squares, known.points, known.distances, &geodesics) {
                (_, _, _, Some(geodesics)) => geodesics.length(at, i).powi(2),
                (Squares::Kernel(kernel), Some(points), _, _) => kernel.square(points.row(i), points.row(landmark)),
                (_, Some(points), _, _) => known.metric.distance(points.row(i), points.row(landmark)).powi(2),
                (_, None, distances, _) => distances.map_or(0.0, |d| d.row(i)[landmark].powi(2)),
            }
        };
        let rows = (0..n).into_par_iter().flat_map_iter(|i| {
            let own = landmarks.binary_search(&(i as u32)).ok();
            let squares: Vec<f64> = (0..landmarks.len()).map(|at| square(i, at)).collect();
            let row = own.map_or_else(
                || gower(known.embedding, known.eigenvalues, row_means, &squares, |at| at),
                |at| known.embedding.row(at).to_vec(),
            );
            debug_assert_eq!(row.len(), dims);
            row
        });
        Ok(rows.collect())
    }

    fn place_row(&self, known: &Known<'_>, near: (&[u32], &[f64]), squares: &[f64], x: &[f64]) -> Vec<f64> {
        let y = known.embedding;
        let here = near.0.iter().zip(near.1).take_while(|(_, d)| **d == 0.0).map(|(&j, _)| j as usize);
        if let Some(j) = { here }.find(|&j| known.points.is_none_or(|points| points.row(j) == x)) {
            return y.row(j).to_vec();
        }
        match self {
            Rule::Linear { .. } => Vec::new(),
            Rule::Squares { row_means, landmarks, .. } => {
                let at = |i: usize| landmarks.as_ref().map_or(i, |l| l[i] as usize);
                gower(y, known.eigenvalues, row_means, squares, at)
            }
            Rule::Barycenter { regularization, .. } => {
                let away = known.points.map_or(Vec::new(), |points| differences(points, near.0, x));
                let written = Cloud::Rows(away).regression(near.0.len(), *regularization);
                mean_of(y, near.0, &written.weights, |_, sum| sum)
            }
            Rule::Tangent => {
                let weights = known.points.map_or(Vec::new(), |points| tangent_weights(points, near.0, x, y.cols()));
                mean_of(y, near.0, &weights, |_, sum| sum)
            }
            Rule::Affinity { width, density, form } => {
                // Relative to the nearest point, so that weights far from all data do not vanish.
                let nearest = width.map_or(1.0, |width| -0.5 * (near.1[0] / width).powi(2));
                let weigh = |(&j, &d): (&u32, &f64)| {
                    let weight = width.map_or(1.0, |width| (-0.5 * (d / width).powi(2) - nearest).exp());
                    weight * density.as_ref().map_or(1.0, |density| density[j as usize])
                };
                let mut weights: Vec<f64> = near.0.iter().zip(near.1).map(weigh).collect();
                let total: f64 = weights.iter().sum();
                let whole = |added: f64| added * total * heat_of(nearest, *width);
                let mut root = 1.0;
                if let Form::Symmetric { degrees, added } = form {
                    weights.iter_mut().zip(near.0).for_each(|(weight, &j)| *weight /= degrees[j as usize].sqrt());
                    root = whole(*added).sqrt();
                }
                mean_of(y, near.0, &weights, |q, sum| {
                    let lambda = known.eigenvalues[q];
                    let drag = match form {
                        Form::Normalized | Form::Symmetric { .. } => lambda,
                        Form::Unnormalized { added } => lambda / whole(*added),
                    };
                    // Beyond half a wavelength the equation says nothing; then the plain mean stands.
                    root * sum / total / if drag < 0.5 { 1.0 - drag } else { 1.0 }
                })
            }
        }
    }

    fn geodesics(&self) -> Result<Option<Geodesics>> {
        let Rule::Squares { squares: Squares::Geodesic(graph), landmarks, .. } = self else { return Ok(None) };
        Ok(Some(match landmarks {
            None => Geodesics::Paths(Paths::new(&graph.union(), graph.len())),
            Some(landmarks) => Geodesics::Landmarks(LandmarkGeodesics::new(graph, landmarks)?),
        }))
    }

    /// For every row of the batch, its squared distances to the scaled points; nothing for other rules.
    fn squares(
        &self,
        known: &Known<'_>,
        geodesics: Option<&Geodesics>,
        near: &Lists,
        batch: &Points,
    ) -> Result<Vec<f64>> {
        let Rule::Squares { squares, landmarks, row_means } = self else { return Ok(Vec::new()) };
        let at = |i: usize| landmarks.as_ref().map_or(i, |l| l[i] as usize);
        if let Some(geodesics) = geodesics {
            let seeds = near.0.chunks(known.k).zip(near.1.chunks(known.k));
            let seeds: Vec<Vec<(u32, f64)>> =
                seeds.map(|(j, d)| j.iter().copied().zip(d.iter().copied()).collect()).collect();
            let mut lengths = geodesics.lengths(&seeds)?;
            lengths.iter_mut().for_each(|length| *length *= *length);
            return Ok(lengths);
        }
        let rows = (0..batch.rows()).into_par_iter().flat_map_iter(|row| {
            let x = batch.row(row);
            (0..row_means.len()).map(move |i| match (squares, known.points) {
                (Squares::Kernel(kernel), Some(points)) => kernel.square(x, points.row(at(i))),
                (_, Some(points)) => known.metric.distance(x, points.row(at(i))).powi(2),
                (_, None) => x[at(i)].powi(2),
            })
        });
        Ok(rows.collect())
    }
}

impl Known<'_> {
    /// How far from its nearest training point a new point may be.
    fn reach(&self, index: &Index<'_>) -> Result<f64> {
        let Some(points) = self.points else { return Ok(f64::INFINITY) };
        let n = points.rows();
        let asked: Vec<usize> = (0..n.min(ASKED)).map(|i| i * n / n.min(ASKED)).collect();
        // Each of them is its own nearest.
        let k = (self.k + 1).min(n);
        let (_, lengths) = index.nearest(&points.select(&asked), k)?;
        let mut last: Vec<f64> = lengths.chunks_exact(k).map(|list| list[k - 1]).collect();
        last.sort_unstable_by(f64::total_cmp);
        let usual = last[(last.len() - 1) * 95 / 100];
        let most = last[last.len() - 1];
        Ok(FAR
            * if usual > 0.0 {
                usual
            } else if most > 0.0 {
                most
            } else {
                f64::INFINITY
            })
    }

    /// The k nearest training points of every row.
    fn nearest(&self, index: Option<&Index<'_>>, rows: &Points) -> Result<Lists> {
        if let Some(index) = index {
            return index.nearest(rows, self.k);
        }
        let lists: Vec<Vec<(u32, f64)>> = (0..rows.rows())
            .into_par_iter()
            .map(|i| {
                let mut list: Vec<(u32, f64)> = rows.row(i).iter().enumerate().map(|(j, &d)| (j as u32, d)).collect();
                list.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
                list.truncate(self.k);
                list
            })
            .collect();
        if let Some(i) = lists.iter().position(|list| list[0].1 < 0.0) {
            return Err(Error::data(format!("row {} has a negative distance; distances are not negative", i + 1)));
        }
        Ok(lists.concat().into_iter().unzip())
    }
}

/// ½ Σᵢ (r[i] − δ²[i]) y[i] / λ.
fn gower(y: &Points, eigenvalues: &[f64], means: &[f64], squares: &[f64], at: impl Fn(usize) -> usize) -> Vec<f64> {
    let mut sums = vec![0.0; y.cols()];
    for (i, (mean, square)) in means.iter().zip(squares).enumerate() {
        for (sum, y) in sums.iter_mut().zip(y.row(at(i))) {
            *sum += 0.5 * (mean - square) * y;
        }
    }
    let largest = eigenvalues.first().copied().unwrap_or(0.0);
    let divide = |(sum, &lambda): (&f64, &f64)| if lambda > 1e-13 * largest { sum / lambda } else { 0.0 };
    sums.iter().zip(eigenvalues).map(divide).collect()
}

/// Σⱼ w[j] y[j], finished coordinate by coordinate.
fn mean_of(y: &Points, near: &[u32], weights: &[f64], finish: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let sum = |q: usize| near.iter().zip(weights).map(|(&j, w)| w * y.row(j as usize)[q]).sum();
    (0..y.cols()).map(|q| finish(q, sum(q))).collect()
}

fn heat_of(exponent: f64, width: Option<f64>) -> f64 {
    if width.is_some() { exponent.exp().max(f64::MIN_POSITIVE) } else { 1.0 }
}

/// Geodesics from outside the graph to its scaled points.
enum Geodesics {
    Paths(Paths),
    Landmarks(LandmarkGeodesics),
}

impl Geodesics {
    fn lengths(&self, seeds: &[Vec<(u32, f64)>]) -> Result<Vec<f64>> {
        match self {
            Geodesics::Paths(paths) => paths.from_seeds(seeds, &Silent),
            Geodesics::Landmarks(known) => Ok(seeds
                .par_iter()
                .flat_map_iter(|seeds| {
                    (0..known.landmarks).map(move |at| {
                        let through = |&(j, length): &(u32, f64)| length + known.length(at, j as usize);
                        seeds.iter().map(through).fold(f64::INFINITY, f64::min)
                    })
                })
                .collect()),
        }
    }
}

/// The geodesics from every landmark to every point, in single precision and units of the longest edge.
struct LandmarkGeodesics {
    table: Vec<f32>,
    landmarks: usize,
    unit: f64,
}

impl LandmarkGeodesics {
    fn new(graph: &Graph, landmarks: &[u32]) -> Result<LandmarkGeodesics> {
        let paths = Paths::new(&graph.union(), landmarks.len());
        let unit = paths.unit();
        let mut table = Vec::with_capacity(landmarks.len() * graph.len());
        for batch in landmarks.chunks(64) {
            let sources: Vec<usize> = batch.iter().map(|&l| l as usize).collect();
            table.extend(paths.from_sources(&sources, &Silent)?.iter().map(|&d| (d / unit) as f32));
        }
        Ok(LandmarkGeodesics { table, landmarks: landmarks.len(), unit })
    }

    fn length(&self, landmark: usize, point: usize) -> f64 {
        let n = self.table.len() / self.landmarks;
        f64::from(self.table[landmark * n + point]) * self.unit
    }
}
