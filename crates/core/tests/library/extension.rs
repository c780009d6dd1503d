//! Out-of-sample extension: the coordinates of new points, and the warnings for points that lie far away.
use crate::support::*;
use eigenfold::{
    Bandwidth, Distances, Index, LaplacianEigenmaps, LaplacianVariant, Method, Metric, Meu, Model, Mutual, Neighbors,
    Points, Recipe, Silent, sample::Sample,
};

fn recipe(method: Method) -> Recipe {
    Recipe { method, ..Recipe::default() }
}

/// Both of them, one after the other.
fn stacked(a: &Points, b: &Points) -> Points {
    Points::new(a.rows() + b.rows(), a.cols(), [a.values(), b.values()].concat()).unwrap()
}

/// The true coordinates of `swiss(n)`: arc length and height.
fn truth(points: &Points) -> Points {
    let arc = |t: f64| 0.5 * (t * (1.0 + t * t).sqrt() + t.asinh());
    let row = |i: usize| [arc(points.row(i)[0].hypot(points.row(i)[2])), points.row(i)[1]];
    Points::from_rows(&(0..points.rows()).map(row).collect::<Vec<_>>()).unwrap()
}

#[test]
fn held_out_points_land_where_they_belong() {
    let all = swiss(3000);
    let (old, new): (Vec<usize>, Vec<usize>) = (0..3000).partition(|i| i % 4 != 0);
    let (old, new) = (all.select(&old), all.select(&new));
    // The errors of the maps themselves, which the new points cannot undo.
    for (name, most) in [("isomap", 4e-3), ("ltsa", 2e-4), ("hessian-lle", 2e-4), ("modified-lle", 2e-3)] {
        let model = recipe(Method::from_name(name).unwrap()).fit(&old, &Silent).unwrap();
        let placed = model.transform_detailed(&new).unwrap();
        assert!(placed.far.is_empty(), "{name}: {:?}", placed.far);
        let own = affine_error(&truth(&old), model.embedding());
        let both = stacked(model.embedding(), &placed.coordinates);
        let error = affine_error(&stacked(&truth(&old), &truth(&new)), &both);
        assert!(error < most && error < 3.0 * own + 1e-5, "{name}: {error}, and {own} without the new points");
    }
}

#[test]
fn a_new_point_is_no_farther_from_its_nearest_on_the_map_than_neighbors_are() {
    let all = swiss(440);
    let (old, new): (Vec<usize>, Vec<usize>) = (0..440).partition(|i| i % 4 != 0);
    let (old, new) = (all.select(&old), all.select(&new));
    let (near, _) = Index::new(&old, Metric::Euclidean).unwrap().nearest(&new, 8).unwrap();
    for method in methods() {
        let name = method.info().name;
        let model = recipe(method).fit(&old, &Silent).unwrap();
        let placed = model.transform(&new).unwrap();
        let (mut steps, mut reach) = (Vec::new(), Vec::new());
        for i in 0..new.rows() {
            let near: Vec<usize> = near[8 * i..8 * (i + 1)].iter().map(|&j| j as usize).collect();
            let on_map = |y: &[f64]| Metric::Euclidean.distance(y, model.embedding().row(near[0]));
            steps.push(on_map(placed.row(i)));
            reach.push((1..8).map(|j| on_map(model.embedding().row(near[j]))).fold(0.0, f64::max));
        }
        let beyond = steps.iter().zip(&reach).filter(|(step, reach)| step > reach).count();
        assert!(beyond * 50 < steps.len(), "{name}: {beyond} of {} new points leave their neighborhood", steps.len());
    }
}

#[test]
fn far_points_are_named_and_training_points_never_are() {
    let points = swiss(180);
    let mut rows: Vec<Vec<f64>> = vec![vec![500.0, 0.0, 0.0], points.row(3).iter().map(|v| v + 0.01).collect()];
    rows.push(vec![0.0, -400.0, 0.0]);
    let strange = Points::from_rows(&rows).unwrap();
    for method in methods() {
        let name = method.info().name;
        let model = fitted(&method, 180);
        let model = model.wait();
        let placed = model.transform_detailed(&strange).unwrap();
        assert_eq!(placed.far, [0, 2], "{name}");
        assert!(placed.coordinates.values().iter().all(|v| v.is_finite()), "{name}");
        let scale = model.embedding().values().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let most = placed.coordinates.values().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(most < 200.0 * scale, "{name}: {most} on a map of {scale}");
        assert!(model.transform_detailed(&points).unwrap().far.is_empty(), "{name}");
    }
}

