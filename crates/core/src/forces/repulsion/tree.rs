//! Sums of a radial kernel over all points, by a Barnes-Hut tree, in any number of dimensions.
//!
//! Points are split in halves along their longest side until a few are left. For the points of a leaf, a node of the
//! tree that is far away counts as one point at its center:
//!
//! ```text
//! Σ over j in the part of  q[j] k(‖x − y[j]‖²)  ≈  Q k(‖x − c‖²),    Q = Σ q[j],   c = Σ q[j] y[j] / Q
//! ```
//!
//! where the node's radius is less than θ times its distance from the nearest position in the leaf. Every leaf is
//! summed separately, in the order of the tree, so that the sums are the same for any number of threads.
//!
//! J. Barnes, P. Hut. A hierarchical O(N log N) force-calculation algorithm. Nature 324, 1986. For t-SNE: L. van der Maaten.
//! Accelerating t-SNE using tree-based algorithms. JMLR 15, 2014.

use super::{Kernel, Sums};
use eigenfold_linalg::parallel;

/// The maximum number of points of a leaf.
const LEAF: usize = 16;
/// Points that are added in SIMD lanes.
const LANES: usize = 8;

/// A tree over the current points.
pub(crate) struct Tree {
    kernel: Kernel,
    dims: usize,
    /// θ: the opening angle below which a node counts as one point.
    opening: f64,
    points: Vec<f64>,
    /// The points in the order of the tree.
    order: Vec<u32>,
    /// Every node before its two children.
    parts: Vec<Part>,
}

/// A node: points that are near each other.
#[derive(Clone, Copy)]
struct Part {
    first: usize,
    end: usize,
    /// The next node after this one and all its descendants.
    next: usize,
}

impl Part {
    fn is_leaf(&self) -> bool {
        self.end - self.first <= LEAF
    }
}

/// Far nodes, or near points other than the point itself: centers, one coordinate after the other, and charges.
#[derive(Default)]
struct Others {
    charges: Vec<f64>,
    columns: Vec<Vec<f64>>,
}

/// The charge, the center and the radius of every node.
struct Charged {
    charges: Vec<f64>,
    centers: Vec<f64>,
    radii: Vec<f64>,
}

impl Tree {
    /// A tree in this many dimensions.
    pub(crate) fn new(kernel: Kernel, dims: usize, opening: f64) -> Tree {
        Tree { kernel, dims, opening, points: Vec::new(), order: Vec::new(), parts: Vec::new() }
    }

    /// The kernel.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Sets the points, row after row; later calls refer to them.
    pub(crate) fn take(&mut self, points: &[f64]) {
        self.points.clear();
        self.points.extend_from_slice(points);
        self.order = (0..(points.len() / self.dims) as u32).collect();
        self.parts.clear();
        let mut order = std::mem::take(&mut self.order);
        self.split(&mut order, 0);
        self.order = order;
    }

    fn point(&self, i: u32) -> &[f64] {
        &self.points[i as usize * self.dims..(i as usize + 1) * self.dims]
    }

    /// Adds a node with these points, and its children.
    fn split(&mut self, some: &mut [u32], first: usize) {
        let at = self.parts.len();
        self.parts.push(Part { first, end: first + some.len(), next: 0 });
        if some.len() > LEAF {
            let extent = |q: usize| {
                let all = some.iter().map(|&i| self.point(i)[q]);
                let (low, high) = all.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
                high - low
            };
            let extents: Vec<f64> = (0..self.dims).map(extent).collect();
            let axis = (0..self.dims).max_by(|&a, &b| extents[a].total_cmp(&extents[b])).unwrap_or(0);
            let middle = some.len() / 2;
            let by = |a: &u32, b: &u32| self.point(*a)[axis].total_cmp(&self.point(*b)[axis]).then(a.cmp(b));
            some.select_nth_unstable_by(middle, by);
            let (left, right) = some.split_at_mut(middle);
            self.split(left, first);
            self.split(right, first + middle);
        }
        self.parts[at].next = self.parts.len();
    }

    /// Adds factor[i] Σⱼ q[j] k(‖y[i] − y[j]‖²), j ≠ i; no charge may be negative.
    pub(crate) fn add(&self, charges: Option<&[f64]>, factors: Option<&[f64]>, sums: &mut Sums) {
        let (dims, charged) = (self.dims, self.charged(charges));
        let leaves: Vec<usize> = (0..self.parts.len()).filter(|&at| self.parts[at].is_leaf()).collect();
        let found: Vec<Vec<(f64, Vec<f64>)>> =
            parallel::collect(leaves.len(), |at| self.leaf(leaves[at], &charged, charges));
        for (&leaf, found) in leaves.iter().zip(&found) {
            let Part { first, end, .. } = self.parts[leaf];
            for (&i, (value, gradient)) in self.order[first..end].iter().zip(found) {
                let i = i as usize;
                let factor = factors.map_or(1.0, |factors| factors[i]);
                sums.values[i] += factor * value;
                let row = sums.gradients[i * dims..(i + 1) * dims].iter_mut();
                row.zip(gradient).for_each(|(to, from)| *to += factor * from);
            }
        }
    }

