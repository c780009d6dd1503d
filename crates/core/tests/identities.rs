//! Theorems of the papers, each by two independent paths. docs/claims.md lists them by their ids.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use eigenfold::Distances;
use eigenfold::field::{
    Affinity, Build, Built, EdgeWeight, Field, LaplacianVariant, LleVariant, MeuVariant, Ordering, Site, Task,
};
use eigenfold::graph::{Paths, Search};
use eigenfold::linalg::Operator;
use eigenfold::progress::Silent;
use eigenfold::sample::Sample;
use eigenfold::{Alle, Isomap, KernelPca, LaplacianEigenmaps, Lle, Mds, Method, Meu, Neighbors, Pca, Points, Recipe};
use faer::Mat;
use proptest::prelude::*;
use support::*;

/// Lawrence 2012, section 1.2: scaling squared Euclidean distances gives PCA's coordinates. PCA decomposes the p x p
/// covariance; scaling a distance matrix sees n x n inner products and never the features.
#[test]
fn l01_classical_scaling_of_euclidean_distances_is_pca() {
    for (n, p) in [(120, 5), (700, 4)] {
        let points = cloud(n, p, 3);
        let recipe = Recipe { method: Mds::default().into(), dims: 3, ..Recipe::default() };
        let scaled = recipe.fit(&Distances::new(distances(&points)).unwrap()).unwrap();
        let pca = Recipe { method: Pca::default().into(), dims: 3, ..Recipe::default() }.fit(&points).unwrap();
        assert!(distance_mismatch(pca.embedding(), scaled.embedding()) < SOLVED);
        assert!(subspace_angle(pca.embedding(), scaled.embedding()) < SOLVED);
        for q in 0..3 {
            assert!((pca.spectrum()[q] / scaled.spectrum()[q] - 1.0).abs() < SOLVED);
        }
    }
}

/// The linear kernel's feature space is the data space.
#[test]
fn kernel_pca_with_the_linear_kernel_is_pca() {
    let points = cloud(300, 6, 5);
    let kernel = KernelPca { kernel: eigenfold::Kernel::Linear };
    assert!(distance_mismatch(fit(Pca::default(), &points).embedding(), fit(kernel, &points).embedding()) < SOLVED);
}

/// Lawrence 2012, section 2.6.2: Laplacian eigenmaps is classical scaling of the covariance (L + γI)⁻¹.
#[test]
fn l05_laplacian_eigenmaps_is_classical_scaling_of_its_covariance() {
    let points = swiss(600);
    let method = LaplacianEigenmaps { variant: LaplacianVariant::Unnormalized, ..LaplacianEigenmaps::default() };
    let model = fit(method, &points);

    let laplacian = laplacian(&points).0;
    let (values, vectors) = symmetric_eigen(laplacian.as_ref());
    let gamma = 1e-3;
    let n = points.rows();
    let covariance =
        Mat::from_fn(n, n, |i, j| (0..n).map(|q| vectors[(i, q)] * vectors[(j, q)] / (values[q] + gamma)).sum::<f64>());
    let squares = Points::new(
        n,
        n,
        (0..n * n)
            .map(|at| (at / n, at % n))
            .map(|(i, j)| (covariance[(i, i)] - 2.0 * covariance[(i, j)] + covariance[(j, j)]).max(0.0).sqrt())
            .collect(),
    )
    .unwrap();
    let squares = symmetrized(&squares);
    let recipe = Recipe { method: Mds::default().into(), ..Recipe::default() };
    let scaled = recipe.fit(&Distances::new(squares.clone()).unwrap()).unwrap();
    assert!(subspace_angle(model.embedding(), scaled.embedding()) < 1e-6, "the dense inverse costs some digits");
    for q in 0..2 {
        assert!((1.0 / (model.spectrum()[q] + gamma) / scaled.spectrum()[q] - 1.0).abs() < 1e-6);
    }
}