#[test]
fn what_cannot_be_placed_is_refused_with_the_way_out() {
    let points = swiss(120);
    let square = distances(&points);
    for name in ["lle", "ltsa", "hessian-lle", "modified-lle"] {
        let recipe = Recipe { neighbors: Neighbors::Nearest(8), ..recipe(Method::from_name(name).unwrap()) };
        let model = recipe.fit(&Distances::new(square.clone()).unwrap(), &Silent).unwrap();
        let message = model.transform(&square).unwrap_err().to_string();
        assert!(message.contains("cannot embed new points; fit it to points"), "{name}: {message}");
    }
}

/// A field over landmarks: it embeds the landmarks, and they embed all other points and new points.
#[test]
fn meu_over_landmarks_places_the_others_as_it_places_new_points() {
    let points = swiss(600);
    let method = Meu { landmarks: Some(200), ..Meu::default() };
    let recipe = Recipe { method: method.into(), neighbors: Neighbors::Nearest(8), ..Recipe::default() };
    let model = recipe.fit(&points, &Silent).unwrap();
    assert_eq!(model.embedding().rows(), 600);
    let mut landmarks: Vec<u32> = model.weights().unwrap().iter().flat_map(|edge| [edge.i, edge.j]).collect();
    landmarks.sort_unstable();
    landmarks.dedup();
    assert_eq!(landmarks.len(), 200);
    // The landmarks alone have the same field, and so the same coordinates.
    let rows: Vec<usize> = landmarks.iter().map(|&i| i as usize).collect();
    let alone = Recipe { method: Meu::default().into(), ..recipe.clone() }.fit(&points.select(&rows), &Silent).unwrap();
    assert!(distance_mismatch(alone.embedding(), &model.embedding().select(&rows)) < 1e-12);
    assert_eq!(model.transform(&points).unwrap(), *model.embedding());
    let few = points.select(&(0..600).filter(|i| i % 7 == 0).collect::<Vec<_>>());
    assert!(
        alone
            .transform(&few)
            .unwrap()
            .values()
            .iter()
            .zip(model.transform(&few).unwrap().values())
            .all(|(a, b)| a == b)
    );
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.transform(&few).unwrap(), model.transform(&few).unwrap());
    assert_eq!(again.weights(), None);
    let error = recipe.fit(&Distances::new(distances(&points)).unwrap(), &Silent).unwrap_err().to_string();
    assert_eq!(error, "meu with `landmarks` needs points; leave them out");
}

/// In ten dimensions the factor of a neighborhood graph fills. The cost is predicted before the work starts, and the error
/// suggests landmarks.
#[test]
fn meu_refuses_a_graph_that_fills_and_takes_landmarks_of_it() {
    let points = cloud(20_000, 10, 1);
    let refused = recipe(Meu::default().into()).fit(&points, &Silent).unwrap_err().to_string();
    assert!(refused.contains("flops") && refused.contains("or `landmarks` 1000"), "{refused}");
    let method = Meu { landmarks: Some(300), tolerance: 1e-3, ..Meu::default() };
    let model = recipe(method.into()).fit(&points, &Silent).unwrap();
    assert!(model.report().ended.is_converged() && model.embedding().rows() == 20_000);
}

/// A point held out lands where the fit with all points puts it, in every variant of Laplacian eigenmaps and whether
/// mutual edges count once or twice: the symmetric variant's length carries the root of the new point's weights, which
/// its own list alone does not give.
#[test]
fn laplacian_eigenmaps_places_new_points_in_every_variant() {
    let all = swiss(3000);
    let (old, new): (Vec<usize>, Vec<usize>) = (0..3000).partition(|i| i % 20 != 0);
    for variant in [LaplacianVariant::Normalized, LaplacianVariant::Symmetric, LaplacianVariant::Unnormalized] {
        for mutual in [Mutual::Once, Mutual::Twice] {
            let method = LaplacianEigenmaps { variant, mutual, ..LaplacianEigenmaps::default() };
            let recipe = Recipe { method: method.into(), dims: 1, ..Recipe::default() };
            let whole = recipe.fit(&all, &Silent).unwrap().embedding().select(&new);
            let placed = recipe.fit(&all.select(&old), &Silent).unwrap().transform(&all.select(&new)).unwrap();
            let dot = |a: &Points, b: &Points| a.values().iter().zip(b.values()).map(|(a, b)| a * b).sum::<f64>();
            // Both maps have unit mean square, up to the sign.
            let slope = dot(&whole, &placed).abs() / dot(&whole, &whole);
            let left = 1.0 - dot(&whole, &placed).powi(2) / dot(&whole, &whole) / dot(&placed, &placed);
            assert!((slope - 1.0).abs() < 0.02 && left < 0.01, "{variant:?}, {mutual:?}: slope {slope}, left {left}");
        }
    }
}

