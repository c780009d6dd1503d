//! The largest trace under a few hundred quadratic bounds, by a primal-dual interior point.
//!
//! ```text
//! primal   maximize tr Q       Q ⪰ 0,  s[e] = 1 − a[e]ᵀ Q a[e] ≥ 0
//! dual     minimize Σ w[e]     w ≥ 0,  Z = Σ w[e] a[e] a[e]ᵀ − I ⪰ 0
//! ```
//!
//! Both sides are feasible from the start and stay so, and their difference is Σ w s + tr QZ. A step solves the
//! m(m+1)/2 equations of w[e] s[e] = μ and ZQ = μI, linearized:
//!
//! ```text
//! Σ (w/s) (aᵀ dQ a) a aᵀ + ½ (Z dQ Q⁻¹ + Q⁻¹ dQ Z) = I + μ Q⁻¹ − Σ (μ/s) a aᵀ
//! ```
//!
//! once for μ = 0 and once more, with the same factor, for the μ that this promises and the second-order terms that it
//! left.
//!
//! C. Helmberg, F. Rendl, R. J. Vanderbei, H. Wolkowicz. An interior-point method for semidefinite programming. SIAM J.
//! Optimization 6(2), 1996 (the direction). S. Mehrotra. On the implementation of a primal-dual interior point method.
//! SIAM J. Optimization 2(4), 1992 (the two solves).

use eigenfold_linalg::dense::cholesky::{Positive, add_gram};
use eigenfold_linalg::dense::{inner, parts, product, symmetric_eigen};
use faer::{Mat, MatRef};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// The fraction of the way to the boundary that a step goes.
const DAMPING: f64 = 0.95;
/// The maximum number of steps; about twenty are usual.
const STEPS: usize = 80;

/// A primal-dual pair of feasible points.
pub(crate) struct Solved {
    pub(crate) q: Mat<f64>,
    pub(crate) w: Vec<f64>,
    pub(crate) steps: usize,
}

/// Solves both problems to a relative gap, or as accurately as rounding allows; the constraints are the rows of `a`.
///
/// `None` if the constraints leave the trace unbounded: their rows do not span all directions.
pub(crate) fn largest_trace(a: MatRef<'_, f64>, tolerance: f64) -> Option<Solved> {
    let (count, m) = (a.nrows(), a.ncols());
    let products = products_of(a);
    let longest = (0..count).map(|e| squares(a, e)).fold(0.0, f64::max);
    let mut q = Mat::from_fn(m, m, |i, j| if i == j { 0.5 / longest } else { 0.0 });
    let mut w: Vec<f64> = slacks(a, &q).iter().map(|s| 1.0 / s).collect();
    let least = *symmetric_eigen(weighted(a, &w).as_ref()).ok()?.0.last()?;
    if least.is_nan() || least <= 1e-12 * w.iter().sum::<f64>() * longest {
        return None;
    }
    w.iter_mut().for_each(|w| *w *= 2.0 / least);
    for steps in 0..STEPS {
        let bound: f64 = w.iter().sum();
        if bound - trace(&q) <= tolerance * bound {
            return Some(Solved { q, w, steps });
        }
        let Some((dq, dw)) = step(a, &products, &q, &w) else { return Some(Solved { q, w, steps }) };
        q += &dq;
        w.iter_mut().zip(dw).for_each(|(w, d)| *w += d);
    }
    Some(Solved { q, w, steps: STEPS })
}

