//! The likelihood of every kind of field, against dense matrices and closed forms.
use crate::support::*;
use eigenfold::{
    Alle, Disconnected, Likelihood, Method, Meu, Neighbors, Observation, Pca, Points, Recipe, Search, Silent,
    contract::{Field, Site, Task},
};
use faer::Mat;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

fn recipe(method: impl Into<Method>) -> Recipe {
    Recipe { method: method.into(), likelihood: Likelihood::Always, ..Recipe::default() }
}

fn observed(method: impl Into<Method>, points: &Points) -> Observation {
    recipe(method).fit(points, &Silent).unwrap().report().likelihood.unwrap()
}

/// Orthonormal columns orthogonal to the constants, by Helmert.
fn contrasts(n: usize) -> Mat<f64> {
    Mat::from_fn(n, n - 1, |i, j| {
        let length = ((j + 1) as f64 * (j + 2) as f64).sqrt();
        if i <= j { 1.0 / length } else { f64::from(u8::from(i == j + 1)) * -((j + 1) as f64) / length }
    })
}

fn matrix(points: &Points) -> Mat<f64> {
    Mat::from_fn(points.rows(), points.cols(), |i, f| points.row(i)[f])
}

/// The covariance of the contrasts at α² = 1 and σ² = 0, and what the noise is multiplied by: by the definition.
fn shapes(method: &Method, points: &Points) -> (Mat<f64>, Mat<f64>) {
    let n = points.rows();
    let c = contrasts(n);
    let found = Search { neighbors: Neighbors::default(), ..Search::default() }.of_points(points, &Silent).unwrap();
    let site = Site { graph: Some(&found.graph), ..Site::of(points.into()) };
    let identity = Mat::<f64>::identity(n - 1, n - 1);
    let precision = match method.build(&site).unwrap().task {
        Task::Spectral(Field::Precision { matrix, .. } | Field::Definite { matrix, .. }) => matrix,
        Task::Spectral(Field::Root(root)) => root.precision(),
        Task::Spectral(Field::Factor(_) | Field::Covariance(_)) | Task::Descend(_) | Task::Solved(_) => {
            let map = recipe(method.clone()).fit(points, &Silent).unwrap();
            let y = c.transpose() * matrix(map.embedding());
            let k = &y * y.transpose();
            let (_, v) = symmetric_eigen(k.as_ref());
            let v = v.subcols(0, 2);
            return (k, identity - v * v.transpose());
        }
    };
    let b = c.transpose() * precision.to_dense() * &c;
    let (values, v) = symmetric_eigen(b.as_ref());
    let scaled = Mat::from_fn(n - 1, n - 1, |i, q| v[(i, q)] / values[q]);
    (scaled * v.transpose(), identity)
}

/// The log density of the contrasts under α² K + σ² N.
fn dense(shapes: &(Mat<f64>, Mat<f64>), points: &Points, signal: f64, noise: f64) -> f64 {
    let (n, p) = (points.rows(), points.cols());
    let z = contrasts(n).transpose() * matrix(points);
    let covariance = Mat::from_fn(n - 1, n - 1, |i, j| signal * shapes.0[(i, j)] + noise * shapes.1[(i, j)]);
    let (values, vectors) = symmetric_eigen(covariance.as_ref());
    let along = vectors.transpose() * &z;
    let of = |q: usize| p as f64 * values[q].ln() + along.row(q).squared_norm_l2() / values[q];
    -0.5 * ((n - 1) * p) as f64 * std::f64::consts::TAU.ln() - 0.5 * (0..n - 1).map(of).sum::<f64>()
}

/// A roll with noise in the features, and points without structure.
fn inputs() -> [Points; 2] {
    let (roll, noise) = (swiss(40), cloud(40, 3, 5));
    let values = roll.values().iter().zip(noise.values()).map(|(x, e)| x + e).collect();
    [Points::new(40, 3, values).unwrap(), cloud(40, 7, 3)]
}

