//! Identities among the methods, each by two independent paths. Claims of papers are in `identities_lawrence.rs` and
//! `identities_xiao.rs`.
use crate::support::*;
use eigenfold::{
    Alle, EdgeWeight, Isomap, Kernel, KernelPca, LaplacianEigenmaps, Lle, LleVariant, Mds, Meu, Neighbors, Pca, Recipe,
    Silent,
    contract::{Build, Field, Task},
    io,
};
use faer::Mat;

/// The linear kernel's feature space is the data space.
#[test]
fn kernel_pca_with_the_linear_kernel_is_pca() {
    let points = cloud(300, 6, 5);
    let kernel = KernelPca { kernel: eigenfold::Kernel::Linear };
    assert!(distance_mismatch(fit(Pca::default(), &points).embedding(), fit(kernel, &points).embedding()) < SOLVED);
}

/// H K H of an indefinite kernel is taken as it is, negative squared distances and all: its eigenvalues, the map, and new
/// points by the projection k̃(x)ᵀ v / √λ. (By numpy, iris with the sigmoid kernel has 2.6348, 0.0876, ..., −0.4387.)
#[test]
fn kernel_pca_of_an_indefinite_kernel_has_the_eigenvalues_of_the_kernel() {
    let iris = io::read("iris", &io::ReadOptions::default()).unwrap().points;
    let (train, fresh) = (iris.select(&(0..150).step_by(2).collect::<Vec<_>>()), iris.select(&[1, 51, 77, 149]));
    let polynomial = |x: f64| (0.05 * x - 1.5).powi(3);
    let cases: [(Kernel, &dyn Fn(f64) -> f64); 2] = [
        (Kernel::Sigmoid { offset: 0.0, scale: Some(0.016) }, &|x| (0.016 * x).tanh()),
        (Kernel::Polynomial { degree: 3, offset: -1.5, scale: 0.05 }, &polynomial),
    ];
    for (kernel, value) in cases {
        let model = fit(KernelPca { kernel }, &train);
        let n = train.rows();
        let k = |x: &[f64], y: &[f64]| value(x.iter().zip(y).map(|(a, b)| a * b).sum());
        let raw = Mat::from_fn(n, n, |i, j| k(train.row(i), train.row(j)));
        let h = Mat::from_fn(n, n, |i, j| f64::from(i == j) - 1.0 / n as f64);
        let (values, vectors) = symmetric_eigen((&h * &raw * &h).as_ref());
        assert!(values[n - 1] < -1e-6 * values[0], "the kernel is indefinite: {}", values[n - 1]);
        for q in 0..2 {
            assert!((model.spectrum()[q] - values[q]).abs() < EXACT * values[0], "{kernel:?}: {:?}", model.spectrum());
        }
        let report = model.report();
        let least = report.figures.iter().find(|(name, _)| name.name() == "least_eigenvalue").unwrap().1;
        assert!((least - values[n - 1]).abs() < EXACT * values[0], "{least} {}", values[n - 1]);
        assert!(report.warnings.iter().any(|warning| warning.message().contains("not positive semidefinite")));
        let placed = model.transform(&fresh).unwrap();
        for i in 0..fresh.rows() {
            let away = Mat::from_fn(n, 1, |j, _| k(fresh.row(i), train.row(j)));
            let mean = Mat::from_fn(n, 1, |j, _| (0..n).map(|l| raw[(j, l)]).sum::<f64>() / n as f64);
            let centered = &h * (&away - &mean);
            for q in 0..2 {
                let along: f64 = (0..n).map(|j| centered[(j, 0)] * vectors[(j, q)]).sum::<f64>() / values[q].sqrt();
                let wanted = along * vectors[(0, q)].signum() * model.embedding().row(0)[q].signum();
                assert!((placed.row(i)[q] - wanted).abs() < 1e-9 * values[0].sqrt(), "{kernel:?} {i} {q}");
            }
        }
    }
    let whole = fit(KernelPca { kernel: Kernel::from_name("sigmoid").unwrap() }, &iris);
    assert!((whole.spectrum()[0] - 2.634_796_38).abs() < 1e-8 && (whole.spectrum()[1] - 0.087_554_93).abs() < 1e-8);
}

