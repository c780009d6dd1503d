//! Maximum variance unfolding as a user meets it: certificates, variants, claims of the paper.

use crate::support::{affine_error, distances, swiss};
use eigenfold::{
    Constraints, Disconnected, Distances, EdgeWeight, Found, Graph, LaplacianEigenmaps, LaplacianVariant, Model, Mvu,
    MvuVariant, Neighbors, Points, Recipe, Search, Silent, sample::Sample,
};
use eigenfold_graph::Paths;

fn recipe(k: usize, mvu: Mvu) -> Recipe {
    Recipe { neighbors: Neighbors::Nearest(k), method: mvu.into(), ..Recipe::default() }
}

fn searched(points: &Points, k: usize) -> Found {
    Search { neighbors: Neighbors::Nearest(k), ..Search::default() }.of_points(points, &Silent).unwrap()
}

fn primal(model: &Model) -> f64 {
    model.report().certificate.unwrap().primal
}

#[test]
fn a_certificate_is_confirmed_and_a_tampered_one_is_not() {
    let points = swiss(300);
    let graph = searched(&points, 6).graph;
    for constraints in [Constraints::Edges, Constraints::Angles] {
        let model = recipe(6, Mvu { constraints: Some(constraints), ..Mvu::default() }).fit(&points, &Silent).unwrap();
        let certificate = &model.certificates()[0];
        let bracket = certificate.verify(&points, &graph).unwrap();
        assert!(bracket.gap <= 1e-4 && bracket.confirmed, "{bracket:?}");
        assert!((bracket.primal / certificate.claimed.primal - 1.0).abs() < 1e-12);

        let refused = |change: &dyn Fn(&mut eigenfold::Certificate), text: &str| {
            let mut tampered = certificate.clone();
            change(&mut tampered);
            let message = tampered.verify(&points, &graph).unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        };
        let heaviest = (0..certificate.weights.len())
            .max_by(|&a, &b| certificate.weights[a].weight.total_cmp(&certificate.weights[b].weight))
            .unwrap();
        refused(&|c| c.weights[heaviest].weight *= 0.5, "claims a variance");
        refused(&|c| c.weights[heaviest].weight *= -1.0, "negative");
        refused(&|c| c.weights.truncate(c.weights.len() - 1), "pairs");
        refused(&|c| c.weights[3].i += 1, "pairs");
        refused(&|c| c.claimed.dual *= 0.999, "claims a variance");
        refused(&|c| c.claimed.primal *= 1.001, "claims a variance");
        let lengthened = |c: &mut eigenfold::Certificate| {
            let values = c.coordinates.values().iter().map(|y| 1.01 * y).collect();
            c.coordinates = Points::new(c.coordinates.rows(), c.coordinates.cols(), values).unwrap();
        };
        refused(&lengthened, "does not hold");
        refused(&|c| c.coordinates = Points::new(2, 1, vec![0.0, 1.0]).unwrap(), "coordinates of 2 points");
        assert!(certificate.verify(&points, &searched(&points, 7).graph).is_err());
        assert!(certificate.verify(&swiss(301), &searched(&swiss(301), 6).graph).is_err());
    }
}

#[test]
fn noise_leaves_the_map_feasible_and_certified() {
    let roll = Sample::SwissRoll.draw(1000, 0.14, 5).unwrap().points;
    for constraints in [Constraints::Edges, Constraints::Angles] {
        let model = recipe(6, Mvu { constraints: Some(constraints), ..Mvu::default() }).fit(&roll, &Silent).unwrap();
        let bracket = model.report().certificate.unwrap();
        assert!(model.report().ended.is_converged() && bracket.gap <= 1e-4 && bracket.violation == 0.0, "{bracket:?}");
    }
}

/// The roll is unrolled: with angles both true coordinates are linear in the map.
#[test]
fn angles_unroll_the_roll_without_narrowing_it() {
    let roll = Sample::SwissRoll.draw(2000, 0.0, 3).unwrap();
    let truth = roll.truth.values();
    let fit = |constraints| {
        let model =
            recipe(8, Mvu { constraints: Some(constraints), ..Mvu::default() }).fit(&roll.points, &Silent).unwrap();
        let y = model.embedding();
        (0..2)
            .map(|q| {
                let column = Points::new(2000, 1, (0..2000).map(|i| truth[i * 2 + q]).collect()).unwrap();
                1.0 - affine_error(&column, y)
            })
            .collect::<Vec<f64>>()
    };
    let (edges, angles) = (fit(Constraints::Edges), fit(Constraints::Angles));
    assert!(angles.iter().all(|&r2| r2 > 0.99), "{angles:?}");
    assert!(edges[1] < angles[1], "{edges:?} {angles:?}");
}

