//! Estimates against other programs, data of known dimension, and data without one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::sample::Sample;
use eigenfold_io::ReadOptions;
use eigenfold_linalg::progress::{Silent, StopsAfter};

/// Uniform numbers by splitmix64 from the state `seed`: s += 0x9E37…, mixed twice, the upper 53 bits.
fn splitmix(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 * 2f64.powi(-53)
    };
    (0..count).map(|_| next()).collect()
}

/// n points of the unit cube.
fn cube(n: usize, d: usize, seed: u64) -> Points {
    Points::new(n, d, splitmix(n * d, seed)).unwrap()
}

/// The swiss roll of the reference values: t = 3π/2 (1 + 2u), h = 21 v.
fn roll(n: usize) -> Points {
    let uniform = splitmix(2 * n, 0);
    let row = |pair: &[f64]| {
        let t = 1.5 * std::f64::consts::PI * (1.0 + 2.0 * pair[0]);
        [t * t.cos(), 21.0 * pair[1], t * t.sin()]
    };
    Points::from_rows(&uniform.chunks(2).map(row).collect::<Vec<_>>()).unwrap()
}

fn built_in(name: &str) -> Points {
    eigenfold_io::read(name, &ReadOptions::default()).unwrap().points
}

/// Without the slower estimates.
fn quick(points: &Points) -> Dimensions {
    Dimension { global: false, ..Dimension::default() }.of(points, &Silent).unwrap()
}

fn value(found: &Dimensions, name: Name) -> f64 {
    found.estimate(name).unwrap_or_else(|| panic!("{name:?}: {:?}", found.left_out)).value
}

#[track_caller]
fn near(found: f64, wanted: f64, tolerance: f64) {
    assert!((found / wanted - 1.0).abs() <= tolerance, "{found} instead of {wanted}");
}

/// numpy: r = the distances to the nearest distinct others, mu = r2/r1, x = sort(log mu);
/// mean(mu)/(mean(mu) - 1); n/sum(x); (n - 1)/sum(x); x[:k].y/x[:k].x[:k] with k = int(0.9 n), y = -log(1 - i/n);
/// mean over k = 10..20 of mean(1/S) and 1/mean(S), S = sum(log(r_k/r_j), j < k)/(k - 1).
const GOLD: [(usize, usize, [f64; 6]); 5] = [
    (
        1000,
        0,
        [
            2.07207293861651,
            1.9716798950989756,
            1.9697082152038765,
            1.9206375407989416,
            2.061839354624552,
            1.9003333876651787,
        ],
    ),
    (
        2000,
        1,
        [
            1.1504100244361626,
            0.9552966040132792,
            0.9548189557112725,
            0.9453608096964601,
            1.0769970526276031,
            0.9887423601408181,
        ],
    ),
    (
        2000,
        3,
        [
            3.0391104779338933,
            2.9873481832079127,
            2.985854509116309,
            2.9165801240849714,
            3.074270248264557,
            2.8484352086429428,
        ],
    ),
    (
        2000,
        5,
        [
            4.7367236296300135,
            4.753572981259753,
            4.751196194769123,
            4.714627660791625,
            4.928562801608763,
            4.524174146359227,
        ],
    ),
    (
        2000,
        10,
        [
            8.663358965172483,
            8.676706408191247,
            8.672368054987151,
            8.622506955062404,
            8.92802325950573,
            8.27291014993309,
        ],
    ),
];

#[test]
fn closed_formulas_give_the_reference_values() {
    for (n, d, wanted) in GOLD {
        let found = quick(&if d == 0 { roll(n) } else { cube(n, d, 0) });
        let names =
            [Name::TwoNnMean, Name::TwoNnMle, Name::TwoNn, Name::TwoNnFit, Name::LevinaBickel, Name::MacKayGhahramani];
        for (name, wanted) in names.into_iter().zip(wanted) {
            near(value(&found, name), wanted, 1e-10);
        }
    }
}

#[test]
fn digits_and_iris_have_their_reference_values() {
    let found = quick(&built_in("digits"));
    near(value(&found, Name::TwoNn), 9.04424949247, 1e-10);
    near(value(&found, Name::TwoNnMean), 9.0884648865, 1e-9);
    near(value(&found, Name::TwoNnFit), 8.9081727648, 1e-9);
    near(value(&found, Name::LevinaBickel), 8.17019829, 1e-8);
    near(value(&found, Name::MacKayGhahramani), 7.09158993, 1e-8);
    // scipy.optimize.brentq on the derivative of the likelihood of r4/r2.
    near(found.scales[1].value, 8.17618023535, 1e-10);
    near(quick(&roll(1000)).scales[1].value, 1.94729619262, 1e-10);

    let iris = quick(&built_in("iris"));
    assert_eq!((iris.n, iris.distinct), (150, 149));
    assert!(iris.warnings[0].starts_with("1 of 150 points is a duplicate of an earlier one"), "{:?}", iris.warnings);
    // As GOLD's script, on the 149 distinct rows; the built-in file is Fisher's.
    near(value(&iris, Name::TwoNn), 3.4540700403308815, 1e-6);
    near(value(&iris, Name::Ess), 2.95914855797759, 3e-3);
}

