//! What Zhang & Jordan 2009 claim of probabilistic principal coordinates and probabilistic kernel PCA (docs/internals/claims.md).
use crate::support::*;
use eigenfold::{
    Distances, EmStart, Kernel, KernelPca, Mds, Model, Pkpca, PkpcaSolver, Points, Ppco, PpcoSolver, Recipe, Silent,
    missing::complete_distances,
};

/// exp(−‖x − y‖² / θ); θ is 2 σ².
fn gaussian(theta: f64) -> Kernel {
    Kernel::Gaussian { bandwidth: Some((0.5 * theta).sqrt()) }
}

/// The similarities that the paper's experiments are about: the kernel divided by n.
fn divided(points: &Points, theta: f64) -> Distances {
    let n = points.rows();
    let square =
        |i: usize, j: usize| points.row(i).iter().zip(points.row(j)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let values = (0..n * n).map(|at| (-square(at / n, at % n) / theta).exp() / n as f64).collect();
    Distances::from_similarities(&Points::new(n, n, values).unwrap()).unwrap()
}

fn with(method: Ppco, dims: usize) -> Recipe {
    Recipe { method: method.into(), dims, ..Recipe::default() }
}

fn figure(model: &Model, name: &str) -> f64 {
    model.report().figures.iter().find(|(known, _)| known.name() == name).unwrap_or_else(|| panic!("no {name}")).1
}

/// Table 2 and more digits of it, by an independent program (numpy, all eigenvalues).
#[test]
fn z03_table_2_of_iris() {
    let iris = iris_of_uci();
    for (dims, noise, loss) in [(1, 0.002939963266702, -715.018434099475), (2, 0.002033551892738, -765.368964696099)] {
        let given = with(Ppco::default(), dims).fit(&divided(&iris, 2.0), &Silent).unwrap();
        for (gamma, known) in given.spectrum().iter().zip([0.27987235, 0.13618244, 0.06892214, 0.04271676]) {
            assert!((gamma - known).abs() < 1e-8, "{gamma} {known}");
        }
        assert!((figure(&given, "noise") - noise).abs() < EXACT, "{}", figure(&given, "noise"));
        assert!((figure(&given, "loss") - loss).abs() < 1e-8, "{}", figure(&given, "loss"));
        // From the points, the kernel is not divided by n: then γ and λ are n times that, and f is larger by
        // (n − 1) log n.
        let points = with(Ppco { kernel: gaussian(2.0), ..Ppco::default() }, dims).fit(&iris, &Silent).unwrap();
        assert!((points.spectrum()[0] / 150.0 - given.spectrum()[0]).abs() < EXACT);
        assert!((figure(&points, "noise") / 150.0 - noise).abs() < EXACT);
        assert!((figure(&points, "loss") - 149.0 * 150f64.ln() - loss).abs() < 1e-8);
        assert!((given.spectrum()[0] - 0.2799).abs() < 5e-5 && (dims == 2 || (noise - 0.0029).abs() < 5e-5));
    }
    // The coordinates of a new point, which the same program gives.
    let method = Pkpca { kernel: gaussian(2.0), ..Pkpca::default() };
    let model = fit(method, &iris);
    let placed = model.transform(&Points::from_rows(&[[5.0, 3.3, 2.0, 0.5]]).unwrap()).unwrap();
    for (y, known) in placed.row(0).iter().zip([0.05565648, -0.00488226f64]) {
        assert!((y.abs() / 150f64.sqrt() - known.abs()).abs() < 1e-8, "{y} {known}");
    }
}

#[test]
fn z04_the_largest_eigenvalue_is_the_square_of_the_coordinate_and_the_noise() {
    for solver in [PpcoSolver::Eigen, PpcoSolver::Em, PpcoSolver::EmPlain] {
        let model = with(Ppco { solver, ..Ppco::default() }, 1).fit(&cloud(120, 3, 4), &Silent).unwrap();
        let square: f64 = model.embedding().values().iter().map(|y| y * y).sum();
        let sum = square + figure(&model, "noise");
        assert!((sum / model.spectrum()[0] - 1.0).abs() < EXACT, "{solver:?}: {sum} {}", model.spectrum()[0]);
    }
}

/// In the sample and out of it, for every kernel: the map of kernel PCA, and that of the dissimilarities of its space.
#[test]
fn z05_probabilistic_kernel_pca_is_kernel_pca_and_classical_scaling() {
    let (points, fresh) = (swiss(200), swiss(230));
    let sigmoid = Kernel::Sigmoid { offset: 0.0, scale: Some(0.005) };
    let polynomial = Kernel::Polynomial { degree: 2, offset: 1.0, scale: 0.01 };
    let kernels = [gaussian(80.0), Kernel::Linear, polynomial, Kernel::Cosine, sigmoid];
    for kernel in kernels {
        let plain = fit(KernelPca { kernel }, &points);
        let model = fit(Pkpca { kernel, ..Pkpca::default() }, &points);
        assert!(distance_mismatch(plain.embedding(), model.embedding()) < EXACT, "{kernel:?}");
        let (a, b) = (plain.transform(&fresh).unwrap(), model.transform(&fresh).unwrap());
        assert!(distance_mismatch(&a, &b) < 1e-10, "{kernel:?}");
        let noise = figure(&model, "noise");
        assert!((figure(&model, "posterior_variance") - noise / (1.0 + noise)).abs() < EXACT);
        // Principal coordinates are shorter by the noise, along the same axes, for old points and new ones.
        let shorter = fit(Ppco { kernel, ..Ppco::default() }, &points);
        let (noise, gammas) = (figure(&shorter, "noise"), shorter.spectrum());
        let c = shorter.transform(&fresh).unwrap();
        for i in 0..fresh.rows() {
            for q in 0..2 {
                let part = (1.0 - noise / gammas[q]).sqrt();
                let scale = gammas[q].sqrt();
                assert!((c.row(i)[q] - part * b.row(i)[q]).abs() < 1e-9 * scale, "{kernel:?}: point {i}");
            }
        }
    }
    // The iteration from a sample ends where the eigen-solve does.
    let many = swiss(300);
    let pkpca = |solver| fit(Pkpca { kernel: gaussian(80.0), solver, ..Pkpca::default() }, &many);
    let (eigen, em) = (pkpca(PkpcaSolver::Eigen), pkpca(PkpcaSolver::Em));
    assert!(
        em.report().ended.is_converged()
            && em.report().coordinates.iterations > 1
            && em.report().coordinates.solver == "em"
    );
    assert!(distance_mismatch(eigen.embedding(), em.embedding()) < 1e-6);
    assert!((figure(&em, "noise") / figure(&eigen, "noise") - 1.0).abs() < 1e-10);
    let few = Pkpca { landmarks: Some(20), solver: PkpcaSolver::Em, ..Pkpca::default() };
    let refused = Recipe { method: few.into(), ..Recipe::default() }.fit(&many, &Silent).unwrap_err().to_string();
    assert!(refused.contains("leave out `landmarks`"), "{refused}");
    let similarities = divided(&points, 80.0);
    let scaled = fit_distances(Mds::default(), &similarities);
    assert!(distance_mismatch(scaled.embedding(), fit_distances(Pkpca::default(), &similarities).embedding()) < EXACT);
}

fn fit_distances(method: impl Into<eigenfold::Method>, distances: &Distances) -> Model {
    Recipe { method: method.into(), ..Recipe::default() }.fit(distances, &Silent).unwrap()
}

/// Larger by s, the dissimilarities give a map larger by s and s² times the noise; an inner product that all pairs share
/// changes nothing; new rows of dissimilarities are placed.
#[test]
fn principal_coordinates_have_the_units_of_the_dissimilarities() {
    let points = cloud(90, 5, 8);
    let model = fit_distances(Ppco::default(), &Distances::new(distances(&points)).unwrap());
    let plain = fit(Ppco { kernel: Kernel::Linear, ..Ppco::default() }, &points);
    assert!(distance_mismatch(plain.embedding(), model.embedding()) < 1e-10);
    assert!((figure(&plain, "noise") / figure(&model, "noise") - 1.0).abs() < 1e-10);
    let larger: Vec<f64> = distances(&points).values().iter().map(|d| 3.0 * d).collect();
    let larger = fit_distances(Ppco::default(), &Distances::new(Points::new(90, 90, larger).unwrap()).unwrap());
    assert!((figure(&larger, "noise") / figure(&model, "noise") - 9.0).abs() < 1e-9);
    for (a, b) in larger.embedding().values().iter().zip(model.embedding().values()) {
        assert!((a - 3.0 * b).abs() < 1e-9);
    }
    let gram = |shift: f64| {
        let dot = |i: usize, j: usize| points.row(i).iter().zip(points.row(j)).map(|(a, b)| a * b).sum::<f64>();
        let values = (0..90 * 90).map(|at| dot(at / 90, at % 90) + shift).collect();
        fit_distances(Ppco::default(), &Distances::from_similarities(&Points::new(90, 90, values).unwrap()).unwrap())
    };
    assert!(distance_mismatch(gram(0.0).embedding(), gram(5.0).embedding()) < 1e-9);
    let rows = distances(&points).select(&[4, 70]);
    assert_eq!(model.transform(&rows).unwrap(), model.embedding().select(&[4, 70]));
    let used: Vec<&str> = model.report().parameters.iter().map(|p| p.used.as_str()).collect();
    assert_eq!(used, ["given", "given", "none", "eigen"]);
}

/// Without noise there is no maximum: the map is that of classical scaling, with a warning.
#[test]
fn points_without_noise_and_dissimilarities_that_are_not_euclidean_are_named() {
    let flat = cloud(60, 2, 1);
    let model = fit(Ppco { kernel: Kernel::Linear, ..Ppco::default() }, &flat);
    assert_eq!(figure(&model, "noise"), 0.0);
    assert!(
        model.report().warnings.iter().any(|w| w.message().starts_with("the coordinates leave no noise")),
        "{:?}",
        model.report().warnings
    );
    assert!(distance_mismatch(&flat, model.embedding()) < 1e-10);

    // The paths along a ring: the eigenvalues of a circulant matrix, every second one of them negative.
    let ring = |i: usize, j: usize| {
        let steps = i.abs_diff(j);
        steps.min(40 - steps) as f64
    };
    let table = Points::new(40, 40, (0..1600).map(|at| ring(at / 40, at % 40)).collect()).unwrap();
    let model = fit_distances(Ppco::default(), &Distances::new(table).unwrap());
    let eigenvalue = |k: f64| {
        (0..40).map(|j| -0.5 * ring(0, j).powi(2) * (std::f64::consts::TAU * k * j as f64 / 40.0).cos()).sum::<f64>()
    };
    let said = &model.report().warnings[0];
    let percent = format!("{:.3e}, {:.2} %", eigenvalue(2.0), -100.0 * eigenvalue(2.0) / eigenvalue(1.0));
    assert!(
        said.message().starts_with("the dissimilarities are not Euclidean") && said.message().contains(&percent),
        "{said}\n{percent}"
    );
}

/// Landmarks leave little out where the kernel is smooth, and what they do leave out is said.
#[test]
fn landmarks_come_close_to_all_pairs() {
    let points = swiss(900);
    let kernel = Kernel::default();
    let exact = fit(Ppco { kernel, ..Ppco::default() }, &points);
    for (count, angle, part) in [(60, 2e-2, 5e-2), (200, 2e-4, 1e-3)] {
        let model = fit(Ppco { kernel, landmarks: Some(count), ..Ppco::default() }, &points);
        let off = subspace_angle(exact.embedding(), model.embedding());
        let error = figure(&model, "kernel_error");
        println!(
            "{count} landmarks: angle {off:.1e}, kernel error {error:.1e}, {:?}",
            model.report().coordinates.residuals
        );
        assert!(off < angle && error < part, "{count}: {off} {error}");
        let (noise, known) = (figure(&model, "noise"), figure(&exact, "noise"));
        assert!((noise / known - 1.0).abs() < part, "{count}: {noise} {known}");
        // The same rule for old points and new ones, and little bytes.
        let fresh = swiss(930);
        let near = distance_mismatch(&exact.transform(&fresh).unwrap(), &model.transform(&fresh).unwrap());
        assert!(near < 2.0 * angle, "{count}: {near}");
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.transform(&fresh).unwrap(), model.transform(&fresh).unwrap());
        assert_eq!(model.transform(&points).unwrap(), *model.embedding());
    }
    // The linear kernel has no more than p directions, so p + 1 landmarks are all that is needed.
    let linear = |landmarks| fit(Pkpca { kernel: Kernel::Linear, landmarks, ..Pkpca::default() }, &points);
    assert!(distance_mismatch(linear(None).embedding(), linear(Some(30)).embedding()) < SOLVED);
}