/// Lawrence 2012, section 2.6.2: the variants differ in their constraint, yᵀDy or yᵀy; the symmetric one fixes the length
/// of D^½ y, and its D^(−½) u are the coordinates of the normalized one.
#[test]
fn l06_the_variants_fix_the_mass_or_the_length() {
    use LaplacianVariant::{Normalized, Symmetric, Unnormalized};
    let points = swiss(800);
    let map =
        |variant| fit(LaplacianEigenmaps { variant, ..LaplacianEigenmaps::default() }, &points).embedding().clone();
    let degrees = laplacian(&points).1;
    for variant in [Normalized, Symmetric, Unnormalized] {
        let mass: Vec<f64> = if variant == Normalized { degrees.clone() } else { vec![1.0; points.rows()] };
        let y = map(variant);
        let total: f64 = mass.iter().sum();
        for (a, b) in [(0, 0), (0, 1), (1, 1)] {
            let moment: f64 = (0..y.rows()).map(|i| mass[i] * y.row(i)[a] * y.row(i)[b]).sum();
            let expected = if a == b { 1.0 } else { 0.0 };
            assert!((moment / total - expected).abs() < SOLVED, "({a}, {b}): {moment}");
        }
    }
    let (y, u) = (map(Normalized), map(Symmetric));
    let unit = (degrees.iter().sum::<f64>() / points.rows() as f64).sqrt();
    for q in 0..2 {
        let back = |i: usize| u.row(i)[q] * unit / degrees[i].sqrt();
        let sign = (y.row(0)[q] * back(0)).signum();
        let most = (0..points.rows()).map(|i| (sign * back(i) - y.row(i)[q]).abs()).fold(0.0, f64::max);
        assert!(most < SOLVED, "coordinate {q}: {most}");
    }
}

/// Lawrence 2012, section 2.8: on a ring or a sphere Isomap's similarity has negative eigenvalues, and they are not
/// rounding.
#[test]
fn l10_isomaps_similarity_can_be_indefinite() {
    for (sample, n) in [(Sample::Ring, 150), (Sample::Sphere, 400)] {
        let points = sample.draw(n, 0.0, 0).unwrap().points;
        let found = Search::default().of_points(&points, &Silent).unwrap();
        let all: Vec<usize> = (0..n).collect();
        let lengths = Paths::new(&found.graph.union(), n).from_sources(&all, &Silent).unwrap();
        let squares = Mat::from_fn(n, n, |i, j| lengths[i * n + j].powi(2));
        let center = Mat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) - 1.0 / n as f64);
        let b = &center * &squares * &center * faer::Scale(-0.5);
        let (values, _) = symmetric_eigen(b.as_ref());
        assert!(values[n - 1] < -1e-3 * values[0], "{}: {} of {}", sample.name(), values[n - 1], values[0]);
    }
}

/// Isomap on the complete graph has straight geodesics: it is classical scaling.
#[test]
fn isomap_of_all_neighbors_is_classical_scaling() {
    let points = cloud(200, 3, 9);
    let recipe = Recipe { method: Isomap::default().into(), neighbors: Neighbors::All, ..Recipe::default() };
    let all = recipe.fit(&points).unwrap();
    assert!(distance_mismatch(all.embedding(), fit(Mds::default(), &points).embedding()) < SOLVED);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Lawrence 2012, section 2.7; Roweis & Saul 2000: the weights do not see shifts, turns and scales.
    #[test]
    fn l08_lle_does_not_see_shift_rotation_and_scale(seed in 0u64..1000, shift in -9.0..9.0f64, scale in 0.01..100.0f64) {
        let points = cloud(150, 4, seed);
        let moved: Vec<Vec<f64>> = (0..150)
            .map(|i| rotated(&points).row(i).iter().map(|v| scale * v + shift).collect())
            .collect();
        let moved = Points::from_rows(&moved).unwrap();
        // Weights agree to rounding; the bottom of the spectrum decides how much of that reaches the map.
        for name in ["lle", "ltsa", "hessian-lle", "modified-lle"] {
            let method = Method::from_name(name).unwrap();
            let (a, b) = (fit(method.clone(), &points), fit(method, &moved));
            let angle = subspace_angle(a.embedding(), b.embedding());
            prop_assert!(angle < 1e-5, "{name}: {angle}");
            prop_assert!((a.spectrum()[1] / b.spectrum()[1] - 1.0).abs() < 1e-6, "{name}");
        }
    }
}

