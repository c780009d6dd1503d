//! The measures against their definitions, pair by pair, and their invariances.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::Distances;
use crate::validate::neighbor_ratio;
use eigenfold_graph::Metric;
use eigenfold_linalg::progress::{Silent, StopsAfter};

/// Pseudorandom numbers: a row's distances to the others are all different.
fn cloud(n: usize, p: usize, seed: usize) -> Points {
    let noise = |at: usize| ((at * at) as f64 * 0.754_877_666_246_692_7).fract();
    Points::new(n, p, (0..n * p).map(|at| noise(at + 1 + 7919 * seed)).collect()).unwrap()
}

/// Two columns that carry part of the information of the four of the data.
fn flattened(points: &Points) -> Points {
    let flat = |i: usize| [points.row(i)[0] + 0.25 * points.row(i)[2], points.row(i)[1] - 0.5 * points.row(i)[3]];
    Points::from_rows(&(0..points.rows()).map(flat).collect::<Vec<_>>()).unwrap()
}

/// A third of the points without a label, and three labels that depend on the first column.
fn labels(points: &Points) -> Vec<Option<u32>> {
    (0..points.rows()).map(|i| (i % 3 > 0).then(|| 5 + 2 * (3.0 * points.row(i)[0]) as u32)).collect()
}

fn evaluated(quality: &Quality, input: &QualityInput<'_>, map: &Points) -> Evaluation {
    quality.evaluate(input, &[map], &Silent).unwrap().remove(0)
}

fn value(evaluated: &Evaluation, measure: Measure) -> f64 {
    evaluated.value(measure).unwrap().value
}

/// The rank of j among the others of i, by counting.
fn rank(distances: &dyn Fn(usize, usize) -> f64, n: usize, i: usize, j: usize) -> usize {
    let before = |l: usize| distances(i, l) < distances(i, j) || (distances(i, l) == distances(i, j) && l < j);
    1 + (0..n).filter(|&l| l != i && before(l)).count()
}

/// The ranks of every ordered pair, in the data and on the map.
fn ranks(data: &Points, map: &Points) -> Vec<(usize, usize)> {
    let n = data.rows();
    let delta = |i: usize, j: usize| Metric::Euclidean.distance(data.row(i), data.row(j));
    let d = |i: usize, j: usize| Metric::Euclidean.distance(map.row(i), map.row(j));
    let pairs = (0..n).flat_map(|i| (0..n).filter(move |&j| j != i).map(move |j| (i, j)));
    pairs.map(|(i, j)| (rank(&delta, n, i, j), rank(&d, n, i, j))).collect()
}

/// R_NX(k), and kept(k).
fn rnx(ranks: &[(usize, usize)], n: usize, k: usize) -> [f64; 2] {
    let kept = ranks.iter().filter(|(r, s)| *r <= k && *s <= k).count() as f64 / (k * n) as f64;
    [((n - 1) as f64 * kept - k as f64) / (n - 1 - k) as f64, kept]
}

