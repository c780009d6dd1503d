//! Repulsion: every point is repelled by every other, by a kernel of their distance.
//!
//! ```text
//! φ(x) = Σⱼ q[j] k(‖x − y[j]‖²)
//! ```
//!
//! Few points are summed pair by pair; many in up to three dimensions by a [`Grid`], and in more by a [`Tree`], whose
//! error is measured on a sample of the points against the sum over all pairs. UMAP's kernel is summed over samples in
//! more than two dimensions ([`Sampled`]).

mod charges;
mod convolution;
pub(crate) mod exact;
pub(crate) mod grid;
mod radial;
mod sampled;
mod spline;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use charges::Charges;
pub(crate) use exact::Weights;
pub(crate) use grid::Grid;
pub(crate) use radial::{Kernel, Shape, exp, log};
pub(crate) use sampled::Sampled;
pub(crate) use spline::Real;
pub(crate) use tree::Tree;

use crate::parameter::choices;
#[cfg(test)]
use eigenfold_graph::points::Points;
use eigenfold_linalg::parallel;
use serde::{Deserialize, Serialize};

/// The potential at every point, and its gradient.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    /// One per point.
    pub(crate) values: Vec<f64>,
    /// One row per point.
    pub(crate) gradients: Vec<f64>,
}

impl Sums {
    /// All zero, for this number of points.
    pub(crate) fn clear(&mut self, points: usize, dims: usize) {
        self.values.clear();
        self.values.resize(points, 0.0);
        self.gradients.clear();
        self.gradients.resize(points * dims, 0.0);
    }
}

/// How the repulsion is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Accuracy {
    /// By a grid in single precision: its error is about that of the steps.
    Fast,
    /// By a grid in double precision: accurate to three digits or more.
    Fine,
    /// Pair by pair.
    Exact,
}

choices! {
    Accuracy {
        Fast: "fast", "interpolation on a grid in single precision, accurate to a few percent; above three dimensions a tree; for umap above two dimensions 128 points sampled per iteration";
        Fine: "fine", "a finer grid in double precision, accurate to three digits or more; above three dimensions a finer tree";
        Exact: "exact", "all pairs";
    }
}

/// Up to this many points all pairs are summed.
pub(crate) const FEW: usize = 700;
/// The same for UMAP's kernel, which takes longer: there a grid or a sample is cheaper.
const FEW_OF_UMAP: usize = 300;
/// The nodes of a fine grid are closer by this factor.
const FINE: f64 = 0.5;
/// θ of the tree, the opening angle below which a part counts as one point: fast, and fine.
const OPENING: (f64, f64) = (0.5, 0.2);
/// Up to this many points in more than three dimensions, all pairs are cheaper than a tree.
const FEW_FOR_A_TREE: usize = 4000;
/// The number of points on which the error of a grid is measured.
const SAMPLED: usize = 100;

/// How the sums are computed.
pub(crate) enum RepulsionSum {
    /// Pair by pair.
    Exact(Kernel),
    /// By a grid of single precision, with splines of order 4: fast.
    Fast(Box<Grid<f32, 4>>),
    /// By a grid of double precision, with splines of order 8: accurate to six or more digits.
    Fine(Box<Grid<f64, 8>>),
    /// By a tree, in more than three dimensions.
    Tree(Box<Tree>),
    /// Over points sampled at random.
    Sampled(Box<Sampled>),
}

/// The error of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GridError {
    /// Of the gradients, relative root mean square.
    pub(crate) gradient: f64,
    /// Of the sum of the potentials.
    pub(crate) total: f64,
}

