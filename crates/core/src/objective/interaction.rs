//! Objectives with attraction between pairs and repulsion of all points: one sum of each.
//!
//! ```text
//! E(Y) = Σ w[i,j] a(‖y[i] − y[j]‖²)  +  a function of  Σ k(‖y[i] − y[j]‖²)
//! ```
//!
//! Both sums are over ordered pairs: every pair counts twice.

use super::elastic::affinities::learned;
use crate::field::{Energy, Weight};
use crate::figure::Figure;
use crate::forces::repulsion::{Charges, FEW, RepulsionSum, Sums};
use crate::forces::{AttractionKernel, Pairs, Real, along_curve};
use crate::warning::Warning;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::optimize::Emphasized;
use eigenfold_linalg::parallel;

/// Rows per chunk of parallel work.
const ROWS: usize = 128;
/// Pairs that are added in SIMD lanes.
const LANES: usize = 8;
/// From this many points on, points near each other on the map are stored together in memory, and again after this many
/// evaluations, when the map has taken shape.
const MANY: usize = 20_000;
const ARRANGED_AT: [usize; 3] = [0, 50, 150];

/// The function of the kernel sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// λ Σ.
    Sum(f64),
    /// λ log Σ over all pairs.
    LogSum(f64),
    /// λ Σᵢ log Σⱼ.
    LogSumRows(f64),
    /// −Σ w log(ω/N + (1 − ω) k/Σ) over the N ordered pairs, of a Gaussian kernel: UNI-SNE, with ω. It includes the
    /// attraction.
    Uniform(f64),
}

/// An attraction, a repulsion, and the workspace.
pub(crate) struct Interaction<T: Real> {
    pub(crate) pairs: Pairs<T>,
    pub(crate) attraction: AttractionKernel,
    pub(crate) repulsion: RepulsionSum,
    pub(crate) form: Form,
    /// The weights of the repulsion.
    pub(crate) charges: Charges,
    /// The constant term.
    pub(crate) constant: f64,
    dims: usize,
    places: Vec<T>,
    sums: Sums,
    evaluations: usize,
    /// The points in the order of `pairs`; empty if that is the original order.
    order: Vec<u32>,
    /// The position of each point in that order.
    place: Vec<u32>,
    /// The coordinates and the gradient in that order.
    ordered: (Vec<f64>, Vec<f64>),
}

impl<T: Real> Interaction<T> {
    /// An objective over points in this many dimensions.
    pub(crate) fn new(
        pairs: Pairs<T>,
        attraction: AttractionKernel,
        repulsion: RepulsionSum,
        form: Form,
        dims: usize,
    ) -> Interaction<T> {
        let charges = Charges::One(pairs.len());
        Interaction {
            pairs,
            attraction,
            repulsion,
            form,
            charges,
            constant: 0.0,
            dims,
            places: Vec::new(),
            sums: Sums::default(),
            evaluations: 0,
            order: Vec::new(),
            place: Vec::new(),
            ordered: (Vec::new(), Vec::new()),
        }
    }

    /// The same, and a number.
    pub(crate) fn plus(self, constant: f64) -> Interaction<T> {
        Interaction { constant, ..self }
    }

    /// The gradient, with the attraction multiplied by `emphasis`; and optionally the value.
    fn evaluate(&mut self, y: &[f64], emphasis: f64, wanted: bool, gradient: &mut [f64]) -> f64 {
        self.arrange(y);
        if self.order.is_empty() {
            return self.evaluate_in_order(y, emphasis, wanted, gradient);
        }
        let (mut places, mut forces) = std::mem::take(&mut self.ordered);
        let dims = self.dims;
        places.resize(y.len(), 0.0);
        forces.resize(y.len(), 0.0);
        gather(&mut places, y, &self.order, dims);
        let value = self.evaluate_in_order(&places, emphasis, wanted, &mut forces);
        gather(gradient, &forces, &self.place, dims);
        self.ordered = (places, forces);
        value
    }