/// A new point that goes around a roll in small steps makes small steps on the map, and goes to the coordinates of a training
/// point that it comes near. (If neighbors came and went all at once, the steps would be 0.1 standard deviations.)
#[test]
fn new_points_move_without_jumps_and_arrive_at_training_points() {
    let roll = swiss(600);
    let path = |i: usize| {
        let t = 6.0 + 0.0005 * i as f64;
        [t * t.cos(), 8.0 + 0.0005 * i as f64, t * t.sin()]
    };
    let path = Points::from_rows(&(0..4001).map(path).collect::<Vec<_>>()).unwrap();
    let sampled: Vec<usize> = (0..600).step_by(10).collect();
    let beside = Points::new(60, 3, roll.select(&sampled).values().iter().map(|v| v + 1e-9).collect()).unwrap();
    let symmetric = LaplacianEigenmaps { variant: LaplacianVariant::Symmetric, ..LaplacianEigenmaps::default() };
    let global = LaplacianEigenmaps { bandwidth: Bandwidth::Global, ..LaplacianEigenmaps::default() };
    let named = ["isomap", "laplacian-eigenmaps", "lle", "ltsa"].map(|name| Method::from_name(name).unwrap());
    let nearest = named.into_iter().chain([symmetric.into(), global.into()]).map(recipe);
    let within = ["isomap", "laplacian-eigenmaps", "lle"].map(|name| recipe(Method::from_name(name).unwrap()));
    let within = within.map(|recipe| Recipe { neighbors: Neighbors::Within(4.5), ..recipe });
    for recipe in nearest.chain(within) {
        let name = format!("{} {:?}", recipe.method.info().name, recipe.neighbors);
        let model = recipe.fit(&roll, &Silent).unwrap();
        let deviation = |points: &Points, q: usize| {
            (points.values().iter().skip(q).step_by(2).map(|v| v * v).sum::<f64>() / points.rows() as f64).sqrt()
        };
        let unit = [0, 1].map(|q| deviation(model.embedding(), q));
        let length = |a: &[f64], b: &[f64]| ((a[0] - b[0]) / unit[0]).hypot((a[1] - b[1]) / unit[1]);
        let placed = model.transform(&path).unwrap();
        let mut steps: Vec<f64> = (1..4001).map(|i| length(placed.row(i), placed.row(i - 1))).collect();
        steps.sort_unstable_by(f64::total_cmp);
        assert!(steps[3999] < 0.01, "{name}: {} {}", steps[2000], steps[3999]);
        let arrived = model.transform(&beside).unwrap();
        let most = (0..60).map(|i| length(arrived.row(i), model.embedding().row(sampled[i]))).fold(0.0, f64::max);
        assert!(most < 1e-6, "{name}: {most} from a training point that is 1e-9 away");
    }
}

/// The middle of a roll is farther from the surface than any neighbors are from each other, although many points are near.
#[test]
fn the_hollow_of_a_roll_is_far_and_rows_held_out_are_not() {
    let all = swiss(1250);
    let (old, new): (Vec<usize>, Vec<usize>) = (0..1250).partition(|i| i % 5 != 0);
    let (old, new) = (all.select(&old), all.select(&new));
    for name in ["isomap", "laplacian-eigenmaps", "ltsa", "lle"] {
        let model = recipe(Method::from_name(name).unwrap()).fit(&old, &Silent).unwrap();
        let hollow = Points::from_rows(&[[0.0, 10.0, 0.0]]).unwrap();
        assert_eq!(model.transform_detailed(&hollow).unwrap().far, [0], "{name}");
        assert!(model.transform_detailed(&new).unwrap().far.is_empty(), "{name}");
    }
}