#[test]
fn the_skewness_and_the_correlation_are_those_of_another_program() {
    // scikit-dimension 0.3: ESS().fit(X, n_neighbors=30).dimension_ and CorrInt(k1=10, k2=20).fit(X, &eigenfold_linalg::progress::Silent).dimension_ on the
    // distinct rows; where neighbors tie, as in the digits, either may be the thirtieth.
    let sets = [
        (roll(1000), 2.08769982490026, 1.90035266385851, 1e-9),
        (cube(1000, 5, 0), 4.70270390810036, 4.3410542584231, 1e-9),
        (cube(1000, 10, 0), 9.30332012505427, 7.69949222975072, 1e-9),
        (built_in("digits"), 10.5816508292366, 5.06477031182921, 3e-3),
    ];
    for (points, ess, correlation, tolerance) in sets {
        near(value(&quick(&points), Name::Ess), ess, tolerance);
        let found = correlation::dimension(&points, 20, &Silent).unwrap().unwrap();
        near(found.value, correlation, tolerance);
    }
}

#[test]
fn the_recommendation_is_right_where_the_truth_is_known() {
    for seed in 0..2 {
        for (d, wanted) in [(1, 1..=1), (2, 2..=2), (3, 3..=3), (5, 4..=5), (10, 9..=10)] {
            let dims = quick(&cube(1000, d, 77 * seed)).recommended.dims;
            assert!(wanted.contains(&dims), "cube of {d}, seed {seed}: {dims}");
        }
        let samples = [
            (Sample::SwissRoll, 0.0, 2),
            (Sample::SwissRoll, 0.2, 2),
            (Sample::SwissRoll, 0.5, 2),
            (Sample::Sphere, 0.0, 2),
            (Sample::Torus, 0.0, 2),
            (Sample::Helix, 0.0, 1),
            (Sample::Helix, 0.02, 1),
            (Sample::Spiral, 0.0, 1),
        ];
        for (sample, noise, wanted) in samples {
            let found = quick(&sample.draw(1000, noise, seed).unwrap().points).recommended;
            assert_eq!(found.dims, wanted, "{sample:?}, noise {noise}, seed {seed}: {found:?}");
        }
    }
}

#[test]
fn noise_is_seen_below_the_reach_of_the_neighbors() {
    // Evenly spaced points reach beyond the noise that fills the neighborhoods of all points.
    let found = quick(&Sample::SwissRoll.draw(8000, 0.5, 1).unwrap().points);
    assert!(value(&found, Name::TwoNn) > 2.7);
    assert_eq!(found.recommended.dims, 2, "{:?}", found.recommended);
    assert_eq!((found.scales.len(), found.scales[6].among, found.scales[7].among), (14, 8000, 2000));
    let cube = quick(&cube(5000, 5, 2));
    assert_eq!(cube.recommended.dims, 5, "{:?}", cube.recommended);
}

#[test]
fn the_interval_covers_its_own_mean() {
    // Bias is not included: the target is the mean over many samples. Of 60 intervals that cover it with 95 %, fewer
    // than 51 do in 2 of 10,000 trials; with 80 %, as many or more in 1 of 5.
    for (n, d) in [(150, 3), (150, 6)] {
        let found: Vec<Dimensions> = (0..60).map(|seed| quick(&cube(n, d, 1000 * seed))).collect();
        for name in [Name::TwoNn, Name::Ess, Name::MacKayGhahramani] {
            let all: Vec<&Estimate> = found.iter().map(|one| one.estimate(name).unwrap()).collect();
            let mean = all.iter().map(|one| one.value).sum::<f64>() / 60.0;
            let covers = |one: &&&Estimate| one.low.unwrap() <= mean && mean <= one.high.unwrap();
            let covered = all.iter().filter(covers).count();
            assert!(covered >= 51, "{name:?}, {d} dimensions: {covered} of 60");
            // Not by being wide: their half widths are near two standard deviations of the estimates.
            let spread = (all.iter().map(|one| (one.value - mean).powi(2)).sum::<f64>() / 59.0).sqrt();
            let width = all.iter().map(|one| one.high.unwrap() - one.low.unwrap()).sum::<f64>() / 60.0;
            let part = width / (2.0 * 1.96 * spread);
            assert!((0.7..1.8).contains(&part), "{name:?}, {d} dimensions: {part}");
        }
    }
}

