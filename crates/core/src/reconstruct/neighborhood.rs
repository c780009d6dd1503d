//! One embedding point and the map points around it: ordinary kriging with small matrices.
//!
//! ```text
//! C = κ(‖y[a] − y[b]‖ / ℓh) + ηI        c = κ(‖y[a] − y‖ / ℓh)        a, b the neighbors of the place y
//! κ(t) = (1 + √5 t + 5t²/3) exp(−√5 t)  Matérn's covariance of smoothness 5/2
//! α = C⁻¹ (c + 1 β)                     β = (1 − 1ᵀC⁻¹c) / 1ᵀC⁻¹1, so that the weights sum to one
//! x̂ = Σ α[a] x[a]                       v = 1 + η − cᵀC⁻¹c + β (1 − 1ᵀC⁻¹c)
//! q = Σⱼ (x₍ⱼ₎ − μ₍ⱼ₎)ᵀ C⁻¹ (x₍ⱼ₎ − μ₍ⱼ₎)     what the neighbors themselves say of the variance, over all features j
//! ```
//!
//! One factor C = LLᵀ and one solution L⁻¹(c, 1, F) give all of it, F the neighbors' values: q = ‖L⁻¹F‖² − ‖Fᵀ C⁻¹1‖² / 1ᵀC⁻¹1.
//!
//! Off the map the weights α are unbounded: a smooth function could take any value. They are limited to Σ|α| ≤ 3 by
//! blending with nonnegative weights, so that x̂ stays close to the rows x[a]:
//!
//! ```text
//! w = s α + (1 − s) p                   s = 1, or 2 / (Σ|α| − 1) where Σ|α| > 3;  p ∝ 1 / ‖y[a] − y‖²,  Σ p = 1
//! x̂ = Σ w[a] x[a]                       v = 1 + η − 2 wᵀc + wᵀCw
//! ```
//!
//! h is the median distance between the map points around the nearest of the neighbors, so that a length scale means
//! the same in the dense and in the sparse parts of a map; or between the first eight of these, if that is less, as in
//! a small group: times (m/8)^(1/d), which is what it would be among m points of the same density. It does not depend
//! on the embedding point itself: far from all points, also in a gap between clusters, whose edges are far from each
//! other, the covariances c vanish, and v grows.
//!
//! C. E. Rasmussen, C. K. I. Williams. Gaussian processes for machine learning. MIT Press, 2006, sections 2.2, 2.7 and
//! 4.2.1. N. Cressie. Statistics for spatial data. Wiley, 1993, section 3.2 (ordinary kriging).

use eigenfold_graph::Metric;
use eigenfold_graph::points::Points;
use eigenfold_linalg::widest;

/// Distances longer than this many length scales have zero covariance; the exponential has vanished long before.
const BEYOND: f64 = 300.0;

/// The maximum of the sum of the absolute weights of a point (docs/decisions/0050 has the comparison).
const LEAN: f64 = 3.0;

/// The number of neighbors that determine the scale of a small group.
const FIRST: usize = 8;

/// The map points around an embedding point.
pub(crate) struct Neighborhood {
    /// Their rows, nearest first.
    pub(crate) near: Vec<u32>,
    /// The distances from each to those before it, row after row.
    between: Vec<f64>,
    /// Their distances to the embedding point.
    to: Vec<f64>,
    /// h: the median distance between the map points around the nearest of them; the largest if that is zero.
    typical: f64,
    /// Weights p by inverse squared distance, ∝ 1/d².
    pub(crate) closeness: Vec<f64>,
}

/// The neighbors' values F, one row each, relative to a center. Only FFᵀ counts, so it never has more columns than
/// rows.
pub(crate) struct Values {
    rows: Vec<f64>,
    columns: usize,
}

/// The covariances of a neighborhood, for some length scale.
pub(crate) struct Covariances {
    /// Of each neighbor with those before it, row after row.
    between: Vec<f64>,
    /// Of the neighbors with the embedding point.
    toward: Vec<f64>,
}

