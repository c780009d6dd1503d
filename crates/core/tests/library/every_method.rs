//! The contract every method keeps, looped over all of them.
use crate::support::*;
use eigenfold::Silent;
use eigenfold::{Disconnected, Error, Method, Model, Neighbors, Points, Recipe};

fn recipe(method: Method) -> Recipe {
    Recipe { method, ..Recipe::default() }
}

fn same_shape(a: &Points, b: &Points, tolerance: f64, what: &str) {
    let mismatch = distance_mismatch(a, b);
    assert!(mismatch < tolerance, "{what}: {mismatch}");
}

/// Whether a map is known less exactly than its field: lle's eigenvalues are close to rounding, and drill's field is
/// known to its duality gap; rounding grows along a descent with momentum.
fn known_to(name: &str) -> f64 {
    match name {
        "lle" | "drill" | "sne" | "symmetric-sne" | "tsne" | "umap" => FITTED,
        _ => 1e-6,
    }
}

/// Whether two maps of the same points, row by row, have the same distances. Elastic embedding has many minima of nearly the
/// same value, and rounding decides among them: its values are compared. So has the likelihood of gplvm, whose value is one
/// per cell of the data.
fn same_map(a: &Model, rows: &Points, b: &Model, name: &str) {
    if name == "elastic" {
        let (one, other) = (a.report().objective.unwrap(), b.report().objective.unwrap());
        assert!((one / other - 1.0).abs() < 0.05, "{name}: {one} {other}");
    } else if name == "gplvm" {
        let (one, other) = (a.report().objective.unwrap(), b.report().objective.unwrap());
        assert!((one - other).abs() < 0.5, "{name}: {one} {other}");
    } else {
        same_shape(rows, b.embedding(), known_to(name), name);
    }
}

/// Two rolls of different sizes: one below the dense solver's limit, one above. The methods whose own work grows faster than
/// that of the solver have smaller ones.
fn sizes(method: &Method) -> [usize; 2] {
    match method.info().name {
        "gplvm" => [60, 120],
        "drill" | "sne" | "symmetric-sne" | "elastic" => [110, 200],
        "umap" => [180, 320],
        _ => [180, 520],
    }
}

#[test]
fn every_row_gets_finite_coordinates_and_every_map_its_evidence() {
    for method in methods() {
        for n in sizes(&method) {
            let name = method.info().name;
            let model = fitted(&method, n);
            let model = model.wait();
            assert_eq!((model.embedding().rows(), model.embedding().cols()), (n, 2), "{name}");
            assert!(model.embedding().values().iter().all(|v| v.is_finite()), "{name}");
            let report = model.report();
            assert!(report.converged || name == "gplvm", "{name}");
            match report.objective.zip(report.gradient) {
                // Stress ends where its slope is next to nothing; the others where they gain next to nothing.
                Some((objective, gradient)) => {
                    let still = gradient < 1e-5 || !["smacof", "sammon"].contains(&name);
                    assert!(objective.is_finite() && gradient.is_finite() && still, "{name}: {gradient}");
                }
                None => {
                    assert!(
                        report.eigenvalues.len() >= 2 && report.residuals.len() == report.eigenvalues.len(),
                        "{name}"
                    );
                    assert!(report.residuals.iter().take(2).all(|&r| r < SOLVED), "{name}: {:?}", report.residuals);
                }
            }
            // Two factors of three features are not determined, and fa says so; gplvm has few evaluations, and says so.
            let told = name == "fa" || name == "gplvm";
            assert!(report.warnings.is_empty() || told, "{name}: {:?}", report.warnings);
        }
    }
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    for method in methods() {
        let name = method.info().name;
        for (threads, n) in [1, 3].into_iter().zip(sizes(&method)) {
            // As many threads as the machine has.
            let all = fitted(&method, n);
            let all = all.wait();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let some = pool.install(|| recipe(method.clone()).fit(&swiss(n), &Silent).unwrap());
            assert_eq!(some.embedding(), all.embedding(), "{name}");
            assert_eq!(some.spectrum(), all.spectrum(), "{name}");
            assert_eq!(some.report().likelihood, all.report().likelihood, "{name}");
        }
    }
}

