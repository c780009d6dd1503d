//! Mahalanobis distances: fits in whitened columns, new points, saved models, and the inverse transform.
use crate::support::*;
use eigenfold::{
    ColumnScale, Isomap, Lle, Mds, Method, Metric, Model, Mvu, Neighbors, Pca, Points, Preparation, Recipe, Silent,
    Whitening,
};

fn by_mahalanobis(method: impl Into<Method>) -> Recipe {
    Recipe { metric: Metric::Mahalanobis, method: method.into(), ..Recipe::default() }
}

/// The roll in other units, its columns mixed.
fn mixed(roll: &Points) -> Points {
    let row = |x: &[f64]| [1e5 * x[0] + 3e4 * x[2], 0.01 * x[1] + 0.002 * x[0] + 7.0, x[2] - 0.5 * x[1]];
    Points::from_rows(&(0..roll.rows()).map(|i| row(roll.row(i))).collect::<Vec<_>>()).unwrap()
}

/// Any invertible change of the columns leaves the map as it is: isomap's and mds's by their distances, lle's by its weights, which
/// see the white columns too.
#[test]
fn the_map_does_not_depend_on_a_linear_change_of_the_columns() {
    let roll = swiss(120);
    for method in [Method::from(Isomap::default()), Mds::default().into(), Lle::default().into()] {
        let tolerance = if method.info().name == "lle" { FITTED } else { SOLVED };
        // All coordinates: white columns have no first two.
        let recipe = Recipe { dims: 3, ..by_mahalanobis(method) };
        let [one, two] = [&roll, &mixed(&roll)].map(|points| recipe.fit(points, &Silent).unwrap());
        let pairs = || (1..120).map(|i| (i, i * i % i.max(2)));
        let length = |model: &Model, (i, j): (usize, usize)| {
            Metric::Euclidean.distance(model.embedding().row(i), model.embedding().row(j))
        };
        for pair in pairs() {
            let (a, b) = (length(&one, pair), length(&two, pair));
            assert!((a - b).abs() <= tolerance * a.max(1.0), "{pair:?}: {a} {b}");
        }
        let plain = Recipe { metric: Metric::Euclidean, ..recipe }.fit(&mixed(&roll), &Silent).unwrap();
        assert!(pairs().any(|pair| (length(&plain, pair) / length(&two, pair) - 1.0).abs() > 0.1));
    }
}

#[test]
fn a_fit_is_that_of_columns_whitened_by_hand_for_new_points_and_after_loading() {
    let (points, new) = (mixed(&swiss(100)), mixed(&swiss(9)));
    let prepared = Preparation { scale: ColumnScale::Unit, ..Preparation::default() };
    for preparation in [Preparation::default(), prepared] {
        let recipe = Recipe { preparation: preparation.clone(), ..by_mahalanobis(Isomap::default()) };
        let model = recipe.fit(&points, &Silent).unwrap();
        let columns = preparation.learn(&points, None).unwrap().0;
        let seen =
            |rows: &Points| if preparation.is_none() { rows.clone() } else { columns.apply(rows, None).unwrap() };
        let whitening = Whitening::learn(&seen(&points), None).unwrap();
        let white = |rows: &Points| whitening.apply(&seen(rows)).unwrap();
        let by_hand = fit(Isomap::default(), &white(&points));
        assert_eq!(model.embedding(), by_hand.embedding());
        assert_eq!(model.points(), Some(&points));
        assert_eq!(model.transform(&new).unwrap(), by_hand.transform(&white(&new)).unwrap());
        assert_eq!(model.transform(&points).unwrap(), *model.embedding());
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.recipe(), &recipe);
        assert_eq!(again.transform(&new).unwrap(), model.transform(&new).unwrap());
        let back = model.reconstruct(model.embedding()).unwrap();
        assert_eq!(again.reconstruct(model.embedding()).unwrap(), back);
    }
}

