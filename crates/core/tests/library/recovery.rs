//! Known truths recovered: ten seeds, the worst bounded.
use crate::support::*;
use eigenfold::{
    Alle, Distances, Drill, HessianLle, Init, Isomap, LaplacianEigenmaps, Lle, Ltsa, Mds, Method, Model, ModifiedLle,
    Neighbors, Penalty, Points, Recipe, Search, Silent, Umap, sample::Sample,
};

/// A start that puts a small group far away would leave it there: 27 of the digits are nearly a component of their own.
#[test]
fn umap_keeps_small_groups_of_digits_in_the_picture() {
    let digits = eigenfold::io::read("digits", &eigenfold::io::ReadOptions::default()).unwrap().points;
    for init in [Init::Pca, Init::Spectral] {
        let mut with_outliers = digits.values().to_vec();
        with_outliers[..3 * digits.cols()].iter_mut().for_each(|x| *x += 1000.0);
        // Outliers start at three median distances; without that limit they end at eight.
        for (values, most) in [(digits.values().to_vec(), 3.0), (with_outliers, 3.5)] {
            let points = Points::new(digits.rows(), digits.cols(), values).unwrap();
            let model = fit(Umap { init, ..Umap::default() }, &points);
            let reach = reach(model.embedding());
            assert!(reach < most, "{init:?}: the farthest point is {reach} median radii away");
        }
    }
}

/// The distance of the farthest point from the middle, in median distances.
fn reach(map: &Points) -> f64 {
    let mut radii: Vec<f64> = (0..map.rows()).map(|i| map.row(i)[0].hypot(map.row(i)[1])).collect();
    radii.sort_by(f64::total_cmp);
    radii[radii.len() - 1] / radii[radii.len() / 2]
}

#[test]
fn isomap_unrolls_the_swiss_roll() {
    for seed in 0..10 {
        let roll = Sample::SwissRoll.draw(1500, 0.0, seed).unwrap();
        let recipe = Recipe { method: Isomap::default().into(), neighbors: Neighbors::Nearest(8), ..Recipe::default() };
        let error = affine_error(&roll.truth, recipe.fit(&roll.points, &Silent).unwrap().embedding());
        assert!(error < 0.01, "seed {seed}: {error}");
    }
}

/// Both axes, each on its own: the long one must not hide the short one.
#[test]
fn acyclic_lle_unrolls_the_swiss_roll() {
    for (n, k, seeds) in [(5000, 8, 10), (5000, 10, 10), (20_000, 10, 3)] {
        for seed in 0..seeds {
            let roll = Sample::SwissRoll.draw(n, 0.0, seed).unwrap();
            let recipe =
                Recipe { method: Alle::default().into(), neighbors: Neighbors::Nearest(k), ..Recipe::default() };
            let map = recipe.fit(&roll.points, &Silent).unwrap();
            for axis in 0..2 {
                let truth = eigenfold::Points::new(n, 1, (0..n).map(|i| roll.truth.row(i)[axis]).collect()).unwrap();
                let error = affine_error(&truth, map.embedding());
                assert!(error < 0.1, "n = {n}, k = {k}, seed {seed}, axis {axis}: {error}");
            }
        }
    }
}

#[test]
fn landmarks_give_nearly_the_same_map() {
    for seed in 0..10 {
        let roll = Sample::SwissRoll.draw(1500, 0.0, seed).unwrap();
        let recipe = |landmarks| Recipe {
            method: Isomap { landmarks }.into(),
            neighbors: Neighbors::Nearest(8),
            seed,
            ..Recipe::default()
        };
        let few = recipe(Some(100)).fit(&roll.points, &Silent).unwrap();
        let all = recipe(None).fit(&roll.points, &Silent).unwrap();
        let error = affine_error(all.embedding(), few.embedding());
        assert!(error < 5e-3, "seed {seed}: {error}");
        let every = recipe(Some(1500)).fit(&roll.points, &Silent).unwrap();
        assert_eq!(every.embedding(), all.embedding());
        let placed = few.transform(&roll.points).unwrap();
        assert_eq!(&placed, few.embedding());
    }
}

