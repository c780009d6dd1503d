//! Tests of the GP likelihood: reference values, gradients by differences, scales and extreme inputs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::search::GAIN;
use super::*;
use crate::gp::Negative;
use crate::gp::ard::Ard;
use crate::{Pca, Recipe, io};
use eigenfold_linalg::progress::{Silent, StopsAfter};

fn iris() -> Points {
    io::read("iris", &io::ReadOptions::default()).unwrap().points
}

fn pca(data: &Points) -> Points {
    Recipe { method: Pca::default().into(), ..Recipe::default() }
        .fit(data, &eigenfold_linalg::progress::Silent)
        .unwrap()
        .embedding()
        .clone()
}

/// A curved surface in `p` features with a little noise, and its true coordinates.
fn sheet(n: usize, p: usize) -> (Points, Points) {
    let at = |i: usize| ((i as f64 * 0.754_877_666).fract(), (i as f64 * 0.569_840_291).fract());
    let place = |i: usize| [4.0 * at(i).0, 2.0 * at(i).1];
    let feature = |i: usize, j: usize| {
        let ([u, v], noise) = (place(i), ((i * p + j) as f64 * 0.618_033_988).fract() - 0.5);
        (u * (1.0 + 0.3 * j as f64)).sin() + 0.5 * (v + j as f64).cos() + 0.1 * noise
    };
    let map: Vec<[f64; 2]> = (1..=n).map(place).collect();
    let data = (1..=n).flat_map(|i| (0..p).map(move |j| feature(i, j))).collect();
    (Points::new(n, p, data).unwrap(), Points::from_rows(&map).unwrap())
}

const EVERYWHERE: [[f64; 4]; 4] =
    [[0.0, 0.0, 0.0, 0.0], [0.5, -1.0, -2.0, -3.0], [-1.0, 0.7, 1.0, -0.5], [2.0, 0.3, -4.0, -6.0]];

/// The value and the gradients at the logarithms of v, ℓ, b and w.
fn negative(likelihood: &dyn Process, logs: [f64; 4]) -> Negative {
    let [variance, length, bias, noise] = logs.map(f64::exp);
    likelihood.negative(&mut None, variance, length, Some(bias), noise).unwrap()
}

fn check_gradient(likelihood: &dyn Process, tolerance: f64) {
    for logs in EVERYWHERE {
        let gradient = negative(likelihood, logs).gradient;
        let size = gradient.iter().fold(1.0f64, |size, g| size.max(g.abs()));
        for i in 0..4 {
            let value = |step: f64| {
                let mut moved = logs;
                moved[i] += step;
                negative(likelihood, moved).value
            };
            // Central differences of fourth order.
            let h = 1e-3;
            let derivative = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
            assert!((derivative - gradient[i]).abs() < tolerance * size, "{logs:?} {i}: {derivative} and {gradient:?}");
        }
        check_bias(likelihood, logs);
    }
}

/// The optimal bias is at least as good as any other.
fn check_bias(likelihood: &dyn Process, logs: [f64; 4]) {
    let [variance, length, _, noise] = logs.map(f64::exp);
    let best = likelihood.negative(&mut None, variance, length, None, noise).unwrap();
    for bias in [1e-8, 0.5 * best.bias, 2.0 * best.bias, 1.0, 1e6] {
        let other = likelihood.negative(&mut None, variance, length, Some(bias), noise).unwrap();
        assert!(best.value <= other.value + 1e-9 * other.value.abs(), "{logs:?}: {bias} beats {}", best.bias);
    }
    assert!(best.gradient[2].abs() < 1e-9 * best.value.abs() || best.bias == 1e-8, "{logs:?}: {:?}", best.gradient);
}