#[test]
fn every_field_has_the_density_of_its_dense_covariance_and_is_at_its_maximum() {
    for points in inputs() {
        for method in methods() {
            let name = method.info().name;
            let fitted = observed(method.clone(), &points);
            let shapes = shapes(&method, &points);
            let at = |signal: f64, noise: f64| dense(&shapes, &points, signal, noise);
            let here = at(fitted.signal, fitted.noise);
            let error = (fitted.log_likelihood - here).abs() / here.abs().max(1.0);
            assert!(error < SOLVED, "{name}: {} and {here}", fitted.log_likelihood);
            // Derivatives in log α² and log σ², a number at a time; without noise, none would help.
            let numbers = (39 * points.cols()) as f64;
            let h = 1e-4f64;
            let (up, down) = (h.exp(), (-h).exp());
            let derivative =
                (at(fitted.signal * up, fitted.noise) - at(fitted.signal * down, fitted.noise)) / (2.0 * h);
            assert!(derivative.abs() / numbers < FITTED, "{name}: {derivative} in α², {fitted:?}");
            if fitted.noise > 0.0 {
                let derivative =
                    (at(fitted.signal, fitted.noise * up) - at(fitted.signal, fitted.noise * down)) / (2.0 * h);
                assert!(derivative.abs() / numbers < FITTED, "{name}: {derivative} in σ², {fitted:?}");
            } else {
                let spread = fitted.signal * (0..39).map(|i| shapes.0[(i, i)]).fold(f64::MAX, f64::min);
                for part in [1e-3, 1e-1, 1.0, 10.0] {
                    let other = at(fitted.signal, part * spread);
                    assert!(other <= here + 1e-9 * here.abs(), "{name}: noise {part} gives {other}, none {here}");
                }
            }
        }
    }
}

/// Tipping and Bishop 1999, equation (8), of the dual model: the p features are the sample, and the n − 1 directions
/// the variables. −p/2 ((n − 1) (log 2π + 1) + Σ_q log λ[q]/p + (n − 1 − d) log σ²).
#[test]
fn pca_has_the_maximum_of_probabilistic_principal_components() {
    for (points, dims) in [(cloud(30, 9, 1), 3), (swiss(200), 2), (cloud(12, 40, 4), 4)] {
        let (n, p) = (points.rows() as f64, points.cols() as f64);
        let z = contrasts(points.rows()).transpose() * matrix(&points);
        let (values, _) = symmetric_eigen((&z * z.transpose()).as_ref());
        let noise = values[dims..].iter().sum::<f64>() / p / (n - 1.0 - dims as f64);
        let kept: f64 = values[..dims].iter().map(|value| (value / p).ln()).sum();
        let log_det = kept + (n - 1.0 - dims as f64) * noise.ln();
        let closed = -0.5 * p * ((n - 1.0) * (std::f64::consts::TAU.ln() + 1.0) + log_det);
        let model = Recipe { dims, ..recipe(Pca::default()) }.fit(&points, &Silent).unwrap();
        let fitted = model.report().likelihood.unwrap();
        assert!((fitted.log_likelihood / closed - 1.0).abs() < EXACT * 100.0, "{fitted:?} {closed}");
        assert!((fitted.noise / noise - 1.0).abs() < SOLVED && (fitted.signal * p - 1.0).abs() < SOLVED, "{fitted:?}");
    }
}