#[test]
fn neither_unit_nor_place_nor_turn_nor_order_matters() {
    let points = roll(400);
    let plain = quick(&points);
    let changed = |of: &dyn Fn(&[f64]) -> [f64; 3]| {
        Points::from_rows(&(0..400).map(|i| of(points.row(i))).collect::<Vec<_>>()).unwrap()
    };
    let (sin, cos) = 0.7f64.sin_cos();
    let mut backwards: Vec<usize> = (0..400).collect();
    backwards.reverse();
    let others = [
        changed(&|row| [row[0] * 1e-55, row[1] * 1e-55, row[2] * 1e-55]),
        changed(&|row| [row[0] * 1e58, row[1] * 1e58, row[2] * 1e58]),
        changed(&|row| [row[0] + 1e3, row[1] - 5e3, row[2]]),
        changed(&|row| [cos * row[0] - sin * row[2], row[1], sin * row[0] + cos * row[2]]),
        points.select(&backwards),
    ];
    for other in &others {
        let found = quick(other);
        assert_eq!(found.recommended.dims, plain.recommended.dims);
        for estimate in &plain.estimates {
            near(value(&found, estimate.name), estimate.value, 1e-8);
        }
        for (scale, other) in plain.scales.iter().zip(&found.scales) {
            near(other.value, scale.value, 1e-8);
        }
    }
    let tiny = quick(&others[0]);
    near(tiny.scales[3].distance, 1e-55 * plain.scales[3].distance, 1e-9);
}

#[test]
fn every_place_counts_once_and_constant_features_do_not_count() {
    let points = roll(300);
    let mut rows: Vec<usize> = (0..300).collect();
    rows.extend([5, 5, 17]);
    let padded: Vec<[f64; 5]> =
        rows.iter().map(|&i| [3.0, points.row(i)[0], points.row(i)[1], -1.0, points.row(i)[2]]).collect();
    let estimators = Dimension { global: false, pointwise: true, ..Dimension::default() };
    let found = estimators.of(&Points::from_rows(&padded).unwrap(), &Silent).unwrap();
    let plain = estimators.of(&points, &Silent).unwrap();
    assert_eq!((found.n, found.distinct, found.features, found.varying), (303, 300, 5, 3));
    assert_eq!((&found.estimates, &found.scales), (&plain.estimates, &plain.scales));
    assert_eq!(found.warnings.len(), 2);
    let [pointwise, alone] = [&found, &plain].map(|one| one.pointwise.clone().unwrap());
    assert_eq!(pointwise[..300], alone[..]);
    assert_eq!(pointwise[300..], [alone[5], alone[5], alone[17]]);
}

#[test]
fn the_dimension_at_each_point_tells_a_line_from_a_square() {
    let uniform = splitmix(1200, 3);
    let row = |i: usize| if i < 300 { [uniform[i], 50.0] } else { [uniform[i], uniform[i + 300]] };
    let points = Points::from_rows(&(0..900).map(row).collect::<Vec<_>>()).unwrap();
    let found = Dimension { global: false, pointwise: true, ..Dimension::default() }.of(&points, &Silent).unwrap();
    let at = found.pointwise.unwrap();
    let mean = |values: &[Option<f64>]| values.iter().flatten().sum::<f64>() / values.len() as f64;
    assert!((mean(&at[..300]) - 1.0).abs() < 0.1 && (mean(&at[300..]) - 2.0).abs() < 0.15);
}