#[test]
fn gradients_are_those_of_central_differences() {
    // More points than features, and fewer.
    for (n, p) in [(40, 3), (12, 20)] {
        let (data, map) = sheet(n, p);
        let problem = Problem::new(&data, &map, false).unwrap();
        check_gradient(&Exact::new(&problem).unwrap(), 1e-7);
        for m in [1, 5, n] {
            check_gradient(&Sparse::new(&problem, m), 1e-6);
        }
    }
    let (data, map) = sheet(1300, 2);
    // Several blocks; 20 inducing points lie so close at the longest length that C[mm] has a condition of 1e10.
    check_gradient(&Sparse::new(&Problem::new(&data, &map, true).unwrap(), 20), 1e-5);
}

#[test]
fn two_points_can_be_scored_by_hand() {
    // At one place with b small: K = (v + b) 11ᵀ + w I; the centered pair (1, −1) sees w alone.
    let data = Points::from_rows(&[[1.0], [-1.0]]).unwrap();
    let map = Points::from_rows(&[[3.0], [3.0]]).unwrap();
    let parameters = GpParameters { variance: 2.0, length: 1.0, bias: 0.5, noise: 0.25 };
    let score = GpLikelihood { lengths: LengthRule::Raw, ..GpLikelihood::default() };
    let by_hand = -0.5 * (0.25f64 * 5.25).ln() - 0.5 * 2.0 / 0.25 - std::f64::consts::TAU.ln();
    assert!((score.at(&data, &map, &parameters).unwrap() - by_hand).abs() < 1e-12);
}

#[test]
fn iris_on_its_principal_components_has_the_reference_score() {
    // Own prototype, GPy 1.13 and scikit-learn 1.9 agree on these to 1e-8 (L-BFGS-B from seven starts).
    let (data, raw) = (iris(), GpLikelihood { lengths: LengthRule::Raw, ..GpLikelihood::default() });
    let map = pca(&data);
    let ones = GpParameters { variance: 1.0, length: 1.0, bias: 1.0, noise: 1.0 };
    assert!((raw.at(&data, &map, &ones).unwrap() + 625.362_092_216_1).abs() < 1e-8);
    let score = raw.of(&data, &map, &Silent).unwrap();
    assert!((score.log_likelihood - 198.794_361_84).abs() < 1e-6, "{score:?}");
    let GpParameters { variance, length, noise, .. } = score.parameters;
    let found = [variance / 4.083_665_05, length / 4.226_092_98, noise / 0.023_267_928_3];
    assert!(found.iter().all(|ratio| (ratio - 1.0).abs() < 1e-3), "{score:?}");
    assert!(
        score.converged && !score.noise_floor && score.inducing.is_none() && score.lengths == LengthRule::Raw,
        "{score:?}"
    );
    assert_eq!(score.starts.len(), 7);
}

#[test]
fn the_bound_is_below_the_likelihood_and_reaches_it() {
    let (data, map) = sheet(150, 4);
    let problem = Problem::new(&data, &map, false).unwrap();
    let exact = Exact::new(&problem).unwrap();
    for logs in EVERYWHERE {
        let whole = -negative(&exact, logs).value;
        let mut last = f64::NEG_INFINITY;
        for m in [2, 10, 40, 150] {
            let bound = -negative(&Sparse::new(&problem, m), logs).value;
            assert!(bound <= whole + 1e-9 * whole.abs(), "{logs:?}, {m}: {bound} above {whole}");
            last = bound;
        }
        assert!((last / whole - 1.0).abs() < 1e-6, "{logs:?}: {last} for {whole}");
    }
    for (lengths, starts) in [(LengthRule::Unit, 7), (LengthRule::Ard, 2)] {
        let likelihood = GpLikelihood { lengths, ..GpLikelihood::default() };
        let exact = likelihood.of(&data, &map, &Silent).unwrap();
        let bound = GpLikelihood { inducing: Some(40), ..likelihood }.of(&data, &map, &Silent).unwrap();
        let below = exact.log_likelihood - bound.log_likelihood;
        assert!((0.0..5.0).contains(&below), "{exact:?}\n{bound:?}");
        assert_eq!((bound.inducing, bound.starts.len()), (Some(40), starts));
    }
}