#[test]
fn landmark_scaling_of_euclidean_distances_is_exact() {
    // With p + 1 landmarks in general position every point is placed exactly, whatever the metric's matrix.
    let points = cloud(400, 3, 1);
    let few = Recipe { method: Mds { landmarks: Some(30) }.into(), dims: 3, ..Recipe::default() }
        .fit(&points, &Silent)
        .unwrap();
    assert!(distance_mismatch(&points, few.embedding()) < SOLVED);
    let input = distances(&points);
    let recipe = Recipe { method: Mds { landmarks: Some(30) }.into(), dims: 3, ..Recipe::default() };
    let given = recipe.fit(&Distances::new(input.clone()).unwrap(), &Silent).unwrap();
    assert!(distance_mismatch(&points, given.embedding()) < SOLVED);
}

/// Two hundred points along a line, four times as dense at one end as at the other, and two far beyond it. With one width, these
/// two have next to no weight, with a warning; with a width per point the map has the order of the line.
#[test]
fn a_width_per_point_holds_thin_parts_together_and_a_map_that_falls_apart_has_a_warning() {
    let place = |i: usize| if i < 200 { (i as f64 / 100.0).exp2() } else { 7.0 + 0.01 * i as f64 };
    let line = Points::from_rows(&(0..202).map(|i| [place(i), 0.0]).collect::<Vec<_>>()).unwrap();
    for name in ["laplacian-eigenmaps", "diffusion-maps"] {
        let map = |bandwidth: &str| {
            let mut method = Method::from_name(name).unwrap();
            method.set("bandwidth", bandwidth).unwrap();
            Recipe { method, dims: 1, neighbors: Neighbors::Nearest(4), ..Recipe::default() }
                .fit(&line, &Silent)
                .unwrap()
        };
        let said = |model: &Model| {
            model.report().warnings.iter().map(|warning| warning.message()).collect::<Vec<_>>().join("; ")
        };
        let torn = map("global");
        assert!(
            said(&torn).contains("separates 2 of 202 points; its eigenvalue is numerically zero"),
            "{name}: {}",
            said(&torn)
        );
        let local = map("local");
        assert!(!said(&local).contains("numerically zero"), "{name}: {}", said(&local));
        let y = local.embedding();
        let up = (1..200).filter(|&i| y.row(i)[0] > y.row(i - 1)[0]).count();
        assert!(up == 0 || up == 199, "{name}: {up}");
        assert_eq!(local.report().parameters.iter().find(|p| p.name == "bandwidth").unwrap().used, "local");
    }
}

#[test]
fn distances_and_points_give_the_same_map() {
    let points = swiss(300);
    let square = distances(&points);
    let near = ["laplacian-eigenmaps", "diffusion-maps", "lle", "alle", "ltsa", "hessian-lle", "modified-lle"];
    for name in ["mds", "isomap"].into_iter().chain(near) {
        let recipe = Recipe { method: eigenfold::Method::from_name(name).unwrap(), ..Recipe::default() };
        let (a, b) = (
            recipe.fit(&points, &Silent).unwrap(),
            recipe.fit(&Distances::new(square.clone()).unwrap(), &Silent).unwrap(),
        );
        let tolerance = if name.ends_with("lle") { 1e-3 } else { 1e-6 };
        assert!(distance_mismatch(a.embedding(), b.embedding()) < tolerance, "{name}");
    }
    let gram: Vec<f64> = (0..300 * 300)
        .map(|at| points.row(at / 300).iter().zip(points.row(at % 300)).map(|(x, y)| x * y).sum())
        .collect();
    let gram = eigenfold::Points::new(300, 300, gram).unwrap();
    let recipe = Recipe { method: Isomap::default().into(), ..Recipe::default() };
    let (a, b) = (
        recipe.fit(&points, &Silent).unwrap(),
        recipe.fit(&Distances::from_similarities(&gram).unwrap(), &Silent).unwrap(),
    );
    assert!(distance_mismatch(a.embedding(), b.embedding()) < 1e-6);
}