/// The inverse transform is in the columns of the data. It is as good and as certain as the inverse transform of the same map of
/// other distances.
#[test]
fn the_inverse_transform_is_in_the_columns_of_the_data_with_calibrated_deviations() {
    let points = mixed(&swiss(300));
    for unit in [1.0, 2f64.powi(-180)] {
        let points = Points::new(300, 3, points.values().iter().map(|x| x * unit).collect()).unwrap();
        // Ten neighbors would join the turns of a roll of 300 points.
        let recipe = Recipe { neighbors: Neighbors::Nearest(6), ..by_mahalanobis(Isomap::default()) };
        let model = recipe.fit(&points, &Silent).unwrap();
        let way = model.inverse_transform().unwrap();
        assert!(way.diagnostics().error.unwrap() < 0.3, "{:?}", way.diagnostics());
        let back = way.reconstruct(model.embedding()).unwrap();
        for j in 0..3 {
            let off = |i: usize| (back.points.row(i)[j] - points.row(i)[j]).abs();
            let within = (0..300).filter(|&i| off(i) <= back.deviations.row(i)[j]).count();
            assert!(within >= 150, "column {j}: {within}");
            let mean = (0..300).map(|i| points.row(i)[j]).sum::<f64>() / 300.0;
            let spread = (0..300).map(|i| (points.row(i)[j] - mean).abs()).sum::<f64>();
            let part = (0..300).map(off).sum::<f64>() / spread;
            // Half as far off as the mean of the column would be.
            assert!(part < 0.5, "column {j}: {part}");
        }
        assert!(way.draw(&model.embedding().select(&[0, 1]), 3, 1).unwrap().values().iter().all(|x| x.is_finite()));
    }
    // With all coordinates the data are reconstructed exactly; with fewer the directions are arbitrary, with a warning.
    let model = by_mahalanobis(Mds::default()).fit(&points, &Silent).unwrap();
    assert!(model.report().warnings.iter().any(|warning| warning.message().contains("in all of their 3 directions")));
    let model = Recipe { dims: 3, ..by_mahalanobis(Mds::default()) }.fit(&points, &Silent).unwrap();
    let back = model.reconstruct(model.embedding()).unwrap().points;
    let largest = |j: usize| (0..300).fold(0.0f64, |most, i| most.max(points.row(i)[j].abs()));
    for i in 0..300 {
        assert!((0..3).all(|j| (back.row(i)[j] - points.row(i)[j]).abs() < SOLVED * largest(j)));
    }
}

#[test]
fn evidence_choice_and_certificate_go_by_the_same_distances() {
    let points = mixed(&swiss(80));
    let wide = Points::new(80, 6, (0..480).map(|at| points.row(at / 6)[at % 3] * (1.0 + (at as f64).sin())).collect());
    let wide = wide.unwrap();
    let recipe = Recipe { dims: 1, ..by_mahalanobis(Isomap::default()) };
    assert!(recipe.held_out(&wide, &Silent).unwrap().log_likelihood.is_finite());
    let choice = recipe.choose_neighbors(&points, &Silent).unwrap();
    let plain = Recipe { metric: Metric::Euclidean, ..recipe.clone() };
    let white = Whitening::learn(&points, None).unwrap().apply(&points).unwrap();
    assert_eq!(choice, plain.choose_neighbors(&white, &Silent).unwrap());
    assert!(recipe.held_out_rows(&points, &Silent).unwrap().error < 1.0);
    let recipe = Recipe { neighbors: Neighbors::Nearest(5), ..by_mahalanobis(Mvu::default()) };
    let model = recipe.fit(&points, &Silent).unwrap();
    let search = eigenfold::Search { neighbors: recipe.neighbors, ..Default::default() };
    let found = eigenfold::Data::from(&points).measured_by(Metric::Mahalanobis).neighbors(&search, &Silent);
    model.certificates()[0].verify(&points, &found.unwrap().graph).unwrap();
}

#[test]
fn methods_without_distances_do_without_the_covariance() {
    let row = |i: i32| [f64::from(i), 2.0 * f64::from(i), f64::from(i).sin()];
    let flat = Points::from_rows(&(0..30).map(row).collect::<Vec<_>>()).unwrap();
    let message = by_mahalanobis(Isomap::default()).fit(&flat, &Silent).unwrap_err().to_string();
    assert!(
        message.starts_with("the covariance of 3 columns has no inverse: column 2 is a linear combination"),
        "{message}"
    );
    let model = by_mahalanobis(Pca::default()).fit(&flat, &Silent).unwrap();
    let again = model.transform(&flat).unwrap();
    let off = again.values().iter().zip(model.embedding().values()).map(|(a, b)| (a - b).abs());
    assert!(off.fold(0.0, f64::max) < EXACT * 100.0, "as far apart as 32");
    assert!(Model::from_bytes(&model.to_bytes().unwrap()).is_ok());
}