#[test]
fn turning_the_map_changes_nothing_and_in_raw_units_neither_does_its_size() {
    let (data, map) = sheet(90, 3);
    let raw = GpLikelihood { lengths: LengthRule::Raw, ..GpLikelihood::default() };
    let changed = |change: fn(&[f64]) -> [f64; 2]| {
        let rows: Vec<[f64; 2]> = (0..90).map(|i| change(map.row(i))).collect();
        raw.of(&data, &Points::from_rows(&rows).unwrap(), &Silent).unwrap().log_likelihood
    };
    let plain = changed(|y| [y[0], y[1]]);
    let same = |other: f64| assert!((other / plain - 1.0).abs() < 1e-8, "{other} and {plain}");
    same(changed(|y| [0.6 * y[0] - 0.8 * y[1] + 7.0, 0.8 * y[0] + 0.6 * y[1]]));
    same(changed(|y| [1e-9 * y[0], 1e-9 * y[1]]));
    same(changed(|y| [1e12 * y[0], 1e12 * y[1]]));
    // Unit variance makes single columns' sizes irrelevant.
    let unit = GpLikelihood { lengths: LengthRule::Unit, ..GpLikelihood::default() };
    let scaled =
        |rows: Vec<[f64; 2]>| unit.of(&data, &Points::from_rows(&rows).unwrap(), &Silent).unwrap().log_likelihood;
    let one = scaled((0..90).map(|i| [map.row(i)[0], map.row(i)[1]]).collect());
    let other = scaled((0..90).map(|i| [100.0 * map.row(i)[0], 0.01 * map.row(i)[1] + 3.0]).collect());
    assert!((one / other - 1.0).abs() < 1e-8, "{one} and {other}");
}

/// A length scale for every coordinate: the gradients match central differences, exact and by inducing points.
#[test]
fn gradients_along_the_lengths_of_coordinates_are_those_of_central_differences() {
    for (n, p) in [(40, 3), (12, 20)] {
        let (data, map) = sheet(n, p);
        let problem = Problem::new(&data, &map, false).unwrap();
        for inducing in [None, Some(1), Some(5), Some(n)] {
            let mut ard = Ard::new(&problem, inducing).unwrap();
            let mut at = |logs: &[f64]| {
                let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
                ard.negative(values[0], &values[1..3], values[3]).unwrap()
            };
            for logs in [[0.0, 0.0, 0.0, -1.0], [0.5, -1.0, 0.4, -3.0], [-1.0, 0.7, -0.6, -0.5], [2.0, 0.3, 2.5, -5.0]]
            {
                let gradient = at(&logs).gradient;
                let size = gradient.iter().fold(1.0f64, |size, g| size.max(g.abs()));
                for i in 0..4 {
                    let mut value = |step: f64| {
                        let mut moved = logs;
                        moved[i] += step;
                        at(&moved).value
                    };
                    let h = 1e-3;
                    let derivative = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
                    assert!(
                        (derivative - gradient[i]).abs() < 2e-6 * size,
                        "{inducing:?} {logs:?} {i}: {derivative} {gradient:?}"
                    );
                }
            }
        }
    }
}

