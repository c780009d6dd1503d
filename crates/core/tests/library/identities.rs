//! Identities among the methods that no paper's claim stands for, each by two independent paths. Those of the papers are
//! in `identities_lawrence.rs` and `identities_xiao.rs`.
use crate::support::*;
use eigenfold::field::{Build, EdgeWeight, Field, LleVariant, Task};
use eigenfold::{Alle, Isomap, KernelPca, LaplacianEigenmaps, Lle, Mds, Neighbors, Pca, Recipe};
use faer::Mat;

/// The linear kernel's feature space is the data space.
#[test]
fn kernel_pca_with_the_linear_kernel_is_pca() {
    let points = cloud(300, 6, 5);
    let kernel = KernelPca { kernel: eigenfold::Kernel::Linear };
    assert!(distance_mismatch(fit(Pca::default(), &points).embedding(), fit(kernel, &points).embedding()) < SOLVED);
}

/// Isomap on the complete graph has straight geodesics: it is classical scaling.
#[test]
fn isomap_of_all_neighbors_is_classical_scaling() {
    let points = cloud(200, 3, 9);
    let recipe = Recipe { method: Isomap::default().into(), neighbors: Neighbors::All, ..Recipe::default() };
    let all = recipe.fit(&points).unwrap();
    assert!(distance_mismatch(all.embedding(), fit(Mds::default(), &points).embedding()) < SOLVED);
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
