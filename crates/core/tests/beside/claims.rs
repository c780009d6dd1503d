//! Claims of papers that need data, named by their ids in docs/internals/claims.md.
use crate::support::*;
use crate::{COIL, IRIS_COORDINATES, OIL};
use eigenfold::{Attraction, Elastic, Kernel, Lambda, Neighbors, Perplexity, Pkpca, Points, Ppco, Recipe, Silent};

/// exp(−‖x − y‖² / θ); θ is 2 σ².
fn gaussian(theta: f64) -> Kernel {
    Kernel::Gaussian { bandwidth: Some((0.5 * theta).sqrt()) }
}

/// The coordinates of iris that an independent program gives; `library` has the other figures of the table.
pub(crate) fn z03_iris_has_the_coordinates_of_the_reference() {
    let model = fit(Pkpca { kernel: gaussian(2.0), ..Pkpca::default() }, &iris_of_uci());
    let scaled: Vec<f64> = model.embedding().values().iter().map(|y| y / 150f64.sqrt()).collect();
    assert!(distance_mismatch(&shared(IRIS_COORDINATES), &Points::new(150, 2, scaled).unwrap()) < SOLVED);
}

pub(crate) fn z03_table_2_of_the_oil_flow() {
    let oil = shared(OIL);
    let method = Ppco { kernel: gaussian(0.2), ..Ppco::default() };
    let model = Recipe { method: method.into(), dims: 1, ..Recipe::default() }.fit(&oil, &Silent).unwrap();
    let noise = model.report().figures.iter().find(|(name, _)| name.name() == "noise").unwrap();
    let (gamma, noise) = (model.spectrum()[0] / 1000.0, noise.1 / 1000.0);
    assert!((gamma - 0.0437366198).abs() < 1e-10 && (noise - 0.000936518001311).abs() < EXACT, "{gamma} {noise}");
}

/// The odd images of ten objects, by a map of the even ones.
pub(crate) fn e09_new_images_land_between_their_neighbors_and_are_reconstructed() {
    let all = shared(COIL);
    let rows = |odd: usize| (0..360).map(|i| 2 * i + odd).collect::<Vec<_>>();
    let (even, odd) = (all.select(&rows(0)), all.select(&rows(1)));
    let method = Elastic {
        attraction: Attraction::Entropic,
        perplexity: Perplexity(vec![12.0]),
        lambda: Lambda::Value(1.0 / (255.0 * 255.0)),
        ..Elastic::default()
    };
    let recipe = Recipe { method: method.into(), neighbors: Neighbors::Nearest(12), ..Recipe::default() };
    let model = recipe.fit(&even, &Silent).unwrap();
    let (placed, map) = (model.transform(&odd).unwrap(), model.embedding());
    let back = model.inverse_by_energy().unwrap().reconstruct(&placed).unwrap().points;
    let distance = |a: &[f64], b: &[f64]| eigenfold::Metric::Euclidean.distance(a, b);
    let (mut near, mut better) = (0, 0);
    let (mut errors, mut nearest) = (Vec::new(), Vec::new());
    for i in 0..360 {
        // The even images before and after it, of the same object.
        let (before, after) = (i, if i % 36 == 35 { i - 35 } else { i + 1 });
        let mut far: Vec<f64> = (0..360).map(|j| distance(placed.row(i), map.row(j))).collect();
        let own = f64::min(far[before], far[after]);
        far.sort_unstable_by(f64::total_cmp);
        near += usize::from(own <= far[3]);
        errors.push(distance(back.row(i), odd.row(i)));
        nearest.push((0..360).map(|j| distance(even.row(j), odd.row(i))).fold(f64::MAX, f64::min));
        better += usize::from(errors[i] < distance(&even.column_means(), odd.row(i)));
    }
    assert!(near > 342, "{near} of 360 are among the four nearest of a neighbor in angle");
    assert!(better > 342, "{better} of 360 come back nearer than the mean of all is");
    errors.sort_unstable_by(f64::total_cmp);
    nearest.sort_unstable_by(f64::total_cmp);
    assert!(errors[180] < nearest[180], "{} {}: nearer than the nearest other image", errors[180], nearest[180]);
}