/// Every definition as it stands in the papers, over all pairs.
fn by_definition(data: &Points, map: &Points, ranks: &[(usize, usize)], k: usize) -> Vec<(Measure, f64)> {
    let n = data.rows();
    let delta = |i: usize, j: usize| Metric::Euclidean.distance(data.row(i), data.row(j));
    let d = |i: usize, j: usize| Metric::Euclidean.distance(map.row(i), map.row(j));
    let pairs: Vec<(usize, usize)> =
        (0..n).flat_map(|i| (0..n).filter(move |&j| j != i).map(move |j| (i, j))).collect();
    // The maximum of the sum of a row: the farthest others, or all that are not neighbors.
    let most: usize = (k + 1..n).rev().take(k).map(|rank| rank - k).sum();
    let loss = |own: &dyn Fn(&(usize, usize)) -> usize, other: &dyn Fn(&(usize, usize)) -> usize| {
        let beyond: usize =
            ranks.iter().filter(|pair| own(pair) <= k && other(pair) > k).map(|pair| other(pair) - k).sum();
        1.0 - beyond as f64 / (n * most) as f64
    };
    let area: f64 = (1..n - 1).map(|k| rnx(ranks, n, k)[0] / k as f64).sum();
    let whole: f64 = (1..n - 1).map(|k| 1.0 / k as f64).sum();
    let sum = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|&(i, j)| of(delta(i, j), d(i, j))).sum::<f64>();
    let (mean_delta, mean_d) = (sum(&|delta, _| delta) / pairs.len() as f64, sum(&|_, d| d) / pairs.len() as f64);
    let scale = sum(&|delta, d| delta * d) / sum(&|_, d| d * d);
    let r = sum(&|delta, d| (delta - mean_delta) * (d - mean_d))
        / (sum(&|delta, _| (delta - mean_delta).powi(2)) * sum(&|_, d| (d - mean_d).powi(2))).sqrt();
    let square = sum(&|delta, _| delta * delta);
    vec![
        (Measure::Trustworthiness, loss(&|pair| pair.1, &|pair| pair.0)),
        (Measure::Continuity, loss(&|pair| pair.0, &|pair| pair.1)),
        (Measure::Kept, rnx(ranks, n, k)[1]),
        (Measure::RnxAuc, area / whole),
        (Measure::NeighborRatio, neighbor_ratio(data, Metric::Euclidean, map).unwrap()),
        (Measure::Stress, (sum(&|delta, d| (delta - d).powi(2)) / square).sqrt()),
        (Measure::ScaledStress, (sum(&|delta, d| (delta - scale * d).powi(2)) / square).sqrt()),
        (Measure::Pearson, r),
        (Measure::ResidualVariance, 1.0 - r * r),
    ]
}

#[test]
fn the_pass_over_the_rows_gives_what_the_definitions_give() {
    let data = cloud(60, 4, 0);
    let map = flattened(&data);
    let ranks = ranks(&data, &map);
    for k in [1, 7, 29, 30, 31, 50, 58] {
        let evaluated =
            evaluated(&Quality { neighbors: Some(k), ..Quality::default() }, &QualityInput::new(&data), &map);
        for (measure, wanted) in by_definition(&data, &map, &ranks, k) {
            let found = value(&evaluated, measure);
            assert!((found - wanted).abs() < 1e-12, "{} for k = {k}: {found} for {wanted}", measure.key());
        }
        assert!(evaluated.values.iter().all(|score| score.error.is_none()), "all rows were used");
        for &(size, value) in &evaluated.curve {
            let at = rnx(&ranks, 60, size)[0];
            assert!((value - at).abs() < 1e-12, "{value} for {at}, k = {size}");
        }
    }
}

#[test]
fn points_that_coincide_are_ranked_by_index_on_both_sides() {
    // Each point three times.
    let some = cloud(12, 4, 1);
    let data = some.select(&(0..36).map(|i| i / 3).collect::<Vec<_>>());
    let map = flattened(&data);
    let evaluated = evaluated(&Quality { neighbors: Some(5), ..Quality::default() }, &QualityInput::new(&data), &map);
    for (measure, wanted) in by_definition(&data, &map, &ranks(&data, &map), 5) {
        let found = value(&evaluated, measure);
        assert!((found - wanted).abs() < 1e-12, "{}: {found} for {wanted}", measure.key());
    }
}

