//! Estimates of the dimension of data that are not part of the repository, and their caveats (docs/guide/dimensions.md).
use crate::support::shared;
use crate::{COIL, FACES, OIL};
use eigenfold::{
    Dimension, Silent,
    dimension::{Dimensions, Name},
};

fn estimated(name: &str) -> Dimensions {
    Dimension { global: false, ..Dimension::default() }.of(&shared(name), &Silent).unwrap()
}

#[track_caller]
fn near(found: &Dimensions, name: Name, wanted: f64) {
    let value = found.estimate(name).unwrap().value;
    // The reference values have three digits.
    assert!((value / wanted - 1.0).abs() < 2e-3, "{name:?}: {value} instead of {wanted}");
}

/// Reference values: 2NN and MacKay-Ghahramani by numpy, as in the unit tests.
pub(crate) fn rendered_faces_are_taken_for_four_dimensions_with_a_caveat() {
    let faces = estimated(FACES);
    near(&faces, Name::TwoNn, 3.57);
    near(&faces, Name::MacKayGhahramani, 3.86);
    // Three are true: two angles of the pose and one of the light.
    assert_eq!(faces.recommended.dims, 4);
    assert!(faces.recommended.caveat.contains("curved") && faces.recommended.caveat.contains("halfway to 3"));
}

pub(crate) fn even_steps_on_a_turntable_are_flagged() {
    let objects = estimated(COIL);
    near(&objects, Name::TwoNn, 6.35);
    assert!(objects.check.flagged && objects.check.departure.is_some_and(|d| (d - 2.07).abs() < 0.01));
    assert!(objects.recommended.dims == 2 && objects.recommended.caveat.contains("2 is a guess"));
}

pub(crate) fn oil_flow_has_two_dimensions_below_its_noise() {
    let oil = estimated(OIL);
    near(&oil, Name::TwoNn, 5.54);
    assert!(oil.check.flagged);
    assert_eq!(oil.recommended.dims, 2);
    assert!(oil.recommended.reason.contains("noise"), "{}", oil.recommended.reason);
}
