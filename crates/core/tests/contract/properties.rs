//! What every method must do with ordinary data.
use crate::support::*;
use eigenfold::{Disconnected, Error, Method, Model, Neighbors, Points, Recipe, Silent};

/// The largest difference of pairwise distances that rounding may make between two maps. The eigenvalues of lle are close to
/// rounding, drill is solved to a duality gap, and rounding grows along an optimization with momentum.
pub(crate) fn tolerance(name: &str) -> f64 {
    match name {
        "lle" | "drill" | "sne" | "symmetric-sne" | "tsne" | "umap" => FITTED,
        _ => 1e-6,
    }
}

/// Two rolls of different sizes: one below the limit of the dense eigensolver, one above. Methods whose own work grows faster
/// than the work of the eigensolver have smaller rolls.
pub(crate) fn sizes(method: &Method) -> [usize; 2] {
    match method.info().name {
        "gplvm" => [60, 120],
        "drill" | "sne" | "symmetric-sne" | "elastic" => [110, 200],
        "umap" => [180, 320],
        _ => [180, 520],
    }
}

pub(crate) fn every_row_gets_finite_coordinates_and_every_map_its_diagnostics(method: &Method) {
    let name = method.info().name;
    for n in sizes(method) {
        let model = fitted(method, n);
        let model = model.wait();
        assert_eq!((model.embedding().rows(), model.embedding().cols()), (n, 2));
        assert!(all_finite(model.embedding()));
        let report = model.report();
        assert!(report.ended.is_converged() || name == "gplvm");
        match report.coordinates.objective.zip(report.coordinates.gradient) {
            // Stress ends where its gradient is next to nothing; the others where they gain next to nothing.
            Some((objective, gradient)) => {
                let still = gradient < 1e-5 || !["smacof", "sammon"].contains(&name);
                assert!(objective.is_finite() && gradient.is_finite() && still, "{gradient}");
            }
            None => {
                assert!(
                    report.coordinates.eigenvalues.len() >= 2
                        && report.coordinates.residuals.len() == report.coordinates.eigenvalues.len()
                );
                assert!(
                    report.coordinates.residuals.iter().take(2).all(|&r| r < SOLVED),
                    "{:?}",
                    report.coordinates.residuals
                );
            }
        }
        // Three features do not determine two factors, which fa reports; gplvm reports that it had few evaluations.
        let warns = name == "fa" || name == "gplvm";
        assert_eq!(!report.warnings.is_empty(), warns, "{:?}", report.warnings);
    }
}

pub(crate) fn the_bytes_do_not_depend_on_the_number_of_threads(method: &Method) {
    for (threads, n) in [1, 3].into_iter().zip(sizes(method)) {
        // As many threads as the machine has.
        let all = fitted(method, n);
        let all = all.wait();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let some = pool.install(|| fit(method.clone(), &swiss(n)));
        assert_eq!(some.embedding(), all.embedding());
        assert_eq!(some.spectrum(), all.spectrum());
        assert_eq!(some.report().likelihood, all.report().likelihood);
    }
}

pub(crate) fn the_likelihood_is_on_one_scale(method: &Method) {
    let iris = eigenfold::io::read("iris", &eigenfold::io::ReadOptions::default()).unwrap().points;
    let [small, large] = sizes(method).map(|n| fitted(method, n));
    let of_iris = fit(method.clone(), &iris);
    for (model, features) in [(small.wait(), 3), (large.wait(), 3), (&of_iris, 4)] {
        let found = model.report().likelihood.unwrap();
        assert!(found.log_likelihood.is_finite(), "{found:?}");
        assert!(found.signal >= 0.0 && found.noise >= 0.0 && found.signal + found.noise > 0.0, "{found:?}");
        assert_eq!(found.directions * found.features, (model.embedding().rows() - 1) * features);
    }
}

/// Whether rounding decides which of many minima an optimization ends in.
fn has_many_minima(method: &Method) -> bool {
    ["elastic", "gplvm"].contains(&method.info().name)
}

/// The map after few enough evaluations that rounding has not grown, and the start if one is given.
fn early(method: &Method, points: &Points, start: Option<&Points>) -> Points {
    let mut method = method.clone();
    method.set("max-iterations", "10").unwrap();
    fit_recipe(&recipe(&method), points, start).embedding().clone()
}

