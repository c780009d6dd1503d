//! The measures of a map against scikit-learn, SciPy and the definitions of the papers in NumPy: scripts/quality.py made the
//! numbers.
use crate::support::*;
use eigenfold::{
    Distances, InverseTransform, Isomap, Metric, Neighbors, Pca, Points, Portable, Recipe, Silent,
    quality::{Evaluation, Measure, Quality, QualityInput},
};

const N: usize = 120;

/// The data, map, labels and truth of the script, bit for bit.
struct Case {
    data: Points,
    map: Points,
    labels: Vec<Option<u32>>,
    truth: Points,
}

fn case() -> Case {
    let noise = |at: usize| ((at * at) as f64 * 0.7548776662466927) % 1.0;
    let data = Points::new(N, 4, (1..=N * 4).map(noise).collect()).unwrap();
    let flat = |i: usize| [data.row(i)[0] + 0.25 * data.row(i)[2], data.row(i)[1] - 0.5 * data.row(i)[3]];
    let map = Points::from_rows(&(0..N).map(flat).collect::<Vec<_>>()).unwrap();
    let label = |i: usize| if data.row(i)[0] > 0.5 { 2 } else { (3.0 * noise(i + 1000)).floor() as u32 };
    let (labels, truth) = ((0..N).map(|i| Some(label(i))).collect(), data.select_columns(&[1, 0, 3]));
    Case { data, map, labels, truth }
}

fn evaluated(case: &Case, k: usize) -> Evaluation {
    let given = QualityInput { labels: Some(&case.labels), truth: Some(&case.truth), ..QualityInput::new(&case.data) };
    let quality = Quality { neighbors: Some(k), ..Quality::default() };
    quality.evaluate(&given, &[&case.map], &Silent).unwrap().remove(0)
}

fn near(found: f64, wanted: f64, what: &str) {
    assert!((found - wanted).abs() < EXACT, "{what}: {found} for {wanted}");
}

#[test]
fn neighborhoods_are_those_of_scikit_learn_and_of_the_co_ranking_matrix() {
    let case = case();
    let wanted = [
        (1, 9.112994350282486e-01, 9.875e-01),
        (7, 8.303516819571866e-01, 9.450524246395806e-01),
        (20, 8.011033519553072e-01, 9.077467411545623e-01),
        (59, 8.172680882084928e-01, 8.467559686531803e-01),
    ];
    for (k, trustworthiness, continuity) in wanted {
        let evaluated = evaluated(&case, k);
        let value = |measure: Measure| evaluated.value(measure).unwrap().value;
        near(value(Measure::Trustworthiness), trustworthiness, "trustworthiness");
        near(value(Measure::Continuity), continuity, "continuity");
        near(value(Measure::RnxAuc), 4.699189436645104e-01, "the area");
        let curve = [(1, 4.705508474576271e-01), (7, 4.738095238095238e-01), (118, 2.520480225988706e-01)];
        for (k, rnx) in curve {
            let &(_, found) = evaluated.curve.iter().find(|(size, _)| *size == k).unwrap();
            near(found, rnx, "the curve");
        }
    }
}

#[test]
fn distances_are_those_of_scipy() {
    let case = case();
    let evaluated = evaluated(&case, 7);
    let wanted = [
        (Measure::Stress, 3.586012957885736e-01),
        (Measure::ScaledStress, 3.140466521057941e-01),
        (Measure::Pearson, 6.999763564885889e-01),
        (Measure::ResidualVariance, 5.100331003569598e-01),
        (Measure::Spearman, 6.72471535495746e-01),
        (Measure::Disparity, 3.375002699460511e-01),
    ];
    for (measure, wanted) in wanted {
        near(evaluated.value(measure).unwrap().value, wanted, measure.key());
    }
    near(evaluated.per_row(Measure::Spearman).unwrap()[5], 7.499287850733515e-01, "the ranks of row 5");
    // Distances that are equal to others share their ranks.
    let rounded = |at: usize| {
        let distance = Metric::Euclidean.distance(case.data.row(at / N), case.data.row(at % N));
        (10.0 * distance).round() / 10.0
    };
    let rounded = Distances::new(Points::new(N, N, (0..N * N).map(rounded).collect()).unwrap()).unwrap();
    let evaluated = Quality::default().evaluate(&QualityInput::new(&rounded), &[&case.map], &Silent).unwrap().remove(0);
    near(evaluated.value(Measure::Spearman).unwrap().value, 6.683881085413139e-01, "with ties");
}