#[test]
fn every_method_has_a_likelihood_on_one_scale() {
    let iris = eigenfold::io::read("iris", &eigenfold::io::ReadOptions::default()).unwrap().points;
    for method in methods() {
        let name = method.info().name;
        let [small, large] = sizes(&method).map(|n| fitted(&method, n));
        let of_iris = recipe(method).fit(&iris, &Silent).unwrap();
        for model in [small.wait(), large.wait(), &of_iris] {
            let found = model.report().likelihood.unwrap_or_else(|| panic!("{name} has no likelihood"));
            assert!(found.log_likelihood.is_finite(), "{name}: {found:?}");
            assert!(found.signal >= 0.0 && found.noise >= 0.0 && found.signal + found.noise > 0.0, "{name}: {found:?}");
            let features = if std::ptr::eq(model, &of_iris) { 4 } else { 3 };
            assert_eq!(found.directions * found.features, (model.embedding().rows() - 1) * features, "{name}");
        }
    }
}

#[test]
fn permuting_the_points_permutes_the_rows() {
    for method in methods() {
        for n in sizes(&method) {
            let order: Vec<usize> = (0..n).map(|i| (i * 7 + 3) % n).collect();
            let points = swiss(n).select(&order);
            let name = method.info().name;
            let plain = fitted(&method, n);
            let plain = plain.wait();
            let permuted = recipe(method.clone()).fit(&points, &Silent).unwrap();
            same_map(plain, &plain.embedding().select(&order), &permuted, name);
        }
    }
}

#[test]
fn rotating_the_data_changes_no_distance() {
    for method in methods() {
        let name = method.info().name;
        let n = sizes(&method)[0];
        if name == "fa" {
            continue; // It is about the noise of single features, and after a rotation they are others.
        }
        let plain = fitted(&method, n);
        let plain = plain.wait();
        let turned = recipe(method).fit(&rotated(&swiss(n)), &Silent).unwrap();
        same_map(plain, plain.embedding(), &turned, name);
    }
}

#[test]
fn duplicates_and_constant_columns_are_harmless() {
    let base = swiss(150);
    let rows: Vec<Vec<f64>> = (0..200).map(|i| [base.row(i % 150), &[7.0]].concat()).collect();
    let points = Points::from_rows(&rows).unwrap();
    for method in methods() {
        let name = method.info().name;
        let model = recipe(method).fit(&points, &Silent).unwrap();
        assert!(model.embedding().values().iter().all(|v| v.is_finite()), "{name}");
        assert_eq!(model.embedding().rows(), 200);
    }
}

