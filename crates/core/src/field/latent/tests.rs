//! Tests of the latent models: known likelihoods, gradients by differences, monotone EM, and the coverage of
//! posteriors.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::covariance::Covariance;
use super::fa::Fa;
use super::fit::Fit;
use super::passes::RowTerms;
use super::ppca::{LatentSolver, Ppca};
use super::scaled::Scaled;
use super::sums::Sums;
use crate::extend::Latent;
use crate::input::moments::Moments;
use crate::{Method, Model, Recipe};
use eigenfold_graph::points::Points;
use eigenfold_io::ReadOptions;
use eigenfold_linalg::progress::Silent;
use proptest::prelude::*;

fn iris() -> Points {
    eigenfold_io::read("iris", &ReadOptions::default()).unwrap().points
}

/// Without the cells (i, j) with (7 i + 3 j) mod 11 = 0, counted from 0.
fn masked(points: &Points) -> Points {
    let (n, p) = (points.rows(), points.cols());
    let cell =
        |at: usize| if (7 * (at / p) + 3 * (at % p)).is_multiple_of(11) { f64::NAN } else { points.values()[at] };
    Points::with_missing(n, p, (0..n * p).map(cell).collect()).unwrap()
}

fn fitted(method: impl Into<Method>, dims: usize, points: &Points) -> Model {
    Recipe { method: method.into(), dims, ..Recipe::default() }
        .fit(points, &eigenfold_linalg::progress::Silent)
        .unwrap()
}

fn figure(model: &Model, name: &str) -> f64 {
    model.report().figures.iter().find(|(known, _)| known.name() == name).unwrap().1
}

fn em() -> Ppca {
    Ppca { solver: LatentSolver::Em, tolerance: 1e-15, ..Ppca::default() }
}

/// Pseudorandom numbers from −1 to 1, by the mixing function of splitmix64.
fn noise(i: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// An approximately normal number: the sum of twelve uniform ones.
fn normal(i: usize) -> f64 {
    (0..12).map(|k| noise(12 * i + k)).sum::<f64>() / 2.0
}

/// Made with a few lines of numpy: the closed form, and EM of the masked data polished by L-BFGS.
#[test]
fn iris_has_its_known_likelihoods() {
    let whole = fitted(Ppca::default(), 2, &iris());
    assert!((figure(&whole, "noise") - 0.0506821478647968).abs() < 1e-12);
    assert!((figure(&whole, "log_likelihood") + 404.962780156111).abs() < 1e-8);
    for method in [Ppca::default(), em()] {
        let part = fitted(method, 1, &masked(&iris()));
        assert_eq!(figure(&part, "missing_cells"), 54.0);
        assert!((figure(&part, "noise") - 0.117250774332).abs() < 1e-6, "{}", figure(&part, "noise"));
        let found = figure(&part, "log_likelihood");
        assert!((found + 447.7625727207).abs() < 1e-6, "{found}");
    }
}

#[test]
fn em_ends_where_the_closed_form_is() {
    let points = iris();
    let (closed, steps) = (fitted(Ppca::default(), 2, &points), fitted(em(), 2, &points));
    let [a, b] = [&closed, &steps].map(|model| figure(model, "log_likelihood"));
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
            // About 68 % and 95 % of the latent coordinates are within one and two standard deviations.
            let sign = latent.loadings[0].signum();
            let posteriors = model.posteriors(points).unwrap();
            let within = |times: f64| {
                let near = |(i, posterior): (usize, &crate::extend::Posterior)| {
                    (sign * posterior.mean[0] - normal(i * 7)).abs() < times * posterior.covariance[0].sqrt()
                };
                posteriors.iter().enumerate().filter(|&at| near(at)).count() as f64 / n as f64
            };
            assert!((within(1.0) - 0.683).abs() < 0.03 && (within(1.96) - 0.95).abs() < 0.03, "{}", within(1.0));
            // So are the missing cells.
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
    let scales = [2f64.powi(-150), 1.0, 2f64.powi(180), 4.0];
    let values = points.values().iter().enumerate().map(|(at, x)| x * scales[at % 4]).collect();
    let scaled = Points::new(150, 4, values).unwrap();
    let [a, b] = [&points, &scaled].map(|points| fitted(Fa::default(), 1, points));
    let apart = a.embedding().values().iter().zip(b.embedding().values()).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 1e-9);
}

#[test]
fn gradients_are_those_of_the_likelihood() {
    let points = masked(&iris());
    let latent = Latent {
        mean: vec![5.0, 3.1, 3.5, 1.3],
        loadings: vec![0.7, -0.1, 0.2, 0.3, 1.5, 0.4, 0.6, -0.2],
        noise: vec![0.2, 0.1, 0.3, 0.05],
    };
    let sums = Sums::of(&latent, &points).unwrap();
    let derivative = |change: &dyn Fn(&mut Latent, f64)| {
        let at = |h: f64| {
            let mut moved = latent.clone();
            change(&mut moved, h);
            Sums::of(&moved, &points).unwrap().log_likelihood
        };
        (at(1e-5) - at(-1e-5)) / 2e-5
    };
    let near = |found: f64, derivative: f64| {
        assert!((found - derivative).abs() < 1e-5 * (1.0 + derivative.abs()), "{found} {derivative}")
    };
    for j in 0..4 {
        near(sums.mean[j], derivative(&|latent, h| latent.mean[j] += h));
        near(sums.noise[j], derivative(&|latent, h| latent.noise[j] *= h.exp()));
    }
    for at in 0..8 {
        near(sums.loadings[at], derivative(&|latent, h| latent.loadings[at] += h));
    }
}

