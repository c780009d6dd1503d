//! Stage 3: coordinates from the eigenvectors of a field.
//!
//! The rules, stated once (docs/notation.md says why):
//!
//! - order: most variance first, that is the largest eigenvalue of a covariance or the smallest of a precision;
//! - centering: constants are kept out, in the mass of the field;
//! - scale: a covariance gives y = √λ v with ‖v‖ = 1; a precision gives vectors of mean square one in its mass, times
//!   the field's [`Scale`] (one of them takes the symmetric form of the vectors);
//! - sign: the entry of largest magnitude is positive, the first of them if they tie.

use super::{Evidence, Map};
use crate::error::Result;
use crate::field::{Field, Scale};
use crate::linalg::dense;
use crate::linalg::dense::DenseSymmetric;
use crate::linalg::dense::sign;
use crate::linalg::eigen::lanczos::{Ask, largest};
use crate::linalg::eigen::pencil;
use crate::linalg::sparse::centered_inverse::CenteredInverse;
use crate::linalg::sparse::root::Root;
use crate::linalg::{Eigenpairs, Operator};
use crate::points::Points;
use crate::progress::Observer;
use faer::{Mat, MatMut, MatRef};

/// Up to this many rows the dense solver takes a covariance whole.
const DENSE: usize = 400;
/// Up to this many rows the small side of a factor is multiplied out.
const SMALL_SIDE: usize = 2000;
/// Relative residual asked of an operator's eigenpairs.
const TOLERANCE: f64 = 1e-10;

