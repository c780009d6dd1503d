//! Two claims about dimensions (docs/guide/dimensions.md). `beside` has the dimensions of data that are not part of the repository.
use eigenfold::{Dimension, Disconnected, Neighbors, Points, Search, Silent};

/// Numbers from 0 to 1 that look random, by the mixing of splitmix64.
fn uniform(i: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// On a torus, which has no edges: d angles, 2d features, and enough points that curvature hardly matters.
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