/// The terms of [`RowTerms`] row by row, and the moments of complete rows, sum up to what the rows do.
#[test]
fn terms_and_moments_sum_up_to_the_sums_of_the_rows() {
    let latent = Latent {
        mean: vec![0.1, -0.2, 0.3, 0.0],
        loadings: vec![0.7, -0.1, 0.2, 0.3, 1.5, 0.4, 0.6, -0.2],
        noise: vec![0.2, 0.1, 0.3, 0.05],
    };
    let near = |found: &Sums, sums: &Sums| {
        let all = |sums: &Sums| [&[sums.log_likelihood], &sums.mean[..], &sums.loadings, &sums.noise].concat();
        let (found, sums) = (all(found), all(sums));
        let most = sums.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        assert!(found.iter().zip(&sums).all(|(a, b)| (a - b).abs() < 1e-12 * most), "{found:?} {sums:?}");
    };
    let whole = Scaled::new(&iris(), true).unwrap();
    let moments = Moments {
        count: 150,
        mean: iris().column_means(),
        covariance: {
            let x = |i: usize, j: usize| iris().row(i)[j] - iris().column_means()[j];
            let product = |j: usize, k: usize| (0..150).map(|i| x(i, j) * x(i, k)).sum::<f64>() / 150.0;
            (0..16).map(|at| product(at / 4, at % 4)).collect()
        },
    };
    let covariance = Covariance::new(&moments, &moments.variances(), true).unwrap();
    near(&covariance.sums(&latent).unwrap(), &Sums::of(&latent, &whole.points).unwrap());

    let part = Scaled::new(&masked(&iris()), true).unwrap();
    let terms = RowTerms::new(&part.units, None, latent.clone());
    let cell = |at: usize| if masked(&iris()).is_missing(at / 4, at % 4) { f64::NAN } else { iris().values()[at] };
    let each = terms.of(&(0..600).map(cell).collect::<Vec<_>>()).unwrap();
    let found: Vec<f64> = (0..terms.count()).map(|term| each.iter().skip(term).step_by(terms.count()).sum()).collect();
    near(&terms.sums(&found).unwrap().unwrap(), &Sums::of(&latent, &part.points).unwrap());
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
            model.report().warnings.iter().any(|w| w.message().contains("no observed cell")),
            "{:?}",
            model.report().warnings
        );
    }
    rows.iter_mut().for_each(|row| row[1] = nan);
    assert!(points(&rows).unwrap_err().to_string().contains("column 2 has no observed cell"));
    let refused = |dims: usize| {
        Recipe { method: Ppca::default().into(), dims, ..Recipe::default() }
            .fit(&iris(), &eigenfold_linalg::progress::Silent)
    };
    assert!(refused(4).unwrap_err().to_string().contains("leave no noise"));
    let line = Points::new(9, 3, (0..27).map(|at| (at / 3) as f64).collect()).unwrap();
    let model = fitted(Ppca::default(), 1, &line);
    assert!(
        model.report().warnings.iter().any(|w| w.message().contains("no maximum")),
        "{:?}",
        model.report().warnings
    );
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

