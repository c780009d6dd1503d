//! Tests of probabilistic principal coordinates: Theorem 1 and the convergence of EM.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::field::Task;
use crate::field::latent::em::{Em, State};
use eigenfold_graph::points::Points;
use eigenfold_linalg::Operator;
use eigenfold_linalg::dense::{DenseSymmetric, symmetric_eigen};
use eigenfold_linalg::progress::StopsAfter;
use faer::Mat;
use proptest::prelude::*;

const EXACT: f64 = 1e-12;
const SOLVED: f64 = 1e-8;

/// Numbers without structure, between −½ and ½.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

fn cloud(n: usize, p: usize, seed: u64) -> Points {
    let mut next = noise(seed);
    Points::new(n, p, (0..n * p).map(|_| next()).collect()).unwrap()
}

/// H.
fn centering(n: usize) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| f64::from(i == j) - 1.0 / n as f64)
}

/// H K H of the Gaussian kernel.
fn q_of(points: &Points, bandwidth: f64) -> DenseSymmetric {
    let kernel = Kernel::Gaussian { bandwidth: Some(bandwidth) };
    let n = points.rows();
    let k = Mat::from_fn(n, n, |i, j| kernel.of(points.row(i), points.row(j)));
    let h = centering(n);
    DenseSymmetric(&h * k * &h)
}

fn trace(q: &DenseSymmetric) -> f64 {
    (0..q.dim()).map(|i| q.0[(i, i)]).sum()
}

/// Columns of mean zero.
fn centered(n: usize, dims: usize, seed: u64) -> Mat<f64> {
    let mut next = noise(seed);
    let y = Mat::from_fn(n, dims, |_, _| next());
    &centering(n) * y
}

/// Theorem 1 by a whole eigendecomposition: Y, λ and f.
fn closed_form(q: &DenseSymmetric, dims: usize) -> (Mat<f64>, f64, f64) {
    let (values, vectors) = symmetric_eigen(q.0.as_ref()).unwrap();
    let n = q.dim();
    let left = (n - 1 - dims) as f64;
    let noise = (trace(q) - values[..dims].iter().sum::<f64>()) / left;
    let y = Mat::from_fn(n, dims, |i, j| (values[j] - noise).sqrt() * vectors[(i, j)]);
    let loss = values[..dims].iter().map(|v| v.ln()).sum::<f64>() + left * noise.ln() + (n - 1) as f64;
    (y, noise, loss)
}

/// f by its definition, with a whole eigendecomposition of Y Yᵀ + λ H.
fn defined(q: &DenseSymmetric, y: &Mat<f64>, noise: f64) -> f64 {
    let n = q.dim();
    let h = centering(n);
    let (eta, u) = symmetric_eigen((y * y.transpose() + &h * faer::Scale(noise)).as_ref()).unwrap();
    let along = u.transpose() * &q.0 * &u;
    (0..n - 1).map(|i| eta[i].ln() + along[(i, i)] / eta[i]).sum()
}

/// Theorem 1: f follows its definition, equals the closed form at the optimum, no change of Y and λ lowers it, and its
/// gradient is zero.
#[test]
fn z01_no_other_coordinates_and_noise_have_a_lower_loss() {
    for (n, dims, seed) in [(12, 1, 1), (25, 2, 2), (30, 3, 3)] {
        let q = q_of(&cloud(n, 4, seed), 0.4);
        let em = Em::new(&q, trace(&q));
        let (y, lambda, least) = closed_form(&q, dims);
        let loss = |y: &Mat<f64>, noise: f64| em.loss(&em.state(y.clone(), noise)).unwrap();
        assert!((loss(&y, lambda) - least).abs() < EXACT * least.abs());
        let mut next = noise(seed + 10);
        for change in (0..60).map(|at| 10f64.powi(-(at % 6))) {
            let step = centered(n, dims, (next() * 1e6) as i64 as u64);
            let other = &y + &step * faer::Scale(change * y.norm_max());
            let other_noise = lambda * (change * 2.0 * next()).exp();
            let found = loss(&other, other_noise);
            assert!((found - defined(&q, &other, other_noise)).abs() < 1e-9 * found.abs(), "f is f");
            assert!(found >= least - EXACT * least.abs(), "{found} below {least}");
            let (ahead, behind) = (1e-5, -1e-5);
            let along = |t: f64| loss(&(&y + &step * faer::Scale(t * y.norm_max())), lambda * (t * change).exp());
            let derivative = (along(ahead) - along(behind)) / (ahead - behind);
            assert!(derivative.abs() < 1e-5 * least.abs(), "derivative {derivative}");
        }
    }
}