impl RepulsionSum {
    /// The requested way to sum over this number of points; few points are always summed pair by pair.
    pub(crate) fn of(kernel: Kernel, points: usize, dims: usize, spacing: f64, accuracy: Accuracy) -> RepulsionSum {
        let few = if let Kernel::Umap(_) = kernel { FEW_OF_UMAP } else { FEW };
        match accuracy {
            _ if points <= few || (dims > 3 && points <= FEW_FOR_A_TREE) => RepulsionSum::Exact(kernel),
            Accuracy::Exact => RepulsionSum::Exact(kernel),
            Accuracy::Fast if dims > 3 => RepulsionSum::Tree(Box::new(Tree::new(kernel, dims, OPENING.0))),
            Accuracy::Fine if dims > 3 => RepulsionSum::Tree(Box::new(Tree::new(kernel, dims, OPENING.1))),
            Accuracy::Fast => RepulsionSum::Fast(Box::new(Grid::new(kernel, dims, spacing))),
            Accuracy::Fine => RepulsionSum::Fine(Box::new(Grid::new(kernel, dims, FINE * spacing))),
        }
    }

    /// The same for UMAP, whose kernel is summed over samples in more than two dimensions, unless higher accuracy is
    /// requested.
    pub(crate) fn of_umap(
        (a, b): (f64, f64),
        points: usize,
        dims: usize,
        spacing: f64,
        accuracy: Accuracy,
        seed: u64,
    ) -> RepulsionSum {
        match Kernel::of(Shape::Umap(a, b)) {
            Kernel::Umap(umap) if accuracy == Accuracy::Fast && dims > 2 && points > FEW_OF_UMAP => {
                RepulsionSum::Sampled(Box::new(Sampled::new(umap, points, dims, seed)))
            }
            kernel => RepulsionSum::of(kernel, points, dims, spacing, accuracy),
        }
    }

    /// Sets the points, row after row.
    pub(crate) fn take(&mut self, points: &[f64]) {
        match self {
            RepulsionSum::Exact(_) => {}
            RepulsionSum::Fast(grid) => grid.take(points),
            RepulsionSum::Fine(grid) => grid.take(points),
            RepulsionSum::Tree(tree) => tree.take(points),
            RepulsionSum::Sampled(sampled) => sampled.take(points),
        }
    }

    /// Adds Σⱼ w[i,j] k(‖y[i] − y[j]‖²), j ≠ i, over the current points; samples have values only on request.
    pub(crate) fn add_all(&mut self, points: &[f64], dims: usize, charges: &Charges, wanted: bool, sums: &mut Sums) {
        if let (RepulsionSum::Sampled(sampled), false) = (&*self, wanted) {
            return sampled.add_gradients(points, sums);
        }
        let Charges::Squares(weights) = charges else { return self.add(points, dims, None, None, sums) };
        // Products of features have either sign, and a tree requires positive charges.
        let by_pairs = if let RepulsionSum::Tree(tree) = self { Some(tree.kernel()) } else { self.direct() };
        if let Some(kernel) = by_pairs {
            let weights = weights
                .table()
                .map_or_else(|| Weights::Squares(weights.columns().0, weights.columns().1), Weights::Table);
            return exact::add(kernel, weights, points, dims, sums);
        }
        self.add(points, dims, None, Some(weights.squares()), sums);
        self.add(points, dims, Some(weights.squares()), None, sums);
        for c in 0..weights.columns().1 {
            let factors: Vec<f64> = weights.column(c).iter().map(|y| -2.0 * y).collect();
            self.add(points, dims, Some(weights.column(c)), Some(&factors), sums);
        }
    }