/// Every pattern of missing cells of a row, the row without any cell too: the latent coordinates and the missing cells are
/// those of the joint Gaussian of (z, x), conditioned on the observed cells by its dense covariance.
#[test]
fn every_pattern_of_missing_cells_is_conditioned_on_exactly() {
    let model = fitted(
        Fa::default(),
        2,
        &Points::new(60, 5, (0..300).map(|at| normal(at) + 2.0 * normal(900 + at / 5)).collect()).unwrap(),
    );
    let latent = model.latent().unwrap();
    let (p, q) = (5, 2);
    // The covariance of (z, x), from the model alone.
    let shared =
        |j: usize, k: usize| (0..q).map(|a| latent.loadings[j * q + a] * latent.loadings[k * q + a]).sum::<f64>();
    let joint = |a: usize, b: usize| match (a < q, b < q) {
        (true, true) => f64::from(u8::from(a == b)),
        (true, false) => latent.loadings[(b - q) * q + a],
        (false, true) => latent.loadings[(a - q) * q + b],
        (false, false) => shared(a - q, b - q) + if a == b { latent.noise[a - q] } else { 0.0 },
    };
    for pattern in 0..1usize << p {
        let (gone, seen): (Vec<usize>, Vec<usize>) = (0..p).partition(|j| pattern >> j & 1 == 1);
        let x: Vec<f64> = (0..p).map(|j| if gone.contains(&j) { f64::NAN } else { normal(77 + j) }).collect();
        // A second row that has every cell, since no column may be empty.
        let rows = Points::with_missing(2, p, [x.clone(), vec![0.5; p]].concat()).unwrap();
        let (full, deviations) = latent.complete(&rows).unwrap();
        let posterior = &model.posteriors(&rows).unwrap()[0];
        // E[a | x] = Σ(a, o) Σ(o, o)⁻¹ (x − μ), var = Σ(a, a) − Σ(a, o) Σ(o, o)⁻¹ Σ(o, a).
        let d = seen.len();
        let conditioned = |a: usize| {
            let across: Vec<f64> = seen.iter().map(|&j| joint(a, q + j)).collect();
            let mut matrix: Vec<f64> = (0..d * d).map(|at| joint(q + seen[at / d], q + seen[at % d])).collect();
            let mut weights = across.clone();
            assert!(d == 0 || eigenfold_linalg::dense::small::solve_positive_definite(&mut matrix, &mut weights));
            let mean: f64 = weights.iter().zip(&seen).map(|(w, &j)| w * (x[j] - latent.mean[j])).sum();
            (mean, joint(a, a) - weights.iter().zip(&across).map(|(w, c)| w * c).sum::<f64>())
        };
        for a in 0..q {
            let (mean, variance) = conditioned(a);
            let (found, spread) = (posterior.mean[a], posterior.covariance[a * q + a]);
            assert!((found - mean).abs() < 1e-10 && (spread - variance).abs() < 1e-10, "{pattern:05b}: {found} {mean}");
        }
        for (at, &j) in gone.iter().enumerate() {
            let (mean, variance) = conditioned(q + j);
            let (found, deviation) = (full.row(0)[j] - latent.mean[j], deviations[at]);
            assert!((found - mean).abs() < 1e-10 && (deviation - variance.sqrt()).abs() < 1e-10, "{pattern:05b}: {j}");
        }
    }
}

/// Two points, one feature, as many coordinates as features or more, constant columns, points that all coincide: a map
/// of finite numbers, or a one-line error with a suggestion.
#[test]
fn data_at_the_edge_give_a_map_or_a_reason() {
    let linear = crate::Kernel::Linear;
    let methods: [Method; 7] = [
        Ppca::default().into(),
        em().into(),
        Fa::default().into(),
        crate::Ppco::default().into(),
        crate::Ppco { kernel: linear, ..crate::Ppco::default() }.into(),
        crate::Pkpca::default().into(),
        crate::Pkpca { kernel: linear, ..crate::Pkpca::default() }.into(),
    ];
    let table = |n: usize, p: usize, cell: &dyn Fn(usize, usize) -> f64| {
        Points::new(n, p, (0..n * p).map(|at| cell(at / p, at % p)).collect()).unwrap()
    };
    let some = |i: usize, j: usize| normal(31 * i + j);
    let cases = [
        ("two points", table(2, 3, &some), 1),
        ("one feature", table(30, 1, &some), 1),
        ("as many coordinates as features", table(30, 3, &some), 3),
        ("more coordinates than features", table(30, 3, &some), 4),
        ("a constant column", table(30, 4, &|i, j| if j == 2 { 7.5 } else { some(i, j) }), 2),
        ("constant columns but one", table(30, 4, &|i, j| if j == 2 { some(i, j) } else { -1e6 }), 1),
        ("the same point", table(30, 4, &|_, j| j as f64), 2),
        ("two places", table(30, 4, &|i, j| (i % 2 * (j + 1)) as f64), 2),
        ("tiny", table(30, 4, &|i, j| 1e-55 * some(i, j)), 2),
        ("huge", table(30, 4, &|i, j| 1e55 * some(i, j)), 2),
    ];
    for (name, points, dims) in &cases {
        for method in &methods {
            let label = format!("{name}, {method:?}");
            match (Recipe { method: method.clone(), dims: *dims, ..Recipe::default() })
                .fit(points, &eigenfold_linalg::progress::Silent)
            {
                Ok(model) => {
                    assert!(model.embedding().values().iter().all(|y| y.is_finite()), "{label}");
                    assert!(model.transform(points).unwrap().values().iter().all(|y| y.is_finite()), "{label}");
                }
                Err(error) => {
                    let text = error.to_string();
                    // Only a model of the cells needs noise in them.
                    let of_cells = ["ppca", "fa"].contains(&method.info().name);
                    let known = text.contains("all points are equal") || of_cells && text.contains("leave no noise");
                    assert!(known, "{label}: {text}");
                    assert!(text.contains("; ") && !text.contains('\n'), "{label}: {text}");
                }
            }
        }
    }
    // Exact where possible: two points are half their distance from the middle, whatever else is fitted.
    let points = table(2, 3, &some);
    let far = crate::Metric::Euclidean.distance(points.row(0), points.row(1));
    let map = fitted(methods[6].clone(), 1, &points);
    assert!(map.embedding().values().iter().all(|y| (y.abs() - 0.5 * far).abs() < 1e-12), "{:?}", map.embedding());
}
