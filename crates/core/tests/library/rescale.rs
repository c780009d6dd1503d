//! Maps whose lengths were put right, and the bounds of the largest variance: claims X07 and X08 of Xiao, Sun and Boyd
//! 2006, and what every method owes its user.
use crate::support::*;
use eigenfold::{
    Bandwidth, Disconnected, Distances, Graph, Isomap, LaplacianEigenmaps, Likelihood, Ltsa, Method, Meu, Model,
    Neighbors, Points, Recipe, Search, Silent, Weight, mvu_upper_bound,
};
use proptest::prelude::*;

/// What maximum variance unfolding over the edges reaches on swiss(1000), k = 6: its certified bracket is
/// [788656.98, 788657.74].
const SWISS_1000: f64 = 788_657.0;

fn recipe(method: impl Into<Method>, k: usize, rescale: Option<usize>) -> Recipe {
    let (method, neighbors) = (method.into(), Neighbors::Nearest(k));
    Recipe { method, neighbors, rescale, likelihood: Likelihood::Never, ..Recipe::default() }
}

fn graph(points: &Points, k: usize) -> Graph {
    Search { neighbors: Neighbors::Nearest(k), ..Search::default() }.of_points(points, &Silent).unwrap().graph
}

/// The edges, once each.
fn edges(graph: &Graph) -> Vec<Weight> {
    let union = graph.union();
    let later = |i: usize| union.edges(i).filter(move |&(j, _)| j > i).map(move |(j, distance)| (i, j, distance));
    let all = (0..union.len()).flat_map(later);
    all.map(|(i, j, distance)| Weight { i: i as u32, j: j as u32, distance, weight: 1.0 }).collect()
}

/// How long every edge is on the map, as a part of what it is.
fn ratios(map: &Points, edges: &[Weight]) -> Vec<f64> {
    let length = |e: &Weight| eigenfold::Metric::Euclidean.distance(map.row(e.i as usize), map.row(e.j as usize));
    edges.iter().filter(|e| e.distance > 0.0).map(|e| length(e) / e.distance).collect()
}

/// The root mean square of ratio − 1.
fn off(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|r| (r - 1.0).powi(2)).sum::<f64>() / ratios.len() as f64).sqrt()
}

fn variance(points: &Points) -> f64 {
    let mean = points.column_means();
    points.values().iter().enumerate().map(|(at, x)| (x - mean[at % mean.len()]).powi(2)).sum()
}

fn longest(ratios: &[f64]) -> f64 {
    ratios.iter().copied().fold(0.0, f64::max)
}

#[test]
fn x08_rescaling_restores_the_lengths_of_a_rolled_sheet() {
    let roll = swiss(800);
    let edges = edges(&graph(&roll, 8));
    let lengths = |method: Method, rescale| {
        let model = recipe(method, 8, rescale).fit(&roll, &Silent).unwrap();
        (ratios(model.embedding(), &edges), model.report().rescale.clone())
    };
    let scaled = |ratios: &[f64], factor: f64| off(&ratios.iter().map(|r| r * factor).collect::<Vec<_>>());
    let eigenmaps = LaplacianEigenmaps { bandwidth: Bandwidth::Global, ..LaplacianEigenmaps::default() };
    for (method, least) in [(Method::from(Ltsa), 0.85), (eigenmaps.into(), 0.35)] {
        // The map alone has no unit: it gets the factor that suits it best, and the largest that keeps the distances.
        let (plain, _) = lengths(method.clone(), None);
        let best = scaled(&plain, plain.iter().sum::<f64>() / plain.iter().map(|r| r * r).sum::<f64>());
        let feasible = scaled(&plain, 1.0 / longest(&plain));
        let (rescaled, rescale) = lengths(method.clone(), Some(10));
        let (after, rescale, name) = (off(&rescaled), rescale.unwrap(), method.info().name);
        println!("{name}: {best} by the best factor, {feasible} by the largest, {after} rescaled; {rescale:?}");
        assert!(longest(&rescaled) <= 1.0 + SOLVED);
        assert!(after < feasible - 0.02, "{name}: {after} is no better than {feasible}");
        // The coordinates of ltsa are those of the surface up to their lengths, those of Laplacian eigenmaps are waves.
        assert!(name != "ltsa" || (after < 0.02 && best > 0.2), "{name}: {after}, {best}");
        assert!(rescale.part.unwrap() > least, "{rescale:?}");
        assert!(rescale.spectrum[..2].iter().sum::<f64>() > 0.999 && rescale.spectrum[1] > 0.01, "{rescale:?}");
    }
}