/// Isomap on the complete graph has straight geodesics: it is classical scaling.
#[test]
fn isomap_of_all_neighbors_is_classical_scaling() {
    let points = cloud(200, 3, 9);
    let recipe = Recipe { method: Isomap::default().into(), neighbors: Neighbors::All, ..Recipe::default() };
    let all = recipe.fit(&points, &Silent).unwrap();
    assert!(distance_mismatch(all.embedding(), fit(Mds::default(), &points).embedding()) < SOLVED);
}

/// A field's precision is symmetric, positive semidefinite, and free on constants alone.
#[test]
fn precisions_are_symmetric_positive_semidefinite_and_free_on_constants_alone() {
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
        // The graph is connected and the roll is curved: nothing but the constants is free. The least is 8e-9, of the free
        // variant of lle.
        assert!(values[198] > 1e-9 * values[0], "{}: {}", method.info().name, values[198] / values[0]);
    }
}

/// Maximum entropy unfolding with γ: map, eigenvalues and likelihood are those of K = (L + γI)⁻¹, all from the weights that
/// the fit hands out and dense matrices.
#[test]
fn maximum_entropy_unfolding_with_gamma_is_read_from_the_whole_precision() {
    let (points, gamma) = (swiss(200), 0.01);
    let recipe = Recipe {
        method: Meu { gamma, ..Meu::default() }.into(),
        neighbors: Neighbors::Nearest(8),
        likelihood: eigenfold::Likelihood::Always,
        ..Recipe::default()
    };
    let model = recipe.fit(&points, &Silent).unwrap();
    let mut precision = Mat::from_fn(200, 200, |i, j| if i == j { gamma } else { 0.0 });
    for edge in model.weights().unwrap() {
        let (i, j) = (edge.i as usize, edge.j as usize);
        precision[(i, i)] += edge.weight;
        precision[(j, j)] += edge.weight;
        precision[(i, j)] -= edge.weight;
        precision[(j, i)] -= edge.weight;
    }
    // The constants have γ itself, the least of all.
    let (values, _) = symmetric_eigen(precision.as_ref());
    assert!((values[199] / gamma - 1.0).abs() < SOLVED);
    let variance = |q: usize| model.embedding().values().iter().skip(q).step_by(2).map(|y| y * y).sum::<f64>();
    for q in 0..2 {
        let value = values[198 - q];
        assert!((model.spectrum()[q] / value - 1.0).abs() < SOLVED, "{:?} {value}", model.spectrum());
        assert!((variance(q) * value / 3.0 - 1.0).abs() < SOLVED, "{} {value}", variance(q));
    }
    // The likelihood at the fitted α² and σ², on the 199 directions orthogonal to the constants.
    let found = model.report().likelihood.unwrap();
    let mean = points.column_means();
    let x = Mat::from_fn(200, 3, |i, f| points.row(i)[f] - mean[f]);
    let covariance = inverse(&precision);
    let seen = Mat::from_fn(200, 200, |i, j| {
        // The constants have variance one in place of 1/γ, and the columns have nothing along them.
        let own = if i == j { found.noise } else { 0.0 } + (1.0 - found.noise - found.signal / gamma) / 200.0;
        found.signal * covariance[(i, j)] + own
    });
    let (eigenvalues, _) = symmetric_eigen(seen.as_ref());
    let log_det: f64 = eigenvalues.iter().map(|value| value.ln()).sum();
    let solved = inverse(&seen) * &x;
    let fit: f64 = (0..3).map(|f| (0..200).map(|i| x[(i, f)] * solved[(i, f)]).sum::<f64>()).sum();
    let density = -0.5 * (3.0 * (199.0 * std::f64::consts::TAU.ln() + log_det) + fit);
    assert!((found.log_likelihood / density - 1.0).abs() < SOLVED, "{} {density}", found.log_likelihood);
}

/// A strong γ leaves the linking edge between the two groups of iris without a multiplier: L alone would have two constants,
/// and a coordinate of infinite length.
#[test]
fn maximum_entropy_unfolding_with_a_strong_gamma_has_finite_coordinates() {
    let iris = io::read("iris", &io::ReadOptions::default()).unwrap().points;
    for gamma in [0.1, 1.0, 10.0] {
        let model = fit(Meu { gamma, ..Meu::default() }, &iris);
        let longest = model.embedding().values().iter().map(|y| y.abs()).fold(0.0, f64::max);
        // No variance is above p/γ.
        assert!(longest <= (4.0 / gamma).sqrt() * (1.0 + SOLVED), "{gamma}: {longest}");
    }
}