#[test]
fn few_points_have_an_error_or_an_answer() {
    let refused = |rows: &[[f64; 2]]| {
        let points = Points::from_rows(rows).unwrap();
        Dimension::default().of(&points, &Silent).unwrap_err().to_string()
    };
    assert!(refused(&[[1.0, 2.0]]).starts_with("there is only one point; "));
    assert!(refused(&[[1.0, 2.0]; 7]).starts_with("all 7 points coincide"));
    assert!(refused(&[[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]).starts_with("the 3 points have only 2 distinct positions"));
    for n in [3, 4, 5, 9, 30] {
        for d in [1, 2, 6] {
            let found = Dimension { pointwise: true, ..Dimension::default() }.of(&cube(n, d, 5), &Silent).unwrap();
            let numbers = found.estimates.iter().flat_map(|one| [Some(one.value), one.low, one.high]).flatten();
            assert!(numbers.chain(found.scales.iter().map(|one| one.value)).all(|v| v.is_finite() && v > 0.0));
            assert!((1..=d.min(n - 1)).contains(&found.recommended.dims), "{n} points of {d}: {:?}", found.recommended);
            assert_eq!(found.neighbors, 20.min(n - 1));
            assert_eq!(found.pointwise.unwrap().len(), n);
        }
    }
    let small = cube(10, 2, 1);
    let with = |k| Dimension { neighbors: Some(k), ..Dimension::default() }.of(&small, &Silent);
    assert!(with(2).unwrap_err().to_string().contains("`neighbors` 3 or more"));
    assert!(with(10).unwrap_err().to_string().contains("`neighbors` 9 or less"));
}

#[test]
fn lattices_are_flagged_and_larger_scales_suggested() {
    let square = Sample::Grid.draw(900, 0.0, 0).unwrap().points;
    let line = Points::new(500, 1, (0..500).map(f64::from).collect()).unwrap();
    for (points, dims) in [(square, 2), (line, 1)] {
        let found = quick(&points);
        assert!(found.check.flagged && found.warnings.iter().any(|w| w.contains("not those of random points")));
        assert_eq!(found.recommended.dims, dims, "{:?} {:?}", found.recommended, found.scales);
        assert!(found.recommended.caveat.contains("sampling check"), "{}", found.recommended.caveat);
    }
    // In three dimensions the shells of a lattice show at every scale.
    let cubic: Vec<[f64; 3]> = (0..1000).map(|i| [i / 100, i / 10 % 10, i % 10].map(f64::from)).collect();
    let found = quick(&Points::from_rows(&cubic).unwrap());
    assert!(found.check.flagged && found.recommended.caveat.contains("2 is a guess"), "{:?}", found.recommended);
}

#[test]
fn the_slower_estimates_see_the_roll_too() {
    let found = Dimension::default().of(&roll(1000), &Silent).unwrap();
    // The elbow of Isomap with 8 neighbors is at 2 (residual variances 0.01567, 0.000595, 0.000619), and so it is with 10.
    assert_eq!(value(&found, Name::Isomap), 2.0);
    // numpy.linalg.svd of the centered points.
    let ratios = &found.spectrum.as_ref().unwrap().ratios;
    assert!(ratios.iter().zip([1.0, 0.91307296, 0.84227545]).all(|(a, b)| (a - b).abs() < 1e-8), "{ratios:?}");
    assert_eq!(value(&found, Name::Svd), 3.0);
    assert!((value(&found, Name::GraphLength) - 2.0).abs() < 0.5);
    assert!(found.left_out.iter().any(|(name, why)| *name == Name::Mvu && why.contains("1000 points")));
    let few = Dimension::default().of(&cube(60, 2, 9), &Silent).unwrap();
    assert_eq!(value(&few, Name::Mvu), 2.0, "{:?}", few.unfolded);
    let digits = spectrum::spectrum(&built_in("digits")).unwrap().ratios;
    assert!(digits.iter().zip([1.0, 0.95634, 0.88999, 0.75152]).all(|(a, b)| (a - b).abs() < 1e-5), "{digits:?}");
}

#[test]
fn the_work_can_be_stopped_at_any_time() {
    let points = cube(200, 3, 1);
    let mut finished = false;
    for questions in 0..200 {
        match Dimension::default().of(&points, &StopsAfter::questions(questions * questions)) {
            Err(Error::Stopped) => assert!(!finished),
            Ok(_) => {
                finished = true;
                break;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(finished);
}

#[test]
fn a_recipe_takes_as_many_coordinates_as_the_points_have() {
    use crate::{HessianLle, Isomap, Ltsa, Neighbors, Recipe};
    let points = cube(500, 3, 4);
    let choice = |method, k| {
        Recipe { method, neighbors: Neighbors::Nearest(k), ..Recipe::default() }.choose_dims(&points, &Silent).unwrap()
    };
    let plain = choice(Isomap::default().into(), 10);
    assert_eq!((plain.chosen, plain.lowered), (3, None));
    // Three neighbors span two dimensions, and Hessians of three dimensions need nine.
    for (method, k) in [(Ltsa.into(), 3), (HessianLle::default().into(), 8)] {
        let lowered = choice(method, k);
        assert_eq!((lowered.chosen, lowered.recommended.dims), (2, 3));
        assert!(lowered.lowered.is_some_and(|why| why.contains("neighbors")));
    }
}