    /// Occasionally reorders many points such that points near on the map are near in memory.
    fn arrange(&mut self, y: &[f64]) {
        let n = self.pairs.len();
        let many = n >= MANY
            && self.dims <= 3
            && self.attraction != AttractionKernel::Square
            && matches!(self.charges, Charges::One(_));
        if many && ARRANGED_AT.contains(&self.evaluations) {
            let order = along_curve(y, self.dims);
            if self.place.is_empty() {
                self.place = (0..n as u32).collect();
            }
            let from: Vec<u32> = order.iter().map(|&i| self.place[i as usize]).collect();
            self.pairs = self.pairs.reordered(&from);
            order.iter().enumerate().for_each(|(at, &i)| self.place[i as usize] = at as u32);
            self.order = order;
        }
        self.evaluations += 1;
    }

    /// As [`Interaction::evaluate`], with the points in the order of the pairs.
    fn evaluate_in_order(&mut self, y: &[f64], emphasis: f64, wanted: bool, gradient: &mut [f64]) -> f64 {
        self.place_all(y);
        self.sums.clear(self.pairs.len(), self.dims);
        self.repulsion.take(y);
        self.repulsion.add_all(y, self.dims, &self.charges, wanted, &mut self.sums);
        if let Form::Uniform(part) = self.form {
            return self.constant + self.mixed(y, part, gradient);
        }
        let attraction = match self.dims {
            1 => self.attract::<1>(4.0 * emphasis, wanted, gradient),
            2 => self.attract::<2>(4.0 * emphasis, wanted, gradient),
            3 => self.attract::<3>(4.0 * emphasis, wanted, gradient),
            4..=8 => self.attract::<8>(4.0 * emphasis, wanted, gradient),
            9..=16 => self.attract::<16>(4.0 * emphasis, wanted, gradient),
            _ => self.attract_by(y, gradient, |weight, square| {
                let value = if wanted { weight * self.attraction.value(square) } else { 0.0 };
                (value, 4.0 * emphasis * weight * self.attraction.derivative(square))
            }),
        };
        self.constant + emphasis * attraction + self.repel(y, gradient)
    }

    /// Rounds the coordinates; rows of up to 16 are padded with zeros as the attraction's loops require.
    fn place_all(&mut self, y: &[f64]) {
        let width = match self.dims {
            4..=8 => 8,
            9..=16 => 16,
            dims => dims,
        };
        self.places.clear();
        self.places.resize(self.pairs.len() * width, T::default());
        for (place, y) in self.places.chunks_exact_mut(width).zip(y.chunks_exact(self.dims)) {
            place.iter_mut().zip(y).for_each(|(place, &y)| *place = T::round(y));
        }
    }

    /// UNI-SNE: only the part of each pair's likelihood that is not uniform attracts, and counts in its repulsion.
    fn mixed(&mut self, y: &[f64], part: f64, gradient: &mut [f64]) -> f64 {
        let n = self.pairs.len() as f64;
        let z = self.sums.values.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let (uniform, own) = (part / (n * (n - 1.0)), (1.0 - part) / z);
        let share = |square: f64| {
            let bell = own * (-square).exp();
            bell / (uniform + bell)
        };
        let all = self.attract_by(y, gradient, |weight, square| (weight * share(square), 4.0 * weight * share(square)));
        let mut unused = vec![0.0; gradient.len()];
        let value =
            self.attract_by(y, &mut unused, |weight, square| (-weight * (uniform + own * (-square).exp()).ln(), 0.0));
        add_scaled(gradient, 2.0 * all / z, &self.sums.gradients);
        value
    }