/// The field's own density is that of the differences from one point, whose volume is √n of that of the contrasts in
/// every feature. At the optimum of meu, and by the construction of alle, the fitted α² is one.
#[test]
fn meu_and_alle_alone_are_the_common_likelihood_without_noise() {
    for points in [swiss(300), cloud(120, 12, 2)] {
        let meu = Meu { tolerance: 1e-9, max_iterations: 5000, ..Meu::default() };
        for method in [Method::Meu(meu), Method::Alle(Alle::default())] {
            let name = method.info().name;
            let model = Recipe { neighbors: Neighbors::Nearest(6), ..recipe(method) }.fit(&points, &Silent).unwrap();
            let report = model.report();
            let own = report.figures.iter().find(|figure| figure.0.name() == "log_likelihood").unwrap().1;
            let shifted = own + 0.5 * points.cols() as f64 * (points.rows() as f64).ln();
            let fitted = report.likelihood.unwrap();
            assert!(fitted.log_likelihood >= shifted - SOLVED * shifted.abs(), "{name}: {fitted:?} {shifted}");
            if fitted.noise == 0.0 {
                assert!((fitted.log_likelihood / shifted - 1.0).abs() < SOLVED, "{name}: {fitted:?} {shifted}");
                assert!((fitted.signal - 1.0).abs() < 1e-6, "{name}: {fitted:?}");
            }
        }
    }
}

#[test]
fn turning_the_features_changes_nothing_and_a_scale_shifts_by_its_logarithm() {
    let points = swiss(110);
    let s = 37.5f64;
    let scaled = Points::new(110, 3, points.values().iter().map(|v| s * v).collect()).unwrap();
    for method in methods() {
        let name = method.info().name;
        if name == "gplvm" {
            continue; // It has many optima, and rounding decides among them.
        }
        let plain = observed(method.clone(), &points).log_likelihood;
        let turned = observed(method.clone(), &rotated(&points)).log_likelihood;
        // fa is about the noise of single features, and after a rotation they are others.
        assert!(name == "fa" || (turned - plain).abs() < 1e-6 * plain.abs(), "{name}: {plain} {turned}");
        let larger = observed(method, &scaled).log_likelihood + (109 * 3) as f64 * s.ln();
        assert!((larger - plain).abs() < 1e-6 * plain.abs(), "{name}: {plain} {larger}");
    }
}

/// A grid is in the free directions of every alignment: no noise-free likelihood has a maximum there.
#[test]
fn points_in_the_free_directions_are_at_the_floor_and_say_so() {
    let rows: Vec<[f64; 3]> = (0..100).map(|i| [(i % 10) as f64, (i / 10) as f64 * 1.1, 0.0]).collect();
    let points = Points::from_rows(&rows).unwrap();
    for name in ["pca", "ltsa"] {
        let model = recipe(Method::from_name(name).unwrap()).fit(&points, &Silent).unwrap();
        let fitted = model.report().likelihood.unwrap();
        assert!(fitted.noise_at_floor && fitted.log_likelihood.is_finite(), "{name}: {fitted:?}");
        assert!(model.report().warnings.iter().any(|w| w.message().contains("no maximum")), "{name}");
    }
    let same = Points::from_rows(&[[1.0, 2.0]; 12]).unwrap();
    let model = Recipe { dims: 1, ..recipe(Pca::default()) }.fit(&same, &Silent).unwrap();
    assert_eq!(model.log_likelihood(), None);
}

#[test]
fn separate_components_add_up_and_single_points_add_nothing() {
    let roll = swiss(60);
    let rows = |shift: f64| (0..60).map(move |i| (i, shift));
    let values: Vec<Vec<f64>> =
        rows(0.0).chain(rows(500.0)).map(|(i, shift)| roll.row(i).iter().map(|x| x + shift).collect()).collect();
    let both = Points::from_rows(&values).unwrap();
    for name in ["laplacian-eigenmaps", "isomap"] {
        let method = Method::from_name(name).unwrap();
        let one = observed(method.clone(), &roll).log_likelihood;
        let model = Recipe { disconnected: Disconnected::Separate, ..recipe(method) }.fit(&both, &Silent).unwrap();
        assert!((model.log_likelihood().unwrap() / (2.0 * one) - 1.0).abs() < SOLVED, "{name}");
        assert_eq!(model.report().likelihood.unwrap().directions, 118);
    }
    // A point that is in no list of neighbors has no mutual neighbors.
    let lonely: Vec<Vec<f64>> = (0..60).map(|i| roll.row(i).to_vec()).chain([vec![900.0; 3]]).collect();
    let lonely = Points::from_rows(&lonely).unwrap();
    let apart = |points: &Points| {
        let method = Method::from_name("laplacian-eigenmaps").unwrap();
        let recipe =
            Recipe { disconnected: Disconnected::Separate, neighbors: Neighbors::Mutual(12), ..recipe(method) };
        recipe.fit(points, &Silent).unwrap()
    };
    let model = apart(&lonely);
    assert_eq!(model.report().graph.components.last(), Some(&1));
    assert_eq!(model.log_likelihood(), apart(&roll).log_likelihood());
}