/// The dense heat Laplacian of the default graph, and the degrees.
fn laplacian(points: &Points) -> (Mat<f64>, Vec<f64>) {
    let found = Search::default().of_points(points, &Silent).unwrap();
    let lengths = found.graph.all_lengths();
    let mean = lengths.iter().map(|l| l * l).sum::<f64>() / lengths.len() as f64;
    let affinity = Affinity::new(&found.graph, |l| (-l * l / (2.0 * mean)).exp());
    (affinity.laplacian().unwrap().to_dense(), affinity.degrees().to_vec())
}

fn symmetrized(square: &Points) -> Points {
    let n = square.rows();
    let entry = |at: usize| {
        if at / n == at % n { 0.0 } else { 0.5 * (square.row(at / n)[at % n] + square.row(at % n)[at / n]) }
    };
    Points::new(n, n, (0..n * n).map(entry).collect()).unwrap()
}

/// What a method builds on the given graph.
fn built(method: &dyn Build, points: &Points, neighbors: Neighbors) -> Built {
    let found = Search { neighbors, ..Search::default() }.of_points(points, &Silent).unwrap();
    let site = Site {
        ground: points.into(),
        graph: Some(&found.graph),
        dims: 2,
        seed: 0,
        memory: u64::MAX,
        observer: &Silent,
    };
    method.build(&site).unwrap()
}

/// Lawrence 2012, section 2.7.5: written by all later points, acyclic LLE has PCA's covariance X̃X̃ᵀ/p; LLE, written by
/// all other points, has other eigenvectors. With p ≥ n − 1 no residual vanishes. With fewer features the early ones
/// do, and their variances are the floor's, but the limit is the same.
#[test]
fn l04_acyclic_lle_over_all_points_is_pca_and_lle_is_not() {
    let n = 20;
    for p in [60, 19, 10] {
        let points = cloud(n, p, 4);
        let mean = points.column_means();
        let x = Mat::from_fn(n, p, |i, f| points.row(i)[f] - mean[f]);
        let expected = &x * x.transpose() / faer::Scale(p as f64);
        let error = |regularization| {
            let method = Alle { regularization: Some(regularization), ordering: Ordering::Input };
            let Task::Spectral(Field::Root(root)) = built(&method, &points, Neighbors::All).task else {
                panic!("a root")
            };
            let mut covariance = Mat::zeros(n, n);
            root.apply(Mat::<f64>::identity(n, n).as_ref(), covariance.as_mut());
            (covariance * faer::Scale(root.unit()) - &expected).norm_l2() / expected.norm_l2()
        };
        assert!(error(1e-12) < 1e-9, "{p} features: {}", error(1e-12));
        assert!(error(1e-3) > 1e-2, "{p} features: the usual regularization is no limit, {}", error(1e-3));
        let over_all = |method: eigenfold::Method| {
            Recipe { method, neighbors: Neighbors::All, ..Recipe::default() }.fit(&points).unwrap()
        };
        let pca = over_all(Pca::default().into());
        let acyclic = Alle { regularization: Some(1e-12), ..Alle::default() };
        let angle = subspace_angle(pca.embedding(), over_all(acyclic.into()).embedding());
        assert!(angle < 1e-7, "{p} features: {angle}");
        for variant in [LleVariant::Standard, LleVariant::Free] {
            let lle = over_all(Lle { regularization: 1e-12, variant }.into());
            let angle = subspace_angle(pca.embedding(), lle.embedding());
            assert!(angle > 0.1, "{p} features, {variant:?}: {angle}");
        }
    }
}