/// With a length scale for each coordinate no scaling of single columns changes the value, the length scales are scaled
/// along, and neither variant with one length scale is better.
#[test]
fn a_length_for_every_coordinate_makes_their_scales_irrelevant() {
    let (data, map) = sheet(90, 3);
    let of = |lengths: LengthRule, by: [f64; 2]| {
        let rows: Vec<[f64; 2]> =
            (0..90).map(|i| [by[0] * map.row(i)[0], by[1] * map.row(i)[1] + 2.0 * by[1]]).collect();
        let likelihood = GpLikelihood { lengths, ..GpLikelihood::default() };
        likelihood.of(&data, &Points::from_rows(&rows).unwrap(), &Silent).unwrap()
    };
    let plain = of(LengthRule::Ard, [1.0, 1.0]);
    assert!(plain.converged, "{plain:?}");
    let plain_lengths = plain.by_coordinate.clone().unwrap();
    for by in [[30.0, 0.2], [1e-50, 1e50]] {
        let other = of(LengthRule::Ard, by);
        assert!((other.log_likelihood - plain.log_likelihood).abs() < 1e-4, "{by:?}: {other:?} and {plain:?}");
        for ((length, plain), by) in other.by_coordinate.unwrap().iter().zip(&plain_lengths).zip(by) {
            assert!((length / (plain * by.abs()) - 1.0).abs() < 1e-2, "{length} {plain} {by}");
        }
    }
    for lengths in [LengthRule::Unit, LengthRule::Raw] {
        assert!(of(lengths, [1.0, 1.0]).log_likelihood <= plain.log_likelihood + 1e-9, "{lengths:?}");
        assert!(of(lengths, [5.0, 1.0]).log_likelihood <= plain.log_likelihood + 1e-4, "{lengths:?}");
    }
    // An uninformative coordinate gets a length scale beyond all distances on it.
    let rows: Vec<[f64; 2]> = (0..90).map(|i| [map.row(i)[0], (i as f64 * 12.9898).sin().fract()]).collect();
    let sin = Points::new(90, 1, (0..90).map(|i| map.row(i)[0].sin()).collect()).unwrap();
    let idle = GpLikelihood::default().of(&sin, &Points::from_rows(&rows).unwrap(), &Silent).unwrap();
    assert!(idle.by_coordinate.unwrap()[1] > 10.0);
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let (data, map) = sheet(1200, 3);
    let run = |threads: usize, inducing: Option<usize>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let likelihood = GpLikelihood { inducing, starts: Starts::One, ..GpLikelihood::default() };
        let rows: Vec<usize> = (0..if inducing.is_some() { 1200 } else { 200 }).collect();
        pool.install(|| likelihood.of(&data.select(&rows), &map.select(&rows), &Silent).unwrap())
    };
    for inducing in [None, Some(30)] {
        let one = run(1, inducing);
        assert_eq!(one, run(3, inducing));
    }
}

#[test]
fn odd_data_and_maps_have_a_score() {
    let scored = |data: &Points, map: &Points| {
        let score = GpLikelihood::default().of(data, map, &Silent).unwrap();
        assert!(score.log_likelihood.is_finite(), "{score:?}");
        score
    };
    let (data, map) = sheet(30, 3);
    // All points at one position; pairs of points at one position; a constant coordinate.
    let flat = scored(&data, &Points::new(30, 2, vec![0.1; 60]).unwrap());
    assert!(flat.log_likelihood < scored(&data, &map).log_likelihood);
    scored(&data, &map.select(&(0..30).map(|i| i / 2).collect::<Vec<_>>()));
    scored(&data, &Points::new(30, 2, (0..60).map(|i| if i % 2 == 0 { 0.1 } else { i as f64 }).collect()).unwrap());
    scored(&data.select(&[0, 1]), &map.select(&[0, 1]));
    scored(&data.select(&[0, 1, 2]), &map.select(&[0, 1, 1]));
    // From one coordinate to ten, and numbers as large and as small as allowed.
    for d in 1..=10 {
        scored(&data, &Points::new(30, d, (0..30 * d).map(|i| (i as f64 * 0.37).sin()).collect()).unwrap());
    }
    let sized = |points: &Points, by: f64| {
        Points::new(30, points.cols(), points.values().iter().map(|x| x * by).collect()).unwrap()
    };
    for by in [1e-55, 1e55] {
        scored(&sized(&data, by), &sized(&map, 1.0 / by));
    }
    // The map itself as data has no noise at all.
    let perfect = scored(&map, &map);
    assert!(perfect.noise_floor, "{perfect:?}");
    // A constant feature is left out.
    let with = |i: usize| [data.row(i)[0], 5.0, data.row(i)[1], data.row(i)[2]];
    let padded = scored(&Points::from_rows(&(0..30).map(with).collect::<Vec<_>>()).unwrap(), &map);
    assert_eq!((padded.features, padded.constant), (3, 1));
    assert_eq!(padded.log_likelihood, scored(&data, &map).log_likelihood);
}

