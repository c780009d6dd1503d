//! Tests of the approximate neighbor search by a PCA sketch.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::search::filter::Others;
use crate::search::pca_bound::tests::noise;
use eigenfold_linalg::progress::Silent;

const N: usize = 6000;
const DIMS: usize = 120;
const K: usize = 6;

/// Points near a bent sheet, with a little of all other directions; the first is there many times.
fn bent(scale: f64) -> Points {
    let value = |i: usize, c: usize| {
        let i = if i.is_multiple_of(300) { 0 } else { i };
        let (u, v) = (4.0 * noise(3 * i), 4.0 * noise(3 * i + 1));
        let along = [u, v, u.sin(), v.cos(), (u + v).sin()][c % 5] * (1.0 + (c / 5) as f64).recip();
        scale * (along + 0.05 * noise(i * DIMS + c + 7))
    };
    Points::new(N, DIMS, (0..N * DIMS).map(|at| value(at / DIMS, at % DIMS)).collect()).unwrap()
}

fn search(points: &Points, metric: Metric) -> Option<Lists> {
    let blocks = Blocks::new(points, metric).unwrap();
    nearest_others(&blocks, points, K, 0.99, &Watch::new(&Silent, N)).unwrap()
}

#[test]
fn almost_all_neighbors_are_found_with_their_distances() {
    for (metric, scale) in [(Metric::Euclidean, 1e50), (Metric::Euclidean, 1e-120), (Metric::Cosine, 1.0)] {
        let points = bent(scale);
        let (targets, lengths) = search(&points, metric).expect("a sheet has a sketch");
        let blocks = Blocks::new(&points, metric).unwrap();
        let (mut exact, everyone) = (Lists::default(), (0..N as u32).collect::<Vec<_>>());
        blocks.nearest(&points, (&points, &everyone), K, &Others, &mut |best: &Best| best.write(&mut exact));
        let mut right = 0;
        for i in 0..N {
            let farthest = exact.1[(i + 1) * K - 1];
            for at in i * K..(i + 1) * K {
                let length = metric.distance(points.row(i), points.row(targets[at] as usize));
                assert!((lengths[at] - length).abs() <= 1e-5 * length, "{metric:?} {scale} {i}");
                assert_ne!(targets[at] as usize, i);
                right += usize::from(length <= farthest);
            }
        }
        let recall = right as f64 / exact.1.len() as f64;
        assert!(recall >= 0.99, "{metric:?} {scale}: {recall}");
    }
}

#[test]
fn independent_features_have_no_sketch_and_manhattan_has_none() {
    let points = Points::new(N, DIMS, (0..N * DIMS).map(noise).collect()).unwrap();
    assert!(search(&points, Metric::Euclidean).is_none());
    assert!(search(&bent(1.0), Metric::Manhattan).is_none());
}

#[test]
fn points_that_fill_few_directions_or_none_have_no_sketch() {
    for rank in [0, 3] {
        let value = |at: usize| (0..rank).map(|q| noise(at / DIMS * 3 + q) * noise(at % DIMS * 3 + q)).sum();
        let points = Points::new(N, DIMS, (0..N * DIMS).map(value).collect()).unwrap();
        assert!(search(&points, Metric::Euclidean).is_none(), "{rank}");
    }
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let points = bent(1.0);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| search(&points, Metric::Euclidean)).unwrap()
    };
    let one = with(1);
    assert!([2, 3, 7].into_iter().all(|threads| with(threads) == one));
}

/// Places are counted from one, and points of the same rank share the last of theirs.
#[test]
fn places_are_counted_without_the_point_itself() {
    let near = [(0.0, 2), (0.0, 4), (0.0, 1)];
    assert_eq!(places_of(&near, &[0.0, 3.0, 1.0, 2.0, 2.0], 0), [1, 3, 4]);
}
