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

use super::{InputKind, Site, needs_points};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::linalg::small::{orthonormalize, symmetric_eigen};
use crate::linalg::sparse::{SparseSymmetric, by_rows};
use crate::points::Points;
use rayon::prelude::*;
use std::borrow::Cow;

/// What the alignment methods start from.
pub(super) const INPUTS: &[InputKind] = &[InputKind::Points, InputKind::Distances, InputKind::Similarities];

/// A principal direction below this part of the longest one is rounding (a ratio of lengths).
const FLAT: f64 = 1e-7;

/// The points that the patches are cut from.
#[derive(Clone, Copy)]
pub(super) enum Ground<'a> {
    Points(&'a Points),
    Distances(&'a Points),
}

impl<'a> Ground<'a> {
    /// The ground of a method.
    pub(super) fn new(site: &Site<'a>, method: &str) -> Result<Ground<'a>> {
        match (site.points, site.distances) {
            (Some(points), _) => Ok(Ground::Points(points)),
            (None, Some(distances)) => Ok(Ground::Distances(distances)),
            (None, None) => Err(needs_points(method, "laplacian-eigenmaps and isomap embed a graph")),
        }
    }

    /// The ground of a method that flattens patches, after checking that every point has the neighbors which so many
    /// dimensions need.
    pub(super) fn for_patches(site: &Site<'a>, graph: &Graph, method: &str, least: usize) -> Result<Ground<'a>> {
        let dims = site.dims;
        if let Some(p) = site.points.map(Points::cols).filter(|&p| dims > p) {
            return Err(Error::parameter(format!("{dims} dimensions were asked of {p} features; use -d {p} or less")));
        }
        let count = |i: &usize| graph.neighbors(*i).len();
        let poorest = (0..graph.len()).min_by_key(count).unwrap_or_default();
        if count(&poorest) < least {
            let (n, has) = (graph.len(), count(&poorest));
            let way_out =
                if least < n { format!("use -k {least} or more, or fewer dimensions") } else { "use pca".into() };
            return Err(Error::parameter(format!(
                "{method} with -d {dims} needs {least} neighbors of every point and point {} of {n} has {has}; {way_out}",
                poorest + 1
            )));
        }
        Ground::new(site, method)
    }

    /// The neighbors of point i as seen from it.
    pub(super) fn around(self, i: usize, neighbors: &[u32]) -> Cloud {
        match self {
            Ground::Points(points) => Cloud::Rows(differences(points, neighbors, points.row(i))),
            // ½ (d²[i,j] + d²[i,k] − d²[j,k])
            Ground::Distances(distances) => {
                let square = |a: usize, b: usize| distances.row(a)[b].powi(2);
                let pairs = neighbors.iter().flat_map(|&j| neighbors.iter().map(move |&k| (j as usize, k as usize)));
                Cloud::Gram(pairs.map(|(j, k)| 0.5 * (square(i, j) + square(i, k) - square(j, k))).collect())
            }
        }
    }

    /// The members of a patch as seen from their mean.
    fn centered(self, members: &[u32]) -> Cloud {
        let size = members.len();
        match self {
            Ground::Points(points) => {
                let mut rows = differences(points, members, points.row(members[0] as usize));
                center(&mut rows, size);
                Cloud::Rows(rows)
            }
            Ground::Distances(distances) => {
                let square = |a: u32, b: u32| -0.5 * distances.row(a as usize)[b as usize].powi(2);
                let entries = members.iter().flat_map(|&a| members.iter().map(move |&b| square(a, b)));
                let mut gram: Vec<f64> = entries.collect();
                center(&mut gram, size);
                let mut turned: Vec<f64> = (0..size * size).map(|at| gram[at % size * size + at / size]).collect();
                center(&mut turned, size);
                Cloud::Gram(turned)
            }
        }
    }
}

/// A few points about an origin: their rows, or where only distances are known their inner products.
pub(super) enum Cloud {
    Rows(Vec<f64>),
    Gram(Vec<f64>),
}

impl Cloud {
    /// The inner products of its `size` points.
    pub(super) fn gram(&self, size: usize) -> Cow<'_, [f64]> {
        match self {
            Cloud::Rows(rows) => Cow::Owned(products(rows, size)),
            Cloud::Gram(gram) => Cow::Borrowed(gram),
        }
    }

    /// The first principal coordinates of its `size` points, longest first, each of length one and with the square of
    /// its true length; those that are rounding beside the longest are left out.
    pub(super) fn principal(&self, size: usize, dims: usize) -> Vec<(f64, Vec<f64>)> {
        let (values, vectors) = match self {
            // Through the smaller of the two matrices of second moments.
            Cloud::Rows(rows) if rows.len() / size < size => {
                let p = rows.len() / size;
                let mut moments = vec![0.0; p * p];
                add_outer(rows, p, 1.0, &mut moments);
                let (values, axes) = symmetric_eigen(&mut moments, p);
                let mut coordinates = Vec::with_capacity(dims.min(p) * size);
                for (axis, value) in axes.chunks_exact(p).zip(&values).take(dims) {
                    let length = value.sqrt();
                    let along = |x: &[f64]| x.iter().zip(axis).map(|(x, u)| x * u).sum::<f64>() / length;
                    coordinates.extend(rows.chunks_exact(p).map(along));
                }
                (values, coordinates)
            }
            cloud => symmetric_eigen(&mut cloud.gram(size).into_owned(), size),
        };
        let longest = values[0];
        let pairs = values.into_iter().zip(vectors.chunks_exact(size)).take(dims);
        let pairs = pairs.take_while(|&(square, _)| square > FLAT * FLAT * longest);
        pairs.map(|(square, coordinate)| (square, coordinate.to_vec())).collect()
    }
}

/// The members' rows less `from`, one after the other.
pub(crate) fn differences(points: &Points, members: &[u32], from: &[f64]) -> Vec<f64> {
    let mut rows = Vec::with_capacity(members.len() * from.len());
    for &j in members {
        rows.extend(points.row(j as usize).iter().zip(from).map(|(x, o)| x - o));
    }
    rows
}

/// The inner products of `count` vectors stored one after the other.
pub(crate) fn products(vectors: &[f64], count: usize) -> Vec<f64> {
    let p = vectors.len() / count;
    let mut gram = vec![0.0; count * count];
    pulp::Arch::new().dispatch(|| {
        for a in 0..count {
            for b in 0..=a {
                let (x, y) = (&vectors[a * p..(a + 1) * p], &vectors[b * p..(b + 1) * p]);
                let product = x.iter().zip(y).map(|(x, y)| x * y).sum();
                gram[a * count + b] = product;
                gram[b * count + a] = product;
            }
        }
    });
    gram
}

/// The sum of every patch's form, which is written row-major over the point and its neighbors in the order of the list.
pub(super) fn glue(
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
    site.afford("the patches", 24 * blocks[n] as u64, "use a smaller -k or --radius, or raise --memory")?;
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
pub(super) struct Tangent {
    /// The number of points of the patch.
    pub(super) size: usize,
    /// Orthonormal rows over the patch: the constant, then the principal coordinates that are longer than rounding.
    pub(super) basis: Vec<f64>,
}

impl Tangent {
    /// The patch with those members, flattened to at most `dims` dimensions.
    pub(super) fn new(ground: Ground<'_>, members: &[u32], dims: usize) -> Tangent {
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
    pub(super) fn rank(&self) -> usize {
        self.basis.len() / self.size - 1
    }

    /// Coordinate q, counted from zero.
    pub(super) fn coordinate(&self, q: usize) -> &[f64] {
        &self.basis[(q + 1) * self.size..(q + 2) * self.size]
    }

    /// I − B Bᵀ over the patch: what is not affine in the tangent coordinates.
    pub(super) fn bending(&self, form: &mut [f64]) {
        complement(&self.basis, self.size, form);
    }
}

/// Adds a multiple of Bᵀ B of rows stored one after the other: the projector on their span where they are orthonormal.
pub(super) fn add_outer(rows: &[f64], size: usize, scale: f64, form: &mut [f64]) {
    for row in rows.chunks_exact(size) {
        for (x, sums) in row.iter().zip(form.chunks_exact_mut(size)) {
            let x = scale * x;
            sums.iter_mut().zip(row).for_each(|(sum, y)| *sum += x * y);
        }
    }
}

/// I − Bᵀ B: the projector on what is orthogonal to the orthonormal rows.
pub(super) fn complement(rows: &[f64], size: usize, form: &mut [f64]) {
    form.fill(0.0);
    (0..size).for_each(|a| form[a * size + a] = 1.0);
    add_outer(rows, size, -1.0, form);
}

/// Takes the mean row from every row.
fn center(rows: &mut [f64], count: usize) {
    let p = rows.len() / count;
    for f in 0..p {
        let mean = (0..count).map(|a| rows[a * p + f]).sum::<f64>() / count as f64;
        (0..count).for_each(|a| rows[a * p + f] -= mean);
    }
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
