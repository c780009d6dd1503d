//! Gower's formula from a sample of the training points: that of all needs a shortest path from every new point to every
//! training point.
//!
//! The coordinates are a linear function of the squared geodesics δ² to all n training points, which constants do not
//! change. The geodesics to a sample of m of them tell nearly as much: the map is regressed on their squares, over the
//! training points, and what is left of it is interpolated between the neighbors:
//!
//! ```text
//! y = Σₗ a[l] δ²[l] + b + Σⱼ w[j] e[j],   Σₗ a[l] = 0,   e[j] = y[j] − Σₗ a[l] g²[j,l] − b,   w[j] ∝ t[j]/d[j]²
//! ```
//!
//! with the geodesics g among the training points, the distances d of the new point from its neighbors and their taper
//! weights t. It is continuous, and tends to y[j] as x tends to x[j]. The difference from the formula of all training
//! points is about 1 % of the map's extent on data whose geodesics fit no plane (digits), and 0.01 % on a roll
//! (docs/decisions/0192).
//!
//! Shortest paths to many points in a batch would be the same work again for every new point; the way from its neighbors
//! is one minimum: δ[l] = minⱼ (d[j] + g[j,l]).

use super::taper::interpolation;
use super::{Known, Newcomer, reference};
use eigenfold_graph::paths::DistanceTable;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Graph, Paths};
use eigenfold_linalg::dense::cholesky::{Positive, add_gram};
use eigenfold_linalg::dense::{inner, parts};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::Silent;
use eigenfold_linalg::{memory, parallel, widest};
use faer::Mat;

/// The number of sampled training points.
pub(super) const SAMPLED: usize = 1024;
/// Up to this many training points the formula of all of them is used.
pub(super) const FEW: usize = 2 * SAMPLED;
/// Training points over which the map is regressed, per sampled one.
const ROWS: usize = 4;
/// The ridge of the regression, as a fraction of the mean variance of a square over its number of rows.
const RIDGE: f64 = 1.0;
/// Terms that are added in SIMD lanes.
const LANES: usize = 16;

/// What is known before a new point comes.
pub(super) struct SampledGower {
    table: DistanceTable,
    /// a, one coordinate after the other.
    slopes: Vec<f64>,
    /// b.
    origin: Vec<f64>,
    /// e, one row a training point.
    rest: Vec<f64>,
}