    /// Σ w a, with factor · Σⱼ w a′ (y[i] − y[j]) written for every point, whose coordinates have D entries.
    fn attract<const D: usize>(&self, factor: f64, wanted: bool, gradient: &mut [f64]) -> f64 {
        let places = self.places.as_chunks::<D>().0;
        let parts: Vec<f64> = parallel::collect_chunks_mut(gradient, ROWS * self.dims, |chunk, gradient| {
            let rows = Rows { of: self, places, first: chunk * ROWS, factor, wanted };
            pulp::Arch::new().dispatch(Written(rows, gradient))
        });
        parts.iter().sum()
    }

    /// The sum of a term for every entry, with the attractive forces, one by one.
    fn attract_by(&self, y: &[f64], gradient: &mut [f64], term: impl Fn(f64, f64) -> (f64, f64) + Sync) -> f64 {
        let dims = self.dims;
        let rows: Vec<f64> = parallel::collect_chunks_mut(gradient, dims, |i, gradient| {
            let (targets, weights) = self.pairs.row(i);
            let (own, mut sum) = (&y[i * dims..(i + 1) * dims], 0.0);
            gradient.fill(0.0);
            for (&j, weight) in targets.iter().zip(weights) {
                let other = &y[j as usize * dims..(j as usize + 1) * dims];
                let square = own.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                let (value, force) = term(weight.widen(), square);
                gradient
                    .iter_mut()
                    .zip(own.iter().zip(other))
                    .for_each(|(gradient, (a, b))| *gradient += force * (a - b));
                sum += value;
            }
            sum
        });
        rows.iter().sum()
    }

    /// The repulsive part, its gradient added.
    fn repel(&mut self, y: &[f64], gradient: &mut [f64]) -> f64 {
        let dims = self.dims;
        let sums = &mut self.sums;
        let total = |values: &[f64]| values.iter().sum::<f64>();
        match self.form {
            Form::Sum(lambda) => {
                add_scaled(gradient, 2.0 * lambda, &sums.gradients);
                lambda * total(&sums.values)
            }
            Form::LogSum(lambda) => {
                let z = total(&sums.values).max(f64::MIN_POSITIVE);
                add_scaled(gradient, 2.0 * lambda / z, &sums.gradients);
                lambda * z.ln()
            }
            Form::Uniform(_) => 0.0,
            Form::LogSumRows(lambda) => {
                // Each point is repelled by its own sum, and by its part in the sums of the others. A grid's sum for a
                // point far from all others may be dominated by errors: it is never less than that of its neighbors.
                let least = kernel_of_neighbors(&self.pairs, y, dims);
                let whole = |(z, least): (&f64, &f64)| z.max(*least).max(f64::MIN_POSITIVE);
                let sum_of_each: Vec<f64> = sums.values.iter().zip(&least).map(whole).collect();
                let inverse: Vec<f64> = sum_of_each.iter().map(|z| 1.0 / z).collect();
                let value: f64 = sum_of_each.iter().map(|z| z.ln()).sum();
                for (row, inverse) in sums.gradients.chunks_exact_mut(dims).zip(&inverse) {
                    row.iter_mut().for_each(|gradient| *gradient *= inverse);
                }
                self.repulsion.add(y, dims, Some(&inverse), None, sums);
                add_scaled(gradient, lambda, &sums.gradients);
                lambda * value
            }
        }
    }
}