#[test]
fn expensive_likelihoods_are_left_out_unless_requested() {
    let points = swiss(200);
    let method = Method::from_name("laplacian-eigenmaps").unwrap();
    let with = |likelihood, memory| Recipe { likelihood, memory, ..recipe(method.clone()) }.fit(&points, &Silent);
    assert_eq!(with(Likelihood::Never, None).unwrap().log_likelihood(), None);
    assert_eq!(
        with(Likelihood::Cheap, None).unwrap().log_likelihood(),
        with(Likelihood::Always, None).unwrap().log_likelihood()
    );
    let tight = with(Likelihood::Cheap, Some(20_000)).unwrap();
    assert!(tight.log_likelihood().is_none() && tight.report().likelihood_left_out);
    let error = with(Likelihood::Always, Some(20_000)).unwrap_err().to_string();
    assert!(error.contains("the likelihood's factor needs about") && error.contains("`likelihood`"), "{error}");
}

#[test]
fn left_out_features_have_the_same_density_every_time() {
    let points = cloud(28, 8, 9);
    for method in methods() {
        let name = method.info().name;
        let recipe = recipe(method);
        let first = recipe.held_out(&points, &Silent).unwrap();
        assert_eq!(first, recipe.held_out(&points, &Silent).unwrap(), "{name}");
        assert!(first.log_likelihood.is_finite() && first.by_fold.len() == 5, "{name}: {first:?}");
        assert!((first.by_fold.iter().sum::<f64>() / first.log_likelihood - 1.0).abs() < EXACT, "{name}");
    }
    let few = recipe(Pca::default()).held_out(&swiss(50), &Silent).unwrap_err().to_string();
    assert!(few.contains("of 3 features that vary 1 make the field") && few.contains("`dims` 1"), "{few}");
    for columns in [&[0][..], &[0, 1]] {
        let one = recipe(Pca::default()).held_out(&points.select_columns(columns), &Silent).unwrap_err().to_string();
        assert!(one.contains("0 make the field at a time") && one.ends_with("use more features"), "{one}");
    }
}

/// The field of a fold sees neither the held-out columns nor those that give signal and noise: it is the field of all other
/// columns, and the density has its closed form.
#[test]
fn a_held_out_feature_has_the_density_of_the_field_of_the_others() {
    let points = cloud(40, 8, 8);
    let method = Method::from_name("laplacian-eigenmaps").unwrap();
    let held_out = recipe(method.clone()).held_out(&points, &Silent).unwrap();
    for (at, (left, value)) in held_out.folds.iter().zip(&held_out.by_fold).enumerate() {
        let tuned = &held_out.folds[(at + 1) % 5];
        let made: Vec<usize> = (0..8).filter(|f| !left.contains(f) && !tuned.contains(f)).collect();
        let (k, _) = shapes(&method, &points.select_columns(&made));
        let (lambda, v) = symmetric_eigen(k.as_ref());
        let along =
            |columns: &[usize]| v.transpose() * contrasts(40).transpose() * matrix(&points.select_columns(columns));
        let (tuned, evaluated) = (along(tuned), along(left));
        let density = |z: &Mat<f64>, (signal, noise): (f64, f64)| {
            let one = |i: usize| {
                let variance = signal.exp() * lambda[i] + noise.exp();
                let square: f64 = (0..z.ncols()).map(|f| z[(i, f)].powi(2)).sum();
                -0.5 * (z.ncols() as f64 * (std::f64::consts::TAU * variance).ln() + square / variance)
            };
            (0..39).map(one).sum::<f64>()
        };
        // The best signal and noise for the tuned columns, by ever finer steps in their logarithms.
        let (mut best, mut step) = ((0.0, 0.0), 1.0);
        for _ in 0..150 {
            let around =
                (-4..=4).flat_map(|a| (-4..=4).map(move |b| (best.0 + step * a as f64, best.1 + step * b as f64)));
            let next = around.max_by(|a, b| density(&tuned, *a).total_cmp(&density(&tuned, *b))).unwrap();
            step *= 0.85;
            best = next;
        }
        let expected = density(&evaluated, best);
        assert!((value - expected).abs() < 1e-3, "{value} {expected} at {best:?}");
    }
}

