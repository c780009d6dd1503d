//! Stage 3: coordinates from the eigenvectors of a field.
//!
//! The conventions, stated once (docs/reference/notation.md explains them):
//!
//! - order: most variance first, that is the largest eigenvalue of a covariance or the smallest of a precision;
//! - centering: constants are excluded, in the normalization matrix of the field;
//! - scale: a covariance gives y = √λ v with ‖v‖ = 1; a precision gives vectors of mean square one in its normalization
//!   matrix, times the field's [`CoordinateScale`] (one of them uses the symmetric form of the vectors);
//! - sign: the entry of largest magnitude is positive, the first of them if they tie.

use super::{Diagnostics, Map};
use crate::ended::Ended;
use crate::field::{CoordinateScale, Explained, Field};
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::sign;
use eigenfold_linalg::eigen::pencil::{self, Pencil};
use eigenfold_linalg::eigen::top::{factor_top, operator_top};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory::NEGLIGIBLE;
use eigenfold_linalg::progress::Observer;
use eigenfold_linalg::sparse::centered_inverse::CenteredInverse;
use eigenfold_linalg::sparse::root::Root;
use eigenfold_linalg::{Eigenpairs, FURTHER, Operator};
use faer::Mat;

/// Basis vectors of a solver per requested pair.
const BASIS: u64 = 6;

/// Bytes of an entry of a sparse matrix, which a solver copies in its own order.
const ENTRY: u64 = 24;

/// The first `dims` coordinates of a field; `memory` limits the allocations of a solver.
///
/// # Errors
///
/// If no solver could run, or the observer stopped the run before there was a result.
pub(crate) fn map(field: &Field, dims: usize, seed: u64, memory: u64, observer: &dyn Observer) -> Result<Map> {
    let basis = afford(field, dims, memory)?;
    let (pairs, lengths) = match field {
        Field::Precision { matrix, order, normalization, scale } => {
            let pencil = Pencil { matrix, order: order.as_deref(), normalization: normalization.as_deref() };
            let mut pairs = pencil::bottom(pencil, dims, seed, memory, observer)?;
            let total = normalization.as_ref().map_or(matrix.dim() as f64, |m| m.iter().sum());
            // An eigenvalue below this is rounding, and its coordinate has no defined length.
            let least = (1e-16 * matrix.norm_bound()).max(f64::MIN_POSITIVE);
            let length = |lambda: &f64| match scale {
                CoordinateScale::Unit => total.sqrt(),
                CoordinateScale::Symmetric => (matrix.dim() as f64).sqrt(),
                CoordinateScale::Covariance(features) => (features / lambda.max(least)).sqrt(),
                CoordinateScale::Diffusion(time) => total.sqrt() * (1.0 - lambda).max(0.0).powf(*time),
            };
            let lengths: Vec<f64> = pairs.values.iter().map(length).collect();
            if let (CoordinateScale::Symmetric, Some(normalization)) = (scale, normalization) {
                pairs.vectors = Mat::from_fn(normalization.len(), lengths.len(), |i, q| {
                    pairs.vectors[(i, q)] * normalization[i].sqrt()
                });
            }
            (pairs, lengths)
        }
        Field::Root(root) => {
            let pairs = root_bottom(root, dims, seed, observer)?;
            let lengths = vec![(root.dim() as f64).sqrt(); pairs.values.len()];
            (pairs, lengths)
        }
        Field::Definite { matrix, features } => {
            let covariance = CenteredInverse::new(matrix, *features)?;
            let mut pairs = operator_top(&covariance, dims, seed, observer)?;
            pairs.solver = format!("sparse factor, {}", pairs.solver);
            standard_deviations(pairs)
        }
        Field::Factor(factor) => standard_deviations(factor_top(&**factor, dims, seed, observer)?),
        Field::Covariance(operator) => standard_deviations(operator_top(operator.as_ref(), dims, seed, observer)?),
    };
    let mut warnings = Vec::new();
    let varying = lengths.iter().take(dims).filter(|&&length| length > 0.0).count();
    warnings.extend(few_directions(varying, dims));
    warnings.extend(not_converged(&pairs, dims));
    if let Field::Precision { matrix, .. } = field {
        // The gap after the last coordinate separates the directions of the map from the others.
        let rounding = 1e-14 * matrix.norm_bound();
        if pairs.values.get(dims).or(pairs.values.last()).is_some_and(|&next| next < rounding) {
            warnings.push(Warning::NotDetermined(
                "the eigenvalues at the end of the map are at the level of rounding, so the map is not determined; \
                 a larger k or more regularization may help"
                    .into(),
            ));
        }
    }
    let signed: Vec<f64> = (0..dims.min(lengths.len())).map(|q| sign(pairs.vectors.as_ref(), q) * lengths[q]).collect();
    let entry = |(i, q): (usize, usize)| signed.get(q).map_or(0.0, |length| length * pairs.vectors[(i, q)]);
    let n = pairs.vectors.nrows();
    let coordinates = (0..n).flat_map(|i| (0..dims).map(move |q| (i, q))).map(entry).collect();
    let (mut eigenvalues, mut residuals) = (pairs.values, pairs.residuals);
    eigenvalues.resize(eigenvalues.len().max(dims), 0.0);
    residuals.resize(eigenvalues.len(), 0.0);
    let explained = total_variance(field).and_then(|total| Explained::new(&eigenvalues[..dims], total));
    Ok(Map {
        coordinates: Points::computed(n, dims, coordinates)?,
        diagnostics: Diagnostics {
            explained,
            eigenvalues,
            residuals,
            solver: pairs.solver,
            iterations: pairs.iterations,
            memory: basis + pairs.factor + matrix_bytes(field),
            ended: Ended::of(pairs.converged, observer.stop()),
            warnings,
            ..Diagnostics::default()
        },
    })
}

