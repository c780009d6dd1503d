//! Newton's direction for the dense problem.
//!
//! With `a[e] = Vᵀ b[e]`, S = Σ W[e] a[e] a[e]ᵀ − I, and s the slack of the bounds (none where they are equalities), the
//! central path is
//!
//! ```text
//! a[e]ᵀ X a[e] + s[e] = D[e]        X S = μ I        s[e] W[e] = μ
//! ```
//!
//! Linearized with X S symmetrized by S itself (the HKM direction), and ΔX, Δs eliminated,
//!
//! ```text
//! Σ[f] ((a[e]ᵀ X a[f]) (a[e]ᵀ S⁻¹ a[f]) + [e = f] s[e] / W[e]) ΔW[f] = μ (a[e]ᵀ S⁻¹ a[e] + 1/W[e]) − D[e] − second order
//! ΔX = μ S⁻¹ − X − sym(X ΔS S⁻¹) − second order
//! ```
//!
//! The matrix is assembled from differences of V X Vᵀ and V S⁻¹ Vᵀ, a column at a time, and factored; conjugate gradients,
//! which apply it as it is defined, then make up for what the factor lost, or for what had to be added to it.
//!
//! C. Helmberg, F. Rendl, R. J. Vanderbei, H. Wolkowicz. An interior-point method for semidefinite programming. SIAM J.
//! Optimization 6(2), 1996.

use crate::error::Result;
use crate::linalg::dense::{dense_product, parts, symmetric_eigenvalues};
use crate::linalg::positive::Positive;
use faer::Mat;
use rayon::prelude::*;

/// Conjugate gradients stop at this violation of a pair, as a part of its square.
const EXACT: f64 = 1e-13;
/// Most steps of conjugate gradients, and most without gain.
const REFINEMENTS: usize = 25;
const PATIENCE: usize = 6;
/// The first of the values added to the unit diagonal of a matrix that is not definite to working precision; the last.
const SHIFTS: [f64; 2] = [1e-15, 1e-9];

/// The problem in units: V, the pairs and their squares.
pub(super) struct Program {
    pub(super) basis: Mat<f64>,
    pub(super) ends: Vec<(usize, usize)>,
    pub(super) squares: Vec<f64>,
}

/// X, W and the slack, which is empty where all distances are equalities; or a change of the three.
#[derive(Clone)]
pub(super) struct Variables {
    pub(super) x: Mat<f64>,
    pub(super) w: Vec<f64>,
    pub(super) slack: Vec<f64>,
}

/// Everything that follows from the variables.
pub(super) struct Place<'a> {
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
    pub(super) measured: Vec<f64>,
    inverse_measured: Vec<f64>,
}

