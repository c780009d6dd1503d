//! Theorems of N. D. Lawrence's paper of 2012 (JMLR 13), each by two independent paths. docs/internals/claims.md lists them by
//! their ids.
use crate::support::*;
use eigenfold::{
    Alle, Bandwidth, Distances, Drill, LaplacianEigenmaps, LaplacianVariant, Lle, LleVariant, Mds, Method, Meu,
    MeuVariant, Mvu, Neighbors, Ordering, Pca, Points, Recipe, Search, Silent,
    contract::{Affinity, Field, Operator, Task},
    sample::Sample,
};
use eigenfold_graph::Paths;
use faer::Mat;
use proptest::prelude::*;

/// Lawrence 2012, section 1.2: scaling squared Euclidean distances gives PCA's coordinates. PCA decomposes the p x p
/// covariance; scaling a distance matrix sees n x n inner products and never the features.
#[test]
fn l01_classical_scaling_of_euclidean_distances_is_pca() {
    for (n, p) in [(120, 5), (700, 4)] {
        let points = cloud(n, p, 3);
        let recipe = Recipe { method: Mds::default().into(), dims: 3, ..Recipe::default() };
        let scaled = recipe.fit(&Distances::new(distances(&points)).unwrap(), &Silent).unwrap();
        let pca = Recipe { method: Pca::default().into(), dims: 3, ..Recipe::default() }.fit(&points, &Silent).unwrap();
        assert!(distance_mismatch(pca.embedding(), scaled.embedding()) < SOLVED);
        assert!(subspace_angle(pca.embedding(), scaled.embedding()) < SOLVED);
        for q in 0..3 {
            assert!((pca.spectrum()[q] / scaled.spectrum()[q] - 1.0).abs() < SOLVED);
        }
    }
}

/// Lawrence 2012, section 2.6.2: Laplacian eigenmaps is classical scaling of the covariance (L + γI)⁻¹.
#[test]
fn l05_laplacian_eigenmaps_is_classical_scaling_of_its_covariance() {
    let points = swiss(600);
    let model = fit(eigenmaps(LaplacianVariant::Unnormalized), &points);

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
    let scaled = recipe.fit(&Distances::new(squares.clone()).unwrap(), &Silent).unwrap();
    assert!(subspace_angle(model.embedding(), scaled.embedding()) < 1e-6, "the dense inverse costs some digits");
    for q in 0..2 {
        assert!((1.0 / (model.spectrum()[q] + gamma) / scaled.spectrum()[q] - 1.0).abs() < 1e-6);
    }
}

/// Lawrence 2012, section 2.6.2, has the normalized Laplacian D^(−½) L D^(−½) in the place of L. Its null vector is
/// D^½ 1 and not the constant one, so that H does not remove it, as the paper has it. With D^½ 1 projected out the claim
/// holds, for the symmetric variant and, divided by D^½, for the usual one. With H the degrees of the points are a
/// direction of the map, the first one as γ goes to zero, and the others are not those of Laplacian eigenmaps.
#[test]
fn l05_centering_does_not_remove_the_null_vector_of_the_normalized_laplacian() {
    let points = swiss(300);
    let n = points.rows();
    let (laplacian, degrees) = laplacian(&points);
    let normalized = Mat::from_fn(n, n, |i, j| laplacian[(i, j)] / (degrees[i] * degrees[j]).sqrt());
    let total = degrees.iter().sum::<f64>();
    let null = Mat::from_fn(n, 1, |i, _| (degrees[i] / total).sqrt());
    let constant = Mat::from_fn(n, 1, |_, _| 1.0 / (n as f64).sqrt());
    assert!((&normalized * &null).norm_max() < EXACT);
    assert!((&normalized * &constant).norm_l2() > 1e-2, "{}", (&normalized * &constant).norm_l2());
    // The eigenpairs of classical scaling with one direction projected out.
    let scaled = |gamma: f64, out: &Mat<f64>| {
        let projector = Mat::<f64>::identity(n, n) - out * out.transpose();
        let covariance = inverse(&(&normalized + Mat::<f64>::identity(n, n) * faer::Scale(gamma)));
        symmetric_eigen((&projector * covariance * &projector).as_ref())
    };
    let map = |variant| fit(eigenmaps(variant), &points);
    let model = map(LaplacianVariant::Symmetric);
    let own = Mat::from_fn(n, 2, |i, q| model.embedding().row(i)[q]);
    let usual = map(LaplacianVariant::Normalized);
    for gamma in [1e-3, 1e-6] {
        let (values, vectors) = scaled(gamma, &null);
        let angle = largest_sine(&own, vectors.subcols(0, 2).to_owned());
        assert!(angle < 1e-6, "gamma {gamma}: {angle}, the dense inverse costs some digits");
        for q in 0..2 {
            assert!((1.0 / (model.spectrum()[q] + gamma) / values[q] - 1.0).abs() < 1e-6, "gamma {gamma}");
        }
        let divided = Mat::from_fn(n, 2, |i, q| vectors[(i, q)] / degrees[i].sqrt());
        let angle = largest_sine(&Mat::from_fn(n, 2, |i, q| usual.embedding().row(i)[q]), divided);
        assert!(angle < 1e-6, "gamma {gamma}: {angle}");
    }
    for (gamma, first, off) in [(1e-3, 0.0, 0.05), (1e-6, 0.9, 0.9)] {
        let (_, vectors) = scaled(gamma, &constant);
        let left = &null - &constant * inner(constant.as_ref(), null.as_ref());
        let along = (inner(left.as_ref(), vectors.subcols(0, 1))[(0, 0)] / left.norm_l2()).abs();
        let angle = largest_sine(&own, vectors.subcols(0, 2).to_owned());
        let next = largest_sine(&own, vectors.subcols(1, 2).to_owned());
        println!("gamma {gamma}: first along the degrees {along:.6}, off {angle:.3}, without the first {next:.3}");
        assert!(along > first && angle > off && next > 0.05, "gamma {gamma}: {along} {angle} {next}");
    }
}