/// The warning about a map that varies in fewer directions than it has coordinates.
pub(crate) fn few_directions(varying: usize, dims: usize) -> Option<Warning> {
    let fact = format!("the map varies in only {varying} directions; the other coordinates are zero");
    (varying < dims).then_some(Warning::FewDirections(fact))
}

/// The warning about eigenpairs that are not exact.
pub(crate) fn not_converged(pairs: &Eigenpairs, dims: usize) -> Option<Warning> {
    let worst = pairs.residuals.iter().take(dims).fold(0.0, |a: f64, &b| a.max(b));
    let fact = format!("the eigen-solver did not converge ({}, largest residual {worst:.1e})", pairs.solver);
    (!pairs.converged).then_some(Warning::NotConverged(fact))
}

/// The sum of all eigenvalues of a covariance, if it is known.
fn total_variance(field: &Field) -> Option<f64> {
    match field {
        Field::Factor(factor) => Some(factor.square()),
        Field::Covariance(operator) => operator.trace(),
        Field::Precision { .. } | Field::Root(_) | Field::Definite { .. } => None,
    }
}

/// Refuses more coordinates than the basis of an iterative solver can hold.
fn afford(field: &Field, dims: usize, memory: u64) -> Result<u64> {
    let n = match field {
        Field::Precision { matrix, .. } | Field::Definite { matrix, .. } => matrix.dim(),
        Field::Root(root) => root.dim(),
        Field::Covariance(operator) => operator.dim(),
        // Its smaller side is multiplied out.
        Field::Factor(_) => return Ok(0),
    };
    let needed = 8 * n as u64 * BASIS * (dims as u64 + FURTHER as u64);
    if needed <= memory.max(NEGLIGIBLE) {
        return Ok(needed);
    }
    let (what, way_out) = ("the basis of the eigen-solver".into(), "use fewer `dims`, or raise `memory`".into());
    Err(Error::Memory { what, needed, limit: memory, way_out })
}

/// The bytes of a sparse matrix of the field.
fn matrix_bytes(field: &Field) -> u64 {
    match field {
        Field::Precision { matrix, .. } | Field::Definite { matrix, .. } => ENTRY * matrix.entry_count() as u64,
        Field::Root(_) | Field::Factor(_) | Field::Covariance(_) => 0,
    }
}

/// √λ for every pair of a covariance; zero where the eigenvalue is not positive beyond rounding.
fn standard_deviations(pairs: Eigenpairs) -> (Eigenpairs, Vec<f64>) {
    let largest = pairs.values.first().copied().unwrap_or(0.0).max(0.0);
    let noise = 1e-13 * largest;
    let lengths = pairs.values.iter().map(|&v| if v > noise { v.sqrt() } else { 0.0 }).collect();
    (pairs, lengths)
}

/// The smallest eigenpairs of a precision by its triangular root: the largest of its centered covariance, with inverse
/// eigenvalues. The residuals are those of the covariance, so that the small eigenvalues of the precision keep all
/// their digits.
fn root_bottom(root: &Root, dims: usize, seed: u64, observer: &dyn Observer) -> Result<Eigenpairs> {
    let mut pairs = operator_top(root, dims, seed, observer)?;
    let kept = pairs.values.iter().take_while(|&&value| value > 0.0).count().max(dims.min(pairs.values.len()));
    pairs.values.truncate(kept);
    pairs.residuals.truncate(kept);
    pairs.vectors = pairs.vectors.subcols(0, kept).to_owned();
    for value in &mut pairs.values {
        *value = 1.0 / value.max(f64::MIN_POSITIVE) / root.unit();
    }
    pairs.solver = format!("triangular sweeps, {}", pairs.solver);
    Ok(pairs)
}
