//! Sums of a radial kernel over all points, by interpolation on a grid: O(n) and a few Fourier transforms.
//!
//! Every point's charge is distributed to the nodes around it by B-splines, the grid is convolved with the kernel, and
//! the potential and its derivative are interpolated at the points by the same splines:
//!
//! ```text
//! φ(x) = Σⱼ q[j] k(‖x − y[j]‖²)  ≈  Σ over nodes of B(x − node) (k̂ ∗ Σⱼ q[j] B(node − y[j]))
//! ```
//!
//! The derivative is that of the approximate potential, so that a line search sees one function. Points are sorted into
//! bands of rows; each band adds its own rows in a fixed order, so that the sums are the same for any number of
//! threads.
//!
//! The idea for t-SNE, with polynomials instead of splines: G. C. Linderman, M. Rachh, J. G. Hoskins, S. Steinerberger,
//! Y. Kluger. Fast interpolation-based t-SNE for improved visualization of single-cell RNA-seq data. Nature Methods 16, 2019.

use super::convolution::Convolution;
use super::spline::{Real, bent_spline, spline};
use super::{Kernel, Sums};
use crate::forces::expansion::Expansion;
use eigenfold_linalg::parallel;

/// Rows per band.
const BAND: usize = 32;
/// Points per chunk of parallel work.
const CHUNK: usize = 1024;
/// Extra nodes around the points, where the padded kernel has its kink.
const MARGIN: usize = 10;
/// The cost of a grid node, in pairs.
const PAIRS_PER_NODE: f64 = 0.7;
/// The maximum number of nodes of a grid, padding included.
const MOST: usize = 1 << 25;

/// A grid that adapts to the points as they move.
pub(crate) struct Grid<T: Real, const W: usize> {
    kernel: Kernel,
    dims: usize,
    /// The requested spacing.
    spacing: f64,
    /// The actual spacing: larger if the extent of the points requires too many nodes.
    used_spacing: f64,
    origin: [f64; 3],
    convolution: Option<Convolution<T>>,
    nodes: Vec<T>,
    /// The positions in units of nodes, from the origin.
    places: Vec<[T; 3]>,
    order: Vec<u32>,
    bands: Vec<usize>,
    /// The response of a node at itself and at nodes up to W − 1 away along each axis, after the convolution.
    near: Vec<T>,
    /// Whether a sum over all pairs is cheaper than the convolution.
    direct: bool,
}

impl<T: Real, const W: usize> Grid<T, W> {
    /// A grid in up to three dimensions, its nodes `spacing` apart.
    pub(crate) fn new(kernel: Kernel, dims: usize, spacing: f64) -> Grid<T, W> {
        Grid {
            kernel,
            dims,
            spacing,
            used_spacing: spacing,
            origin: [0.0; 3],
            convolution: None,
            nodes: Vec::new(),
            places: Vec::new(),
            order: Vec::new(),
            bands: Vec::new(),
            near: Vec::new(),
            direct: false,
        }
    }

    /// Whether there are too few points for so large a grid, so that their pairs should be summed instead.
    pub(crate) fn is_direct(&self) -> bool {
        self.direct
    }

    /// The actual over the requested spacing.
    pub(crate) fn coarseness(&self) -> f64 {
        self.used_spacing / self.spacing
    }

    /// Sets the points, row after row; later calls refer to them.
    pub(crate) fn take(&mut self, points: &[f64]) {
        self.fit(points);
        if self.direct {
            return;
        }
        let (first, inverse) = (3 - self.dims, 1.0 / self.used_spacing);
        let place = |point: &[f64]| {
            let mut place = [T::default(); 3];
            for (q, &x) in point.iter().enumerate() {
                place[first + q] = T::round((x - self.origin[q]) * inverse);
            }
            place
        };
        let mut places = std::mem::take(&mut self.places);
        places.resize(points.len() / self.dims, [T::default(); 3]);
        parallel::fill(&mut places, |i| place(&points[i * self.dims..(i + 1) * self.dims]));
        self.places = places;
        self.sort();
    }