/// The first `dims` coordinates of a field; `memory` bounds what a solver may allocate.
///
/// # Errors
///
/// If no solver could run, or the observer stopped before there was anything to return.
pub fn map(field: &Field, dims: usize, seed: u64, memory: u64, observer: &dyn Observer) -> Result<Map> {
    let (pairs, lengths) = match field {
        Field::Precision { matrix, mass, scale } => {
            let mut pairs = pencil::bottom(matrix, mass.as_deref(), dims, seed, memory, observer)?;
            let total = mass.as_ref().map_or(matrix.dim() as f64, |m| m.iter().sum());
            // An eigenvalue below this is rounding, and says nothing of how long its coordinate is.
            let least = (1e-16 * matrix.norm_bound()).max(f64::MIN_POSITIVE);
            let length = |lambda: &f64| match scale {
                Scale::Unit => total.sqrt(),
                Scale::Symmetric => (matrix.dim() as f64).sqrt(),
                Scale::Covariance(features) => (features / lambda.max(least)).sqrt(),
                Scale::Diffusion(time) => total.sqrt() * (1.0 - lambda).max(0.0).powf(*time),
            };
            let lengths: Vec<f64> = pairs.values.iter().map(length).collect();
            if let (Scale::Symmetric, Some(mass)) = (scale, mass) {
                pairs.vectors = Mat::from_fn(mass.len(), lengths.len(), |i, q| pairs.vectors[(i, q)] * mass[i].sqrt());
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
        Field::Factor(factor) => standard_deviations(factor_top(factor, dims, seed, observer)?),
        Field::Covariance(operator) => standard_deviations(operator_top(operator.as_ref(), dims, seed, observer)?),
    };
    let mut warnings = Vec::new();
    let varying = lengths.iter().take(dims).filter(|&&length| length > 0.0).count();
    if varying < dims {
        warnings.push(format!("the field varies in {varying} directions only; the other coordinates are zero"));
    }
    if !pairs.converged {
        let worst = pairs.residuals.iter().take(dims).fold(0.0, |a: f64, &b| a.max(b));
        warnings.push(format!("the eigen-solver did not converge ({}, largest residual {worst:.1e})", pairs.solver));
    }
    if let Field::Precision { matrix, .. } = field {
        // The directions of the map are told from the others by the gap after them.
        let rounding = 1e-14 * matrix.norm_bound();
        if pairs.values.get(dims).or(pairs.values.last()).is_some_and(|&next| next < rounding) {
            warnings.push(
                "the eigenvalues at the end of the map are at the level of rounding, so the map is not determined; \
                 a larger k or more regularization may help"
                    .into(),
            );
        }
    }
    let signed: Vec<f64> = (0..dims.min(lengths.len())).map(|q| sign(pairs.vectors.as_ref(), q) * lengths[q]).collect();
    let entry = |(i, q): (usize, usize)| signed.get(q).map_or(0.0, |length| length * pairs.vectors[(i, q)]);
    let n = pairs.vectors.nrows();
    let coordinates = (0..n).flat_map(|i| (0..dims).map(move |q| (i, q))).map(entry).collect();
    let (mut eigenvalues, mut residuals) = (pairs.values, pairs.residuals);
    eigenvalues.resize(eigenvalues.len().max(dims), 0.0);
    residuals.resize(eigenvalues.len(), 0.0);
    Ok(Map {
        coordinates: Points::new(n, dims, coordinates)?,
        evidence: Evidence {
            eigenvalues,
            residuals,
            solver: pairs.solver,
            iterations: pairs.iterations,
            converged: pairs.converged,
            warnings,
            ..Evidence::default()
        },
    })
}

/// √λ for every pair of a covariance; zero where the eigenvalue is not positive beyond rounding.
fn standard_deviations(pairs: Eigenpairs) -> (Eigenpairs, Vec<f64>) {
    let largest = pairs.values.first().copied().unwrap_or(0.0).max(0.0);
    let noise = 1e-13 * largest;
    let lengths = pairs.values.iter().map(|&v| if v > noise { v.sqrt() } else { 0.0 }).collect();
    (pairs, lengths)
}

/// The bottom of a precision by its triangular root: the top of its centered covariance, with inverse eigenvalues. The
/// residuals are those of the covariance, which leave the small eigenvalues of the precision all their digits.
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

/// The top of a covariance known by its products, constants kept out.
fn operator_top(operator: &dyn Operator, dims: usize, seed: u64, observer: &dyn Observer) -> Result<Eigenpairs> {
    let n = operator.dim();
    if n <= DENSE {
        let mut matrix = Mat::zeros(n, n);
        operator.apply(Mat::<f64>::identity(n, n).as_ref(), matrix.as_mut());
        return dense::checked_eigen(matrix.as_ref(), dims);
    }
    let constant = Mat::from_fn(n, 1, |_, _| 1.0 / (n as f64).sqrt());
    lanczos_top(operator, constant.as_ref(), dims, seed, observer)
}

fn lanczos_top(
    operator: &dyn Operator,
    kept_out: MatRef<'_, f64>,
    dims: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    let block = if dims <= 4 { 8 } else { dims.next_multiple_of(8) };
    let ask = Ask { wanted: dims, block, tolerance: TOLERANCE, max_steps: 400, seed };
    let ritz = largest(operator, kept_out, None, &ask, observer)?;
    let mut image = Mat::zeros(operator.dim(), ritz.vectors.ncols());
    operator.apply(ritz.vectors.as_ref(), image.as_mut());
    let norm = ritz.values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    let off = |i: usize, q: usize| image[(i, q)] - ritz.values[q] * ritz.vectors[(i, q)];
    let residuals = (0..ritz.values.len())
        .map(|q| (0..operator.dim()).map(|i| off(i, q).powi(2)).sum::<f64>().sqrt() / norm)
        .collect();
    Ok(Eigenpairs {
        values: ritz.values,
        vectors: ritz.vectors,
        residuals,
        solver: "lanczos".into(),
        iterations: ritz.steps,
        converged: ritz.converged,
    })
}

/// The top of F Fᵀ through its smaller side.
fn factor_top(factor: &Mat<f64>, dims: usize, seed: u64, observer: &dyn Observer) -> Result<Eigenpairs> {
    let (n, p) = (factor.nrows(), factor.ncols());
    if p > n {
        return if n <= SMALL_SIDE {
            let gram = dense::inner(factor.transpose(), factor.transpose());
            small_top(gram, dims, seed, observer)
        } else {
            operator_top(&Product { a: factor.as_ref() }, dims, seed, observer)
        };
    }
    let mut pairs = if p <= SMALL_SIDE {
        small_top(dense::inner(factor.as_ref(), factor.as_ref()), dims, seed, observer)?
    } else {
        lanczos_top(&Product { a: factor.transpose() }, Mat::zeros(p, 0).as_ref(), dims, seed, observer)?
    };
    // v = F u / √λ; where λ vanishes the direction carries no variance and is left zero.
    let largest = pairs.values.first().copied().unwrap_or(0.0);
    let scale = |lambda: f64| if lambda > 1e-13 * largest { 1.0 / lambda.sqrt() } else { 0.0 };
    let images = dense::product(factor.as_ref(), pairs.vectors.as_ref());
    pairs.vectors = Mat::from_fn(n, pairs.values.len(), |i, q| images[(i, q)] * scale(pairs.values[q]));
    Ok(pairs)
}

fn small_top(gram: Mat<f64>, dims: usize, seed: u64, observer: &dyn Observer) -> Result<Eigenpairs> {
    if gram.nrows() <= DENSE {
        return dense::checked_eigen(gram.as_ref(), dims);
    }
    let nothing = Mat::zeros(gram.nrows(), 0);
    lanczos_top(&DenseSymmetric(gram), nothing.as_ref(), dims, seed, observer)
}

/// A Aᵀ.
struct Product<'a> {
    a: MatRef<'a, f64>,
}

impl Operator for Product<'_> {
    fn dim(&self) -> usize {
        self.a.nrows()
    }

    fn apply(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        out.fill(0.0);
        let inside = dense::inner(self.a, x);
        dense::add_product(out, self.a, inside.as_ref(), 1.0);
    }
}
