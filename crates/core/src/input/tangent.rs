//! Patches in the coordinates of their tangent spaces.

use crate::input::Measured;
use eigenfold_linalg::dense::small::{add_outer, orthonormalize};

/// A patch in the coordinates of its tangent space.
pub(crate) struct Tangent {
    /// The number of points of the patch.
    pub(crate) size: usize,
    /// Orthonormal rows over the patch: the constant, then the principal coordinates that are longer than rounding.
    pub(crate) basis: Vec<f64>,
}

impl Tangent {
    /// The patch with those members, flattened to at most `dims` dimensions.
    pub(crate) fn new(data: Measured<'_>, members: &[u32], dims: usize) -> Tangent {
        let size = members.len();
        let mut basis = Vec::with_capacity((dims + 1) * size);
        basis.resize(size, 1.0 / (size as f64).sqrt());
        for (_, mut coordinate) in data.centered(members).principal(size, dims) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_graph::Metric;
    use eigenfold_graph::distances::Distances;
    use eigenfold_graph::points::Points;

    #[test]
    fn a_patch_is_the_same_from_points_and_from_their_distances() {
        let points = Points::from_rows(&[[0.0, 0.0, 1.0], [1.0, 0.0, 1.1], [0.0, 2.0, 0.9], [1.0, 2.5, 1.0]]).unwrap();
        let distance = |at: usize| Metric::Euclidean.distance(points.row(at / 4), points.row(at % 4));
        let distances = Distances::new(Points::new(4, 4, (0..16).map(distance).collect()).unwrap()).unwrap();
        let members = [2, 0, 1, 3];
        let (mut one, mut two) = ([0.0; 16], [0.0; 16]);
        Tangent::new(Measured::Points(&points, Metric::Euclidean), &members, 2).bending(&mut one);
        Tangent::new(Measured::Distances(&distances), &members, 2).bending(&mut two);
        assert!(one.iter().zip(&two).all(|(a, b)| (a - b).abs() < 1e-12), "{one:?} {two:?}");
    }

    #[test]
    fn points_on_a_line_have_one_direction_and_coinciding_points_none() {
        let line = Points::from_rows(&[[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [5.0, 10.0]]).unwrap();
        assert_eq!(Tangent::new(Measured::Points(&line, Metric::Euclidean), &[0, 1, 2, 3], 2).rank(), 1);
        let same = Points::from_rows(&[[3.0, 1.0]; 4]).unwrap();
        assert_eq!(Tangent::new(Measured::Points(&same, Metric::Euclidean), &[0, 1, 2, 3], 2).rank(), 0);
    }
}
