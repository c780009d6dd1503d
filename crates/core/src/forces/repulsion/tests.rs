//! Grids, trees and samples against sums over all pairs.

use super::*;
use proptest::prelude::*;

/// Points at low discrepancy in a box, denser towards one corner, so that forces do not cancel.
fn places(n: usize, dims: usize, extent: f64) -> Vec<f64> {
    let steps: [f64; 6] = std::array::from_fn(|q| [2f64, 3.0, 5.0, 7.0, 11.0, 13.0][q].sqrt().fract());
    let place = |at: usize| extent * (0.5 + (at / dims + 1) as f64 * steps[at % dims]).fract().powi(2);
    (0..n * dims).map(place).collect()
}

fn kernels() -> [Kernel; 4] {
    [Shape::Gaussian, Shape::Student(1.0), Shape::Student(3.0), Shape::Umap(1.576_943, 0.895_061)].map(Kernel::of)
}

fn errors(kernel: &Kernel, y: &[f64], dims: usize, spacing: f64) -> (GridError, GridError) {
    let mut fast = RepulsionSum::Fast(Box::new(Grid::new(kernel.clone(), dims, spacing)));
    let mut fine = RepulsionSum::Fine(Box::new(Grid::new(kernel.clone(), dims, FINE * spacing)));
    fast.take(y);
    fine.take(y);
    // Zero where so few points are summed pair by pair.
    let none = GridError { gradient: 0.0, total: 0.0 };
    (fast.error(y, dims).unwrap_or(none), fine.error(y, dims).unwrap_or(none))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_grid_is_near_the_sum_pair_by_pair(
        n in 300usize..1500, dims in 1usize..=3, extent in 0.01f64..5.0, which in 0usize..3,
    ) {
        let kernel = &kernels()[which];
        let y = places(n, dims, extent);
        let (fast, fine) = errors(kernel, &y, dims, 0.5);
        // Gradients of few points nearly cancel; the potentials do not.
        prop_assert!(fine.total < 1e-4 && fast.total < 3e-2, "{which}: {fast:?} {fine:?}");
    }
}

#[test]
fn gradients_are_right_to_some_per_cent_or_to_four_digits() {
    for (kernel, spacing) in kernels().iter().zip([0.5, 0.5, 0.5, 0.2]) {
        for dims in 1..=3 {
            // UMAP's kernel has a peak narrower than its grid, which matters for many points on a line.
            if matches!(kernel, Kernel::Umap(_)) && dims != 2 {
                continue;
            }
            let extent = [200.0, 20.0, 8.0][dims - 1];
            let (fast, fine) = errors(kernel, &places(2000, dims, extent), dims, spacing);
            assert!(fast.gradient < 0.12 && fast.total < 1e-2, "{spacing} in {dims}: {fast:?}");
            // UMAP's peak matters in two dimensions as well.
            let most = if matches!(kernel, Kernel::Umap(_)) { 5e-3 } else { 2e-3 };
            assert!(fine.gradient < most && fine.total < 1e-4, "{spacing} in {dims}: {fine:?}");
        }
    }
}

#[test]
fn the_gradient_is_that_of_the_approximate_potential() {
    for dims in 1..=3 {
        let y = places(300, dims, 6.0);
        let mut grid = Grid::<f64, 8>::new(Kernel::Gaussian, dims, 0.4);
        let mut total = |y: &[f64]| {
            let mut sums = Sums::default();
            sums.clear(300, dims);
            grid.take(y);
            grid.add(None, None, &mut sums);
            (sums.values.iter().sum::<f64>(), sums.gradients)
        };
        let gradients = total(&y).1;
        for at in [10, 77, 150] {
            let mut moved = |step: f64| {
                let mut y = y.clone();
                y[at] += step;
                total(&y).0
            };
            let difference = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            assert!((difference - 2.0 * gradients[at]).abs() < 1e-6, "{dims}: {difference} {}", gradients[at]);
        }
    }
}

#[test]
fn charges_of_squares_are_the_squared_distances() {
    let points = Points::new(700, 3, places(700, 3, 2.0)).unwrap();
    let charges = Charges::squares(&points, &points);
    let y = places(700, 2, 10.0);
    let sums = |mut repulsion: RepulsionSum| {
        let mut sums = Sums::default();
        sums.clear(700, 2);
        repulsion.take(&y);
        repulsion.add_all(&y, 2, &charges, true, &mut sums);
        sums
    };
    let exact = sums(RepulsionSum::Exact(Kernel::Gaussian));
    let grid = sums(RepulsionSum::Fine(Box::new(Grid::new(Kernel::Gaussian, 2, 0.25))));
    let largest = exact.gradients.iter().fold(0.0, |most: f64, gradient| most.max(gradient.abs()));
    for (a, b) in exact.gradients.iter().zip(&grid.gradients) {
        assert!((a - b).abs() < 1e-6 * largest, "{a} {b} of {largest}");
    }
    let x: Vec<f64> = (0..700).map(|i| f64::from(i % 13) - 6.0).collect();
    let product = charges.laplacian(&x);
    let direct: f64 = (0..700).map(|j| charges.weight(5, j) * (x[5] - x[j])).sum();
    assert!((product[5] - direct).abs() < 1e-9 * direct.abs());
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    for dims in [2, 4] {
        let y = places(5000, dims, 60.0);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut repulsion = RepulsionSum::of(Kernel::Student(1.0), 5000, dims, 0.667, Accuracy::Fast);
                let mut sums = Sums::default();
                sums.clear(5000, dims);
                repulsion.take(&y);
                repulsion.add(&y, dims, None, None, &mut sums);
                sums
            })
        };
        let one = run(1);
        for threads in [2, 3, 7] {
            let other = run(threads);
            assert!(one.values == other.values && one.gradients == other.gradients, "{threads} in {dims}");
        }
    }
}

