//! Known likelihoods, slopes by differences, EM that never falls, and posteriors that cover.

use super::fa::Fa;
use super::fit::{Fit, Sums};
use super::ppca::{LatentSolver, Ppca};
use crate::io::{self, ReadOptions};
use crate::place::Latent;
use crate::points::Points;
use crate::progress::Silent;
use crate::{Method, Model, Recipe};
use proptest::prelude::*;

fn iris() -> Points {
    io::read("iris", &ReadOptions::default()).unwrap().points
}

/// Without the cells (i, j) with (7 i + 3 j) mod 11 = 0, counted from 0.
fn masked(points: &Points) -> Points {
    let (n, p) = (points.rows(), points.cols());
    let cell =
        |at: usize| if (7 * (at / p) + 3 * (at % p)).is_multiple_of(11) { f64::NAN } else { points.values()[at] };
    Points::with_missing(n, p, (0..n * p).map(cell).collect()).unwrap()
}

fn fitted(method: impl Into<Method>, dims: usize, points: &Points) -> Model {
    Recipe { method: method.into(), dims, ..Recipe::default() }.fit(points).unwrap()
}

fn figure(model: &Model, name: &str) -> f64 {
    model.report().figures.iter().find(|(known, _)| known == name).unwrap().1
}

fn em() -> Ppca {
    Ppca { solver: LatentSolver::Em, tolerance: 1e-15, ..Ppca::default() }
}

/// Numbers from −1 to 1 that look random, by the mixing of splitmix64.
fn noise(i: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A normal number: twelve uniform ones, their sum.
fn normal(i: usize) -> f64 {
    (0..12).map(|k| noise(12 * i + k)).sum::<f64>() / 2.0
}

/// Made with a few lines of numpy: the closed form, and EM of the masked data polished by L-BFGS.
#[test]
fn iris_has_its_known_likelihoods() {
    let whole = fitted(Ppca::default(), 2, &iris());
    assert!((figure(&whole, "noise") - 0.0506821478647968).abs() < 1e-12);
    assert!((figure(&whole, "field_log_likelihood") + 404.962780156111).abs() < 1e-8);
    for method in [Ppca::default(), em()] {
        let part = fitted(method, 1, &masked(&iris()));
        assert_eq!(figure(&part, "missing_cells"), 54.0);
        assert!((figure(&part, "noise") - 0.117250774332).abs() < 1e-6, "{}", figure(&part, "noise"));
        let found = figure(&part, "field_log_likelihood");
        assert!((found + 447.7625727207).abs() < 1e-6, "{found}");
    }
}

#[test]
fn em_ends_where_the_closed_form_is() {
    let points = iris();
    let (closed, steps) = (fitted(Ppca::default(), 2, &points), fitted(em(), 2, &points));
    let [a, b] = [&closed, &steps].map(|model| figure(model, "field_log_likelihood"));
    assert!((a - b).abs() < 1e-6 && b <= a + 1e-9, "{a} {b}");
    let apart = closed.embedding().values().iter().zip(steps.embedding().values());
    assert!(apart.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-3);
}

/// Where two features share what a third knows nothing of, the model is known: loadings and noises of the simulation.
#[test]
fn factor_analysis_finds_the_noise_of_every_feature() {
    let (n, p) = (1500, 6);
    let loading = [1.0, -0.8, 0.6, 1.2, 0.5, 0.9];
    let own = [0.1, 0.4, 0.9, 0.2, 1.5, 0.3];
    let value = |at: usize| {
        let (i, j) = (at / p, at % p);
        3.0 + loading[j] * normal(i * 7) + f64::sqrt(own[j]) * normal(i * 7 + 1 + j)
    };
    let points = Points::new(n, p, (0..n * p).map(value).collect()).unwrap();
    for method in [Fa::default(), Fa { solver: LatentSolver::Em, tolerance: 1e-11, ..Fa::default() }] {
        for points in [&points, &masked(&points)] {
            let model = fitted(method.clone(), 1, points);
            let latent = model.latent().unwrap();
            for j in 0..p {
                assert!((latent.loadings[j].abs() - loading[j].abs()).abs() < 0.1, "{latent:?}");
                assert!((latent.noise[j] - own[j]).abs() < 0.16, "{latent:?}");
            }
            // 68 and 95 of 100 hidden coordinates are within one and two of their deviations.
            let sign = latent.loadings[0].signum();
            let posteriors = model.posteriors(points).unwrap();
            let within = |times: f64| {
                let near = |(i, posterior): (usize, &crate::place::Posterior)| {
                    (sign * posterior.mean[0] - normal(i * 7)).abs() < times * posterior.covariance[0].sqrt()
                };
                posteriors.iter().enumerate().filter(|&at| near(at)).count() as f64 / n as f64
            };
            assert!((within(1.0) - 0.683).abs() < 0.03 && (within(1.96) - 0.95).abs() < 0.03, "{}", within(1.0));
            // So are the missing cells, by their own deviations.
            let mut covered = [0.0, 0.0];
            for (i, posterior) in posteriors.iter().enumerate() {
                for (j, (guess, deviation)) in points.missing_of(i).zip(latent.guesses(points.missing_of(i), posterior))
                {
                    let off = (value(i * p + j) - guess).abs() / deviation;
                    covered[0] += f64::from(u8::from(off < 1.0));
                    covered[1] += f64::from(u8::from(off < 1.96));
                }
            }
            let cells = points.missing().len() as f64;
            if cells > 0.0 {
                assert!((covered[0] / cells - 0.683).abs() < 0.03 && (covered[1] / cells - 0.95).abs() < 0.03);
            }
        }
    }
}

#[test]
fn units_of_the_features_change_no_factor() {
    let points = iris();
    let scales = [2f64.powi(-300), 1.0, 2f64.powi(400), 4.0];
    let values = points.values().iter().enumerate().map(|(at, x)| x * scales[at % 4]).collect();
    let scaled = Points::new(150, 4, values).unwrap();
    let [a, b] = [&points, &scaled].map(|points| fitted(Fa::default(), 1, points));
    let apart = a.embedding().values().iter().zip(b.embedding().values()).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 1e-9);
}