/// Σ exp(−s) over each point's own neighbors.
fn kernel_of_neighbors<T: Real>(pairs: &Pairs<T>, y: &[f64], dims: usize) -> Vec<f64> {
    let row = |i: usize| &y[i * dims..(i + 1) * dims];
    let bell = |i: usize, j: usize| (-row(i).iter().zip(row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp();
    parallel::collect(pairs.len(), |i| pairs.row(i).0.iter().map(|&j| bell(i, j as usize)).sum())
}

/// An objective in double precision for few points and in single precision for many.
pub(crate) fn of_size(
    n: usize,
    double: impl FnOnce() -> Result<Interaction<f64>>,
    single: impl FnOnce() -> Result<Interaction<f32>>,
) -> Result<Box<dyn Energy>> {
    Ok(if n <= FEW { Box::new(double()?) } else { Box::new(single()?) })
}

/// Rows of `dims` values, taken from the indices `from`.
fn gather(to: &mut [f64], values: &[f64], from: &[u32], dims: usize) {
    parallel::chunks_mut(to, ROWS * dims, |chunk, to| {
        for (row, &i) in to.chunks_exact_mut(dims).zip(&from[chunk * ROWS..]) {
            for (to, value) in row.iter_mut().zip(&values[i as usize * dims..]) {
                *to = *value;
            }
        }
    });
}

fn add_scaled(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

impl<T: Real> Emphasized for Interaction<T> {
    fn value(&mut self, y: &[f64], emphasis: f64, gradient: &mut [f64]) -> f64 {
        self.evaluate(y, emphasis, true, gradient)
    }

    fn gradient(&mut self, y: &[f64], emphasis: f64, gradient: &mut [f64]) {
        self.evaluate(y, emphasis, false, gradient);
    }
}

impl<T: Real> Energy for Interaction<T> {
    fn strength(&self, emphasis: f64) -> Option<f64> {
        match self.form {
            Form::Sum(lambda) | Form::LogSum(lambda) | Form::LogSumRows(lambda) => {
                Some(lambda / emphasis / self.charges.unit() / self.charges.unit())
            }
            Form::Uniform(_) => None,
        }
    }

    fn affinities(&self, y: &[f64]) -> Option<Vec<Weight>> {
        match (self.attraction, self.form) {
            (AttractionKernel::Square, Form::Sum(lambda)) => Some(learned(&self.pairs, &self.charges, lambda, y)),
            _ => None,
        }
    }

    fn figures(&mut self, y: &[f64], _value: f64) -> Vec<(Figure, f64)> {
        let error = self.repulsion.error(y, self.dims);
        error.map_or(Vec::new(), |error| {
            vec![(Figure::RepulsionError, error.gradient), (Figure::RepulsionTotalError, error.total)]
        })
    }

    fn warnings(&self) -> Vec<Warning> {
        let coarseness = self.repulsion.coarseness();
        if coarseness <= 1.0 {
            return Vec::new();
        }
        vec![Warning::Approximate(format!(
            "the map reaches so far that the grid of its repulsion had to be {coarseness:.1} times as coarse; points far \
             off may be the reason"
        ))]
    }

    fn solver(&self) -> String {
        format!("optimization with repulsion by {}", self.repulsion.route())
    }
}

/// Some rows of the attraction.
struct Rows<'a, T: Real, const D: usize> {
    of: &'a Interaction<T>,
    places: &'a [[T; D]],
    first: usize,
    factor: f64,
    wanted: bool,
}

/// The same, and where their gradients go.
struct Written<'a, T: Real, const D: usize>(Rows<'a, T, D>, &'a mut [f64]);

impl<T: Real, const D: usize> pulp::WithSimd for Written<'_, T, D> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> f64 {
        let Written(rows, gradient) = self;
        // Each attraction has a separate loop.
        match rows.of.attraction {
            AttractionKernel::Square => rows.sum(AttractionKernel::Square, gradient),
            AttractionKernel::Student(1.0) => rows.sum(AttractionKernel::Student(1.0), gradient),
            AttractionKernel::Umap(a, b) => rows.sum(AttractionKernel::Umap(a, b), gradient),
            other => rows.sum(other, gradient),
        }
    }
}

