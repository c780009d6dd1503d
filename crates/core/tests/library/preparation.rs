//! Columns brought to a common scale: the model, new points, and the inverse transform.
use crate::support::*;
use eigenfold::{
    ColumnScale, Isomap, LaplacianEigenmaps, Log, Method, Model, Pca, Points, Ppca, Preparation, Recipe, Silent,
};

/// Columns in very different units, one of which does not vary.
fn mixed(n: usize) -> Points {
    let roll = swiss(n);
    let row = |i: usize| [1e4 * roll.row(i)[0], 0.01 * roll.row(i)[1] + 7.0, roll.row(i)[2], 5.0];
    Points::from_rows(&(0..n).map(row).collect::<Vec<_>>()).unwrap()
}

fn scaled(method: Method, scale: ColumnScale) -> Recipe {
    Recipe { method, preparation: Preparation { scale, ..Preparation::default() }, ..Recipe::default() }
}

#[test]
fn a_prepared_fit_is_that_of_columns_prepared_by_hand() {
    let (points, new) = (mixed(60), mixed(9));
    for (method, scale) in [
        (Pca::default().into(), ColumnScale::Unit),
        (Isomap::default().into(), ColumnScale::Robust),
        (LaplacianEigenmaps::default().into(), ColumnScale::Unit),
        (Ppca::default().into(), ColumnScale::Unit),
    ] {
        let recipe = scaled(method, scale);
        let prepared = recipe.preparation.learn(&points, None).unwrap().0;
        let plain = Recipe { preparation: Preparation::default(), ..recipe.clone() };
        let by_hand = plain.fit(&prepared.apply(&points, None).unwrap(), &Silent).unwrap();
        let model = recipe.fit(&points, &Silent).unwrap();
        assert_eq!(model.embedding(), by_hand.embedding());
        assert_eq!(model.points(), Some(&points));
        assert_eq!(model.transform(&new).unwrap(), by_hand.transform(&prepared.apply(&new, None).unwrap()).unwrap());
        let (back, inner) =
            (model.reconstruct(model.embedding()).unwrap(), by_hand.reconstruct(model.embedding()).unwrap());
        for i in 0..60 {
            for j in 0..4 {
                let column = prepared.columns()[j];
                let expected = column.center + column.scale * inner.points.row(i)[j];
                assert!((back.points.row(i)[j] - expected).abs() <= 1e-12 * expected.abs());
                assert_eq!(back.deviations.row(i)[j], column.scale * inner.deviations.row(i)[j]);
                assert_eq!(back.margins.row(i)[j], column.scale * inner.margins.row(i)[j]);
            }
        }
        assert!(model.report().warnings.iter().any(|warning| warning.message().starts_with("column 4 is constant; ")));
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.transform(&new).unwrap(), model.transform(&new).unwrap());
        assert_eq!(again.reconstruct(model.embedding()).unwrap(), back);
        assert_eq!(again.recipe(), &recipe);
    }
}

#[test]
fn a_power_of_two_changes_no_digit_of_a_map_of_scaled_columns() {
    let points = mixed(40);
    for scale in [ColumnScale::Unit, ColumnScale::Robust] {
        for method in [Pca::default().into(), Isomap::default().into()] {
            let recipe = scaled(method, scale);
            let plain = recipe.fit(&points, &Silent).unwrap();
            let back = plain.reconstruct(plain.embedding()).unwrap();
            for power in [-180, 170] {
                let times = |points: &Points| {
                    let values = points.values().iter().map(|x| x * 2f64.powi(power)).collect();
                    Points::new(points.rows(), points.cols(), values).unwrap()
                };
                let there = recipe.fit(&times(&points), &Silent).unwrap();
                assert_eq!(there.embedding(), plain.embedding(), "{power}");
                assert_eq!(there.report().warnings, plain.report().warnings);
                let there = there.reconstruct(plain.embedding()).unwrap();
                assert_eq!((&there.points, &there.margins), (&times(&back.points), &times(&back.margins)), "{power}");
            }
        }
    }
}

/// A plane of logarithms with noise, so that the data are log-normal around it.
fn log_normal(n: usize) -> Points {
    let noise = cloud(n, 24, 3);
    let row = |i: usize| {
        let (a, b) = (3.0 * noise.row(i)[18], 3.0 * noise.row(i)[19]);
        // Three uniform numbers are nearly a Gaussian one.
        let noisy = |(j, x): (usize, f64)| (x + 2.0 * noise.row(i)[3 * j..3 * j + 3].iter().sum::<f64>()).exp();
        [a, b, a + b, a - b, a, b].into_iter().enumerate().map(noisy).collect::<Vec<f64>>()
    };
    Points::from_rows(&(0..n).map(row).collect::<Vec<_>>()).unwrap()
}