#[test]
fn a_training_row_gets_its_own_coordinates_and_rows_do_not_see_each_other() {
    for method in methods() {
        for n in sizes(&method) {
            let points = swiss(n);
            let fresh = Points::from_rows(
                &(0..6).map(|i| points.row(8 * i).iter().map(|v| v + 0.05).collect::<Vec<_>>()).collect::<Vec<_>>(),
            )
            .unwrap();
            let name = method.info().name;
            let model = fitted(&method, n);
            let model = model.wait();
            let some: Vec<usize> = (0..n).step_by(8).collect();
            let again = model.transform(&points.select(&some)).unwrap();
            let scale = model.embedding().values().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            for (a, b) in again.values().iter().zip(model.embedding().select(&some).values()) {
                assert!((a - b).abs() < 1e-9 * scale, "{name}");
            }
            let all = model.transform(&fresh).unwrap();
            for i in 0..fresh.rows() {
                assert_eq!(model.transform(&fresh.select(&[i])).unwrap().row(0), all.row(i), "{name}");
                let moved: f64 = all.row(i).iter().zip(again.row(i)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                assert!(
                    moved < 0.2 * scale,
                    "{name}: a small step in the data is a small step on the map, not {moved}"
                );
            }
        }
    }
}

#[test]
fn a_saved_model_places_points_as_the_one_in_memory() {
    let points = swiss(250);
    for method in methods() {
        let name = method.info().name;
        let model = recipe(method).fit(&points, &Silent).unwrap();
        let bytes = model.to_bytes().unwrap();
        let loaded = Model::from_bytes(&bytes).unwrap();
        assert_eq!(loaded.embedding(), model.embedding(), "{name}");
        assert_eq!(loaded.to_bytes().unwrap(), bytes, "{name}");
        let fresh = swiss(260).select(&(200..260).collect::<Vec<_>>());
        assert_eq!(loaded.transform(&fresh).unwrap(), model.transform(&fresh).unwrap(), "{name}");
        assert!(bytes.len() < 250 * 250, "{name}: {} bytes hold no n x n matrix", bytes.len());
    }
}

#[test]
fn training_rows_come_back_within_their_deviations() {
    // The rows take part in their own prediction by kriging, so they lie closer than a new row would, of which 95 of 100 are
    // within their margins. Of the 330 entries here 95 % are good to 0.012; the linear rule has seen them all.
    for points in [swiss(110)] {
        for method in methods() {
            let name = method.info().name;
            let model = recipe(method).fit(&points, &Silent).unwrap();
            let back = model.reconstruct(model.embedding()).unwrap();
            let known = back.points.values().iter().zip(points.values()).zip(back.margins.values());
            let off: Vec<f64> = known.filter(|(_, m)| **m > 0.0).map(|((back, x), m)| (back - x).abs() / m).collect();
            let inside = off.iter().filter(|&&z| z <= 1.0).count() as f64 / off.len() as f64;
            assert!(inside >= 0.93, "{name}: {inside}");
            assert!(back.diagnostics.error.unwrap() < 1.0, "{name}: better than the mean, {:?}", back.diagnostics);
        }
    }
}

#[test]
fn the_way_back_is_the_same_alone_on_any_number_of_threads_and_after_saving() {
    let points = swiss(32);
    for method in methods() {
        let name = method.info().name;
        let model = recipe(method).fit(&points, &Silent).unwrap();
        let places = model.embedding().select(&[3, 30, 17]);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| model.reconstruct(&places).unwrap())
        };
        let all = run(1);
        assert_eq!(all, run(3), "{name}");
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.reconstruct(&places).unwrap(), all, "{name}");
        let learned = model.learn_inverse().unwrap();
        let inverse_transform = model.inverse_from(&learned).unwrap();
        assert_eq!(inverse_transform.reconstruct(&places).unwrap(), all, "{name}");
        for i in 0..places.rows() {
            let alone = inverse_transform.reconstruct(&places.select(&[i])).unwrap();
            assert_eq!((alone.points.row(0), alone.deviations.row(0)), (all.points.row(i), all.deviations.row(i)));
        }
    }
}

#[test]
fn components_are_joined_kept_apart_or_refused_and_no_row_vanishes() {
    let near = swiss(200);
    let rows: Vec<Vec<f64>> =
        (0..260).map(|i| near.row(i % 200).iter().map(|v| v + if i < 200 { 0.0 } else { 500.0 }).collect()).collect();
    let points = Points::from_rows(&rows).unwrap();
    for method in methods().into_iter().filter(|m| m.info().needs_graph) {
        let name = method.info().name;
        let joined = recipe(method.clone()).fit(&points, &Silent).unwrap();
        assert_eq!(joined.report().components, [200, 60], "{name}");
        assert_eq!((joined.embedding().rows(), joined.report().linking_edges), (260, 1), "{name}");
        assert!(
            joined.report().warnings[0].message().starts_with("the graph has 2 connected components (200, 60 points)"),
            "{name}"
        );

        let apart =
            Recipe { disconnected: Disconnected::Separate, ..recipe(method.clone()) }.fit(&points, &Silent).unwrap();
        assert_eq!(apart.embedding().rows(), 260);
        let first = |range: std::ops::Range<usize>| range.map(|i| apart.embedding().row(i)[0]);
        assert!(first(0..200).fold(f64::MIN, f64::max) < first(200..260).fold(f64::MAX, f64::min), "{name}");
        let again = apart.transform(&points).unwrap();
        for (a, b) in again.values().iter().zip(apart.embedding().values()) {
            assert!((a - b).abs() < 1e-9, "{name}");
        }

        let refused = Recipe { disconnected: Disconnected::Error, ..recipe(method) }.fit(&points, &Silent).unwrap_err();
        assert!(matches!(refused, Error::Disconnected { ref sizes, .. } if *sizes == [200, 60]), "{name}: {refused}");
    }
}