/// From random starts the iteration ends at the closed form: there are no other local maxima.
#[test]
fn z02_the_iteration_ends_at_the_closed_form_from_random_starts() {
    for seed in 0..10 {
        let q = q_of(&cloud(24, 3, seed), 0.3);
        let (y, lambda, least) = closed_form(&q, 2);
        let em = Em::new(&q, trace(&q));
        let mut state = em.state(centered(24, 2, seed + 100), 0.5);
        for _ in 0..4000 {
            state = em.step(&state).unwrap();
        }
        assert!(em.loss(&state).unwrap() - least < 1e-6, "seed {seed}: {}", em.loss(&state).unwrap() - least);
        assert!((state.noise / lambda - 1.0).abs() < FITTED);
        let off = (&state.y * state.y.transpose() - &y * y.transpose()).norm_max();
        assert!(off < FITTED * y.norm_max().powi(2), "seed {seed}: {off}");
    }
}
const FITTED: f64 = 1e-4;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// f never rises, λ stays positive and 1ᵀY stays 0.
    #[test]
    fn z02_no_step_raises_the_loss(seed in 0u64..1_000_000, dims in 1usize..4, size in -3f64..3.0, lambda in -3f64..2.0) {
        let q = q_of(&cloud(20, 3, seed), 0.4);
        let em = Em::new(&q, trace(&q));
        let start = centered(20, dims, seed + 1) * faer::Scale(10f64.powf(size));
        let mut state: State = em.state(start, 10f64.powf(lambda));
        let mut loss = em.loss(&state).unwrap();
        for _ in 0..30 {
            state = em.step(&state).unwrap();
            let next = em.loss(&state).unwrap();
            prop_assert!(next <= loss + 1e-9 * loss.abs().max(1.0), "{next} after {loss}");
            prop_assert!(state.noise > 0.0);
            let sum = (0..dims).map(|j| state.y.col(j).iter().sum::<f64>().abs()).fold(0.0, f64::max);
            prop_assert!(sum < 1e-10 * state.y.norm_max().max(1e-3));
            loss = next;
        }
    }
}

/// The subspace within γ₃/γ₂ per step, the closed form within it: the eigen-solve's map from both starts.
#[test]
fn the_iteration_with_its_last_step_is_the_eigen_solve() {
    // Longer in one direction than in the next, so that the eigenvalues are apart.
    let scaled = cloud(300, 3, 7).into_values().into_iter().enumerate().map(|(at, x)| x * [9.0, 3.0, 1.0][at % 3]);
    let points = Points::new(300, 3, scaled.collect()).unwrap();
    let site = Site::of((&points).into());
    let eigen = Ppco::default().build(&site).unwrap();
    let Task::Solved(closed) = &eigen.task else { panic!("a map") };
    for start in [EmStart::Sample, EmStart::Pca] {
        let em = Ppco { solver: PpcoSolver::Em, start, tolerance: 1e-10, ..Ppco::default() }.build(&site).unwrap();
        let Task::Solved(found) = &em.task else { panic!("a map") };
        assert!(em.ended.is_converged() && found.iterations > 1, "{start:?}: {}", found.iterations);
        let pairs = found.coordinates.values().iter().zip(closed.coordinates.values());
        let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < SOLVED, "{start:?}: {off}");
        for ((name, a), (_, b)) in em.figures.iter().zip(&eigen.figures) {
            assert!((a / b - 1.0).abs() < SOLVED, "{start:?} {name:?}: {a} {b}");
        }
    }
}

/// As printed, its lengths converge by 1 − 2 (λ/γ)(1 − λ/γ) per step.
#[test]
fn the_printed_iteration_stalls_in_its_lengths() {
    let points = cloud(60, 2, 3);
    let kernel = Kernel::Gaussian { bandwidth: Some(0.3) };
    let fit = |solver, max_iterations| {
        let method = Ppco { kernel, solver, max_iterations, tolerance: 1e-12, ..Ppco::default() };
        method.build(&Site { dims: 1, ..Site::of((&points).into()) }).unwrap()
    };
    let noise = |built: &Built| built.figures[0].1;
    let size = |built: &Built| match &built.task {
        Task::Solved(solved) => solved.coordinates.values().iter().map(|y| y * y).sum::<f64>(),
        _ => 0.0,
    };
    let gamma = |built: &Built| match &built.task {
        Task::Solved(solved) => solved.eigenvalues[0],
        _ => 0.0,
    };
    let eigen = fit(PpcoSolver::Eigen, 1);
    let (lambda, gamma, most) = (noise(&eigen), gamma(&eigen), size(&eigen));
    let error = |steps| {
        let built = fit(PpcoSolver::EmPlain, steps);
        assert!(!built.ended.is_converged() && built.warnings.iter().any(|w| w.message().contains("did not converge")));
        (size(&built).sqrt() - most.sqrt()).abs()
    };
    let part = lambda / gamma;
    let rate = (error(60) / error(40)).powf(1.0 / 20.0);
    assert!((rate - (1.0 - 2.0 * part * (1.0 - part))).abs() < 1e-3, "{rate} {part}");
}

#[test]
fn a_stop_ends_the_iteration_with_what_it_has() {
    let points = cloud(80, 3, 5);
    let watch = StopsAfter::questions(12);
    let site = Site { observer: &watch, ..Site::of((&points).into()) };
    let method = Ppco { solver: PpcoSolver::EmPlain, tolerance: 1e-14, ..Ppco::default() };
    match method.build(&site) {
        Ok(built) => assert!(!built.ended.is_converged()),
        Err(error) => assert!(matches!(error, crate::Error::Stopped)),
    }
}
