//! Newton's direction for the dense problem.
//!
//! With `a[e] = Vᵀ b[e]` and S = Σ W[e] a[e] a[e]ᵀ − I, t the target squares, and for every bound on them its slack s
//! and its weight v, W = Σ ±v (+ for an upper bound, and no bound where t = D), the central path is
//!
//! ```text
//! a[e]ᵀ X a[e] = t[e]        X S = μ I        s[e] v[e] = μ
//! ```
//!
//! Linearized with X S symmetrized by S itself (the HKM direction), and all changes but that of W eliminated,
//!
//! ```text
//! Σ[f] ((a[e]ᵀ X a[f]) (a[e]ᵀ S⁻¹ a[f]) + [e = f] r[e]) ΔW[f] = μ a[e]ᵀ S⁻¹ a[e] − t[e] + r[e] g[e] − second order
//! ΔX = μ S⁻¹ − X − sym(X ΔS S⁻¹) − second order        Δt = r (ΔW − g)
//! 1/r = Σ v/s        g = Σ ±(μ/s − v − second order)
//! ```
//!
//! with r = 0 where there are no bounds.
//!
//! The matrix is assembled from differences of V X Vᵀ and V S⁻¹ Vᵀ, a column at a time, and factored; conjugate
//! gradients, which apply the exact operator, then correct the rounding errors of the factor, or the shift that was
//! added to it.
//!
//! C. Helmberg, F. Rendl, R. J. Vanderbei, H. Wolkowicz. An interior-point method for semidefinite programming. SIAM J.
//! Optimization 6(2), 1996.

use eigenfold_linalg::dense::cholesky::Positive;
use eigenfold_linalg::dense::{dense_product, parts, symmetric_eigenvalues};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use faer::Mat;

/// Conjugate gradients stop at this violation of a pair, as a fraction of its square.
const EXACT: f64 = 1e-13;
/// The maximum number of conjugate gradient steps, and of steps without progress.
const REFINEMENTS: usize = 25;
const PATIENCE: usize = 6;
/// The first shift of the unit diagonal of a matrix that is not positive definite to working precision; the last.
const SHIFTS: [f64; 2] = [1e-15, 1e-9];

/// The problem in units: V, the pairs and their squares.
pub(crate) struct Program {
    pub(crate) basis: Mat<f64>,
    pub(crate) ends: Vec<(usize, usize)>,
    pub(crate) squares: Vec<f64>,
}

/// X, W, t and the bounds on t; or a change of them.
#[derive(Clone)]
pub(crate) struct Variables {
    pub(crate) x: Mat<f64>,
    pub(crate) w: Vec<f64>,
    pub(crate) aims: Vec<f64>,
    pub(crate) bounds: Vec<Bounds>,
}

/// The slacks of the bounds on the squares, and the weights of the bounds.
#[derive(Clone)]
pub(crate) struct Bounds {
    /// 1 for upper bounds, −1 for lower ones.
    pub(crate) sign: f64,
    pub(crate) slack: Vec<f64>,
    pub(crate) weight: Vec<f64>,
}

/// Everything that follows from the variables.
pub(crate) struct Place<'a> {
    program: &'a Program,
    at: &'a Variables,
    s: Mat<f64>,
    s_inverse: Mat<f64>,
    x_factor: Positive,
    s_factor: Positive,
    /// V X Vᵀ and V S⁻¹ Vᵀ.
    k: Mat<f64>,
    z: Mat<f64>,
    /// The squared distances, and those of V S⁻¹ Vᵀ.
    pub(crate) measured: Vec<f64>,
    inverse_measured: Vec<f64>,
}

/// A change of the variables and of S.
pub(crate) struct Direction {
    by: Variables,
    s: Mat<f64>,
}

impl Program {
    /// V X Vᵀ.
    fn spread(&self, x: &Mat<f64>) -> Mat<f64> {
        let half = dense_product(self.basis.as_ref(), x.as_ref());
        dense_product(half.as_ref(), self.basis.transpose())
    }