/// Means over the rows, geometric and quadratic ones: every measure but those over pairs is some mean of its row
/// values.
#[test]
fn what_the_rows_say_adds_up_to_the_whole() {
    let data = cloud(90, 4, 2);
    let (map, labels, truth) = (flattened(&data), labels(&data), data.select_columns(&[1, 0, 3]));
    let input = QualityInput { labels: Some(&labels), truth: Some(&truth), ..QualityInput::new(&data) };
    let evaluated = evaluated(&Quality::default(), &input, &map);
    assert_eq!(evaluated.values.len(), MEASURES.len(), "every measure is defined: {:?}", evaluated.values);
    for score in &evaluated.values {
        let each = evaluated.per_row(score.measure).unwrap();
        let known = || each.iter().copied().filter(|value| !value.is_nan());
        let mean = |of: fn(f64) -> f64| known().map(of).sum::<f64>() / known().count() as f64;
        let whole = match score.measure {
            Measure::NeighborRatio => mean(f64::ln).exp(),
            Measure::ReconstructionError => mean(|x| x * x).sqrt(),
            // Weighted by the rows' own sums of squares; or correlations, which have no such rule.
            Measure::Stress | Measure::ScaledStress => continue,
            Measure::Pearson | Measure::Spearman | Measure::ResidualVariance => continue,
            _ => mean(|x| x),
        };
        let key = score.measure.key();
        assert!((score.value - whole).abs() < 1e-12, "{key}: {} for {whole}", score.value);
        let labeled = score.measure.described().group == Group::Labels;
        assert_eq!(known().count(), if labeled { 60 } else { 90 }, "{key}");
    }
    let sizes: Vec<f64> =
        (0..90).map(|i| (0..90).map(|j| Metric::Euclidean.distance(data.row(i), data.row(j)).powi(2)).sum()).collect();
    for measure in [Measure::Stress, Measure::ScaledStress] {
        let each = evaluated.per_row(measure).unwrap();
        let squares: f64 = each.iter().zip(&sizes).map(|(stress, size)| stress * stress * size).sum();
        assert!((value(&evaluated, measure) - (squares / sizes.iter().sum::<f64>()).sqrt()).abs() < 1e-12);
    }
}

#[test]
fn a_map_that_is_the_data_is_perfect() {
    // Many coordinates and few, and a grid, where most distances are equal to others.
    let grid = Points::from_rows(&(0..49).map(|i| [f64::from(i % 7), f64::from(i / 7)]).collect::<Vec<_>>()).unwrap();
    for data in [cloud(80, 20, 3), cloud(80, 3, 3), cloud(80, 1, 3), grid] {
        let evaluated =
            evaluated(&Quality::default(), &QualityInput { truth: Some(&data), ..QualityInput::new(&data) }, &data);
        for &MeasureValue { measure, value, .. } in
            evaluated.values.iter().filter(|s| s.measure != Measure::ReconstructionError)
        {
            let perfect = match (measure, measure.described().better) {
                (Measure::NeighborRatio, _) => 1.0,
                (_, Better::Higher) => 1.0,
                (_, Better::Lower) => 0.0,
            };
            assert!((value - perfect).abs() < 1e-12, "{}: {value}", measure.key());
        }
        assert!(evaluated.curve.iter().all(|(_, value)| (value - 1.0).abs() < 1e-12));
    }
}

/// A rotated, reflected, shifted and scaled map is equally good, except for the stress, which depends on lengths.
#[test]
fn turns_moves_and_lengths_change_nothing_but_the_stress() {
    let data = cloud(70, 4, 4);
    let (map, labels, truth) = (flattened(&data), labels(&data), data.select_columns(&[0, 1]));
    let input = QualityInput { labels: Some(&labels), truth: Some(&truth), ..QualityInput::new(&data) };
    let (sin, cos) = 1.1_f64.sin_cos();
    let turned = |i: usize| {
        [5.0 - 3.0 * (cos * map.row(i)[0] - sin * map.row(i)[1]), 3.0 * (sin * map.row(i)[0] + cos * map.row(i)[1])]
    };
    let turned = Points::from_rows(&(0..70).map(turned).collect::<Vec<_>>()).unwrap();
    let both = Quality::default().evaluate(&input, &[&map, &turned], &Silent).unwrap();
    for (one, other) in both[0].values.iter().zip(&both[1].values) {
        let apart = (one.value - other.value).abs();
        assert_eq!(apart < 1e-10, one.measure != Measure::Stress, "{}: {one:?} {other:?}", one.measure.key());
    }
    // Data and map scaled by the same factor: not even the stress changes.
    let twice =
        |points: &Points| Points::new(70, points.cols(), points.values().iter().map(|x| 3.0 * x).collect()).unwrap();
    let enlarged = evaluated(&Quality::default(), &QualityInput::new(&twice(&data)), &twice(&map));
    assert!((value(&enlarged, Measure::Stress) - value(&both[0], Measure::Stress)).abs() < 1e-12);
}