/// The kriging results at one embedding point, in units of the process variance.
pub(crate) struct Kriged {
    /// The weights w of the neighbors.
    pub(crate) weights: Vec<f64>,
    /// The predictive variance v, for a new observation with its noise.
    pub(crate) variance: f64,
    /// The quadratic form q of the neighbors' own values.
    pub(crate) roughness: f64,
    /// 1 − 1ᵀC⁻¹c, from 0 to 1: the share of the neighbors' common mean in the prediction, because nothing is near.
    pub(crate) missing: f64,
    /// 1 − s, from 0 to 1: the share of the mean of the nearest in the prediction, because the weights would be too
    /// large.
    pub(crate) lost: f64,
}

impl Neighborhood {
    /// The neighborhood of an embedding point from its neighbors, their distances to it, and the neighbors of the
    /// nearest of them.
    pub(crate) fn new(map: &Points, near: Vec<u32>, to: Vec<f64>, there: &[u32]) -> Neighborhood {
        let (between, closeness) = (between(map, &near), closeness(&to));
        Neighborhood { near, between, to, typical: scale(map, there), closeness }
    }

    /// Whether the point is farther from all map points than those around the nearest typically are from each other.
    pub(crate) fn is_far(&self) -> bool {
        self.near.len() > 1 && self.to[0] > self.typical
    }

    /// The neighbors' values relative to `center`, divided by `unit`.
    pub(crate) fn values(&self, points: &Points, center: &[f64], unit: f64) -> Values {
        let m = self.near.len();
        let mut away = Vec::with_capacity(m * center.len());
        for &a in &self.near {
            away.extend(points.point(a as usize).iter().zip(center).map(|(x, c)| (x - c) / unit));
        }
        Values::of(away, m)
    }

    /// The covariances among the neighbors and with the embedding point, for a length scale ℓ.
    pub(crate) fn covariances(&self, length: f64) -> Covariances {
        let scale = length * self.typical;
        let all = |distances: &[f64]| distances.iter().map(|&d| matern(d, scale)).collect();
        Covariances { between: all(&self.between), toward: all(&self.to) }
    }

    /// Solves the kriging equations for the covariances of a length scale ℓ and a noise ratio η.
    pub(crate) fn kriged(&self, covariances: &Covariances, noise: f64, values: &Values) -> Kriged {
        widest(
            #[inline(always)]
            || self.solve(covariances, noise, values),
        )
    }

    #[inline(always)]
    fn solve(&self, Covariances { between, toward }: &Covariances, noise: f64, values: &Values) -> Kriged {
        let m = self.near.len();
        let mut factor = vec![0.0; m * m];
        for (a, row) in factor.chunks_exact_mut(m).enumerate() {
            row[..a].copy_from_slice(&between[a * a.saturating_sub(1) / 2..][..a]);
            row[a] = 1.0 + noise;
        }
        // In exact arithmetic no pivot is smaller than the noise.
        factorize(&mut factor, m, |pivot, _| pivot.max(noise).sqrt());
        // L⁻¹ (c, 1, F), row after row.
        let columns = 2 + values.columns;
        let mut solved = Vec::with_capacity(m * columns);
        for a in 0..m {
            solved.extend([toward[a], 1.0]);
            solved.extend_from_slice(values.row(a));
        }
        divide(&factor, &mut solved, columns);
        let row = |a: usize| &solved[a * columns..(a + 1) * columns];
        let (mut ones, mut explained, mut missing, mut total) = (0.0, 0.0, 1.0, 0.0);
        let mut common = vec![0.0; values.columns];
        for a in 0..m {
            let (w, u, f) = (row(a)[0], row(a)[1], &row(a)[2..]);
            explained += w * w;
            missing -= u * w;
            ones += u * u;
            total += dot(f, f);
            for at in 0..f.len() {
                common[at] += u * f[at];
            }
        }
        let beta = missing / ones;
        let mut weights: Vec<f64> = (0..m).map(|a| row(a)[0] + beta * row(a)[1]).collect();
        divide_transposed(&factor, &mut weights);
        let mut variance = 1.0 + noise - explained + beta * missing;
        let lean: f64 = weights.iter().map(|weight| weight.abs()).sum();
        let held = if lean > LEAN { (LEAN - 1.0) / (lean - 1.0) } else { 1.0 };
        if held < 1.0 {
            // C(sα + (1 − s)p) with Cα = c + β; C is LLᵀ.
            let (s, p) = (held, &self.closeness);
            let along: Vec<f64> = (0..m).map(|b| (b..m).map(|a| factor[a * m + b] * p[a]).sum()).collect();
            let mixed = dot(p, toward) + beta;
            let square = s * s * (dot(&weights, toward) + beta)
                + 2.0 * s * (1.0 - s) * mixed
                + (1.0 - s) * (1.0 - s) * dot(&along, &along);
            weights.iter_mut().zip(p).for_each(|(weight, p)| *weight = s * *weight + (1.0 - s) * p);
            variance = 1.0 + noise - 2.0 * dot(&weights, toward) + square;
        }
        // tr(C⁻¹FFᵀ) minus the part of the mean.
        let roughness = total - dot(&common, &common) / ones;
        // Up to rounding, the variance is at least the noise, and a sum of squares is not negative.
        Kriged {
            weights,
            variance: variance.max(noise),
            roughness: roughness.max(0.0),
            missing: missing.clamp(0.0, 1.0),
            lost: 1.0 - held,
        }
    }
}