/// Lawrence 2012, section 2.7.4: the triangular root has det(M Mᵀ) = Π m[i]² over the points but the last, so that the
/// likelihood is exact. Against the dense log density of the differences from the last point,
/// −p/2 ((n − 1) log 2π − log det A) − ½ tr XᵀAX.
#[test]
fn l09_acyclic_lles_determinant_and_likelihood_are_those_of_its_dense_precision() {
    let (n, p) = (80, 5);
    let points = cloud(n, p, 6);
    for ordering in [Ordering::Geodesic, Ordering::Elimination, Ordering::Random] {
        let built = built(&Alle { ordering, ..Alle::default() }, &points, Neighbors::Nearest(6));
        let Task::Spectral(Field::Root(root)) = &built.task else { panic!("a root") };
        let precision = root.precision().to_dense();
        let kept = &root.order()[..n - 1];
        let grounded = Mat::from_fn(n - 1, n - 1, |a, b| precision[(kept[a] as usize, kept[b] as usize)]);
        let determinant: f64 = symmetric_eigen(grounded.as_ref()).0.iter().map(|value| value.ln()).sum();
        assert!(
            (root.log_determinant() / determinant - 1.0).abs() < SOLVED,
            "{} {determinant}",
            root.log_determinant()
        );
        let x = Mat::from_fn(n, p, |i, f| points.row(i)[f]);
        let product = x.transpose() * &precision * &x;
        let energy: f64 = (0..p).map(|f| product[(f, f)]).sum();
        let constant = (n - 1) as f64 * std::f64::consts::TAU.ln();
        let density = -0.5 * p as f64 * (constant - determinant) - 0.5 * energy;
        let ours = built.log_likelihood.unwrap();
        assert!((ours / density - 1.0).abs() < SOLVED, "{ordering:?}: {ours} {density}");
    }
}

/// A field's precision is symmetric, positive semidefinite, and free on constants.
#[test]
fn precisions_are_symmetric_positive_semidefinite_and_free_on_constants() {
    let points = swiss(200);
    let simple = LaplacianEigenmaps { kernel: EdgeWeight::Simple, ..LaplacianEigenmaps::default() };
    let free = Lle { variant: LleVariant::Free, ..Lle::default() };
    let symmetric = Lle { variant: LleVariant::Symmetric, ..Lle::default() };
    let methods: [&dyn Build; 10] = [
        &LaplacianEigenmaps::default(),
        &simple,
        &Lle::default(),
        &free,
        &symmetric,
        &eigenfold::DiffusionMaps::default(),
        &eigenfold::Ltsa,
        &eigenfold::HessianLle::default(),
        &eigenfold::ModifiedLle::default(),
        &Alle::default(),
    ];
    for method in methods {
        let matrix = match built(method, &points, Neighbors::default()).task {
            Task::Spectral(Field::Precision { matrix, .. }) => matrix,
            Task::Spectral(Field::Root(root)) => root.precision(),
            _ => panic!("{} is a precision", method.info().name),
        };
        let dense = matrix.to_dense();
        let norm = dense.norm_max();
        assert!((&dense - dense.transpose()).norm_max() <= EXACT * norm);
        let ones = Mat::from_fn(200, 1, |_, _| 1.0);
        assert!((&dense * &ones).norm_max() < 1e-11 * norm, "{}", method.info().name);
        let (values, _) = symmetric_eigen(dense.as_ref());
        assert!(values[199] > -1e-12 * values[0]);
        assert!(inner(ones.as_ref(), ones.as_ref())[(0, 0)] == 200.0);
    }
}