#[test]
fn numbers_of_any_size_are_evaluated_alike() {
    let data = cloud(50, 4, 5);
    let map = flattened(&data);
    let one = evaluated(&Quality::default(), &QualityInput::new(&data), &map);
    let times = |points: &Points, power: i32| {
        points.with_values(points.values().iter().map(|&x| times_two(x, power)).collect())
    };
    for (of_data, of_map) in [(190, 190), (-190, -190), (190, -190), (-190, 190), (0, 190), (-190, 0)] {
        let other = evaluated(&Quality::default(), &QualityInput::new(&times(&data, of_data)), &times(&map, of_map));
        assert_eq!(other.values.len(), one.values.len());
        for (a, b) in one.values.iter().zip(&other.values).filter(|(a, _)| a.measure != Measure::Stress) {
            assert!((a.value - b.value).abs() < 1e-12, "{a:?} {b:?}, 2^{of_data} and 2^{of_map}");
        }
        // A map that is 2^380 times as large has that much stress, and one that vanishes relative to the data has all
        // of it.
        let stress = value(&other, Measure::Stress);
        let wanted = match of_map - of_data {
            0 => value(&one, Measure::Stress),
            less if less < 0 => 1.0,
            more => times_two(value(&one, Measure::Stress).max(1.0), more),
        };
        assert!(stress.is_finite() && (stress / wanted).log2().abs() < 1.0, "{stress:e} for {wanted:e}");
        let (a, b) = (one.shepard[7][0], other.shepard[7][0]);
        assert!((b / times_two(a, of_data) - 1.0).abs() < 1e-12, "in the units of the data");
    }
}

fn times_two(x: f64, power: i32) -> f64 {
    eigenfold_linalg::power::times_two_to(x, power)
}

#[test]
fn a_map_without_any_shape_is_evaluated_too() {
    let data = cloud(40, 3, 6);
    let flat = Points::new(40, 2, vec![1.5; 80]).unwrap();
    let labels: Vec<Option<u32>> = (0..40).map(|i| Some(i % 2)).collect();
    let evaluated = evaluated(
        &Quality::default(),
        &QualityInput { labels: Some(&labels), truth: Some(&data), ..QualityInput::new(&data) },
        &flat,
    );
    assert!(evaluated.values.iter().all(|score| score.value.is_finite()), "{:?}", evaluated.values);
    for (measure, wanted) in [
        (Measure::Stress, 1.0),
        (Measure::ScaledStress, 1.0),
        (Measure::Pearson, 0.0),
        (Measure::ResidualVariance, 1.0),
        (Measure::Spearman, 0.0),
        (Measure::Silhouette, 0.0),
        (Measure::Disparity, 1.0),
    ] {
        assert_eq!(value(&evaluated, measure), wanted, "{}", measure.key());
    }
    // Constant data: measures of distances and of reconstruction are undefined.
    let evaluated = self::evaluated(&Quality::default(), &QualityInput::new(&flat), &data);
    let measures: Vec<Measure> = evaluated.values.iter().map(|score| score.measure).collect();
    assert_eq!(measures, [Measure::Trustworthiness, Measure::Continuity, Measure::Kept, Measure::RnxAuc]);
}