    /// Adds factor[i] Σⱼ q[j] k(‖y[i] − y[j]‖²), j ≠ i, over the current points.
    pub(crate) fn add(
        &mut self,
        points: &[f64],
        dims: usize,
        charges: Option<&[f64]>,
        factors: Option<&[f64]>,
        sums: &mut Sums,
    ) {
        if let Some(kernel) = self.direct() {
            let weights = charges.map_or(Weights::One, Weights::Charge);
            let mut fresh = Sums::default();
            fresh.clear(sums.values.len(), dims);
            exact::add(kernel, weights, points, dims, &mut fresh);
            for (i, value) in sums.values.iter_mut().enumerate() {
                let factor = factors.map_or(1.0, |factors| factors[i]);
                *value += factor * fresh.values[i];
                let range = i * dims..(i + 1) * dims;
                let parts = sums.gradients[range.clone()].iter_mut().zip(&fresh.gradients[range]);
                parts.for_each(|(to, from)| *to += factor * from);
            }
            return;
        }
        match self {
            RepulsionSum::Exact(_) => {}
            RepulsionSum::Fast(grid) => grid.add(charges, factors, sums),
            RepulsionSum::Fine(grid) => grid.add(charges, factors, sums),
            RepulsionSum::Tree(tree) => tree.add(charges, factors, sums),
            RepulsionSum::Sampled(sampled) => {
                debug_assert!(charges.is_none() && factors.is_none());
                sampled.add_gradients(points, sums);
                sampled.add_values(points, sums);
            }
        }
    }

    /// The kernel, if the current points are summed pair by pair.
    fn direct(&self) -> Option<&Kernel> {
        match self {
            RepulsionSum::Exact(kernel) => Some(kernel),
            RepulsionSum::Fast(grid) => grid.is_direct().then(|| grid.kernel()),
            RepulsionSum::Fine(grid) => grid.is_direct().then(|| grid.kernel()),
            RepulsionSum::Tree(_) | RepulsionSum::Sampled(_) => None,
        }
    }

    /// The error of a grid or a tree on a sample of the points; `None` if all pairs are summed.
    pub(crate) fn error(&mut self, points: &[f64], dims: usize) -> Option<GridError> {
        self.take(points);
        if self.direct().is_some() {
            return None;
        }
        let kernel = match self {
            RepulsionSum::Exact(_) => return None,
            RepulsionSum::Fast(grid) => grid.kernel().clone(),
            RepulsionSum::Fine(grid) => grid.kernel().clone(),
            RepulsionSum::Tree(tree) => tree.kernel().clone(),
            RepulsionSum::Sampled(sampled) => sampled.kernel(),
        };
        let n = points.len() / dims;
        let mut sums = Sums::default();
        sums.clear(n, dims);
        self.add(points, dims, None, None, &mut sums);
        let checked: Vec<usize> = (0..n.min(SAMPLED)).map(|i| i * n / n.min(SAMPLED)).collect();
        let rows: Vec<(f64, Vec<f64>)> = parallel::collect(checked.len(), |at| {
            let i = checked[at];
            exact::one(&kernel, points, dims, &points[i * dims..(i + 1) * dims], Some(i))
        });
        let (mut off, mut all, mut total, mut whole) = (0.0, 0.0, 0.0, 0.0);
        for (&i, (value, gradient)) in checked.iter().zip(&rows) {
            for (q, exact) in gradient.iter().enumerate() {
                off += (sums.gradients[i * dims + q] - exact).powi(2);
                all += exact * exact;
            }
            total += sums.values[i] - value;
            whole += value;
        }
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        Some(GridError { gradient: ratio(off, all).sqrt(), total: ratio(total.abs(), whole) })
    }

    /// The actual over the requested spacing of the grid, if it differs.
    pub(crate) fn coarseness(&self) -> f64 {
        match self {
            RepulsionSum::Exact(_) | RepulsionSum::Tree(_) | RepulsionSum::Sampled(_) => 1.0,
            RepulsionSum::Fast(grid) => grid.coarseness(),
            RepulsionSum::Fine(grid) => grid.coarseness(),
        }
    }

    /// In a few words.
    pub(crate) fn route(&self) -> &'static str {
        match self {
            RepulsionSum::Exact(_) => "all pairs",
            RepulsionSum::Fast(_) => "grid, single precision",
            RepulsionSum::Fine(_) => "grid, double precision",
            RepulsionSum::Tree(_) => "tree",
            RepulsionSum::Sampled(_) => "128 points sampled per iteration",
        }
    }
}