    /// Vᵀ L(W) V.
    pub(crate) fn stress(&self, w: &[f64]) -> Mat<f64> {
        let n = self.basis.nrows();
        let mut laplacian = Mat::<f64>::zeros(n, n);
        for (&(i, j), w) in self.ends.iter().zip(w) {
            laplacian[(i, i)] += w;
            laplacian[(j, j)] += w;
            laplacian[(i, j)] -= w;
            laplacian[(j, i)] -= w;
        }
        let half = dense_product(laplacian.as_ref(), self.basis.as_ref());
        symmetric(&dense_product(self.basis.transpose(), half.as_ref()))
    }

    /// `b[e]ᵀ K b[e]` for all pairs.
    pub(crate) fn measure(&self, k: &Mat<f64>) -> Vec<f64> {
        self.ends.iter().map(|&(i, j)| (k[(i, i)] - k[(i, j)]) - (k[(j, i)] - k[(j, j)])).collect()
    }

    /// What follows from the variables; `None` if X or S is not positive definite to working precision.
    pub(crate) fn place<'a>(&'a self, at: &'a Variables) -> Option<Place<'a>> {
        let mut s = self.stress(&at.w);
        (0..s.nrows()).for_each(|q| s[(q, q)] -= 1.0);
        let (x_factor, mut s_factor) = (Positive::factor(at.x.clone())?, Positive::factor(s.clone())?);
        let lower = s_factor.inverse();
        let s_inverse = Mat::from_fn(s.nrows(), s.nrows(), |i, j| lower[(i.max(j), i.min(j))]);
        let (k, z) = (self.spread(&at.x), self.spread(&s_inverse));
        let (measured, inverse_measured) = (self.measure(&k), self.measure(&z));
        Some(Place { program: self, at, s, s_inverse, x_factor, s_factor, k, z, measured, inverse_measured })
    }
}

impl Place<'_> {
    /// ⟨X, S⟩ + Σ s v divided by the number of eigenvalues: μ on the central path.
    pub(crate) fn mu(&self) -> f64 {
        self.mu_after(&Direction { by: self.at.clone(), s: self.s.clone() }, 0.0, 0.0)
    }

    /// The same at a step along a direction.
    pub(crate) fn mu_after(&self, along: &Direction, primal: f64, dual: f64) -> f64 {
        let (at, by) = (self.at, &along.by);
        let column = |j: usize| -> f64 {
            let x = |i: usize| at.x[(i, j)] + primal * by.x[(i, j)];
            (0..at.x.nrows()).map(|i| x(i) * (self.s[(i, j)] + dual * along.s[(i, j)])).sum()
        };
        let mut sum: f64 = (0..at.x.ncols()).map(column).sum();
        let mut count = at.x.nrows();
        for (at, by) in at.bounds.iter().zip(&by.bounds) {
            let product = |e: usize| (at.slack[e] + primal * by.slack[e]) * (at.weight[e] + dual * by.weight[e]);
            sum += (0..at.slack.len()).map(product).sum::<f64>();
            count += at.slack.len();
        }
        sum / count as f64
    }

    /// The Schur complement, factored in place; `None` if no small shift makes it positive definite.
    pub(crate) fn schur<'a>(&'a self, room: &'a mut Positive) -> Option<Schur<'a>> {
        let m = self.program.ends.len();
        let stiffness = |e: usize| -> f64 { self.at.bounds.iter().map(|side| side.weight[e] / side.slack[e]).sum() };
        let give = |e: usize| if self.at.bounds.is_empty() { 0.0 } else { 1.0 / stiffness(e) };
        let ratio: Vec<f64> = (0..m).map(give).collect();
        let own = |e: usize| self.measured[e] * self.inverse_measured[e] + ratio[e];
        let scale: Vec<f64> = (0..m).map(|e| 1.0 / own(e).sqrt()).collect();
        let mut shift = 0.0;
        while shift <= SHIFTS[1] {
            parallel::each_of(room.matrix_mut().col_iter_mut(), |e, mut column| {
                let (i, j) = self.program.ends[e];
                let [k_i, k_j] = [i, j].map(|point| self.k.col_as_slice(point));
                let [z_i, z_j] = [i, j].map(|point| self.z.col_as_slice(point));
                for f in e + 1..m {
                    let (a, b) = self.program.ends[f];
                    let k = (k_i[a] - k_j[a]) - (k_i[b] - k_j[b]);
                    let z = (z_i[a] - z_j[a]) - (z_i[b] - z_j[b]);
                    column[f] = (k * scale[e]) * (z * scale[f]);
                }
                column[e] = 1.0 + shift;
            });
            if room.refactor() {
                return Some(Schur { place: self, factor: room, scale, ratio });
            }
            shift = SHIFTS[0].max(10.0 * shift);
        }
        None
    }

    /// The step lengths to the boundary for X and the slacks, and for S and the weights.
    pub(crate) fn to_boundary(&self, along: &Direction) -> Result<[f64; 2]> {
        let mut steps = [to_singular(&self.x_factor, &along.by.x)?, to_singular(&self.s_factor, &along.s)?];
        for (at, by) in self.at.bounds.iter().zip(&along.by.bounds) {
            steps[0] = steps[0].min(to_zero(&at.slack, &by.slack));
            steps[1] = steps[1].min(to_zero(&at.weight, &by.weight));
        }
        Ok(steps)
    }
}