    /// A grid around the points: the current one, if they still fit and do not need a much smaller one.
    fn fit(&mut self, points: &[f64]) {
        let dims = self.dims;
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for point in points.chunks_exact(dims) {
            for (q, &x) in point.iter().enumerate() {
                (low[q], high[q]) = (low[q].min(x), high[q].max(x));
            }
        }
        let needed = |spacing: f64| {
            let mut nodes = [1; 3];
            for q in 0..dims {
                // Saturates if the extent is extremely large.
                nodes[3 - dims + q] = ((high[q] - low[q]) / spacing) as usize + W + MARGIN;
            }
            nodes
        };
        let total =
            |nodes: [usize; 3]| nodes.iter().map(|&n| if n == 1 { 1.0 } else { 2.0 * n as f64 }).product::<f64>();
        let mut spacing = self.spacing;
        while total(needed(spacing)) > MOST as f64 {
            spacing *= 1.25;
        }
        let nodes = needed(spacing);
        let count = (points.len() / dims) as f64;
        self.direct = total(nodes) > PAIRS_PER_NODE * count * count;
        if self.direct {
            return;
        }
        let serves = self.convolution.as_ref().is_some_and(|grid| {
            spacing == self.used_spacing && (0..3).all(|a| nodes[a] <= grid.used[a] && 2 * nodes[a] + 8 >= grid.used[a])
        });
        if !serves {
            // Extra room, so that a growing map does not need a new grid at every step.
            let roomy = nodes.map(|n| if n == 1 { 1 } else { n + n / 5 });
            let least = if total(roomy) > MOST as f64 { nodes } else { roomy };
            let kernel = &self.kernel;
            self.convolution = Some(Convolution::new::<W>(least, spacing, |square| kernel.value(square)));
            self.used_spacing = spacing;
            self.know_itself();
        }
        for q in 0..dims {
            self.origin[q] = low[q] - (W / 2) as f64 * spacing;
        }
    }

    /// Computes the response of a node at itself and its neighbors, so that no point repels itself.
    fn know_itself(&mut self) {
        let Some(convolution) = &mut self.convolution else { return };
        let (used, long) = (convolution.used, convolution.padded[2]);
        self.nodes.clear();
        self.nodes.resize(convolution.nodes(), T::default());
        let at = |i: [usize; 3]| (i[0] * used[1] + i[1]) * long + i[2];
        let middle = used.map(|nodes| if nodes == 1 { 0 } else { W });
        let reach = used.map(|nodes| if nodes == 1 { 1 } else { W });
        self.nodes[at(middle)] = T::one();
        convolution.apply(&mut self.nodes);
        self.near.clear();
        for i in 0..reach[0] {
            for j in 0..reach[1] {
                for k in 0..reach[2] {
                    self.near.push(self.nodes[at([middle[0] + i, middle[1] + j, middle[2] + k])]);
                }
            }
        }
    }

    /// The contribution of a unit charge to the potential at its own position, and to its derivative.
    #[inline(always)]
    fn itself(&self, place: &[T; 3]) -> (f64, [f64; 3]) {
        let (long, wide) = (W, if self.dims > 1 { W } else { 1 });
        let axes = Along::<T, W>::of_each(place, self.dims, Along::itself);
        contract(&self.near, (wide, long), axes, 1.0 / self.used_spacing)
    }

    /// Sorts the points into bands along the first used axis, in their original order within each.
    fn sort(&mut self) {
        let Some(convolution) = &self.convolution else { return };
        let lead = 3 - self.dims;
        let count = if self.dims == 1 { 1 } else { convolution.used[lead].div_ceil(BAND) };
        let band = |place: &[T; 3]| if count == 1 { 0 } else { (place[lead].widen() as usize / BAND).min(count - 1) };
        self.bands.clear();
        self.bands.resize(count + 1, 0);
        self.places.iter().for_each(|place| self.bands[band(place) + 1] += 1);
        (0..count).for_each(|b| self.bands[b + 1] += self.bands[b]);
        let mut next = self.bands.clone();
        self.order.resize(self.places.len(), 0);
        for (i, place) in self.places.iter().enumerate() {
            let b = band(place);
            self.order[next[b]] = i as u32;
            next[b] += 1;
        }
    }