#[test]
fn separate_components_have_a_certificate_each() {
    let one = swiss(120);
    let values: Vec<f64> = (0..2).flat_map(|at| one.values().iter().map(move |v| v + 1000.0 * at as f64)).collect();
    let both = Points::new(240, 3, values).unwrap();
    let recipe = Recipe { disconnected: Disconnected::Separate, ..recipe(6, Mvu::default()) };
    let model = recipe.fit(&both, &Silent).unwrap();
    assert_eq!(model.certificates().len(), 2);
    let search = Search { neighbors: Neighbors::Nearest(6), disconnected: Disconnected::Separate, ..Search::default() };
    let graph = search.of_points(&both, &Silent).unwrap().graph;
    let sum: f64 = model.certificates().iter().map(|c| c.verify(&both, &graph).unwrap().primal).sum();
    assert!((sum / primal(&model) - 1.0).abs() < 1e-9);
    let alone = recipe.fit(&one, &Silent).unwrap();
    assert!((primal(&alone) * 2.0 / sum - 1.0).abs() < 1e-4);
    // Joined by a linking edge they are one problem.
    let joined = Recipe { disconnected: Disconnected::Join, ..recipe }.fit(&both, &Silent).unwrap();
    assert!(joined.certificates().len() == 1 && primal(&joined) > sum);
}

#[test]
fn every_kind_of_input_is_unfolded_alike() {
    let points = swiss(100);
    let of_points = recipe(5, Mvu::default()).fit(&points, &Silent).unwrap();
    let of_distances = recipe(5, Mvu::default()).fit(&Distances::new(distances(&points)).unwrap(), &Silent).unwrap();
    assert!((primal(&of_points) / primal(&of_distances) - 1.0).abs() < 1e-9);
    let graph = searched(&points, 5).graph;
    let of_graph = recipe(5, Mvu::default()).fit(&graph, &Silent).unwrap();
    let of_edges =
        recipe(5, Mvu { constraints: Some(Constraints::Edges), ..Mvu::default() }).fit(&points, &Silent).unwrap();
    assert!((primal(&of_graph) / primal(&of_edges) - 1.0).abs() < 1e-9);
    of_graph.certificates()[0].verify(&graph, &graph).unwrap();
    let angles = Mvu { constraints: Some(Constraints::Angles), ..Mvu::default() };
    let message = recipe(5, angles).fit(&graph, &Silent).unwrap_err().to_string();
    assert!(message.contains("`constraints` edges"), "{message}");
}

#[test]
fn duplicates_and_large_and_small_numbers_are_no_trouble() {
    let roll = swiss(80);
    let twice: Vec<f64> = roll.values().iter().chain(&roll.values()[..30]).copied().collect();
    let model = recipe(8, Mvu::default()).fit(&Points::new(90, 3, twice).unwrap(), &Silent).unwrap();
    assert!(model.report().ended.is_converged());
    assert_eq!(model.embedding().row(0), model.embedding().row(80));
    let plain = recipe(6, Mvu::default()).fit(&roll, &Silent).unwrap();
    for scale in [1e-55, 1e55] {
        let scaled = Points::new(80, 3, roll.values().iter().map(|x| x * scale).collect()).unwrap();
        let model = recipe(6, Mvu::default()).fit(&scaled, &Silent).unwrap();
        assert!((primal(&model) / scale / scale / primal(&plain) - 1.0).abs() < 1e-6);
    }
}

/// X06: Laplacian eigenmaps with the weights of the dual's optimum spans what the unfolding spans.
#[test]
fn x06_the_duals_weights_give_the_unfolding_by_laplacian_eigenmaps() {
    let points = swiss(300);
    let mvu = Mvu { constraints: Some(Constraints::Edges), ..Mvu::default() };
    let unfolded = Recipe { dims: 3, ..recipe(6, mvu) }.fit(&points, &Silent).unwrap();
    let rank = unfolded.report().certificate.unwrap().rank;
    let le = LaplacianEigenmaps {
        kernel: EdgeWeight::Dual,
        variant: LaplacianVariant::Unnormalized,
        ..LaplacianEigenmaps::default()
    };
    let mapped = Recipe { dims: rank + 1, method: le.into(), ..recipe(6, mvu) }.fit(&points, &Silent).unwrap();
    assert!(mapped.report().coordinates.eigenvalues[..rank].iter().all(|value| (value - 1.0).abs() < 1e-3));
    // The two main directions carry nearly all; they are combinations of the bottom eigenvectors.
    for q in 0..2 {
        let column = (0..300).map(|i| unfolded.embedding().row(i)[q]).collect();
        let part = 1.0 - affine_error(&Points::new(300, 1, column).unwrap(), mapped.embedding());
        assert!(part > 0.999, "direction {q}: {part}");
    }
}