/// The error that a sample of rows gives is that of all rows.
#[test]
fn the_error_of_the_landmarks_is_estimated_well_and_many_points_take_them() {
    let points = swiss(6000);
    let model = fit(Ppco::default(), &points);
    let used = |name: &str| model.report().parameters.iter().find(|p| p.name == name).unwrap().used.clone();
    assert_eq!((used("landmarks"), model.report().ended.is_converged()), ("300".into(), true));
    assert!(figure(&model, "kernel_error") < 1e-3 && model.report().coordinates.residuals[1] < 1e-3);
    let said = &model.report().warnings;
    assert!(said.len() == 1 && said[0].message().starts_with("300 landmarks stand for the points"), "{said:?}");
}

#[test]
fn what_does_not_go_together_is_refused_with_the_way_out() {
    let points = swiss(60);
    let said = |method: Ppco| with(method, 2).fit(&points, &Silent).unwrap_err().to_string();
    let plain = Ppco::default;
    assert!(said(Ppco { landmarks: Some(61), ..plain() }).contains("use 60 or less"));
    assert!(said(Ppco { landmarks: Some(2), ..plain() }).contains("use `landmarks` 3 or more"));
    let both = Ppco { landmarks: Some(20), solver: PpcoSolver::Em, ..plain() };
    assert!(said(both).contains("leave out `landmarks`, or use `solver` eigen"));
    let table = Distances::new(distances(&points)).unwrap();
    let refused = |method: Ppco| with(method, 2).fit(&table, &Silent).unwrap_err().to_string();
    assert!(refused(Ppco { landmarks: Some(20), ..plain() }).contains("needs points; leave them out"));
    let start = Ppco { solver: PpcoSolver::Em, start: EmStart::Pca, ..plain() };
    assert!(refused(start.clone()).contains("use `start` sample"));
    let four = with(start, 4).fit(&points, &Silent).unwrap_err().to_string();
    assert!(four.contains("3 features have fewer than 4 principal components"), "{four}");
    // As many landmarks as points are all pairs.
    let all = with(Ppco { landmarks: Some(60), ..plain() }, 2).fit(&points, &Silent).unwrap();
    assert_eq!(all.embedding(), with(plain(), 2).fit(&points, &Silent).unwrap().embedding());
}