    /// Sets the points, and leaves their potential on the grid.
    pub(crate) fn tabulate(&mut self, points: &[f64]) {
        self.take(points);
        self.spread(None);
        if let Some(convolution) = &mut self.convolution {
            convolution.apply(&mut self.nodes);
        }
    }

    /// The kernel.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The potential of charges at the points themselves, each without its own contribution, added to `sums` with the
    /// given factor for each point.
    pub(crate) fn add(&mut self, charges: Option<&[f64]>, factors: Option<&[f64]>, sums: &mut Sums) {
        self.spread(charges);
        let Some(convolution) = &mut self.convolution else { return };
        convolution.apply(&mut self.nodes);
        let dims = self.dims;
        let rows = sums.values.chunks_mut(CHUNK).zip(sums.gradients.chunks_mut(CHUNK * dims));
        parallel::each_of(rows, |chunk, (values, gradients)| {
            for (at, (value, gradient)) in values.iter_mut().zip(gradients.chunks_exact_mut(dims)).enumerate() {
                let i = chunk * CHUNK + at;
                let factor = factors.map_or(1.0, |factors| factors[i]);
                let own = charges.map_or(1.0, |charges| charges[i]);
                let ((all, along), (itself, itself_along)) = (self.read(&self.places[i]), self.itself(&self.places[i]));
                *value += factor * (all - own * itself);
                let parts = along[3 - dims..].iter().zip(&itself_along[3 - dims..]);
                gradient
                    .iter_mut()
                    .zip(parts)
                    .for_each(|(gradient, (all, itself))| *gradient += factor * (all - own * itself));
            }
        });
    }

    /// The potential that [`Grid::tabulate`] left on the grid, anywhere between the points, with its derivative.
    pub(crate) fn at(&self, point: &[f64]) -> Option<(f64, [f64; 3])> {
        let (value, gradient) = self.read(&self.place(point)?);
        let mut along = [0.0; 3];
        along[..self.dims].copy_from_slice(&gradient[3 - self.dims..]);
        Some((value, along))
    }

    /// As [`Grid::at`], with the second derivatives.
    #[inline(always)]
    pub(crate) fn expansion<const D: usize>(&self, point: &[f64; D]) -> Option<Expansion<D>> {
        let (convolution, place) = (self.convolution.as_ref()?, self.place(point)?);
        let (wide, long) = (convolution.used[1], convolution.padded[2]);
        let split = |axis: usize| {
            let whole = place[axis].widen() as usize;
            (bent_spline::<T, W>(place[axis] - T::round(whole as f64)), whole + 1 - W / 2)
        };
        let unused = || {
            let mut weights = [[T::default(); W]; 3];
            weights[0][0] = T::one();
            (weights, 0)
        };
        let (x, x_start) = if D > 2 { split(0) } else { unused() };
        let (y, y_start) = if D > 1 { split(1) } else { unused() };
        let (z, z_start) = split(2);
        let of = |used: bool| if used { W } else { 1 };
        // Sums with the derivatives of order [x][y][z].
        let mut sums = [[[T::default(); 3]; 3]; 3];
        for a in 0..of(D > 2) {
            let mut plane = [[T::default(); 3]; 3];
            for b in 0..of(D > 1) {
                let start = ((x_start + a) * wide + y_start + b) * long + z_start;
                let mut row = [T::default(); 3];
                for (c, &node) in self.nodes[start..start + W].iter().enumerate() {
                    (0..3).for_each(|order| row[order] += z[order][c] * node);
                }
                for order in 0..3 {
                    (0..3 - order).for_each(|rest| plane[order][rest] += y[order][b] * row[rest]);
                }
            }
            for order in 0..3 {
                for own in 0..3 - order {
                    (0..3 - order - own).for_each(|rest| sums[order][own][rest] += x[order][a] * plane[own][rest]);
                }
            }
        }
        let (inverse, first) = (1.0 / self.used_spacing, 3 - D);
        let of = |axes: &[usize]| {
            let order = |axis: usize| axes.iter().filter(|&&along| along + first == axis).count();
            sums[order(0)][order(1)][order(2)].widen()
        };
        Some(Expansion {
            value: of(&[]),
            gradient: std::array::from_fn(|p| inverse * of(&[p])),
            curvature: std::array::from_fn(|p| std::array::from_fn(|q| inverse * inverse * of(&[p, q]))),
        })
    }