/// One step of both points, to be added; `None` if one of them is no longer positive because of rounding.
fn step(a: MatRef<'_, f64>, products: &Mat<f64>, q: &Mat<f64>, w: &[f64]) -> Option<(Mat<f64>, Vec<f64>)> {
    let (count, m) = (a.nrows(), a.ncols());
    let z = weighted(a, w) - Mat::<f64>::identity(m, m);
    let s = slacks(a, q);
    let (q_factor, z_factor) = (Positive::factor(q.clone())?, Positive::factor(z.clone())?);
    let mut inverse = Mat::identity(m, m);
    q_factor.solve(inverse.as_mut());
    let order = (count + m) as f64;
    let mu = (w.iter().zip(&s).map(|(w, s)| w * s).sum::<f64>() + product_trace(q, &z)) / order;

    let mut hessian = second_derivative(&z, &inverse);
    let roots = Mat::from_fn(products.nrows(), count, |p, e| products[(p, e)] * (w[e] / s[e]).sqrt());
    add_gram(hessian.as_mut(), roots.as_ref(), 1.0, parts(products.nrows()));
    let hessian = Positive::factor(hessian)?;
    // The direction to w s = μ − c and ZQ = μI − C.
    let direction = |mu: f64, c: &[f64], correction: &Mat<f64>| {
        let pull: Vec<f64> = (0..count).map(|e| (mu - c[e]) / s[e]).collect();
        let right = Mat::<f64>::identity(m, m) + faer::Scale(mu) * &inverse - correction - weighted(a, &pull);
        let mut solution = packed(&right);
        hessian.solve(solution.as_mut());
        let dq = unpacked(&solution, m);
        let ds: Vec<f64> = forms(a, &dq).iter().map(|form| -form).collect();
        let dw: Vec<f64> = (0..count).map(|e| pull[e] - w[e] - w[e] / s[e] * ds[e]).collect();
        (dq, ds, dw)
    };
    let reach = |dq: &Mat<f64>, ds: &[f64], dw: &[f64], dz: &Mat<f64>| {
        let primal = reach_of(&s, ds).min(reach_within(&q_factor, dq));
        (primal.min(1.0 / DAMPING), reach_of(w, dw).min(reach_within(&z_factor, dz)).min(1.0 / DAMPING))
    };

    let (dq, ds, dw) = direction(0.0, &vec![0.0; count], &Mat::zeros(m, m));
    let dz = weighted(a, &dw);
    let (primal, dual) = reach(&dq, &ds, &dw, &dz);
    let (primal, dual) = (primal.min(1.0), dual.min(1.0));
    let left = (0..count).map(|e| (w[e] + dual * dw[e]) * (s[e] + primal * ds[e])).sum::<f64>()
        + product_trace(&(q + faer::Scale(primal) * &dq), &(&z + faer::Scale(dual) * &dz));
    let target = mu * (left / (order * mu)).clamp(0.0, 1.0).powi(3).max(1e-6);

    let second: Vec<f64> = dw.iter().zip(&ds).map(|(dw, ds)| dw * ds).collect();
    let half = &dz * &dq * &inverse;
    let correction = Mat::from_fn(m, m, |i, j| 0.5 * (half[(i, j)] + half[(j, i)]));
    let (dq, ds, dw) = direction(target, &second, &correction);
    let (primal, dual) = reach(&dq, &ds, &dw, &weighted(a, &dw));
    let (primal, dual) = (DAMPING * primal, DAMPING * dual);
    let sound = primal.is_finite() && dual.is_finite() && primal.max(dual) > 1e-8;
    sound.then(|| (faer::Scale(primal) * &dq, dw.iter().map(|d| dual * d).collect()))
}

/// 1 − aᵀQa for every row.
fn slacks(a: MatRef<'_, f64>, q: &Mat<f64>) -> Vec<f64> {
    forms(a, q).iter().map(|form| 1.0 - form).collect()
}

/// aᵀQa for every row.
pub(crate) fn forms(a: MatRef<'_, f64>, q: &Mat<f64>) -> Vec<f64> {
    let image = product(a, q.as_ref());
    (0..a.nrows()).map(|e| (0..a.ncols()).map(|i| image[(e, i)] * a[(e, i)]).sum()).collect()
}

/// Σ w a aᵀ.
pub(crate) fn weighted(a: MatRef<'_, f64>, w: &[f64]) -> Mat<f64> {
    inner(Mat::from_fn(a.nrows(), a.ncols(), |e, i| w[e] * a[(e, i)]).as_ref(), a)
}

fn squares(a: MatRef<'_, f64>, e: usize) -> f64 {
    (0..a.ncols()).map(|i| a[(e, i)].powi(2)).sum()
}

pub(crate) fn trace(q: &Mat<f64>) -> f64 {
    (0..q.nrows()).map(|i| q[(i, i)]).sum()
}

fn product_trace(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (0..a.nrows()).map(|i| (0..a.ncols()).map(|j| a[(i, j)] * b[(i, j)]).sum::<f64>()).sum()
}

/// The indices of the lower triangle, row by row.
fn places(m: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..m).flat_map(|i| (0..=i).map(move |j| (i, j)))
}

/// A symmetric matrix as a vector with the same inner products: off-diagonal entries are multiplied by √2.
fn packed(x: &Mat<f64>) -> Mat<f64> {
    let entry = |(i, j): (usize, usize)| if i == j { x[(i, i)] } else { FRAC_1_SQRT_2 * (x[(i, j)] + x[(j, i)]) };
    let entries: Vec<f64> = places(x.nrows()).map(entry).collect();
    Mat::from_fn(entries.len(), 1, |p, _| entries[p])
}