impl SampledGower {
    /// Prepares for any number of new points; nothing if there is no memory for the geodesics, or no solution.
    pub(super) fn new(graph: &Graph, map: &Points, sampled: usize) -> Result<Option<SampledGower>> {
        let (n, dims) = (map.rows(), map.cols());
        let sample: Vec<u32> = spread(n, sampled);
        let m = sample.len();
        if memory::available() < 2 * DistanceTable::memory(m, n) {
            return Ok(None);
        }
        let paths = Paths::for_table(&graph.union(), m);
        let table = paths.table(&sample, &Silent)?;
        drop(paths);
        let rows = spread(n, ROWS * m);
        // Squares less their mean over the sample, so that constants do not matter, and over the rows.
        let mut squares = vec![0.0; rows.len() * m];
        parallel::chunks_mut(&mut squares, m, |at, squares| {
            let lengths = table.row(rows[at] as usize);
            squares.iter_mut().zip(lengths).for_each(|(square, &g)| *square = f64::from(g) * f64::from(g));
            let mean = squares.iter().sum::<f64>() / m as f64;
            squares.iter_mut().for_each(|square| *square -= mean);
        });
        let count = rows.len() as f64;
        let mut means = vec![0.0; m];
        squares.chunks_exact(m).for_each(|row| means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / count));
        parallel::chunks_mut(&mut squares, m, |_, row| row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean));
        let squares = faer::MatRef::from_row_major_slice(&squares, rows.len(), m);
        let targets = Mat::from_fn(rows.len(), dims, |i, q| map.row(rows[i] as usize)[q]);
        let mut slopes = inner(squares, targets.as_ref());
        let mut moments = Mat::zeros(m, m);
        add_gram(moments.as_mut(), squares.transpose(), 1.0, parts(m));
        let trace: f64 = (0..m).map(|l| moments[(l, l)]).sum();
        let ridge = RIDGE * trace / (m * m) as f64;
        (0..m).for_each(|l| moments[(l, l)] += ridge);
        let Some(factor) = Positive::factor(moments) else { return Ok(None) };
        factor.solve(slopes.as_mut());
        let slopes: Vec<f64> = (0..dims)
            .flat_map(|q| {
                let column: Vec<f64> = (0..m).map(|l| slopes[(l, q)]).collect();
                let mean = column.iter().sum::<f64>() / m as f64;
                column.into_iter().map(move |a| a - mean)
            })
            .collect();
        let mut known = SampledGower { table, slopes, origin: vec![0.0; dims], rest: Vec::new() };
        let fitted = parallel::collect(n, |j| known.sums(known.table.row(j), 0.0));
        known.origin = (0..dims).map(|q| map.column_means()[q] - mean_of(&fitted, q)).collect();
        let left = |j: usize| (0..dims).map(|q| map.row(j)[q] - fitted[j][q] - known.origin[q]).collect::<Vec<_>>();
        known.rest = (0..n).flat_map(left).collect();
        Ok(Some(known))
    }

    /// The coordinates of a new point.
    pub(super) fn row(&self, known: &Known<'_>, new: &Newcomer<'_>) -> Vec<f64> {
        let (dims, nearest) = (known.map.cols(), new.lengths[0]);
        let unit = self.table.unit();
        let mut lengths = vec![f32::INFINITY; self.slopes.len() / dims];
        for (at, &j) in new.near.iter().enumerate() {
            // Less the way to the nearest, which single precision would round away in the sum if it is long.
            let excess = ((reference::faded(nearest, new.lengths[at], new.shares[at]) - nearest) / unit) as f32;
            if excess < f32::INFINITY {
                let row = self.table.row(j as usize);
                widest(
                    #[inline(always)]
                    || {
                        for (length, g) in lengths.iter_mut().zip(row) {
                            let through = excess + g;
                            *length = if through < *length { through } else { *length };
                        }
                    },
                );
            }
        }
        let mut y = self.sums(&lengths, nearest / unit);
        let weights = interpolation(new.lengths, new.shares);
        for (q, y) in y.iter_mut().enumerate() {
            let rest = new.near.iter().zip(&weights).map(|(&j, w)| w * self.rest[j as usize * dims + q]);
            *y += self.origin[q] + rest.sum::<f64>();
        }
        y
    }

    /// Σₗ a[l] (s + m[l])², with the square of s left out, which the sum of a takes out.
    fn sums(&self, lengths: &[f32], start: f64) -> Vec<f64> {
        let mut y = Vec::with_capacity(self.origin.len());
        for slopes in self.slopes.chunks_exact(lengths.len()) {
            let mut sums = [0.0; LANES];
            widest(
                #[inline(always)]
                || {
                    for (a, m) in slopes.chunks(LANES).zip(lengths.chunks(LANES)) {
                        for (sum, (a, m)) in sums.iter_mut().zip(a.iter().zip(m)) {
                            let m = f64::from(*m);
                            *sum += a * m * (2.0 * start + m);
                        }
                    }
                },
            );
            y.push(sums.iter().sum());
        }
        y
    }
}

/// So many of n numbers, evenly spread.
fn spread(n: usize, count: usize) -> Vec<u32> {
    let count = count.min(n);
    (0..count).map(|i| (i * n / count) as u32).collect()
}