impl Values {
    /// Of rows stored one after the other.
    fn of(rows: Vec<f64>, m: usize) -> Values {
        let columns = rows.len() / m;
        if columns <= m {
            return Values { rows, columns };
        }
        let row = |a: usize| &rows[a * columns..(a + 1) * columns];
        let mut root = vec![0.0; m * m];
        for a in 0..m {
            for b in 0..=a {
                root[a * m + b] = dot(row(a), row(b));
            }
        }
        // A remainder of a row after projection that is only rounding counts as zero.
        factorize(
            &mut root,
            m,
            |pivot, whole| {
                if pivot > m as f64 * f64::EPSILON * whole { pivot.sqrt() } else { 0.0 }
            },
        );
        Values { rows: root, columns: m }
    }

    fn row(&self, a: usize) -> &[f64] {
        &self.rows[a * self.columns..(a + 1) * self.columns]
    }

    /// ‖Fᵀw‖²: the squared distance of the weighted rows from the center.
    pub(crate) fn square(&self, weights: &[f64]) -> f64 {
        let mut sums = vec![0.0; self.columns];
        for (a, weight) in weights.iter().enumerate() {
            for (sum, x) in sums.iter_mut().zip(self.row(a)) {
                *sum += weight * x;
            }
        }
        dot(&sums, &sums)
    }
}

/// h, of the neighbors of a map point.
fn scale(map: &Points, there: &[u32]) -> f64 {
    let all = typical(&between(map, there));
    if there.len() <= FIRST {
        return all;
    }
    let more = (there.len() as f64 / FIRST as f64).powf(1.0 / map.cols() as f64);
    let first = more * typical(&between(map, &there[..FIRST]));
    if first > 0.0 { all.min(first) } else { all }
}

/// The distances from each of some points to those before it, row after row.
fn between(map: &Points, some: &[u32]) -> Vec<f64> {
    let row = |a: usize| map.row(some[a] as usize);
    let pairs = (0..some.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| Metric::Euclidean.distance(row(a), row(b))).collect()
}

