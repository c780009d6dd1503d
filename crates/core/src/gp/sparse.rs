//! A lower bound of the likelihood for many points, by m inducing points.
//!
//! The inducing points are positions on the map; the GP likelihood of a map takes those of m points, evenly spaced in
//! their order, and the latent variable model optimizes them. The bias, which is one number for all points, is kept
//! exactly. With C = v R the part of the covariance that depends on the map, between all points (nn), between inducing
//! and all (mn) and among the inducing (mm):
//!
//! ```text
//! bound = log N(X̃; 0, Q + b 11ᵀ + w I) − p/2w tr(C[nn] − Q),   Q = C[nm] C[mm]⁻¹ C[mn]
//! ```
//!
//! It is below the likelihood for any parameters and reaches it as the inducing points become all points. With C[mm] =
//! L Lᵀ, V = L⁻¹ C[mn], Φ = V Vᵀ, B = I + Φ/w and e = B⁻¹ V X̃, the cost is O(n m (m + p)). Without the bias:
//!
//! ```text
//! log det (Q + w I) = n log w + log det B          tr (Q + w I)⁻¹X̃X̃ᵀ = ‖X̃‖²/w − tr (V X̃)ᵀe / w²
//! ∂/∂C[mm] = L⁻ᵀ (½p (I − B⁻¹) − ½ e eᵀ/w² − ½p Φ/w) L⁻¹
//! ∂/∂C[mn] = L⁻ᵀ ((p/w (I − B⁻¹) − e eᵀ/w³) V + e X̃ᵀ/w²)
//! ```
//!
//! and with W = ∂/∂C[mn]∘C[mn] and U = ∂/∂C[mm]∘C[mm] the gradients in the positions y of the points and z of the
//! inducing points:
//!
//! ```text
//! ∂/∂y[i] = Σₐ W[a,i] (z[a] − y[i]) / ℓ²     ∂/∂z[a] = (Σᵢ W[a,i] (y[i] − z[a]) + 2 Σ_c U[a,c] (z[c] − z[a])) / ℓ²
//! ```
//!
//! The bias is added in closed form ([`Biased`]): the gradients are these for other data, X̂ = X̃ − c 1 (X̃ᵀu)ᵀ and √(pc) 1,
//! which are linear in X̃ and 1, so that V X̂ follows from V X̃ and V 1.
//!
//! C[mm] has 1e-10 of v added to its diagonal, so that inducing points may coincide. That is a bound too, with noisy
//! inducing values. Memory does not grow with n: V is recomputed for the gradient, block by block.
//!
//! M. K. Titsias. Variational learning of inducing variables in sparse Gaussian processes. AISTATS 2009.

use crate::gp::problem::{Problem, spaced};
use crate::gp::simd::{dot, lanes, moved, squared_distances};
use crate::gp::{Biased, Negative, Process, Space};
use eigenfold_linalg::dense::cholesky::{Positive, add_gram};
use eigenfold_linalg::dense::product;
use eigenfold_linalg::{parallel, widest};
use faer::{Mat, MatRef, Par};

/// What is added to the diagonal of C[mm], as a fraction of v.
const JITTER: f64 = 1e-10;
/// The minimum number of points in a block.
const POINTS: usize = 512;
/// The maximum number of blocks, each of which holds an m x (m + p) sum.
const BLOCKS: usize = 64;

/// The bound of a problem whose inducing points are some of its points.
pub(crate) struct Sparse<'a> {
    problem: &'a Problem,
    inducing: Vec<f64>,
    bound: Bound,
}

/// The statistics of the data alone.
pub(crate) struct Bound {
    /// ‖X̃‖².
    total: f64,
    /// X̃ᵀ1, which is rounding.
    sums: Vec<f64>,
}

/// The negative bound at some positions and parameters.
pub(crate) struct Bounded {
    pub(crate) negative: Negative,
    /// Its gradients in the positions of the points and of the inducing points, one row each.
    pub(crate) points: Vec<f64>,
    pub(crate) inducing: Vec<f64>,
}

