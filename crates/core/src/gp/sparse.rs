//! A lower bound of the likelihood for many points: everything is seen through m inducing points.
//!
//! The inducing points are m of the points, evenly spaced in their order; the bias, which is one number for all points,
//! is kept exactly. With C = v R the part of the covariance that depends on the map, between all points (nn), between
//! inducing and all (mn) and among the inducing (mm):
//!
//! ```text
//! bound = log N(X̃; 0, Q + b 11ᵀ + w I) − p/2w tr(C[nn] − Q),   Q = C[nm] C[mm]⁻¹ C[mn]
//! ```
//!
//! It is below the likelihood for any parameters and reaches it as the inducing points become all points. With
//! C[mm] = L Lᵀ, V = L⁻¹ C[mn], Φ = V Vᵀ, B = I + Φ/w and e = B⁻¹ V X̃, all of it costs O(n m (m + p)). Without the bias:
//!
//! ```text
//! log det (Q + w I) = n log w + log det B          tr (Q + w I)⁻¹X̃X̃ᵀ = ‖X̃‖²/w − tr (V X̃)ᵀe / w²
//! ∂/∂C[mm] = L⁻ᵀ (½p (I − B⁻¹) − ½ e eᵀ/w² − ½p Φ/w) L⁻¹
//! ∂/∂C[mn] = L⁻ᵀ ((p/w (I − B⁻¹) − e eᵀ/w³) V + e X̃ᵀ/w²)
//! ```
//!
//! The bias is added in closed form ([`Biased`]): the slopes are these for other data, X̂ = X̃ − c 1 (X̃ᵀu)ᵀ and √(pc) 1,
//! which are linear in X̃ and 1, so that V X̂ follows from V X̃ and V 1.
//!
//! C[mm] has 1e-10 of v added to its diagonal, so that inducing points may coincide. That is a bound too: the inducing
//! values are then noisy ones. Memory does not grow with n: V is made again for the gradient, block by block.
//!
//! M. K. Titsias. Variational learning of inducing variables in sparse Gaussian processes. AISTATS 2009.

use crate::gp::problem::{Problem, spaced};
use crate::gp::{Biased, Negative, Process, Space};
use crate::linalg::dense::cholesky::{Positive, add_gram};
use crate::linalg::dense::product;
use crate::linalg::parallel;
use faer::{Mat, MatRef, Par};

/// What is added to the diagonal of C[mm], as a part of v.
const JITTER: f64 = 1e-10;
/// The fewest points in a block.
const POINTS: usize = 512;
/// The most blocks, each of which holds an m x (m + p) sum.
const BLOCKS: usize = 64;

/// The bound of a problem.
pub(crate) struct Sparse<'a> {
    problem: &'a Problem,
    inducing: Vec<usize>,
    /// ‖X̃‖².
    total: f64,
    /// X̃ᵀ1, which is rounding.
    sums: Vec<f64>,
}

/// exp(−s/2ℓ²) of the squared distances from the inducing points to some points.
struct Near {
    near: Mat<f64>,
}

/// What the points say to the inducing points: Φ, its lower triangle until it is complete, and V X̃ with V 1 as its last
/// column.
struct Seen {
    gram: Mat<f64>,
    data: Mat<f64>,
}

/// The slopes of the bound as the gradient needs them.
struct Slopes {
    /// p/w (I − B⁻¹) − e eᵀ/w³.
    through: Mat<f64>,
    /// e / w² of the columns X̃.
    data: Mat<f64>,
    /// What every point gets for its part in 1.
    constant: Vec<f64>,
}

impl<'a> Sparse<'a> {
    pub(crate) fn new(problem: &'a Problem, m: usize) -> Sparse<'a> {
        let total = problem.data.iter().map(|x| x * x).sum();
        let mut sums = vec![0.0; problem.features];
        for row in problem.data.chunks_exact(problem.features) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        Sparse { problem, inducing: spaced(problem.n, m), total, sums }
    }

    /// The first point and the number of points of every block.
    fn blocks(&self) -> Vec<(usize, usize)> {
        let n = self.problem.n;
        let size = POINTS.max(n.div_ceil(BLOCKS));
        (0..n).step_by(size).map(|start| (start, size.min(n - start))).collect()
    }

    fn near(&self, length: f64, count: usize, row: impl Fn(usize) -> usize) -> Near {
        let m = self.inducing.len();
        let scale = -0.5 / (length * length);
        let squared = |a: usize, i: usize| self.problem.squared_distance(self.inducing[a], row(i));
        Near { near: Mat::from_fn(m, count, |a, i| (scale * squared(a, i)).exp()) }
    }

    /// V of a block.
    fn whitened(&self, near: &Near, factor: &Positive, v: f64) -> Mat<f64> {
        let mut covariance = Mat::from_fn(near.near.nrows(), near.near.ncols(), |a, i| v * near.near[(a, i)]);
        factor.solve_lower(covariance.as_mut(), Par::Seq);
        covariance
    }

    /// The centered data of a block, one point a row.
    fn data(&self, (start, count): (usize, usize)) -> MatRef<'_, f64> {
        let p = self.problem.features;
        MatRef::from_row_major_slice(&self.problem.data[start * p..(start + count) * p], count, p)
    }