#[test]
fn two_and_three_points_are_evaluated_and_impossible_questions_refused() {
    for n in [2, 3] {
        let (data, map) = (cloud(n, 2, 7), cloud(n, 1, 8));
        let evaluated = evaluated(&Quality::default(), &QualityInput::new(&data), &map);
        assert_eq!(evaluated.neighbors, 1);
        assert!(evaluated.values.iter().all(|score| score.value.is_finite()), "{:?}", evaluated.values);
        assert_eq!(evaluated.value(Measure::RnxAuc).is_some(), n == 3, "two points have no neighborhood but all");
    }
    let (data, map) = (cloud(12, 3, 9), cloud(12, 2, 10));
    let refused = |quality: Quality, input: QualityInput<'_>, map: &Points| {
        quality.evaluate(&input, &[map], &Silent).unwrap_err().to_string()
    };
    let of = |neighbors, rows| Quality { neighbors, rows, seed: 0 };
    let plain = QualityInput::new(&data);
    assert!(refused(of(Some(12), None), plain, &map).contains("use `neighbors` 11 or less"));
    assert!(refused(of(Some(0), None), plain, &map).contains("`neighbors` is 0"));
    assert!(refused(of(None, Some(1)), plain, &map).contains("`rows` is 1"));
    assert!(refused(of(None, None), plain, &cloud(11, 2, 0)).contains("the data have 12 rows and the map has 11"));
    assert!(
        refused(of(None, None), QualityInput { truth: Some(&cloud(3, 1, 0)), ..plain }, &map)
            .contains("the data have 12 rows and the true coordinates have 3")
    );
    assert!(
        refused(of(None, None), QualityInput { labels: Some(&[None]), ..plain }, &map)
            .contains("1 labels for 12 points")
    );
    assert!(refused(of(None, None), QualityInput::new(&cloud(1, 2, 0)), &cloud(1, 1, 0)).contains("there is 1 point"));
    let graph = eigenfold_graph::Search::default().of_points(&data, &Silent).unwrap().graph;
    assert!(refused(of(None, None), QualityInput::new(&graph), &map).contains("give points or distances"));
    let stopped = Quality::default().evaluate(&plain, &[&map], &StopsAfter::questions(0)).unwrap_err();
    assert!(matches!(stopped, Error::Stopped));
    // All neighbors are kept where all points are neighbors.
    let all = evaluated(&of(Some(11), None), &plain, &map);
    assert_eq!((value(&all, Measure::Trustworthiness), value(&all, Measure::Kept)), (1.0, 1.0));
}

#[test]
fn distances_say_the_same_as_the_points_they_are_of() {
    let data = cloud(40, 4, 11);
    let map = flattened(&data);
    let entry = |at: usize| Metric::Euclidean.distance(data.row(at / 40), data.row(at % 40));
    let distances = Distances::new(Points::new(40, 40, (0..1600).map(entry).collect()).unwrap()).unwrap();
    let (of_points, of_distances) = (
        evaluated(&Quality::default(), &QualityInput::new(&data), &map),
        evaluated(&Quality::default(), &QualityInput::new(&distances), &map),
    );
    let without_reconstruction: Vec<MeasureValue> =
        of_points.values.iter().copied().filter(|score| score.measure != Measure::ReconstructionError).collect();
    assert_eq!(of_distances.values, without_reconstruction);
}

/// Over ten samples no measure differs by more than five of its standard errors, and on average by about one.
#[test]
fn a_sample_of_rows_is_as_far_off_as_it_says() {
    let data = cloud(900, 4, 12);
    let (map, labels) = (flattened(&data), labels(&data));
    let input = QualityInput { labels: Some(&labels), ..QualityInput::new(&data) };
    let all = evaluated(&Quality::default(), &input, &map);
    let drawn: Vec<Evaluation> =
        (0..10).map(|seed| evaluated(&Quality { rows: Some(150), seed, ..Quality::default() }, &input, &map)).collect();
    assert!(drawn.iter().all(|evaluated| evaluated.rows.len() == 150 && evaluated.is_sample()));
    // All 404,550 pairs are ranked, whatever rows are sampled.
    for score in all.values.iter().filter(|score| score.measure != Measure::Spearman) {
        let off = |evaluated: &Evaluation| {
            let found = evaluated.value(score.measure).unwrap();
            (found.value - score.value) / found.error.unwrap()
        };
        let off: Vec<f64> = drawn.iter().map(off).collect();
        let square = off.iter().map(|off| off * off).sum::<f64>() / 10.0;
        assert!(off.iter().all(|off| off.abs() < 5.0), "{}: {off:?}", score.measure.key());
        assert!((0.1..4.0).contains(&square), "{}: {square} {off:?}", score.measure.key());
        // The value of a row does not depend on the other sampled rows, unless it needs all of them: the best scale of
        // the map, or the length scale and noise of the reconstruction.
        let alone = ![Measure::ScaledStress, Measure::ReconstructionError].contains(&score.measure);
        for evaluated in drawn.iter().filter(|_| alone) {
            let (some, each) = (evaluated.per_row(score.measure).unwrap(), all.per_row(score.measure).unwrap());
            let known = evaluated.rows.iter().zip(some).filter(|(_, value)| !value.is_nan());
            assert!(known.clone().count() >= 80 && known.clone().all(|(&row, &value)| value == each[row]));
        }
    }
}