impl<T: Real, const D: usize> Rows<'_, T, D> {
    #[inline(always)]
    fn sum(self, attraction: AttractionKernel, gradient: &mut [f64]) -> f64 {
        if D > 3 {
            return self.sum_along(attraction, gradient);
        }
        let mut value = 0.0;
        for (at, gradient) in gradient.chunks_exact_mut(self.of.dims).enumerate() {
            let own = self.places[self.first + at];
            let (targets, weights) = self.of.pairs.row(self.first + at);
            let (mut sums, mut energy) = ([[T::default(); LANES]; D], [T::default(); LANES]);
            let (blocks, rest) = targets.as_chunks::<LANES>();
            let (block_weights, rest_weights) = weights.as_chunks::<LANES>();
            for (block, weight) in blocks.iter().zip(block_weights) {
                self.add(attraction, own, block, weight, &mut sums, &mut energy);
            }
            let (mut last, mut last_weights) = ([(self.first + at) as u32; LANES], [T::default(); LANES]);
            last[..rest.len()].copy_from_slice(rest);
            last_weights[..rest.len()].copy_from_slice(rest_weights);
            self.add(attraction, own, &last, &last_weights, &mut sums, &mut energy);
            for (gradient, lanes) in gradient.iter_mut().zip(&sums) {
                *gradient = self.factor * lanes.iter().map(|lane| lane.widen()).sum::<f64>();
            }
            value += energy.iter().map(|lane| lane.widen()).sum::<f64>();
        }
        value
    }

    /// As [`Rows::sum`] for numbers of coordinates so large that they are added in SIMD lanes instead of the pairs.
    #[inline(always)]
    fn sum_along(self, attraction: AttractionKernel, gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for (at, gradient) in gradient.chunks_exact_mut(self.of.dims).enumerate() {
            let own = self.places[self.first + at];
            let (targets, weights) = self.of.pairs.row(self.first + at);
            let (mut sums, mut energy) = ([T::default(); D], [T::default(); LANES]);
            for (block, block_weights) in targets.chunks(LANES).zip(weights.chunks(LANES)) {
                let (mut square, mut force) = ([T::default(); LANES], [T::default(); LANES]);
                let mut weight = force;
                weight[..block_weights.len()].copy_from_slice(block_weights);
                for (square, &j) in square.iter_mut().zip(block) {
                    *square = square_between(&own, &self.places[j as usize]);
                }
                for l in 0..LANES {
                    force[l] = weight[l] * attraction.derivative(square[l]);
                }
                for (&force, &j) in force.iter().zip(block) {
                    let other = &self.places[j as usize];
                    for q in 0..D {
                        sums[q] += force * (own[q] - other[q]);
                    }
                }
                if self.wanted {
                    for l in 0..LANES {
                        energy[l] += weight[l] * attraction.value(square[l]);
                    }
                }
            }
            gradient.iter_mut().zip(&sums).for_each(|(gradient, sum)| *gradient = self.factor * sum.widen());
            value += energy.iter().map(|lane| lane.widen()).sum::<f64>();
        }
        value
    }

    #[inline(always)]
    fn add(
        &self,
        attraction: AttractionKernel,
        own: [T; D],
        targets: &[u32; LANES],
        weights: &[T; LANES],
        sums: &mut [[T; LANES]; D],
        energy: &mut [T; LANES],
    ) {
        let (mut away, mut square) = ([[T::default(); LANES]; D], [T::default(); LANES]);
        for l in 0..LANES {
            let other = &self.places[targets[l] as usize];
            for q in 0..D {
                away[q][l] = own[q] - other[q];
            }
        }
        for q in 0..D {
            for l in 0..LANES {
                square[l] += away[q][l] * away[q][l];
            }
        }
        let mut force = [T::default(); LANES];
        for l in 0..LANES {
            force[l] = weights[l] * attraction.derivative(square[l]);
        }
        for q in 0..D {
            for l in 0..LANES {
                sums[q][l] += force[l] * away[q][l];
            }
        }
        if self.wanted {
            for l in 0..LANES {
                energy[l] += weights[l] * attraction.value(square[l]);
            }
        }
    }
}