    /// Φ, V X̃ and V 1 over all points.
    fn seen(&self, factor: &Positive, v: f64, length: f64) -> Seen {
        let (m, p) = (self.inducing.len(), self.problem.features);
        let one = |block: (usize, usize)| {
            let near = self.near(length, block.1, |i| block.0 + i);
            let whitened = self.whitened(&near, factor, v);
            let mut gram = Mat::zeros(m, m);
            add_gram(gram.as_mut(), whitened.as_ref(), 1.0, Par::Seq);
            let along = product(whitened.as_ref(), self.data(block));
            let ones = product(whitened.as_ref(), Mat::full(block.1, 1, 1.0).as_ref());
            Seen { gram, data: Mat::from_fn(m, p + 1, |a, j| if j < p { along[(a, j)] } else { ones[(a, 0)] }) }
        };
        let parts = parallel::collect_of(self.blocks(), |_, block| one(block));
        let mut sum = Seen { gram: Mat::zeros(m, m), data: Mat::zeros(m, p + 1) };
        for part in &parts {
            sum.gram += &part.gram;
            sum.data += &part.data;
        }
        complete(&mut sum.gram);
        sum
    }

    /// Σ ∂∘R and, coordinate by coordinate, Σ ∂∘R∘S over C[mn].
    fn slopes_to_points(&self, factor: &Positive, slopes: &Slopes, v: f64, length: f64) -> Vec<f64> {
        let one = |block: (usize, usize)| {
            let near = self.near(length, block.1, |i| block.0 + i);
            let whitened = self.whitened(&near, factor, v);
            let mut slope = product(slopes.through.as_ref(), whitened.as_ref());
            slope += product(slopes.data.as_ref(), self.data(block).transpose());
            (0..block.1).for_each(|i| add(slope.col_as_slice_mut(i), &slopes.constant));
            factor.solve_upper(slope.as_mut(), Par::Seq);
            self.contracted(&slope, &near, |i| block.0 + i)
        };
        let parts: Vec<Vec<f64>> = parallel::collect_of(self.blocks(), |_, block| one(block));
        let mut sums = vec![0.0; 1 + self.problem.dims];
        parts.iter().for_each(|part| add(&mut sums, part));
        sums
    }

    /// Σ ∂∘R and, coordinate by coordinate, Σ ∂∘R∘S; the columns are the points `row`.
    fn contracted(&self, slope: &Mat<f64>, near: &Near, row: impl Fn(usize) -> usize) -> Vec<f64> {
        let mut sums = vec![0.0; 1 + self.problem.dims];
        for j in 0..slope.ncols() {
            let there = self.problem.place(row(j));
            let column = slope.col_as_slice(j).iter().zip(near.near.col_as_slice(j));
            for ((slope, near), &a) in column.zip(&self.inducing) {
                let weight = slope * near;
                sums[0] += weight;
                let apart = self.problem.place(a).iter().zip(there);
                sums[1..].iter_mut().zip(apart).for_each(|(sum, (z, y))| *sum += weight * (z - y) * (z - y));
            }
        }
        sums
    }