/// The largest step that leaves a matrix, given by its factor, positive definite.
fn to_singular(factor: &Positive, by: &Mat<f64>) -> Result<f64> {
    let par = parts(by.nrows());
    let mut half = by.clone();
    factor.solve_lower(half.as_mut(), par);
    let mut relative = half.transpose().to_owned();
    factor.solve_lower(relative.as_mut(), par);
    let least = symmetric_eigenvalues(relative.as_ref())?.last().copied().unwrap_or(0.0);
    Ok(if least < 0.0 { -1.0 / least } else { f64::INFINITY })
}

/// The largest step that leaves numbers positive.
fn to_zero(at: &[f64], by: &[f64]) -> f64 {
    at.iter().zip(by).filter(|(_, by)| **by < 0.0).map(|(at, by)| -at / by).fold(f64::INFINITY, f64::min)
}

impl Direction {
    /// Whether all entries are finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.by.w.iter().all(|w| w.is_finite()) && self.by.x.is_all_finite() && self.s.is_all_finite()
    }
}

impl Variables {
    /// A step along a direction.
    pub(crate) fn moved(&self, along: &Direction, primal: f64, dual: f64) -> Variables {
        let add = |at: &[f64], by: &[f64], step: f64| -> Vec<f64> {
            at.iter().zip(by).map(|(at, by)| at + step * by).collect()
        };
        let side = |(at, by): (&Bounds, &Bounds)| Bounds {
            sign: at.sign,
            slack: add(&at.slack, &by.slack, primal),
            weight: add(&at.weight, &by.weight, dual),
        };
        Variables {
            x: &self.x + faer::Scale(primal) * &along.by.x,
            w: add(&self.w, &along.by.w, dual),
            aims: add(&self.aims, &along.by.aims, primal),
            bounds: self.bounds.iter().zip(&along.by.bounds).map(side).collect(),
        }
    }
}

/// The Schur complement at a point.
pub(crate) struct Schur<'a> {
    place: &'a Place<'a>,
    factor: &'a Positive,
    /// The scaling to a unit diagonal.
    scale: Vec<f64>,
    /// r.
    ratio: Vec<f64>,
}