/// Deviations of new points are zero at training points and grow with the distance from them.
#[test]
fn deviations_of_new_points_grow_with_their_distance_from_the_data() {
    let roll = swiss(500);
    let along = [0.0, 0.01, 0.1, 1.0, 10.0, 100.0].map(|step| {
        let row = roll.row(7);
        [row[0], row[1] - step, row[2]]
    });
    let along = Points::from_rows(&along).unwrap();
    for name in ["isomap", "lle", "laplacian-eigenmaps", "ltsa", "tsne"] {
        let model = recipe(Method::from_name(name).unwrap()).fit(&roll, &Silent).unwrap();
        let deviations = model.transform_with_std(&along).unwrap().deviations.unwrap();
        assert_eq!(deviations.row(0), [0.0, 0.0], "{name}: a training row is where it is");
        for (near, far) in [(0, 1), (1, 2), (2, 4), (4, 5)] {
            assert!((0..2).all(|q| deviations.row(near)[q] < deviations.row(far)[q]), "{name}: {deviations:?}");
        }
        assert!(model.transform_detailed(&along).unwrap().deviations.is_none());
    }
    // The coordinates of these do not depend on what is near.
    for name in ["pca", "kernel-pca"] {
        let model = recipe(Method::from_name(name).unwrap()).fit(&swiss(60), &Silent).unwrap();
        assert!(model.transform_with_std(&along).unwrap().deviations.is_none(), "{name}");
    }
}

/// Points of a surface have from 1 to 17 neighbors within a radius. A new point with the average number of neighbors would be
/// joined across gaps that no training point is joined across, and miss the point beside it by six times their distance.
#[test]
fn a_new_point_of_a_radius_graph_has_no_way_across_gaps() {
    let curve = Sample::SCurve.draw(200, 0.0, 0).unwrap().points;
    let recipe = Recipe {
        neighbors: Neighbors::Within(0.5),
        method: Method::from_name("isomap").unwrap(),
        dims: 10,
        ..Recipe::default()
    };
    // Of deviation 0.01.
    let noise = cloud(200, 3, 5);
    let moved = curve.values().iter().zip(noise.values()).map(|(x, e)| x + 0.035 * e).collect();
    let moved = Points::new(200, 3, moved).unwrap();
    let missed = |model: &Model, rows: &Points, unit: f64| {
        let placed = model.transform(rows).unwrap();
        let squares = placed.values().iter().zip(model.embedding().values()).map(|(a, b)| ((a - b) / unit).powi(2));
        (squares.sum::<f64>() / placed.values().len() as f64).sqrt()
    };
    let model = recipe.fit(&curve, &Silent).unwrap();
    assert!(missed(&model, &moved, 1.0) < 0.02, "{}", missed(&model, &moved, 1.0));
    // The radius follows the unit of the data, also through a file.
    let unit = 2f64.powi(60);
    let times = |points: &Points| Points::new(200, 3, points.values().iter().map(|x| x * unit).collect()).unwrap();
    let large = Recipe { neighbors: Neighbors::Within(0.5 * unit), ..recipe }.fit(&times(&curve), &Silent).unwrap();
    let large = Model::from_bytes(&large.to_bytes().unwrap()).unwrap();
    assert_eq!(missed(&large, &times(&moved), unit), missed(&model, &moved, 1.0));
}

/// Above the sizes at which a grid and a sample of the training points serve all new points, each row still stands for itself.
#[test]
fn rows_alone_and_together_get_the_same_coordinates_above_the_sizes_of_grids_and_samples() {
    let all = swiss(2200);
    let (old, new): (Vec<usize>, Vec<usize>) = (0..2200).partition(|i| i % 22 != 0);
    let (old, new) = (all.select(&old), all.select(&new));
    for name in ["isomap", "tsne", "umap"] {
        let model = recipe(Method::from_name(name).unwrap()).fit(&old, &Silent).unwrap();
        let placed = model.transform(&new).unwrap();
        for i in [0, 41, 99] {
            assert_eq!(model.transform(&new.select(&[i])).unwrap().values(), placed.row(i), "{name}, row {i}");
        }
        let some: Vec<usize> = (0..2100).step_by(50).collect();
        assert_eq!(model.transform(&old.select(&some)).unwrap(), model.embedding().select(&some), "{name}");
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.transform(&new).unwrap(), placed, "{name}");
    }
}