/// Maximum variance unfolding in closed form. A path of n points with edges of length one is stretched into a line, with
/// the dual weight j(n − j)/2 on its j-th edge; a ring becomes a regular polygon, with one weight for all edges. In both
/// L y = y, the least eigenvalue of L beside zero is one, and the dual value Σ w d² is the variance.
#[test]
fn x05_at_the_optimum_of_unfolding_each_point_is_a_combination_of_its_neighbors() {
    let n = 12;
    let path: Vec<(usize, usize, f64)> = (1..n).map(|j| (j - 1, j, (j * (n - j)) as f64 / 2.0)).collect();
    let line = Mat::from_fn(n, 1, |i, _| i as f64 - 0.5 * (n - 1) as f64);
    let angle = 2.0 * std::f64::consts::PI / n as f64;
    let weight = 1.0 / (2.0 - 2.0 * angle.cos());
    let ring: Vec<(usize, usize, f64)> = (0..n).map(|j| (j, (j + 1) % n, weight)).collect();
    let radius = 0.5 / (0.5 * angle).sin();
    let turn = |i: usize, q: usize| if q == 0 { (angle * i as f64).cos() } else { (angle * i as f64).sin() };
    let polygon = Mat::from_fn(n, 2, |i, q| radius * turn(i, q));
    for (edges, y) in [(path, line), (ring, polygon)] {
        let mut laplacian = Mat::<f64>::zeros(n, n);
        for &(i, j, w) in &edges {
            laplacian[(i, i)] += w;
            laplacian[(j, j)] += w;
            laplacian[(i, j)] -= w;
            laplacian[(j, i)] -= w;
        }
        for i in 0..n {
            for q in 0..y.ncols() {
                let own = (laplacian[(i, i)] - 1.0) * y[(i, q)];
                let sum: f64 = (0..n).filter(|&j| j != i).map(|j| -laplacian[(i, j)] * y[(j, q)]).sum();
                assert!((own - sum).abs() < 1e-11, "point {i}: {own} {sum}");
            }
        }
        let (values, _) = symmetric_eigen(laplacian.as_ref());
        assert!((values[n - 2] - 1.0).abs() < 1e-11, "{values:?}");
        let dual: f64 = edges.iter().map(|edge| edge.2).sum();
        assert!((dual - y.squared_norm_l2()).abs() < 1e-10 * dual, "strong duality: {dual}");
    }
}

/// Lawrence 2012, section 2.5.1: γ has no effect on the picture. With the field held fixed, classical scaling of the
/// covariance (L + γI)⁻¹, a dense inverse, has the axes of L, each shorter by √(λ/(λ + γ)). Fitted again with γ, the
/// field itself moves a little.
#[test]
fn l03_gamma_has_no_effect_on_the_picture_of_a_fixed_field() {
    let points = swiss(200);
    let n = points.rows();
    let meu = |gamma| Meu { gamma, tolerance: 1e-9, max_iterations: 2000, ..Meu::default() };
    let picture = |gamma| {
        let method = meu(gamma).into();
        Recipe { method, neighbors: Neighbors::Nearest(6), ..Recipe::default() }.fit(&points).unwrap()
    };
    let plain = picture(0.0);
    let Task::Spectral(Field::Precision { matrix, .. }) = built(&meu(0.0), &points, Neighbors::Nearest(6)).task else {
        panic!("a precision")
    };
    for gamma in [1e-4, 1e-2] {
        let mut proper = matrix.to_dense();
        (0..n).for_each(|i| proper[(i, i)] += gamma);
        let k = inverse(&proper);
        let square = |i: usize, j: usize| k[(i, i)] + k[(j, j)] - 2.0 * k[(i.max(j), i.min(j))];
        let lengths = (0..n * n).map(|at| square(at / n, at % n).max(0.0).sqrt()).collect();
        let scaled = Recipe { method: Mds::default().into(), ..Recipe::default() }
            .fit(&Distances::new(Points::new(n, n, lengths).unwrap()).unwrap())
            .unwrap();
        let angle = subspace_angle(plain.embedding(), scaled.embedding());
        assert!(angle < 1e-6, "gamma {gamma}: {angle}");
        for q in 0..2 {
            let expected = 1.0 / (plain.spectrum()[q] + gamma);
            assert!((scaled.spectrum()[q] / expected - 1.0).abs() < 1e-6, "gamma {gamma}");
        }
    }
    let refitted = picture(1e-4);
    let angle = subspace_angle(plain.embedding(), refitted.embedding());
    let change = (refitted.spectrum()[0] / plain.spectrum()[0] - 1.0).abs();
    println!("refitted: angle {angle:.2e}, first eigenvalue {change:.2e}");
    assert!((1e-5..0.05).contains(&angle) && (1e-4..0.03).contains(&change), "{angle} {change}");
}

