//! Numbers from other programs. scripts/scikit_learn.py made those of scikit-learn 1.9.1; the swiss roll's Isomap
//! spectra come from SciPy's Dijkstra and NumPy's dense solver. scripts/alignment.py made those of the alignment
//! methods.
use crate::support::*;
use eigenfold::{
    Bandwidth, DiffusionMaps, EdgeWeight, HessianLle, Isomap, Kernel, KernelPca, LaplacianEigenmaps, Lle, LleVariant,
    Ltsa, Method, Metric, ModifiedLle, Neighbors, Pca, Points, Recipe, Silent, io,
};

fn iris() -> Points {
    io::read("iris", &io::ReadOptions::default()).unwrap().points
}

fn spectrum(method: impl Into<Method>, k: usize, dims: usize, points: &Points) -> Vec<f64> {
    let recipe = Recipe { method: method.into(), neighbors: Neighbors::Nearest(k), dims, ..Recipe::default() };
    recipe.fit(points, &Silent).unwrap().spectrum().to_vec()
}

fn close(ours: &[f64], theirs: &[f64], tolerance: f64) {
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a / b - 1.0).abs() < tolerance, "{ours:?} against {theirs:?}");
    }
}

#[test]
fn pca_of_iris_has_scikit_learns_variances() {
    let theirs = [6.300080141991909e+02, 3.615794144136313e+01, 1.165321550639328e+01, 3.551428853043436e+00];
    close(&spectrum(Pca::default(), 10, 4, &iris()), &theirs, 1e-10);
}

#[test]
fn kernel_pca_of_iris_has_scikit_learns_eigenvalues() {
    let cases = [
        // γ = 1/4 is σ = √2.
        (
            Kernel::Gaussian { bandwidth: Some(2f64.sqrt()) },
            [4.811051563956979e+01, 1.909429428419055e+01, 6.633278140065062e+00],
        ),
        (
            Kernel::Polynomial { degree: 2, offset: 1.0, scale: 1.0 },
            [1.135030574414304e+05, 4.865839885622281e+03, 1.750826128065693e+03],
        ),
        (Kernel::Cosine, [6.424157830576124e+00, 1.841493299335317e-01, 5.461042934780285e-02]),
    ];
    for (kernel, theirs) in cases {
        close(&spectrum(KernelPca { kernel }, 10, 3, &iris()), &theirs, 1e-10);
    }
}

#[test]
fn isomap_of_swiss_rolls_has_the_dense_solvers_eigenvalues() {
    let theirs = [4.391969378238844e+05, 2.51033318841486e+04, 4.064098189304295e+03];
    close(&spectrum(Isomap::default(), 8, 3, &swiss(600)), &theirs, 1e-9);
    let gold = [741505.11546299, 42919.05912992, 5390.64459232, 3325.96517174];
    close(&spectrum(Isomap::default(), 8, 4, &swiss(1000)), &gold, 1e-11);
    let gold = [19966.00458283, 18365.65234596, 11601.81725845, 3765.27649036];
    close(&spectrum(Isomap::default(), 8, 4, &swiss(200)), &gold, 1e-11);
}

#[test]
fn lle_of_swiss_rolls_has_scikit_learns_reconstruction_error() {
    for (n, theirs) in [(500, 8.918671719981031e-07), (600, 8.590066067998574e-07), (1000, 2.31249677292199e-07)] {
        let ours: f64 = spectrum(Lle::default(), 10, 2, &swiss(n)).iter().take(2).sum();
        // Their matrix is assembled with rounding of 1e-16 next to eigenvalues of 1e-7.
        assert!((ours / theirs - 1.0).abs() < 1e-7, "n = {n}: {ours} against {theirs}");
    }
}

#[test]
fn alignment_methods_have_the_eigenvalues_of_the_papers_formulas() {
    let roll = swiss(600);
    let ltsa = [6.313366690114888e-05, 0.00011322850512855988, 0.0010709519376186209];
    close(&spectrum(Ltsa, 10, 2, &roll), &ltsa, 1e-9);
    let hessian = [5.3415300712919093e-05, 9.598623452451457e-05, 0.0009536434258034073];
    close(&spectrum(HessianLle { regularization: 0.0 }, 10, 2, &roll), &hessian, 1e-9);
    let modified: f64 = spectrum(ModifiedLle::default(), 10, 2, &roll).iter().take(2).sum();
    assert!((modified / 4.807588350019326e-05 - 1.0).abs() < 1e-8, "{modified}");
}