    /// The charge, the center and the radius of every node.
    fn charged(&self, charges: Option<&[f64]>) -> Charged {
        let (dims, count) = (self.dims, self.parts.len());
        let charge = |i: u32| charges.map_or(1.0, |charges| charges[i as usize]);
        let parts: Vec<(f64, Vec<f64>, f64)> = parallel::collect(count, |at| {
            let some = &self.order[self.parts[at].first..self.parts[at].end];
            let total: f64 = some.iter().map(|&i| charge(i)).sum();
            // Without any charge the center is arbitrary.
            let share = |i: u32| if total > 0.0 { charge(i) / total } else { 1.0 / some.len() as f64 };
            let mut center = vec![0.0; dims];
            for &i in some {
                center.iter_mut().zip(self.point(i)).for_each(|(center, x)| *center += share(i) * x);
            }
            let away = |&i: &u32| self.point(i).iter().zip(&center).map(|(x, c)| (x - c) * (x - c)).sum::<f64>();
            let radius = some.iter().map(away).fold(0.0, f64::max).sqrt();
            (total, center, radius)
        });
        let mut charged = Charged {
            charges: Vec::with_capacity(count),
            centers: Vec::with_capacity(count * dims),
            radii: Vec::with_capacity(count),
        };
        for (total, center, radius) in parts {
            charged.charges.push(total);
            charged.centers.extend(center);
            charged.radii.push(radius);
        }
        charged
    }

    /// The sum at every point of a leaf, and its gradient.
    fn leaf(&self, leaf: usize, charged: &Charged, charges: Option<&[f64]>) -> Vec<(f64, Vec<f64>)> {
        let (dims, Part { first, end, .. }) = (self.dims, self.parts[leaf]);
        let center = |at: usize| &charged.centers[at * dims..(at + 1) * dims];
        let mut far = Others { columns: vec![Vec::new(); dims], ..Others::default() };
        let mut near: Vec<u32> = Vec::new();
        let mut at = 0;
        while at < self.parts.len() {
            let part = self.parts[at];
            let away = center(leaf).iter().zip(center(at)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            if charged.radii[at] < self.opening * (away - charged.radii[leaf]) {
                far.push(center(at), charged.charges[at]);
                at = part.next;
            } else if part.is_leaf() {
                near.extend(&self.order[part.first..part.end]);
                at = part.next;
            } else {
                at += 1;
            }
        }
        far.pad();
        let charge = |i: u32| charges.map_or(1.0, |charges| charges[i as usize]);
        let row = |&i: &u32| {
            let (mut value, mut gradient) =
                pulp::Arch::new().dispatch(Far { kernel: &self.kernel, far: &far, x: self.point(i) });
            for &j in near.iter().filter(|&&j| j != i) {
                let (x, y) = (self.point(i), self.point(j));
                let square = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum();
                value += charge(j) * self.kernel.value(square);
                let factor = 2.0 * charge(j) * self.kernel.derivative(square);
                gradient.iter_mut().zip(x.iter().zip(y)).for_each(|(gradient, (a, b))| *gradient += factor * (a - b));
            }
            (value, gradient)
        };
        self.order[first..end].iter().map(row).collect()
    }
}

impl Others {
    fn push(&mut self, place: &[f64], charge: f64) {
        self.charges.push(charge);
        self.columns.iter_mut().zip(place).for_each(|(column, &x)| column.push(x));
    }

    /// Padding to whole lanes: padded entries have no charge.
    fn pad(&mut self) {
        while !self.charges.len().is_multiple_of(LANES) {
            self.charges.push(0.0);
            self.columns.iter_mut().for_each(|column| column.push(0.0));
        }
    }
}

/// The nodes that are far from one point.
struct Far<'a> {
    kernel: &'a Kernel,
    far: &'a Others,
    x: &'a [f64],
}

impl pulp::WithSimd for Far<'_> {
    type Output = (f64, Vec<f64>);

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> (f64, Vec<f64>) {
        let Far { kernel, far, x } = self;
        let (mut value, mut gradient) = ([0.0; LANES], vec![[0.0; LANES]; x.len()]);
        for start in (0..far.charges.len()).step_by(LANES) {
            let mut square = [0.0; LANES];
            for (column, x) in far.columns.iter().zip(x) {
                let column = &column[start..start + LANES];
                for l in 0..LANES {
                    square[l] += (x - column[l]) * (x - column[l]);
                }
            }
            let (values, derivatives) = kernel.lanes(&square);
            let charges = &far.charges[start..start + LANES];
            let mut factor = [0.0; LANES];
            for l in 0..LANES {
                value[l] += charges[l] * values[l];
                factor[l] = 2.0 * charges[l] * derivatives[l];
            }
            for ((column, x), gradient) in far.columns.iter().zip(x).zip(&mut gradient) {
                let column = &column[start..start + LANES];
                for l in 0..LANES {
                    gradient[l] += factor[l] * (x - column[l]);
                }
            }
        }
        (value.iter().sum(), gradient.iter().map(|lanes| lanes.iter().sum()).collect())
    }
}