#[test]
fn a_given_graph_is_used_as_it_is() {
    let points = swiss(400);
    let found = eigenfold::Search::default().of_points(&points, &eigenfold::Silent).unwrap();
    for name in ["isomap", "laplacian-eigenmaps", "diffusion-maps"] {
        let recipe = Recipe { method: eigenfold::Method::from_name(name).unwrap(), ..Recipe::default() };
        let (a, b) = (recipe.fit(&points, &Silent).unwrap(), recipe.fit(&found.graph, &Silent).unwrap());
        assert_eq!(a.embedding(), b.embedding(), "{name}");
        assert!(b.transform(&points).unwrap_err().to_string().contains("fitted to a graph"));
    }
    assert!(Recipe { method: Lle::default().into(), ..Recipe::default() }.fit(&found.graph, &Silent).is_err());
}

#[test]
fn the_slowest_vibration_of_a_long_strip_runs_along_it() {
    for seed in 0..10 {
        let roll = Sample::SwissRoll.draw(2000, 0.0, seed).unwrap();
        let recipe = Recipe { method: LaplacianEigenmaps::default().into(), dims: 1, ..Recipe::default() };
        let map = recipe.fit(&roll.points, &Silent).unwrap();
        let along = |i: usize| roll.truth.row(i)[0];
        // Order along the strip is kept: the coordinate is monotone up to local noise.
        let mut order: Vec<usize> = (0..2000).collect();
        order.sort_by(|&a, &b| along(a).total_cmp(&along(b)));
        let mean = |range: std::ops::Range<usize>| {
            range.clone().map(|r| map.embedding().row(order[r])[0]).sum::<f64>() / range.len() as f64
        };
        let steps: Vec<f64> = (0..10).map(|s| mean(s * 200..(s + 1) * 200)).collect();
        let rising = steps.is_sorted() || steps.iter().rev().is_sorted();
        assert!(rising, "seed {seed}: {steps:?}");
    }
}

/// n points of a cube of d dimensions, gently bent into 2d dimensions: x = (z, 0.15 sin 2z + 0.1 z z').
fn bent_cube(n: usize, d: usize, seed: u64) -> (Points, Points) {
    let truth = cloud(n, d, seed);
    let bend = |z: &[f64]| -> Vec<f64> {
        let up = |q: usize| 0.15 * (2.0 * z[q]).sin() + 0.1 * z[q] * z[(q + 1) % d];
        z.iter().copied().chain((0..d).map(up)).collect()
    };
    let points = Points::from_rows(&(0..n).map(|i| bend(truth.row(i))).collect::<Vec<_>>()).unwrap();
    (points, truth)
}

#[test]
fn alignment_methods_flatten_bent_cubes_of_one_to_five_dimensions() {
    for (d, k) in [(1, 12), (2, 10), (3, 14), (5, 30)] {
        for seed in 0..3 {
            let (points, truth) = bent_cube(1200, d, seed);
            let methods: [Method; 3] = [Ltsa.into(), HessianLle::default().into(), ModifiedLle::default().into()];
            for method in methods {
                let name = method.info().name;
                let recipe = Recipe { method, neighbors: Neighbors::Nearest(k), dims: d, ..Recipe::default() };
                let model = recipe.fit(&points, &Silent).unwrap();
                let error = affine_error(&truth, model.embedding());
                assert!(model.report().warnings.is_empty(), "{name}: {:?}", model.report().warnings);
                assert!(error < 0.01, "{name} in {d} dimensions, seed {seed}: {error}");
            }
        }
    }
}

#[test]
fn alignment_methods_unroll_the_swiss_roll() {
    for seed in 0..10 {
        let roll = Sample::SwissRoll.draw(2000, 0.0, seed).unwrap();
        let error = |method: Method| affine_error(&roll.truth, fit(method, &roll.points).embedding());
        let (ltsa, hessian, modified) =
            (error(Ltsa.into()), error(HessianLle::default().into()), error(ModifiedLle::default().into()));
        // The regularized weights of modified LLE leave a bias that the others do not have.
        assert!(ltsa < 1e-3 && hessian < 1e-3 && modified < 5e-3, "seed {seed}: {ltsa} {hessian} {modified}");
        assert!(hessian < ltsa, "seed {seed}: second derivatives alone bend less, {hessian} against {ltsa}");
    }
}