/// A change of the variables and of S.
pub(super) struct Direction {
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
    pub(super) fn stress(&self, w: &[f64]) -> Mat<f64> {
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
    pub(super) fn measure(&self, k: &Mat<f64>) -> Vec<f64> {
        self.ends.iter().map(|&(i, j)| (k[(i, i)] - k[(i, j)]) - (k[(j, i)] - k[(j, j)])).collect()
    }

    /// What follows from the variables; nothing if X or S is not definite to working precision.
    pub(super) fn place<'a>(&'a self, at: &'a Variables) -> Option<Place<'a>> {
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
    /// ⟨X, S⟩ + Σ s W over the number of their eigenvalues: μ on the central path.
    pub(super) fn mu(&self) -> f64 {
        self.mu_after(&Direction::none(self), 0.0, 0.0)
    }

    /// The same some way along a direction.
    pub(super) fn mu_after(&self, along: &Direction, primal: f64, dual: f64) -> f64 {
        let (at, by) = (self.at, &along.by);
        let column = |j: usize| -> f64 {
            let x = |i: usize| at.x[(i, j)] + primal * by.x[(i, j)];
            (0..at.x.nrows()).map(|i| x(i) * (self.s[(i, j)] + dual * along.s[(i, j)])).sum()
        };
        let inner: f64 = (0..at.x.ncols()).map(column).sum();
        let slack = |e: usize| (at.slack[e] + primal * by.slack[e]) * (at.w[e] + dual * by.w[e]);
        let bounds: f64 = (0..at.slack.len()).map(slack).sum();
        (inner + bounds) / (at.x.nrows() + at.slack.len()) as f64
    }

    /// The Schur complement, factored in the room given; nothing if no small shift makes it definite.
    pub(super) fn schur<'a>(&'a self, room: &'a mut Positive) -> Option<Schur<'a>> {
        let m = self.program.ends.len();
        let ratio: Vec<f64> = self.at.slack.iter().zip(&self.at.w).map(|(slack, w)| slack / w).collect();
        let own = |e: usize| self.measured[e] * self.inverse_measured[e] + ratio.get(e).unwrap_or(&0.0);
        let scale: Vec<f64> = (0..m).map(|e| 1.0 / own(e).sqrt()).collect();
        let mut shift = 0.0;
        while shift <= SHIFTS[1] {
            room.matrix_mut().par_col_iter_mut().enumerate().for_each(|(e, mut column)| {
                let (i, j) = self.program.ends[e];
                let [k_i, k_j] = [i, j].map(|point| self.k.col_as_slice(point));
                let [z_i, z_j] = [i, j].map(|point| self.z.col_as_slice(point));
                for f in e + 1..m {
                    let (a, b) = self.program.ends[f];
                    let k = (k_i[a] - k_j[a]) - (k_i[b] - k_j[b]);
                    let z = (z_i[a] - z_j[a]) - (z_i[b] - z_j[b]);
                    column[f] = k * z * scale[e] * scale[f];
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

    /// How far X and the slack, and S and W, can go along a direction, in units of it.
    pub(super) fn to_boundary(&self, along: &Direction) -> Result<[f64; 2]> {
        let primal = to_singular(&self.x_factor, &along.by.x)?.min(to_zero(&self.at.slack, &along.by.slack));
        let bounded = &self.at.w[..self.at.slack.len()];
        Ok([primal, to_singular(&self.s_factor, &along.s)?.min(to_zero(bounded, &along.by.w))])
    }
}

/// The largest step that leaves a matrix, known by its factor, definite.
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
    fn none(place: &Place<'_>) -> Direction {
        let zeros = Mat::zeros(place.s.nrows(), place.s.nrows());
        let (w, slack) = (vec![0.0; place.at.w.len()], vec![0.0; place.at.slack.len()]);
        Direction { by: Variables { x: zeros.clone(), w, slack }, s: zeros }
    }

    /// Whether it is made of numbers.
    pub(super) fn is_finite(&self) -> bool {
        self.by.w.iter().all(|w| w.is_finite()) && self.by.x.is_all_finite() && self.s.is_all_finite()
    }
}

impl Variables {
    /// A step along a direction.
    pub(super) fn moved(&self, along: &Direction, primal: f64, dual: f64) -> Variables {
        let add = |at: &[f64], by: &[f64], step: f64| at.iter().zip(by).map(|(at, by)| at + step * by).collect();
        Variables {
            x: &self.x + faer::Scale(primal) * &along.by.x,
            w: add(&self.w, &along.by.w, dual),
            slack: add(&self.slack, &along.by.slack, primal),
        }
    }
}

/// The Schur complement at a place.
pub(super) struct Schur<'a> {
    place: &'a Place<'a>,
    factor: &'a Positive,
    /// To a unit diagonal.
    scale: Vec<f64>,
    /// s / W.
    ratio: Vec<f64>,
}

impl Schur<'_> {
    /// The direction to the point of the central path at μ; the second order is that of an earlier direction.
    pub(super) fn direction(&self, mu: f64, earlier: Option<&Direction>) -> Direction {
        let Place { program, at, s_inverse, .. } = self.place;
        let bent = earlier.map(|earlier| {
            let half = dense_product(earlier.by.x.as_ref(), earlier.s.as_ref());
            symmetric(&dense_product(half.as_ref(), s_inverse.as_ref()))
        });
        let bent_slack = |e: usize| earlier.map_or(0.0, |by| by.by.slack[e] * by.by.w[e] / at.w[e]);
        let mut rhs: Vec<f64> = self.place.inverse_measured.iter().map(|z| mu * z).collect();
        if let Some(bent) = &bent {
            rhs.iter_mut().zip(program.measure(&program.spread(bent))).for_each(|(rhs, bent)| *rhs -= bent);
        }
        for (e, rhs) in rhs.iter_mut().enumerate() {
            *rhs -= program.squares[e];
            if e < at.slack.len() {
                *rhs += mu / at.w[e] - bent_slack(e);
            }
        }
        let w = self.solve(rhs);
        let s = program.stress(&w);
        let half = dense_product(at.x.as_ref(), s.as_ref());
        let mut x = faer::Scale(mu) * s_inverse - &at.x - symmetric(&dense_product(half.as_ref(), s_inverse.as_ref()));
        if let Some(bent) = bent {
            x -= bent;
        }
        let slack = |e: usize| mu / at.w[e] - at.slack[e] - self.ratio[e] * w[e] - bent_slack(e);
        let slack = (0..at.slack.len()).map(slack).collect();
        Direction { by: Variables { x, w, slack }, s }
    }

    /// Conjugate gradients, with the factor for a preconditioner.
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

    /// The Schur complement times a vector, `b[e]ᵀ (V X Vᵀ) L(w) (V S⁻¹ Vᵀ) b[e] + (s/W)[e] w[e]`.
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
        let pulled: Vec<Vec<f64>> = (0..n).into_par_iter().map(pull).collect();
        let entry = |(e, &(i, j)): (usize, &(usize, usize))| {
            let (z_i, z_j) = (z.col_as_slice(i), z.col_as_slice(j));
            let product: f64 = (0..n).map(|c| (pulled[i][c] - pulled[j][c]) * (z_i[c] - z_j[c])).sum();
            product + self.ratio.get(e).map_or(0.0, |ratio| ratio * w[e])
        };
        program.ends.par_iter().enumerate().map(entry).collect()
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

    /// Linearized, the new distances are the asked ones and the new products μ, whatever the place.
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
        for slack in [vec![], vec![0.3, 0.1, 0.2, 0.4, 0.3, 0.2, 0.1]] {
            let at = Variables { x: x.clone(), w: w.clone(), slack };
            let place = program.place(&at).unwrap();
            let mut room = Positive::with_room(Mat::zeros(7, 7), faer::Par::Seq).unwrap();
            let schur = place.schur(&mut room).unwrap();
            let direction = schur.direction(0.01, None);
            let new = at.moved(&direction, 1.0, 1.0);
            let distances = program.measure(&program.spread(&new.x));
            for e in 0..7 {
                let sum = distances[e] + new.slack.get(e).unwrap_or(&0.0);
                assert!((sum - program.squares[e]).abs() < 1e-12, "{sum}");
            }
            let linear = place.mu_after(&direction, 1.0, 0.0) + place.mu_after(&direction, 0.0, 1.0) - place.mu();
            assert!((linear - 0.01).abs() < 1e-12, "{linear}");
        }
    }
}