/// X10: distances along the graph bound those of any unfolding, so Isomap's variance is the larger one; on a flat convex surface
/// the two approach each other as points and neighbors get denser.
#[test]
fn x10_isomaps_variance_bounds_the_unfoldings_and_is_approached() {
    let ratios: Vec<f64> = [(100, 6), (400, 12), (1600, 24)]
        .into_iter()
        .map(|(n, k)| {
            let sheet = Sample::SwissRoll.draw(n, 0.0, 1).unwrap().truth;
            let graph = searched(&sheet, k).graph;
            let sources: Vec<usize> = (0..n).collect();
            let lengths = Paths::new(&graph.union(), n).from_sources(&sources, &Silent).unwrap();
            let isomap = lengths.iter().map(|d| d * d).sum::<f64>() / (2.0 * n as f64);
            let mvu = Mvu { constraints: Some(Constraints::Edges), ..Mvu::default() };
            recipe(k, mvu).fit(&sheet, &Silent).unwrap().report().certificate.unwrap().dual / isomap
        })
        .collect();
    println!("{ratios:?}");
    assert!(ratios.iter().all(|&ratio| ratio <= 1.0), "{ratios:?}");
    assert!(ratios.is_sorted() && ratios[2] > 0.95, "{ratios:?}");
}

#[test]
fn landmarks_are_certified_and_the_whole_is_bracketed() {
    let points = swiss(2000);
    let model = recipe(6, Mvu { landmarks: Some(400), ..Mvu::default() }).fit(&points, &Silent).unwrap();
    let figure = |name: &str| model.report().figures.iter().find(|(known, _)| known.name() == name).unwrap().1;
    assert!(figure("landmark_gap") <= 1e-4);
    let bracket = model.certificates()[0].verify(&points, &searched(&points, 6).graph).unwrap();
    let whole = recipe(6, Mvu::default()).fit(&points, &Silent).unwrap().report().certificate.unwrap();
    assert!(bracket.primal <= whole.dual && whole.primal <= bracket.dual, "{bracket:?} {whole:?}");
    assert!(bracket.gap > 1e-3, "placing by neighbors is no proof: {bracket:?}");
    // The distances along the graph to the middle bound it well.
    assert!(bracket.dual < 1.5 * whole.dual, "{bracket:?} {whole:?}");
}

#[test]
fn equality_keeps_the_distances_and_the_optimum_of_small_rolls() {
    for (n, low, high) in [(50, 6491.640920308, 6491.640925162), (100, 13735.811809, 13735.837281)] {
        let points = swiss(n);
        let mvu = Mvu {
            constraints: Some(Constraints::Edges),
            variant: MvuVariant::Equality,
            tolerance: 1e-5,
            ..Mvu::default()
        };
        let model = recipe(5, mvu).fit(&points, &Silent).unwrap();
        let bracket = model.certificates()[0].verify(&points, &searched(&points, 5).graph).unwrap();
        assert!(
            model.report().ended.is_converged() && bracket.gap.abs() <= 1e-5 && bracket.violation <= 1e-7,
            "{bracket:?}"
        );
        assert!(bracket.primal <= high * (1.0 + 1e-8) && low <= bracket.dual * (1.0 + 1e-8), "{bracket:?}");
    }
}

#[test]
fn a_band_is_between_equality_and_inequality() {
    let points = swiss(60);
    let fit = |variant, band| {
        let mvu = Mvu { constraints: Some(Constraints::Edges), variant, band, tolerance: 1e-6, ..Mvu::default() };
        let model = recipe(5, mvu).fit(&points, &Silent).unwrap();
        assert!(model.report().ended.is_converged(), "{:?}", model.report().certificate);
        primal(&model)
    };
    let exact = fit(MvuVariant::Equality, Some(0.0));
    let loose = fit(MvuVariant::Equality, Some(0.05));
    let free = fit(MvuVariant::Inequality, None);
    assert!(exact < loose && loose < 1.05 * free, "{exact} {loose} {free}");
}