#[test]
fn a_point_far_off_makes_the_grid_coarse_and_not_large() {
    // Few points are summed pair by pair instead.
    for (n, dims, coarse) in [(2000, 1, false), (2000, 3, false), (8000, 2, true)] {
        let mut y = places(n, dims, 10.0);
        y[0] = 1e12;
        let mut repulsion = RepulsionSum::of(Kernel::Student(1.0), n, dims, 0.667, Accuracy::Fast);
        let mut sums = Sums::default();
        sums.clear(n, dims);
        repulsion.take(&y);
        repulsion.add(&y, dims, None, None, &mut sums);
        assert_eq!(repulsion.coarseness() > 1.0, coarse);
        assert!(sums.gradients.iter().all(|gradient| gradient.is_finite()));
    }
}

#[test]
fn a_tree_is_near_the_sum_pair_by_pair_in_many_dimensions() {
    for dims in [4, 6] {
        let y = places(1500, dims, 12.0);
        for kernel in &kernels()[..3] {
            let error = |opening: f64| {
                let mut tree = RepulsionSum::Tree(Box::new(Tree::new(kernel.clone(), dims, opening)));
                tree.take(&y);
                tree.error(&y, dims).unwrap()
            };
            let (fast, fine) = (error(OPENING.0), error(OPENING.1));
            assert!(fast.gradient < 0.05 && fast.total < 0.02, "{kernel:?} in {dims}: {fast:?}");
            assert!(fine.gradient < 5e-3 && fine.total < 2e-3, "{kernel:?} in {dims}: {fine:?}");
        }
    }
}

#[test]
fn a_tree_of_charges_is_exact_if_it_is_opened_to_the_leaves() {
    let y = places(500, 4, 3.0);
    let charges: Vec<f64> = (0..500).map(|i| f64::from(i % 7)).collect();
    let sums = |mut repulsion: RepulsionSum| {
        let mut sums = Sums::default();
        sums.clear(500, 4);
        repulsion.take(&y);
        repulsion.add(&y, 4, Some(&charges), Some(&charges), &mut sums);
        sums
    };
    let exact = sums(RepulsionSum::Exact(Kernel::Student(1.0)));
    let tree = sums(RepulsionSum::Tree(Box::new(Tree::new(Kernel::Student(1.0), 4, 0.0))));
    for (a, b) in exact.gradients.iter().zip(&tree.gradients).chain(exact.values.iter().zip(&tree.values)) {
        assert!((a - b).abs() < 1e-9 * a.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn a_tree_takes_points_that_coincide() {
    let mut repulsion = RepulsionSum::of(Kernel::Student(1.0), 5000, 5, 0.5, Accuracy::Fast);
    let y = vec![1.0; 5000 * 5];
    let mut sums = Sums::default();
    sums.clear(5000, 5);
    repulsion.take(&y);
    repulsion.add(&y, 5, None, None, &mut sums);
    assert!(sums.values.iter().all(|value| (value - 4999.0).abs() < 1e-6));
    assert!(sums.gradients.iter().all(|gradient| *gradient == 0.0));
}

/// Over one permutation every point is drawn once, so that the mean over its samples is the sum over all pairs.
#[test]
fn draws_add_up_to_the_sum_pair_by_pair() {
    let (n, dims, rounds) = (2048, 5, 16);
    let y = places(n, dims, 12.0);
    let mut sums = Sums::default();
    sums.clear(n, dims);
    let mut drawn = RepulsionSum::of_umap((1.577, 0.895), n, dims, 0.2, Accuracy::Fast, 7);
    assert_eq!(drawn.route(), "128 points sampled per iteration");
    for _ in 0..rounds {
        drawn.take(&y);
        drawn.add_all(&y, dims, &Charges::One(n), false, &mut sums);
    }
    let mut exact = Sums::default();
    exact.clear(n, dims);
    RepulsionSum::of_umap((1.577, 0.895), n, dims, 0.2, Accuracy::Exact, 7).add(&y, dims, None, None, &mut exact);
    let size = exact.gradients.iter().map(|gradient| gradient * gradient).sum::<f64>().sqrt();
    let off =
        exact.gradients.iter().zip(&sums.gradients).map(|(a, b)| (a - b / rounds as f64).powi(2)).sum::<f64>().sqrt();
    assert!(off < 2e-3 * size, "{off} of {size}");
    assert!(sums.values.iter().all(|value| *value == 0.0), "values were not requested");

    // Values use a fixed sample, the same at every evaluation.
    let mut looks = [0.0; 2];
    for look in &mut looks {
        sums.clear(n, dims);
        drawn.take(&y);
        drawn.add_all(&y, dims, &Charges::One(n), true, &mut sums);
        *look = sums.values.iter().sum();
    }
    let whole: f64 = exact.values.iter().sum();
    assert!(looks[0] == looks[1] && (looks[0] / whole - 1.0).abs() < 0.05, "{looks:?} {whole}");
}

#[test]
fn draws_follow_from_the_seed_and_not_from_the_number_of_threads() {
    let y = places(1000, 3, 12.0);
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut repulsion = RepulsionSum::of_umap((1.577, 0.895), 1000, 3, 0.2, Accuracy::Fast, seed);
            let mut sums = Sums::default();
            sums.clear(1000, 3);
            for _ in 0..5 {
                repulsion.take(&y);
                repulsion.add(&y, 3, None, None, &mut sums);
            }
            sums
        })
    };
    let one = run(1, 0);
    for threads in [2, 3, 7] {
        let other = run(threads, 0);
        assert!(one.values == other.values && one.gradients == other.gradients, "{threads}");
    }
    assert!(one.gradients != run(1, 1).gradients);
}
