//! Patches: every point with its neighbors, flattened on its own and glued to the others where they overlap.
//!
//! The alignment methods differ in the quadratic form Q[i] that says how far coordinates are from being right over the
//! patch of point i; the field's precision is their sum,
//!
//! ```text
//! A = Σᵢ Sᵢ Qᵢ Sᵢᵀ        Sᵢ picks the patch {i} ∪ neighbors of i
//! ```
//!
//! The point is part of its own patch: one that is nobody's neighbor still has a row in A.

use crate::error::{Error, Result};
use crate::field::Site;
use crate::graph::Graph;
use crate::ground::Ground;
use crate::ground::cloud::{Cloud, center, differences};
use crate::linalg::dense::small::{add_outer, orthonormalize};
use crate::linalg::sparse::matrix::{SparseSymmetric, by_rows};
use crate::points::Points;
use rayon::prelude::*;

/// The ground of a method that flattens patches, after checking that every point has the neighbors which so many
/// dimensions need.
pub(crate) fn ground<'a>(site: &Site<'a>, graph: &Graph, method: &str, least: usize) -> Result<Ground<'a>> {
    let dims = site.dims;
    if let Some(p) = site.points.map(Points::cols).filter(|&p| dims > p) {
        return Err(Error::features(dims, p));
    }
    let count = |i: &usize| graph.neighbors(*i).len();
    let poorest = (0..graph.len()).min_by_key(count).unwrap_or_default();
    if count(&poorest) < least {
        let (n, has) = (graph.len(), count(&poorest));
        let way_out =
            if least < n { format!("use `neighbors` {least} or more, or fewer dimensions") } else { "use pca".into() };
        return Err(Error::parameter(format!(
            "{method} with `dims` {dims} needs {least} neighbors of every point and point {} of {n} has {has}; {way_out}",
            poorest + 1
        )));
    }
    Ground::new(site, method)
}

/// The sum of every patch's form, which is written row-major over the point and its neighbors in the order of the list.
pub(crate) fn glue(
    site: &Site<'_>,
    graph: &Graph,
    form: impl Fn(usize, &[u32], &mut [f64]) + Sync,
) -> Result<SparseSymmetric> {
    let n = graph.len();
    let (mut offsets, mut members) = (Vec::with_capacity(n + 1), Vec::with_capacity(graph.edge_count() + n));
    let mut blocks = Vec::with_capacity(n + 1);
    offsets.push(0);
    blocks.push(0);
    for i in 0..n {
        members.push(i as u32);
        members.extend_from_slice(graph.neighbors(i));
        offsets.push(members.len());
        blocks.push(blocks[i] + (graph.neighbors(i).len() + 1).pow(2));
    }
    site.afford("the patches", 24 * blocks[n] as u64, "use a smaller `neighbors` or `radius`, or raise `memory`")?;
    let mut forms = vec![0.0; blocks[n]];
    by_rows(&blocks, &mut forms).into_par_iter().try_for_each(|(rows, mut forms)| {
        for i in rows {
            let (own, rest) = forms.split_at_mut(blocks[i + 1] - blocks[i]);
            form(i, &members[offsets[i]..offsets[i + 1]], own);
            forms = rest;
        }
        if site.observer.stop() { Err(Error::Stopped) } else { Ok(()) }
    })?;
    Ok(SparseSymmetric::of_patches(&offsets, &members, &blocks, &forms))
}

/// A patch in the coordinates of its tangent space.
pub(crate) struct Tangent {
    /// The number of points of the patch.
    pub(crate) size: usize,
    /// Orthonormal rows over the patch: the constant, then the principal coordinates that are longer than rounding.
    pub(crate) basis: Vec<f64>,
}