/// A table of which a tenth, a third or more than half of the pairs are missing gives nearly the map of the whole one, and
/// nearly its noise: of a kernel, whose table has full rank, and of distances, whose table has rank four.
#[test]
fn missing_dissimilarities_leave_the_map_nearly_as_it_is() {
    let iris = iris_of_uci();
    let whole = [divided(&iris, 2.0), Distances::new(distances(&iris)).unwrap()];
    // A hundredth of what a bad guess, the mean of all, does to the map of the kernel.
    for (at, (table, bounds)) in whole.iter().zip([[1e-4, 1e-3], [1e-6, 1e-6]]).enumerate() {
        let exact = with(Ppco::default(), 2).fit(table, &Silent).unwrap();
        for (share, bound) in [1, 6].into_iter().zip(bounds) {
            let mixed = |i: usize, j: usize| (i.min(j) * 150 + i.max(j)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let gone = |i: usize, j: usize| mixed(i, j) % 10 < share;
            let cell = |i: usize, j: usize| if i != j && gone(i, j) { f64::NAN } else { table.between(i, j) };
            let holes =
                Points::with_missing(150, 150, (0..22_500).map(|at| cell(at / 150, at % 150)).collect()).unwrap();
            let full = complete_distances(&holes, &Silent).unwrap();
            let model = with(Ppco::default(), 2).fit(&full, &Silent).unwrap();
            let off = affine_error(exact.embedding(), model.embedding());
            let noise = figure(&model, "noise") / figure(&exact, "noise");
            assert!(off < bound && (noise - 1.0).abs() < 0.02, "{at}, {share} of 10: {off:e} {noise}");
            assert_eq!(figure(&model, "missing_cells"), holes.missing().len() as f64);
        }
    }
}