#[test]
fn the_bracket_holds_the_largest_variance_of_the_roll() {
    let roll = swiss(1000);
    for (method, m, part) in [
        (Method::from(LaplacianEigenmaps::default()), 5, 0.27),
        (LaplacianEigenmaps::default().into(), 10, 0.34),
        (LaplacianEigenmaps::default().into(), 20, 0.38),
        (Isomap::default().into(), 5, 0.82),
        (Isomap::default().into(), 10, 0.86),
        (Ltsa.into(), 10, 0.88),
    ] {
        let model = recipe(method, 6, Some(m)).fit(&roll, &Silent).unwrap();
        let rescale = model.report().rescale.as_ref().unwrap();
        let of = |value: f64| 100.0 * value / SWISS_1000;
        let (inside, all) = (of(rescale.primal), of(rescale.bound.unwrap()));
        println!("{} {m}: {inside:.2} % of the optimum, bound {all:.2} %", model.report().method);
        assert!(rescale.primal <= SWISS_1000 * (1.0 + 1e-6), "{rescale:?}");
        assert!(rescale.bound.unwrap() >= SWISS_1000 * (1.0 - 1e-6), "{rescale:?}");
        assert!(rescale.bound.unwrap() < 1.15 * SWISS_1000, "{rescale:?}");
        assert!(rescale.primal > part * SWISS_1000, "{rescale:?}");
        assert!(rescale.dual >= rescale.primal && rescale.dual - rescale.primal <= 1e-6 * rescale.dual);
        assert!((model.spectrum().iter().sum::<f64>() - rescale.primal).abs() < SOLVED * rescale.primal);
        let warned = model
            .report()
            .warnings
            .iter()
            .any(|warning| warning.message().contains("of the variance that its distances"));
        assert_eq!(warned, rescale.part.unwrap() < 0.5);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Any positively weighted Laplacian bounds the variance of every map that keeps the distances: of the data, of the
    /// data turned, shrunk and flattened, and of the unfolding within any coordinates.
    #[test]
    fn x07_every_weighting_bounds_the_variance(seed in any::<u64>(), spread in 0.0f64..6.0) {
        let points = cloud(80, 3, seed);
        let graph = graph(&points, 6);
        let draws = cloud(edges(&graph).len(), 1, seed ^ 0x5bd1);
        let mut weights = edges(&graph);
        weights.iter_mut().zip(draws.values()).for_each(|(w, draw)| w.weight = (2.0 * spread * draw).exp());
        let bound = mvu_upper_bound(&graph, &weights, None, &Silent).unwrap();
        prop_assert!(variance(&points) <= bound);
        let shrunk: Vec<f64> = points.values().iter().enumerate().map(|(at, x)| [1.0, 0.7, 0.0][at % 3] * x).collect();
        prop_assert!(variance(&Points::new(80, 3, shrunk).unwrap()) <= bound);
        for method in [Method::from(Isomap::default()), LaplacianEigenmaps::default().into()] {
            let model = recipe(method, 6, Some(8)).fit(&points, &Silent).unwrap();
            let rescale = model.report().rescale.as_ref().unwrap();
            prop_assert!(rescale.primal <= bound, "{rescale:?} {bound}");
            prop_assert!(rescale.primal <= rescale.bound.unwrap());
        }
    }
}

#[test]
fn every_method_with_a_graph_keeps_the_distances_and_places_new_points() {
    let (roll, new) = (swiss(140), swiss(150).select(&(140..150).collect::<Vec<_>>()));
    let edges = edges(&graph(&roll, 8));
    let spectral = |method: &Method| method.info().needs_graph && method.info().basis != eigenfold::Basis::Objective;
    for method in Method::all().into_iter().filter(spectral) {
        let name = method.info().name;
        let model = recipe(method, 8, Some(6)).fit(&roll, &Silent).unwrap();
        assert!(longest(&ratios(model.embedding(), &edges)) <= 1.0 + SOLVED, "{name}");
        let eigenvalues = model.spectrum();
        assert!(
            eigenvalues.is_sorted_by(|a, b| a >= b) && (eigenvalues.len() == 6 || name == "mvu"),
            "{name}: {eigenvalues:?}"
        );
        let y = model.embedding();
        for q in 0..2 {
            let square: f64 = (0..y.rows()).map(|i| y.row(i)[q].powi(2)).sum();
            assert!((square - eigenvalues[q]).abs() <= SOLVED * eigenvalues[0], "{name}");
            let most = (0..y.rows()).map(|i| y.row(i)[q]).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
            assert!(most >= 0.0, "{name}");
        }
        let bytes = model.to_bytes().unwrap();
        let saved = Model::from_bytes(&bytes).unwrap();
        assert!(saved.to_bytes().unwrap() == bytes && saved.report().rescale == model.report().rescale, "{name}");
        assert_eq!(&saved.transform(&roll).unwrap(), y, "{name}");
        assert!(saved.transform(&new).unwrap().values().iter().all(|v| v.is_finite()), "{name}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let roll = swiss(900);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| recipe(Isomap::default(), 8, Some(8)).fit(&roll, &Silent).unwrap().to_bytes().unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn landmarks_components_distances_and_graphs_can_be_rescaled() {
    let roll = swiss(300);
    let edges = edges(&graph(&roll, 8));
    for method in [Method::from(Isomap { landmarks: Some(60) }), Meu { landmarks: Some(80), ..Meu::default() }.into()] {
        let model = recipe(method, 8, Some(6)).fit(&roll, &Silent).unwrap();
        assert!(longest(&ratios(model.embedding(), &edges)) <= 1.0 + SOLVED);
        assert_eq!(&model.transform(&roll).unwrap(), model.embedding());
    }
    let whole = recipe(Isomap::default(), 8, Some(6)).fit(&roll, &Silent).unwrap();
    let distances = distances(&roll);
    let graph = graph(&roll, 8);
    let given = Distances::new(distances.clone()).unwrap();
    for input in [eigenfold::Data::from(&given), eigenfold::Data::from(&graph)] {
        let model = recipe(Isomap::default(), 8, Some(6)).fit(input, &Silent).unwrap();
        let agree = |(a, b): (&f64, &f64)| (a - b).abs() < FITTED * whole.spectrum()[0];
        assert!(model.spectrum().iter().zip(whole.spectrum()).all(agree));
        assert!(model.transform(&distances).unwrap_err().to_string().contains("cannot embed new points"));
    }
    // Two rolls far apart, one of them twice as large, and a lone point.
    let rows = (0..150).map(|i| roll.row(i).to_vec());
    let rows = rows.clone().chain(rows.map(|row| row.iter().map(|x| 1e4 + 2.0 * x).collect()));
    let rows: Vec<f64> = rows.flatten().chain([-1e5; 3]).collect();
    let points = Points::new(301, 3, rows).unwrap();
    let apart = Recipe { disconnected: Disconnected::Separate, ..recipe(Isomap::default(), 8, Some(6)) };
    let apart = Recipe { neighbors: Neighbors::Within(11.0), ..apart }.fit(&points, &Silent).unwrap();
    let y = apart.embedding();
    let span = |range: std::ops::Range<usize>| {
        let column = range.map(|i| y.row(i)[1]);
        column.clone().fold(f64::MIN, f64::max) - column.fold(f64::MAX, f64::min)
    };
    assert!(span(0..150) > 0.0 && span(150..300) > 0.0);
}

#[test]
fn points_that_coincide_stay_together() {
    let roll = swiss(150);
    let rows: Vec<usize> = (0..150).chain([0, 7, 7]).collect();
    let points = roll.select(&rows);
    let model = recipe(Isomap::default(), 8, Some(6)).fit(&points, &Silent).unwrap();
    let y = model.embedding();
    assert_eq!((y.row(150), y.row(151), y.row(152)), (y.row(0), y.row(7), y.row(7)));
    assert!(longest(&ratios(y, &edges(&graph(&points, 8)))) <= 1.0 + SOLVED);
}

#[test]
fn what_cannot_be_rescaled_is_refused() {
    let roll = swiss(60);
    let refused = |name: &str, dims, m| {
        let recipe = Recipe { dims, ..recipe(Method::from_name(name).unwrap(), 8, Some(m)) };
        recipe.fit(&roll, &Silent).unwrap_err().to_string()
    };
    for name in ["pca", "mds", "kernel-pca"] {
        assert!(refused(name, 2, 10).contains("has no neighborhood graph"), "{}", refused(name, 2, 10));
    }
    assert!(refused("isomap", 3, 2).contains("use `rescale` 3 or more"));
    assert!(refused("isomap", 2, 41).contains("use `rescale` 40 or less"));
    let few = recipe(Isomap::default(), 4, Some(10)).fit(&swiss(8), &Silent).unwrap_err().to_string();
    assert!(few.contains("use `rescale` 7 or less"), "{few}");
}

#[test]
fn the_likelihood_is_that_of_the_field() {
    let roll = swiss(200);
    for method in [Method::from(LaplacianEigenmaps::default()), Isomap::default().into()] {
        let of = |rescale| {
            let recipe = Recipe { likelihood: Likelihood::Always, ..recipe(method.clone(), 8, rescale) };
            recipe.fit(&roll, &Silent).unwrap().log_likelihood().unwrap()
        };
        assert!((of(None) - of(Some(8))).abs() < SOLVED * of(None).abs());
    }
}