#[test]
fn labels_are_evaluated_as_scikit_learn_does() {
    let case = case();
    for (k, hit, accuracy) in [(1, 0.7, 0.7), (7, 7.095238095238096e-01, 7.833333333333333e-01)] {
        let evaluated = evaluated(&case, k);
        near(evaluated.value(Measure::NeighborhoodHit).unwrap().value, hit, "hit");
        near(evaluated.value(Measure::KnnAccuracy).unwrap().value, accuracy, "accuracy");
        near(evaluated.value(Measure::Silhouette).unwrap().value, 3.302672857461359e-02, "silhouette");
        let each = [2.956036012939194e-01, 3.337599627928254e-01, -6.968429571940078e-02];
        for (found, wanted) in evaluated.per_row(Measure::Silhouette).unwrap().iter().zip(each) {
            near(*found, wanted, "silhouette of a row");
        }
    }
}

/// The inverse transform of any map, against that of the model which made it. They differ in the out-of-sample extension of
/// left-out rows, so that the error is no larger, and the predictions at a point differ by the length and the noise alone.
#[test]
fn the_inverse_transform_of_a_map_is_as_good_as_that_of_a_model() {
    let roll = swiss(600);
    let recipe = Recipe { method: Isomap::default().into(), neighbors: Neighbors::Nearest(8), ..Recipe::default() };
    let model = recipe.fit(&roll, &Silent).unwrap();
    let evaluated =
        Quality::default().evaluate(&QualityInput::new(&roll), &[model.embedding()], &Silent).unwrap().remove(0);
    let way = InverseTransform::of_map(&roll, model.embedding()).unwrap();
    let error = evaluated.value(Measure::ReconstructionError).unwrap().value;
    near(error, way.diagnostics().error.unwrap(), "the same rows are left out");
    let placed = model.inverse_transform().unwrap().diagnostics().error.unwrap();
    assert!(error < 0.2 && error < 1.05 * placed, "{error} {placed}");
    let places = model.embedding().select(&[5, 17]);
    let (of_map, of_model) = (way.reconstruct(&places).unwrap(), model.reconstruct(&places).unwrap());
    let apart = of_map.points.values().iter().zip(of_model.points.values()).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 1.0, "of a roll that is 21 wide");
    assert!(InverseTransform::of_map(&roll, &swiss(599)).is_err());
}

/// An exported inverse transform: the linear rule can be followed by hand, in any unit of the data.
#[test]
fn an_exported_inverse_transform_predicts_what_reconstruct_predicts() {
    for size in [1.0, 1e-55, 1e55] {
        let data = Points::new(80, 3, swiss(80).values().iter().map(|x| x * size).collect()).unwrap();
        let model = Recipe { method: Pca::default().into(), ..Recipe::default() }.fit(&data, &Silent).unwrap();
        let way = model.inverse_transform().unwrap();
        let Some(Portable::Linear { mean, axes, deviations }) = way.portable() else { panic!("a linear rule") };
        let place = model.embedding().select(&[7]);
        let back = way.reconstruct(&place).unwrap();
        for j in 0..3 {
            let by_hand = mean[j] + axes[2 * j] * place.row(0)[0] + axes[2 * j + 1] * place.row(0)[1];
            assert!((by_hand - back.points.row(0)[j]).abs() < 1e-12 * size, "{by_hand:e}");
            assert!((deviations[j] / back.deviations.row(0)[j] - 1.0).abs() < EXACT);
        }
        let model = Recipe { method: Isomap::default().into(), ..Recipe::default() }.fit(&data, &Silent).unwrap();
        let kriging = model.inverse_transform().unwrap().calibrated([2.0, 3.0]).portable();
        let Some(Portable::Kriging { neighbors, unit, roughness, means, widths, components, .. }) = kriging else {
            panic!("kriging")
        };
        assert!(neighbors == 32 && roughness.is_some() && components.is_none());
        let means_by_hand: Vec<f64> = (0..3).map(|j| (0..80).map(|i| data.row(i)[j] / 80.0).sum()).collect();
        let largest = (0..240).map(|at| (data.values()[at] - means_by_hand[at % 3]).abs()).fold(0.0, f64::max);
        assert!((unit / largest - 1.0).abs() < EXACT, "{unit:e} for {largest:e}");
        assert!(means.iter().zip(&means_by_hand).all(|(a, b)| (a - b).abs() < 1e-12 * size));
        let Some(Portable::Kriging { widths: plain, .. }) = model.inverse_transform().unwrap().portable() else {
            panic!()
        };
        assert!(widths.iter().zip(&plain).all(|(a, b)| a[0] == 2.0 * b[0] && a[1] == 3.0 * b[1]));
    }
}