impl Tangent {
    /// The patch with those members, flattened to at most `dims` dimensions.
    pub(crate) fn new(ground: Ground<'_>, members: &[u32], dims: usize) -> Tangent {
        let size = members.len();
        let mut basis = Vec::with_capacity((dims + 1) * size);
        basis.resize(size, 1.0 / (size as f64).sqrt());
        for (_, mut coordinate) in ground.centered(members).principal(size, dims) {
            if orthonormalize(&mut coordinate, &basis, 1e-6) {
                basis.extend(coordinate);
            }
        }
        Tangent { size, basis }
    }

    /// The number of coordinates, at most the dimensions asked for.
    pub(crate) fn rank(&self) -> usize {
        self.basis.len() / self.size - 1
    }

    /// Coordinate q, counted from zero.
    pub(crate) fn coordinate(&self, q: usize) -> &[f64] {
        &self.basis[(q + 1) * self.size..(q + 2) * self.size]
    }

    /// I − B Bᵀ over the patch: what is not affine in the tangent coordinates.
    pub(crate) fn bending(&self, form: &mut [f64]) {
        complement(&self.basis, self.size, form);
    }
}

/// I − Bᵀ B: the projector on what is orthogonal to the orthonormal rows.
pub(crate) fn complement(rows: &[f64], size: usize, form: &mut [f64]) {
    form.fill(0.0);
    (0..size).for_each(|a| form[a * size + a] = 1.0);
    add_outer(rows, size, -1.0, form);
}

/// The weights on the members of a patch that continue any function on it to x: the affine function of the patch's
/// tangent coordinates that fits it best, read where x is seen in the tangent space.
///
/// ```text
/// w[j] = 1/m + Σ_q u[j,q] (Σ_l u[l,q] (x[l] − x̄)·(x − x̄)) / λ_q      u_q, λ_q the patch's principal pairs
/// ```
pub(crate) fn tangent_weights(points: &Points, members: &[u32], x: &[f64], dims: usize) -> Vec<f64> {
    let size = members.len();
    let mut rows = differences(points, members, x);
    let p = rows.len() / size;
    // From x̄ to x, as the rows are seen from x.
    let step: Vec<f64> = (0..p).map(|f| -(0..size).map(|j| rows[j * p + f]).sum::<f64>() / size as f64).collect();
    center(&mut rows, size);
    let along: Vec<f64> = rows.chunks_exact(p).map(|row| row.iter().zip(&step).map(|(a, b)| a * b).sum()).collect();
    let mut weights = vec![1.0 / size as f64; size];
    for (square, u) in Cloud::Rows(rows).principal(size, dims) {
        let slope = u.iter().zip(&along).map(|(u, c)| u * c).sum::<f64>() / square;
        weights.iter_mut().zip(&u).for_each(|(w, u)| *w += slope * u);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_the_same_from_points_and_from_their_distances() {
        let points = Points::from_rows(&[[0.0, 0.0, 1.0], [1.0, 0.0, 1.1], [0.0, 2.0, 0.9], [1.0, 2.5, 1.0]]).unwrap();
        let distance = |at: usize| crate::graph::Metric::Euclidean.distance(points.row(at / 4), points.row(at % 4));
        let distances = Points::new(4, 4, (0..16).map(distance).collect()).unwrap();
        let members = [2, 0, 1, 3];
        let (mut one, mut two) = ([0.0; 16], [0.0; 16]);
        Tangent::new(Ground::Points(&points), &members, 2).bending(&mut one);
        Tangent::new(Ground::Distances(&distances), &members, 2).bending(&mut two);
        assert!(one.iter().zip(&two).all(|(a, b)| (a - b).abs() < 1e-12), "{one:?} {two:?}");
    }

    #[test]
    fn points_on_a_line_have_one_direction_and_coinciding_points_none() {
        let line = Points::from_rows(&[[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [5.0, 10.0]]).unwrap();
        assert_eq!(Tangent::new(Ground::Points(&line), &[0, 1, 2, 3], 2).rank(), 1);
        let same = Points::from_rows(&[[3.0, 1.0]; 4]).unwrap();
        assert_eq!(Tangent::new(Ground::Points(&same), &[0, 1, 2, 3], 2).rank(), 0);
    }
}
