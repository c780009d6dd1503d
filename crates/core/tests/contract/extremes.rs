//! Inputs at the limits: two points, numbers near the largest, points that all coincide. Every method has a named outcome.
use crate::properties::tolerance;
use crate::support::*;
use eigenfold::{Method, Model, Neighbors, Points, Recipe, Result, Silent};

fn fit_line(method: &Method, points: &Points, neighbors: Neighbors) -> Result<Model> {
    Recipe { dims: 1, neighbors, ..recipe(method) }.fit(points, &Silent)
}

/// Whether the map of a line has the distances of the line.
fn is_isometric(name: &str) -> bool {
    ["pca", "mds", "isomap", "smacof", "sammon", "mvu"].contains(&name)
}

/// Two points at distance 5 lie opposite each other.
pub(crate) fn two_points_part(method: &Method) {
    let name = method.info().name;
    let two = Points::from_rows(&[[0.0, 0.0], [3.0, 4.0]]).unwrap();
    let line = fit_line(method, &two, Neighbors::Nearest(1));
    if ["ltsa", "hessian-lle", "modified-lle"].contains(&name) {
        let wanted = format!("{name} with `dims` 1 needs 2 neighbors of every point and point 1 of 2 has 1; use pca");
        assert_eq!(line.unwrap_err().to_string(), wanted);
        return;
    }
    let line = line.unwrap();
    let (one, other) = (line.embedding().row(0)[0], line.embedding().row(1)[0]);
    assert!(one != 0.0 && one.is_finite() && (one + other).abs() < SOLVED * one.abs(), "{one} {other}");
    let known = match name {
        "mvu" => Some((2.5, FITTED)),
        "meu" => Some((2.5, EXACT)),
        name if is_isometric(name) => Some((2.5, EXACT)),
        "lle" | "alle" | "laplacian-eigenmaps" => Some((1.0, EXACT)),
        "ppca" | "fa" => Some((1.0, 1e-6)), // Noise has the least variance that is allowed.
        _ => None,
    };
    if let Some((known, tolerance)) = known {
        assert!((one.abs() / known - 1.0).abs() < tolerance, "{one} for {known}");
    }
}

/// Thirty points on a line, so far apart that their squared distances are next to the largest number, have the map of the same
/// points in another unit.
pub(crate) fn numbers_near_the_largest_have_a_map(method: &Method) {
    let name = method.info().name;
    let line =
        |step: f64| Points::from_rows(&(0..30).map(|i| [step * f64::from(i), -step]).collect::<Vec<_>>()).unwrap();
    let map = |step: f64| fit_line(method, &line(step), Neighbors::default()).unwrap().embedding().clone();
    let (huge, plain) = (map(1e58), map(1.0));
    assert!(all_finite(&huge));
    let unit = |map: &Points| Points::new(30, 1, map.values().iter().map(|v| v / map.row(0)[0]).collect()).unwrap();
    let off = distance_mismatch(&unit(&plain), &unit(&huge));
    assert!(off < tolerance(name), "{off}");
    if is_isometric(name) {
        let off = distance_mismatch(&line(1e58), &huge);
        assert!(off < if name == "mvu" { FITTED } else { EXACT }, "{off}");
    }
    // The ends of a line fold back under a kernel, and under a Laplacian whose points have fewer neighbors there.
    if !["kernel-pca", "ppco", "pkpca", "laplacian-eigenmaps"].contains(&name) {
        let up = (1..30).filter(|&i| huge.row(i)[0] > huge.row(i - 1)[0]).count();
        assert!(up == 0 || up == 29, "{up} of 29 steps go up");
    }
}

/// What is reported where the points have no variance.
const COINCIDE: &str =
    "the points have no likelihood under the model: they coincide, or its precision matrix is singular";

/// Twelve points at one place: they stay together, the free choice of a map is of unit size and is reported, or there is an
/// error that names the reason.
pub(crate) fn coinciding_points_have_their_outcome(method: &Method) {
    let same = Points::from_rows(&[[1.0, 2.0]; 12]).unwrap();
    let fitted = fit_line(method, &same, Neighbors::default());
    let error = match method.info().name {
        "laplacian-eigenmaps" | "diffusion-maps" | "elastic" => {
            "all neighbors are at distance zero, so no width can be chosen; give `bandwidth`"
        }
        "kernel-pca" | "pkpca" | "ppco" => {
            "all points are equal, so no bandwidth can be chosen; give `bandwidth` or other data"
        }
        "ppca" | "fa" => "all points are equal, so there is no variance to explain; give other data",
        "gplvm" => "no feature of the data varies; there is nothing that a map could explain",
        "drill" => "all points coincide and have no covariance; give points that differ",
        "smacof" | "sammon" => "all points coincide, so that any map has no stress; give points that differ",
        "mvu" => "all neighbors coincide, so there is nothing to unfold; remove the duplicates",
        _ => "",
    };
    if !error.is_empty() {
        assert_eq!(fitted.unwrap_err().to_string(), error);
        return;
    }
    let model = fitted.unwrap();
    let map = model.embedding().values();
    let largest = map.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let variance = map.iter().map(|v| v * v).sum::<f64>() / 12.0;
    assert!(all_finite(model.embedding()));
    assert!(
        model.report().warnings.iter().any(|warning| warning.message() == COINCIDE),
        "{:?}",
        model.report().warnings
    );
    match method.info().name {
        "pca" | "mds" | "isomap" => assert_eq!(largest, 0.0),
        "meu" => assert!(largest < EXACT, "{largest}"),
        // The divergence is zero where all points coincide, and flat around that.
        "sne" | "symmetric-sne" | "tsne" => assert!(largest < 1e-2, "{largest}"),
        // Sampled repulsion keeps points some of the method's own units apart, even if all attract each other alike.
        "umap" => assert!(largest < 3.0, "{largest}"),
        // The map has variance one by definition, whatever the data are.
        "lle" | "alle" | "ltsa" | "hessian-lle" | "modified-lle" => {
            assert!((variance - 1.0).abs() < SOLVED, "{variance}");
        }
        name => panic!("{name} has no outcome here"),
    }
}