impl Schur<'_> {
    /// The direction to the point of the central path at μ; the second-order terms are those of an earlier direction.
    pub(crate) fn direction(&self, mu: f64, earlier: Option<&Direction>) -> Direction {
        let Place { program, at, s_inverse, .. } = self.place;
        let bent = earlier.map(|earlier| {
            let half = dense_product(earlier.by.x.as_ref(), earlier.s.as_ref());
            symmetric(&dense_product(half.as_ref(), s_inverse.as_ref()))
        });
        // μ/s − v − second order: the change of a weight if its slack is unchanged.
        let change = |side: usize, e: usize| {
            let bounds = &at.bounds[side];
            let bent = earlier.map_or(0.0, |by| by.by.bounds[side].slack[e] * by.by.bounds[side].weight[e]);
            (mu - bent) / bounds.slack[e] - bounds.weight[e]
        };
        let sides = at.bounds.len();
        let pushed = |e: usize| (0..sides).map(|side| at.bounds[side].sign * change(side, e)).sum::<f64>();
        let mut rhs: Vec<f64> = self.place.inverse_measured.iter().map(|z| mu * z).collect();
        if let Some(bent) = &bent {
            rhs.iter_mut().zip(program.measure(&program.spread(bent))).for_each(|(rhs, bent)| *rhs -= bent);
        }
        rhs.iter_mut().enumerate().for_each(|(e, rhs)| *rhs += self.ratio[e] * pushed(e) - at.aims[e]);
        let w = self.solve(rhs);
        let s = program.stress(&w);
        let half = dense_product(at.x.as_ref(), s.as_ref());
        let mut x = faer::Scale(mu) * s_inverse - &at.x - symmetric(&dense_product(half.as_ref(), s_inverse.as_ref()));
        if let Some(bent) = bent {
            x -= bent;
        }
        let aims: Vec<f64> = (0..w.len()).map(|e| self.ratio[e] * (w[e] - pushed(e))).collect();
        let bounds = (0..sides).map(|side| {
            let Bounds { sign, slack, weight } = &at.bounds[side];
            let stiff = |e: usize| change(side, e) + sign * weight[e] / slack[e] * aims[e];
            Bounds {
                sign: *sign,
                slack: aims.iter().map(|aim| -sign * aim).collect(),
                weight: (0..w.len()).map(stiff).collect(),
            }
        });
        let bounds = bounds.collect();
        Direction { by: Variables { x, w, aims, bounds }, s }
    }

    /// Conjugate gradients, preconditioned by the factor.
    fn solve(&self, rhs: Vec<f64>) -> Vec<f64> {
        let squares = &self.place.program.squares;
        let (mut x, mut left) = (vec![0.0; rhs.len()], rhs);
        let (mut best, mut least, mut at_best) = (x.clone(), f64::INFINITY, 0);
        let (mut along, mut before) = (vec![0.0; x.len()], f64::INFINITY);
        for step in 0..REFINEMENTS {
            let violation = left.iter().zip(squares).map(|(left, square)| (left / square).abs()).fold(0.0, f64::max);
            if violation < least {
                (least, at_best) = (violation, step);
                best.copy_from_slice(&x);
            }
            if least <= EXACT || step - at_best > PATIENCE {
                break;
            }
            let mut near = Mat::from_fn(left.len(), 1, |e, _| left[e] * self.scale[e]);
            self.factor.solve(near.as_mut());
            let near: Vec<f64> = (0..left.len()).map(|e| near[(e, 0)] * self.scale[e]).collect();
            let now = dot(&left, &near);
            along.iter_mut().zip(&near).for_each(|(along, near)| *along = near + now / before * *along);
            before = now;
            let image = self.apply(&along);
            let length = now / dot(&along, &image);
            x.iter_mut().zip(&along).for_each(|(x, along)| *x += length * along);
            left.iter_mut().zip(&image).for_each(|(left, image)| *left -= length * image);
        }
        best
    }

    /// The Schur complement times a vector, `b[e]ᵀ (V X Vᵀ) L(w) (V S⁻¹ Vᵀ) b[e] + r[e] w[e]`.
    fn apply(&self, w: &[f64]) -> Vec<f64> {
        let Place { program, k, z, .. } = self.place;
        let n = k.nrows();
        let pull = |c: usize| {
            let (column, mut pulled) = (k.col_as_slice(c), vec![0.0; n]);
            for (&(i, j), w) in program.ends.iter().zip(w) {
                let force = w * (column[i] - column[j]);
                pulled[i] += force;
                pulled[j] -= force;
            }
            pulled
        };
        let pulled: Vec<Vec<f64>> = parallel::collect(n, pull);
        parallel::collect(program.ends.len(), |e| {
            let (i, j) = program.ends[e];
            let (z_i, z_j) = (z.col_as_slice(i), z.col_as_slice(j));
            let product: f64 = (0..n).map(|c| (pulled[i][c] - pulled[j][c]) * (z_i[c] - z_j[c])).sum();
            product + self.ratio[e] * w[e]
        })
    }
}