/// Many minima have nearly the same value: elastic's to 5 %, and gplvm's to half a nat per cell of the data.
fn same_objective(a: &Model, b: &Model, name: &str) {
    let (one, other) = (a.report().coordinates.objective.unwrap(), b.report().coordinates.objective.unwrap());
    let off = if name == "elastic" { (one / other - 1.0).abs() / 0.05 } else { (one - other).abs() / 0.5 };
    assert!(off < 1.0, "{one} {other}");
}

pub(crate) fn permuting_the_points_permutes_the_rows(method: &Method) {
    let name = method.info().name;
    for n in sizes(method) {
        let order: Vec<usize> = (0..n).map(|i| (i * 7 + 3) % n).collect();
        let (points, permuted) = (swiss(n), swiss(n).select(&order));
        let plain = fitted(method, n);
        let (plain, other) = (plain.wait(), fit(method.clone(), &permuted));
        if !has_many_minima(method) {
            let off = distance_mismatch(&plain.embedding().select(&order), other.embedding());
            assert!(off < tolerance(name), "{n} points: {off}");
            continue;
        }
        same_objective(plain, &other, name);
        // From the method's own start, from a start without structure, and from where an optimization ended.
        let random = cloud(n, 2, 3);
        for start in [None, Some(&random), Some(plain.embedding())] {
            let one = early(method, &points, start);
            let other = early(method, &permuted, start.map(|start| start.select(&order)).as_ref());
            let off = distance_mismatch(&one.select(&order), &other);
            assert!(off < tolerance(name), "{n} points: {off}");
        }
    }
}

/// Factor analysis is about the noise of single features, and after a rotation they are other features.
pub(crate) fn ignores_the_axes(method: &Method) -> bool {
    method.info().name != "fa"
}

pub(crate) fn rotating_the_data_changes_no_distance(method: &Method) {
    let (name, n) = (method.info().name, sizes(method)[0]);
    let (points, rotated) = (swiss(n), rotated(&swiss(n)));
    let plain = fitted(method, n);
    let (plain, other) = (plain.wait(), fit(method.clone(), &rotated));
    if !has_many_minima(method) {
        let off = distance_mismatch(plain.embedding(), other.embedding());
        assert!(off < tolerance(name), "{off}");
        return;
    }
    same_objective(plain, &other, name);
    for start in [None, Some(&cloud(n, 2, 3)), Some(plain.embedding())] {
        let off = distance_mismatch(&early(method, &points, start), &early(method, &rotated, start));
        assert!(off < tolerance(name), "{off}");
    }
}

pub(crate) fn duplicates_and_constant_columns_are_harmless(method: &Method) {
    let base = swiss(150);
    let rows: Vec<Vec<f64>> = (0..200).map(|i| [base.row(i % 150), &[7.0]].concat()).collect();
    let model = fit(method.clone(), &Points::from_rows(&rows).unwrap());
    assert!(all_finite(model.embedding()));
    assert_eq!(model.embedding().rows(), 200);
}