    /// The negative bound, and its slope along the length of each coordinate.
    pub(crate) fn by_coordinate(&self, v: f64, length: f64, bias: Option<f64>, w: f64) -> Option<(Negative, Vec<f64>)> {
        let (n, p, m) = (self.problem.n as f64, self.problem.features as f64, self.inducing.len());
        let among = self.near(length, m, |i| self.inducing[i]);
        let jitter = |a: usize, c: usize| if a == c { JITTER * v } else { 0.0 };
        let factor = Positive::factor(Mat::from_fn(m, m, |a, c| v * among.near[(a, c)] + jitter(a, c)))?;
        let seen = self.seen(&factor, v, length);
        let identity = |a: usize, c: usize| f64::from(u8::from(a == c));
        let mut noisy = Positive::factor(Mat::from_fn(m, m, |a, c| identity(a, c) + seen.gram[(a, c)] / w))?;
        let mut e = seen.data.clone();
        noisy.solve(e.as_mut());
        let missing = n * v - (0..m).map(|a| seen.gram[(a, a)]).sum::<f64>();
        let log_det = n * w.ln() + noisy.log_det();
        let columns = self.problem.features;
        let explained: f64 = (0..columns).map(|j| dot(seen.data.col_as_slice(j), e.col_as_slice(j))).sum();
        let quadratic = self.total / w - explained / (w * w);
        let unbiased = 0.5 * (p * (n * std::f64::consts::TAU.ln() + log_det + missing / w) + quadratic);

        // s = 1ᵀu and X̃ᵀu, then V X̂ and e of X̂ in place.
        let ones = e.col_as_slice(columns).to_vec();
        let s = (n - dot(seen.data.col_as_slice(columns), &ones) / w) / w;
        let along: Vec<f64> =
            (0..columns).map(|j| (self.sums[j] - dot(seen.data.col_as_slice(j), &ones) / w) / w).collect();
        let biased = Biased::new(p, s, dot(&along, &along), bias);
        let (c, last) = (biased.shrink, (p * biased.shrink).sqrt());
        let shifted = |matrix: &Mat<f64>| {
            let entry = |a: usize, j: usize| matrix[(a, j)] - c * along[j] * matrix[(a, columns)];
            Mat::from_fn(m, columns + 1, |a, j| if j < columns { entry(a, j) } else { last * matrix[(a, j)] })
        };
        let (data, e) = (shifted(&seen.data), shifted(&e));
        let total = self.total - 2.0 * c * dot(&self.sums, &along) + n * (c * c * dot(&along, &along) + p * c);

        let mut inverse = noisy.inverse();
        complete(&mut inverse);
        let outer = product(e.as_ref(), e.transpose());
        let through = Mat::from_fn(m, m, |a, c| p / w * (identity(a, c) - inverse[(a, c)]) - outer[(a, c)] / w.powi(3));
        // ½ w (through) is what C[mm] and C[mn] have in common.
        let mut slope = Mat::from_fn(m, m, |a, c| 0.5 * (w * through[(a, c)] - p / w * seen.gram[(a, c)]));
        factor.solve_upper(slope.as_mut(), Par::Seq);
        let mut slope = slope.transpose().to_owned();
        factor.solve_upper(slope.as_mut(), Par::Seq);
        let part = |a: usize| last * e[(a, columns)] - c * (0..columns).map(|j| along[j] * e[(a, j)]).sum::<f64>();
        let slopes = Slopes {
            through,
            data: Mat::from_fn(m, columns, |a, j| e[(a, j)] / (w * w)),
            constant: (0..m).map(|a| part(a) / (w * w)).collect(),
        };
        let mn = self.slopes_to_points(&factor, &slopes, v, length);
        let mm = self.contracted(&slope, &among, |i| self.inducing[i]);
        let diagonal = JITTER * (0..m).map(|a| slope[(a, a)]).sum::<f64>() - 0.5 * p * n / w;
        let seen_again = inner(&e, &product(seen.gram.as_ref(), e.as_ref()));
        let along_noise = 0.5 * p * (inner(&inverse, &seen.gram) / w - n + missing / w) + 0.5 * total / w
            - inner(&data, &e) / (w * w)
            + 0.5 * seen_again / w.powi(3);
        let lengths: Vec<f64> = mm[1..].iter().zip(&mn[1..]).map(|(a, b)| -v / (length * length) * (a + b)).collect();
        let slopes = [-v * (mm[0] + mn[0] + diagonal), lengths.iter().sum(), biased.slope, -along_noise];
        Some((Negative { value: unbiased + biased.value, bias: biased.bias, slopes }, lengths))
    }
}

impl Process for Sparse<'_> {
    fn negative(&self, _space: &mut Option<Space>, v: f64, length: f64, bias: Option<f64>, w: f64) -> Option<Negative> {
        self.by_coordinate(v, length, bias, w).map(|(negative, _)| negative)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `a ← a + b`.
fn add(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}

/// Σ A∘B.
fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (0..a.ncols()).map(|j| dot(a.col_as_slice(j), b.col_as_slice(j))).sum()
}

/// Copies the lower triangle to the upper.
fn complete(matrix: &mut Mat<f64>) {
    for j in 1..matrix.ncols() {
        for i in 0..j {
            matrix[(i, j)] = matrix[(j, i)];
        }
    }
}