#[test]
fn slopes_are_those_of_the_likelihood() {
    let points = masked(&iris());
    let latent = Latent {
        mean: vec![5.0, 3.1, 3.5, 1.3],
        loadings: vec![0.7, -0.1, 0.2, 0.3, 1.5, 0.4, 0.6, -0.2],
        noise: vec![0.2, 0.1, 0.3, 0.05],
    };
    let sums = Sums::of(&latent, &points).unwrap();
    let slope = |change: &dyn Fn(&mut Latent, f64)| {
        let at = |h: f64| {
            let mut moved = latent.clone();
            change(&mut moved, h);
            Sums::of(&moved, &points).unwrap().log_likelihood
        };
        (at(1e-5) - at(-1e-5)) / 2e-5
    };
    let near = |found: f64, slope: f64| assert!((found - slope).abs() < 1e-5 * (1.0 + slope.abs()), "{found} {slope}");
    for j in 0..4 {
        near(sums.mean[j], slope(&|latent, h| latent.mean[j] += h));
        near(sums.noise[j], slope(&|latent, h| latent.noise[j] *= h.exp()));
    }
    for at in 0..8 {
        near(sums.loadings[at], slope(&|latent, h| latent.loadings[at] += h));
    }
}

#[test]
fn rows_and_columns_of_which_nothing_is_known_are_placed_or_refused() {
    let nan = f64::NAN;
    let mut rows: Vec<Vec<f64>> = (0..40).map(|i| (0..3).map(|j| normal(3 * i + j)).collect()).collect();
    rows[7] = vec![nan; 3];
    let points = |rows: &[Vec<f64>]| Points::with_missing(rows.len(), 3, rows.concat());
    for method in [Method::from(Ppca::default()), Method::from(em()), Method::from(Fa::default())] {
        let model = fitted(method, 1, &points(&rows).unwrap());
        assert_eq!(model.embedding().row(7), [0.0]);
        assert!(
            model.report().warnings.iter().any(|w| w.contains("no observed cell")),
            "{:?}",
            model.report().warnings
        );
    }
    rows.iter_mut().for_each(|row| row[1] = nan);
    assert!(points(&rows).unwrap_err().to_string().contains("nothing was observed of column 2"));
    let refused = |dims: usize| Recipe { method: Ppca::default().into(), dims, ..Recipe::default() }.fit(&iris());
    assert!(refused(4).unwrap_err().to_string().contains("leave no noise"));
    let line = Points::new(9, 3, (0..27).map(|at| (at / 3) as f64).collect()).unwrap();
    let model = fitted(Ppca::default(), 1, &line);
    assert!(model.report().warnings.iter().any(|w| w.contains("no maximum")), "{:?}", model.report().warnings);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn em_never_falls(seed in 0usize..1000, own_noise in any::<bool>(), hidden in 0.0..0.5f64, dims in 1usize..3) {
        let (n, p) = (30, 5);
        let gone = |at: usize| at >= p && noise(seed * 7777 + at + 40_000).abs() < hidden;
        let value = |at: usize| normal(seed * 1000 + at) + 2.0 * normal(seed * 1000 + 700 + at / p);
        let values = (0..n * p).map(|at| if gone(at) { f64::NAN } else { value(at) }).collect();
        let points = Points::with_missing(n, p, values).unwrap();
        let fit = Fit { dims, own_noise, em: true, tolerance: 1e-15, max_iterations: 60, seed: 0 };
        let curve = fit.of(&points, &Silent).unwrap().curve;
        for pair in curve.windows(2) {
            prop_assert!(pair[1] >= pair[0] - 1e-9 * pair[0].abs(), "{} {}", pair[0], pair[1]);
        }
    }
}