fn mean_of(rows: &[Vec<f64>], q: usize) -> f64 {
    rows.iter().map(|row| row[q]).sum::<f64>() / rows.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extend::{Batch, Gower, Measure, Rule};
    use crate::sample::Sample;
    use crate::{Method, Model, Recipe};
    use eigenfold_graph::{Index, Metric};

    fn of(model: &Model) -> (SampledGower, Known<'_>) {
        let part = &model.parts[0];
        let Some(Rule::Gower(Gower { away, .. })) = &part.rule else { panic!() };
        let Measure::Geodesic(graph) = &away.measure else { panic!() };
        let points = model.points.as_ref().map(|points| (points, Metric::Euclidean));
        let (map, eigenvalues) = (&model.embedding, &part.eigenvalues[..]);
        let known = Known { points, k: part.k, map, eigenvalues, radius: None };
        (SampledGower::new(graph, map, 256).unwrap().unwrap(), known)
    }

    fn placed(model: &Model, new: &Points) -> Vec<Vec<f64>> {
        let (sampled, known) = of(model);
        let index = Index::new(known.points.unwrap().0, Metric::Euclidean).unwrap();
        let near = known.nearest(Some(&index), new, None).unwrap();
        Batch { rows: new, near: &near, k: known.k }.each(|new| sampled.row(&known, new))
    }

    fn off<'a>(placed: &[Vec<f64>], right: impl Fn(usize) -> &'a [f64]) -> f64 {
        let squares =
            |(i, row): (usize, &Vec<f64>)| row.iter().zip(right(i)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        (placed.iter().enumerate().map(squares).sum::<f64>() / placed.len() as f64).sqrt()
    }

    fn fitted(points: &Points) -> Model {
        let recipe = Recipe { method: Method::from_name("isomap").unwrap(), ..Recipe::default() };
        recipe.fit(points, &eigenfold_linalg::progress::Silent).unwrap()
    }

    /// On a roll a sample gives what Gower's formula over all training points gives, up to a small part of the distance of
    /// neighbors; training points go to their own coordinates, and points next to them nearly there.
    #[test]
    fn a_sample_gives_nearly_what_all_training_points_give() {
        let all = Sample::SwissRoll.draw(1600, 0.0, 3).unwrap().points;
        let (old, new): (Vec<usize>, Vec<usize>) = (0..1600).partition(|i| i % 8 != 0);
        let (old, new) = (all.select(&old), all.select(&new));
        let model = fitted(&old);
        // So few that the formula of all of them is used.
        assert!(old.rows() <= FEW);
        let right = model.transform(&new).unwrap();
        let extent = off(&[vec![0.0; 2]], |_| &[0.0; 2])
            .max(off(&(0..old.rows()).map(|i| model.embedding.row(i).to_vec()).collect::<Vec<_>>(), |_| &[0.0; 2]));
        let error = off(&placed(&model, &new), |i| right.row(i)) / extent;
        let (nearest, _) = Index::new(&old, Metric::Euclidean).unwrap().nearest(&new, 1).unwrap();
        let nearest: Vec<Vec<f64>> = nearest.iter().map(|&j| model.embedding.row(j as usize).to_vec()).collect();
        let beside = off(&nearest, |i| right.row(i)) / extent;
        assert!(error < 2e-3 && error < 0.1 * beside, "{error}, and {beside} at the nearest neighbor's coordinates");
        assert!(off(&placed(&model, &old), |i| model.embedding.row(i)) < 1e-6 * extent);
        let beside = Points::new(old.rows(), 3, old.values().iter().map(|x| x + 1e-9).collect()).unwrap();
        assert!(off(&placed(&model, &beside), |i| model.embedding.row(i)) < 1e-6 * extent);
    }

    /// Far from all training points the squares of the geodesics differ in their last digits alone. The formula of all training
    /// points loses these differences, and the sample keeps them: the coordinates grow with the distance, not its square.
    #[test]
    fn points_far_away_stay_on_a_line() {
        let points = Sample::SwissRoll.draw(900, 0.0, 5).unwrap().points;
        let model = fitted(&points);
        let far = |distance: f64| Points::from_rows(&[[distance, 0.0, 0.5 * distance]]).unwrap();
        let rows: Vec<Vec<f64>> = [1e4, 1e6, 1e8].iter().map(|&d| placed(&model, &far(d)).remove(0)).collect();
        for (row, scale) in rows[1..].iter().zip([1e2, 1e4]) {
            for (y, first) in row.iter().zip(&rows[0]) {
                assert!((y / scale - first).abs() < 0.05 * rows[0][0].hypot(rows[0][1]), "{rows:?}");
            }
        }
    }
}
