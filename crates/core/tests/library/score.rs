//! The score against numbers from elsewhere, where the files are at hand (`support::shared`).
use crate::support::*;
use eigenfold::gp_likelihood::{GpLikelihood, Lengths, Parameters};
use eigenfold::io::ReadOptions;
use eigenfold::progress::Silent;
use eigenfold::{Pca, io};

/// L-BFGS-B from seven starts in NumPy; GPy and scikit-learn agree to 1e-8 at its optimum.
#[test]
fn digits_and_iris_have_the_scores_of_the_reference_files() {
    let cases =
        [("iris150", 198.794_361_84, -625.362_092_216_1), ("digits100", -14_534.316_509_45, -35_414.361_079_992_1)];
    for (name, best, at_ones) in cases {
        let file = |which: &str| shared(&format!("gold/gplvm_{name}_PCA2_{which}.csv"));
        let (Some(map), Some(data)) = (file("X"), file("Y")) else { continue };
        let asked = GpLikelihood { lengths: Lengths::Raw, ..GpLikelihood::default() };
        let ones = Parameters { variance: 1.0, length: 1.0, bias: 1.0, noise: 1.0 };
        let there = asked.at(&data, &map, &ones).unwrap();
        assert!((there / at_ones - 1.0).abs() < EXACT, "{name}: {there} for {at_ones}");
        let score = asked.of(&data, &map, &Silent).unwrap();
        assert!((score.log_likelihood / best - 1.0).abs() < SOLVED, "{name}: {score:?}");
        assert!(score.converged, "{name}: {score:?}");
    }
}

/// The same digits from the built-in set, by our own PCA.
#[test]
fn a_hundred_digits_on_their_principal_components_have_the_reference_score() {
    let digits = io::read("digits", &ReadOptions::default()).unwrap().points.select(&(0..100).collect::<Vec<_>>());
    let map = fit(Pca::default(), &digits).embedding().clone();
    let score = GpLikelihood { lengths: Lengths::Raw, ..GpLikelihood::default() }.of(&digits, &map, &Silent).unwrap();
    assert!((score.log_likelihood / -14_534.316_509_45 - 1.0).abs() < SOLVED, "{score:?}");
    assert_eq!((score.features, score.constant), (53, 11));
    let unit = GpLikelihood { lengths: Lengths::Unit, ..GpLikelihood::default() };
    let scaled = unit.of(&digits, &map, &Silent).unwrap();
    assert!((scaled.log_likelihood + 14_535.84).abs() < 0.01, "{scaled:?}");
    // Two of the seven starts end elsewhere; that is why there are seven.
    let worst = score.starts.iter().flatten().fold(f64::INFINITY, |worst: f64, end| worst.min(*end));
    assert!(score.log_likelihood - worst > 1000.0, "{score:?}");
}