fn symmetric(matrix: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| 0.5 * (matrix[(i, j)] + matrix[(j, i)]))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linearized, the new distances are the target ones and the new products μ, at every point.
    #[test]
    fn a_direction_leads_to_the_squares_and_to_mu() {
        let ends = vec![(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4)];
        let squares = vec![1.0, 0.5, 0.7, 0.9, 0.4, 1.0, 0.8];
        let helmert = |i: usize, q: usize| match i.cmp(&(q + 1)) {
            std::cmp::Ordering::Less => 1.0,
            std::cmp::Ordering::Equal => -((q + 1) as f64),
            std::cmp::Ordering::Greater => 0.0,
        };
        let basis = Mat::from_fn(5, 4, |i, q| helmert(i, q) / ((q + 1) as f64 * (q + 2) as f64).sqrt());
        let program = Program { basis, ends, squares };
        let x = Mat::from_fn(4, 4, |i, j| if i == j { 1.0 } else { 0.1 * (i + j) as f64 / 6.0 });
        let w: Vec<f64> = (0..7).map(|e| 3.0 + 0.2 * e as f64).collect();
        let above = Bounds { sign: 1.0, slack: vec![0.3, 0.1, 0.2, 0.4, 0.3, 0.2, 0.1], weight: w.clone() };
        let below = Bounds { sign: -1.0, slack: vec![0.2, 0.3, 0.1, 0.1, 0.3, 0.4, 0.2], weight: vec![0.7; 7] };
        let pressed = Bounds { weight: w.iter().map(|w| w + 0.7).collect(), ..above.clone() };
        for bounds in [vec![], vec![above], vec![pressed, below]] {
            let aims = program.squares.clone();
            let at = Variables { x: x.clone(), w: w.clone(), aims, bounds };
            let place = program.place(&at).unwrap();
            let mut room = Positive::with_room(Mat::zeros(7, 7), faer::Par::Seq).unwrap();
            let schur = place.schur(&mut room).unwrap();
            let direction = schur.direction(0.01, None);
            let new = at.moved(&direction, 1.0, 1.0);
            let distances = program.measure(&program.spread(&new.x));
            for e in 0..7 {
                assert!((distances[e] - new.aims[e]).abs() < 1e-12, "{} for {}", distances[e], new.aims[e]);
                assert!(!new.bounds.is_empty() || new.aims[e] == program.squares[e]);
                let weights: f64 = new.bounds.iter().map(|side| side.sign * side.weight[e]).sum();
                assert!(new.bounds.is_empty() || (weights - new.w[e]).abs() < 1e-10, "{weights} for {}", new.w[e]);
            }
            let linear = place.mu_after(&direction, 1.0, 0.0) + place.mu_after(&direction, 0.0, 1.0) - place.mu();
            assert!((linear - 0.01).abs() < 1e-12, "{linear}");
        }
    }
}
