//! Tests of the Gaussian process latent variable model: likelihoods, bounds, gradients, new rows and reconstructions.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::constraint::Constraint;
use super::negative::Negative;
use super::*;
use crate::gp::Process as _;
use crate::gp::exact::Exact;
use crate::gp::moving::Moving;
use crate::gp::predict::Prediction;
use crate::gp::problem::Problem;
use crate::gp::sparse::Bound;
use crate::{Input, Model, Pca, Recipe, io};
use eigenfold_linalg::dense::cholesky::Positive;
use eigenfold_linalg::optimize::Objective;
use faer::{Mat, MatRef};

fn iris() -> Points {
    io::read("iris", &io::ReadOptions::default()).unwrap().points
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

fn fitted(method: &Gplvm, dims: usize, points: &Points) -> Model {
    Recipe { method: method.clone().into(), dims, ..Recipe::default() }
        .fit(points, &eigenfold_linalg::progress::Silent)
        .unwrap()
}

fn figure(model: &Model, name: &str) -> f64 {
    model.report().figures.iter().find(|(known, _)| known.name() == name).unwrap().1
}

/// Iris at X = the first two principal components over the standard deviation (divided by n) of the first, with
/// (v, ℓ, b, w) = (var, 1, var/10, var/10), var the mean square of the centered features. The numbers are from an
/// independent program with another linear algebra:
/// K = v exp(−d²/2) + b + w I, A = K⁻¹Y, LL = −½ p log det K − ½ tr AᵀY − ½ n p log 2π,
/// W = ½ (A Aᵀ − p K⁻¹)∘(v R), dX = −2 (diag(W 1) X − W X).
#[test]
fn iris_has_the_likelihood_and_the_gradient_of_an_independent_program() {
    let data = iris();
    let map = Recipe { method: Pca::default().into(), ..Recipe::default() }
        .fit(&data, &eigenfold_linalg::progress::Silent)
        .unwrap()
        .embedding()
        .clone();
    let spread = ((0..150).map(|i| map.row(i)[0].powi(2)).sum::<f64>() / 150.0).sqrt();
    let places: Vec<f64> = map.values().iter().map(|y| y / spread).collect();
    let problem = Problem::new(&data, &map, true).unwrap();
    let mut gradient = vec![0.0; 300];
    let moved = Moving::new(&problem).unwrap().negative(&places, [1.0, 0.1], Some(0.1), &mut gradient).unwrap();
    let likelihood = problem.log_likelihood(moved.value);
    assert!((likelihood + 39.389_295_878_0).abs() < 1e-8, "{likelihood}");
    let steep = gradient.iter().map(|s| s * s).sum::<f64>().sqrt();
    assert!((steep - 16.532_769_072_5).abs() < 1e-8, "{steep}");
}

#[test]
fn gradients_are_those_of_central_differences() {
    // More points than features, and fewer; and more than one block of columns.
    for (n, p, every) in [(30, 3, 3), (12, 20, 1), (150, 2, 37)] {
        let (data, map) = sheet(n, p);
        for prior in [false, true] {
            let problem = Problem::new(&data, &map, true).unwrap();
            let places = problem.map.clone();
            let constraint = prior.then(|| Constraint::new(&problem).unwrap());
            let mut negative = Negative::new(problem, None, constraint, prior, 0.0).unwrap();
            for logs in [[0.0, -2.0], [0.7, 0.5], [-1.0, -4.0]] {
                let x: Vec<f64> = negative.variables(&places.iter().copied().chain(logs).collect::<Vec<_>>());
                let (mut gradient, mut unused) = (vec![0.0; x.len()], vec![0.0; x.len()]);
                negative.value(&x, &mut gradient).unwrap().unwrap();
                let size = gradient.iter().fold(1.0f64, |size, s| size.max(s.abs()));
                for i in (0..x.len()).step_by(every).chain([x.len() - 2, x.len() - 1]) {
                    let mut value = |step: f64| {
                        let mut moved = x.clone();
                        moved[i] += step;
                        negative.value(&moved, &mut unused).unwrap().unwrap()
                    };
                    let h = 1e-3;
                    let known = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
                    assert!(
                        (known - gradient[i]).abs() < 1e-7 * size,
                        "{n} {prior} {logs:?} {i}: {known} {}",
                        gradient[i]
                    );
                }
            }
        }
    }
}

/// The bound in the problem's units by dense matrices: log N(X̃; 0, Q + b 11ᵀ + w I) − p/2w tr(C − Q), Q = C[nm] C[mm]⁻¹ C[mn].
/// If the bias is shared, the inducing values contain it: it is part of C instead.
fn dense_bound(problem: &Problem, places: &[f64], inducing: &[f64], [v, b, w]: [f64; 3], shared: bool) -> f64 {
    let (n, p, d) = (problem.n, problem.features, problem.dims);
    let (y, z) =
        (MatRef::from_row_major_slice(places, n, d), MatRef::from_row_major_slice(inducing, inducing.len() / d, d));
    let inside = if shared { b } else { 0.0 };
    let covariance = |a: MatRef<'_, f64>, c: MatRef<'_, f64>| {
        let square = |i: usize, j: usize| (0..d).map(|q| (a[(i, q)] - c[(j, q)]).powi(2)).sum::<f64>();
        Mat::from_fn(a.nrows(), c.nrows(), |i, j| v * (-0.5 * square(i, j)).exp() + inside)
    };
    let across = covariance(z, y);
    let mut solved = across.clone();
    Positive::factor(covariance(z, z)).unwrap().solve(solved.as_mut());
    let q = across.transpose() * &solved;
    let outside = b - inside;
    let noisy = Mat::from_fn(n, n, |i, j| q[(i, j)] + outside + if i == j { w } else { 0.0 });
    let factor = Positive::factor(noisy).unwrap();
    let data = MatRef::from_row_major_slice(&problem.data, n, p).to_owned();
    let mut along = data.clone();
    factor.solve(along.as_mut());
    let quadratic: f64 = (0..p).map(|j| (0..n).map(|i| data[(i, j)] * along[(i, j)]).sum::<f64>()).sum();
    let missing: f64 = (0..n).map(|i| v + inside - q[(i, i)]).sum();
    let p = p as f64;
    -0.5 * (p * (factor.log_det() + n as f64 * std::f64::consts::TAU.ln() + missing / w) + quadratic)
}

/// The first two principal components over the standard deviation (divided by n) of the first, and a grid of 4 x 3
/// positions over them.
fn components_and_grid(data: &Points) -> (Points, Vec<f64>, Vec<f64>) {
    let map = Recipe { method: Pca::default().into(), ..Recipe::default() }
        .fit(data, &eigenfold_linalg::progress::Silent)
        .unwrap()
        .embedding()
        .clone();
    let n = data.rows();
    let spread = ((0..n).map(|i| map.row(i)[0].powi(2)).sum::<f64>() / n as f64).sqrt();
    let places: Vec<f64> = map.values().iter().map(|y| y / spread).collect();
    let end = |q: usize, of: fn(f64, f64) -> f64| places.iter().skip(q).step_by(2).copied().reduce(of).unwrap();
    let ends = [0, 1].map(|q| (end(q, f64::min), end(q, f64::max)));
    let along = |q: usize, part: f64| ends[q].0 + part * (ends[q].1 - ends[q].0);
    let grid = (0..12).flat_map(|a| [along(0, (a / 3) as f64 / 3.0), along(1, (a % 3) as f64 / 2.0)]).collect();
    (map, places, grid)
}

/// With (v, ℓ, b, w) = (var, 1, var/10, var/10). The numbers are from an independent program (numpy, dense matrices, no
/// jitter, gradients by central differences).
#[test]
fn iris_has_the_bound_and_the_gradients_of_an_independent_program() {
    let data = iris();
    let (map, places, grid) = components_and_grid(&data);
    let problem = Problem::new(&data, &map, true).unwrap();
    let bounded = Bound::new(&problem).moving(&problem, &places, &grid, [1.0, 0.1], Some(0.1)).unwrap();
    let bound = problem.log_likelihood(bounded.negative.value);
    assert!((bound + 86.309_718_482_3).abs() < 1e-6, "{bound}");
    let length = |gradient: &[f64]| gradient.iter().map(|s| s * s).sum::<f64>().sqrt();
    let [points, inducing] = [&bounded.points, &bounded.inducing].map(|gradient| length(gradient));
    assert!((points - 24.097_970_62).abs() < 1e-5 && (inducing - 132.977_913_38).abs() < 1e-5, "{points} {inducing}");
    // Without an inducing value for the bias the bound is lower.
    let shared = problem.log_likelihood(-dense_bound(&problem, &places, &grid, [1.0, 0.1, 0.1], true));
    assert!((shared + 86.697_983_055_9).abs() < 1e-8 && shared < bound, "{shared}");
}

#[test]
fn the_bound_is_that_of_dense_matrices_and_below_the_likelihood() {
    let (data, map) = sheet(60, 5);
    let problem = Problem::new(&data, &map, true).unwrap();
    let mut gradient = vec![0.0; 120];
    let exact = Moving::new(&problem).unwrap().negative(&problem.map, [1.3, 0.2], Some(0.3), &mut gradient).unwrap();
    let mut last = f64::NEG_INFINITY;
    for m in [1, 4, 12, 30] {
        let inducing = &problem.map[..2 * m];
        let bounded = Bound::new(&problem).moving(&problem, &problem.map, inducing, [1.3, 0.2], Some(0.3)).unwrap();
        let bound = -bounded.negative.value;
        let dense = dense_bound(&problem, &problem.map, inducing, [1.3, 0.3, 0.2], false);
        assert!((bound / dense - 1.0).abs() < 1e-6, "{m}: {bound} {dense}");
        assert!(bound > last && bound < -exact.value, "{m}: {last} {bound} {}", -exact.value);
        last = bound;
    }
    // With all points as inducing points the bound is the likelihood itself, up to the jitter.
    let all = Bound::new(&problem).moving(&problem, &problem.map, &problem.map, [1.3, 0.2], Some(0.3)).unwrap();
    assert!((all.negative.value / exact.value - 1.0).abs() < 1e-6, "{} {}", all.negative.value, exact.value);
    // A position contributes as a point and as an inducing point.
    for (at, exact) in gradient.iter().enumerate() {
        let both = all.points[at] + all.inducing[at];
        assert!((both - exact).abs() < 1e-4 * (1.0 + exact.abs()), "{at}: {both} {exact}");
    }
}

#[test]
fn gradients_of_the_bound_are_those_of_central_differences() {
    // Fewer features than inducing points, and more; and more than one block of points.
    for (n, p, m, every) in [(30, 3, 7, 1), (12, 20, 5, 1), (700, 2, 9, 331)] {
        let (data, map) = sheet(n, p);
        for prior in [false, true] {
            let problem = Problem::new(&data, &map, true).unwrap();
            let inducing: Vec<f64> = (0..2 * m).map(|at| problem.map[at] + 0.1 * (at as f64).sin()).collect();
            let places = problem.map.clone();
            let mut negative = Negative::new(problem, Some(m), None, prior, 0.0).unwrap();
            for logs in [[0.0, -2.0], [0.7, 0.5], [-1.0, -4.0]] {
                let x = negative.variables(&places.iter().chain(&inducing).copied().chain(logs).collect::<Vec<_>>());
                let (mut gradient, mut unused) = (vec![0.0; x.len()], vec![0.0; x.len()]);
                negative.value(&x, &mut gradient).unwrap().unwrap();
                let size = gradient.iter().fold(1.0f64, |size, s| size.max(s.abs()));
                for i in (0..2 * n).step_by(every).chain(2 * n..x.len()) {
                    let mut value = |step: f64| {
                        let mut moved = x.clone();
                        moved[i] += step;
                        negative.value(&moved, &mut unused).unwrap().unwrap()
                    };
                    let h = 1e-3;
                    let known = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
                    assert!(
                        (known - gradient[i]).abs() < 1e-6 * size,
                        "{n} {prior} {logs:?} {i}: {known} {}",
                        gradient[i]
                    );
                }
            }
        }
    }
}

#[test]
fn positions_that_stay_have_the_likelihood_of_the_score() {
    let (data, map) = sheet(70, 4);
    let problem = Problem::new(&data, &map, true).unwrap();
    let mut gradient = vec![0.0; 140];
    let moved = Moving::new(&problem).unwrap().negative(&problem.map, [1.3, 0.2], None, &mut gradient).unwrap();
    let known = Exact::new(&problem).unwrap().negative(&mut None, 1.3, 1.0, None, 0.2).unwrap();
    assert!((moved.value / known.value - 1.0).abs() < 1e-12 && moved.bias == known.bias);
    for (a, b) in moved.gradient.iter().zip([known.gradient[0], known.gradient[3]]) {
        assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
    }
    // Neither a shift nor a rotation of the map changes anything.
    for q in 0..2 {
        let sum: f64 = (0..70).map(|i| gradient[2 * i + q]).sum();
        assert!(sum.abs() < 1e-9, "{sum}");
    }
    let turn: f64 =
        (0..70).map(|i| gradient[2 * i] * problem.place(i)[1] - gradient[2 * i + 1] * problem.place(i)[0]).sum();
    assert!(turn.abs() < 1e-9, "{turn}");
}

#[test]
fn the_descent_never_ends_below_its_start() {
    let (data, _) = sheet(90, 8);
    for prior in [GplvmPrior::Flat, GplvmPrior::Gaussian] {
        for init in [GplvmInit::Best, GplvmInit::Random] {
            let model = fitted(&Gplvm { prior, init, ..Gplvm::default() }, 2, &data);
            let report = model.report();
            let curve: Vec<f64> = report.coordinates.curve.iter().map(|step| step.1).collect();
            assert!(curve.windows(2).all(|two| two[1] < two[0]), "{curve:?}");
            assert!(
                report.coordinates.objective.unwrap() <= curve[0],
                "{:?} {}",
                report.coordinates.objective,
                curve[0]
            );
            assert!(
                report.coordinates.curve.windows(2).all(|two| two[1].0 == two[0].0 + 1),
                "every step has its number"
            );
            if prior == GplvmPrior::Flat {
                let likelihood = figure(&model, "log_likelihood");
                assert!((likelihood / 720.0 + report.coordinates.objective.unwrap()).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn the_map_does_not_depend_on_the_unit_of_the_data() {
    let (data, _) = sheet(40, 5);
    let plain = fitted(&Gplvm::default(), 2, &data);
    for power in [-190, 190] {
        // Powers of two are exact.
        let unit = 2f64.powi(power);
        let scaled = Points::new(40, 5, data.values().iter().map(|x| x * unit).collect()).unwrap();
        let model = fitted(&Gplvm::default(), 2, &scaled);
        for (a, b) in model.embedding().values().iter().zip(plain.embedding().values()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
        let noise = figure(&model, "process_noise") / unit / unit;
        assert!((noise / figure(&plain, "process_noise") - 1.0).abs() < 1e-6);
        let shift = 200.0 * unit.ln();
        let (own, other) = (figure(&plain, "log_likelihood"), figure(&model, "log_likelihood"));
        assert!((own - other - shift).abs() < 1e-6 * shift.abs(), "{own} {other} {shift}");
    }
}

#[test]
fn few_points_constant_columns_and_duplicates_have_a_map() {
    let constant = |i: usize| vec![(i as f64).sin(), 3.0, (2.0 * i as f64).cos()];
    let few = |n: usize| Points::from_rows(&(0..n).map(constant).collect::<Vec<_>>()).unwrap();
    let twice = Points::from_rows(&(0..20).map(|i| constant(i / 2)).collect::<Vec<_>>()).unwrap();
    for (points, dims) in [(few(2), 1), (few(3), 1), (few(3), 2), (few(12), 2), (twice, 2)] {
        let model = fitted(&Gplvm::default(), dims, &points);
        assert!(model.embedding().values().iter().all(|y| y.is_finite()));
        assert!(model.report().coordinates.objective.unwrap() <= model.report().coordinates.curve[0].1);
        assert!(figure(&model, "log_likelihood").is_finite());
    }
}

#[test]
fn a_given_start_is_taken_and_a_limit_on_memory_is_kept() {
    let (data, truth) = sheet(60, 6);
    let recipe = Recipe { method: Gplvm::default().into(), ..Recipe::default() };
    let model =
        recipe.fit(Input { init: Some(&truth), ..(&data).into() }, &eigenfold_linalg::progress::Silent).unwrap();
    assert!(model.report().parameters.iter().any(|used| used.name == "init" && used.used == "given"));
    let error = Recipe { memory: Some(10_000), ..recipe }
        .fit(&data, &eigenfold_linalg::progress::Silent)
        .unwrap_err()
        .to_string();
    assert!(error.contains("use `inducing` 100"), "{error}");
}

#[test]
fn the_bound_of_many_points_is_climbed_and_the_same_for_any_number_of_threads() {
    let (data, _) = sheet(700, 5);
    let method = Gplvm { inducing: Some(25), max_iterations: 40, ..Gplvm::default() };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fitted(&method, 2, &data))
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(one.embedding(), two.embedding());
    let report = one.report();
    let used = |name: &str| report.parameters.iter().find(|used| used.name == name).unwrap().used.clone();
    assert_eq!(
        (used("inducing"), report.coordinates.solver.as_str()),
        ("25".into(), "L-BFGS, a lower bound by 25 inducing points")
    );
    assert!(report.coordinates.curve.windows(2).all(|two| two[1].1 < two[0].1), "{:?}", report.coordinates.curve);
    // Half a nat per cell better than at the start.
    assert!(
        report.coordinates.curve[0].1 - report.coordinates.objective.unwrap() > 0.5,
        "{:?} {:?}",
        report.coordinates.curve[0],
        report.coordinates.objective
    );
    // As many inducing points as points, or more, are the exact likelihood.
    let (few, _) = sheet(30, 4);
    let limit = |inducing| Gplvm { inducing, max_iterations: 30, ..Gplvm::default() };
    assert_eq!(fitted(&limit(None), 2, &few).embedding(), fitted(&limit(Some(30)), 2, &few).embedding());
}

/// Held-out rows are embedded and reconstructed: 68 % and 95 % of entries are within one and two standard deviations if
/// the model is right; the position uses 2 of 12 degrees of freedom.
#[test]
fn rows_held_out_are_as_far_off_as_their_deviations_say() {
    let (all, _) = sheet(420, 12);
    let noisy = |at: usize, x: &f64| x + 0.15 * normal(at);
    let all = Points::new(420, 12, all.values().iter().enumerate().map(|(at, x)| noisy(at, x)).collect()).unwrap();
    let (train, test) = (all.select(&(0..300).collect::<Vec<_>>()), all.select(&(300..420).collect::<Vec<_>>()));
    for inducing in [None, Some(40)] {
        let model = fitted(&Gplvm { inducing, ..Gplvm::default() }, 2, &train);
        let back = model.reconstruct(&model.transform(&test).unwrap()).unwrap();
        let mut counts = [0.0; 2];
        for ((x, back), deviation) in test.values().iter().zip(back.points.values()).zip(back.deviations.values()) {
            (0..2).for_each(|k| counts[k] += f64::from(u8::from((x - back).abs() <= (k + 1) as f64 * deviation)));
        }
        let [one, two] = counts.map(|count| count / test.values().len() as f64);
        assert!((0.6..0.8).contains(&one) && (0.9..0.99).contains(&two), "{inducing:?}: {one} {two}");
        let diagnostics = &back.diagnostics;
        let rule = matches!(diagnostics.rule, crate::reconstruct::ReconstructionRule::Process { inducing: used, .. } if used == inducing);
        assert!(rule && diagnostics.rows == 300 && diagnostics.error.unwrap() < 0.5, "{diagnostics:?}");
        let [one, two] = diagnostics.within.unwrap();
        assert!((0.6..0.8).contains(&one) && (0.9..0.99).contains(&two), "{inducing:?}: {one} {two}");
    }
}

/// An approximately standard normal number, by twelve uniform ones.
fn normal(at: usize) -> f64 {
    (0..12).map(|k| ((at * 12 + k) as f64 * 0.754_877_666 + 0.5).fract()).sum::<f64>() - 6.0
}

/// Leave-one-out predictions equal a fit of the other rows with the same parameters and positions.
#[test]
fn leaving_a_row_out_costs_no_fit() {
    let (data, map) = sheet(50, 6);
    let parameters = [1.2, 0.3, 0.05];
    let problem = Problem::new(&data, &map, true).unwrap();
    let places = problem.map.clone();
    let inducing = places[..24].to_vec();
    let of = |problem: &Problem, places: &[f64], sparse: bool| match sparse {
        true => Prediction::bounded(problem, places, &inducing, parameters).unwrap(),
        false => Prediction::exact(problem, places, parameters).unwrap(),
    };
    for sparse in [false, true] {
        let all = of(&problem, &places, sparse);
        for i in [0, 17, 49] {
            let mut rest = Problem::new(&data, &map, true).unwrap();
            rest.data.drain(i * rest.features..(i + 1) * rest.features);
            rest.n -= 1;
            let mut others = places.clone();
            others.drain(2 * i..2 * i + 2);
            let known = of(&rest, &others, sparse).at(&places[2 * i..2 * i + 2]);
            let (off, variance) = all.left_out(i, &places[2 * i..2 * i + 2], problem.data_row(i));
            assert!((variance / known.variance - 1.0).abs() < 1e-6, "{sparse} {i}: {variance} {}", known.variance);
            for ((off, x), mean) in off.iter().zip(problem.data_row(i)).zip(&known.mean) {
                assert!((off - (x - mean)).abs() < 1e-6, "{sparse} {i}: {off} {}", x - mean);
            }
        }
    }
}

#[test]
fn back_constraints_place_new_rows_by_their_function() {
    let (all, _) = sheet(150, 6);
    let (train, test) = (all.select(&(0..120).collect::<Vec<_>>()), all.select(&(120..150).collect::<Vec<_>>()));
    for inducing in [None, Some(20)] {
        let method = Gplvm { back_constraints: true, inducing, ..Gplvm::default() };
        let model = fitted(&method, 2, &train);
        assert!(model.report().coordinates.curve[0].1 - model.report().coordinates.objective.unwrap() > 0.3);
        // A step away from a training row is a step away from its position.
        let nudged = train.values().iter().map(|x| x + 1e-7).collect();
        let near = model.transform(&Points::new(120, 6, nudged).unwrap()).unwrap();
        for (a, b) in near.values().iter().zip(model.embedding().values()) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
        let placed = model.transform(&test).unwrap();
        let back = model.reconstruct(&placed).unwrap();
        let off: f64 = back.points.values().iter().zip(test.values()).map(|(a, b)| (a - b).powi(2)).sum();
        let means = train.column_means();
        let total: f64 = test.values().iter().enumerate().map(|(at, x)| (x - means[at % 6]).powi(2)).sum();
        assert!(off < 0.1 * total, "{off} {total}");
    }
}

#[test]
fn the_ou_process_puts_rows_on_a_line_in_one_dimension_only() {
    let row = |i: usize| {
        let t = 0.15 * ((i * 7) % 40) as f64;
        [t.cos(), t.sin(), 0.3 * t, 2.0]
    };
    let points = Points::from_rows(&(0..40).map(row).collect::<Vec<_>>()).unwrap();
    let method = Gplvm { kernel: GplvmKernel::Ou, ..Gplvm::default() };
    let error = Recipe { method: method.clone().into(), ..Recipe::default() }
        .fit(&points, &eigenfold_linalg::progress::Silent)
        .unwrap_err()
        .to_string();
    assert!(error.contains("use `dims` 1, or `kernel` gaussian"), "{error}");
    let model = fitted(&method, 1, &points);
    let mut order: Vec<usize> = (0..40).collect();
    order.sort_by(|&i, &j| model.embedding().row(i)[0].total_cmp(&model.embedding().row(j)[0]));
    let along: Vec<usize> = order.iter().map(|&i| (i * 7) % 40).collect();
    assert!(along.windows(2).all(|two| two[0].abs_diff(two[1]) == 1), "{along:?}");
    // A row between two others is embedded between them, and reconstructed as itself.
    let between = Points::from_rows(&[[3.075f64.cos(), 3.075f64.sin(), 0.9225, 2.0]]).unwrap();
    let placed = model.transform(&between).unwrap().row(0)[0];
    let place = |k: usize| model.embedding().row((0..40).find(|i| (i * 7) % 40 == k).unwrap())[0];
    let (low, high) = (place(20).min(place(21)), place(20).max(place(21)));
    assert!((low..high).contains(&placed), "{low} {placed} {high}");
    let back = model.reconstruct(&Points::from_rows(&[[placed]]).unwrap()).unwrap();
    for (a, b) in back.points.values().iter().zip(between.values()) {
        assert!((a - b).abs() < 0.01, "{a} {b}");
    }
    assert_eq!(back.deviations.row(0)[3], 0.0, "a constant feature is certain");
    // Equal rows and two rows alone work too.
    let twice = Points::from_rows(&(0..20).map(|i| row(i / 2)).collect::<Vec<_>>()).unwrap();
    let two = points.select(&[0, 1]);
    for points in [twice, two] {
        let model = fitted(&method, 1, &points);
        assert!(model.embedding().values().iter().all(|y| y.is_finite()));
        assert!(model.transform(&between).unwrap().row(0)[0].is_finite());
    }
}

/// Another program (GPy, from the same components, 50 iterations) reaches −63598.4 in as many evaluations.
#[test]
fn the_first_500_digits_are_likelier_after_52_evaluations_than_by_another_program() {
    let digits = io::read("digits", &io::ReadOptions::default()).unwrap().points.select(&(0..500).collect::<Vec<_>>());
    let model = fitted(&Gplvm { init: GplvmInit::Pca, max_iterations: 52, ..Gplvm::default() }, 2, &digits);
    let (evaluations, likelihood) = (model.report().coordinates.iterations, figure(&model, "log_likelihood"));
    assert!(evaluations <= 52 && likelihood > -63598.4, "{likelihood} after {evaluations}");
}