/// The positions of the points and the inducing points, and the covariance between them.
pub(super) struct Scene<'a> {
    problem: &'a Problem,
    /// The map, one row per point.
    places: &'a [f64],
    /// The inducing points, one row each, and coordinate after coordinate.
    inducing: &'a [f64],
    columns: Vec<f64>,
    m: usize,
    v: f64,
    length: f64,
    /// L.
    pub(super) factor: Positive,
    /// Among the inducing points.
    among: Near,
}

/// Squared distances from the inducing points to some points, and exp(−s/2ℓ²).
struct Near {
    squared: Mat<f64>,
    near: Mat<f64>,
}

/// Sufficient statistics: Φ, its lower triangle until it is complete, and V X̃ with V 1 as its last column.
pub(super) struct Seen {
    pub(super) gram: Mat<f64>,
    pub(super) data: Mat<f64>,
}

/// The derivatives of the bound that the gradient needs.
struct Gradients {
    /// p/w (I − B⁻¹) − e eᵀ/w³.
    through: Mat<f64>,
    /// e / w² of the columns X̃.
    data: Mat<f64>,
    /// What every point gets for its part in 1.
    constant: Vec<f64>,
}

/// Sums over derivatives ∂ along C from the inducing points a to some points i: Σ ∂∘R and Σ ∂∘R∘S, Σₐ (∂∘R)[a,i] (z[a]
/// − y[i]) one row per point, and Σᵢ (∂∘R)[a,i] (z[a] − y[i]) coordinate after coordinate.
struct GradientSums {
    sums: [f64; 2],
    points: Vec<f64>,
    inducing: Vec<f64>,
}

impl<'a> Sparse<'a> {
    pub(crate) fn new(problem: &'a Problem, m: usize) -> Sparse<'a> {
        let inducing = spaced(problem.n, m).into_iter().flat_map(|i| problem.place(i)).copied().collect();
        Sparse { problem, inducing, bound: Bound::new(problem) }
    }
}

impl Process for Sparse<'_> {
    fn negative(&self, _space: &mut Option<Space>, v: f64, length: f64, bias: Option<f64>, w: f64) -> Option<Negative> {
        let scene = Scene::new(self.problem, &self.problem.map, &self.inducing, v, length)?;
        Some(self.bound.at(&scene, bias, w)?.negative)
    }
}