/// Independent normal features have the true density N(0, 1), and no field may claim to know more: the in-sample fit of
/// LLE exceeds the truth by thousands, and its left-out likelihood with signal and noise from its own features fell
/// hundreds of thousands below. The held-out log-likelihood exceeds the truth by sampling error alone: by less than a nat or two,
/// since signal and noise are two numbers, and not on average.
#[test]
fn on_noise_no_evidence_exceeds_the_true_density() {
    let names = ["pca", "laplacian-eigenmaps", "lle", "ltsa", "alle", "isomap"];
    let mut sums = [0.0; 6];
    for seed in 0..3 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(100 + seed);
        let noise = Points::new(200, 10, (0..2000).map(|_| StandardNormal.sample(&mut rng)).collect()).unwrap();
        let mean = noise.column_means();
        let square: f64 = noise.values().iter().enumerate().map(|(at, x)| (x - mean[at % 10]).powi(2)).sum();
        let truth = -0.5 * (1990.0 * std::f64::consts::TAU.ln() + square);
        for (name, sum) in names.iter().zip(&mut sums) {
            let recipe = recipe(Method::from_name(name).unwrap());
            let found = recipe.held_out(&noise, &Silent).unwrap();
            let above = found.log_likelihood - truth;
            assert!((-60.0..3.0).contains(&above), "{name} {seed}: {above}");
            *sum += above;
            let in_sample = recipe.fit(&noise, &Silent).unwrap().log_likelihood().unwrap();
            assert!(in_sample - truth > 30.0, "{name}: {}", in_sample - truth);
        }
    }
    assert!(sums.iter().all(|sum| *sum < 0.0), "{sums:?}");
}

/// Features that are draws from a field over a ring: the methods that find the ring have a higher held-out log-likelihood than noise alone, and
/// constant features neither count nor harm.
#[test]
fn a_ring_exceeds_noise_and_constant_features_do_not_count() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
    let waves: Vec<[f64; 4]> = (0..12).map(|_| [draw(), draw(), 0.4 * draw(), 0.4 * draw()]).collect();
    let rows: Vec<Vec<f64>> = (0..120)
        .map(|i| {
            let t = std::f64::consts::TAU * i as f64 / 120.0;
            let at = |w: &[f64; 4]| w[0] * t.cos() + w[1] * t.sin() + w[2] * (2.0 * t).cos() + w[3] * (2.0 * t).sin();
            waves.iter().map(|w| at(w) + 0.1 * draw()).collect()
        })
        .collect();
    let ring = Points::from_rows(&rows).unwrap();
    let padded: Vec<Vec<f64>> = rows.iter().map(|row| [row.clone(), vec![7.0]].concat()).collect();
    let padded = Points::from_rows(&padded).unwrap();
    for name in ["pca", "laplacian-eigenmaps", "lle", "ltsa", "alle"] {
        let recipe = recipe(Method::from_name(name).unwrap());
        let found = recipe.held_out(&ring, &Silent).unwrap();
        assert!(found.log_likelihood > found.noise_alone + 300.0 && found.only_noise == 0, "{name}: {found:?}");
        let other = recipe.held_out(&padded, &Silent).unwrap();
        assert!((other.log_likelihood / found.log_likelihood - 1.0).abs() < SOLVED, "{name}");
    }
}