fn unpacked(x: &Mat<f64>, m: usize) -> Mat<f64> {
    let mut out = Mat::zeros(m, m);
    for (p, (i, j)) in places(m).enumerate() {
        let value = if i == j { x[(p, 0)] } else { FRAC_1_SQRT_2 * x[(p, 0)] };
        (out[(i, j)], out[(j, i)]) = (value, value);
    }
    out
}

/// a aᵀ packed, one column per row of `a`.
fn products_of(a: MatRef<'_, f64>) -> Mat<f64> {
    let all: Vec<(usize, usize)> = places(a.ncols()).collect();
    Mat::from_fn(all.len(), a.nrows(), |p, e| {
        let (i, j) = all[p];
        a[(e, i)] * a[(e, j)] * if i == j { 1.0 } else { SQRT_2 }
    })
}

/// dQ ↦ ½ (Z dQ R + R dQ Z) on packed matrices, the lower triangle.
fn second_derivative(z: &Mat<f64>, r: &Mat<f64>) -> Mat<f64> {
    let all: Vec<(usize, usize)> = places(z.nrows()).collect();
    let share = |(i, j): (usize, usize)| if i == j { 0.5 } else { FRAC_1_SQRT_2 };
    Mat::from_fn(all.len(), all.len(), |p, q| {
        if q > p {
            return 0.0;
        }
        let ((i, j), (k, l)) = (all[p], all[q]);
        let sum = z[(j, k)] * r[(l, i)] + z[(j, l)] * r[(k, i)] + z[(i, k)] * r[(l, j)] + z[(i, l)] * r[(k, j)];
        share(all[p]) * share(all[q]) * sum
    })
}

/// The largest t with x + t d ≥ 0.
fn reach_of(x: &[f64], d: &[f64]) -> f64 {
    x.iter().zip(d).filter(|(_, d)| **d < 0.0).map(|(x, d)| -x / d).fold(f64::INFINITY, f64::min)
}

/// The largest t with LLᵀ + t D ⪰ 0.
fn reach_within(factor: &Positive, d: &Mat<f64>) -> f64 {
    let mut half = d.clone();
    factor.solve_lower(half.as_mut(), faer::Par::Seq);
    let mut whole = half.transpose().to_owned();
    factor.solve_lower(whole.as_mut(), faer::Par::Seq);
    match symmetric_eigen(whole.as_ref()).ok().and_then(|(values, _)| values.last().copied()) {
        Some(least) if least < 0.0 => -1.0 / least,
        Some(_) => f64::INFINITY,
        None => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_inner_products_and_the_second_derivative_is_the_product() {
        let entry = |i: usize, j: usize| ((i + j) * 7 % 5) as f64 + (i * j) as f64;
        let x = Mat::from_fn(4, 4, entry);
        let y = Mat::from_fn(4, 4, |i, j| entry(i + 1, j + 1));
        assert!((product_trace(&x, &y) - (packed(&x).transpose() * packed(&y))[(0, 0)]).abs() < 1e-12);
        assert!((unpacked(&packed(&x), 4) - &x).norm_max() < 1e-14);
        let (z, r) = (Mat::from_fn(4, 4, |i, j| entry(i + 2, j + 2)), Mat::from_fn(4, 4, |i, j| entry(i + 3, j + 3)));
        let lower = second_derivative(&z, &r);
        let full = Mat::from_fn(10, 10, |p, q| lower[(p.max(q), p.min(q))]);
        let half = &z * &y * &r;
        let expected = packed(&Mat::from_fn(4, 4, |i, j| 0.5 * (half[(i, j)] + half[(j, i)])));
        assert!((full * packed(&y) - expected).norm_max() < 1e-9);
    }

    #[test]
    fn bounds_along_the_axes_are_met_one_by_one() {
        // Q[i,i] ≤ 1/(1 + i)² are the only constraints.
        let a = Mat::from_fn(3, 3, |e, i| if e == i { (1 + i) as f64 } else { 0.0 });
        let solved = largest_trace(a.as_ref(), 1e-9).unwrap();
        let exact = 1.0 + 0.25 + 1.0 / 9.0;
        assert!((trace(&solved.q) - exact).abs() < 1e-8 * exact, "{}", trace(&solved.q));
        assert!((solved.w.iter().sum::<f64>() - exact).abs() < 1e-8 * exact);
        assert!(largest_trace(a.subrows(0, 2), 1e-9).is_none());
    }
}