impl<'a> Scene<'a> {
    /// `None` if the covariance of the inducing points is singular in spite of the jitter.
    pub(super) fn new(
        problem: &'a Problem,
        places: &'a [f64],
        inducing: &'a [f64],
        v: f64,
        length: f64,
    ) -> Option<Scene<'a>> {
        let dims = problem.dims;
        let m = inducing.len() / dims;
        let columns: Vec<f64> = (0..m * dims).map(|at| inducing[at % m * dims + at / m]).collect();
        let among = near(&columns, m, inducing, dims, length);
        let jitter = |a: usize, c: usize| if a == c { JITTER * v } else { 0.0 };
        let factor = Positive::factor(Mat::from_fn(m, m, |a, c| v * among.near[(a, c)] + jitter(a, c)))?;
        Some(Scene { problem, places, inducing, columns, m, v, length, factor, among })
    }

    /// The first point and the number of points of every block.
    fn blocks(&self) -> Vec<(usize, usize)> {
        let n = self.problem.n;
        let size = POINTS.max(n.div_ceil(BLOCKS));
        (0..n).step_by(size).map(|start| (start, size.min(n - start))).collect()
    }

    /// The positions of a block, one row per point.
    fn places(&self, (start, count): (usize, usize)) -> &[f64] {
        let dims = self.problem.dims;
        &self.places[start * dims..(start + count) * dims]
    }

    /// From the inducing points to the points of a block.
    fn near(&self, block: (usize, usize)) -> Near {
        near(&self.columns, self.m, self.places(block), self.problem.dims, self.length)
    }

    /// V of a block.
    fn whitened(&self, near: &Near) -> Mat<f64> {
        let mut covariance = Mat::from_fn(near.near.nrows(), near.near.ncols(), |a, i| self.v * near.near[(a, i)]);
        self.factor.solve_lower(covariance.as_mut(), Par::Seq);
        covariance
    }

    /// The centered data of a block, one row per point.
    fn data(&self, (start, count): (usize, usize)) -> MatRef<'_, f64> {
        let p = self.problem.features;
        MatRef::from_row_major_slice(&self.problem.data[start * p..(start + count) * p], count, p)
    }

    /// Φ, V X̃ and V 1 over all points.
    pub(super) fn seen(&self) -> Seen {
        let (m, p) = (self.m, self.problem.features);
        let one = |block: (usize, usize)| {
            let whitened = self.whitened(&self.near(block));
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

    /// The sums over ∂/∂C[mn].
    fn gradient_to_points(&self, gradients: &Gradients) -> GradientSums {
        let one = |block: (usize, usize)| {
            let near = self.near(block);
            let mut gradient = product(gradients.through.as_ref(), self.whitened(&near).as_ref());
            gradient += product(gradients.data.as_ref(), self.data(block).transpose());
            (0..block.1).for_each(|i| add(gradient.col_as_slice_mut(i), &gradients.constant));
            self.factor.solve_upper(gradient.as_mut(), Par::Seq);
            self.gradient_sums(gradient, &near, self.places(block))
        };
        let parts = parallel::collect_of(self.blocks(), |_, block| one(block));
        let mut all = GradientSums { sums: [0.0; 2], points: Vec::new(), inducing: vec![0.0; self.columns.len()] };
        for part in parts {
            all.sums = [all.sums[0] + part.sums[0], all.sums[1] + part.sums[1]];
            all.points.extend(part.points);
            add(&mut all.inducing, &part.inducing);
        }
        all
    }

    /// The sums over the derivatives ∂ to some points, whose positions are given one row each.
    fn gradient_sums(&self, mut gradient: Mat<f64>, near: &Near, places: &[f64]) -> GradientSums {
        let dims = self.problem.dims;
        let mut total =
            GradientSums { sums: [0.0; 2], points: vec![0.0; places.len()], inducing: vec![0.0; self.columns.len()] };
        for (i, place) in places.chunks_exact(dims).enumerate() {
            let (near, squared) = (near.near.col_as_slice(i), near.squared.col_as_slice(i));
            let (weights, out) = (gradient.col_as_slice_mut(i), &mut total.points[i * dims..(i + 1) * dims]);
            let (inducing, sums) = (&mut total.inducing, &mut total.sums);
            widest(
                #[inline(always)]
                || {
                    weights.iter_mut().zip(near).for_each(|(w, r)| *w *= r);
                    *sums = [sums[0] + lanes(weights), sums[1] + dot(weights, squared)];
                    let columns = self.columns.chunks_exact(self.m).zip(inducing.chunks_exact_mut(self.m));
                    for ((column, away), (here, out)) in columns.zip(place.iter().zip(out.iter_mut())) {
                        *out = moved(weights, *here, column, away);
                    }
                },
            );
        }
        total
    }
}

impl Bound {
    pub(crate) fn new(problem: &Problem) -> Bound {
        let mut sums = vec![0.0; problem.features];
        problem.data.chunks_exact(problem.features).for_each(|row| add(&mut sums, row));
        Bound { total: problem.data.iter().map(|x| x * x).sum(), sums }
    }

    /// At these positions of the points and the inducing points, with the length scale one. `None` if the covariance of
    /// the inducing points is singular in spite of the jitter. Without a bias the optimal one is used.
    pub(crate) fn moving(
        &self,
        problem: &Problem,
        places: &[f64],
        inducing: &[f64],
        [v, w]: [f64; 2],
        bias: Option<f64>,
    ) -> Option<Bounded> {
        self.at(&Scene::new(problem, places, inducing, v, 1.0)?, bias, w)
    }

    fn at(&self, scene: &Scene<'_>, bias: Option<f64>, w: f64) -> Option<Bounded> {
        let (problem, v, length, m) = (scene.problem, scene.v, scene.length, scene.m);
        let (n, p) = (problem.n as f64, problem.features as f64);
        let seen = scene.seen();
        let identity = |a: usize, c: usize| f64::from(u8::from(a == c));
        let mut noisy = Positive::factor(Mat::from_fn(m, m, |a, c| identity(a, c) + seen.gram[(a, c)] / w))?;
        let mut e = seen.data.clone();
        noisy.solve(e.as_mut());
        let missing = n * v - (0..m).map(|a| seen.gram[(a, a)]).sum::<f64>();
        let log_det = n * w.ln() + noisy.log_det();
        let columns = problem.features;
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
        let mut gradient = Mat::from_fn(m, m, |a, c| 0.5 * (w * through[(a, c)] - p / w * seen.gram[(a, c)]));
        scene.factor.solve_upper(gradient.as_mut(), Par::Seq);
        let mut gradient = gradient.transpose().to_owned();
        scene.factor.solve_upper(gradient.as_mut(), Par::Seq);
        let part = |a: usize| last * e[(a, columns)] - c * (0..columns).map(|j| along[j] * e[(a, j)]).sum::<f64>();
        let gradients = Gradients {
            through,
            data: Mat::from_fn(m, columns, |a, j| e[(a, j)] / (w * w)),
            constant: (0..m).map(|a| part(a) / (w * w)).collect(),
        };
        let diagonal = JITTER * (0..m).map(|a| gradient[(a, a)]).sum::<f64>() - 0.5 * p * n / w;
        let (mn, mm) =
            (scene.gradient_to_points(&gradients), scene.gradient_sums(gradient, &scene.among, scene.inducing));
        let seen_again = inner(&e, &product(seen.gram.as_ref(), e.as_ref()));
        let along_noise = 0.5 * p * (inner(&inverse, &seen.gram) / w - n + missing / w) + 0.5 * total / w
            - inner(&data, &e) / (w * w)
            + 0.5 * seen_again / w.powi(3);
        let steep = v / (length * length);
        let gradient = [
            -v * (mm.sums[0] + mn.sums[0] + diagonal),
            -steep * (mm.sums[1] + mn.sums[1]),
            biased.derivative,
            -along_noise,
        ];
        let dims = problem.dims;
        let of_inducing = |at: usize| steep * (mn.inducing[at % dims * m + at / dims] - 2.0 * mm.points[at]);
        Some(Bounded {
            negative: Negative { value: unbiased + biased.value, bias: biased.bias, gradient },
            points: mn.points.iter().map(|total| -steep * total).collect(),
            inducing: (0..m * dims).map(of_inducing).collect(),
        })
    }
}

/// From some positions, stored coordinate after coordinate, to others, stored one row each.
fn near(columns: &[f64], m: usize, rows: &[f64], dims: usize, length: f64) -> Near {
    let (count, scale) = (rows.len() / dims, -0.5 / (length * length));
    let (mut squared, mut near) = (Mat::zeros(m, count), Mat::zeros(m, count));
    for (i, row) in rows.chunks_exact(dims).enumerate() {
        let (squared, near) = (squared.col_as_slice_mut(i), near.col_as_slice_mut(i));
        squared_distances(columns, row, squared);
        near.iter_mut().zip(squared.iter()).for_each(|(near, s)| *near = (scale * s).exp());
    }
    Near { squared, near }
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
pub(super) fn complete(matrix: &mut Mat<f64>) {
    for j in 1..matrix.ncols() {
        for i in 0..j {
            matrix[(i, j)] = matrix[(j, i)];
        }
    }
}
