//! Two claims about dimensions, and the dimension of data that are not part of the repository: what is found, and what goes
//! wrong (docs/dimension.md).

use crate::support::shared;
use eigenfold::Dimension;
use eigenfold::dimension::{Dimensions, Name};
use eigenfold::graph::Search;
use eigenfold::progress::Silent;
use eigenfold::{Disconnected, Neighbors, Points};

fn found(name: &str) -> Option<Dimensions> {
    let points = shared(name)?;
    Some(Dimension { global: false, ..Dimension::default() }.of(&points, &Silent).unwrap())
}

#[track_caller]
fn near(found: &Dimensions, name: Name, wanted: f64) {
    let value = found.estimate(name).unwrap().value;
    // The reference values have three digits.
    assert!((value / wanted - 1.0).abs() < 2e-3, "{name:?}: {value} instead of {wanted}");
}

/// Reference values: 2NN and MacKay-Ghahramani by numpy, as the unit tests say.
#[test]
fn rendered_faces_are_taken_for_four_dimensions_with_doubt() {
    let Some(faces) = found("data/isomap_faces_32x32/data.npy") else { return };
    near(&faces, Name::TwoNn, 3.57);
    near(&faces, Name::MacKayGhahramani, 3.86);
    // Three are true: two angles of the pose and one of the light.
    assert_eq!(faces.recommended.dims, 4);
    assert!(faces.recommended.caveat.contains("curved") && faces.recommended.caveat.contains("half way to 3"));
}

#[test]
fn even_steps_on_a_turntable_are_flagged() {
    let Some(objects) = found("data/coil20/data_32x32.npy") else { return };
    near(&objects, Name::TwoNn, 6.35);
    assert!(objects.check.flagged && objects.check.departure.is_some_and(|d| (d - 2.07).abs() < 0.01));
    assert!(objects.recommended.dims == 2 && objects.recommended.caveat.contains("2 is a guess"));
}

#[test]
fn oil_flow_has_two_dimensions_below_its_noise() {
    let Some(oil) = found("data/oil/data.csv") else { return };
    near(&oil, Name::TwoNn, 5.54);
    assert!(oil.check.flagged);
    assert_eq!(oil.recommended.dims, 2);
    assert!(oil.recommended.reason.contains("noise"), "{}", oil.recommended.reason);
}

/// Numbers from 0 to 1 that look random, by the mixing of splitmix64.
fn uniform(i: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// On a torus, which has no edges: d angles, 2d features, and n points so many that curvature hardly matters.
#[test]
fn h01_the_ratio_of_the_two_nearest_distances_has_its_law() {
    for (d, n) in [(1, 4000), (2, 12_000), (3, 20_000)] {
        let angle = |i: usize, a: usize| std::f64::consts::TAU * uniform(i * d + a);
        let row = |i: usize| (0..d).flat_map(move |a| [angle(i, a).cos(), angle(i, a).sin()]);
        let points = Points::new(n, 2 * d, (0..n).flat_map(row).collect()).unwrap();
        let search =
            Search { neighbors: Neighbors::Nearest(2), disconnected: Disconnected::Separate, ..Search::default() };
        let graph = search.of_points(&points, &Silent).unwrap().graph;
        let mut ratios: Vec<f64> = (0..n).map(|i| graph.lengths(i)[1] / graph.lengths(i)[0]).collect();
        ratios.sort_by(f64::total_cmp);
        // The distribution 1 - mu^-d, by the largest difference.
        let law = |at: usize| (1.0 - ratios[at].powi(-(d as i32)) - (at as f64 + 0.5) / n as f64).abs();
        let off = (0..n).map(law).fold(0.0, f64::max);
        assert!(off * (n as f64).sqrt() < 1.6, "{d}: {off}");
        // The mean is infinite for d = 1, and its variance for d = 2.
        if d == 3 {
            let mean = ratios.iter().sum::<f64>() / n as f64;
            assert!((mean - 1.5).abs() < 0.03, "{mean}");
        }
    }
}

#[test]
fn h02_the_singular_values_find_the_rank() {
    for rank in [1, 3, 7] {
        let entry = |i: usize, j: usize| {
            let factor = |k: usize| (uniform(i * 10 + k) - 0.5) * (uniform(7_000 + j * 10 + k) - 0.5);
            (0..rank).map(factor).sum::<f64>()
        };
        let points = Points::new(200, 12, (0..2400).map(|at| entry(at / 12, at % 12)).collect()).unwrap();
        let found = Dimension::default().of(&points, &Silent).unwrap();
        assert_eq!(found.spectrum.unwrap().ratios.len(), rank);
        // The truncated decomposition leaves nothing from the rank on.
        let recipe = eigenfold::Recipe { method: eigenfold::Pca::default().into(), dims: rank, ..Default::default() };
        let model = recipe.fit(&points, &Silent).unwrap();
        let back = model.reconstruct(model.embedding()).unwrap().points;
        let off = back.values().iter().zip(points.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-12, "{rank}: {off}");
    }
}