pub(crate) fn a_training_row_gets_its_own_coordinates_and_rows_do_not_see_each_other(method: &Method) {
    for n in sizes(method) {
        let points = swiss(n);
        let fresh = Points::from_rows(
            &(0..6).map(|i| points.row(8 * i).iter().map(|v| v + 0.05).collect::<Vec<_>>()).collect::<Vec<_>>(),
        )
        .unwrap();
        let model = fitted(method, n);
        let model = model.wait();
        let some: Vec<usize> = (0..n).step_by(8).collect();
        let again = model.transform(&points.select(&some)).unwrap();
        let scale = model.embedding().values().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        for (a, b) in again.values().iter().zip(model.embedding().select(&some).values()) {
            assert!((a - b).abs() < 1e-9 * scale);
        }
        let all = model.transform(&fresh).unwrap();
        for i in 0..fresh.rows() {
            assert_eq!(model.transform(&fresh.select(&[i])).unwrap().row(0), all.row(i));
            let moved: f64 = all.row(i).iter().zip(again.row(i)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!(moved < 0.2 * scale, "a small step in the data is a small step on the map, not {moved}");
        }
    }
}

pub(crate) fn a_prepared_model_places_batches_as_all_rows_at_once(method: &Method) {
    let new = |points: &Points| {
        let moved = |i: usize, by: f64| points.row(i).iter().map(|v| v + by).collect::<Vec<_>>();
        let mut rows: Vec<Vec<f64>> =
            (0..9).map(|i| moved(i * points.rows() / 9, if i % 3 == 0 { 0.0 } else { 0.05 })).collect();
        rows.push(moved(3, 1e3));
        Points::from_rows(&rows).unwrap()
    };
    for n in sizes(method) {
        let (model, rows) = (fitted(method, n), new(&swiss(n)));
        let model = model.wait();
        let all = model.transform_detailed(&rows).unwrap();
        let deviations = model.transform_with_std(&rows).unwrap().deviations;
        let transformer = model.transformer().unwrap();
        for size in [1, 3, 10] {
            for start in (0..rows.rows()).step_by(size) {
                let some: Vec<usize> = (start..rows.rows().min(start + size)).collect();
                let found = transformer.transform_with_std(&rows.select(&some)).unwrap();
                assert_eq!(found.coordinates, all.coordinates.select(&some), "{size}");
                let far: Vec<usize> = found.far.iter().map(|i| start + i).collect();
                let expected: Vec<usize> = all.far.iter().copied().filter(|i| some.contains(i)).collect();
                assert_eq!(far, expected, "{size}");
                assert_eq!(found.deviations, deviations.as_ref().map(|all| all.select(&some)), "{size}");
            }
        }
    }
}

pub(crate) fn a_saved_model_places_points_as_the_one_in_memory(method: &Method) {
    let model = fit(method.clone(), &swiss(250));
    let bytes = model.to_bytes().unwrap();
    let loaded = Model::from_bytes(&bytes).unwrap();
    assert_eq!(loaded.embedding(), model.embedding());
    assert_eq!(loaded.to_bytes().unwrap(), bytes);
    let fresh = swiss(260).select(&(200..260).collect::<Vec<_>>());
    assert_eq!(loaded.transform(&fresh).unwrap(), model.transform(&fresh).unwrap());
    assert!(bytes.len() < 250 * 250, "{} bytes hold no n x n matrix", bytes.len());
}

/// Kriging predicts a training row with the help of that row, so training rows lie closer than new rows, of which 95 % lie within
/// their intervals. There are 330 entries: 95 % has a standard error of 0.012. The linear rule has seen all entries.
pub(crate) fn training_rows_are_reconstructed_within_their_intervals(method: &Method) {
    let points = swiss(110);
    let model = fit(method.clone(), &points);
    let back = model.reconstruct(model.embedding()).unwrap();
    let known = back.points.values().iter().zip(points.values()).zip(back.margins.values());
    let off: Vec<f64> = known.filter(|(_, m)| **m > 0.0).map(|((back, x), m)| (back - x).abs() / m).collect();
    let inside = off.iter().filter(|&&z| z <= 1.0).count() as f64 / off.len() as f64;
    assert!(inside >= 0.93, "{inside}");
    assert!(back.diagnostics.error.unwrap() < 1.0, "better than the mean, {:?}", back.diagnostics);
}

pub(crate) fn reconstruction_is_the_same_alone_on_any_number_of_threads_and_after_saving(method: &Method) {
    let model = fit(method.clone(), &swiss(32));
    let rows = model.embedding().select(&[3, 30, 17]);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| model.reconstruct(&rows).unwrap())
    };
    let all = run(1);
    assert_eq!(all, run(3));
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.reconstruct(&rows).unwrap(), all);
    let learned = model.learn_inverse().unwrap();
    let inverse = model.inverse_from(&learned).unwrap();
    assert_eq!(inverse.reconstruct(&rows).unwrap(), all);
    for i in 0..rows.rows() {
        let alone = inverse.reconstruct(&rows.select(&[i])).unwrap();
        assert_eq!((alone.points.row(0), alone.deviations.row(0)), (all.points.row(i), all.deviations.row(i)));
    }
}