#[test]
fn what_cannot_be_done_is_refused_with_a_way_out() {
    let points = swiss(50);
    let message = |mvu: Mvu, memory: Option<u64>| {
        Recipe { memory, ..recipe(6, mvu) }.fit(&points, &Silent).unwrap_err().to_string()
    };
    assert!(message(Mvu::default(), Some(100)).contains("`landmarks`"));
    let equality = Mvu { variant: MvuVariant::Equality, ..Mvu::default() };
    assert!(message(equality, Some(100)).contains("`variant` inequality"));
    assert!(message(Mvu { landmarks: Some(51), ..Mvu::default() }, None).contains("50"));
    let same = Points::new(5, 2, vec![1.0; 10]).unwrap();
    let message = recipe(2, Mvu::default()).fit(&same, &Silent).unwrap_err().to_string();
    assert!(message.contains("coincide"), "{message}");
    let lists = vec![vec![(1, 1.0)], vec![(2, 1.0)], vec![]];
    let path = recipe(2, Mvu::default()).fit(&Graph::from_lists(lists).unwrap(), &Silent).unwrap();
    assert!((primal(&path) - 2.0).abs() < 1e-3);
}

/// With equal distances too, where weights have both signs and the solver ends short of the optimum: its L K is far from K.
#[test]
fn x03_with_equal_distances_the_rank_is_at_most_the_multiplicity() {
    let cases = [(5, Some(Constraints::Edges), 0), (6, None, 0), (6, None, 1)];
    for (k, constraints, seed) in cases {
        let roll = Sample::SwissRoll.draw(150, 0.0, seed).unwrap().points;
        let mvu = Mvu { constraints, variant: MvuVariant::Equality, ..Mvu::default() };
        let bracket = recipe(k, mvu).fit(&roll, &Silent).unwrap().report().certificate.unwrap();
        assert!((1..=bracket.multiplicity).contains(&bracket.rank), "{k} {seed}: {bracket:?}");
    }
}

/// One definition of the rank, on sheets, clusters and flowers, with exact distances and within a band, at any gap.
#[test]
fn x03_the_rank_is_at_most_the_multiplicity_of_every_kind_of_data() {
    let draw = |sample: Sample, noise, seed| sample.draw(50, noise, seed).unwrap().points;
    let iris = eigenfold::io::read("iris", &eigenfold::io::ReadOptions::default()).unwrap().points;
    let sets = [
        draw(Sample::SwissRoll, 0.0, 3),
        draw(Sample::SwissRoll, 0.5, 4),
        draw(Sample::SCurve, 0.1, 5),
        draw(Sample::Blobs, 0.0, 6),
        iris.select(&(0..50).map(|i| 3 * i).collect::<Vec<_>>()),
    ];
    let mut bounded = 0;
    for (at, points) in sets.iter().enumerate() {
        for (band, tolerance) in [(None, 1e-4), (Some(0.01), 1e-4), (Some(0.05), 1e-2)] {
            let mvu = Mvu { variant: MvuVariant::Equality, band, tolerance, ..Mvu::default() };
            // Exactly equal distances may leave no bound at all, which is an error.
            let Ok(model) = recipe(5 + at % 3, mvu).fit(points, &Silent) else { continue };
            let bracket = model.report().certificate.unwrap();
            assert!((1..=bracket.multiplicity).contains(&bracket.rank), "set {at}, band {band:?}: {bracket:?}");
            bounded += 1;
        }
    }
    assert!(bounded >= 10, "{bounded} of 15 have a bound");
}

/// Separate components: the largest rank stands beside the largest multiplicity.
#[test]
fn components_of_different_rank_keep_the_rank_below_the_multiplicity() {
    let ring = (0..20).map(|i| (std::f64::consts::TAU * i as f64 / 20.0).sin_cos()).map(|(s, c)| [s, c, 0.0]);
    let line = (0..20).map(|i| [100.0 + i as f64, 0.0, 0.0]);
    let points = Points::from_rows(&ring.chain(line).collect::<Vec<_>>()).unwrap();
    let mvu = Mvu { constraints: Some(Constraints::Edges), ..Mvu::default() };
    let model = Recipe { disconnected: Disconnected::Separate, ..recipe(2, mvu) }.fit(&points, &Silent).unwrap();
    assert_eq!(model.report().graph.components.len(), 2);
    let bracket = model.report().certificate.unwrap();
    assert!((1..=bracket.multiplicity).contains(&bracket.rank), "{bracket:?}");
}