#[test]
fn bad_parameters_get_their_own_errors() {
    let points = swiss(50);
    for method in methods() {
        let name = method.info().name;
        let dims = |dims| Recipe { dims, ..recipe(method.clone()) }.fit(&points, &Silent).unwrap_err().to_string();
        assert!(dims(0).contains("use `dims` 1 or more"), "{name}");
        assert!(dims(50).contains("; use `dims`"), "{name}: {}", dims(50));
        if method.info().needs_graph {
            let k = |k| Recipe { neighbors: Neighbors::Nearest(k), ..recipe(method.clone()) };
            assert!(k(50).fit(&points, &Silent).is_err() && k(0).fit(&points, &Silent).is_err(), "{name}");
            assert!(k(49).fit(&points, &Silent).is_ok(), "{name}");
        }
        let unknown = method.clone().set("no-such", "1").unwrap_err().to_string();
        assert!(unknown.starts_with(&format!("{name} has no parameter `no-such`")), "{unknown}");
        for parameter in method.parameters() {
            assert!(method.clone().set(parameter.name, "nonsense").is_err(), "{name} {}", parameter.name);
            let mut same = method.clone();
            same.set(parameter.name, &parameter.value).unwrap();
            assert_eq!(same, method, "{name}: a parameter's own text sets it to itself");
        }
        let wrong = Points::new(1, 7, vec![0.0; 7]).unwrap();
        let model = recipe(method).fit(&points, &Silent).unwrap();
        assert!(model.transform(&wrong).unwrap_err().to_string().contains("7 columns"), "{name}");
    }
}

#[test]
fn a_limit_on_memory_is_kept_before_anything_is_allocated() {
    let points = swiss(2000);
    for name in ["isomap", "kernel-pca"] {
        let method = Method::from_name(name).unwrap();
        let error = Recipe { memory: Some(1_000_000), ..recipe(method) }.fit(&points, &Silent).unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{error}");
        assert!(error.to_string().contains("use "), "{error}");
    }
}

#[test]
fn tiny_and_extreme_inputs_do_not_break_anything() {
    let two = Points::from_rows(&[[0.0, 0.0], [3.0, 4.0]]).unwrap();
    let huge = Points::from_rows(&(0..30).map(|i| [1e148 * (i as f64), -1e148]).collect::<Vec<_>>()).unwrap();
    let same = Points::from_rows(&[[1.0, 2.0]; 12]).unwrap();
    for method in methods() {
        let name = method.info().name;
        let line = Recipe { dims: 1, neighbors: Neighbors::Nearest(1), ..recipe(method.clone()) }.fit(&two, &Silent);
        if ["ltsa", "hessian-lle", "modified-lle"].contains(&name) {
            assert!(line.unwrap_err().to_string().contains("needs 2 neighbors"), "{name}: two points have no patch");
        } else {
            let line = line.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(line.embedding().row(0)[0] * line.embedding().row(1)[0] < 0.0, "{name}: the two points part");
        }
        for points in [&huge, &same] {
            // Either an answer or an error that says why; never a value that is not finite.
            match (Recipe { dims: 1, ..recipe(method.clone()) }).fit(points, &Silent) {
                Ok(model) => assert!(model.embedding().values().iter().all(|v| v.is_finite()), "{name}"),
                Err(error) => assert!(error.to_string().contains("; "), "{name}: {error}"),
            }
        }
    }
}