    /// A position in units of nodes, if it is between them.
    #[inline(always)]
    fn place(&self, point: &[f64]) -> Option<[T; 3]> {
        let first = 3 - self.dims;
        let used = self.convolution.as_ref()?.used;
        let mut place = [T::default(); 3];
        for (q, &x) in point.iter().enumerate() {
            let along = (x - self.origin[q]) / self.used_spacing;
            let inside = (W / 2) as f64 <= along && along + ((W / 2 + 1) as f64) < used[first + q] as f64;
            if !inside {
                return None;
            }
            place[first + q] = T::round(along);
        }
        Some(place)
    }

    /// Every band adds its own rows, from its own points and those of its two neighbors that overlap it.
    fn spread(&mut self, charges: Option<&[f64]>) {
        let Some(convolution) = &self.convolution else { return };
        let (used, long, dims) = (convolution.used, convolution.padded[2], self.dims);
        self.nodes.resize(convolution.nodes(), T::default());
        let (places, order, bands) = (&self.places, &self.order, &self.bands);
        let charge = |i: u32| charges.map_or(T::one(), |charges| T::round(charges[i as usize]));
        let count = bands.len() - 1;
        let near = |b: usize| &order[bands[b.saturating_sub(1)]..bands[(b + 2).min(count)]];
        match dims {
            1 => {
                self.nodes.fill(T::default());
                for &i in order {
                    let Share { start, value } = Share::<T, W>::new(places[i as usize][2]);
                    add_row(&mut self.nodes[start..start + W], &value, charge(i));
                }
            }
            2 => parallel::chunks_mut(&mut self.nodes, BAND * long, |b, rows| {
                rows.fill(T::default());
                let own = b * BAND..b * BAND + rows.len() / long;
                for &i in near(b) {
                    let [_, x, y] = places[i as usize];
                    let (x, y) = (Share::<T, W>::new(x), Share::<T, W>::new(y));
                    for a in x.within(&own) {
                        let at = (x.start + a - own.start) * long + y.start;
                        add_row(&mut rows[at..at + W], &y.value, charge(i) * x.value[a]);
                    }
                }
            }),
            _ => parallel::chunks_mut(&mut self.nodes, BAND * used[1] * long, |b, planes| {
                planes.fill(T::default());
                let own = b * BAND..b * BAND + planes.len() / (used[1] * long);
                for &i in near(b) {
                    let [x, y, z] = places[i as usize].map(Share::<T, W>::new);
                    for a in x.within(&own) {
                        for c in 0..W {
                            let at = ((x.start + a - own.start) * used[1] + y.start + c) * long + z.start;
                            add_row(&mut planes[at..at + W], &z.value, charge(i) * x.value[a] * y.value[c]);
                        }
                    }
                }
            }),
        }
    }

    /// The potential at a position, and its derivative along the three axes.
    #[inline(always)]
    fn read(&self, place: &[T; 3]) -> (f64, [f64; 3]) {
        let Some(convolution) = &self.convolution else { return (0.0, [0.0; 3]) };
        let (wide, long) = (convolution.used[1], convolution.padded[2]);
        let axes = Along::<T, W>::of_each(place, self.dims, Along::at);
        contract(&self.nodes, (wide, long), axes, 1.0 / self.used_spacing)
    }
}

/// Weights along one axis, and their derivatives: of W nodes, or of one for an unused axis.
#[derive(Clone, Copy)]
struct Along<T, const W: usize> {
    start: usize,
    count: usize,
    value: [T; W],
    derivative: [T; W],
}