#[test]
fn too_few_neighbors_are_an_error_with_the_least_number() {
    let points = swiss(100);
    let cases: [(Method, usize, usize); 5] = [
        (Ltsa.into(), 2, 3),
        (HessianLle::default().into(), 1, 2),
        (HessianLle::default().into(), 2, 5),
        (HessianLle::default().into(), 3, 9),
        (ModifiedLle::default().into(), 2, 3),
    ];
    for (method, dims, least) in cases {
        let name = method.info().name;
        let recipe = |k| Recipe { method: method.clone(), dims, neighbors: Neighbors::Nearest(k), ..Recipe::default() };
        let message = recipe(least - 1).fit(&points, &Silent).unwrap_err().to_string();
        assert!(message.contains(&format!("needs {least} neighbors")), "{name}: {message}");
        assert!(message.contains(&format!("use `neighbors` {least} or more")), "{name}: {message}");
        assert!(recipe(least).fit(&points, &Silent).is_ok(), "{name}");
    }
    let four =
        Recipe { method: Ltsa.into(), dims: 4, ..Recipe::default() }.fit(&points, &Silent).unwrap_err().to_string();
    assert!(four.contains("4 dimensions were requested for 3 features"), "{four}");
}

/// Points that are in no list of neighbors, coinciding points, points on a grid.
#[test]
fn alignment_methods_survive_outliers_duplicates_and_grids() {
    let base = swiss(600);
    let mut rows: Vec<Vec<f64>> = (0..600).map(|i| base.row(i).to_vec()).collect();
    for i in 0..20 {
        rows.push(base.row(30 * i).iter().map(|v| v + 3.0).collect());
        rows.extend(std::iter::repeat_n(base.row(7).to_vec(), 2));
    }
    let strange = Points::from_rows(&rows).unwrap();
    let grid = Points::from_rows(&(0..625).map(|i| [(i % 25) as f64, (i / 25) as f64]).collect::<Vec<_>>()).unwrap();
    let methods: [Method; 3] = [Ltsa.into(), HessianLle::default().into(), ModifiedLle::default().into()];
    for method in methods {
        let name = method.info().name;
        let map = fit(method.clone(), &strange);
        assert!(map.report().ended.is_converged() && map.embedding().rows() == 660, "{name}");
        assert!(map.embedding().values().iter().all(|v| v.is_finite()), "{name}");
        let flat = fit(method, &grid);
        let error = affine_error(&grid, flat.embedding());
        // Regularized weights do not quite reproduce the points on the rim.
        let tolerance = if name == "modified-lle" { FITTED } else { SOLVED };
        assert!(error < tolerance, "{name}: a flat grid is its own map, {error}");
    }
}

/// A graph that was learned is a part of its candidates, and the method sees it as it would see it given.
#[test]
fn a_learned_graph_serves_any_method() {
    let points = swiss(140);
    let drill = Drill { penalty: Penalty::Value(0.05), ridge: 0.01, ..Drill::default() };
    let plain = Recipe { neighbors: Neighbors::Nearest(8), method: Isomap::default().into(), ..Recipe::default() };
    let recipe = Recipe { learned: Some(drill), ..plain.clone() };
    let model = recipe.fit(&points, &Silent).unwrap();
    let search = Search { neighbors: Neighbors::Nearest(8), ..Search::default() };
    let (found, learned) = drill.graph(&search, &points, None, &Silent).unwrap();
    assert!(learned.kept < learned.candidates && learned.kept >= 139 - found.linking_edges.len(), "{learned:?}");
    let candidates = search.of_points(&points, &Silent).unwrap().graph.union();
    let linking_edge = |i: usize, j: u32| {
        found.linking_edges.iter().any(|b| (b.0, b.1) == (i as u32, j) || (b.1, b.0) == (i as u32, j))
    };
    for i in 0..140 {
        assert!(found.graph.neighbors(i).iter().all(|&j| candidates.neighbors(i).contains(&j) || linking_edge(i, j)));
    }
    let given = plain.fit(&found.graph, &Silent).unwrap();
    assert!(distance_mismatch(given.embedding(), model.embedding()) < SOLVED);
    assert!(distance_mismatch(plain.fit(&points, &Silent).unwrap().embedding(), model.embedding()) > SOLVED);
    assert_eq!(model.report().graph.route.as_deref(), Some("learned"));
    assert!(model.report().ended.is_converged());
    assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap().recipe(), &recipe);
}