/// The sine of the largest angle between the column spaces as they are, not centered.
fn largest_sine(a: &Mat<f64>, b: Mat<f64>) -> f64 {
    let (a, b) = (a.qr().compute_thin_Q(), b.qr().compute_thin_Q());
    let rest = &b - &a * inner(a.as_ref(), b.as_ref());
    symmetric_eigen(inner(rest.as_ref(), rest.as_ref()).as_ref()).0[0].max(0.0).sqrt()
}

/// Lawrence 2012, section 2.6.2: the variants differ in their constraint, yᵀDy or yᵀy; the symmetric one fixes the length
/// of D^½ y, and its D^(−½) u are the coordinates of the normalized one.
#[test]
fn l06_the_variants_fix_the_mass_or_the_length() {
    use LaplacianVariant::{Normalized, Symmetric, Unnormalized};
    let points = swiss(800);
    let map = |variant| fit(eigenmaps(variant), &points).embedding().clone();
    let degrees = laplacian(&points).1;
    for variant in [Normalized, Symmetric, Unnormalized] {
        let normalization: Vec<f64> = if variant == Normalized { degrees.clone() } else { vec![1.0; points.rows()] };
        let y = map(variant);
        let total: f64 = normalization.iter().sum();
        for (a, b) in [(0, 0), (0, 1), (1, 1)] {
            let moment: f64 = (0..y.rows()).map(|i| normalization[i] * y.row(i)[a] * y.row(i)[b]).sum();
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
    for (sample, n) in [(Sample::Ring, 100), (Sample::Sphere, 150)] {
        let points = sample.draw(n, 0.0, 0).unwrap().points;
        let found = Search::default().of_points(&points, &Silent).unwrap();
        let all: Vec<usize> = (0..n).collect();
        let lengths = Paths::new(&found.graph.union(), n).from_sources(&all, &Silent).unwrap();
        let squares = Mat::from_fn(n, n, |i, j| lengths[i * n + j].powi(2));
        let (values, _) = symmetric_eigen(double_centered(&squares).as_ref());
        assert!(values[n - 1] < -1e-3 * values[0], "{}: {} of {}", sample.name(), values[n - 1], values[0]);
    }
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

/// With one width for all points, as in the paper.
fn eigenmaps(variant: LaplacianVariant) -> LaplacianEigenmaps {
    LaplacianEigenmaps { variant, bandwidth: Bandwidth::Global, ..LaplacianEigenmaps::default() }
}

/// The dense heat Laplacian of the default graph, and the degrees.
fn laplacian(points: &Points) -> (Mat<f64>, Vec<f64>) {
    let found = Search::default().of_points(points, &Silent).unwrap();
    let lengths = found.graph.all_lengths();
    let mean = lengths.iter().map(|l| l * l).sum::<f64>() / lengths.len() as f64;
    let affinity = Affinity::new(&found.graph, |_, _, l| (-l * l / (2.0 * mean)).exp());
    (affinity.laplacian().unwrap().to_dense(), affinity.degrees().to_vec())
}

/// B = −½ H S H.
fn double_centered(squares: &Mat<f64>) -> Mat<f64> {
    let n = squares.nrows();
    let center = Mat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) - 1.0 / n as f64);
    &center * squares * &center * faer::Scale(-0.5)
}

fn symmetrized(square: &Points) -> Points {
    let n = square.rows();
    let entry = |at: usize| {
        if at / n == at % n { 0.0 } else { 0.5 * (square.row(at / n)[at % n] + square.row(at % n)[at / n]) }
    };
    Points::new(n, n, (0..n * n).map(entry).collect()).unwrap()
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
            Recipe { method, neighbors: Neighbors::All, ..Recipe::default() }.fit(&points, &Silent).unwrap()
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
        Recipe { method, neighbors: Neighbors::Nearest(6), ..Recipe::default() }.fit(&points, &Silent).unwrap()
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
            .fit(&Distances::new(Points::new(n, n, lengths).unwrap()).unwrap(), &Silent)
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
    let over_all = |method: Method, points: &Points| {
        Recipe { method, neighbors: Neighbors::All, ..Recipe::default() }.fit(points, &Silent)
    };
    let free = |noise| Meu { variant: MeuVariant::Free, noise, tolerance: 1e-9, ..Meu::default() };
    for p in [60, 19, 10] {
        let points = cloud(n, p, 4);
        let pca = over_all(Pca::default().into(), &points).unwrap();
        let noise = if p < n - 1 { 0.01 } else { 0.0 };
        let meu = over_all(free(Some(noise)).into(), &points).unwrap();
        assert!(meu.report().ended.is_converged(), "{p} features: {:?}", meu.report().figures);
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

/// Lawrence 2012, section 2.8: the covariances of meu, acyclic lle and drill have no negative eigenvalue where isomap's
/// similarity has.
#[test]
fn l10_the_covariances_of_meu_acyclic_lle_and_drill_have_no_negative_eigenvalue() {
    for (sample, n) in [(Sample::Ring, 150), (Sample::Sphere, 250)] {
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
        let Task::Spectral(Field::Definite { matrix, .. }) =
            built(&Drill::default(), &points, Neighbors::default()).task
        else {
            panic!("a definite precision")
        };
        let (values, _) = symmetric_eigen(matrix.to_dense().as_ref());
        assert!(values[n - 1] > 0.0, "{}: {}", sample.name(), values[n - 1]);
    }
}

/// Lawrence 2012, section 2.8: the distances of a maximum variance unfolding are those of points. Double-centered as
/// isomap's are, their squares have no negative eigenvalue; they sum to the variance of the certificate, and no edge is
/// longer than in the data.
#[test]
fn l10_the_covariance_of_mvu_has_no_negative_eigenvalue() {
    for (sample, n) in [(Sample::Ring, 150), (Sample::Sphere, 250)] {
        let points = sample.draw(n, 0.0, 0).unwrap().points;
        let built = built(&Mvu::default(), &points, Neighbors::default());
        let Task::Spectral(Field::Factor(factor)) = &built.task else { panic!("a factor") };
        let factor = factor.rows(0..n);
        let square = |i: usize, j: usize| (factor.row(i) - factor.row(j)).squared_norm_l2();
        let (values, _) = symmetric_eigen(double_centered(&Mat::from_fn(n, n, square)).as_ref());
        assert!(values[n - 1] > -EXACT * values[0], "{}: {}", sample.name(), values[n - 1] / values[0]);
        let certificate = built.certificate.unwrap();
        let variance = values.iter().sum::<f64>() / certificate.claimed.primal;
        assert!((variance - 1.0).abs() < SOLVED, "{}: {variance}", sample.name());
        for edge in &certificate.weights {
            let (found, known) = (square(edge.i as usize, edge.j as usize), edge.distance.powi(2));
            assert!(found <= known * (1.0 + EXACT), "{}: {found} {known}", sample.name());
        }
    }
}