#[test]
fn intervals_of_logarithms_hold_as_many_entries_as_they_promise() {
    let points = log_normal(2000);
    let preparation = Preparation { log: Some(Log::Plain), scale: ColumnScale::Unit, ..Preparation::default() };
    let model =
        Recipe { preparation, method: Pca::default().into(), ..Recipe::default() }.fit(&points, &Silent).unwrap();
    let way = model.inverse_transform().unwrap();
    let back = way.reconstruct(model.embedding()).unwrap();
    let share = |widths: &Points| {
        let held = |at: &usize| (points.values()[*at] - back.points.values()[*at]).abs() <= widths.values()[*at];
        (0..points.values().len()).filter(held).count() as f64 / points.values().len() as f64
    };
    let (deviation, margin) = (share(&back.deviations), share(&back.margins));
    assert!((deviation - 0.6827).abs() < 0.03 && (margin - 0.95).abs() < 0.015, "{deviation} {margin}");
    assert!(back.points.values().iter().all(|&x| x > 0.0));
    let draws = way.draw(&model.embedding().select(&[7]), 4000, 1).unwrap();
    for j in 0..6 {
        let (x, width) = (back.points.row(7)[j], back.deviations.row(7)[j]);
        let near = (0..4000).filter(|&i| (draws.row(i)[j] - x).abs() <= width).count() as f64 / 4000.0;
        let below = (0..4000).filter(|&i| draws.row(i)[j] < x).count() as f64 / 4000.0;
        assert!((near - 0.6827).abs() < 0.03 && (below - 0.5).abs() < 0.03, "column {j}: {near} {below}");
    }
}

#[test]
fn densities_and_guesses_of_latent_models_are_those_of_the_data() {
    let points = log_normal(300);
    let preparation = Preparation { log: Some(Log::Plain), scale: ColumnScale::Unit, ..Preparation::default() };
    let prepared = preparation.learn(&points, None).unwrap().0;
    let model =
        Recipe { preparation, method: Ppca::default().into(), ..Recipe::default() }.fit(&points, &Silent).unwrap();
    let plain = fit(Ppca::default(), &prepared.apply(&points, None).unwrap());
    let (own, inner) = (model.posteriors(&points).unwrap(), plain.posteriors(&prepared.apply(&points, None).unwrap()));
    for (i, (own, inner)) in own.iter().zip(inner.unwrap()).enumerate() {
        // dz/dx = 1 / (s x).
        let derivative = |j: usize| (1.0 / (prepared.columns()[j].scale * points.row(i)[j])).ln();
        let expected = inner.log_density + (0..6).map(derivative).sum::<f64>();
        assert!((own.log_density - expected).abs() < 1e-9, "{} {expected}", own.log_density);
    }
    let mut values = points.row(4).to_vec();
    values[2] = f64::NAN;
    let row = Points::with_missing(2, 6, [points.row(3), &values].concat()).unwrap();
    let (full, deviations) = model.complete(&row).unwrap();
    assert!(full.row(1)[2] > 0.0 && (full.row(1)[2] / points.row(4)[2]).ln().abs() < 4.0, "{full:?}");
    assert!(deviations[0] > 0.0 && deviations[0] < 10.0 * full.row(1)[2]);
}

#[test]
fn choosing_and_evaluating_see_the_prepared_columns() {
    use eigenfold::Silent;
    let points = mixed(80);
    let recipe = scaled(Isomap::default().into(), ColumnScale::Unit);
    let seen = recipe.preparation.learn(&points, None).unwrap().0.apply(&points, None).unwrap();
    let plain = Recipe { preparation: Preparation::default(), ..recipe.clone() };
    let chosen = |recipe: &Recipe, points: &Points| recipe.choose_neighbors(points, &Silent).unwrap();
    assert_eq!(chosen(&recipe, &points), chosen(&plain, &seen));
    assert_eq!(recipe.held_out_rows(&points, &Silent).unwrap().folds, 5);
    assert_eq!(recipe.choose_dims(&points, &Silent).unwrap().chosen, plain.choose_dims(&seen, &Silent).unwrap().chosen);
}

#[test]
fn distances_have_no_columns_to_prepare() {
    let table = eigenfold::Distances::new(distances(&swiss(20))).unwrap();
    let error = scaled(Isomap::default().into(), ColumnScale::Unit).fit(&table, &Silent).unwrap_err().to_string();
    assert!(error.starts_with("only points have columns to prepare, and the input is distances; "), "{error}");
}

#[test]
fn a_column_with_nearly_all_of_the_variance_is_named() {
    let points = mixed(60);
    let names = ["a", "b", "c", "d"].map(String::from);
    let input = eigenfold::Input { names: Some(&names), ..(&points).into() };
    let warnings = |scale| {
        let model = scaled(Pca::default().into(), scale).fit(input, &Silent).unwrap();
        assert_eq!(model.names(), Some(&names[..]));
        model.report().warnings.iter().map(|warning| warning.message()).collect::<Vec<_>>().join("\n")
    };
    assert!(warnings(ColumnScale::None).contains("column \"a\" has 99.9 % of the variance of all 4 columns"));
    assert!(warnings(ColumnScale::None).contains("use `standardize`"));
    assert!(!warnings(ColumnScale::Unit).contains("variance"));
}