impl<T: Real, const W: usize> Along<T, W> {
    /// The three axes, of which the last `dims` are used.
    #[inline(always)]
    fn of_each(place: &[T; 3], dims: usize, of: impl Fn(T) -> Along<T, W>) -> [Along<T, W>; 3] {
        let z = of(place[2]);
        match dims {
            1 => [Along::one(), Along::one(), z],
            2 => [Along::one(), of(place[1]), z],
            _ => [of(place[0]), of(place[1]), z],
        }
    }

    /// An unused axis.
    #[inline(always)]
    fn one() -> Along<T, W> {
        let mut value = [T::default(); W];
        value[0] = T::one();
        Along { start: 0, count: 1, value, derivative: [T::default(); W] }
    }

    /// The splines at a position.
    #[inline(always)]
    fn at(place: T) -> Along<T, W> {
        let ((value, derivative), start) = split::<T, W>(place);
        Along { start, count: W, value, derivative }
    }

    /// The overlap of the spline weights of a position with those shifted by 0 to W − 1 nodes in both directions, and
    /// half its derivative: the part of the interpolation.
    #[inline(always)]
    fn itself(place: T) -> Along<T, W> {
        let ((value, derivative), _) = split::<T, W>(place);
        let (mut own, mut half) = ([T::default(); W], [T::default(); W]);
        let (two, a_half) = (T::round(2.0), T::round(0.5));
        for m in 0..W {
            let ways = if m == 0 { T::one() } else { two };
            for a in 0..W - m {
                own[m] += ways * value[a] * value[a + m];
                half[m] += a_half * ways * (derivative[a] * value[a + m] + value[a] * derivative[a + m]);
            }
        }
        Along { start: 0, count: W, value: own, derivative: half }
    }
}

/// Σ of nodes with the weights along the three axes, and with the derivatives along each; the nodes of a plane are `wide` rows,
/// each `long`.
#[inline(always)]
fn contract<T: Real, const W: usize>(
    nodes: &[T],
    (wide, long): (usize, usize),
    [x, y, z]: [Along<T, W>; 3],
    inverse: f64,
) -> (f64, [f64; 3]) {
    let (mut value, mut gradient) = (T::default(), [T::default(); 3]);
    for a in 0..x.count {
        for b in 0..y.count {
            let start = ((x.start + a) * wide + y.start + b) * long + z.start;
            let (mut sum, mut along) = (T::default(), T::default());
            for (c, &node) in nodes[start..start + W].iter().enumerate() {
                sum += z.value[c] * node;
                along += z.derivative[c] * node;
            }
            value += x.value[a] * y.value[b] * sum;
            gradient[0] += x.derivative[a] * y.value[b] * sum;
            gradient[1] += x.value[a] * y.derivative[b] * sum;
            gradient[2] += x.value[a] * y.value[b] * along;
        }
    }
    (value.widen(), gradient.map(|gradient| gradient.widen() * inverse))
}

/// The first of the W nodes around a position, and the splines there.
#[inline(always)]
fn split<T: Real, const W: usize>(place: T) -> (([T; W], [T; W]), usize) {
    let whole = place.widen() as usize;
    (spline::<T, W>(place - T::round(whole as f64)), whole + 1 - W / 2)
}

/// A position, distributed to W nodes.
struct Share<T, const W: usize> {
    start: usize,
    value: [T; W],
}

impl<T: Real, const W: usize> Share<T, W> {
    #[inline(always)]
    fn new(place: T) -> Share<T, W> {
        let ((value, _), start) = split::<T, W>(place);
        Share { start, value }
    }

    /// Which of its nodes are in a band.
    #[inline(always)]
    fn within(&self, band: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        let first = band.start.saturating_sub(self.start).min(W);
        first..band.end.saturating_sub(self.start).min(W).max(first)
    }
}

#[inline(always)]
fn add_row<T: Real, const W: usize>(row: &mut [T], value: &[T; W], factor: T) {
    row.iter_mut().zip(value).for_each(|(node, &value)| *node += factor * value);
}