pub(crate) fn components_are_joined_kept_apart_or_refused_and_no_row_vanishes(method: &Method) {
    let near = swiss(200);
    let rows: Vec<Vec<f64>> =
        (0..260).map(|i| near.row(i % 200).iter().map(|v| v + if i < 200 { 0.0 } else { 500.0 }).collect()).collect();
    let points = Points::from_rows(&rows).unwrap();
    let joined = fit(method.clone(), &points);
    assert_eq!(joined.report().graph.components, [200, 60]);
    assert_eq!((joined.embedding().rows(), joined.report().graph.linking_edges), (260, 1));
    let warning = &joined.report().warnings[0];
    assert!(warning.message().starts_with("the graph has 2 connected components (200, 60 points)"), "{warning}");

    let apart = Recipe { disconnected: Disconnected::Separate, ..recipe(method) }.fit(&points, &Silent).unwrap();
    assert_eq!(apart.embedding().rows(), 260);
    let first = |range: std::ops::Range<usize>| range.map(|i| apart.embedding().row(i)[0]);
    assert!(first(0..200).fold(f64::MIN, f64::max) < first(200..260).fold(f64::MAX, f64::min));
    let again = apart.transform(&points).unwrap();
    for (a, b) in again.values().iter().zip(apart.embedding().values()) {
        assert!((a - b).abs() < 1e-9);
    }

    let refused = Recipe { disconnected: Disconnected::Error, ..recipe(method) }.fit(&points, &Silent).unwrap_err();
    assert!(matches!(refused, Error::Disconnected { ref sizes, .. } if *sizes == [200, 60]), "{refused}");
}

pub(crate) fn bad_parameters_get_their_own_errors(method: &Method) {
    let (name, points) = (method.info().name, swiss(50));
    let dims = |dims| Recipe { dims, ..recipe(method) }.fit(&points, &Silent).unwrap_err().to_string();
    assert!(dims(0).contains("use `dims` 1 or more"));
    assert!(dims(50).contains("; use `dims`"), "{}", dims(50));
    if method.info().needs_graph {
        let k = |k| Recipe { neighbors: Neighbors::Nearest(k), ..recipe(method) };
        assert!(k(50).fit(&points, &Silent).is_err() && k(0).fit(&points, &Silent).is_err());
        assert!(k(49).fit(&points, &Silent).is_ok());
    }
    let unknown = method.clone().set("no-such", "1").unwrap_err().to_string();
    assert!(unknown.starts_with(&format!("{name} has no parameter `no-such`")), "{unknown}");
    for parameter in method.parameters() {
        assert!(method.clone().set(parameter.name, "nonsense").is_err(), "{}", parameter.name);
        let mut same = method.clone();
        same.set(parameter.name, &parameter.value).unwrap();
        assert_eq!(same, *method, "a parameter's own text sets it to itself");
    }
    let wrong = Points::new(1, 7, vec![0.0; 7]).unwrap();
    let error = fit(method.clone(), &points).transform(&wrong).unwrap_err().to_string();
    assert!(error.contains("7 columns"), "{error}");
}

/// Methods with a dense matrix over all pairs of points.
pub(crate) fn holds_all_pairs(method: &Method) -> bool {
    ["isomap", "kernel-pca"].contains(&method.info().name)
}

pub(crate) fn a_limit_on_memory_is_kept_before_anything_is_allocated(method: &Method) {
    let error = Recipe { memory: Some(1_000_000), ..recipe(method) }.fit(&swiss(2000), &Silent).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    assert!(error.to_string().contains("use "), "{error}");
}

/// Rows in single precision give the bytes of the same rows in double precision: as an input, as new points, and from a saved model.
pub(crate) fn points_in_single_precision_give_the_same_bytes(method: &Method) {
    let rounded = |points: &Points| points.values().iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let single = |points: &Points| Points::single(points.rows(), points.cols(), rounded(points)).unwrap();
    let double = |points: &Points| {
        let values = rounded(points).into_iter().map(f64::from).collect();
        Points::new(points.rows(), points.cols(), values).unwrap()
    };
    let all = swiss(160);
    let (known, new) = (all.select(&(0..150).collect::<Vec<_>>()), all.select(&(150..160).collect::<Vec<_>>()));
    let given = single(&known);
    let one = fit(method.clone(), &given);
    let other = fit(method.clone(), &double(&known));
    assert_eq!(one.embedding(), other.embedding());
    assert!(one.points().is_some_and(|points| points.singles().is_some()), "the model keeps them as they came");
    let saved = Model::from_bytes(&one.to_bytes().unwrap()).unwrap();
    assert!(saved.points().is_some_and(|points| points.singles().is_some()));
    assert_eq!(saved.to_bytes().unwrap(), one.to_bytes().unwrap());
    let placed = other.transform_with_std(&double(&new)).unwrap();
    assert_eq!(saved.transform_with_std(&single(&new)).unwrap(), placed);
    let back = other.reconstruct(&placed.coordinates).unwrap();
    assert_eq!(saved.reconstruct(&placed.coordinates).unwrap(), back);
}