/// Lawrence 2012, section 2.5.1: with all points as neighbors meu recovers pca. The multipliers must be free: then every
/// distance is kept, and the covariance is X̃X̃ᵀ/p. With p < n − 1 there is no maximum; noise ε adds itself to all
/// directions and leaves the axes. Multipliers that are not negative cannot give a covariance its inverse.
#[test]
fn l04_meu_over_all_points_is_pca_if_its_multipliers_are_free() {
    let n = 20;
    let over_all =
        |method: Method, points: &Points| Recipe { method, neighbors: Neighbors::All, ..Recipe::default() }.fit(points);
    let free = |noise| Meu { variant: MeuVariant::Free, noise, tolerance: 1e-9, ..Meu::default() };
    for p in [60, 19, 10] {
        let points = cloud(n, p, 4);
        let pca = over_all(Pca::default().into(), &points).unwrap();
        let noise = if p < n - 1 { 0.01 } else { 0.0 };
        let meu = over_all(free(Some(noise)).into(), &points).unwrap();
        assert!(meu.report().converged, "{p} features: {:?}", meu.report().figures);
        let angle = subspace_angle(pca.embedding(), meu.embedding());
        println!("{p} features: free {angle:.1e}");
        assert!(angle < 1e-6, "{p} features: {angle}");
        for q in 0..2 {
            let variance = p as f64 / meu.spectrum()[q];
            let expected = pca.spectrum()[q] + noise * p as f64;
            assert!((variance / expected - 1.0).abs() < 1e-6, "{p} features: {variance} {expected}");
        }
        if p < n - 1 {
            assert!(over_all(free(Some(0.0)).into(), &points).is_err());
        }
        let standard = over_all(Meu::default().into(), &points).unwrap();
        let angle = subspace_angle(pca.embedding(), standard.embedding());
        println!("{p} features: standard {angle:.2}");
        assert!(angle > 0.02, "{p} features: {angle}");
    }
}

/// Lawrence 2012, section 2.8: the covariances of meu and of acyclic lle have no negative eigenvalue where isomap's
/// similarity has.
#[test]
fn l10_the_covariances_of_meu_and_acyclic_lle_have_no_negative_eigenvalue() {
    for (sample, n) in [(Sample::Ring, 150), (Sample::Sphere, 400)] {
        let points = sample.draw(n, 0.0, 0).unwrap().points;
        for variant in [MeuVariant::Standard, MeuVariant::Free] {
            let method = Meu { variant, tolerance: 1e-4, ..Meu::default() };
            let Task::Spectral(Field::Precision { matrix, .. }) = built(&method, &points, Neighbors::default()).task
            else {
                panic!("a precision")
            };
            // One eigenvalue of L is that of the constants; K is its inverse on the others.
            let (values, _) = symmetric_eigen(matrix.to_dense().as_ref());
            let least = values[n - 2] / values[0];
            assert!(least > 0.0 && values[n - 1].abs() < 1e-6 * values[n - 2], "{}: {values:?}", sample.name());
        }
        let Task::Spectral(Field::Root(root)) = built(&Alle::default(), &points, Neighbors::default()).task else {
            panic!("a root")
        };
        let mut covariance = Mat::zeros(n, n);
        root.apply(Mat::<f64>::identity(n, n).as_ref(), covariance.as_mut());
        let (values, _) = symmetric_eigen(covariance.as_ref());
        assert!(values[n - 1] > -1e-12 * values[0], "{}: {}", sample.name(), values[n - 1] / values[0]);
    }
}