#[test]
fn what_cannot_be_scored_is_refused_and_a_stop_is_heard() {
    let (data, map) = sheet(10, 2);
    let refused = |likelihood: GpLikelihood, data: &Points, map: &Points| {
        likelihood.of(data, map, &Silent).unwrap_err().to_string()
    };
    let plain = GpLikelihood::default;
    assert!(refused(plain(), &data, &map.select(&[0, 1])).starts_with("the data have 10 rows and the map has 2; "));
    assert!(refused(plain(), &data.select(&[0]), &map.select(&[0])).starts_with("there is only 1 point; "));
    assert!(
        refused(plain(), &data.select(&[3, 3]), &map.select(&[0, 1])).starts_with("no feature of the data varies; ")
    );
    let inducing = |m| GpLikelihood { inducing: Some(m), ..plain() };
    assert!(refused(inducing(0), &data, &map).starts_with("0 inducing points bound nothing; "));
    assert!(refused(inducing(11), &data, &map).starts_with("11 inducing points are more than the 10 points; "));
    assert!(matches!(plain().of(&data, &map, &StopsAfter::questions(0)), Err(Error::Stopped)));
    assert!(matches!(inducing(3).of(&data, &map, &StopsAfter::questions(0)), Err(Error::Stopped)));
    // A start that was stopped early has a likelihood, below that of its end.
    let end = plain().of(&data, &map, &Silent).unwrap();
    let cut = plain().of(&data, &map, &StopsAfter::questions(9)).unwrap();
    assert!(end.converged && !cut.converged && cut.log_likelihood <= end.log_likelihood + 1e-9, "{cut:?}");
}

/// The number of inducing points is doubled until that adds less than 1 to the bound at its best parameters.
#[test]
fn the_bound_is_refined_until_more_inducing_points_add_nothing() {
    let map = sheet(450, 1).1;
    let worth = [1.0, 4.24].map(|waves: f64| {
        let feature = |i: usize, j: usize| {
            let (place, noise) = (map.row(i), ((i * 2 + j) as f64 * 0.618_033_988).fract() - 0.5);
            (waves * place[0] + j as f64).sin() * (waves * place[1]).cos() + 0.1 * noise
        };
        let rows: Vec<[f64; 2]> = (0..450).map(|i| [feature(i, 0), feature(i, 1)]).collect();
        let problem = Problem::new(&Points::from_rows(&rows).unwrap(), &map, false).unwrap();
        let starts = GpLikelihood { starts: Starts::One, ..GpLikelihood::default() }.starts(&problem);
        let coarse = &search(&problem, Some(100), &starts, (0.0, 1.0), &Silent).unwrap()[0];
        let [v, length, w] = [coarse.logs[0], coarse.logs[1], coarse.logs[2]].map(f64::exp);
        let twice = Sparse::new(&problem, 200).negative(&mut None, v, length, None, w).unwrap();
        let worth = coarse.value - twice.value >= GAIN;
        let (refined, m) = refine(&problem, coarse, 100, &Silent).unwrap();
        assert!(if worth { m > Some(200) } else { m == Some(200) }, "{m:?}, {} and {coarse:?}", twice.value);
        assert!(refined.value <= twice.value && (worth || refined.logs == coarse.logs), "{refined:?} and {coarse:?}");
        worth
    });
    assert_eq!(worth, [false, true], "smooth data need no more, wavy data do");
}