/// PCA(3).fit(X, &eigenfold::Silent): explained_variance_ratio_, and ((X - X.mean(0))**2).sum().
#[test]
fn pca_of_iris_has_scikit_learns_shares_of_the_variance() {
    let theirs = [0.924618723201734, 0.05306648311706378, 0.017102609807927494];
    for method in [Method::from(Pca::default()), eigenfold::Mds::default().into(), KernelPca::default().into()] {
        let kernel = matches!(method, Method::KernelPca(_));
        let model = Recipe { method, dims: 3, ..Recipe::default() }.fit(&iris(), &Silent).unwrap();
        let explained = model.report().coordinates.explained.clone().unwrap();
        if kernel {
            // Shares of another variance, but of all of it.
            assert!(explained.cumulative()[2] < 1.0 && explained.ratio[0] > explained.ratio[1]);
            continue;
        }
        close(&explained.ratio, &theirs, 1e-10);
        assert!((explained.total / 681.3706 - 1.0).abs() < 1e-12 && explained.cumulative()[2] < 1.0);
    }
}

/// A few rows by scipy 1.17.1, `cdist(X, X, metric)` with X = (arange(60) * 37 % 101 / 10).reshape(3, 20), X[0, 3] = X[1, 3],
/// and X > 5 for jaccard; haversine by scikit-learn's `haversine_distances` of Berlin, Sydney and Reykjavik.
#[test]
fn metrics_have_the_distances_of_scipy() {
    let mut rows: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 101) / 10.0).collect();
    rows[3] = rows[23];
    let points = Points::new(3, 20, rows.clone()).unwrap();
    let large = Points::new(3, 20, rows.iter().map(|&x| f64::from(u8::from(x > 5.0))).collect()).unwrap();
    let cities = Points::from_rows(&[[52.52, 13.405], [-33.87, 151.21], [64.15, -21.94]]).unwrap();
    for (points, name, theirs) in [
        (&points, "correlation", [1.261452524013986, 1.3053032619821279, 1.426401000771206]),
        (&points, "chebyshev", [6.8, 6.6, 6.8]),
        (&points, "minkowski:3", [13.302140345610509, 13.2349547989503, 13.869891526322192]),
        (&points, "minkowski:1.5", [32.38841217076576, 33.379690633287616, 34.43365143401751]),
        (&points, "canberra", [9.444837512435145, 10.2300318019922, 9.913032135120927]),
        (&points, "braycurtis", [0.4129255056734088, 0.4464646464646464, 0.4522738630684656]),
        (&points, "hamming", [0.95, 1.0, 1.0]),
        (&points, "cosine", [0.3082064697960867, 0.3290342130208621, 0.35017847095559185]),
        (&points, "cityblock", [83.7, 88.4, 90.5]),
        (&large, "jaccard", [0.8125, 0.8125, 0.8235294117647058]),
        (&cities, "haversine-degrees", [2.5262344907040215, 0.374832549976718, 2.608004119691073]),
    ] {
        let metric: Metric = name.parse().unwrap();
        let ours = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| metric.distance(points.row(i), points.row(j)));
        close(&ours, &theirs, EXACT);
    }
}

#[test]
fn laplacian_eigenmaps_and_diffusion_maps_have_the_dense_solvers_eigenvalues() {
    let roll = swiss(600);
    let simple = LaplacianEigenmaps { kernel: EdgeWeight::Simple, ..LaplacianEigenmaps::default() };
    close(
        &spectrum(simple, 10, 3, &roll),
        &[3.429042381414051e-03, 1.023259724557268e-02, 1.992770577910585e-02],
        1e-9,
    );
    close(
        &spectrum(LaplacianEigenmaps { bandwidth: Bandwidth::Global, ..LaplacianEigenmaps::default() }, 10, 3, &roll),
        &[2.112081338830908e-03, 7.915706644229836e-03, 1.764958001242867e-02],
        1e-9,
    );
    close(
        &spectrum(DiffusionMaps { bandwidth: Bandwidth::Global, ..DiffusionMaps::default() }, 10, 3, &roll),
        &[1.943959823347829e-03, 6.798762704122607e-03, 1.516064158934671e-02],
        1e-9,
    );
}

#[test]
fn the_free_variant_of_lle_keeps_the_weights_and_changes_the_map() {
    let roll = swiss(500);
    let free = Lle { variant: LleVariant::Free, ..Lle::default() };
    let (standard, free) = (fit(Lle::default(), &roll), fit(free, &roll));
    assert!(subspace_angle(standard.embedding(), free.embedding()) > 1e-3);
}