/// ∝ 1/d², summing to one; neighbors at the point itself share it.
fn closeness(to: &[f64]) -> Vec<f64> {
    let Some(&nearest) = to.first() else { return Vec::new() };
    let weigh = |&d: &f64| if d > nearest { (nearest / d).powi(2) } else { 1.0 };
    let weights: Vec<f64> = to.iter().map(weigh).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// Matérn's covariance of smoothness 5/2; coinciding points have covariance one whatever the scale.
#[inline(always)]
fn matern(distance: f64, scale: f64) -> f64 {
    if distance == 0.0 {
        return 1.0;
    }
    let t = 5f64.sqrt() * distance / scale;
    if t < BEYOND { (1.0 + t + t * t / 3.0) * (-t).exp() } else { 0.0 }
}

/// The median, or the largest where more than half are zero; zero for none.
fn typical(distances: &[f64]) -> f64 {
    let mut sorted = distances.to_vec();
    if sorted.is_empty() {
        return 0.0;
    }
    let middle = sorted.len() / 2;
    let median = *sorted.select_nth_unstable_by(middle, f64::total_cmp).1;
    if median > 0.0 { median } else { sorted.iter().fold(0.0, |m: f64, &d| m.max(d)) }
}

/// The Cholesky factor of a matrix, in place of its lower triangle, each diagonal entry by `root` from its pivot and
/// its original value; columns without one are zero.
#[inline(always)]
fn factorize(a: &mut [f64], m: usize, root: impl Fn(f64, f64) -> f64) {
    for i in 0..m {
        for j in 0..i {
            let (above, row) = a.split_at(i * m);
            let other = &above[j * m..j * m + j + 1];
            let left = row[j] - dot(&row[..j], &other[..j]);
            a[i * m + j] = if other[j] > 0.0 { left / other[j] } else { 0.0 };
        }
        let row = &a[i * m..i * m + i + 1];
        a[i * m + i] = root(row[i] - dot(&row[..i], &row[..i]), row[i]);
    }
}

/// L⁻¹B in the place of B, for a lower triangle L with as many rows.
#[inline(always)]
fn divide(triangle: &[f64], b: &mut [f64], columns: usize) {
    let m = b.len() / columns;
    for a in 0..m {
        let (above, row) = b.split_at_mut(a * columns);
        let row = &mut row[..columns];
        for k in 0..a {
            let (l, earlier) = (triangle[a * m + k], &above[k * columns..(k + 1) * columns]);
            for at in 0..columns {
                row[at] -= l * earlier[at];
            }
        }
        for at in 0..columns {
            row[at] /= triangle[a * m + a];
        }
    }
}

/// L⁻ᵀx in the place of x.
#[inline(always)]
fn divide_transposed(triangle: &[f64], x: &mut [f64]) {
    let m = x.len();
    for a in (0..m).rev() {
        let row = &triangle[a * m..=a * m + a];
        x[a] /= row[a];
        let found = x[a];
        for at in 0..a {
            x[at] -= row[at] * found;
        }
    }
}

/// A sum of products in four SIMD lanes, so that the order of summation is fixed and fast.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_fours, a_rest) = a.as_chunks::<4>();
    let (b_fours, b_rest) = b[..a.len()].as_chunks::<4>();
    let (b_fours, b_rest) = (&b_fours[..a_fours.len()], &b_rest[..a_rest.len()]);
    let (mut lanes, mut rest) = ([0.0f64; 4], 0.0);
    for at in 0..a_fours.len() {
        for lane in 0..4 {
            lanes[lane] += a_fours[at][lane] * b_fours[at][lane];
        }
    }
    for at in 0..a_rest.len() {
        rest += a_rest[at] * b_rest[at];
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(map: &Points, place: &[f64]) -> Neighborhood {
        let near: Vec<u32> = (0..map.rows() as u32).collect();
        let to = near.iter().map(|&a| Metric::Euclidean.distance(map.row(a as usize), place)).collect();
        Neighborhood::new(map, near.clone(), to, &near)
    }

    #[test]
    fn one_neighbor_is_believed_less_the_further_it_is() {
        let map = Points::from_rows(&[[0.0], [1.0]]).unwrap();
        let one = Neighborhood::new(&map, vec![0], vec![0.5], &[0]);
        let kriged = one.kriged(&one.covariances(1.0), 0.25, &Values::of(vec![3.0], 1));
        assert!((kriged.weights[0] - 1.0).abs() < 1e-15);
        // No two neighbors, no distance between them: v = 1 + η + (1 + η), the spread of the two observations.
        assert!((kriged.variance - 2.5).abs() < 1e-15, "{}", kriged.variance);
        assert!(kriged.roughness.abs() < 1e-14);
    }

    #[test]
    fn halfway_between_two_points_is_their_mean() {
        let map = Points::from_rows(&[[0.0], [2.0]]).unwrap();
        let here = around(&map, &[1.0]);
        let kriged = here.kriged(&here.covariances(1.0), 0.1, &Values::of(vec![0.0; 2], 2));
        assert!((kriged.weights[0] - 0.5).abs() < 1e-14 && (kriged.weights[1] - 0.5).abs() < 1e-14);
        // By hand: v = 1 + η − 2·½·2c + ½(1 + η + k), with c = κ(½) and k = κ(1).
        let (c, k) = (matern(0.5, 1.0), matern(1.0, 1.0));
        assert!((kriged.variance - (1.1 - 2.0 * c + 0.5 * (1.1 + k))).abs() < 1e-14);
    }

    #[test]
    fn roughness_is_the_quadratic_form_around_the_best_mean() {
        // Two values 0 and 2: μ = 1 by symmetry, and (−1, 1) is an eigenvector of C with eigenvalue 1 + η − k.
        let map = Points::from_rows(&[[0.0], [3.0]]).unwrap();
        let values = Points::from_rows(&[[0.0], [2.0]]).unwrap();
        let here = around(&map, &[1.0]);
        for center in [0.0, 1.0, -7.0] {
            let seen = here.values(&values, &[center], 1.0);
            let wanted = 2.0 / (1.1 - matern(1.0, 1.0));
            assert!((here.kriged(&here.covariances(1.0), 0.1, &seen).roughness / wanted - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn coinciding_neighbors_are_averaged() {
        let map = Points::from_rows(&[[5.0]; 4]).unwrap();
        let (here, nothing) = (around(&map, &[5.0]), Values::of(vec![0.0; 4], 4));
        let kriged = here.kriged(&here.covariances(2.0), 1e-8, &nothing);
        assert!(kriged.weights.iter().all(|w| (w - 0.25).abs() < 1e-6), "{:?}", kriged.weights);
        let away = around(&map, &[6.0]);
        assert!(away.is_far());
        assert!(away.kriged(&away.covariances(2.0), 1e-8, &nothing).variance > 1.9);
    }

    #[test]
    fn many_features_count_as_their_inner_products_do() {
        // Five rows of nine features, the last row the sum of the first two: no more than five columns, and the same answers.
        let mut rows: Vec<Vec<f64>> =
            (0..5usize).map(|a| (0..9).map(|j| ((7 * a + 3 * j * j) % 11) as f64 - 4.0).collect()).collect();
        rows[4] = rows[0].iter().zip(&rows[1]).map(|(x, y)| x + y).collect();
        let points = Points::from_rows(&rows).unwrap();
        let map = Points::from_rows(&[[0.0, 0.0], [1.0, 0.3], [0.2, 1.1], [1.4, 1.3], [-0.7, 0.4]]).unwrap();
        let here = around(&map, &[0.4, 0.5]);
        let (few, all) = (here.values(&points, &[0.0; 9], 1.0), Values { rows: points.values().to_vec(), columns: 9 });
        assert_eq!(few.columns, 5);
        let weights = [0.5, -0.3, 0.2, 1.0, -0.4];
        assert!((few.square(&weights) / all.square(&weights) - 1.0).abs() < 1e-13);
        for (length, noise) in [(0.5, 1e-8), (1.0, 1e-2), (4.0, 1.0)] {
            let covariances = here.covariances(length);
            let [few, all] = [&few, &all].map(|values| here.kriged(&covariances, noise, values));
            assert!((few.roughness / all.roughness - 1.0).abs() < 1e-10, "{} {}", few.roughness, all.roughness);
            assert_eq!((few.weights, few.variance), (all.weights, all.variance));
        }
    }
}
