//! The likelihood of a Gaussian process against numbers from other programs; `beside` has those that need files.
use crate::support::*;
use eigenfold::{
    Pca, Silent,
    gp_likelihood::{GpLikelihood, LengthRule},
    io,
    io::ReadOptions,
};

/// The same digits from the built-in set, by our own PCA.
#[test]
fn a_hundred_digits_on_their_principal_components_have_the_reference_score() {
    let digits = io::read("digits", &ReadOptions::default()).unwrap().points.select(&(0..100).collect::<Vec<_>>());
    let map = fit(Pca::default(), &digits).embedding().clone();
    let score =
        GpLikelihood { lengths: LengthRule::Raw, ..GpLikelihood::default() }.of(&digits, &map, &Silent).unwrap();
    assert!((score.log_likelihood / -14_534.316_509_45 - 1.0).abs() < SOLVED, "{score:?}");
    assert_eq!((score.features, score.constant), (53, 11));
    let unit = GpLikelihood { lengths: LengthRule::Unit, ..GpLikelihood::default() };
    let scaled = unit.of(&digits, &map, &Silent).unwrap();
    assert!((scaled.log_likelihood + 14_535.84).abs() < 0.01, "{scaled:?}");
    // Two of the seven starts end elsewhere; that is why there are seven.
    let worst = score.starts.iter().flatten().fold(f64::INFINITY, |worst: f64, end| worst.min(*end));
    assert!(score.log_likelihood - worst > 1000.0, "{score:?}");
}