#[test]
fn some_of_the_pairs_give_nearly_the_correlation_of_all() {
    let data = cloud(1200, 3, 13);
    let map = data.select_columns(&[0, 2]);
    let all: Vec<(usize, usize)> = (0..1200).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let far = |points: &Points| -> Vec<f64> {
        all.iter().map(|&(i, j)| Metric::Euclidean.distance(points.row(i), points.row(j))).collect()
    };
    let place = |values: &[f64]| {
        let mut ranks = vec![0.0; values.len()];
        eigenfold_linalg::sort::ascending(values).into_iter().enumerate().for_each(|(at, i)| ranks[i] = at as f64);
        ranks
    };
    let (a, b, m) = (place(&far(&data)), place(&far(&map)), all.len() as f64);
    let apart: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
    let wanted = 1.0 - 6.0 * apart / (m * (m * m - 1.0));
    for seed in 0..10 {
        let evaluated =
            evaluated(&Quality { rows: Some(2), seed, ..Quality::default() }, &QualityInput::new(&data), &map);
        let MeasureValue { value, error, .. } = evaluated.value(Measure::Spearman).unwrap();
        let error = error.unwrap();
        assert!(error < 1e-3 && (value - wanted).abs() < 4.0 * error, "{value} ± {error} for {wanted}");
    }
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads() {
    let data = cloud(150, 4, 14);
    let (map, labels) = (flattened(&data), labels(&data));
    let other = data.select_columns(&[3]);
    let input = QualityInput { labels: Some(&labels), ..QualityInput::new(&data) };
    let quality = Quality { rows: Some(70), ..Quality::default() };
    let found: Vec<Vec<Evaluation>> = [1, 2, 3]
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| quality.evaluate(&input, &[&map, &other], &Silent).unwrap())
        })
        .into();
    assert!(found.iter().all(|evaluated| format!("{evaluated:?}") == format!("{:?}", found[0])));
    // Maps are evaluated independently.
    assert_eq!(format!("{:?}", evaluated(&quality, &input, &other)), format!("{:?}", found[0][1]));
}

/// Classes without rows are not counted, and rows without a class are never neighbors.
#[test]
fn rows_without_a_label_are_as_if_they_were_not_there() {
    let data = cloud(60, 4, 15);
    let (map, labels) = (flattened(&data), labels(&data));
    let rows: Vec<usize> = (0..60).filter(|&i| labels[i].is_some()).collect();
    let kept: Vec<Option<u32>> = rows.iter().map(|&i| labels[i]).collect();
    let some = data.select(&rows);
    let all = evaluated(&Quality::default(), &QualityInput { labels: Some(&labels), ..QualityInput::new(&data) }, &map);
    let alone = evaluated(
        &Quality::default(),
        &QualityInput { labels: Some(&kept), ..QualityInput::new(&some) },
        &map.select(&rows),
    );
    for measure in [Measure::NeighborhoodHit, Measure::KnnAccuracy, Measure::Silhouette] {
        assert!((value(&all, measure) - value(&alone, measure)).abs() < 1e-14, "{}", measure.key());
    }
    for same in [vec![Some(3); 60], (0..60).map(Some).collect()] {
        let evaluated =
            evaluated(&Quality::default(), &QualityInput { labels: Some(&same), ..QualityInput::new(&data) }, &map);
        assert!(evaluated.value(Measure::Silhouette).is_none() && evaluated.value(Measure::NeighborhoodHit).is_some());
    }
}