/// ‖a − b‖² of a multiple of eight coordinates, in eight lanes.
#[inline(always)]
fn square_between<T: Real, const D: usize>(a: &[T; D], b: &[T; D]) -> T {
    let mut lanes = [T::default(); 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for l in 0..8 {
            lanes[l] += (a[l] - b[l]) * (a[l] - b[l]);
        }
    }
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forces::repulsion::Accuracy;
    use crate::forces::{Kernel, Shape};
    use eigenfold_graph::Graph;

    /// Many points are reordered internally, without any effect on the result.
    #[test]
    fn the_order_in_memory_does_not_show() {
        let n = MANY + 5;
        let lists = (0..n).map(|i| [7919, 1].map(|step| (((i + step) % n) as u32, 1.0)).to_vec()).collect();
        let graph = Graph::from_lists(lists).unwrap();
        let weights: Vec<f64> = (0..graph.edge_count()).map(|e| 1.0 + (e % 5) as f64).collect();
        let pairs = || Pairs::<f32>::symmetric(&graph, &weights, |a, b| a + b);
        let new = || {
            let repulsion = RepulsionSum::of(Kernel::of(Shape::Student(1.0)), n, 2, 0.5, Accuracy::Fast);
            Interaction::new(pairs(), AttractionKernel::Student(1.0), repulsion, Form::LogSum(1.0), 2)
        };
        let place = |i: usize| (10.0 * (i as f64 / n as f64).sqrt(), 2.399_963 * i as f64);
        let y: Vec<f64> = (0..n).flat_map(|i| [place(i).0 * place(i).1.cos(), place(i).0 * place(i).1.sin()]).collect();
        let (mut arranged, mut plain) = (new(), new());
        let (mut one, mut other) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
        for _ in 0..2 {
            let value = arranged.evaluate(&y, 1.0, true, &mut one);
            let expected = plain.evaluate_in_order(&y, 1.0, true, &mut other);
            assert!(!arranged.order.is_empty() && plain.order.is_empty());
            assert!((value / expected - 1.0).abs() < 1e-6, "{value} {expected}");
            let size = other.iter().map(|x| x * x).sum::<f64>().sqrt();
            let off = one.iter().zip(&other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!(off < 1e-5 * size, "{off} of {size}");
            // Once more with points that have moved.
            arranged.evaluations = ARRANGED_AT[1];
        }
    }

    /// Every number of dimensions has its own loops: all are compared with the pairs one by one.
    #[test]
    fn attraction_is_the_sum_over_pairs_in_any_number_of_dimensions() {
        let n = 60;
        let lists = (0..n).map(|i| [7, 1, 22].map(|step| (((i + step) % n) as u32, 1.0)).to_vec()).collect();
        let graph = Graph::from_lists(lists).unwrap();
        let weights: Vec<f64> = (0..graph.edge_count()).map(|e| 1.0 + (e % 5) as f64).collect();
        for dims in [1, 2, 3, 4, 5, 8, 9, 16, 17] {
            let repulsion = RepulsionSum::of(Kernel::of(Shape::Umap(1.577, 0.895)), n, dims, 0.2, Accuracy::Exact);
            let pairs = Pairs::<f64>::symmetric(&graph, &weights, |a, b| a + b);
            let attraction = AttractionKernel::Umap(1.577, 0.895);
            let mut both = Interaction::new(pairs, attraction, repulsion, Form::Sum(0.0), dims);
            let y: Vec<f64> = (0..n * dims).map(|at| (at as f64 * 0.754_877_666).fract() * 6.0).collect();
            let (mut one, mut other) = (vec![0.0; n * dims], vec![0.0; n * dims]);
            let value = both.evaluate(&y, 1.5, true, &mut one);
            let expected = both.attract_by(&y, &mut other, |weight, square| {
                (1.5 * weight * attraction.value(square), 6.0 * weight * attraction.derivative(square))
            });
            assert!((value / expected - 1.0).abs() < 1e-12, "{dims}: {value} {expected}");
            let size = other.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-12 * size), "{dims}");
        }
    }
}
